"""A quantile by groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates, effective
from .grouping import Groups, grouped
from .mean import CATEGORIES, by_words
from .records import Records, Sides
from .side import Side

__all__ = ["Quantile"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
_WHAT = "analysing"


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

    def estimates(self, records: Records, both: Sides) -> Estimates:
        from scipy.special import ndtri

        groups = grouped(records, self.by, self.levels)
        ordered = _Ordered.of(records, self.of, groups)
        (total, squares), counts = ordered.sums, np.diff(ordered.starts)
        reach = float(ndtri((1 + self.confidence) / 2)) * math.sqrt(self.q * (1 - self.q))
        amount = [
            effective(whole, square) or 1.0 for whole, square in zip(total.tolist(), squares.tolist(), strict=True)
        ]
        half = reach / np.sqrt(amount)
        shares = np.stack(
            [np.full(len(half), self.q), np.maximum(self.q - half, 0), np.minimum(self.q + half, 1)], axis=1
        )
        found = ordered.reached((shares - 1e-12) * total[:, None])
        found[counts < 2, 1:] = math.nan
        estimates = [Estimate(*some) for some in found.tolist()]
        numbers = {label: one for label, one, n in zip(groups.labels, estimates, counts.tolist(), strict=True) if n}
        return Estimates(numbers, int(counts.sum()), ordered.left_out)


@dataclass(frozen=True, eq=False)
class _Ordered:
    """The numbers of all groups, one group after the other, each in rising order, with what their records count.

    ``starts`` tells where each group begins, and the last one ends; ``sums`` what the records of each count together,
    and the squares of that; ``before`` what those of each count that stand in earlier chunks, for each chunk.
    """

    engine: Engine
    rows: tuple[Any, ...]
    starts: Whole
    sums: tuple[Float, Float]
    before: list[Float]
    left_out: int

    @classmethod
    def of(cls, records: Records, name: str, groups: Groups) -> _Ordered:
        engine, size = records.engine, len(groups.labels)
        numbers, values, weights = records.each(_grouped, name, groups)
        n = len(numbers)
        keys = engine.each(_keys, [numbers, engine.rank(values, _WHAT)], size, n, what=_WHAT)
        counts = engine.fold(_sizes, np.add, [numbers], size, what=_WHAT)
        starts = np.concatenate([[0], np.cumsum(counts[:-2])])
        order = engine.order(keys, _WHAT)
        places = engine.move(engine.each(_positions, [range(n)], what=_WHAT), order, what=_WHAT)
        rows = tuple(engine.move(one, places, what=_WHAT) for one in (values, weights))
        each = engine.map(_summed, engine.cut([*rows, range(n)], starts), _WHAT)
        until = np.cumsum([total for total, _ in each], axis=0)
        squares = np.sum([square for _, square in each], axis=0)
        before = [np.zeros(size), *until[:-1]]
        return cls(engine, rows, starts, (until[-1], squares), before, int(counts[-2]))

    def reached(self, targets: Float) -> Float:
        """In each group the first numbers with which the records up to there count as much; at most the last one."""
        items = self.engine.cut([*self.rows, range(len(self.rows[0]))], self.starts, targets)
        own = [(*item, before) for item, before in zip(items, self.before, strict=True)]
        found = np.full(targets.shape, np.nan)
        for some in self.engine.map(_reached, own, _WHAT):
            found = np.where(np.isnan(found), some, found)
        return found


def _grouped(side: Side, rows: NDArray[np.bool_], name: str, groups: Groups) -> tuple[Whole, Float, Float]:
    """The group of each record, its number and its weight; -1 without a number or a group, -2 if it does not count."""
    values, numbers = side[name].numbers(), groups.numbers(side)
    numbers = np.where(rows, np.where(np.isnan(values), -1, numbers), -2)
    weights = np.ones(side.n) if side.weights is None else np.where(rows, side.weights, 0.0)
    return numbers, np.where(numbers < 0, np.nan, values), weights


def _sizes(numbers: Whole, size: int) -> Whole:
    """How many records each group has; and how many have none, and do not count."""
    return np.bincount(np.where(numbers < 0, size - 1 - numbers, numbers), minlength=size + 2)


def _keys(numbers: Whole, ranks: Float, size: int, n: int) -> Whole:
    """What records are sorted by: the group, and then the number."""
    return np.where(numbers < 0, size, numbers) * (2 * n + 2) + ranks.astype(np.int64) + n


def _positions(rows: range) -> Whole:
    return np.arange(rows.start, rows.stop)


def _inside(rows: range, starts: Whole) -> list[tuple[int, int, int]]:
    """The groups that have records in a chunk, with where these begin and end in it."""
    ends = np.clip(starts, rows.start, rows.stop) - rows.start
    return [(group, int(ends[group]), int(ends[group + 1])) for group in np.flatnonzero(np.diff(ends)).tolist()]


def _summed(values: Float, weights: Float, rows: range, starts: Whole) -> tuple[Float, Float]:
    total, squares = np.zeros(len(starts) - 1), np.zeros(len(starts) - 1)
    for group, a, b in _inside(rows, starts):
        total[group], squares[group] = np.cumsum(weights[a:b])[-1], (weights[a:b] ** 2).sum()
    return total, squares


def _reached(values: Float, weights: Float, rows: range, starts: Whole, targets: Float, before: Float) -> Float:
    found = np.full(targets.shape, np.nan)
    for group, a, b in _inside(rows, starts):
        place = np.searchsorted(before[group] + np.cumsum(weights[a:b]), targets[group])
        last = rows.start + b == starts[group + 1]
        place = np.where((place == b - a) & last, b - a - 1, place)
        here = place < b - a
        found[group, here] = values[a:b][place[here]]
    return found
