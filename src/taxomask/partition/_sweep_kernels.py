# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Nearest points among those that are left, by a sweep along one coordinate; and the middle records of groups.

The points that are left stand in a list sorted by ``key``, one of their coordinates: ``before[i]`` and ``after[i]`` are
the neighbours of point i in it, -1 at an end. A search goes from the query to both sides, the nearer one first, and
ends where the coordinate alone is farther away than what was found. For the other arguments see
``records/_kernels.py``.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel
from ..records._kernels import squared

_SPACE = "f8[:, ::1], f8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]"


@kernel(f"i8[::1]({_SPACE}, i8[::1], i8[::1])")
def middles(numbers, far, codes, tables, start, size, unequal, order, first):
    """Of each group the record with the smallest sum of squared distances to the group; of several the first."""
    out = np.empty(len(first) - 1, np.int64)
    for g in range(len(out)):
        rows = order[first[g] : first[g + 1]]
        sums = np.zeros(len(rows))
        for a in range(len(rows)):
            i = rows[a]
            for j in rows:
                sums[a] += squared(numbers, far, codes, tables, start, size, unequal, numbers[i], codes[i], j)
        least = sums.min() * (1 + 1e-12)
        for a in range(len(rows)):
            if sums[a] <= least:
                out[g] = rows[a]
                break
    return out


@kernel(f"void({_SPACE}, f8[::1], i4[::1], f8, f8[::1], i8[::1], i8[::1], i8[::1], i8, i8, i8[::1], f8[::1])")
def nearest_left(
    numbers, far, codes, tables, start, size, unequal, query_numbers, query_codes, place, key, ids, before, after, left,
    right, found, apart,
):  # fmt: skip
    """The points left that are nearest to a query, as many as ``found`` has room for, the nearest first.

    The search begins between the points ``left`` and ``right`` of the list; ``place`` is the key of the query. Of
    points equally near those with smaller ``ids`` come first. -1 where there are no more.
    """
    found[:] = -1
    apart[:] = np.inf
    last = len(found) - 1
    while left >= 0 or right >= 0:
        to_left = place - key[left] if left >= 0 else np.inf
        to_right = key[right] - place if right >= 0 else np.inf
        if to_left <= to_right:
            j, gap = left, to_left
            left = before[left]
        else:
            j, gap = right, to_right
            right = after[right]
        limit = apart[last]
        if gap * gap > limit:
            break
        # As `squared`, which adds up the same terms in the same order, but for points that are too far already.
        away = 0.0
        for a in range(numbers.shape[1]):
            step = numbers[j, a] - query_numbers[a]
            if step == step:
                away += step * step
            elif (numbers[j, a] == numbers[j, a]) != (query_numbers[a] == query_numbers[a]):
                away += far[a]
        for b in range(codes.shape[1]):
            if away > limit:
                break
            if size[b] > 0:
                away += tables[start[b] + query_codes[b] * size[b] + codes[j, b]]
            elif query_codes[b] != codes[j, b]:
                away += unequal[b]
        if away > limit or (away == limit and found[last] >= 0 and ids[j] > ids[found[last]]):
            continue
        at = last
        while at > 0 and (
            away < apart[at - 1] or (away == apart[at - 1] and (found[at - 1] < 0 or ids[j] < ids[found[at - 1]]))
        ):
            apart[at], found[at] = apart[at - 1], found[at - 1]
            at -= 1
        apart[at], found[at] = away, j
