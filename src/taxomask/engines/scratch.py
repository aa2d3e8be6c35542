"""What functions leave for each other: large arrays and tables in files of a private folder, all else in messages.

An object on its way to a function or back is packed into a message. The arrays in it that are large are written, one
after the other, to a file of the scratch folder, and the message says where they lie; whoever opens it gets them mapped
into memory, not read. So a column of a table that does not fit into memory is an array like any other, and passing it
on costs nothing. A file is gone as soon as nothing in the driving process refers to what is in it.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import pickle
import secrets
import shutil
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.temporary import sweep, temporary_name
from ..errors import EngineError
from ..microdata import Column, Schema
from .packing import ArraysFile, Packer, Place, Unpacker
from .sealed import Seal, Stretch, sealed, stretches_of, tail

__all__ = ["LARGE", "Piece", "Scratch"]

LARGE = 1 << 16  # bytes from which on an array is kept in a file
_SCRATCH = "scratch"
_ROOM = 16  # bytes for each record and column, where most lies here: docs/engines.md
_MANY = 1_000  # files that a worker knows before it looks which of them are gone
_LASTING = ("schema", "categories")  # workers may ask for them at any time
_here: dict[Path, Scratch] = {}
_guard = threading.RLock()


@dataclass(frozen=True)
class Piece:
    """Some rows of an array that were written to a file, with their checksums."""

    file: str
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    stretches: tuple[Stretch, ...]


class Scratch:
    """A private folder for what is large, and the way of objects that hold some of it.

    A file is written beside its place and renamed, so that it is whole or not there; a function that runs twice writes
    the same again. Each ends with a checksum: a damaged file is found by the first who opens it in each process, never
    used. Only the owner can read what is here, since some of it is the original table.

    Parameters
    ----------
    folder
        The folder, which all workers see.
    large
        From how many bytes on an array is kept in a file.
    driver
        Whether this process decides what is needed no longer.
    """

    def __init__(self, folder: Path, *, large: int, driver: bool = False) -> None:
        self.folder, self.large, self._driver = folder, large, driver
        self._messages = 0
        self._files: weakref.WeakValueDictionary[str, NDArray[np.uint8]] = weakref.WeakValueDictionary()
        self._tables: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._table_names: dict[int, str] = {}
        self._columns: weakref.WeakValueDictionary[str, Column] = weakref.WeakValueDictionary()
        self._tokens: weakref.WeakKeyDictionary[Column, str] = weakref.WeakKeyDictionary()
        self._categories: dict[str, tuple[object, ...]] = {}
        self._names: dict[int, str] = {}  # of the categories
        self._distances: dict[str, dict[str, Any]] = {}
        self._seals: dict[str, Seal] = {}
        self._many = _MANY
        self._schema: Schema | None = None
        self._room = 0  # that the table will need, in bytes

    @classmethod
    @contextmanager
    def temporary(cls, beside: Path, *, large: int | None = None) -> Iterator[Scratch]:
        """A folder that is gone in the end; what a killed run left behind is removed first."""
        sweep(beside, _SCRATCH)
        folder = temporary_name(beside.absolute(), _SCRATCH)  # workers are in other folders
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise EngineError(
                f"{folder.parent} cannot hold the intermediate files: {os.strerror(error.errno or 0)}.",
                hint="Choose another folder with 'engine: {scratch: …}'.",
            ) from None
        scratch = _here[folder] = cls(folder, large=LARGE if large is None else large, driver=True)
        try:
            yield scratch
        finally:
            gone = temporary_name(beside, _SCRATCH)
            with suppress(OSError):
                folder.rename(gone)  # in one step: functions that still run find no place to write to
            shutil.rmtree(gone, ignore_errors=True)
            _here.pop(folder, None)

    @classmethod
    def at(cls, folder: str, large: int) -> Scratch:
        """The scratch folder as a worker sees it: one object in each process, as long as the folder is there."""
        path = Path(folder)
        with _guard:
            for gone in [one for one in _here if not one.exists()]:  # of runs before, on a worker that stays
                _here.pop(gone, None)
            return _here.setdefault(path, cls(path, large=large))

    # ----------------------------------------------------------------------------------- messages

    def new_name(self, what: str) -> str:
        """A name for the files of some messages that was not used before."""
        self._messages += 1
        return f"{self._messages:04}-{what.partition(' ')[0]}"

    def pack(self, values: Sequence[Any], name: str) -> list[bytes]:
        """A message for each object; what is large goes to a file of this name, unless it lies in one already."""
        messages = []
        with ArraysFile(self, name) as file:
            for value in values:
                message = io.BytesIO()
                Packer(message, self, file).dump(value)
                messages.append(message.getvalue())
        return messages

    def unpack(self, message: bytes, *, apart: bool = False) -> Any:
        """The object again; what is large in it is mapped into memory.

        Whoever works on it for a while only maps each part that it looks at ``apart``: what was read of it leaves the
        memory of the process with the part, not with the file.
        """
        return Unpacker(io.BytesIO(message), self, apart=apart).load()

    def holding(self, name: str) -> object:
        """Something that keeps the files of some messages, if there are such, until it is given up."""
        path = self.path(name)
        files = [path] * path.exists() + sorted(path.parent.glob(f"{path.name}-*.arrow"))
        return [self.mapped(str(one.relative_to(self.folder))) for one in files]

    def introduce(self, schema: Schema) -> None:
        """Let messages name this schema and its attributes instead of holding them: taxonomies are large."""
        self._schema = schema
        with self.writing("schema") as part, part.open("wb") as file:
            file.write(sealed(pickle.dumps((schema, self._room), protocol=5)))

    @property
    def introduced(self) -> Schema | None:
        """The schema, if this process has met it."""
        return self._schema

    @property
    def schema(self) -> Schema:
        """The schema that was introduced."""
        if self._schema is None:
            self._schema, self._room = pickle.loads(self.content("schema"))  # written by the driver of the same run
        schema: Schema = self._schema
        return schema

    # ----------------------------------------------------------------------------------- files

    def path(self, name: str) -> Path:
        """The file of this name."""
        return self.folder / name

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A file to be filled; it gets its name once it is whole."""
        path = self.path(name)
        part = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        with self._making(path):
            try:
                os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                yield part
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)

    def expect(self, records: int, columns: int) -> None:
        """Say how large the table is; an error if there is surely too little room for what will lie here.

        That is some 16 bytes for each record and column at the most, and never less than a quarter of it.
        """
        room, free = _ROOM * records * columns, shutil.disk_usage(self.folder).free
        if 4 * free < room:
            raise EngineError(
                f"{self.folder.parent} has too little room for the intermediate files: about {_in_gb(room)} are "
                f"needed, and {_in_gb(free)} are free.",
                hint="Nothing was done yet. Make room, or choose another folder with 'engine: {scratch: …}'.",
            )
        self._room = room

    def _expected(self) -> str:
        """What the table will need, if that is known; workers are told with the schema."""
        with suppress(EngineError):
            if self._schema is None:
                self.schema  # noqa: B018 - read, which tells
        return f" A table of this size needs about {_in_gb(self._room)}." if self._room else ""

    @contextmanager
    def _making(self, path: Path) -> Iterator[None]:
        """The folder of a file that is being written; an error of ours if the disk refuses."""
        try:
            for parent in [*path.relative_to(self.folder).parents][-2::-1]:  # not the folder: it may be gone on purpose
                (self.folder / parent).mkdir(mode=0o700, exist_ok=True)
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else f"{error} (perhaps the disk is full)"
            raise EngineError(
                f"the intermediate file {path} cannot be written: {reason}.{self._expected()}",
                hint="Nothing was released. Make room, or choose another folder with 'engine: {scratch: …}'.",
            ) from None

    def put(self, rows: NDArray[Any], name: str, start: int) -> Piece:
        """Write some rows of an array to their place in a file that others write the rest of."""
        path, content = self.path(name), np.ascontiguousarray(rows)
        flat = content.reshape(-1).view(np.uint8)
        offset = start * (content.nbytes // max(len(content), 1))
        with self._making(path):
            file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                done = 0
                while done < len(flat):
                    done += os.pwrite(file, flat[done:].data, offset + done)
            finally:
                os.close(file)
        return Piece(name, content.shape, content.dtype, tuple(stretches_of(flat.data, offset)))

    def joined(self, pieces: Sequence[Piece]) -> NDArray[Any]:
        """The array whose rows were written piece by piece, these in their order."""
        name, (_, *inner), kind = pieces[0].file, pieces[0].shape, pieces[0].kind
        rows = sum(piece.shape[0] for piece in pieces)
        place = Place(name, 0, (rows, *inner), kind)
        path = self.path(name)
        with self._making(path):
            file = os.open(path, os.O_WRONLY)
            try:
                end = tail(place.length, [one for piece in pieces for one in piece.stretches])
                os.ftruncate(file, place.length)
                os.pwrite(file, end, place.length)
            finally:
                os.close(file)
        return self.at_place(place)

    def mapped(self, name: str) -> NDArray[np.uint8]:
        """A file that was filled, mapped into memory. What is in it must be checked before it is used."""
        found = self._files.get(name)
        if found is not None:
            return found
        path = self.path(name)
        try:
            seal = self._seals.get(name) or Seal(path)
            file = np.memmap(path, np.uint8, "c")  # who writes into it does so in memory
        except (OSError, ValueError):  # not there, or damaged
            raise _damaged(path) from None
        with _guard:
            self._keep(name, seal)
            found = self._files.setdefault(name, file)
            if found is file and self._driver and name.partition("/")[0] not in _LASTING:
                weakref.finalize(file, self._forget, name).atexit = False
        return found

    def _keep(self, name: str, seal: Seal) -> None:
        """Know a file from now on; a worker, whom nobody tells, forgets those that are gone now and then."""
        self._seals.setdefault(name, seal)
        if not self._driver and len(self._seals) >= self._many:
            there = [one for one in self._seals if one in self._files or self.path(one).exists()]
            self._seals = {one: self._seals[one] for one in there}
            self._many = 2 * len(self._seals) + _MANY

    def content(self, name: str) -> Any:
        """All that was written to a file, if it is as it was then: looked at once in each process."""
        file = self.mapped(name)
        self._check(name, 0, self._seals[name].length)
        return file[: self._seals[name].length].data

    def _check(self, name: str, start: int, stop: int) -> None:
        try:
            self._seals[name].check(start, stop)
        except (OSError, ValueError):
            raise _damaged(self.path(name)) from None

    def _forget(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
        self._seals.pop(name, None)

    def place_of(self, array: NDArray[Any]) -> Place | None:
        """Where an array lies that is a whole or a part of a file; None if it is in memory only."""
        root: Any = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if not isinstance(root, np.memmap) or not array.flags.c_contiguous or root.filename is None:
            return None
        path = Path(root.filename)
        if not path.is_relative_to(self.folder):
            return None
        name = str(path.relative_to(self.folder))
        if self._files.get(name) is not getattr(root, "whole", root):
            return None
        offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        return Place(name, root.offset + offset, array.shape, array.dtype)

    def at_place(self, place: Place, *, apart: bool = False) -> NDArray[Any]:
        """The array that lies there, if it is as it was written."""
        file, offset = self.mapped(place.file), place.offset
        self._check(place.file, offset, offset + place.length)
        if apart and place.length:
            part: Any = np.memmap(self.path(place.file), np.uint8, "c", offset, (place.length,))
            part.whole = file  # which keeps the file from being forgotten
            file, offset = part, 0
        return np.ndarray(place.shape, place.kind, buffer=file, offset=offset)

    def table(self, name: str, *, apart: bool = False) -> Any:
        """An Arrow table that was written, mapped into memory."""
        import pyarrow as pa

        if apart:  # not by pa.memory_map, which has the disk read all of it at once
            length = len(self.content(name))  # checked
            part = np.memmap(self.path(name), np.uint8, "r", 0, (length,))
            return pa.ipc.open_file(pa.py_buffer(part)).read_all()
        with _guard:
            found = self._tables.get(name)
            if found is None:
                file: Any = self.mapped(name)
                found = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self.content(name)))).read_all()
                file.base.madvise(mmap.MADV_DONTNEED)  # of most tables nothing but their name is needed here
                self._tables[name], self._table_names[id(found)] = found, name
                weakref.finalize(found, self._table_names.pop, id(found), None).atexit = False
            return found

    def name_of(self, table: Any) -> str | None:
        """The file of an Arrow table; None if it is in memory only."""
        with _guard:
            return self._table_names.get(id(table))

    # ----------------------------------------------------------------------------------- columns

    def token_of(self, column: Column) -> str:
        """The name under which messages speak of a column."""
        with _guard:
            token = self._tokens.get(column)
            if token is None:
                token = self._tokens[column] = secrets.token_hex(8)
                self._columns[token] = column
            return token

    def column(self, token: str, make: Any) -> Column:
        """The column of this name; made if this process does not hold it."""
        with _guard:
            found = self._columns.get(token)
            if found is None:
                found = self._columns[token] = make()
                self._tokens[found] = token
            return found

    def name_of_categories(self, categories: tuple[object, ...]) -> str:
        """The file of the categories of a column, which is written once."""
        with _guard:
            name = self._names.get(id(categories))
            if name is None:
                content = pickle.dumps(categories, protocol=5)
                name = f"categories/{hashlib.sha256(content).hexdigest()}"
                with self.writing(name) as part, part.open("wb") as file:
                    file.write(sealed(content))
                self._names[id(categories)], self._categories[name] = name, categories
            return name

    def categories(self, name: str) -> tuple[object, ...]:
        """Categories that were written, read once in each process."""
        with _guard:
            if name not in self._categories:
                found = pickle.loads(self.content(name))
                self._names[id(found)], self._categories[name] = name, found
            return self._categories[name]

    def distances(self, token: str) -> dict[str, Any]:
        """What columns with the same categories share in this process."""
        with _guard:
            return self._distances.setdefault(token, {"token": token})


def _in_gb(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"


def _damaged(path: Path) -> EngineError:
    return EngineError(
        f"the intermediate file {path} is damaged or gone.",
        hint="Nothing was released. Check the disk of the scratch folder and run again.",
    )
