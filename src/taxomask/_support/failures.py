"""What the system and libraries report as errors, in words that help: the one place for command line, page and jobs."""

from __future__ import annotations

import errno
import os
import sys
import zlib

from ..errors import DataError, TaxomaskError

__all__ = ["cannot_write", "explained", "is_out_of_memory", "require_memory"]

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MEMORY = (
    "cannot allocate memory",
    "failed to map segment",
    "unable to allocate",
    "cannot map",
    "out of memory",
    "failed to launch worker thread",
    "can't start new thread",
)
_LEAST = (
    1 << 30
)  # bytes of address space; a table of 60 records takes 900 MB, and libraries that get less abort or hang
_LESS = "Use a machine with more memory, a smaller table, or `--engine local`, which holds less at a time."


def explained(error: BaseException) -> TaxomaskError | None:
    """An error of the system or of a library as one of ours; None if it must be a fault of taxomask itself."""
    if isinstance(error, TaxomaskError):
        return error
    if is_out_of_memory(error):
        return DataError("there is not enough memory.", hint=f"Nothing was released. {_LESS}")
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, UnicodeError):
        return DataError(f"a text cannot be read or written: {error}.", hint="Store the file as UTF-8, and try again.")
    if isinstance(error, zlib.error | EOFError) or _is_of_arrow(error):
        return DataError(f"a file is damaged: {_first_line(error)}.", hint="Make or fetch the file again.")
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory is short; libraries that cannot be loaded say so in words of their own."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = str(error).lower()
    if any(words in text for words in _MEMORY):
        return True
    loading = isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None)
    return loading and "shared object" in text and _allowed() is not None


def require_memory() -> None:
    """Refuse to begin where libraries would abort, or wait for a thread that never starts, in place of saying so."""
    allowed = _allowed()
    if allowed is not None and allowed < _LEAST:
        raise DataError(
            f"there is not enough memory: this process may use {allowed >> 20} MB.",
            hint=f"Nothing was released. Allow {_LEAST >> 20} MB at least (`ulimit -v`), and more for a long table.",
        )


def cannot_write(path: object, error: OSError) -> DataError:
    """What to say if something cannot be written."""
    if error.errno in _FULL:
        return DataError(f"{path} cannot be written: the disk is full.", hint="Make room, or choose another folder.")
    reason = os.strerror(error.errno) if error.errno else _first_line(error)
    return DataError(f"{path} cannot be written: {reason}.", hint="Check the folder and who may write there.")


def _of_system(error: OSError) -> DataError:
    where = "a file" if error.filename is None else os.fsdecode(error.filename)
    if error.errno in _FULL:
        return cannot_write(where, error)
    reason = os.strerror(error.errno) if error.errno else _first_line(error)
    return DataError(f"{where} cannot be used: {reason}.", hint="Check the name, the folder and who may use it.")


def _is_of_arrow(error: BaseException) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(error, arrow.ArrowException)


def _allowed() -> int | None:
    """The address space in bytes that the system allows this process; None if it sets no limit."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
