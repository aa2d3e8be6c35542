"""The records of a partition as plain arrays: distinct points with their records, and what average records need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..records import CodeTerm, NumberTerm, RecordDistance, TableTerm
from .whole_distances import whole_bits, whole_distances

__all__ = ["Arrays", "OrdinalAverage", "People", "Points"]

OrdinalAverage = Literal["median", "convex_median", "mean"]
Arrays = tuple[NDArray[Any], ...]
_RULES = {"mean": 0, "median": 1, "convex_median": 2}


@dataclass(eq=False)
class Points:
    """Records to be grouped. Records that agree in every attribute are one point; its records leave it lowest first.

    ``records[head[t]:end[t]]`` are the records of point t that are left, in their order.
    """

    space: Arrays
    rules: Arrays
    sums: Arrays
    head: NDArray[np.int32]
    end: NDArray[np.int32]
    records: NDArray[np.int32]
    group: NDArray[np.int32]

    @classmethod
    def of(cls, space: RecordDistance, ordinal: OrdinalAverage) -> Points:
        """All records, none grouped yet."""
        from ._centre_kernels import join_all
        from ._points_kernels import distinct

        arrays = space.arrays
        rules, sums = _rules(space, ordinal), _sums(space)
        join_all(arrays, rules, sums)
        point = np.empty(space.n, dtype=np.int32)
        records = np.empty(space.n, dtype=np.int32)
        head = np.empty(space.n + 1, dtype=np.int32)
        points = distinct(arrays[0], arrays[2], point, records, head)
        return cls(
            arrays,
            rules,
            sums,
            head[:points].copy(),
            head[1 : points + 1].copy(),
            records,
            np.full(space.n, -1, np.int32),
        )

    @property
    def left(self) -> int:
        """How many records have no group yet."""
        return int(self.sums[0][0])

    @property
    def apart(self) -> bool:
        """Whether different points are never at distance 0; not said of numbers, whose squares may vanish."""
        numbers, _, _, tables, start, size, unequal = self.space
        if numbers.shape[1] or (unequal <= 0).any():
            return False
        between = (tables[s : s + m * m].reshape(m, m) for s, m in zip(start, size, strict=True))
        return all((table[~np.eye(len(table), dtype=bool)] > 0).all() for table in between)

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """The numbers that are missing somewhere."""
        return np.asarray(np.isnan(self.space[0]).any(axis=0))

    @property
    def lists(self) -> Arrays:
        """The points for kernels."""
        return self.head, self.end, self.records, self.group

    def alive(self) -> NDArray[np.int32]:
        """The points that have records left."""
        return np.flatnonzero(self.head < self.end).astype(np.int32)

    def arrange(self, order: NDArray[np.int32]) -> None:
        """Number the points in this order, those that are not in it left out; their records lie in it, too."""
        first, times = self.head[order], self.end[order] - self.head[order]
        self.end = np.cumsum(times, dtype=np.int32)
        self.head = self.end - times
        self.records = self.records[np.repeat(first - self.head, times) + np.arange(times.sum(), dtype=np.int32)]


class People:
    """Who has records left, while groups are made; see ``_people_kernels.py``."""

    def __init__(self, owner: NDArray[np.int32]) -> None:
        rows = np.bincount(owner)
        self.arrays: Arrays = owner, rows, np.full((2, len(rows)), -1, dtype=np.int64), np.array([len(rows)])

    @property
    def left(self) -> int:
        """How many people have records without a group."""
        return int(self.arrays[3][0])


def _rules(space: RecordDistance, ordinal: OrdinalAverage) -> Arrays:
    numbers = [term for term in space.terms if isinstance(term, NumberTerm)]
    graded = [term.levels is not None and ordinal != "mean" for term in numbers]
    categories = [term.categories if grade else 0 for term, grade in zip(numbers, graded, strict=True)]
    levels = [term.levels for term, grade in zip(numbers, graded, strict=True) if grade and term.levels is not None]
    coordinates = [(np.arange(c) - term.origin) * term.scale for term, c in zip(numbers, categories, strict=True)]
    whole = [_whole(term, space.n) for term in space.terms if isinstance(term, CodeTerm)]
    return (
        np.array([_RULES[ordinal] if grade else 0 for grade in graded], dtype=np.int64),
        np.array([_unit(term, space.n) for term in numbers], dtype=np.float64),
        np.cumsum([0, *graded], dtype=np.int64)[:-1],
        np.cumsum([0, *categories], dtype=np.int64)[:-1],
        np.array(categories, dtype=np.int64),
        np.ascontiguousarray(np.stack(levels, axis=1), np.int32) if levels else np.zeros((space.n, 0), np.int32),
        np.concatenate([np.zeros(0), *coordinates]),
        _one_after_the_other([table.ravel() for table, _ in whole if table.size]),
        np.array([rounding for _, rounding in whole], dtype=np.int64),
    )


def _one_after_the_other(tables: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return tables[0] if len(tables) == 1 else np.concatenate([np.zeros(0, np.int64), *tables])


def _sums(space: RecordDistance) -> Arrays:
    numbers = [term for term in space.terms if isinstance(term, NumberTerm)]
    codes = [term.codes for term in space.terms if isinstance(term, CodeTerm)]
    start = np.cumsum([0, *codes], dtype=np.int64)
    return (
        np.zeros(1, dtype=np.int64),
        np.zeros(len(numbers), dtype=np.int64),
        np.zeros(len(numbers), dtype=np.int64),
        np.zeros(sum(term.categories for term in numbers), dtype=np.int64),
        start,
        np.zeros(start[-1], dtype=np.int64),
        np.zeros(start[-1], dtype=np.int64),
    )


def _unit(term: NumberTerm, n: int) -> float:
    """The fixed-point unit of a sum of coordinates: the smallest power of two that lets n of them fit 62 bits."""
    largest = float(np.nanmax(np.abs(term.coordinates), initial=0.0))
    exponent = int(np.frexp(largest)[1])
    return float(2.0 ** min(62 - n.bit_length() - exponent, 60))


def _whole(term: CodeTerm, n: int) -> tuple[NDArray[np.int64], int]:
    """The distances of a table in whole numbers, with their rounding; missing adds nothing."""
    if not isinstance(term, TableTerm):
        return np.zeros(0, dtype=np.int64), 0
    bits = whole_bits(n)
    if bits not in term.made:
        table = term.table / term.factor if term.distances is None else term.distances.copy()
        table[-1] = table[:, -1] = 0.0
        term.made[bits] = whole_distances(table, n)  # the same in every block: the blocks' terms share it
    whole, rounding = term.made[bits]
    return whole, rounding
