"""MDAV-generic: groups of k records around those farthest from the average, exact for every mix of attributes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._support.parameters import check_choice, check_integer
from ..errors import DataError
from ..records import RecordDistance
from .index import Index
from .nearest import Neighbours
from .plain import plain
from .points import OrdinalAverage, People, Points

__all__ = ["check_enough", "mdav", "several"]

Path = Literal["plain", "scan", "index"]

_PLAIN, _WIDE = 2_500, 10  # records and attributes; more take longer in plain arrays than a kernel takes to be loaded


def mdav(
    space: RecordDistance,
    k: int,
    *,
    people: NDArray[np.int64] | None = None,
    ordinal: OrdinalAverage = "median",
    path: Path | None = None,
) -> NDArray[np.int32]:
    """Partition records into groups of k (the last one up to 2k - 1) by MDAV-generic; the group number of each record.

    While at least 3k records are left: take the average record of those left, the record r farthest from it, and the
    record s farthest from r; r and its k - 1 nearest records become a group, then s (which never joins r's group) and
    its k - 1 nearest. Of 2k to 3k - 1 records left, the one farthest from the average and its k - 1 nearest become a
    group and the rest the last; fewer than 2k become one group. Groups are numbered in order of creation; of records
    at equal distance the first in the table counts.

    Averages are exact: means from sums of integers (coordinates in fixed point), medians and modes by counts, for
    taxonomic attributes the present category with the smallest sum of distances to the others. An average is missing
    where more than half of the records are. The result is that of the text above, to the last tie, however it is
    computed: by looking at all distinct records (few of them), or by an index that records are removed from. The first
    small table of a process is grouped without compiled code.

    Where ``people`` are given, who may have several records, a group has k different people: it takes the nearest
    records until it does, and the numbers 3k and 2k above count people who have records left. While k to 2k - 1 people
    have 2k records or more, groups around the record farthest from the average go on. Records of fewer than k people
    that are left at the end join the group of the record that is nearest to them. If everybody has one record, that is
    the algorithm above.

    Parameters
    ----------
    space
        The distance between the records.
    k
        The smallest group size, at least 2.
    people
        The number of the person (or household) of each record; without, each record is a person.
    ordinal
        The average of ordinal attributes: ``"median"``, ``"convex_median"`` or ``"mean"`` of the category positions.
    path
        For tests and benchmarks: how to compute it. By default the faster way for the table.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data
    Mining and Knowledge Discovery 11, doi 10.1007/s10618-005-0007-5, Algorithm 5.1.

    Examples
    --------
    The average age is 37.4, so 90 is r and 20 is s.

    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> table = pa.table({"age": [20, 22, 30, 31, 34, 35, 90]})
    >>> mdav(tm.RecordDistance(tm.Microdata.from_frame(table, schema)), k=2)
    array([1, 1, 2, 2, 2, 0, 0], dtype=int32)
    """
    k = check_integer("k", k, at_least=2, hint="A group of one record hides nobody.")
    check_choice("ordinal", ordinal, ("median", "convex_median", "mean"))
    owners = several(people)
    check_enough(space.n, owners, k)
    points = Points.of(space, ordinal)
    counted = None if owners is None else People(owners)
    small = path is None and space.n <= _PLAIN and len(space.terms) <= _WIDE
    if counted is None and (path == "plain" or (small and not _scan_is_worth_it())):
        plain(points, k)
        return points.group
    group = 0
    while path != "scan" and _left(points, counted) >= 3 * k and (many := len(points.alive())) > _few(points, k, path):
        # The index is built anew when three tenths of the points are left.
        group = Index(points, k, counted).run(group, stop=many * 3 // 10)
    _scan(points, k, group, counted)
    if counted is not None:
        _join_nearest(space, points.group)
    return points.group


def several(people: NDArray[np.int64] | None) -> NDArray[np.int32] | None:
    """The people, numbered without gaps; None if everybody has one record, and records can be counted."""
    if people is None:
        return None
    found, numbers = np.unique(people, return_inverse=True)
    return None if len(found) == len(people) else numbers.astype(np.int32)


def check_enough(n: int, people: NDArray[np.int32] | None, k: int) -> None:
    """Whether there can be a group."""
    if n < k:
        raise DataError(f"the table has {n} records, too few for a group of k = {k}.", hint="Lower k or add records.")
    if people is not None and (different := int(people.max()) + 1) < k:
        raise DataError(
            f"the table has {n:,} records of {different:,} people (or households), too few for a group of k = {k}.",
            hint="Lower k or add people.",
        )


def _left(points: Points, people: People | None) -> int:
    """How many people have no group yet; records, where everybody has one."""
    return points.left if people is None else people.left


def _join_nearest(space: RecordDistance, group: NDArray[np.int32]) -> None:
    """The records that are left without a group join that of the nearest record, of several the first."""
    left, others = np.flatnonzero(group < 0), np.flatnonzero(group >= 0)
    if not len(left):
        return
    neighbours, queries = Neighbours(space.take(others)), space.take(left)
    distinct, nearest = neighbours.distinct, np.empty(len(left), dtype=np.int64)
    for piece, points, counts in neighbours.within(queries, neighbours.nearest(queries).squared):
        starts = np.cumsum(counts) - counts
        nearest[piece] = np.minimum.reduceat(distinct.first[points], starts)
    group[left] = group[others[nearest]]


def _few(points: Points, k: int, path: Path | None) -> int:
    """So many points are faster looked at one by one (measured: more attributes and larger groups favour that)."""
    numbers, codes = points.space[0].shape[1], points.space[2].shape[1]
    if numbers > 62 and points.gaps.any():  # the index has a bit for each number that may be missing
        return len(points.head)
    return 1000 * (numbers + codes) + 200 * k if path is None else 16


def _scan_is_worth_it() -> bool:
    from ._scan_kernels import scan

    return bool(scan.worth_it)


def _scan(points: Points, k: int, group: int, people: People | None) -> None:
    """Group the records that are left by looking at all of them in every step."""
    from ._scan_kernels import BLOCK, scan

    alive = points.alive()
    lead = points.records[points.head[alive]]
    place = np.zeros(len(points.head), dtype=np.int32)
    place[alive] = np.arange(len(alive), dtype=np.int32)
    numbers, codes = points.space[0][lead].T.copy(), points.space[2][lead].T.copy()
    live = (numbers, codes, alive, place, np.array([len(alive)]), lead)
    buffer = np.empty(BLOCK + 1)
    work = (
        np.empty(len(numbers)),
        np.empty(len(codes), dtype=np.int32),
        np.empty(len(points.sums[3]), dtype=np.int64),
        buffer,
        buffer.view(np.int64),
        (np.empty(k), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)),
    )
    records = points.space, points.gaps, points.rules, points.sums, points.lists
    if people is None:
        scan(*records, live, work, points.apart, k, group)
    else:
        from ._people_kernels import scan as scan_people

        scan_people(*records, live, work, people.arrays, points.apart, k, group)
