"""How attributes of any kind hang together: distance variance and distance correlation, without pairs of records."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._support.sorting import stable_order
from ...methods import Progress
from ...microdata import CategoricalColumn, Column, Microdata, TaxonomicColumn
from ...semantics import (
    category_marginality,
    contingency,
    covariance_of_tables,
    distance_table,
)
from ...semantics.statistics import _root
from ..measure import Measure
from ..side_by_side import side_by_side
from ._moments import numbers, ordered, spread, unit_of
from .result import Loss, mean_of, twice

__all__ = ["DISTANCE_CORRELATIONS", "DISTANCE_VARIANCES", "distance_correlations", "distance_variances"]

Float = NDArray[np.float64]

BLOCK = 256  # rows of a table of distances at a time
_DENSE = 4  # times as many combinations as records are counted one by one


def distance_variances(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """|sdVar(X') - sdVar(X)| of each attribute, of any kind.

    Numbers, and ordinal attributes by position, are measured in standard deviations of the original, so that the unit
    does not matter.
    """
    each, before, after = {}, {}, {}
    for name, (x, y) in side_by_side(original, released, attributes).items():
        unit = unit_of(numbers(x), numbers(y)) if ordered(x) else None
        before[name], after[name] = (_variance(_points(one.take(~one.missing), unit)) for one in (x, y))
        each[name] = abs(after[name] - before[name])
    return Loss(mean_of(each.values()), each, before, after)


def distance_correlations(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> Loss:
    """|sdCor(X', Y') - sdCor(X, Y)| of every pair of attributes, of any kinds.

    sdCor is in [0, 1]; 0 if either does not vary. It is that of `tm.distance_correlation`, with the attribute's own
    semantic distance, 0 or 1 between plain categories, and the difference of numbers and of ordinal positions. Over
    the records that have both values. Exact, in O(n log n) for two numbers and O(cells × categories) for a number with
    a category, where cells are the combinations that occur.

    References
    ----------
    Székely, Rizzo, Bakirov (2007), Measuring and testing dependence by correlation of distances, Annals of Statistics
    35; Chaudhuri, Hu (2019), A fast algorithm for computing distance correlation, Computational Statistics and Data
    Analysis 135; Rodriguez-Garcia, Batet, Sánchez (2019), Information Fusion 45 (semantic distances).
    """
    columns = side_by_side(original, released, attributes)
    before, after = twice(
        columns, lambda when: _Correlations({name: pair[when] for name, pair in columns.items()}).of, progress
    )
    each = {key: abs(after[key] - before[key]) for key in before}
    return Loss(mean_of(each.values()), each, before, after)


# --------------------------------------------------------------------------------------- inside


class _Points(ABC):
    """A column without missing values, by its distinct values; ``weights`` are records, if those alike are one."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    weights: Float | None

    @cached_property
    def n(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @property
    def share(self) -> Float:
        return self.counts / max(self.n, 1)

    @cached_property
    def rows(self) -> Float:
        """The mean distance of each distinct value to all records."""
        return self._rows()

    @cached_property
    def mean_row(self) -> float:
        """The mean distance of two records."""
        return float(self.share @ self.rows)

    @abstractmethod
    def _rows(self) -> Float: ...

    @abstractmethod
    def mean_square(self) -> float:
        """The mean squared distance of two records."""


@dataclass(frozen=True, eq=False)
class _Numbers(_Points):
    """Distinct numbers in rising order."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    values: Float
    weights: Float | None = None

    def _rows(self) -> Float:
        n, below, sums = self.n, np.cumsum(self.counts), np.cumsum(self.counts * self.values)
        return (self.values * (2 * below - n) + sums[-1] - 2 * sums) / n

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """The records, the smallest number first."""
        return stable_order(self.codes.astype(np.float64)).astype(np.int32)

    def mean_square(self) -> float:
        return float(2 * self.share @ (self.values - self.share @ self.values) ** 2)


@dataclass(frozen=True, eq=False)
class _Categories(_Points):
    """Categories of a taxonomy, or plain ones."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    column: CategoricalColumn
    weights: Float | None = None

    def _rows(self) -> Float:
        return category_marginality(self.column) / self.n

    def mean_square(self) -> float:
        share = self.share
        if not isinstance(self.column, TaxonomicColumn):
            return float(share @ (1 - share))
        table, used = self.column.table, np.flatnonzero(share)
        blocks = [used[start : start + BLOCK] for start in range(0, len(used), BLOCK)]
        return sum(float(share[block] @ (np.square(table[block]) @ share)) for block in blocks)


def _points(column: Column, unit: float | None = None) -> _Points:
    """A column without missing values; numbers in a unit, by default their standard deviation."""
    if isinstance(column, CategoricalColumn) and not ordered(column):
        return _Categories(column.codes.astype(np.int32, copy=False), column.counts, column)
    every = numbers(column)
    values, codes = np.unique(every, return_inverse=True)
    middle = values[len(values) // 2] if len(values) else 0.0
    scaled = (values - middle) / ((spread(every) if unit is None else unit) or 1.0)
    return _Numbers(codes.astype(np.int32), np.bincount(codes, minlength=len(values)), scaled)


def _variance(x: _Points) -> float:
    """sdVar: the mean squared distance, less that of the row means, and so on."""
    square = x.mean_square()
    if square <= 0:
        return 0.0
    variance = square - 2 * float(x.share @ x.rows**2) + x.mean_row**2
    return _root(variance) if abs(variance) > 1e-14 * square else 0.0


def _covariance(x: _Points, y: _Points) -> float:
    """sdCov: the mean product of distances, less that of the row means, and so on (Székely et al., eq. 2.8)."""
    if isinstance(x, _Categories) and isinstance(y, _Categories):
        return covariance_of_tables(contingency(x.column, y.column), distance_table(x.column), distance_table(y.column))
    if not isinstance(x, _Numbers):
        x, y = y, x
    assert isinstance(x, _Numbers)
    return _root(2 * _sum_of_products(x, y) / x.n + x.mean_row * y.mean_row)


def _sum_of_products(x: _Numbers, y: _Points) -> float:
    """Over all pairs of records, less that of the means of rows; see the kernels."""
    from ._distance_kernels import sum_of_numbers, sum_of_numbers_and_categories, sum_of_numbers_and_concepts

    cells, n = (*_cells(x, y), x.values, x.rows, y.rows), float(x.n)
    if isinstance(y, _Numbers):
        return float(sum_of_numbers(*cells, y.values, n))
    assert isinstance(y, _Categories)
    if isinstance(y.column, TaxonomicColumn):
        return float(sum_of_numbers_and_concepts(*cells, np.ascontiguousarray(y.column.table), n))
    return float(sum_of_numbers_and_categories(*cells, n))


def _cells(x: _Numbers, y: _Points) -> tuple[NDArray[np.int32], NDArray[np.int32], Float]:
    """How many records have which value of x, in rising order, and of y.

    Where there are many combinations each record is by itself: looking for equal ones would take longer than it saves,
    but where a record takes as long as there are concepts, and numbers are repeated.
    """
    n, size = len(x.codes), len(y.counts)
    if len(x.counts) * size <= _DENSE * n:
        every = np.bincount(_both(x, y), x.weights)
        return _parts(np.flatnonzero(every), every[every > 0], size)
    if isinstance(y, _Categories) and isinstance(y.column, TaxonomicColumn) and 2 * len(x.counts) <= n:
        cells, place = np.unique(_both(x, y), return_inverse=True)
        return _parts(cells, np.bincount(place, x.weights), size)
    return x.codes[x.order], y.codes[x.order], np.ones(n) if x.weights is None else x.weights[x.order]


def _both(x: _Points, y: _Points) -> NDArray[np.int64]:
    """The combination of values of each record."""
    return x.codes * np.int64(len(y.counts)) + y.codes


def _parts(
    cells: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Float]:
    """The two values of each combination, and how many records have it."""
    return (cells // size).astype(np.int32), (cells % size).astype(np.int32), counts.astype(float)


class _Correlations:
    """The distance correlations of a table; what several pairs need is made once."""

    def __init__(self, columns: dict[str, Column]) -> None:
        self.columns = columns
        self.gaps = {name for name, column in columns.items() if column.missing.any()}
        self.whole: dict[str, tuple[_Points, float]] = {}

    def of(self, a: str, b: str) -> float:
        x, y = self.columns[a], self.columns[b]
        if a not in self.gaps and b not in self.gaps:
            (one, of_one), (other, of_other) = self._whole(a), self._whole(b)
            if a in self.alike and b in self.alike:
                one, other = self.alike[a], self.alike[b]
        else:
            present = ~(x.missing | y.missing)
            if not present.any():
                return 0.0
            one, other = _points(x.take(present)), _points(y.take(present))
            of_one, of_other = _variance(one), _variance(other)
        both = of_one * of_other
        return _covariance(one, other) / math.sqrt(both) if both > 0 else 0.0

    @cached_property
    def alike(self) -> dict[str, _Points]:
        """Columns whose values follow from that of one, as those of groups do: a record for each value of that one."""
        whole = {name: self._whole(name)[0] for name in self.columns if name not in self.gaps}
        leads = [one for one in whole.values() if isinstance(one, _Numbers) and 2 * len(one.counts) <= one.n]
        if not leads:
            return {}
        lead = max(leads, key=lambda one: len(one.counts))
        first, weights = np.empty(len(lead.counts), dtype=np.int64), lead.counts.astype(float)
        first[lead.codes] = np.arange(lead.n)
        return {
            name: replace(one, codes=one.codes[first], weights=weights)  # type: ignore[type-var]
            for name, one in whole.items()
            if (one.codes[first][lead.codes] == one.codes).all()
        }

    def _whole(self, name: str) -> tuple[_Points, float]:
        if name not in self.whole:
            points = _points(self.columns[name])
            self.whole[name] = points, _variance(points)
        return self.whole[name]


DISTANCE_VARIANCES = Measure(
    "distance_variances",
    title="distance variances",
    about="The mean absolute change of how spread out a column is.",
    paper="|sdVar' − sdVar|",
    unit="change",
    compute=lambda tables, _: distance_variances(*tables.aligned),
    seconds=lambda tables: 2e-8 * tables.cells,
    sampled=True,
)
DISTANCE_CORRELATIONS = Measure(
    "distance_correlations",
    title="distance correlations",
    about="The mean absolute change of the connection of two columns of any kind, over all pairs.",
    paper="|sdCor' − sdCor|",
    unit="change",
    compute=lambda tables, told: distance_correlations(*tables.aligned, progress=told),
    seconds=lambda tables: (6e-4 + 8e-9 * tables.n) * (tables.pairs + tables.changed_pairs),
    sampled=True,
)
