"""Files and folders that are whole or not there: hidden names beside a path, and what killed runs left under them."""

from __future__ import annotations

import contextlib
import glob
import os
import platform
import secrets
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from .failures import cannot_write

__all__ = ["flush", "is_running", "sweep", "temporary_file", "temporary_folder", "temporary_name", "write_whole"]

_PART = "part"


@contextlib.contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """A new file beside a path that only its owner can read; gone in the end if it was not renamed."""
    sweep(path, _PART)
    part = temporary_name(path, _PART)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """A new folder beside a path that only its owner can read; gone in the end if it was not renamed."""
    sweep(path, _PART)
    folder = temporary_name(path, _PART)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner can read; an unfinished one is never seen."""
    with temporary_file(path) as part:
        try:
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            flush(part)
            part.replace(path)
        except OSError as error:
            raise cannot_write(path, error) from None


def flush(path: Path) -> None:
    """Make sure that the content of a file, or the names in a folder, have reached the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def temporary_name(path: Path, suffix: str) -> Path:
    """A hidden name beside a path, of this process and not used before."""
    return path.with_name(f".{path.name}.{os.getpid()}-{_machine()}-{secrets.token_hex(4)}.{suffix}")


def sweep(path: Path, suffix: str) -> None:
    """Remove what processes of this machine that are gone left behind.

    What belongs to a running one is left alone, and so is what other machines that share the folder have there.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*-{_machine()}-*.{suffix}"):
        pid = left.name.removeprefix(f".{path.name}.").partition("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def is_running(pid: int) -> bool:
    """Whether there is a process of this number on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
