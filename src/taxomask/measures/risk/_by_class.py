"""Classes of records of long tables: how large they are, and their records brought together, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods._runs import combined_on
from ...microdata import CategoricalColumn, Column

__all__ = ["ByClass", "Sizes", "keys_on", "sizes_on"]

Whole = NDArray[np.int64]
_WHAT = "making classes"


@dataclass(frozen=True)
class Sizes:
    """How many classes have each size; of sorted keys that go on elsewhere, the first and the last class apart.

    ``first`` and ``last`` are a key and how many there are of it; of a single key they are the same.
    """

    inner: Mapping[int, int]
    first: tuple[float, int]
    last: tuple[float, int]
    single: bool

    @classmethod
    def of(cls, keys: NDArray[Any]) -> Sizes:
        """Of sorted keys, at least one."""
        edges = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]])
        lengths = np.diff(edges)
        sizes, counts = np.unique(lengths[1:-1], return_counts=True)
        ends = [(keys[at].item(), int(lengths[at])) for at in (0, -1)]
        return cls(dict(zip(sizes.tolist(), counts.tolist(), strict=True)), ends[0], ends[1], len(lengths) == 1)

    def then(self, other: Sizes) -> Sizes:
        """Those of these keys and of some that follow them."""
        inner = dict(self.inner)
        for size, count in other.inner.items():
            inner[size] = inner.get(size, 0) + count
        first, last = self.first, other.last
        if self.last[0] == other.first[0]:
            joined = self.last[0], self.last[1] + other.first[1]
            if self.single:
                first = joined
            if other.single:
                last = joined
            if not self.single and not other.single:
                inner[joined[1]] = inner.get(joined[1], 0) + 1
            return Sizes(inner, first, last, self.single and other.single)
        for one, runs in ((self.last, self), (other.first, other)):
            if not runs.single:
                inner[one[1]] = inner.get(one[1], 0) + 1
        return Sizes(inner, first, last, single=False)

    @property
    def counts(self) -> tuple[Whole, Whole]:
        """The sizes that occur, in rising order, and how many classes have each."""
        every = dict(self.inner)
        for _, size in [self.first] if self.single else [self.first, self.last]:
            every[size] = every.get(size, 0) + 1
        sizes = sorted(every)
        return np.array(sizes, dtype=np.int64), np.array([every[size] for size in sizes], dtype=np.int64)


def keys_on(engine: Engine, columns: Iterable[Column]) -> Whole:
    """A number for each record: equal where all columns are, missing values being a value."""
    every = list(columns)
    return combined_on(engine, (_codes_on(engine, column) for column in every), len(every[0]))


def sizes_on(engine: Engine, keys: NDArray[Any]) -> tuple[Whole, Whole]:
    """The sizes of the classes of records with the same key, and how many classes have each."""
    ranked = engine.sort(keys, _WHAT)
    if not len(ranked):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return engine.fold(Sizes.of, Sizes.then, [ranked], what=_WHAT).counts


def _codes_on(engine: Engine, column: Column) -> NDArray[Any]:
    if isinstance(column, CategoricalColumn):
        return column.codes
    values = column.values
    codes: Whole = engine.each(_places, [engine.rank(values, _WHAT), values], len(column), what=_WHAT)
    return codes


def _places(ranks: NDArray[np.float64], values: NDArray[np.float64], n: int) -> Whole:
    """Equal values have equal ranks."""
    return np.where(np.isnan(values), -1, ranks.astype(np.int64) + n)


@dataclass(frozen=True, eq=False)
class ByClass:
    """Records brought together by class: where each goes, which stands where, the keys, and where stretches end.

    A stretch has whole classes, and about as many records as a chunk, or a single class of more.
    """

    engine: Engine
    places: NDArray[Any]
    order: Whole
    keys: Whole
    edges: tuple[int, ...]

    @classmethod
    def of(cls, engine: Engine, keys: Whole) -> ByClass:
        n = len(keys)
        order = engine.order(keys, _WHAT)
        places = engine.move(engine.each(_rows, [range(n)], what=_WHAT), order, what=_WHAT)
        ordered = engine.move(keys, places, what=_WHAT)
        items = [(*item, start) for item, (start, _) in zip(engine.cut([ordered]), engine.parts(n), strict=True)]
        starts = engine.map(_first_start, items, _WHAT)
        edges = [0, *(start for start in starts if start is not None), n]
        return cls(engine, places, order, ordered, tuple(edges))

    def brought(self, rows: Any) -> Any:
        """A column or an array in the order of the classes."""
        return self.engine.move(rows, self.places, what=_WHAT)

    def returned(self, rows: Any) -> Any:
        """What is in the order of the classes, in that of the table."""
        return self.engine.move(rows, self.order, what=_WHAT)

    def each(self, function: Any, columns: Sequence[Any], *common: Any, what: str) -> Any:
        """What a function makes of each stretch, given its keys and columns that were brought."""
        return self.engine.each(function, [self.keys, *columns], *common, what=what, edges=self.edges)

    def map(self, function: Any, columns: Sequence[Any], *common: Any, what: str) -> list[Any]:
        """What a function finds in each stretch, given its keys and columns that were brought."""
        items = self.engine.cut([self.keys, *columns], *common, edges=self.edges)
        return self.engine.map(function, items, what)


def _rows(rows: range) -> Whole:
    return np.arange(rows.start, rows.stop)


def _first_start(keys: Whole, start: int) -> int | None:
    """The first place but one in a chunk of sorted keys where a class begins; None if none does."""
    found = np.flatnonzero(keys[1:] != keys[:-1])
    return start + int(found[0]) + 1 if len(found) else None
