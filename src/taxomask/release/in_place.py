"""Table, audit, note and report are put in place as one unit: at every instant a table has its own audit beside it.

Several files cannot get their names in one step. So the audit, the note and the report are first put beside their
places under names of their own (``x.audit.next-1f3a5c7e.json``), then the tables get their names, and then the others
get theirs. The former audit stays until the new tables are there. What a killed run left is settled by the next one: if
the tables are those that its audit knows, all the rest gets its name; if none is, it is removed. Runs to the same place
take turns.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .._support.failures import cannot_write
from .._support.temporary import flush, temporary_name
from ..microdata.files import is_address
from .places import check_free, is_folder

__all__ = ["belongs", "file_sha256", "find_audit", "put_in_place", "staged", "taking_turns"]

_FORMER = "former"
_EXCHANGE = 2  # of renameat2: both names change owners in one step
_HERE = -100  # AT_FDCWD: names are relative to the working folder


@contextlib.contextmanager
def taking_turns(audit: Path) -> Iterator[None]:
    """Only one run at a time; what a killed one left is settled first."""
    with _locked(audit.with_name(f".{audit.name}.lock")):
        _settle(audit)
        yield


def put_in_place(
    audit: Path, beside: dict[Path, Path], tables: Mapping[Path, Path], *, force: bool, next_to: Mapping[Path, Path]
) -> None:
    """Give finished files and folders their names; those that cannot be overwritten are an error.

    Parameters
    ----------
    audit
        The name of the audit, by which runs take turns: see `taking_turns`, within which this is called.
    beside
        The audit, the note and the report: the part of each name. The audit comes first.
    tables
        The part of each table, a file or a folder.
    force
        Whether to overwrite what exists.
    next_to
        The names that they have meanwhile; see `staged`.
    """
    if not force:
        check_free(map(str, (*tables, *beside)))
    named: list[Path] = []
    try:
        for path, part in beside.items():
            part.replace(next_to[path])
        flush(audit.absolute().parent)
        for path, part in tables.items():
            _name_table(part, path, force=force)
            named.append(path)
        for path in tables:
            flush(path.absolute().parent)
    except BaseException as error:
        if not force:  # what is there now was not there before
            for path in named:
                _remove(path)
        if not force or not named:
            for one in next_to.values():
                one.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(audit.parent / path.name, error) from None
        raise
    for path in reversed(beside):  # the audit at last: as long as it is there, the others are known
        next_to[path].replace(path)
    flush(audit.absolute().parent)


def staged(paths: Mapping[Path, Path]) -> dict[Path, Path]:
    """Names that tell what will be: ``x.audit.next-1f3a.json`` for ``x.audit.json``."""
    token = secrets.token_hex(4)
    return {path: path.with_name(f"{path.stem}.next-{token}{path.suffix}") for path in paths}


def find_audit(audit: Path, table: str) -> Path:
    """The audit that belongs to a table: the one beside it, or one that a killed run left unsettled."""
    for one in _unsettled(audit):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            if not is_address(table) and belongs(json.loads(one.read_text(encoding="utf-8")), Path(table)):
                return one
    return audit


def belongs(record: Mapping[str, Any], table: Path) -> bool:
    """Whether a file, or all files of a folder, are those whose hashes an audit knows."""
    hashes: Mapping[str, str] = record["file_sha256"]
    if not table.is_dir():
        return file_sha256(table) in hashes.values()
    folders: dict[str, dict[str, str]] = {}  # one, or one for each of several copies
    for name, digest in hashes.items():
        folder, _, part = name.rpartition("/")
        folders.setdefault(folder, {})[part] = digest
    return {one.name: file_sha256(one) for one in table.iterdir() if one.name[0] not in "._"} in folders.values()


def file_sha256(path: Path) -> str:
    """The hash of a file, as the audit keeps it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --------------------------------------------------------------------------------------- tables


def _name_table(part: Path, path: Path, *, force: bool) -> None:
    """Give a table its name, in one step."""
    if not part.is_dir() and not (force and path.is_dir()):
        if force:
            part.replace(path)
        else:
            os.link(part, path)  # unlike a rename it refuses to overwrite
            part.unlink()
        return
    if not path.exists():
        part.rename(path)
    elif _exchanged(part, path):
        _remove(part)
    else:  # in two steps; if killed between them, the next run puts the former one back
        former = temporary_name(path, _FORMER)
        path.rename(former)
        part.rename(path)
        _remove(former)


def _remove(path: Path) -> None:
    """Remove a folder or a file."""
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step, where the system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


# --------------------------------------------------------------------------------------- what killed runs left


def _unsettled(audit: Path) -> list[Path]:
    pattern = re.compile(rf"{re.escape(audit.stem)}\.next-[0-9a-f]{{8}}{re.escape(audit.suffix)}")
    folder = audit.parent
    return sorted(one for one in folder.iterdir() if pattern.fullmatch(one.name)) if folder.is_dir() else []


def _settle(audit: Path) -> None:
    """Finish what a killed run had all but finished, and remove what it had not come to."""
    for one in _unsettled(audit):
        token = one.stem.rpartition("-")[2]
        try:
            record = json.loads(one.read_text(encoding="utf-8"))
            tables = [name for name in record["files"] if not is_address(name)]
            others = [audit.parent / name for name in record["beside"]]
        except (OSError, ValueError, KeyError, TypeError):  # not ours
            continue
        places = [audit.parent / Path(name).name for name in tables]
        for place, name in zip(places, tables, strict=True):
            if is_folder(name) and not place.exists():
                _put_back(place)
        own = [place.exists() and belongs(record, place) for place in places]
        if not own or (any(own) and not all(own)):
            continue  # tables of a database, or some of several: both audits are needed
        for path in (*others, audit):
            left = path.with_name(f"{path.stem}.next-{token}{path.suffix}")
            with contextlib.suppress(FileNotFoundError):
                left.replace(path) if all(own) else left.unlink()


def _put_back(folder: Path) -> None:
    """A folder that was moved out of the way, and nothing put in its place."""
    for former in sorted(folder.parent.glob(f".{folder.name}.*.{_FORMER}")):
        former.rename(folder)
        return


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock; it ends with the process, whatever happens to it."""
    try:
        import fcntl
    except ImportError:  # not on Windows: there, runs to the same place must not overlap
        yield
        return
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise cannot_write(path, error) from None
        with contextlib.suppress(OSError):  # where files cannot be locked, we go on without
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if path.exists() and os.fstat(file).st_ino == path.stat().st_ino:
                break
        except FileNotFoundError:
            pass
        os.close(file)  # removed by the one who had it: try anew
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)
