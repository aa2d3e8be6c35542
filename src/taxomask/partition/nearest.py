"""The nearest records of one table to each record of another, exactly, with all that are equally near."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance
from .all_pairs import near_pairs
from .index import room_for_query, tree_of
from .points import Points

__all__ = ["Distinct", "Nearest", "Neighbours"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Places = NDArray[np.integer[Any]]
Found = tuple[slice, NDArray[np.int32], Whole]
_SAMPLE = 1 << 14
_MANY = 24  # numbers of a record; boxes of a tree leave hardly any point out then
_PAIRS = 1 << 32  # so many at most are all looked at: a tree may yet be faster, where columns hang together


@dataclass(frozen=True, eq=False)
class Nearest:
    """δ² of each query and the nearest record, and how many records are equally near.

    Equally near are all records whose δ is larger than the smallest by no more than 1e-12·δ + 1e-14·M, with the
    smallest δ and M the largest |value| of an attribute in its standard deviations. Distances that are equal by
    definition are computed with errors of this kind: relative ones of sums, and those of the values themselves, which
    do not shrink with the distance. `slack` is 1e-14·M, and `last` the largest δ² among the ties.
    """

    squared: Float
    ties: Whole
    last: Float
    slack: float

    @classmethod
    def within(cls, squared: Float, slack: float) -> Nearest:
        """Before anything is found; records farther away than a squared distance, and no ties of it, do not count."""
        return cls(squared.copy(), np.zeros(len(squared), dtype=np.int64), np.zeros(len(squared)), slack)

    @property
    def reach(self) -> Float:
        """The largest δ² that is a tie with the smallest one, for each query."""
        from ._nearest_kernels import reach

        out = np.empty(len(self.squared))
        reach(self.squared, self.slack, out)
        return out

    def take(self, rows: NDArray[np.integer[Any]]) -> Nearest:
        """Of some of the queries."""
        return Nearest(self.squared[rows], self.ties[rows], self.last[rows], self.slack)

    def put(self, rows: NDArray[np.integer[Any]], other: Nearest) -> None:
        """Let some of the queries have what was found since."""
        self.squared[rows], self.ties[rows], self.last[rows] = other.squared, other.ties, other.last


@dataclass(frozen=True, eq=False)
class Distinct:
    """The different records of a table: ``records[start[t]:start[t + 1]]`` are equal, and ``point`` is t for each."""

    point: NDArray[np.int32]
    records: NDArray[np.int32]
    start: NDArray[np.int32]

    @classmethod
    def of(cls, space: RecordDistance, *, always: bool = False) -> Distinct:
        """Equal records collected, where it pays: if a sample says that at least half of the records are repeated."""
        from ._points_kernels import distinct

        n = space.n
        if not always and not _repeats(space):
            each = np.arange(n + 1, dtype=np.int32)
            return cls(each[:-1], each[:-1], each)
        point, records, start = (np.empty(n + extra, dtype=np.int32) for extra in (0, 0, 1))
        points = distinct(*space.coordinates, point, records, start)
        return cls(point, records, start[: points + 1].copy())

    @property
    def sizes(self) -> Whole:
        """How many records each point has."""
        return np.diff(self.start).astype(np.int64)

    @property
    def first(self) -> NDArray[np.int32]:
        """The first record of each point."""
        return self.records[self.start[:-1]]


def _repeats(space: RecordDistance) -> bool:
    """Whether a sample has as few different records as one from a table in which each is there twice, or fewer."""
    if space.n <= _SAMPLE:
        return True
    sample = space.take(np.random.default_rng(0).choice(space.n, _SAMPLE, replace=False))
    pairs = space.n / 2
    return len(Distinct.of(sample, always=True).start) - 1 < pairs * (1 - np.exp(-_SAMPLE / pairs))


class Neighbours:
    """The records of a table, arranged for finding those nearest to any query.

    Parameters
    ----------
    space
        The distance between the records that are searched. Queries are records in the same distance (see
        `RecordDistance.of`).
    """

    def __init__(self, space: RecordDistance) -> None:
        self.distinct = Distinct.of(space)
        arrays, start = space.arrays, self.distinct.start
        points = Points(arrays, (), (), start[:-1], start[1:], self.distinct.records, self.distinct.records)
        self._tree, self._room = tree_of(points), room_for_query(points)
        self._space, self._gaps, self._slack = arrays, points.gaps, space.slack

    def nearest(self, queries: RecordDistance) -> Nearest:
        """The nearest records of each query."""
        distinct = Distinct.of(queries)
        different = queries if len(distinct.start) > queries.n else queries.take(distinct.first)
        if self._by_pairs(different):
            found = self._nearest_of_pairs(different)
            return found if different is queries else found.take(distinct.point)
        found = self.search(different, Nearest.within(np.full(different.n, np.inf), self._slack))
        unsure = np.flatnonzero(found.ties < 0)
        found.ties[unsure] = self.count_within(different.take(unsure), found.take(unsure).reach)
        return found if different is queries else found.take(distinct.point)

    def nearest_points(self, queries: RecordDistance) -> Iterator[Found]:
        """The points that are nearest to each of some different queries, in pieces as of `within`."""
        if not self._by_pairs(queries):
            yield from self.within(queries, self.nearest(queries).reach)
            return
        for asked, query, place, _ in self._ties_of_pairs(queries):
            yield _piece(asked, query, place)

    def search(self, queries: RecordDistance, so_far: Nearest) -> Nearest:
        """The nearest records of each query, here and among those already searched.

        Where a later find made it unsure which of the earlier ones are still ties, their number is -1: `count_within`
        the reach tells it.
        """
        from ._nearest_kernels import nearest

        found = Nearest(so_far.squared.copy(), so_far.ties.copy(), so_far.last.copy(), so_far.slack)
        numbers, codes = queries.coordinates
        order = self._order(numbers, codes)
        where = *self._search(numbers), self.distinct.sizes, found.slack
        nearest(*where, numbers, codes, order, found.squared, found.last, found.ties)
        return found

    def count_within(self, queries: RecordDistance, squared: Float) -> Whole:
        """How many records are within a squared distance of each query."""
        out = np.zeros(queries.n, dtype=np.int64)
        for piece, points, counts in self.within(queries, squared):
            np.add.at(out, np.repeat(np.arange(piece.start, piece.stop), counts), self.distinct.sizes[points])
        return out

    def within(self, queries: RecordDistance, squared: Float) -> Iterator[Found]:
        """The points within a squared distance of each query, in pieces of bounded size.

        Each piece is a slice of the queries, the points of all of them, and how many each has.
        """
        from ._nearest_kernels import within

        if self._by_pairs(queries):
            yield from self._within_of_pairs(queries, squared)
            return
        numbers, codes = queries.coordinates
        points, records = len(self.distinct.start) - 1, len(self.distinct.records)
        found = np.empty(max(points, (points << 20) // records), dtype=np.int32)  # about a million records
        end, done = np.zeros(queries.n, dtype=np.int64), 0
        while done < queries.n:
            reached = within(*self._search(numbers), numbers, codes, squared, done, found, end)
            counts = np.diff(end[done:reached], prepend=0)
            yield slice(done, reached), found[: end[reached - 1]], counts
            done = reached

    def count_inside(self, low: Float, high: Float, codes: NDArray[np.int32]) -> Whole:
        """How many records have their numbers within [low, high] and codes with the term 0, for each query.

        Codes without a table match if they are equal or if either is 0. Nothing may be missing.
        """
        from ._nearest_kernels import count_inside

        sizes, points, counts = self.distinct.sizes, self._tree[8], self._tree[7]
        used = np.arange(points.shape[1]) < counts[:, None]
        until = np.concatenate([[0], np.cumsum(np.where(used, sizes[np.where(used, points, 0)], 0).sum(axis=1))])
        out = np.empty(len(low), dtype=np.int64)
        count_inside(self._space, self._tree, self._room, sizes, until, low, high, codes, out)
        return out

    def _by_pairs(self, queries: RecordDistance) -> bool:
        """Whether to look at all pairs: of many columns a tree does so too, and takes longer for each."""
        numbers = queries.coordinates[0]
        pairs = queries.n * (len(self.distinct.start) - 1)
        return numbers.shape[1] >= _MANY and 0 < pairs <= _PAIRS and not (self._gaps.any() or np.isnan(numbers).any())

    def _nearest_of_pairs(self, queries: RecordDistance) -> Nearest:
        """`nearest`, of different queries without missing numbers."""
        found, sizes = Nearest.within(np.full(queries.n, np.inf), self._slack), self.distinct.sizes
        for asked, query, place, away in self._ties_of_pairs(queries):
            np.minimum.at(found.squared, query, away)
            np.maximum.at(found.last, query, away)
            found.ties[asked] = np.bincount(query - asked[0], sizes[place], len(asked))
        return found

    def _ties_of_pairs(self, queries: RecordDistance) -> Iterator[tuple[Places, Places, Places, Float]]:
        """Queries, and the pairs of one of these and a point that is as near as the nearest, with their δ²."""
        points = self._space[0][self.distinct.first]

        def limit(_: Places, squared: Float) -> Float:
            return Nearest.within(squared, self._slack).reach

        for asked, query, place, away in near_pairs(points, queries.coordinates[0], self._from(queries), limit):
            nearest = Nearest.within(np.full(len(asked), np.inf), self._slack)
            np.minimum.at(nearest.squared, query - asked[0], away)
            tied = away <= nearest.reach[query - asked[0]]
            yield asked, query[tied], place[tied], away[tied]

    def _within_of_pairs(self, queries: RecordDistance, squared: Float) -> Iterator[Found]:
        """`within`, of queries without missing numbers."""
        points = self._space[0][self.distinct.first]
        reached = near_pairs(points, queries.coordinates[0], self._from(queries), lambda query, _: squared[query])
        for asked, query, place, away in reached:
            inside = away <= squared[query]
            yield _piece(asked, query[inside], place[inside])

    def _from(self, queries: RecordDistance) -> Callable[[Places, Places], Float]:
        """What tells δ² of queries and points."""
        from ._nearest_kernels import between

        (numbers, codes), first = queries.coordinates, self.distinct.first.astype(np.int64)

        def away(query: Places, place: Places) -> Float:
            out = np.empty(len(query))
            between(self._space, numbers[query], codes[query], first[place], out)
            return out

        return away

    def _search(self, numbers: Float) -> tuple[Any, ...]:
        return self._space, self._gaps | np.isnan(numbers).any(axis=0), self._tree, self._room

    def _order(self, numbers: Float, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """An order of queries in which neighbours follow each other."""
        from ._nearest_kernels import curve

        sizes = self._space[5]
        top = codes.max(axis=0, initial=0)
        bits, left = np.zeros(len(sizes), dtype=np.int64), 32
        for b in np.argsort(-sizes, kind="stable").tolist():
            bits[b] = min(int(top[b]).bit_length(), left)
            left -= int(bits[b])
        p = numbers.shape[1]
        fine = min(left // p, 16) if p else 0
        sample = np.nan_to_num(numbers[:: max(len(numbers) // 4096, 1)])
        spread = sample.std(axis=0)
        low = sample.mean(axis=0) - 2.5 * spread
        scale = 2.0**fine / np.where(spread > 0, 5 * spread, np.inf)
        keys = np.empty(len(numbers), dtype=np.uint64)
        curve(numbers, codes, low, scale, bits, fine, keys)
        return (np.sort(keys) & np.uint64(0xFFFFFFFF)).astype(np.int32)


def _piece(asked: Places, query: Places, place: Places) -> Found:
    """Some queries that follow each other, the points that were found for them, and how many each has."""
    counts = np.bincount(query - asked[0], minlength=len(asked))
    return slice(int(asked[0]), int(asked[-1]) + 1), place.astype(np.int32), counts
