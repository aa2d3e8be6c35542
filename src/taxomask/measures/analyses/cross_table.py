"""How many records have which combination of values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from ...microdata import Kind
from .analysis import Analysis, Estimate, Estimates, effective
from .grouping import Groups, grouped
from .mean import CATEGORIES, by_words
from .records import Records, Sides
from .side import Side

__all__ = ["MOST_CELLS", "CrossTable", "counted"]

MOST_CELLS = 2_000


@dataclass(frozen=True)
class CrossTable(Analysis):
    """How many records have each combination of values of some columns, codes at a level of their taxonomy.

    Every combination that occurs in one of the tables is a number: the records that have it, with sampling weights how
    many people they stand for. The interval is that of Wilson for its share of all records, times their number. Records
    with a missing value are left out.

    Parameters
    ----------
    of
        The columns of categories: one is a table of counts, two a cross table.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22.
    """

    of: Annotated[Sequence[str], MinLen(1)]

    kind = "cross_table"
    about = "How many records have each combination of values of some columns, codes also at a level of their taxonomy."

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return dict.fromkeys(self.of, CATEGORIES)

    def words(self) -> str:
        return f"Records by {' and '.join(self.of)}{by_words((), self.where)}"

    def estimates(self, records: Records, both: Sides) -> Estimates:
        each = [grouped(one, self.of, self.levels, MOST_CELLS) for one in both]
        groups = each[0 if records is both[0] else 1]
        *sums, squares, known, unknown = records.fold(_cells, np.add, groups).tolist()
        found = dict(zip(groups.labels, sums, strict=True))
        cells = dict.fromkeys((label for one in each for label in one.labels), 0.0) | found
        total = float(np.sum(sums))
        n = effective(total, squares)
        numbers = {label: counted(count, total, n, self.confidence) for label, count in cells.items()}
        return Estimates(numbers, int(known), int(unknown))


def _cells(side: Side, groups: Groups) -> NDArray[np.float64]:
    """What the records of each group count; the squares; and how many records have a group, and have none."""
    numbers = groups.numbers(side)
    known = numbers >= 0
    w = (np.ones(side.n) if side.weights is None else side.weights)[known]
    sums = np.bincount(numbers[known], w, len(groups.labels))
    return np.array([*sums, (w**2).sum(), known.sum(), (~known).sum()])


def counted(count: float, total: float, n: float, confidence: float) -> Estimate:
    """A count out of a total, with the interval of Wilson for n records.

    >>> found = counted(5, 10, 10, 0.95)
    >>> round(found.low, 3), found.value, round(found.high, 3)
    (2.366, 5, 7.634)
    """
    from scipy.special import ndtri

    if not n:
        return Estimate(count, math.nan, math.nan)
    z2, p = float(ndtri((1 + confidence) / 2)) ** 2, count / total
    middle, half = p + z2 / (2 * n), math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return Estimate(count, max(low, 0.0) * total, min(high, 1.0) * total)
