"""``taxomask serve``: the page for people who would rather look than type."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["serve"]


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Tables in it can be opened without an upload."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="By default any that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    max_upload: Annotated[int, typer.Option(min=1, help="The largest upload, in MB.")] = 1000,
    max_kept: Annotated[int, typer.Option(min=1, help="All uploads together, in MB.")] = 4000,
    max_rows: Annotated[int, typer.Option(min=1, help="The largest number of rows.")] = 5_000_000,
) -> None:
    """Open a page on this computer to protect a table without the command line. Nothing leaves the computer."""
    from ..web import serve as run
    from ..web.opening import open_page
    from ..web.workspace import Limits

    with ExitStack() as stack:

        def opened(address: str) -> None:
            print(f"Open {address}\nIt is for you only. Ctrl+C ends the server and removes its copies.", flush=True)
            if not no_browser:
                stack.enter_context(open_page(address))

        limits = Limits(upload=max_upload * 1_000_000, kept=max_kept * 1_000_000, rows=max_rows)
        run(folder, port=port, limits=limits, opened=opened)
