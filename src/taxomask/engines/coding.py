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
from ..microdata.files import Folder, open_table, write_table
from ..microdata.frames import Frame
from ..microdata.microdata import after_drop, check_described
from .base import Engine, Report
from .store import Store
from .stored import ROWS, Stored, StoredSite, get_column, open_input, put_column

__all__ = ["open_stored"]

_BATCH = 65_536


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
    several = isinstance(source, Folder)
    pieces = source.pieces if isinstance(source, Folder) else (source,)
    if any(piece.format != "parquet" for piece in pieces):
        items = [(where, tuple(text), place if several else None) for place in range(len(pieces))]
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


def _copy(store: Store, item: tuple[str, tuple[str, ...], int | None]) -> None:
    """Copy a table, or one file of a folder, as Parquet."""
    where, text, place = item
    source = open_table(where, text=text)
    batches: Any = source.batches()
    if isinstance(source, Folder) and place is not None:
        import pyarrow as pa

        schema = batches.schema
        inner = source.pieces[place].batches(_BATCH, source.names)
        batches = pa.RecordBatchReader.from_batches(schema, (one.cast(schema) for one in inner))
    with store.writing(f"input/{place or 0:06}.parquet") as part:
        write_table(batches, part, name="part.parquet")


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
    with store.writing(ROWS) as part, part.open("xb") as file:
        np.save(file, rows)
    return len(rows)


def _take(store: Store, item: tuple[str, str]) -> None:
    name, key = item
    rows = np.load(store.sealed(ROWS), mmap_mode="r")
    put_column(store, f"{key}-kept", after_drop(get_column(store, key, store.shared("schema"), name).take(rows)))
    store.drop(key)
