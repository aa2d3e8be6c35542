"""Groups merged until each of them has a property that the union of two groups with it keeps."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance
from .aggregate import Groups

__all__ = ["merge_until"]

Numbers = NDArray[np.int32]
Rows = NDArray[np.int64]


def merge_until(space: RecordDistance, groups: Groups, violation: Callable[[Rows], float]) -> Numbers:
    """Merge groups until none is in violation: the worst one first, with the group whose middle record is nearest.

    Parameters
    ----------
    space
        How far apart records are.
    groups
        The groups to begin with.
    violation
        How far the records of a group are from the property; 0 or less where it holds.
    """
    members = [groups.members(group) for group in range(len(groups.sizes))]
    centres = np.array([_middle(space, rows) for rows in members])
    alive = np.ones(len(members), dtype=bool)
    worst = [(-amount, group) for group, rows in enumerate(members) if (amount := violation(rows)) > 0]
    heapq.heapify(worst)
    current = {group: -amount for amount, group in worst}
    among = space.take(centres)
    while worst and alive.sum() > 1:
        amount, group = heapq.heappop(worst)
        if not alive[group] or current.get(group) != -amount:
            continue
        away = np.where(alive, among.squared_to_all(group), np.inf)
        away[group] = np.inf
        other = int(np.argmin(away))
        keep, gone = (group, other) if len(members[group]) >= len(members[other]) else (other, group)
        members[keep] = np.sort(np.concatenate([members[keep], members[gone]]))
        alive[gone] = False
        current.pop(gone, None)
        current.pop(keep, None)
        if (left := violation(members[keep])) > 0:
            current[keep] = left
            heapq.heappush(worst, (-left, keep))
    numbers = np.empty(space.n, dtype=np.int32)
    for number, group in enumerate(np.flatnonzero(alive).tolist()):
        numbers[members[group]] = number
    return numbers


def _middle(space: RecordDistance, rows: Rows) -> int:
    """The record of a group with the smallest sum of squared distances to the group; of several the first."""
    sums = np.array([space.squared_to_rows(i, rows).sum() for i in rows.tolist()])
    return int(rows[int(np.argmax(sums <= sums.min() * (1 + 1e-12)))])
