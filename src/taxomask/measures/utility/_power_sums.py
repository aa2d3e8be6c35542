"""Moments of numbers and of their pairs, from sums over chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import Column
from ...records import Extent, Spread
from ._moments import numbers

__all__ = ["Moments", "Single", "moments_on", "singles_on", "unit_of_both"]

Float = NDArray[np.float64]

_WHAT = "adding up"
_BLOCK = 1 << 15  # records at a time
_ROUNDING = 1e-12  # of a mean square: a variance below that is none


@dataclass(frozen=True)
class Single:
    """A column of numbers: how many, the smallest and the largest, and their spread from the mean."""

    extent: Extent
    spread: Spread
    origin: float

    @property
    def mean(self) -> float:
        return self.origin + self.spread.mean if self.extent.count else math.nan

    @property
    def variance(self) -> float:
        """With divisor n - 1; 0 for a single value, NaN for none."""
        return self.spread.variance if self.extent.count else math.nan

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.extent.smallest), abs(self.extent.largest)) if self.extent.count else 0.0


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of products of powers of the numbers of a table, over the records with both values.

    Each column is counted from its own mean, in a unit: ``sums[i, j, a, b]`` is Σ a^i·b^j.
    """

    names: tuple[str, ...]
    single: Mapping[str, Single]
    units: Mapping[str, float]
    sums: Float

    def count(self, a: str, b: str) -> int:
        return round(self._sum(0, 0, a, b))

    def central(self, i: int, j: int, a: str, b: str) -> float:
        """The mean of (a - mean)^i·(b - mean)^j, in units."""
        n = self._sum(0, 0, a, b)
        if not n:
            return math.nan
        first, second = -self._sum(1, 0, a, b) / n, -self._sum(0, 1, a, b) / n
        return math.fsum(
            comb(i, k) * comb(j, m) * first ** (i - k) * second ** (j - m) * self._sum(k, m, a, b) / n
            for k in range(i + 1)
            for m in range(j + 1)
        )

    def covariance(self, a: str, b: str) -> float:
        """With divisor n - 1, in units; 0 of a single record, NaN of none."""
        n = self.count(a, b)
        return self.central(1, 1, a, b) * n / (n - 1) if n > 1 else (0.0 if n else math.nan)

    def spread(self, a: str, b: str) -> float:
        """The standard deviation of the first column over the records with both, in units."""
        n, square = self.count(a, b), self._sum(2, 0, a, b)
        variance = self.central(2, 0, a, b) if n > 1 else 0.0
        return math.sqrt(variance * n / (n - 1)) if variance > _ROUNDING * square / max(n, 1) else 0.0

    def correlation(self, a: str, b: str) -> float:
        both = self.spread(a, b) * self.spread(b, a)
        return self.covariance(a, b) / both if both > 0 else 0.0

    def _sum(self, i: int, j: int, a: str, b: str) -> float:
        return float(self.sums[i, j, self.names.index(a), self.names.index(b)])


def moments_on(engine: Engine, columns: Mapping[str, tuple[Column, Column]], order: int = 2) -> tuple[Moments, Moments]:
    """Of columns of numbers, or of ordered categories, before and after; up to an order."""
    names = tuple(columns)
    single = {name: singles_on(engine, *pair) for name, pair in columns.items()}
    units = {name: unit_of_both(*both) for name, both in single.items()}
    found = []
    for when in (0, 1):
        some = {name: both[when] for name, both in single.items()}
        ways = [(one.mean if one.extent.count else 0.0, units[name]) for name, one in some.items()]
        sums = np.zeros((order + 1, order + 1, 0, 0))
        if names:
            sums = engine.fold(_sums, np.add, [columns[name][when] for name in names], ways, order, what=_WHAT)
        found.append(Moments(names, some, units, sums))
    return found[0], found[1]


def singles_on(engine: Engine, x: Column, y: Column) -> tuple[Single, Single]:
    """A column of numbers, or of ordered categories, before and after."""
    before, after = (engine.fold(_extent, Extent.with_, [one], what=_WHAT) for one in (x, y))
    origin = before.smallest if before.count else after.smallest if after.count else 0.0
    spreads = (engine.fold(_spread, Spread.with_, [one], origin, what=_WHAT) for one in (x, y))
    first, second = spreads
    return Single(before, first, origin), Single(after, second, origin)


def unit_of_both(before: Single, after: Single) -> float:
    """As `unit_of`."""
    together = before.spread.with_(after.spread)
    return math.sqrt(before.spread.variance) or math.sqrt(together.variance) or 1.0


def _extent(column: Column) -> Extent:
    return Extent.of(numbers(column))


def _spread(column: Column, origin: float) -> Spread:
    return Spread.of(numbers(column), origin)


def _sums(*columns_and_ways: Any) -> Float:
    *columns, ways, order = columns_and_ways
    size = len(columns[0])
    total = np.zeros((order + 1, order + 1, len(columns), len(columns)))
    for start in range(0, size, _BLOCK):
        part = [one.part(start, min(start + _BLOCK, size)) for one in columns]
        total += _sums_of_block(part, ways, order)
    return total


def _sums_of_block(columns: Sequence[Column], ways: Sequence[tuple[float, float]], order: int) -> Float:
    values = np.column_stack(
        [(numbers(one) - origin) / unit for one, (origin, unit) in zip(columns, ways, strict=True)]
    )
    known = ~np.isnan(values)
    values = np.where(known, values, 0.0)
    powers = [known.astype(float)]
    for _ in range(order):
        powers.append(powers[-1] * values)
    total = np.zeros((order + 1, order + 1, len(columns), len(columns)))
    for i in range(order + 1):
        for j in range(order + 1 - i):
            total[i, j] = powers[i].T @ powers[j]
    return total
