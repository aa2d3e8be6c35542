"""Names of what is written, and files and folders that are whole or not there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._support.temporary import sweep, temporary_name
from ..errors import DataError
from ..microdata.files import is_address

__all__ = [
    "audit_path", "beside", "check_free", "check_place", "file_sha256", "flush", "is_folder", "put_folder",
    "put_in_place", "targets", "temporary", "temporary_folder",
]  # fmt: skip

_PART = "part"
_TABLE = re.compile(r"[?&]table=([^&]*)")
_EXISTS = "Choose another name, or overwrite it with --force."


def is_folder(target: str) -> bool:
    """Whether a release goes to a folder of files: its name ends in a slash."""
    return not is_address(target) and target.endswith("/")


def targets(target: str, copies: int) -> list[str]:
    """Where each of several protected tables goes."""
    if copies == 1:
        return [target]
    if is_address(target):
        return [_TABLE.sub(rf"\g<0>_{number}", target, count=1) for number in range(1, copies + 1)]
    path = Path(target)
    stem, dot, suffix = path.name.partition(".")
    end = "/" * is_folder(target)
    return [str(path.with_name(f"{stem}-{number}{dot}{suffix}")) + end for number in range(1, copies + 1)]


def audit_path(target: str) -> Path:
    """Where the private record of a release lies: beside the table."""
    return beside(target, ".audit.json")


def beside(target: str, suffix: str) -> Path:
    """The name of what lies beside a table."""
    if is_address(target):
        named = _TABLE.search(target)
        return Path((named[1] if named else "table").replace("/", "_") + suffix)
    path = Path(target)
    return path.with_name(path.name.partition(".")[0] + suffix)


def check_place(path: Path, *, force: bool) -> None:
    """Find out now what would otherwise be found out after the work."""
    if not force:
        check_free([str(path)])
    if not path.parent.is_dir():
        raise DataError(f"{path} cannot be written: there is no such folder.", hint="Make the folder first.")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"{path} cannot be written: you may not write to the folder.", hint="Choose another folder.")


def check_free(paths: Iterable[str]) -> None:
    """An error if one of them exists."""
    for path in paths:
        if not is_address(path) and Path(path).exists():
            raise DataError(f"{path} exists already.", hint=_EXISTS)


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A new file beside a path that only its owner can read; gone in the end if it was not put in place."""
    sweep(path, _PART)
    part = temporary_name(path, _PART)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """A new folder beside a path that only its owner can read; gone in the end if it was not put in place."""
    sweep(path, _PART)
    folder = temporary_name(path, _PART)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def flush(path: Path) -> None:
    """Make sure that the content has reached the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def put_in_place(part: Path, path: Path, *, force: bool) -> None:
    """Give a finished file its name, in one step."""
    try:
        if force:
            part.replace(path)
        else:
            os.link(part, path)  # unlike a rename it refuses to overwrite
            part.unlink()
    except FileExistsError:
        raise DataError(f"{path} exists already.", hint=_EXISTS) from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def put_folder(folder: Path, path: Path, *, force: bool) -> None:
    """Give a finished folder its name; one that is overwritten is moved out of the way first."""
    old = temporary_name(path, _PART)
    if path.exists():
        if not force:
            raise DataError(f"{path} exists already.", hint=_EXISTS)
        path.rename(old)
    folder.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def file_sha256(path: Path) -> str:
    """The hash of a file, as the audit keeps it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cannot_write(path: Path, error: OSError) -> DataError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return DataError(f"{path} cannot be written: {reason}.", hint="Check the folder and who may write there.")
