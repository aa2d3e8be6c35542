"""From a table in files or a database to coded columns, one column at a time."""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, EngineError
from ..microdata import Column, Microdata, Role, Schema
from ..microdata.files import Folder, Source, in_types, is_address, open_table, write_table
from ..microdata.frames import Frame
from ..microdata.microdata import after_drop, check_described
from ..microdata.schema import made_from_frame
from .coding import coded_on
from .files import Files
from .owners import owners_on
from .scratch import Scratch

__all__ = ["read_coded"]

_INPUT = "input"


def read_coded(
    where: str,
    schema: Schema,
    engine: Files,
    *,
    text: Sequence[str] = (),
    safe_cells: bool = False,
    beside: bool = False,
) -> Microdata:
    """Code a table column by column; what is not Parquet is copied into the scratch folder as Parquet first.

    Parameters
    ----------
    where
        A file, a folder or the address of a database, as in `open_table`; every worker must see the file or folder.
    schema
        What the columns are.
    engine
        Where the columns are kept, and who does the work.
    text
        Columns of CSV files to keep as text.
    safe_cells
        Whether cells of CSV files have a mark before what a spreadsheet would run; see `open_table`.
    beside
        Whether it is read beside another table, whose schema is known to workers already.
    """
    source, given = _as_parquet(where, engine, text, safe_cells=safe_cells, name="beside" if beside else _INPUT)
    if not source.n:
        raise DataError(f"{source.where} has columns but no rows.", hint="Check that it is complete.")
    frame = given.frame(source, empty=True)
    check_described(frame, schema)
    schema = schema.with_own_taxonomies(
        lambda made_from, missing: engine.run(
            made_from_frame, given.frame(source), made_from, missing, what="making a taxonomy"
        )
    )
    if not beside:
        engine.scratch.expect(frame.n, len(frame.names))
        engine.scratch.introduce(schema)
    described = [one for one in schema.values() if one.kind is not None and one.role != Role.IDENTIFIER]
    coded = coded_on(engine, given.frame(source), described)
    dropped = [one.dropped for one in coded if one.dropped is not None]
    if dropped:
        rows = engine.run(_rows, dropped, what="coding")
    else:
        rows = engine.each(_numbers, [range(source.n)], what="coding")
    columns = [one.column for one in coded]
    if dropped:
        columns = engine.map(_without_dropped, [(column, rows) for column in columns], "dropping records")
    names = [one.name for one in described]
    owners = owners_on(engine, given.frame(source), schema, rows)
    return Microdata(
        schema,
        dict(zip(names, columns, strict=True)),
        rows,
        tuple(note for one in coded for note in one.notes),
        frame,
        {name: one.marker for name, one in zip(names, coded, strict=True)},
        schema.coarsened,
        _owners=owners,
    )


def _rows(dropped: list[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """The rows of the records that are not dropped."""
    return np.flatnonzero(~np.logical_or.reduce(dropped)).astype(np.int64, copy=False)


def _numbers(rows: range) -> NDArray[np.int64]:
    return np.arange(rows.start, rows.stop, dtype=np.int64)


def _without_dropped(column: Column, rows: NDArray[np.int64]) -> Column:
    return after_drop(column.take(rows))


# --------------------------------------------------------------------------------------- the table as it came


@dataclass(frozen=True)
class _Given:
    """A table in Parquet files that all workers see; copies of ours with their checksums.

    ``token`` tells it from what lay at the same place before.
    """

    where: str
    copies: tuple[tuple[str, int], ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    def open(self) -> Source:
        """The table, if the copies are as they were written."""
        _check_copies(self)
        return open_table(self.where, trusted=bool(self.copies))

    def frame(self, source: Source, *, empty: bool = False) -> Frame:
        """The table, of which each column is read when it is asked for."""
        assert source.n is not None
        return Frame.lazy(source.names, source.n, _Column(self, empty), typed=True)


@dataclass(frozen=True)
class _Column:
    """Reads a column of a table."""

    given: _Given
    empty: bool

    def __call__(self, name: str, rows: range) -> Any:
        source = _opened(self.given)
        if len(rows) == source.n:
            return source.read([name], empty=self.empty)
        return source.read_rows([name], rows.start, rows.stop)


@lru_cache(maxsize=4)
def _opened(given: _Given) -> Source:
    """The table, opened once in each process: a folder may hold many files."""
    return given.open()


def _as_parquet(
    where: str, engine: Files, text: Sequence[str], *, safe_cells: bool, name: str
) -> tuple[Source, _Given]:
    """The table in Parquet files; copies are in a folder of this name."""
    source = open_table(where, text=text, safe_cells=safe_cells)
    if source.columnar:
        return source, _Given(str(Path(where).resolve()))
    scratch = engine.scratch
    folder, large = str(scratch.folder), scratch.large
    if is_address(where):  # here, as workers need not know the way and the password
        copies = [_copy(_Piece(where, tuple(text), safe_cells), folder, large, f"{name}/0.parquet")]
    else:
        pieces = source.pieces if isinstance(source, Folder) else (source,)
        types = source.schema if isinstance(source, Folder) else None
        one = [_Piece(str(Path(piece.where).resolve()), tuple(text), safe_cells, types) for piece in pieces]
        places = [f"{name}/{place:06}.parquet" for place in range(len(one))]
        items = [(piece, folder, large, place) for piece, place in zip(one, places, strict=True)]
        copies = engine.map(_copy, items, "reading")
    given = _Given(str(scratch.path(name).resolve()), tuple(copies))
    return given.open(), given


@dataclass(frozen=True)
class _Piece:
    """A table, or one file of a folder, in the types of all of them."""

    where: str
    text: tuple[str, ...]
    safe_cells: bool = False
    types: Any = None

    def batches(self) -> Any:
        import pyarrow as pa

        if self.types is None:
            return open_table(self.where, text=self.text, safe_cells=self.safe_cells).batches()
        texts = [field.name for field in self.types if pa.types.is_string(field.type)]
        return in_types(open_table(self.where, text=texts, safe_cells=self.safe_cells), self.types)


def _copy(piece: _Piece, folder: str, large: int, name: str) -> tuple[str, int]:
    """Copy a table as Parquet; the file and its checksum."""
    scratch = Scratch.at(folder, large)
    with scratch.writing(name) as part:
        write_table(piece.batches(), part, name="part.parquet", force=True)
        return str(scratch.path(name)), _checksum(part)


@cache
def _check_copies(given: _Given) -> None:
    """Look at the copies once in each process."""
    for path, checksum in given.copies:
        if not os.path.exists(path) or _checksum(Path(path)) != checksum:
            raise EngineError(
                f"the intermediate file {path} is damaged or gone.",
                hint="Nothing was released. Check the disk of the scratch folder and run again.",
            )


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum
