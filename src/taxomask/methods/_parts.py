"""Long tables in parts of similar records, so that nothing needs all quasi-identifiers at once.

A sample tells where the table is cut (`Cuts`); then the rows of every part are brought together, and each part is small
enough for one function. The sample, and so the parts, are the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..engines.base import like
from ..microdata import Column, ContinuousColumn
from ..partition import Cuts
from ..records import Extent, RecordDistance, Spread
from ._moments import extent_of, spread_of

__all__ = ["Parts", "distance_on", "picked_on"]

R = TypeVar("R")
_LEAST = 64  # records of a sample
_WHAT = "cutting into blocks"


def distance_on(engine: Engine, columns: Sequence[Column], **how: Any) -> RecordDistance:
    """The distance between records of a table by some columns (see `RecordDistance`), without the records."""
    found: list[tuple[Column, tuple[Extent, Spread] | None]] = []
    for column in columns:
        if isinstance(column, ContinuousColumn):
            extent = engine.fold(extent_of, Extent.with_, [column], what=_WHAT)
            origin = extent.smallest if extent.count else 0.0
            spread = engine.fold(spread_of, Spread.with_, [column], origin, what=_WHAT)
            found.append((column.part(0, 0), (extent, spread)))
        else:
            found.append((column.outline(engine.count(column)), None))
    return RecordDistance.measured(found, **how)


@dataclass(frozen=True, eq=False)
class Parts:
    """The rows of a table part by part: where each row goes, which row stands at each place, where parts begin."""

    engine: Engine
    places: NDArray[Any]
    order: NDArray[Any]
    edges: tuple[int, ...]

    @classmethod
    def cut(
        cls,
        engine: Engine,
        columns: Sequence[Column],
        space: RecordDistance,
        size: int,
        rng: np.random.Generator,
        units: NDArray[np.int64] | None = None,
        k: int = 1,
    ) -> Parts:
        """Cut a table by some columns.

        Parameters
        ----------
        engine
            Where the columns are.
        columns, space
            The columns, and how far apart records are by them (`distance_on`).
        size
            The size of the blocks that parts will be cut into: no part is smaller than a quarter of it.
        rng
            Draws the sample.
        units, k
            Whose the records are, if that counts: each part has records of at least k of them, if the table has.
        """
        n = len(columns[0])
        positions = _sampled(n, max(engine.chunk // 4, _LEAST), rng)
        sample = picked_on(engine, columns, positions, _WHAT)
        cuts = Cuts.of(space.among(sample), sample, positions, n, max(engine.chunk // 2, size), size)
        numbers, counts = engine.each(_numbered, [range(n), *columns], space, cuts, what=_WHAT)
        counted = np.stack(counts)
        joined = _joined(counted.sum(axis=0), size // 4)
        parts = cls._laid_out(engine, numbers, counted, joined)
        if units is None:
            return parts
        enough = parts.each(_enough, [parts.brought(units)], k, what=_WHAT)
        again = _joined(np.array(enough, dtype=np.int64), 1)  # of two parts with too few people, these may be the same
        return parts if again[-1] == len(enough) - 1 else cls._laid_out(engine, numbers, counted, again[joined])

    @classmethod
    def _laid_out(
        cls, engine: Engine, numbers: NDArray[np.int32], counted: NDArray[np.int64], joined: NDArray[np.int32]
    ) -> Parts:
        """The rows by part; ``counted`` are those of each part in each chunk, and some parts are joined to others."""
        together = np.zeros((len(counted), joined[-1] + 1), dtype=np.int64)
        np.add.at(together.T, joined, counted.T)
        edges = np.concatenate([[0], np.cumsum(together.sum(axis=0))])
        first = edges[:-1] + np.cumsum(together, axis=0) - together  # of each part in each chunk
        n = int(edges[-1])
        places = engine.each(_placed, [numbers], joined, n, what=_WHAT, own=list(first))
        order = engine.move(engine.each(_counting, [range(n)], n, what=_WHAT), places, what=_WHAT)
        return cls(engine, places, order, tuple(edges.tolist()))

    @classmethod
    def of_equal(
        cls, engine: Engine, keys: NDArray[Any], least: int | None = None, units: NDArray[Any] | None = None
    ) -> Parts:
        """Parts of about half a chunk in the order of some keys, none of them missing; equal keys are in one part.

        With ``least``, each part has at least so many records, or records of so many units, if the table has; and keys
        that more records share than a part has may be cut into pieces of that size, where units do not count.
        """
        n, room, some = len(keys), max(engine.chunk // 2, least or 1), least or 1
        order = engine.order(keys, _WHAT)
        places = engine.move(engine.each(_counting, [range(n)], n, what=_WHAT), order, what=_WHAT)
        ordered = engine.move(keys, places, what=_WHAT)
        edges = [0]
        for place in range(room, n, room):
            begin, end = (int(np.searchsorted(ordered, ordered[place], side)) for side in ("left", "right"))
            may_be_cut = least is not None and units is None and end - place >= some
            cut = begin if begin > edges[-1] else place if may_be_cut else end
            if edges[-1] + some <= cut <= n - some:
                edges.append(cut)
        parts = cls(engine, places, order, (*edges, n))
        if units is None:
            return parts
        enough = parts.each(_enough, [parts.brought(units)], some, what=_WHAT)
        starts = np.flatnonzero(np.diff(_joined(np.array(enough, dtype=np.int64), 1), prepend=-1))
        return cls(engine, places, order, (*(edges[start] for start in starts.tolist()), n))

    def brought(self, rows: R) -> R:
        """A column or an array part by part, in each part in the order of the table."""
        return self.engine.move(rows, self.places, what=_WHAT)

    def back(self, rows: R, what: str) -> R:
        """A column or an array that is part by part in the order of the table."""
        return self.engine.move(rows, self.order, what=what)

    def each(
        self,
        function: Callable[..., Any],
        columns: Sequence[Any],
        *common: Any,
        what: str,
        rng: np.random.Generator | None = None,
        own: Sequence[Any] | None = None,
        main: bool = False,
    ) -> Any:
        """What a function makes of each part of columns that were brought; as `Engine.each`."""
        return self.engine.each(function, columns, *common, what=what, rng=rng, own=own, edges=self.edges, main=main)


def _sampled(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Positions drawn at random, one from each of so many stretches of n."""
    edges = np.arange(min(size, n) + 1, dtype=np.int64) * n // min(size, n)
    lengths = np.diff(edges)
    return edges[:-1] + np.minimum((rng.random(len(lengths)) * lengths).astype(np.int64), lengths - 1)


def picked_on(engine: Engine, columns: Sequence[Any], rows: NDArray[np.int64], what: str) -> list[Any]:
    """Some rows, in their order, of columns or arrays wherever they lie: whoever asks maps none of them."""
    parts = engine.parts(len(columns[0])) if columns else []
    wanted = [rows[(rows >= start) & (rows < stop)] - start for start, stop in parts]
    items = [(item, some) for item, some in zip(engine.cut(columns), wanted, strict=True)] if columns else []
    found = zip(*engine.map(_picked, items, what), strict=True)
    return [
        like(column.part(0, 0) if isinstance(column, Column) else column, np.concatenate(some))
        for column, some in zip(columns, found, strict=False)
    ]


def _picked(columns: Sequence[Any], rows: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [getattr(column, "cells", column)[rows] for column in columns]


def _numbered(rows: range, *columns_and_cuts: Any) -> tuple[NDArray[np.int32], tuple[int, ...]]:
    """The part of each record, and how many records of a chunk each part has."""
    *columns, space, cuts = columns_and_cuts
    numbers = cuts.part_of(space.among(columns), columns, rows.start)
    return numbers, tuple(np.bincount(numbers, minlength=cuts.parts).tolist())


def _joined(sizes: NDArray[np.int64], least: int) -> NDArray[np.int32]:
    """The number of each part after small ones were joined with the next, the last with the one before it."""
    numbers, number, size = np.empty(len(sizes), dtype=np.int32), 0, 0
    for place, one in enumerate(sizes.tolist()):
        numbers[place] = number
        size += one
        if size >= least:
            number, size = number + 1, 0
    return np.minimum(numbers, max(number - 1, 0)).astype(np.int32)


def _placed(numbers: NDArray[np.int32], joined: NDArray[np.int32], n: int, first: NDArray[np.int64]) -> NDArray[Any]:
    """Where each row of a chunk goes; the first of each part goes to the place given."""
    numbers = joined[numbers]
    order = np.argsort(numbers.astype(np.int16) if len(joined) < 1 << 15 else numbers, kind="stable")
    counts = np.bincount(numbers, minlength=len(first))
    places = np.empty(len(numbers), dtype=np.int64)
    places[order] = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(len(numbers))
    return places.astype(np.int32) if n < 1 << 31 else places


def _counting(rows: range, n: int) -> NDArray[Any]:
    return np.arange(rows.start, rows.stop, dtype=np.int32 if n < 1 << 31 else np.int64)


def _enough(units: NDArray[np.int64], k: int) -> bool:
    return len(np.unique(units)) >= k
