"""Files that commands write besides a release."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import DataError

__all__ = ["check_free", "write_text"]


def check_free(path: Path, *, force: bool) -> None:
    """Stop before the work begins if its result could not be written, or would overwrite what it should not."""
    if path.exists() and not force:
        raise DataError(f"{path} exists already.", hint="Choose another name, or overwrite it with --force.")
    if not path.parent.is_dir() or path.is_dir() or not os.access(path.parent, os.W_OK):
        raise DataError(f"{path} cannot be written.", hint="Check the folder and who may write there.")


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}.", hint="Check the folder and who may write there."
        ) from None
