"""Opening the page in a browser without showing its address to other users of the computer."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

__all__ = ["open_page"]


@contextmanager
def open_page(address: str) -> Iterator[None]:
    """Open an address by a file that only its owner can read: others can see the arguments of programs."""
    with tempfile.TemporaryDirectory(prefix=f"taxomask-{os.getpid()}-") as folder:
        file = Path(folder) / "open.html"
        page = f'<!doctype html><title>taxomask</title><meta http-equiv="refresh" content="0; url={escape(address)}">'
        file.write_text(page, encoding="utf-8")
        webbrowser.open(file.as_uri())
        yield
