"""Stata files (.dta): variable labels, value labels and lettered missing values (.a to .z) are kept."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from ._readstat import StatisticalFile, labels_for, titles_for, writing
from .base import Batches, Extra, Format, Source, Text, plain, texts_in

__all__ = ["FORMAT"]

_VERSION = 14  # the first with UTF-8
_LARGEST = 2_147_483_620  # larger integers are written as double numbers
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


class _Stata(StatisticalFile):
    format = "Stata"

    @cached_property
    def missing(self) -> dict[str, tuple[Any, ...]]:  # type: ignore[override]
        """The lettered missing values of each column."""
        return dict(self.tags)

    def _header(self) -> Iterator[Extra]:
        """What stands outside of the cells and of the long texts of cells; not when the file was written."""
        content = self._path.read_bytes()
        at = content.index(b"<map>") + 5
        places = struct.unpack("<14Q" if b"<byteorder>LSF" in content[:80] else ">14Q", content[at : at + 112])
        cells, long_texts, labels = places[9:12]
        before = re.sub(rb"<timestamp>.*?</timestamp>", b"", content[:cells], count=1, flags=re.DOTALL)
        for part in (before.replace(content[at : at + 112], b"", 1), content[labels:]):
            for piece in re.split(rb"</?[a-z_]+>", part):
                yield from texts_in(piece, "what the file says about itself")
        for found in re.finditer(rb"GSO.{12}[\x81\x82](.{4})", content[long_texts:labels], re.DOTALL):
            start = long_texts + found.end()
            length = int.from_bytes(found[1], "little")
            yield Extra("a long text", content[start : start + length].rstrip(b"\0").decode("utf-8", "replace"))


def _recognises(start: bytes) -> bool:
    old = len(start) > 3 and 104 <= start[0] <= 115 and start[1] in (1, 2) and start[2] == 1 and start[3] == 0
    return old or start.startswith(b"<stata_dta>")


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Stata(path, "read_dta", user_missing=True)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    table = plain(batches).read_all()
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if types.is_boolean(field.type):
            column = column.cast(pa.int32())
        elif types.is_integer(field.type):
            ends = pc.min_max(column).as_py()
            small = max(abs(ends["min"] or 0), abs(ends["max"] or 0)) <= _LARGEST
            column = column.cast(pa.int32() if small else pa.float64())
        elif types.is_decimal(field.type):
            column = column.cast(pa.float64())
        table = table.set_column(place, field.name, column)
    mixed = _mixed(table, like)
    kinds = {field.name: _kind(field, mixed) for field in table.schema}
    numbers = {column: kind for column, kind in kinds.items() if kind is not None}
    labels = labels_for(like, {column: kind for column, kind in numbers.items() if column not in mixed}, table)
    for column, values in mixed.items():
        known = (like.labels if like else {}).get(column, {})
        labels[column] = {value: known[value] for value in dict.fromkeys(values) if value in known}
    with writing(path) as (pyreadstat, polars):
        frame = polars.from_arrow(table)
        for column, values in mixed.items():
            frame = frame.with_columns(polars.Series(column, values, dtype=polars.Object))
        pyreadstat.write_dta(
            frame,
            str(path),
            column_labels=titles_for(like, table.column_names),
            variable_value_labels={column: entries for column, entries in labels.items() if entries},
            missing_user_values={column: sorted(_LETTERS) for column in mixed},
            version=_VERSION,
        )


_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")


def _mixed(table: Any, like: Source | None) -> dict[str, list[Any]]:
    """Columns that were read as text because of lettered missing values, as the numbers and letters that they are."""
    found = {}
    for name in like.tags if isinstance(like, _Stata) else ():
        values = table[name].to_pylist() if name in table.column_names else [""]
        if all(value is None or (isinstance(value, str) and _is_mixed(value)) for value in values):
            whole = all(value is None or value[0] == "." or value.lstrip("+-").isdigit() for value in values)
            found[name] = [_parsed(value, int if whole else float) for value in values]
    return found


def _is_mixed(value: str) -> bool:
    return bool(_NUMBER.fullmatch(value)) or (len(value) == 2 and value[0] == "." and value[1] in _LETTERS)


def _parsed(value: str | None, kind: type) -> Any:
    return value if value is None else value[1] if value[1:] in _LETTERS else kind(value)


def _kind(field: Any, mixed: dict[str, list[Any]]) -> type | None:
    """The Python type of a column of numbers; Stata labels no others."""
    import pyarrow.types as types

    if field.name in mixed:
        return float if any(isinstance(value, float) for value in mixed[field.name]) else int
    return int if types.is_integer(field.type) else float if types.is_floating(field.type) else None


FORMAT = Format("Stata", (".dta",), _recognises, _open, _write, True)
