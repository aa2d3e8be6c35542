"""What jobs leave for each other: objects in a private folder that every worker can reach."""

from __future__ import annotations

import os
import pickle
import secrets
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError
from ..leftovers import sweep, temporary_name

__all__ = ["Store"]

_HEAD = struct.Struct("<8sIQ")  # a mark, the checksum, the length
_MARK = b"taxomask"
_SCRATCH = "scratch"
_SEALS, _KINDS = "seals", "kinds"
_memory: dict[Path, dict[Any, Any]] = {}


class Store:
    """Objects by key, one file each.

    A file is written beside its place and renamed, so that it is whole or not there; a job that runs twice writes the
    same again. Each carries a checksum: a damaged file is found, never used. Only the owner can read what is here,
    since some of it is the original table.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @classmethod
    @contextmanager
    def temporary(cls, beside: Path) -> Iterator[Store]:
        """A store that is gone in the end; what a killed run left behind is removed first."""
        sweep(beside, _SCRATCH)
        folder = temporary_name(beside.absolute(), _SCRATCH)  # workers are in other folders
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise EngineError(
                f"{folder.parent} cannot hold the intermediate files: {os.strerror(error.errno or 0)}.",
                hint="Choose another folder with 'engine: {scratch: …}'.",
            ) from None
        try:
            yield cls(folder)
        finally:
            gone = temporary_name(beside, _SCRATCH)
            with suppress(OSError):
                folder.rename(gone)  # in one step: jobs that still run find no place to write to
            shutil.rmtree(gone, ignore_errors=True)
            _memory.pop(folder, None)

    def path(self, key: str) -> Path:
        """The file of a key, for what is not an object (a table in a format of its own)."""
        return self.folder / key

    def put(self, key: str, value: Any) -> None:
        """Keep an object."""
        with self._writing(key) as part, _opened(part) as file:
            file.write(bytes(_HEAD.size))
            summed = _Summed(file)
            pickle.dump(value, summed, protocol=5)
            file.seek(0)
            file.write(_HEAD.pack(_MARK, summed.checksum, summed.length))

    def get(self, key: str) -> Any:
        """An object that was kept."""
        path = self.path(key)
        try:
            with path.open("rb") as file:
                mark, checksum, length = _HEAD.unpack(file.read(_HEAD.size))
                summed = _Summed(file)
                value = pickle.load(summed)  # written by a job of the same run
                if (mark, checksum, length) == (_MARK, summed.checksum, summed.length):
                    return value
        except Exception:  # a damaged file can make the reader fail in any way
            pass
        raise _damaged(path)

    def shared(self, key: str) -> Any:
        """An object that many jobs need, read once in each process."""
        memory = self.memory
        if key not in memory:
            memory[key] = self.get(key)
        return memory[key]

    @property
    def memory(self) -> dict[Any, Any]:
        """What this process keeps in memory of the store, until the store is gone."""
        if self.folder not in _memory:
            for gone in [folder for folder in _memory if not folder.exists()]:  # of runs before, on a worker that stays
                _memory.pop(gone, None)
        return _memory.setdefault(self.folder, {})

    def drop(self, *keys: str) -> None:
        """Forget objects."""
        for key in keys:
            self.path(key).unlink(missing_ok=True)

    @contextmanager
    def writing(self, key: str) -> Iterator[Path]:
        """A file to be filled, for what is not an object; it gets the name of the key once it is whole."""
        with self._writing(key) as part:
            yield part
            checksum = _checksum(part)
        self.put(f"{_SEALS}/{key}", checksum)

    def put_array(self, key: str, array: NDArray[Any]) -> None:
        """Keep numbers, to be mapped into memory."""
        with self.writing(key) as part:
            array.tofile(part)
        self.put(f"{_KINDS}/{key}", array.dtype)

    def array(self, key: str) -> NDArray[Any]:
        """Numbers that were kept, mapped into memory."""
        path, kind = self.sealed(key), self.shared(f"{_KINDS}/{key}")
        return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)

    def sealed(self, key: str) -> Path:
        """A file that was filled, if it is as it was then; looked at once in each process."""
        path, memory = self.path(key), self.memory
        if (_SEALS, key) not in memory:
            if not path.exists() or _checksum(path) != self.get(f"{_SEALS}/{key}"):
                raise _damaged(path)
            memory[_SEALS, key] = True
        return path

    @contextmanager
    def _writing(self, key: str) -> Iterator[Path]:
        path = self.path(key)
        part = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        try:
            for parent in [*path.relative_to(self.folder).parents][-2::-1]:  # not the store: it may be gone on purpose
                (self.folder / parent).mkdir(mode=0o700, exist_ok=True)
            yield part
            part.chmod(0o600)
            part.replace(path)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else f"{error} (perhaps the disk is full)"
            raise EngineError(
                f"the intermediate file {path} cannot be written: {reason}.",
                hint="Nothing was released. Make room, or choose another folder with 'engine: {scratch: …}'.",
            ) from None
        finally:
            part.unlink(missing_ok=True)


class _Summed:
    """A file that adds up what goes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.checksum, self.length = file, 0, 0

    def write(self, content: Any) -> int:
        self._add(content)
        return self._file.write(content)

    def read(self, size: int) -> bytes:
        return self._add(self._file.read(size))

    def readline(self) -> bytes:
        return self._add(self._file.readline())

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._add(memoryview(buffer)[:size])
        return int(size)

    def _add(self, content: Any) -> Any:
        self.checksum = zlib.crc32(content, self.checksum)
        self.length += memoryview(content).nbytes
        return content


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _damaged(path: Path) -> EngineError:
    return EngineError(
        f"the intermediate file {path} is damaged or gone.",
        hint="Nothing was released. Check the disk of the scratch folder and run again.",
    )


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
