"""What a Parquet file holds besides its cells: its description, statistics, levels, and whatever stands between.

A file is read here page by page, since the library shows only what it needs itself. Every text of the description, of
the headers of pages and of their index is seen; levels (dictionary pages) and statistics are compared with the cells of
their column.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.spelling import spell
from ..casting import is_temporal
from ._thrift import Reader, binaries
from .base import Extra, said, texts_in

__all__ = ["parquet_extras"]

_MARK = b"PAR1"
_WRITER = re.compile(rb"parquet-cpp-arrow version [0-9.]+(-SNAPSHOT)?")
_ARROW = b"ARROW:schema"
_KINDS = {1: "<i4", 2: "<i8", 4: "<f4", 5: "<f8"}  # physical types of numbers
_TEXT = 6
_DICTIONARY = 2  # a kind of page
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 5: "lz4", 6: "zstd", 7: "lz4_raw"}


def parquet_extras(path: Path) -> Iterator[Extra]:
    """All that stands in a Parquet file and is not a cell."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file, path.open("rb") as raw:
        whole = path.stat().st_size
        raw.seek(whole - 8)
        length = int.from_bytes(raw.read(4), "little")
        footer_at = whole - 8 - length
        raw.seek(footer_at)
        about = Reader(raw.read(length)).struct()
        yield from _description(about)
        pages = [(0, len(_MARK)), (footer_at, whole)]
        for group, one in enumerate(about.get(4, [])):
            for place, chunk in enumerate(one[1]):
                name = ".".join(part.decode() for part in chunk[3][3])
                column = _top(file, place)
                yield from _index(raw, chunk, name, pages)
                first = min(at for at in (chunk[3].get(11), chunk[3].get(9)) if at)
                pages.append((first, first + chunk[3][7]))
                raw.seek(first)
                levels = yield from _pages(raw.read(chunk[3][7]), chunk[3], name, column)
                yield from _not_in_cells(file, group, place, column, levels, chunk[3])
        yield from _between(raw, sorted(pages))


def _description(about: dict[int, Any]) -> Iterator[Extra]:
    """The texts of the footer; statistics are looked at with their column."""
    where = "the description of the file"
    for entry in about.get(5, []):
        key, value = entry[1], entry.get(2, b"")
        if key == _ARROW:
            yield from _arrow_schema(value)
        else:
            yield Extra(where, key.decode("utf-8", "replace"))
            yield from said(value.decode("utf-8", "replace"), where)
    rest = {field: value for field, value in about.items() if field not in (2, 4, 5)}
    rest[2] = about[2][1:]  # the root is "schema" in every file
    for group in about.get(4, []):
        chunks = [{**one, 3: {**one[3], 12: None}} for one in group[1]]
        yield from (Extra(where, text) for text in _texts({**group, 1: chunks}))
    yield from (Extra(where, text) for text in _texts(rest))


def _arrow_schema(value: bytes) -> Iterator[Extra]:
    """The schema of Arrow, packed twice: as a message and in base64."""
    try:
        message = base64.b64decode(value, validate=True)
    except binascii.Error:
        message = value
    yield from texts_in(message, "the schema of Arrow")


def _texts(value: Any) -> Iterator[str]:
    for one in binaries(value):
        if not _WRITER.fullmatch(one):
            yield one.decode("utf-8", "replace")


def _index(raw: Any, chunk: dict[int, Any], name: str, pages: list[tuple[int, int]]) -> Iterator[Extra]:
    """The index of pages: the smallest and the largest value of each, long ones cut."""
    for at, size in ((chunk.get(4), chunk.get(5)), (chunk.get(6), chunk.get(7))):
        if at and size:
            raw.seek(at)
            pages.append((at, at + size))
            yield from (Extra(f"the index of {name}", text) for text in _texts(Reader(raw.read(size)).struct()))


def _pages(content: bytes, about: dict[int, Any], name: str, column: str) -> Any:
    """The headers of the pages of a column; returns its levels, as bytes of a page."""
    import pyarrow as pa

    place, levels = 0, b""
    while place < len(content):
        reader = Reader(content, place)
        header = reader.struct()
        data = content[reader.place : reader.place + header[3]]
        place = reader.place + header[3]
        if about[1] == _TEXT:
            yield from (Extra(f"the statistics of {name}", one, "value", column) for one in _texts(header))
        if header[1] == _DICTIONARY:
            codec = _CODECS.get(about.get(4, 0))
            levels = pa.Codec(codec).decompress(data, header[2]).to_pybytes() if codec else data
    return levels


def _not_in_cells(
    file: Any, group: int, place: int, column: str, levels: bytes, about: dict[int, Any]
) -> Iterator[Extra]:
    """Levels and statistics of a column of a part of the file."""
    kind = about[1]
    statistics = file.metadata.row_group(group).column(place).statistics
    ends = [statistics.min, statistics.max] if statistics is not None and statistics.has_min_max else []
    if kind == _TEXT:
        for one in ends:
            yield Extra(f"the statistics of {column}", _read(one), "value", column)
        at = 0
        while at + 4 <= len(levels):
            length = int.from_bytes(levels[at : at + 4], "little")
            yield Extra(f"the levels of {column}", _read(levels[at + 4 : at + 4 + length]), "value", column)
            at += 4 + length
    elif kind in _KINDS:
        cells = _numbers(file, group, column, _KINDS[kind])
        if cells is None:
            return
        found = np.frombuffer(levels, _KINDS[kind]) if levels else np.empty(0)
        raw = about.get(12) or {}
        limits = [raw[field] for field in (1, 2, 5, 6) if len(raw.get(field) or b"") == np.dtype(_KINDS[kind]).itemsize]
        said = np.concatenate([np.frombuffer(one, _KINDS[kind]) for one in limits]) if limits else np.empty(0)
        for words, numbers in (("levels", found), ("statistics", said)):
            for one in numbers[~np.isin(numbers, cells) & ~np.isnan(numbers.astype(float))].tolist():
                yield Extra(f"the {words} of {column}", spell(one), "hidden", column)


def _numbers(file: Any, group: int, column: str, kind: str) -> Any:
    """The cells of a column of numbers as the file holds them; None where they come as something else."""
    import pyarrow as pa
    import pyarrow.types as types

    cells = file.read_row_group(group, columns=[column]).column(0)
    if types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    wide = {"<i4": pa.int32(), "<i8": pa.int64(), "<f4": pa.float32(), "<f8": pa.float64()}[kind]
    if types.is_integer(cells.type) and not types.is_unsigned_integer(cells.type):
        cells = cells.cast(wide)
    elif is_temporal(cells.type) and cells.type.bit_width == wide.bit_width and getattr(cells.type, "unit", "") != "s":
        cells = pa.chunked_array([one.view(wide) for one in cells.chunks], wide)
    if cells.type != wide:
        return None
    return cells.drop_null().to_numpy()


def _read(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else spell(value)


def _top(file: Any, place: int) -> str:
    """The column of the table to which a leaf of the file belongs; names may have dots in them."""
    path = file.schema.column(place).path
    fitting = [name for name in file.schema_arrow.names if path == name or path.startswith(f"{name}.")]
    return max(fitting, key=len)


def _between(raw: Any, pages: list[tuple[int, int]]) -> Iterator[Extra]:
    """What stands where nothing should."""
    end = 0
    for start, stop in pages:
        if start > end:
            raw.seek(end)
            yield from texts_in(raw.read(start - end), "what stands between the columns")
        end = max(end, stop)
