"""How a column of numbers is spread, put together from parts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Extent", "Spread"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Extent:
    """How many numbers there are, missing ones left out, the smallest and the largest.

    >>> Extent.of(np.array([3.0, np.nan, 1.0])).with_(Extent.of(np.array([7.0])))
    Extent(count=3, smallest=1.0, largest=7.0)
    """

    count: int
    smallest: float
    largest: float

    @classmethod
    def of(cls, values: Float) -> Extent:
        present = values[~np.isnan(values)]
        return cls(len(present), float(present.min(initial=np.inf)), float(present.max(initial=-np.inf)))

    def with_(self, other: Extent) -> Extent:
        """That of both parts."""
        smallest, largest = min(self.smallest, other.smallest), max(self.largest, other.largest)
        return Extent(self.count + other.count, smallest, largest)


@dataclass(frozen=True)
class Spread:
    """The mean of numbers counted from an origin, missing ones left out, and the sum of their squared differences from
    it. Those of two parts are put together as of Chan, Golub and LeVeque, without squares of large numbers.

    >>> Spread.of(np.array([1.0, 3.0]), 1.0).with_(Spread.of(np.array([8.0]), 1.0)).variance
    13.0
    """

    count: int
    mean: float
    squares: float

    @classmethod
    def of(cls, values: Float, origin: float) -> Spread:
        with np.errstate(over="ignore", invalid="ignore"):
            away = values[~np.isnan(values)] - origin
            mean = float(away.mean()) if len(away) else 0.0
            return cls(len(away), mean, float(np.square(away - mean).sum()))

    def with_(self, other: Spread) -> Spread:
        """That of both parts."""
        count = self.count + other.count
        if not self.count or not other.count:
            return other if not self.count else self
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.float64(other.mean) - self.mean
            share = other.count / count
            squares = self.squares + other.squares + apart * apart * self.count * share
            return Spread(count, float(self.mean + apart * share), float(squares))

    @property
    def variance(self) -> float:
        """The sample variance."""
        return self.squares / (self.count - 1) if self.count > 1 else 0.0
