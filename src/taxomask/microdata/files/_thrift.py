"""Thrift's compact protocol, in which Parquet files describe themselves: enough of it to see every text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Reader", "binaries"]

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(1, 14)


class Reader:
    """Reads structures from bytes, each as a dictionary from the number of a field to its value.

    See https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
    """

    def __init__(self, content: bytes, place: int = 0) -> None:
        self._content = content
        self.place = place

    def struct(self) -> dict[int, Any]:
        """The structure that begins here."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            found[field] = self._value(head & 15, inside=False)
        return found

    def _value(self, kind: int, *, inside: bool) -> Any:
        """A value; in lists and maps (``inside``) truth has a byte of its own."""
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE if inside else kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, inside=True) for _ in range(count)]
        if kind == _MAP:
            count = self._unsigned()
            kinds = self._byte() if count else 0
            return [[self._value(one, inside=True) for one in (kinds >> 4, kinds & 15)] for _ in range(count)]
        length = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}.get(kind)
        if kind != _BINARY and length is None:
            raise ValueError(f"there is no type {kind} in Thrift")
        return self._bytes(self._unsigned() if length is None else length)

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, length: int) -> bytes:
        found = self._content[self.place : self.place + length]
        if len(found) < length:
            raise ValueError("the description ends too soon")
        self.place += length
        return found

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)


def binaries(value: Any) -> Iterator[bytes]:
    """All texts and other bytes in what was read, however deep."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from binaries(one)
