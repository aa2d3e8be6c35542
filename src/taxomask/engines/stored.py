"""Tables whose columns lie in a store: each is read when it is asked for, and forgotten afterwards."""

from __future__ import annotations

import io
import itertools
import pickle
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column, ContinuousColumn, Microdata, Schema, TaxonomicColumn
from ..microdata.coding import Note
from ..microdata.files import Source, open_table
from ..microdata.frames import Frame
from ..partition import Groups
from .base import Engine, Job, Report
from .site import Site
from .store import Store

__all__ = ["ROWS", "Stored", "StoredGroups", "StoredSite", "get_column", "open_input", "opened", "put_column"]

ROWS = "rows"  # mapped into memory, not read: few jobs look at it


# --------------------------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class _Kept:
    """A column as it is kept: without its attribute, and with what it shares with others by name only."""

    values: NDArray[Any]
    categories: tuple[object, ...] = ()
    positions: NDArray[np.int32] | None = None
    further: NDArray[np.int32] | None = None
    samples: tuple[NDArray[np.int32], ...] = ()
    shared: str = ""


_guard = threading.Lock()


def put_column(store: Store, key: str, column: Column) -> None:
    """Keep a column."""
    if isinstance(column, ContinuousColumn):
        return store.put(key, _Kept(column.values))
    assert isinstance(column, CategoricalColumn)
    if not isinstance(column, TaxonomicColumn):
        return store.put(key, _Kept(column.codes, column.categories))
    samples = tuple(scope.sample for scope in column.scopes)
    shared = column._shared.setdefault("key", key)
    return store.put(key, _Kept(column.codes, column.categories, column.positions, column.further, samples, shared))


def get_column(store: Store, key: str, schema: Schema, name: str) -> Column:
    """A column that was kept; distances between its categories are computed once in each process."""
    kept, attribute = store.get(key), schema[name]
    if not kept.categories and kept.values.dtype == np.float64:
        return ContinuousColumn(attribute, kept.values)
    if kept.positions is None:
        return CategoricalColumn(attribute, kept.values, kept.categories)
    column = TaxonomicColumn(attribute, kept.values, kept.categories, kept.positions, kept.further)
    with _guard:
        known = store.memory.get(("shared", kept.shared))
        if known is None:
            pairs = zip(attribute.taxonomies, kept.samples, strict=True)
            scopes = tuple(taxonomy.scope(sample) for (taxonomy, _), sample in pairs)
            known = store.memory["shared", kept.shared] = {"key": kept.shared, "scopes": scopes}
    object.__setattr__(column, "_shared", known)
    return column


class StoredColumns(Mapping[str, Column]):
    """The columns of a table in a store, by name."""

    def __init__(self, store: Store, schema: Schema, keys: Mapping[str, str]) -> None:
        self.keys_of, self._store, self._schema = dict(keys), store, schema
        self._loaded: weakref.WeakValueDictionary[str, Column] = weakref.WeakValueDictionary()

    def __getitem__(self, name: str) -> Column:
        key = self.keys_of[name]
        column = self._loaded.get(name)
        if column is None:
            column = self._loaded[name] = get_column(self._store, key, self._schema, name)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys_of)

    def __len__(self) -> int:
        return len(self.keys_of)


# --------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Stored:
    """A table in a store, in a few words: under which key each of its columns is kept."""

    keys: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class StoredSite(Site):
    """A table in a store, and the engine that runs jobs on it.

    Jobs are given the store; `open_site` makes a site of it, on which nothing can be mapped but everything read.
    """

    store: Store
    schema: Schema
    original: Stored
    n: int
    where: str
    markers: Mapping[str, object]
    notes: tuple[Note, ...]
    engine: Engine | None = None
    report: Report | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)

    def prefix(self, what: str) -> str:
        return f"{what}-{next(self._numbers)}"

    def map(self, job: Job, items: Sequence[Any], what: str, *, main: bool = False) -> list[Any]:
        assert self.engine is not None
        return self.engine.map(job, self.store, items, what, self.report)

    @property
    def source(self) -> Source:
        """The table as it came."""
        return open_input(self.store, self.where)

    def data(self, stored: Stored | None = None) -> Microdata:
        """A stored table, by default the original one."""
        stored = stored or self.original
        replaced = frozenset(name for name, key in stored.keys.items() if key != self.original.keys[name])
        source = self.source
        assert source.n is not None
        frame = Frame.lazy(source.names, source.n, lambda name: source.read([name], empty=True))
        columns = StoredColumns(self.store, self.schema, stored.keys)
        return Microdata(self.schema, columns, self.rows, self.notes, frame, self.markers, replaced)

    def dump(self, value: Any, prefix: str) -> bytes:
        buffer = io.BytesIO()
        _Pickler(buffer, self, prefix).dump(value)
        return buffer.getvalue()

    def load(self, dumped: bytes) -> Any:
        return _Unpickler(io.BytesIO(dumped), self).load()

    def stored(self, data: Microdata, prefix: str) -> Stored:
        """Keep the columns of a table that are not kept yet."""
        keys = {}
        for name in data.columns:
            key = key_of(data, name)
            if key is None:
                key = f"{prefix}/{list(self.schema).index(name)}"
                put_column(self.store, key, data.columns[name])
            keys[name] = key
        return Stored(keys)

    def joined(self, data: Microdata, others: Sequence[Microdata]) -> Microdata:
        keys = self.stored(data, "").keys
        new = {name: self.stored(one, "").keys[name] for one in others for name in one.changed_from(data)}
        return self.data(Stored({**keys, **new}))

    def keep(self) -> None:
        """Let jobs open this site."""
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.init and not one.name.startswith("_")}
        self.store.put("site", {**kept, "store": None, "engine": None, "report": None})

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each record in the table as it came."""
        return self.store.array(ROWS)


class StoredGroups(Groups):
    """Groups that are read when they are looked at."""

    def __init__(self, store: Store, key: str, notes: tuple[str, ...]) -> None:
        object.__setattr__(self, "notes", notes)
        self.__dict__.update(_store=store, key=key)

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.__dict__["_store"].get(self.__dict__["key"])
        return found


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, site: StoredSite, prefix: str) -> None:
        super().__init__(file, protocol=5)
        self._site, self._prefix = site, prefix
        self._tables: dict[int, Stored] = {}  # a table may be met more than once

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Microdata):
            if id(value) not in self._tables:
                self._tables[id(value)] = self._site.stored(value, f"{self._prefix}/{len(self._tables)}")
            return "table", self._tables[id(value)]
        if isinstance(value, StoredGroups):
            return "groups", (value.__dict__["key"], value.notes)
        if isinstance(value, Groups):
            key = f"{self._prefix}/groups"
            self._site.store.put(key, value.numbers)
            return "groups", (key, value.notes)
        return ("schema", None) if value is self._site.schema else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, site: StoredSite) -> None:
        super().__init__(file)
        self._site = site

    def persistent_load(self, reference: Any) -> Any:
        kind, what = reference
        if kind == "table":
            return self._site.data(what)
        return self._site.schema if kind == "schema" else StoredGroups(self._site.store, *what)


def open_input(store: Store, where: str) -> Source:
    """The table as it came, or its copy in the store, if that is as it was written."""
    copy = store.path("input")
    if Path(where) == copy.resolve():
        for piece in copy.iterdir():
            store.sealed(f"input/{piece.name}")
    return open_table(where)


def key_of(data: Microdata, name: str) -> str | None:
    """The key under which a column of a table is kept; None if it is in memory only."""
    where = data.columns
    while not isinstance(where, StoredColumns):
        maps = getattr(where, "maps", None)
        if maps is None or name in maps[0]:
            return None
        where = maps[1]
    return where.keys_of[name]


def opened(store: Store) -> StoredSite:
    """The site of a store, as a job sees it."""
    if "opened" not in store.memory:
        store.memory["opened"] = StoredSite(**{**store.get("site"), "store": store})
    site: StoredSite = store.memory["opened"]
    return site
