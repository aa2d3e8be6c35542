"""Groups whose confidential values are distributed as in the table, made so from the start instead of by merging."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance
from .aggregate import Groups
from .mdav import mdav
from .merging import Violation
from .sweep import Left, middle_records

__all__ = ["enough_strata", "exchange", "from_strata"]

Rows = NDArray[np.int64]
_STRATA, _NEAR = 8, 3  # a group may take so many records of each of so many strata in exchange


def exchange(
    space: RecordDistance,
    groups: Groups,
    violation: Violation,
    order: Rows,
    k: int,
    people: NDArray[np.int64] | None,
) -> Groups:
    """Exchange records of groups in violation for near ones of groups that come later, as long as that mends them.

    Group by group in their order. ``order`` lists the records by their confidential values; of each of a few strata of
    it the records of later groups that are nearest to the middle one of the group may come. The exchange that leaves no
    violation is made, or the least; of several with the nearest record. So it goes on until there is none left or none
    helps. A record that goes takes the place of the one that comes. What is in violation in the end is for
    `merge_until`.
    """
    numbers = groups.numbers.copy()
    members = [groups.members(group).copy() for group in range(len(groups.sizes))]
    amounts = violation.at_most(groups.order, groups.start)
    changed = np.zeros(len(members), dtype=bool)
    strata = np.array_split(order, min(_STRATA, max(len(order) // k, 1)))
    left, middle = Left(space, strata), middle_records(space, groups)
    for group, rows in enumerate(members):
        amount = (
            float(violation.at_most(rows, np.array([0, len(rows)]))[0]) if changed[group] else float(amounts[group])
        )
        if amount > 0:
            near = _candidates(space, left, len(strata), int(middle[group]), numbers, rows)
        while amount > 0 and len(near):
            size = len(rows)
            trials = np.tile(rows, (len(near) * size, 1))
            trials[np.arange(len(trials)), np.tile(np.arange(size), len(near))] = np.repeat(near, size)
            found = np.maximum(violation.at_most(trials.ravel(), np.arange(0, trials.size + 1, size)), 0.0)
            for best in np.argsort(found, kind="stable").tolist():
                comes, at = int(near[best // size]), best % size
                if found[best] >= amount - 1e-12 or _may(members, numbers, people, k, group, at, comes):
                    break
            if found[best] >= amount - 1e-12:
                break
            other, goes = int(numbers[comes]), int(rows[at])
            members[other][members[other] == comes] = goes
            rows[at], numbers[comes], numbers[goes] = comes, group, other
            changed[other], amount = True, float(found[best])
            near = near[near != comes]
        for row in rows.tolist():
            left.take_out(row)
    return Groups(numbers, groups.notes)


def _candidates(
    space: RecordDistance, left: Left, strata: int, middle: int, numbers: NDArray[np.int32], own: Rows
) -> Rows:
    """The records of later groups that are nearest to one, some of each stratum, the nearest first."""
    group, found = numbers[own[0]], []
    for stratum in range(strata):
        inside = sum(left.has(int(row), stratum) for row in own)
        near = left.nearest(middle, _NEAR + inside, within=stratum)
        found.append(near[numbers[near] != group][:_NEAR])
    near = np.concatenate(found)
    return near[np.argsort(space.squared_to_rows(middle, near), kind="stable")]


def _may(
    members: list[Rows],
    numbers: NDArray[np.int32],
    people: NDArray[np.int64] | None,
    k: int,
    group: int,
    at: int,
    comes: int,
) -> bool:
    """Whether both groups have k people still after a record has come and another has gone."""
    if people is None:
        return True
    rows, others = members[group].copy(), members[int(numbers[comes])].copy()
    others[others == comes] = rows[at]
    rows[at] = comes
    return all(len(np.unique(people[one])) >= k for one in (rows, others))


def enough_strata(n: int, k: int, t: float) -> int:
    """k* = max(k, ⌈n / (2(n - 1)t + 1)⌉), raised until no more than one record for each group is left over.

    With k* equal strata of n different ranks, a record of each in a group is within (n - k*) / (2(n - 1)k*) ≤ t of all.

    >>> enough_strata(100, 5, 0.05), enough_strata(100, 5, 0.3), enough_strata(11, 4, 1.0)
    (10, 5, 5)
    """
    several = min(max(k, -int(-n // (2 * (n - 1) * t + 1))), n)
    while n % several > n // several:
        several += 1
    return several


def from_strata(space: RecordDistance, order: Rows, strata: int) -> Groups:
    """Groups with one record of each stratum of an order, near to each other.

    Seeds are the middle records of the groups of MDAV, in the order in which these were made; each stratum gives the
    record nearest to the seed of those that it has left. What is left over, of the middle stratum, joins the group with
    the nearest seed, at most one each.
    """
    each, over = divmod(len(order), strata)
    sizes = np.full(strata, each)
    sizes[strata // 2] += over
    ends = np.cumsum(sizes)
    left = Left(space, [order[end - size : end] for end, size in zip(ends, sizes, strict=True)])
    found = middle_records(space, Groups(mdav(space, strata)))
    seeds: list[int] = []
    numbers = np.full(len(order), -1, dtype=np.int32)
    for group in range(each):
        seed = int(found[group]) if group < len(found) else int(left.rows()[0])
        seeds.append(seed)
        for stratum in range(strata):
            row = seed if left.has(seed, stratum) else int(left.nearest(seed, within=stratum)[0])
            left.take_out(row)
            numbers[row] = group
    places = np.array(seeds)
    free = np.ones(each, dtype=bool)
    for row in left.rows().tolist():
        away = np.where(free, space.squared_to_rows(row, places), np.inf)
        numbers[row] = int(away.argmin())
        free[numbers[row]] = False
    return Groups(numbers)
