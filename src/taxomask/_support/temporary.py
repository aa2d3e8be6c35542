"""Temporary names beside a path, and what a run that was killed left under them."""

from __future__ import annotations

import glob
import os
import platform
import secrets
import shutil
import zlib
from pathlib import Path

__all__ = ["is_running", "sweep", "temporary_name"]


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
