"""Names of what is written, and whether it can be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import DataError
from ..microdata.files import is_address

__all__ = ["audit_path", "beside", "check_free", "check_place", "is_folder", "targets"]

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
