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

__all__ = ["EarthMover", "earth_mover"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


def earth_mover(column: Column) -> EarthMover:
    """The earth mover's distance for the kind of a column."""
    column = by_meaning(column)
    codes, count = column.numbered()
    if isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL:
        return _Ordered(codes, count)
    if isinstance(column, TaxonomicColumn) and column.further is None and column.scopes[0].taxonomy.is_tree:
        return _OnTree(codes, column)
    if isinstance(column, TaxonomicColumn):
        return _ByTable(codes, column.table)
    return _Flat(codes, count)


class EarthMover(ABC):
    """The distance between any group of records and the whole table."""

    def __init__(self, codes: Codes, categories: int) -> None:
        self.codes = codes
        self.categories = categories
        present = codes[codes >= 0]
        self.missing = 1 - len(present) / len(codes) if len(codes) else 0.0
        counts = np.bincount(present, minlength=categories)
        self.share = counts / max(len(present), 1)

    def __call__(self, rows: NDArray[np.integer]) -> float:
        """The distance between the distribution in these records and that in the table."""
        codes = self.codes[rows]
        present = np.sort(codes[codes >= 0])
        missing = 1 - len(present) / len(codes)
        between = self._between(present) if len(present) and self.missing < 1 else 0.0
        return abs(missing - self.missing) + (1 - max(missing, self.missing)) * between

    @abstractmethod
    def _between(self, codes: Codes) -> float:
        """The distance between the distribution of these codes (sorted) and that in the table."""


class _Flat(EarthMover):
    def _between(self, codes: Codes) -> float:
        values, counts = np.unique(codes, return_counts=True)
        return float(np.maximum(counts / len(codes) - self.share[values], 0).sum())


class _Ordered(EarthMover):
    def __init__(self, codes: Codes, categories: int) -> None:
        super().__init__(codes, categories)
        self._reached = np.cumsum(self.share)
        self._sums = np.concatenate([[0.0], np.cumsum(self._reached)])

    def _between(self, codes: Codes) -> float:
        """Σ |F(i) - G(i)| / (m - 1), run by run: between two of its codes the group's G is constant."""
        if self.categories < 2:
            return 0.0
        low = np.concatenate([[0], codes])
        high = np.concatenate([codes, [self.categories]])
        level = np.arange(len(codes) + 1) / len(codes)
        turn = np.clip(np.searchsorted(self._reached, level), low, high)  # F is below the level before it, above after
        below = level * (turn - low) - (self._sums[turn] - self._sums[low])
        above = (self._sums[high] - self._sums[turn]) - level * (high - turn)
        return float((below + above).sum()) / (self.categories - 1)


class _OnTree(EarthMover):
    def __init__(self, codes: Codes, column: TaxonomicColumn) -> None:
        super().__init__(codes, len(column.categories))
        scope = column.scopes[0]
        self._closure, self._positions = scope.taxonomy.closure, column.positions
        self._top = int(scope.taxonomy.depth[scope.root])
        self._depth = scope.taxonomy.depth
        self._unit = 2 * max(scope.deepest - self._top, 1)
        self._below = np.zeros(len(self._depth))
        for code, share in enumerate(self.share.tolist()):
            self._below[self._closure.ancestors(int(self._positions[code]))] += share
        self._whole = float(self._below[self._depth > self._top].sum())

    def _between(self, codes: Codes) -> float:
        """Σ over the edges of the difference in weight below them; where the group does not reach it is all of it."""
        weight: dict[int, float] = {}
        for code in codes.tolist():
            for above in self._closure.ancestors(int(self._positions[code])).tolist():
                weight[above] = weight.get(above, 0.0) + 1 / len(codes)
        total = self._whole
        for concept, here in weight.items():
            if self._depth[concept] > self._top:
                total += abs(here - self._below[concept]) - self._below[concept]
        return total / self._unit


class _ByTable(EarthMover):
    def __init__(self, codes: Codes, table: Float) -> None:
        super().__init__(codes, len(table))
        self._table = table / (table.max(initial=0.0) or 1.0)

    def _between(self, codes: Codes) -> float:
        """A transport problem: from the group's values to those of the table."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        values, counts = np.unique(codes, return_counts=True)
        used = np.flatnonzero(self.share)
        ways = np.arange(len(values) * len(used))
        leaving, arriving = ways // len(used), len(values) + ways % len(used)
        ends = (np.ones(2 * len(ways)), (np.concatenate([leaving, arriving]), np.concatenate([ways, ways])))
        constraints: Any = csr_array(ends)
        solved: Any = linprog(
            self._table[np.ix_(values, used)].ravel(),
            A_eq=constraints,
            b_eq=np.concatenate([counts / len(codes), self.share[used]]),
            method="highs",
        )
        return float(solved.fun)
