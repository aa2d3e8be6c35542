"""The earth mover's distance between a group of records and the whole table, for t-closeness.

The least work that turns the distribution of an attribute in the group into that in the table, where moving all weight
over the largest distance is 1:

==============================  ==========================================================================
continuous, ordinal             distances between ranks of the distinct values, |i - j| / (m - 1)
taxonomic, on a tree            links on the path, over twice the depth of the deepest value below the root of τ(X)
taxonomic, on a DAG             the attribute's own distance over the largest of it
nominal                         0 or 1: half the sum of the differences
==============================  ==========================================================================

Spellings of a category that differ only in case, outer spaces or Unicode form are one category (see `by_meaning`).

Missing values are a category of their own at distance 1 from every value. Where a group has another share of them than
the table, the result is an upper bound: the difference of the shares, and the distance of the rest.

Reference: Li, Li, Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.meanings import by_meaning
from ..microdata.people import row_shares

__all__ = ["EarthMover", "earth_mover"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


def earth_mover(column: Column, people: Codes | None = None) -> EarthMover:
    """The earth mover's distance for the kind of a column.

    With the number of each record's person, everybody counts alike: a record counts 1 over the number of records that
    its person has in the group, or in the table.
    """
    column = by_meaning(column)
    codes, count = column.numbered()
    if isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL:
        return _Ordered(codes, count, people)
    if isinstance(column, TaxonomicColumn) and column.further is None and column.scopes[0].taxonomy.is_tree:
        return _OnTree(codes, column, people)
    if isinstance(column, TaxonomicColumn):
        return _ByTable(codes, column.table, people)
    return _Flat(codes, count, people)


class EarthMover(ABC):
    """The distance between any group of records and the whole table."""

    def __init__(self, codes: Codes, categories: int, people: Codes | None = None) -> None:
        self.codes = codes
        self.categories = categories
        self.people = people
        present = codes[codes >= 0]
        if people is None:
            self.missing = 1 - len(present) / len(codes) if len(codes) else 0.0
            self.share = np.bincount(present, minlength=categories) / max(len(present), 1)
        else:
            counted = row_shares(people)
            here, whole = counted[codes >= 0], float(counted.sum())
            self.missing = 1 - float(here.sum()) / whole if whole else 0.0
            self.share = np.bincount(present, here, minlength=categories) / (float(here.sum()) or 1.0)

    def __call__(self, rows: NDArray[np.integer]) -> float:
        """The distance between the distribution in these records and that in the table."""
        codes = self.codes[rows]
        if self.people is None:
            present = np.sort(codes[codes >= 0])
            missing, shares = 1 - len(present) / len(codes), None
        else:
            order = np.argsort(codes, kind="stable")
            order = order[codes[order] >= 0]
            counted = row_shares(self.people[rows])
            present, shares = codes[order], counted[order]
            total = float(shares.sum())
            missing, shares = 1 - total / float(counted.sum()), shares / (total or 1.0)
        between = self._between(present, shares) if len(present) and self.missing < 1 else 0.0
        return abs(missing - self.missing) + (1 - max(missing, self.missing)) * between

    @abstractmethod
    def _between(self, codes: Codes, shares: Float | None) -> float:
        """The distance between the distribution of these codes (sorted) and that in the table.

        Each of them has its share of the whole; without shares all have the same.
        """


def _distribution(codes: Codes, shares: Float | None) -> tuple[Codes, Float]:
    """The different codes, and the share of each."""
    if shares is None:
        values, counts = np.unique(codes, return_counts=True)
        return values, counts / len(codes)
    values, place = np.unique(codes, return_inverse=True)
    return values, np.asarray(np.bincount(place, shares), dtype=np.float64)


class _Flat(EarthMover):
    def _between(self, codes: Codes, shares: Float | None) -> float:
        values, here = _distribution(codes, shares)
        return float(np.maximum(here - self.share[values], 0).sum())


class _Ordered(EarthMover):
    def __init__(self, codes: Codes, categories: int, people: Codes | None = None) -> None:
        super().__init__(codes, categories, people)
        self._reached = np.cumsum(self.share)
        self._sums = np.concatenate([[0.0], np.cumsum(self._reached)])

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """Σ |F(i) - G(i)| / (m - 1), run by run: between two of its codes the group's G is constant."""
        if self.categories < 2:
            return 0.0
        low = np.concatenate([[0], codes])
        high = np.concatenate([codes, [self.categories]])
        if shares is None:
            level = np.arange(len(codes) + 1) / len(codes)
        else:
            level = np.concatenate([[0.0], np.cumsum(shares)])
            level[-1] = 1.0  # the sum is rounded
        turn = np.clip(np.searchsorted(self._reached, level), low, high)  # F is below the level before it, above after
        below = level * (turn - low) - (self._sums[turn] - self._sums[low])
        above = (self._sums[high] - self._sums[turn]) - level * (high - turn)
        return float((below + above).sum()) / (self.categories - 1)


class _OnTree(EarthMover):
    def __init__(self, codes: Codes, column: TaxonomicColumn, people: Codes | None = None) -> None:
        super().__init__(codes, len(column.categories), people)
        scope = column.scopes[0]
        self._closure, self._positions = scope.taxonomy.closure, column.positions
        self._top = int(scope.taxonomy.depth[scope.root])
        self._depth = scope.taxonomy.depth
        self._unit = 2 * max(scope.deepest - self._top, 1)
        self._below = np.zeros(len(self._depth))
        for code, share in enumerate(self.share.tolist()):
            self._below[self._closure.ancestors(int(self._positions[code]))] += share
        self._whole = float(self._below[self._depth > self._top].sum())

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """Σ over the edges of the difference in weight below them; where the group does not reach it is all of it."""
        weight: dict[int, float] = {}
        each = [1 / len(codes)] * len(codes) if shares is None else shares.tolist()
        for code, share in zip(codes.tolist(), each, strict=True):
            for above in self._closure.ancestors(int(self._positions[code])).tolist():
                weight[above] = weight.get(above, 0.0) + share
        total = self._whole
        for concept, here in weight.items():
            if self._depth[concept] > self._top:
                total += abs(here - self._below[concept]) - self._below[concept]
        return total / self._unit


class _ByTable(EarthMover):
    def __init__(self, codes: Codes, table: Float, people: Codes | None = None) -> None:
        super().__init__(codes, len(table), people)
        self._table = table / (table.max(initial=0.0) or 1.0)

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """A transport problem: from the group's values to those of the table."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        values, here = _distribution(codes, shares)
        used = np.flatnonzero(self.share)
        ways = np.arange(len(values) * len(used))
        leaving, arriving = ways // len(used), len(values) + ways % len(used)
        ends = (np.ones(2 * len(ways)), (np.concatenate([leaving, arriving]), np.concatenate([ways, ways])))
        constraints: Any = csr_array(ends)
        solved: Any = linprog(
            self._table[np.ix_(values, used)].ravel(),
            A_eq=constraints,
            b_eq=np.concatenate([here, self.share[used]]),
            method="highs",
        )
        return float(solved.fun)
