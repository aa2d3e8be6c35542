"""MDAV-generic in plain arrays, for one small table: it is done before the kernels would be compiled, or loaded."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .points import Points

__all__ = ["plain"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Place = tuple[Float, NDArray[np.int32]]  # numbers and codes


def plain(points: Points, k: int) -> None:
    """Group all records; see `mdav`."""
    left, group = _Left(points), 0
    while left.n >= 2 * k:
        if left.n < 3 * k:
            around = left.take_one(left.farthest(left.average()), group)
            left.take(left.nearest(around, k - 1), group)
            group += 1
            break
        around = left.take_one(left.farthest(left.average()), group)
        last = left.farthest(around)
        near = [one for one in left.nearest(around, k).tolist() if one != last][: k - 1]
        far = left.at(last)
        left.take([*near, last], [group] * (k - 1) + [group + 1])
        left.take(left.nearest(far, k - 1), group + 1)
        group += 2
    left.take(np.arange(left.n), group)


class _Left:
    """The records without a group, in the order of the table; records are known by their place in it."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.n = points.left
        numbers, _, codes, tables, start, size, _ = points.space
        rule, one, self.column, *_, whole, _ = points.rules
        self.records, self.numbers, self.codes = np.arange(self.n), numbers.T.copy(), codes.T.copy()
        self.levels = points.rules[5].T.copy()
        mean = np.where(rule == 0, one, 0.0)
        self.fixed = np.nan_to_num(np.rint(self.numbers * mean[:, None])).astype(np.int64)
        self.tables, self.whole = _tables(tables, start, size), _tables(whole, start, size)
        self.away = [points.sums[6][first:last].copy() for first, last in pairwise(points.sums[4])]

    def at(self, place: int) -> Place:
        return self.numbers[:, place].copy(), self.codes[:, place].copy()

    def take_one(self, place: int, group: int) -> Place:
        """Put a record into a group; its values."""
        found = self.at(place)
        self.take([place], group)
        return found

    def take(self, places: Any, groups: Any) -> None:
        """Put records into groups."""
        self.points.group[self.records[places]] = groups
        for codes, whole, away in zip(self.codes, self.whole, self.away, strict=True):
            if len(whole):
                away -= whole[codes[places]].sum(axis=0)
        kept = np.ones(self.n, dtype=bool)
        kept[places] = False
        self.records, self.n = self.records[kept], int(kept.sum())
        self.numbers, self.codes, self.fixed, self.levels = (
            one[:, kept] for one in (self.numbers, self.codes, self.fixed, self.levels)
        )

    def farthest(self, place: Place) -> int:
        """The record farthest from a place, of several the first."""
        return int(self.distances(place).argmax())

    def nearest(self, place: Place, want: int) -> NDArray[np.intp]:
        """The nearest records, of several as far away the first."""
        away = self.distances(place)
        some = np.flatnonzero(away <= np.partition(away, want - 1)[want - 1])
        return some[np.argsort(away[some], kind="stable")][:want]

    def distances(self, place: Place) -> Float:
        """δ² of a place and every record, added up in the order of ``records/_kernels.py``."""
        _, far, _, _, _, _, unequal = self.points.space
        total = np.zeros(self.n)
        for row, value, gaps, term in zip(self.numbers, place[0], self.points.gaps, far, strict=True):
            gap = row - value
            gap *= gap
            if gaps or np.isnan(value):
                gap = np.where(np.isnan(gap), np.where(np.isnan(row) & np.isnan(value), 0.0, term), gap)
            total += gap
        for codes, code, table, term in zip(self.codes, place[1], self.tables, unequal, strict=True):
            total += table[code][codes] if len(table) else np.where(codes != code, term, 0.0)
        return total

    def average(self) -> Place:
        """The average record; missing where more than half of the records are."""
        code = np.array([self._category(b) for b in range(len(self.codes))], dtype=np.int32)
        return np.array([self._number(a) for a in range(len(self.numbers))]), code

    def _number(self, a: int) -> float:
        rule, one, column, start, count, _, coordinates, *_ = self.points.rules
        there = ~np.isnan(self.numbers[a])
        present = int(there.sum())
        if not present or self.n - present > present:
            return float("nan")
        if rule[a] == 0:
            return float(self.fixed[a].sum()) / present / float(one[a])
        counts = np.bincount(self.levels[column[a]][there], minlength=count[a])
        if rule[a] == 2:
            counts = np.minimum(np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1])
        until = np.cumsum(counts)
        return float(coordinates[start[a] + np.searchsorted(until, (until[-1] + 1) // 2)])

    def _category(self, b: int) -> int:
        first, last = self.points.sums[4][b : b + 2]
        counts = np.bincount(self.codes[b], minlength=last - first)
        present = counts[:-1] > 0
        if 2 * counts[-1] > self.n or not present.any():
            return len(counts) - 1
        if not len(self.whole[b]):
            return int(counts[:-1].argmax())
        away = np.where(present, self.away[b][:-1], np.iinfo(np.int64).max)
        rounding = int(self.points.rules[8][b]) * (self.n - int(counts[-1]))
        return int(np.argmax(away <= away.min() + rounding))


def _tables(every: NDArray[Any], start: Whole, size: Whole) -> list[NDArray[Any]]:
    """The table of each code, with no rows where it has none."""
    return [every[s : s + m * m].reshape(m, m) for s, m in zip(start, size, strict=True)]
