"""A quantile by groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates, effective
from .grouping import grouped
from .mean import CATEGORIES, by_words
from .side import Side, Sides

__all__ = ["Quantile"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Quantile(Analysis):
    """A quantile of a column of numbers, such as the median, in each group of records.

    The smallest value that at least a share q of the records does not exceed, counted with sampling weights if there
    are any. The interval is that of Woodruff: the quantiles at q ± z·sqrt(q(1-q)/n), n being the effective number of
    records; where this leaves [0, 1] it ends at the smallest or largest value. Records without the number or a group
    are left out.

    Parameters
    ----------
    of
        The column of numbers.
    by
        The columns of categories whose combinations are the groups; by default all records are one.
    q
        The share: 0.5 is the median.

    References
    ----------
    Woodruff (1952), Confidence intervals for medians and other position measures, Journal of the American Statistical
    Association 47.
    """

    of: str
    by: Sequence[str] = ()
    q: Annotated[float, Gt(0.0), Le(0.999)] = 0.5

    kind = "quantile"
    about = "A quantile of a column of numbers, such as the median, of all records or by groups."

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return {**dict.fromkeys(self.by, CATEGORIES), self.of: (Kind.CONTINUOUS,)}

    def words(self) -> str:
        return f"{'Median' if self.q == 0.5 else f'Quantile {self.q:g}'} of {self.of}{by_words(self.by, self.where)}"

    def estimates(self, side: Side, both: Sides) -> Estimates:
        values, groups = side[self.of].numbers(), grouped(side, self.by, self.levels)
        complete = groups.known & ~np.isnan(values)
        rows = np.flatnonzero(complete)
        rows = rows[np.lexsort((values[rows], groups.numbers[rows]))]
        starts = np.searchsorted(groups.numbers[rows], np.arange(len(groups.labels) + 1)).tolist()
        numbers = {}
        for label, a, b in zip(groups.labels, starts, starts[1:], strict=False):
            if b > a:
                weights = None if side.weights is None else side.weights[rows[a:b]]
                numbers[label] = self._interval(values[rows[a:b]], weights)
        return Estimates(numbers, len(rows), int((~complete).sum()))

    def _interval(self, ordered: Float, weights: Float | None) -> Estimate:
        from scipy.special import ndtri

        share = np.arange(1, len(ordered) + 1.0) if weights is None else np.cumsum(weights)
        half = float(ndtri((1 + self.confidence) / 2)) * math.sqrt(
            self.q * (1 - self.q) / effective(weights, len(ordered))
        )

        def at(q: float) -> float:
            return float(ordered[min(int(np.searchsorted(share, (q - 1e-12) * share[-1])), len(ordered) - 1)])

        if len(ordered) < 2:
            return Estimate(at(self.q), math.nan, math.nan)
        return Estimate(at(self.q), at(max(self.q - half, 0.0)), at(min(self.q + half, 1.0)))
