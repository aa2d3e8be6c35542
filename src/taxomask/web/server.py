"""Starting the server: on this computer only, with an address that nobody can guess."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from ..errors import DataError
from .workspace import Limits

__all__ = ["serve"]


def serve(
    folder: Path | None = None,
    *,
    port: int = 0,
    limits: Limits | None = None,
    opened: Callable[[str], None] = print,
) -> None:
    """Serve the page until the process is ended.

    Parameters
    ----------
    folder
        Tables in it may be opened without an upload.
    port
        By default any that is free.
    limits
        What the page takes at most.
    opened
        Is given the address when the server is ready.
    """
    try:
        import uvicorn

        from .app import make_app
        from .guard import Guard
    except ModuleNotFoundError as error:
        raise DataError(
            f"the page needs the package {error.name}, which is not installed.",
            hint="Install it with: pip install 'taxomask[web]'",
        ) from None
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder} is not a folder.", hint="Name the folder with the tables.")
    os.umask(0o077)
    token = secrets.token_urlsafe(32)
    with _listening(port) as listening:
        port = listening.getsockname()[1]
        application = make_app(folder, limits)
        config = uvicorn.Config(
            Guard(application, token=token, port=port),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=64 << 10,
        )
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _leave)  # uvicorn raises the signal again once it has cleaned up
        address = f"http://127.0.0.1:{port}/?token={token}"

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                opened(address)

        Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise DataError(f"port {port} is in use.", hint="Choose another one, or none.") from None
    return listening


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
