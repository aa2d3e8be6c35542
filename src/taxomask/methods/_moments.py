"""Numbers moved and stretched to the mean and the variance of others, over the values that are there.

Where values are missing, averages have another mean: a missing cell is filled, or present ones are emptied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column, ContinuousColumn
from ..records import Extent, Spread

__all__ = ["binary_scale", "extent_of", "spread_of", "stretched", "stretched_in_chunks"]

_ROUNDING = 1e-14  # of the largest number: averages that differ by less are equal, and cannot be stretched


def stretched(original: Column, averaged: Column) -> Column:
    """The averages with the moments of the original numbers; other columns as they are."""
    if not isinstance(original, ContinuousColumn) or not isinstance(averaged, ContinuousColumn):
        return averaged
    before, present = (column.values[~column.missing] for column in (original, averaged))
    if not len(present) or before.min() == before.max():
        return averaged
    scale = binary_scale(before)
    before, present = before / scale, present / scale
    origin = before.min()
    found, wanted = present - origin, before - origin
    deviation = np.std(found, ddof=1) if len(found) > 1 else 0.0  # 0 of numbers whose squares are too small, too
    alike = np.ptp(found) <= _ROUNDING * np.abs(before).max()
    stretch = 0.0 if alike or deviation == 0 else np.std(wanted, ddof=1) / deviation
    moved = wanted.mean() + (averaged.values / scale - origin - found.mean()) * stretch
    return averaged.with_values((origin + moved) * scale)


def stretched_in_chunks(engine: Engine, original: Column, averaged: Column, what: str) -> Column:
    """The same of long columns, whose numbers can be squared."""
    if not isinstance(original, ContinuousColumn):
        return averaged
    before, after = (engine.fold(extent_of, Extent.with_, [one], what=what) for one in (original, averaged))
    if not after.count or before.smallest == before.largest:
        return averaged
    origin = before.smallest
    wanted, found = (engine.fold(spread_of, Spread.with_, [one], origin, what=what) for one in (original, averaged))
    largest = max(abs(before.smallest), abs(before.largest))
    alike = (after.largest - origin) - (after.smallest - origin) <= _ROUNDING * largest
    deviation = np.sqrt(found.variance)
    stretch = 0.0 if alike or deviation == 0 else np.sqrt(wanted.variance) / deviation
    moved: Column = engine.each(_moved, [averaged], origin, wanted.mean, found.mean, float(stretch), what=what)
    return moved


def binary_scale(values: NDArray[np.float64]) -> float:
    """A power of two near the largest: divided by it, which is exact, no difference and no square is too large."""
    return float(2.0 ** max(int(np.frexp(np.abs(values).max())[1]) - 1, -1022))


def extent_of(column: ContinuousColumn) -> Extent:
    return Extent.of(column.values)


def spread_of(column: ContinuousColumn, origin: float) -> Spread:
    return Spread.of(column.values, origin)


def _moved(column: ContinuousColumn, origin: float, wanted: float, found: float, stretch: float) -> Column:
    return column.with_values(origin + (wanted + (column.values - origin - found) * stretch))
