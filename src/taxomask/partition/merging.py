"""Groups merged until each of them has a property that the union of two groups with it keeps."""

from __future__ import annotations

import heapq
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance
from .aggregate import Groups
from .sweep import Left, middle_records

__all__ = ["Violation", "merge_until"]

Numbers = NDArray[np.int32]
Rows = NDArray[np.int64]


class Violation(Protocol):
    """How far groups are from a property; 0 or less where it holds."""

    def __call__(self, rows: Rows) -> float:
        """Of one group."""

    def summary(self, rows: Rows) -> Any:
        """What must be known of a group."""

    def joined(self, one: Any, other: Any) -> Any:
        """The same of the union of two groups."""

    def of_summary(self, summary: Any) -> float:
        """Of a group of which that is known."""

    def of_groups(self, order: Rows, start: Rows) -> NDArray[np.float64]:
        """Of many groups: the records group by group, and where each begins."""

    def at_most(self, order: Rows, start: Rows) -> NDArray[np.float64]:
        """As `of_groups`, or a bound from above that takes less time."""


def merge_until(space: RecordDistance, groups: Groups, violation: Violation, choices: int = 1) -> Numbers:
    """Merge groups until none is in violation: the worst one first, with the group whose middle record is nearest.

    Parameters
    ----------
    space
        How far apart records are.
    groups
        The groups to begin with.
    violation
        How far the records of a group are from the property.
    choices
        Of how many of the nearest groups to take the one whose union has the property, or lacks least of it; of several
        the nearest.
    """
    amounts = violation.of_groups(groups.order, groups.start)
    if not (amounts > 0).any():
        return groups.numbers
    known: dict[int, Any] = {}
    sizes = groups.sizes.copy()
    parts: dict[int, int] = {}  # which group went into which, in order
    among = space.take(middle_records(space, groups))
    left, alive = Left(among), np.ones(len(sizes), dtype=bool)
    worst = [(-float(amounts[group]), int(group)) for group in np.flatnonzero(amounts > 0)]
    heapq.heapify(worst)
    current = {group: -amount for amount, group in worst}
    while worst:
        amount, group = heapq.heappop(worst)
        if not alive[group] or current.get(group) != -amount:
            continue
        nearest = left.nearest(group, choices)
        if not len(nearest):
            break
        for one in (group, *nearest.tolist()):
            if one not in known:
                known[one] = violation.summary(groups.members(one))
        unions = [violation.joined(known[group], known[one]) for one in nearest.tolist()]
        amounts_left = [violation.of_summary(union) for union in unions]
        # The nearest whose union has the property, or else the one that lacks least.
        best = int(np.argmin(np.maximum(amounts_left, 0.0)))
        other, amount = int(nearest[best]), amounts_left[best]
        keep, gone = (group, other) if sizes[group] >= sizes[other] else (other, group)
        known[keep] = unions[best]
        del known[gone]
        sizes[keep] += sizes[gone]
        parts[gone] = keep
        alive[gone] = False
        left.take_out(gone)
        current.pop(gone, None)
        current.pop(keep, None)
        if amount > 0:
            current[keep] = amount
            heapq.heappush(worst, (-amount, keep))
    into = np.arange(len(sizes))
    for gone, keep in reversed(parts.items()):  # what they went into is known by then
        into[gone] = into[keep]
    number = np.cumsum(alive) - 1
    return number[into][groups.numbers].astype(np.int32)
