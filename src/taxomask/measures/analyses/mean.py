"""A mean by groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates
from .grouping import Groups, grouped
from .records import Records, Sides
from .side import Side

__all__ = ["CATEGORIES", "Mean", "by_words"]

Float = NDArray[np.float64]
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

    def estimates(self, records: Records, both: Sides) -> Estimates:
        from scipy.special import stdtrit

        groups = grouped(records, self.by, self.levels)
        found = records.fold(_means, _Means.with_, self.of, groups)
        n, total, mean = found.records, found.total, found.mean
        squares = records.fold(_squares, np.add, self.of, groups, mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            half = stdtrit(n - 1.0, (1 + self.confidence) / 2) * np.sqrt(n / (n - 1.0) * squares) / total
        half[n < 2] = np.nan
        numbers = {
            label: Estimate(float(mean[i]), float(mean[i] - half[i]), float(mean[i] + half[i]))
            for i, label in enumerate(groups.labels)
            if n[i]
        }
        return Estimates(numbers, int(n.sum()), found.left_out)


@dataclass(frozen=True, eq=False)
class _Means:
    """How many records each group has, what they count together, and their mean; and how many records have no group."""

    records: NDArray[np.int64]
    total: Float
    mean: Float
    left_out: int

    def with_(self, other: _Means) -> _Means:
        total = self.total + other.total
        share = np.divide(other.total, total, out=np.zeros(len(total)), where=total > 0)
        mean = np.where(share == 1, other.mean, self.mean + (other.mean - self.mean) * share)
        return _Means(self.records + other.records, total, mean, self.left_out + other.left_out)


def _complete(side: Side, name: str, groups: Groups) -> tuple[Float, NDArray[np.int64], Float]:
    """The numbers, groups and weights of the records that have both."""
    values, numbers = side[name].numbers(), groups.numbers(side)
    known = (numbers >= 0) & ~np.isnan(values)
    return values[known], numbers[known], np.ones(int(known.sum())) if side.weights is None else side.weights[known]


def _means(side: Side, name: str, groups: Groups) -> _Means:
    (x, g, w), k = _complete(side, name, groups), len(groups.labels)
    shift = float(x.mean()) if len(x) else 0.0  # so that large numbers lose nothing
    total, sums = (np.bincount(g, one, k).astype(np.float64) for one in (w, w * (x - shift)))
    mean = np.divide(sums, total, out=np.zeros(k), where=total > 0) + shift
    return _Means(np.bincount(g, minlength=k), total, mean, side.n - len(x))


def _squares(side: Side, name: str, groups: Groups, mean: Float) -> Float:
    x, g, w = _complete(side, name, groups)
    return np.bincount(g, (w * (x - mean[g])) ** 2, len(groups.labels)).astype(np.float64)
