"""Where the page keeps what it works on: one folder of this server's own, gone when it ends; and what it may open."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._support.temporary import is_running
from ..errors import DataError

__all__ = ["Limits", "Opened", "TooLargeError", "Workspace", "locate", "plain_name"]

_PREFIX = "taxomask-"


class TooLargeError(DataError):
    """More than the server takes."""


@dataclass(frozen=True)
class Limits:
    """What the page takes at most.

    Bytes of an upload, rows of a table, bytes of a table in memory; files that are kept, and bytes of all of them;
    seconds for a look at a table.
    """

    upload: int = 1 << 30
    rows: int = 5_000_000
    memory: int = 4 << 30
    files: int = 100
    kept: int = 4 << 30
    seconds: float = 120.0


@dataclass
class Opened:
    """A table that was opened: a file in a folder, and the draft of its plan, kept so that a reload finds it."""

    id: str
    folder: Path
    name: str
    draft: dict[str, Any] = field(default_factory=dict)
    sheet: str | None = None
    columns: tuple[str, ...] = ()  # known once it was looked at

    @property
    def path(self) -> Path:
        return self.folder / self.named

    @property
    def named(self) -> str:
        """As a plan names it: with the sheet of a workbook."""
        return self.name if self.sheet is None else f"{self.name}#{self.sheet}"


class Workspace:
    """A temporary folder that only its owner can enter, and the tables and results in it."""

    def __init__(self, folder: Path | None = None, limits: Limits | None = None) -> None:
        self.folder = folder.resolve() if folder is not None else None
        self.limits = limits or Limits()
        self.tables: dict[str, Opened] = {}
        self._files = self._kept = 0  # of uploads and copies, also of those on their way
        _sweep()
        self._own = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))  # made with 0700

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._own, ignore_errors=True)

    def new_folder(self) -> tuple[str, Path]:
        """A folder of its own for a table or a job, with its identifier."""
        name = secrets.token_hex(8)
        path = self._own / name
        path.mkdir(mode=0o700)
        return name, path

    def listing(self, name: str) -> dict[str, Any]:
        """The files and folders in a folder that may be opened; hidden ones are left out."""
        if self.folder is None:
            return {"path": "", "folders": [], "files": []}
        here = locate(self.folder, name, folder=True) if name else self.folder
        folders, files = [], []
        for entry in sorted(os.scandir(here), key=lambda one: one.name.lower()):
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            inside = (Path(name) / entry.name).as_posix()
            try:
                is_folder = entry.is_dir()
                path = locate(self.folder, inside, folder=is_folder)
            except (DataError, OSError):  # a link that leads outside, a socket, a file that is gone
                continue
            if is_folder:
                folders.append({"path": inside, "name": entry.name})
            else:
                files.append({"path": inside, "name": entry.name, "bytes": path.stat().st_size})
        return {"path": name, "folders": folders[:500], "files": files[:500]}

    def open(self, name: str) -> Opened:
        """A table in the folder that the server was started for."""
        if self.folder is None:
            raise DataError("no folder was opened with the server.", hint="Upload the file.")
        locate(self.folder, name)
        return self._add(Opened(secrets.token_hex(8), self.folder, name))

    def folders(self) -> tuple[Path, ...]:
        """Where files of the page lie."""
        return (
            (self._own, self._own.resolve()) if self.folder is None else (self._own, self._own.resolve(), self.folder)
        )

    def copy(self, source: Path) -> Opened:
        """A copy of a file that comes with the package."""
        self._make_room(1, source.stat().st_size)
        identifier, folder = self.new_folder()
        shutil.copyfile(source, folder / source.name)
        return self._add(Opened(identifier, folder, source.name))

    async def upload(self, name: str, pieces: AsyncIterator[bytes], beside: Opened | None = None) -> Opened:
        """A file that is being sent, kept with its table or as a new table; nothing is kept of one too large."""
        name = plain_name(name)
        if beside is not None and not beside.folder.is_relative_to(self._own):
            raise DataError("the table lies in your own folder.", hint="Put the file into that folder and choose it.")
        self._make_room(1, 0)
        identifier, folder = (beside.id, beside.folder) if beside is not None else self.new_folder()
        path, size = folder / name, 0
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            self._files -= 1
            raise DataError(f"a file {name!r} is there already.", hint="Rename one of them.") from None
        try:
            with os.fdopen(handle, "wb") as file:
                async for piece in pieces:
                    if size + len(piece) > self.limits.upload:
                        raise self.too_large()
                    self._make_room(0, len(piece))
                    size += len(piece)
                    file.write(piece)
        except BaseException:
            self._files, self._kept = self._files - 1, self._kept - size
            path.unlink(missing_ok=True)
            if beside is None:
                folder.rmdir()
            raise
        return beside or self._add(Opened(identifier, folder, name))

    def too_large(self) -> TooLargeError:
        return TooLargeError(
            f"the file has more than {self.limits.upload / 1e6:,.0f} MB.",
            hint="Start the server for the folder with the file: taxomask serve FOLDER.",
        )

    def _make_room(self, files: int, size: int) -> None:
        """Count what is kept; an error if it is too much."""
        hint = (
            "End the server and start it again, which removes them; or start it for the folder with your files, which "
            "are not copied: taxomask serve FOLDER."
        )
        if self._files + files > self.limits.files:
            raise TooLargeError(f"{self.limits.files:,} files are kept already.", hint=hint)
        if self._kept + size > self.limits.kept:
            raise TooLargeError(f"all files together have more than {self.limits.kept / 1e6:,.0f} MB.", hint=hint)
        self._files, self._kept = self._files + files, self._kept + size

    def __getitem__(self, identifier: str) -> Opened:
        if identifier not in self.tables:
            raise DataError("this table is not open any more.", hint="Open it again.")
        return self.tables[identifier]

    def _add(self, table: Opened) -> Opened:
        self.tables[table.id] = table
        return table


def locate(root: Path, name: str, *, folder: bool = False) -> Path:
    """A file (or folder) of this name in a folder; an error if it lies anywhere else, also by a link."""
    refused = DataError("there is no such file in the opened folder.", hint="Choose one of the list.")
    parts = Path(name).parts
    if not parts or "\0" in name or Path(name).is_absolute() or any(part.startswith(".") for part in parts):
        raise refused
    try:
        path = (root / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise refused from None
    if not path.is_relative_to(root.resolve()) or not (path.is_dir() if folder else path.is_file()):
        raise refused
    return path


def plain_name(name: str) -> str:
    """The name of a file without folders and special characters.

    >>> plain_name("../../etc/passwd"), plain_name("my table (1).csv"), plain_name("\\0")
    ('passwd', 'my table (1).csv', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    safe = re.sub(r"[^\w.() -]", "_", "".join(one for one in last if one.isprintable())).lstrip(". ")
    stem, dot, suffix = safe.partition(".")
    return f"{stem[:80]}{dot}{suffix[-20:]}" if safe else "table"


def _sweep() -> None:
    """Remove what servers that were killed left behind."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and left.lstat().st_uid == os.getuid() and not is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
