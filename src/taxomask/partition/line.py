"""Groups along a line: those of one attribute by itself, in the order of its values."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._support.sorting import stable_order
from ..microdata import Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.people import class_owners
from ..semantics.ordering import category_ranks
from .aggregate import Groups
from .mdav import check_enough, several

__all__ = ["Order", "along_one_column", "optimal_groups"]

Numbers = NDArray[np.int32]
Order = Literal["taxonomy", "marginality"]


def optimal_groups(values: NDArray[np.float64], k: int) -> Numbers:
    """The groups of at least k numbers whose squared differences from the means of groups add up to least.

    The best partition of all, up to the rounding of doubles, in time n log n: groups of the best one are neighbours on
    the line and have fewer than 2k numbers, so that a dynamic program finds them. Groups are numbered along the line;
    of equal numbers the first in the table comes first.

    References
    ----------
    Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on
    Knowledge and Data Engineering 15.

    Examples
    --------
    Of the two ways to cut 1, 2, 3, 4, 9, 10, 11 into groups of at least three this has the smaller sum, 5 + 2.

    >>> optimal_groups(np.array([11.0, 1, 2, 9, 10, 4, 3]), k=3)
    array([1, 0, 0, 1, 1, 0, 0], dtype=int32)
    """
    from ._line_kernels import line_groups

    order = stable_order(values)
    ordered = values[order]
    if len(values):  # a power of two less or more changes no digit, and no square is too large or too small then
        ordered = np.ldexp(ordered, -int(np.frexp(np.abs(ordered[[0, -1]]).max())[1]) - 1)
    numbers = np.empty(len(values), dtype=np.int32)
    numbers[order] = line_groups(ordered, k)
    return numbers


def along_one_column(
    column: Column, k: int, units: NDArray[np.int64] | None = None, *, order: Order = "taxonomy"
) -> Groups:
    """Groups of at least k records (or people, given as the number of each record's) by one attribute, in its order.

    Numbers: the best groups of all. Ordered categories by their place on the scale. Codes of a taxonomy stand on a line
    in the order of the taxonomy or of their marginality, each as far from the one before as their distance says: the
    groups are the best for such a line, not for the distances of all codes to each other.

    Missing cells are a group if they are enough. Fewer join the group of the middle one of the present values in their
    order and get its average; with fewer present values than are needed all are one group.
    """
    missing = column.missing
    present, absent = np.flatnonzero(~missing), np.flatnonzero(missing)
    check_enough(len(column), several(units), k)
    numbers = np.zeros(len(column), dtype=np.int32)
    if _size(units, present) < k:
        return Groups(numbers)
    places = _places(column, order)[present]
    inside = optimal_groups(places, k)
    if units is not None:
        inside = _with_enough(inside, units[present], k)
    numbers[present] = inside
    if len(absent):
        alone = _size(units, absent) >= k
        numbers[absent] = int(inside.max()) + 1 if alone else inside[stable_order(places)[(len(places) - 1) // 2]]
    return Groups(numbers)


def _places(column: Column, order: Order) -> NDArray[np.float64]:
    """Where each record stands on the line."""
    if isinstance(column, ContinuousColumn):
        return column.values
    along = np.arange(len(column.categories))
    if column.attribute.kind != Kind.ORDINAL and order == "marginality":
        along = np.argsort(category_ranks(column))
    steps = column.table[along[:-1], along[1:]] if isinstance(column, TaxonomicColumn) else np.ones(len(along) - 1)
    places = np.full(len(along) + 1, np.nan)
    places[along] = np.concatenate([[0.0], np.cumsum(steps)])[: len(along)]
    return places[column.codes]


def _size(units: NDArray[np.int64] | None, rows: NDArray[np.intp]) -> int:
    """How many records there are, or how many different people they are about."""
    return len(rows) if units is None else len(np.unique(units[rows]))


def _with_enough(numbers: Numbers, units: NDArray[np.int64], k: int) -> Numbers:
    """Groups of fewer than k people joined with those that follow on the line; the last ones with the one before."""
    owners = class_owners(numbers, units)
    if owners.min() >= k:
        return numbers
    groups = Groups(numbers)
    joined, number, seen = np.empty(len(owners), dtype=np.int32), 0, set[int]()
    for group in range(len(owners)):
        joined[group] = number
        seen.update(units[groups.members(group)].tolist())
        if len(seen) >= k:
            number, seen = number + 1, set()
    return np.minimum(joined, max(number - 1, 0)).astype(np.int32)[numbers]
