"""Shares with what a random guess would reach and a confidence interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

__all__ = ["Rate"]

_Z = 1.959963984540054  # 95 %


@dataclass(frozen=True)
class Rate:
    """A share between 0 and 1, with its 95 % interval (Wilson) and the share that a random guess reaches.

    Without any case to look at the share is 0 and the interval is everything.
    """

    value: float
    low: float
    high: float
    baseline: float
    n: int

    @classmethod
    def of(cls, hits: float, n: int, baseline: float) -> Self:
        """From the number of hits (or their expected number) among n cases.

        >>> Rate.of(8, 10, 0.1)
        Rate(value=0.8, low=0.490..., high=0.943..., baseline=0.1, n=10)
        """
        if n == 0:
            return cls(0.0, 0.0, 1.0, baseline, 0)
        share = min(hits / n, 1.0)
        square = _Z**2 / n
        middle = (share + square / 2) / (1 + square)
        half = _Z * sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
        low, high = max(middle - half, 0.0) if share > 0 else 0.0, min(middle + half, 1.0) if share < 1 else 1.0
        return cls(share, low, high, baseline, n)

    def largest_of(self, many: int) -> Self:
        """The same, if it is known to be the largest of so many shares of the same cases.

        The largest is too large by chance. Its interval begins so low that in one table of forty at most any of them
        would begin above what is expected of it (Clopper-Pearson, Bonferroni); the upper end is that of the share.

        >>> Rate.of(8, 10, 0.1).largest_of(40)
        Rate(value=0.8, low=0.264..., high=0.943..., baseline=0.1, n=10)
        """
        if many == 1 or not self.value:
            return self
        from scipy.special import betaincinv

        hits = self.value * self.n
        return replace(self, low=min(float(betaincinv(hits, self.n - hits + 1, 0.025 / many)), self.low))

    @property
    def excess(self) -> float:
        """How much of what a random guess leaves open is found: (value - baseline) / (1 - baseline)."""
        return (self.value - self.baseline) / (1 - self.baseline) if self.baseline < 1 else 0.0

    @property
    def excess_interval(self) -> tuple[float, float]:
        """The 95 % interval of the excess, where the guess is taken for known; never below 0.

        >>> Rate.of(8, 10, 0.5).excess_interval
        (0.0, 0.886...)
        """
        ends = (Rate(end, end, end, self.baseline, self.n).excess for end in (self.low, self.high))
        low, high = (max(end, 0.0) for end in ends)
        return low, high

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f}; a random guess {self.baseline:.4f})"
