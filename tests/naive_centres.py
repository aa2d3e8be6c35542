"""Averages of groups of values, exact and incremental: the naive version of the kernels that average groups.

Each centre is an accumulator over the values of one attribute: `add`, `remove` and `value`. Missing values are counted,
and the average is missing if more than half of the group is. Adding and removing in any order gives the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taxomask.partition.whole_distances import whole_distances

__all__ = [
    "Centre",
    "ConvexMedian",
    "MarginalMean",
    "Mean",
    "Median",
    "Mode",
    "convex_median",
    "median",
]

Counts = NDArray[np.int64]


class Centre(ABC):
    """An average of a group that values join and leave."""

    def __init__(self) -> None:
        self.present = 0
        self.missing = 0

    def add(self, value: Any) -> None:
        """A value joins; None is missing."""
        self._change(value, 1)

    def remove(self, value: Any) -> None:
        """A value leaves."""
        self._change(value, -1)

    def extend(self, values: Iterable[Any]) -> Centre:
        """Many values join."""
        for value in values:
            self.add(value)
        return self

    def value(self) -> Any:
        """The average, or None if more than half of the group is missing."""
        return None if self.missing > self.present or not self.present else self._centre()

    def _change(self, value: Any, sign: int) -> None:
        if value is None:
            self.missing += sign
        else:
            self.present += sign
            self._move(value, sign)

    @abstractmethod
    def _move(self, value: Any, sign: int) -> None: ...

    @abstractmethod
    def _centre(self) -> Any: ...


class Mean(Centre):
    """The arithmetic mean, from a sum of integers: ``fraction_bits`` after the binary point."""

    def __init__(self, fraction_bits: int = 32) -> None:
        super().__init__()
        self._one = 2.0**fraction_bits
        self._sum = 0

    def _move(self, value: float, sign: int) -> None:
        self._sum += sign * int(np.rint(value * self._one))

    def _centre(self) -> float:
        return self._sum / self.present / self._one


class Median(Centre):
    """The middle category of an ordinal attribute; the lower one of two."""

    def __init__(self, categories: int) -> None:
        super().__init__()
        self._counts = np.zeros(categories, dtype=np.int64)

    def _move(self, value: int, sign: int) -> None:
        self._counts[value] += sign

    def _centre(self) -> int:
        return median(self._counts)


class ConvexMedian(Median):
    """The median after the frequencies were made convex, which lets categories compensate each other."""

    def _centre(self) -> int:
        return convex_median(self._counts)


class Mode(Median):
    """The most frequent category; of several the first."""

    def _centre(self) -> int:
        return int(np.argmax(self._counts))


class MarginalMean(Centre):
    """Mean_M: the category of the group with the smallest sum of distances to the group; of several the first.

    Sums that differ by rounding only are equal: see `whole_distances`.
    """

    def __init__(self, table: NDArray[np.float64]) -> None:
        super().__init__()
        self._table, self._rounding = whole_distances(table)
        self._counts = np.zeros(len(table), dtype=np.int64)
        self._sums = np.zeros(len(table), dtype=np.int64)

    def _move(self, value: int, sign: int) -> None:
        self._counts[value] += sign
        self._sums += sign * self._table[value]

    def _centre(self) -> int:
        sums = np.where(self._counts > 0, self._sums, np.iinfo(np.int64).max)
        return int(np.argmax(sums <= sums.min() + self._rounding * self.present))


def median(counts: ArrayLike) -> int:
    """The median category, from how often each occurs; the lower middle of an even number.

    >>> median([0, 1, 1, 0, 0, 0, 0, 1])   # {1, 2, 7}
    2
    """
    total = np.cumsum(counts)
    return int(np.searchsorted(total, (total[-1] + 1) // 2))


def convex_median(counts: ArrayLike) -> int:
    """The convex median: the median over f'(c) = min(max_{≤c} f, max_{≥c} f) on the whole scale.

    References
    ----------
    Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5, Definition 5.3.

    Examples
    --------
    >>> convex_median([0, 1, 1, 0, 0, 0, 0, 1])   # {1, 2, 7}
    4
    >>> convex_median([0, 1, 2, 0, 0, 1, 1, 0])   # {1, 2, 2, 5, 6} on 0..7
    3
    """
    frequency = np.asarray(counts)
    up = np.maximum.accumulate(frequency)
    down = np.maximum.accumulate(frequency[::-1])[::-1]
    return median(np.minimum(up, down))
