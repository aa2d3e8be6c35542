"""A mean by groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates
from .grouping import grouped
from .side import Side, Sides

__all__ = ["CATEGORIES", "Mean", "by_words"]

CATEGORIES = (Kind.ORDINAL, Kind.NOMINAL, Kind.TAXONOMIC)


def by_words(by: Sequence[str], where: str | None) -> str:
    return (f" by {', '.join(by)}" if by else "") + (f", where {where}" if where else "")


@dataclass(frozen=True)
class Mean(Analysis):
    """The mean of a column of numbers, in each group of records, with t intervals.

    Records without the number or a group are left out (complete cases), and taken as independent of each other. With
    sampling weights it is the weighted mean, whose variance is n/(n-1)·Σ w²(x - mean)² / (Σ w)², which for equal
    weights is the usual s²/n.

    Parameters
    ----------
    of
        The column of numbers.
    by
        The columns of categories whose combinations are the groups; by default all records are one.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "days": [1, 3, 4, 8]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    ...     tm.Attribute("days", role="quasi_identifier", kind="continuous"),
    ... ])
    >>> release = pa.table({"sex": ["f", "f", "m", "m"], "days": [2, 2, 6, 6]})
    >>> stay = tm.Mean("stay", of="days", by=["sex"])
    >>> found = tm.evaluate(table, release, schema, analyses=[stay]).analyses["stay"]
    >>> [(label, one.value, round(one.low, 1), round(one.high, 1)) for label, one in found.before.items()]
    [('sex = f', 2.0, -10.7, 14.7), ('sex = m', 6.0, -19.4, 31.4)]
    """

    of: str
    by: Sequence[str] = ()

    kind = "mean"
    about = "The mean of a column of numbers, of all records or by groups."

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return {**dict.fromkeys(self.by, CATEGORIES), self.of: (Kind.CONTINUOUS,)}

    def words(self) -> str:
        return f"Mean of {self.of}{by_words(self.by, self.where)}"

    def estimates(self, side: Side, both: Sides) -> Estimates:
        from scipy.special import stdtrit

        values, groups = side[self.of].numbers(), grouped(side, self.by, self.levels)
        complete = groups.known & ~np.isnan(values)
        x, g, k = values[complete], groups.numbers[complete], len(groups.labels)
        w = np.ones(len(x)) if side.weights is None else side.weights[complete]
        n, total = np.bincount(g, minlength=k), np.bincount(g, w, k)
        shift = float(x.mean()) if len(x) else 0.0  # so that large numbers lose nothing
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.bincount(g, w * (x - shift), k) / total
            squares = np.bincount(g, (w * (x - shift - mean[g])) ** 2, k)
            half = stdtrit(n - 1.0, (1 + self.confidence) / 2) * np.sqrt(n / (n - 1.0) * squares) / total
        half[n < 2] = np.nan
        mean = mean + shift
        numbers = {
            label: Estimate(float(mean[i]), float(mean[i] - half[i]), float(mean[i] + half[i]))
            for i, label in enumerate(groups.labels)
            if n[i]
        }
        return Estimates(numbers, int(complete.sum()), int((~complete).sum()))
