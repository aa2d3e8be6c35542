"""Numbers with so many decimals: which ones a column can hold, and how many decimals it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .attribute import MOST_DECIMALS

__all__ = ["Resolution", "decimals_of"]

Float: TypeAlias = NDArray[np.float64]
_CHUNK = 1 << 16
_SURE = 2.0**51  # up to here a product with a power of ten is near enough to the whole number that is meant
_WHOLE = 2.0**53  # from here on the numbers that a double can hold lie further apart than the decimals


@dataclass(frozen=True)
class Resolution:
    """The numbers that a column is released with.

    Parameters
    ----------
    decimals
        How many decimals they have at most; None: as many as they happen to have.
    unit
        What they are multiples of: so many ticks, for dates and times.
    held
        The type that the column holds them in.

    Examples
    --------
    >>> Resolution(decimals=2).rounded(np.array([67.66666666666667, 2.2600000000000002, -0.001]))
    array([67.67,  2.26,  0.  ])

    Inward, where the nearest number is beyond a limit:

    >>> Resolution(decimals=1).rounded(np.array([0.96]), high=0.98)
    array([0.9])
    """

    decimals: int | None = None
    unit: int = 1
    held: str = "float64"

    def with_(self, other: Resolution) -> Resolution:
        """The coarser one of those that hold the numbers of two parts of a column.

        >>> Resolution(decimals=2).with_(Resolution(decimals=4)).decimals
        4
        """
        decimals = None if self.decimals is None or other.decimals is None else max(self.decimals, other.decimals)
        return Resolution(decimals, min(self.unit, other.unit), self.held)

    def rounded(self, values: Float, low: Float | float = -np.inf, high: Float | float = np.inf) -> Float:
        """Each number as the nearest one of these, or the nearest on its side of a limit, where this one lies beyond.

        The numbers themselves are within the limits. Where the limits leave no room for so few decimals, a number has
        as many more as it takes.
        """
        result = np.empty(len(values))
        for start in range(0, len(values), _CHUNK):
            part = slice(start, start + _CHUNK)
            result[part] = self._nearest(values[part])
        beyond = np.flatnonzero((result < low) | (result > high))
        if len(beyond):
            least, most = (np.broadcast_to(limit, len(values))[beyond] for limit in (low, high))
            result[beyond] = self._inward(values[beyond], least, most)
        return result

    def _nearest(self, values: Float, aside: Float | int = 0) -> Float:
        """The nearest numbers, or those that many steps aside; a number that is one of these stays, to the last bit."""
        if self.decimals is None and self.unit == 1:
            return self._as_held(values)
        per = 10.0 ** (self.decimals or 0)
        with np.errstate(over="ignore"):  # beyond all numbers is beyond the decimals, too
            times = values * per / self.unit
        near = np.rint(times)
        large = np.flatnonzero(np.abs(times) >= _SURE)
        if len(large):
            for other in (near[large] - 1, near[large] + 1):
                near[large] = np.where(other * self.unit / per == values[large], other, near[large])
        result = (near + aside) * self.unit / per + 0.0  # no -0
        if len(large):
            apart = large[np.abs(times[large]) >= _WHOLE]
            result[apart] = values[apart]
        result = self._as_held(result)
        return np.where(result == values, values, result)

    def _inward(self, values: Float, low: Float, high: Float) -> Float:
        """The nearest numbers within the limits, with more decimals where so few do not reach."""
        result = self._as_held(values)
        left = np.arange(len(values))
        for finer in self._ever_finer():
            v, least, most = values[left], low[left], high[left]
            near = finer._nearest(v)
            near = finer._nearest(v, np.where(near > most, -1, np.where(near < least, 1, 0)))
            inside = (near >= least) & (near <= most)
            result[left[inside]] = near[inside]
            left = left[~inside]
            if not len(left):
                return result
        narrow = result[left].astype(self.held)  # what is left is next to a limit that this type cannot hold
        back = np.where(narrow > high[left], -np.inf, np.where(narrow < low[left], np.inf, narrow))
        result[left] = np.nextafter(narrow, back.astype(self.held))
        return result

    def _ever_finer(self) -> Iterator[Resolution]:
        if self.decimals is None:
            yield from (self, replace(self, unit=1)) if self.unit > 1 else ()
            return
        for decimals in range(self.decimals, 23):
            yield replace(self, decimals=decimals)  # a power of ten above 10^22 is not exact

    def _as_held(self, values: Float) -> Float:
        if self.held == "float64":
            return values
        with np.errstate(over="ignore"):
            narrow = values.astype(self.held).astype(np.float64)
        return np.where(np.isinf(narrow), values, narrow)  # too large for the type, which gives way to a wider one


def decimals_of(values: Float, held: str = "float64") -> int | None:
    """The decimals of the number that has the most of them, as the shortest text that gives the number back has them.

    None if they are more than 20.

    >>> decimals_of(np.array([2.26, 12.5, np.nan, 7])), decimals_of(np.array([0.1], dtype="float32").astype(float))
    (2, 17)
    """
    found = 0
    for start in range(0, len(values), _CHUNK):
        left = values[start : start + _CHUNK]
        left = left[~np.isnan(left)]
        while len(left := left[Resolution(found, held=held)._nearest(left) != left]):
            found += 1
            if found > MOST_DECIMALS:
                return None
    return found
