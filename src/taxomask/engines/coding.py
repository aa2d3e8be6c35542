"""From a table in files or a database to coded columns in a store, one column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from ..microdata import Role, Schema
from ..microdata.coding import Note, code
from ..microdata.files import Folder, in_types, is_address, open_table, write_table
from ..microdata.frames import Frame
from ..microdata.microdata import after_drop, check_described
from .base import Engine, Report
from .store import Store
from .stored import ROWS, Stored, StoredSite, get_column, open_input, put_column

__all__ = ["open_stored"]


def open_stored(
    where: str,
    schema: Schema,
    store: Store,
    engine: Engine,
    *,
    text: Sequence[str] = (),
    report: Report | None = None,
) -> StoredSite:
    """Code a table column by column; what is not Parquet is copied into the store as Parquet first.

    Parameters
    ----------
    where
        A file, a folder or the address of a database, as in `open_table`; every worker must see the file or folder.
    schema
        What the columns are.
    store, engine
        Where the columns are kept, and who does the work.
    text
        Columns of CSV files to keep as text.
    report
        Is told how far the work is.
    """
    source = open_table(where, text=text)
    if not source.columnar:
        pieces = source.pieces if isinstance(source, Folder) else (source,)
        types = source.schema if isinstance(source, Folder) else None
        if is_address(where):  # here, as workers need not know the way and the password
            _copy(store, _Piece(0, where, tuple(text)))
        else:
            places = enumerate(str(Path(piece.where).resolve()) for piece in pieces)
            items = [_Piece(*one, tuple(text), types) for one in places]
            engine.map(_copy, store, items, "reading", report)
        source = open_table(store.path("input"))
        where = str(store.path("input"))
    where = str(Path(where).resolve())
    if not source.n:
        raise DataError(f"{source.where} has columns but no rows.", hint="Check that it is complete.")
    check_described(Frame.lazy(source.names, source.n, lambda name: source.read([name])), schema)
    store.put("schema", schema)
    names = [name for name, one in schema.items() if one.kind is not None and one.role != Role.IDENTIFIER]
    keys = {name: f"original/{place}" for place, name in enumerate(names)}
    found = engine.map(_code, store, [(where, *item) for item in keys.items()], "coding", report)
    dropping = [keys[name] for name, one in zip(names, found, strict=True) if one.dropped]
    (n,) = engine.map(_rows, store, [(source.n, dropping)], "coding", report)
    if dropping:
        engine.map(_take, store, list(keys.items()), "dropping records", report)
        keys = {name: f"{key}-kept" for name, key in keys.items()}
    site = StoredSite(
        store,
        schema,
        Stored(keys),
        n,
        where,
        {name: one.marker for name, one in zip(names, found, strict=True)},
        tuple(note for one in found for note in one.notes),
        engine,
        report,
    )
    site.keep()
    return site


@dataclass(frozen=True)
class _Found:
    """What was found in coding a column: all but the column."""

    notes: tuple[Note, ...]
    marker: object
    dropped: bool


@dataclass(frozen=True)
class _Piece:
    """A table, or one file of a folder, in the types of all of them."""

    place: int
    where: str
    text: tuple[str, ...]
    types: Any = None

    def batches(self) -> Any:
        import pyarrow as pa

        if self.types is None:
            return open_table(self.where, text=self.text).batches()
        texts = [field.name for field in self.types if pa.types.is_string(field.type)]
        return in_types(open_table(self.where, text=texts), self.types)


def _copy(store: Store, piece: _Piece) -> None:
    """Copy a table as Parquet."""
    with store.writing(f"input/{piece.place:06}.parquet") as part:
        write_table(piece.batches(), part, name="part.parquet")


def _code(store: Store, item: tuple[str, str, str]) -> _Found:
    where, name, key = item
    source = open_input(store, where)
    assert source.n is not None
    coded = code(Frame.lazy(source.names, source.n, lambda one: source.read([one])), store.shared("schema")[name])
    put_column(store, key, coded.column)
    if coded.dropped is not None:
        store.put(f"{key}-dropped", coded.dropped)
    return _Found(coded.notes, coded.marker, coded.dropped is not None)


def _rows(store: Store, item: tuple[int, list[str]]) -> int:
    """Keep the rows of the records that are not dropped; how many they are."""
    n, dropping = item
    rows = np.arange(n)
    if dropping:
        rows = np.flatnonzero(~np.logical_or.reduce([store.get(f"{key}-dropped") for key in dropping]))
    store.put_array(ROWS, rows)
    return len(rows)


def _take(store: Store, item: tuple[str, str]) -> None:
    name, key = item
    rows = store.array(ROWS)
    put_column(store, f"{key}-kept", after_drop(get_column(store, key, store.shared("schema"), name).take(rows)))
    store.drop(key)
