"""Ordinary statistics of numbers, counted from the smallest so that a large offset costs no digits."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Kind

__all__ = [
    "Sample",
    "centred",
    "complete",
    "covariance",
    "numbers",
    "ordered",
    "present",
    "relative",
    "relatives",
    "spread",
    "sum_of_products",
    "unit_of",
    "with_mean",
]

Float = NDArray[np.float64]


def ordered(column: Column) -> bool:
    """Whether the values can be treated as numbers: continuous, or ordinal by position."""
    return column.attribute.kind in (Kind.CONTINUOUS, Kind.ORDINAL)


def numbers(column: Column) -> Float:
    """The values of a continuous attribute, or the positions (from 1) of an ordinal one; NaN where missing."""
    return column.numbers() + 1 if column.attribute.kind == Kind.ORDINAL else column.numbers()


def complete(x: Float, y: Float) -> tuple[Float, Float]:
    """Both values of the records that have both."""
    present = ~(np.isnan(x) | np.isnan(y))
    return (x, y) if present.all() else (x[present], y[present])


def covariance(x: Float, y: Float) -> float:
    """With divisor n - 1; 0 for fewer than two records."""
    if len(x) < 2:
        return 0.0
    u = centred(x)
    return sum_of_products(u, u if y is x else centred(y)) / (len(x) - 1)


def centred(x: Float) -> Float:
    """The values from their mean."""
    return with_mean(x)[1]


def with_mean(x: Float) -> tuple[float, Float]:
    """The mean, and the values from it."""
    low = x.min()
    u = x - low
    mean = u.mean()
    return float(mean + low), np.asarray(u - mean)


def sum_of_products(x: Float, y: Float) -> float:
    """Σ x·y, by adding up: for vectors of this size a threaded dot product waits for its threads more than it works."""
    return float((x * y).sum())


def spread(x: Float) -> float:
    """The standard deviation; exactly 0 if all values are equal."""
    return math.sqrt(covariance(x, x))


def present(x: Float) -> Float:
    """The values that are not missing."""
    gone = np.isnan(x)
    return x[~gone] if gone.any() else x


def unit_of(before: Float, after: Float) -> float:
    """What both columns are measured in: the spread of the original, or of both together where it has none."""
    x, y = present(before), present(after)
    return spread(x) or spread(np.concatenate([x, y])) or 1.0


class Sample:
    """Numbers, and what pairs of columns need of each: found once for all pairs where neither has a missing value."""

    def __init__(self, values: Float) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def whole(self) -> bool:
        """Whether no value is missing."""
        return not np.isnan(self.values).any()

    @cached_property
    def centred(self) -> Float:
        """The values from their mean."""
        return centred(self.values)

    @cached_property
    def spread(self) -> float:
        """The standard deviation; exactly 0 if all values are equal."""
        return math.sqrt(self.covariance(self))

    def with_values_of(self, other: Sample) -> tuple[Sample, Sample]:
        """Both, of the records that have both values."""
        if self.whole and other.whole:
            return self, other
        x, y = complete(self.values, other.values)
        return Sample(x), Sample(y)

    def covariance(self, other: Sample) -> float:
        """With divisor n - 1; 0 for fewer than two records."""
        return sum_of_products(self.centred, other.centred) / (len(self) - 1) if len(self) > 1 else 0.0

    def correlation(self, other: Sample) -> float:
        """Pearson's correlation; 0 if either does not vary."""
        both = self.spread * other.spread
        return self.covariance(other) / both if both > 0 else 0.0

    @cached_property
    def powers(self) -> tuple[Float, Float, float, float]:
        """The values from their mean and their squares, and the means of second and fourth powers."""
        u = self.values - self.values.mean()
        square = u * u
        return u, square, float(square.mean()), float((square * square).mean())


def relative(before: float, after: float, scale: float) -> float:
    """|after - before| / |before|; NaN if only ``before`` is 0, or if only one of them exists.

    What is below rounding on this scale counts as 0.
    """
    return float(relatives(*(np.array([one]) for one in (before, after, scale)))[0])


def relatives(before: Float, after: Float, scale: Float) -> Float:
    """`relative` of many."""
    rounding = 1e-12 * scale
    none, nothing = np.isnan(before) & np.isnan(after), (np.abs(before) <= rounding) & (np.abs(after) <= rounding)
    with np.errstate(all="ignore"):
        changes = np.where(np.abs(before) <= rounding, np.nan, np.abs(after - before) / np.abs(before))
    return np.where(none | nothing, 0.0, changes)
