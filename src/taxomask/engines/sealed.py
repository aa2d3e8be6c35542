"""Files that say of each stretch of theirs whether it is as it was written.

What was written comes first, then a list of its stretches with their checksums, then a foot with the checksum of the
list. So whoever looks at a part of a file need not read the rest to know that the part is sound, and a file can be
written by several hands: each leaves the checksums of what it wrote.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Seal", "Stretch", "Summed", "sealed", "stretches_of", "tail"]

_FOOT = struct.Struct("<QQI8s")  # the length of what was written, how many stretches, the checksum of these, a mark
_MARK = b"taxomask"
_LENGTH = 1 << 20  # bytes of a stretch
_ENTRY = np.dtype([("start", "<u8"), ("length", "<u8"), ("checksum", "<u4")])


class Stretch(NamedTuple):
    """Some bytes of a file, and their checksum."""

    start: int
    length: int
    checksum: int


def stretches_of(content: Any, start: int = 0) -> list[Stretch]:
    """The stretches of what is written from a place of a file on."""
    view = memoryview(content).cast("B")
    pieces = ((first, view[first : first + _LENGTH]) for first in range(0, len(view), _LENGTH))
    return [Stretch(start + first, len(piece), zlib.crc32(piece)) for first, piece in pieces]


def tail(length: int, stretches: Sequence[Stretch]) -> bytes:
    """What a file ends with."""
    entries = np.array(stretches, dtype=_ENTRY).tobytes()
    checksum = zlib.crc32(struct.pack("<QQ", length, len(stretches)), zlib.crc32(entries))
    return entries + _FOOT.pack(length, len(stretches), checksum, _MARK)


def sealed(content: bytes) -> bytes:
    """What a file holds that is written at once."""
    return content + tail(len(content), stretches_of(content))


class Seal:
    """What a file said of itself when it was opened, and which of its stretches were found to be sound since.

    Parameters
    ----------
    path
        The file; a ValueError if its end is not as it was written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _FOOT.size, 0))
            foot = file.read()
            if len(foot) < _FOOT.size:
                raise ValueError("damaged")
            self.length, count, checksum, mark = _FOOT.unpack(foot)
            room = size - _FOOT.size - self.length
            if mark != _MARK or room < 0 or room != count * _ENTRY.itemsize:
                raise ValueError("damaged")
            file.seek(self.length)
            entries = file.read(room)
        if checksum != zlib.crc32(struct.pack("<QQ", self.length, count), zlib.crc32(entries)):
            raise ValueError("damaged")
        self._entries = np.frombuffer(entries, dtype=_ENTRY)
        self._sound = np.zeros(count, dtype=np.bool_)

    def check(self, start: int, stop: int) -> None:
        """Read the stretches that hold these bytes, unless that was done before; a ValueError if one is damaged.

        Read, not mapped: what was only looked at for its checksum does not stay in the memory of the process.
        """
        first = int(np.searchsorted(self._entries["start"], start, side="right")) - 1
        last = int(np.searchsorted(self._entries["start"], stop, side="left"))
        places = np.flatnonzero(~self._sound[max(first, 0) : last]) + max(first, 0)
        if not len(places):
            return
        with self._path.open("rb", buffering=0) as file:
            for place, entry in zip(places.tolist(), self._entries[places].tolist(), strict=True):
                if not _reads(file, Stretch(*entry)):
                    raise ValueError("damaged")
                self._sound[place] = True


def _reads(file: io.FileIO, stretch: Stretch) -> bool:
    file.seek(stretch.start)
    content = bytearray(stretch.length)
    view, have = memoryview(content), 0
    while have < stretch.length and (some := file.readinto(view[have:])):
        have += some
    return have == stretch.length and zlib.crc32(content) == stretch.checksum


class Summed(io.RawIOBase):
    """A file that is being written from its beginning to its end, which is sealed then."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("wb")
        self.length = 0
        self._stretches: list[Stretch] = []
        self._begun = Stretch(0, 0, 0)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        for piece in self._pieces(view):
            start, length, checksum = self._begun
            self._begun = Stretch(start, length + len(piece), zlib.crc32(piece, checksum))
        self.length += len(view)
        return self._file.write(view)

    def _pieces(self, view: memoryview) -> Iterator[memoryview]:
        """What is written, cut where one stretch ends and the next begins."""
        while len(view):
            if self._begun.length == _LENGTH:
                self._stretches.append(self._begun)
                self._begun = Stretch(self._begun.start + _LENGTH, 0, 0)
            room = _LENGTH - self._begun.length
            yield view[:room]
            view = view[room:]

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                stretches = [*self._stretches, *([self._begun] if self._begun.length else [])]
                self._file.write(tail(self.length, stretches))
        finally:
            self.close()

    def close(self) -> None:
        self._file.close()
        super().close()
