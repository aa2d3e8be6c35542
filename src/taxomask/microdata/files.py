"""Tables from files: CSV and TSV (gzip too), Parquet and Arrow."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import DataError, did_you_mean
from .spelling import listing

__all__ = ["read_table"]

ArrowTable: TypeAlias = Any  # pyarrow.Table
_DELIMITERS = (",", ";", "\t", "|")


def read_table(path: str | PathLike[str], columns: Sequence[str] | None = None, *, text: bool = False) -> ArrowTable:
    """Read a table; the format is recognised from the content.

    Parameters
    ----------
    path
        A CSV or TSV file with a header (delimiter found out, gzip recognised), a Parquet file or an Arrow
        file.
    columns
        The columns to read, in this order; all by default.
    text
        Keep every column of a CSV file as text, so that leading zeros survive (``"038"``).

    Returns
    -------
    pyarrow.Table
        Empty cells are null; nothing else is.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder.", hint="Name a file.")
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        near = [other.name for other in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near) if near else "Check the path."
        raise DataError(f"{path}: there is no such file.", hint=hint) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", hint="Check who may read the file.") from None
    if not start:
        raise DataError(f"{path} is empty.", hint="A table has a header line and at least one row.")
    if start.startswith(b"PAR1"):
        return _read_parquet(path, columns)
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return _read_arrow(path, columns)
    return _read_csv(path, columns, text=text, packed=start.startswith(b"\x1f\x8b"))


def _check_columns(path: Path, names: Sequence[str], wanted: Iterable[str] | None) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{path}: column {listing(twice)} stands more than once.", hint="Rename one of them.")
    for name in wanted or ():
        if name not in names:
            raise DataError(f"{path}: there is no column {name!r}.", hint=did_you_mean(name, names))


# --------------------------------------------------------------------------------------- Parquet and Arrow


def _read_parquet(path: Path, columns: Sequence[str] | None) -> ArrowTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names, columns)
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a whole Parquet file: {error}.", hint="Write it again.") from None
    return table if columns is None else table.select(list(columns))


def _read_arrow(path: Path, columns: Sequence[str] | None) -> ArrowTable:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file:
            packed = file.read(6) == b"ARROW1"
            file.seek(0)
            table = (pa.ipc.open_file(file) if packed else pa.ipc.open_stream(file)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a whole Arrow file: {error}.", hint="Write it again.") from None
    _check_columns(path, table.column_names, columns)
    return table if columns is None else table.select(list(columns))


# --------------------------------------------------------------------------------------- CSV


def _read_csv(path: Path, columns: Sequence[str] | None, *, text: bool, packed: bool) -> ArrowTable:
    import pyarrow as pa

    data = _unpack(path) if packed else path.read_bytes()
    try:
        head = data[:65_536].decode("utf-8-sig", "strict" if len(data) <= 65_536 else "ignore")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from None
    if not head.strip():
        raise DataError(f"{path} is empty.", hint="A table has a header line and at least one row.")
    delimiter = _delimiter(head)
    names = next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter))
    _check_columns(path, names, columns)
    types = {name: pa.string() for name in names} if text else {}
    for _ in range(len(names) + 1):
        try:
            return _parse(data, delimiter, columns, types)
        except pa.ArrowInvalid as error:
            message = str(error)
            column = re.search(r"CSV column #(\d+).*conversion error to ", message, re.DOTALL)
            if "invalid UTF8" in message:
                raise _not_utf8(path, error) from None
            if column is None or names[int(column[1])] in types:
                raise DataError(f"{path}: {message}", hint=_RAGGED) from None
            types[names[int(column[1])]] = pa.string()  # numbers at first, text further down
    raise AssertionError("every column was tried as text")


_RAGGED = "Every row must have as many cells as the header; put cells that contain the delimiter in quotes."


def _parse(data: bytes, delimiter: str, columns: Sequence[str] | None, types: dict[str, Any]) -> ArrowTable:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        pa.BufferReader(data),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(columns or ()),
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def _unpack(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read()
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path} is not a whole gzip file: {error}.", hint="Copy or download it again.") from None


def _delimiter(head: str) -> str:
    """The delimiter that cuts the first lines into the most cells, equally many in each."""
    lines = head.splitlines()[:20]
    lines = lines[:-1] if len(lines) > 1 and len(head) >= 65_000 else lines  # the last may be cut off
    best = {}
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        best[delimiter] = (widths.count(widths[0]) / len(widths), widths[0]) if widths[0] > 1 else (0.0, 0)
    return max(_DELIMITERS, key=lambda delimiter: best[delimiter])


def _not_utf8(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path} is not text in UTF-8: {error}.",
        hint="Save it in UTF-8, for example with iconv -f latin1 -t utf-8.",
    )
