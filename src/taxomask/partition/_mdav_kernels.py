# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The loop of MDAV over the tree, and the list that answers "which point is farthest from the average".

shell = (distance[m], point[m], numbers[m/8, p, 8], codes[m/16, q, 16], number[p], code[q], state[1], debt[4])
    The points farthest from an earlier average (``number``, ``code``), farthest first, in sixteens as in the leaves of
    the tree, the last of them filled up with points -1 (as are those found to be used up); no point outside the list
    is farther than ``state``. The average moves little, so the farthest point is among the first of the list: the
    search ends where δ² plus the most that the move can add falls below the best. ``debt`` is where the list begins
    (what is before is used up), how many points of it were looked at (a new list is due when that has cost more than
    making one), for how many steps to do without a list, and whether the list is new.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._bound_kernels import QUERY, SLACK
from ._centre_kernels import RULES, SPACE, SUMS, average
from ._points_kernels import NEAR, POINTS, take
from ._search_kernels import add_codes, eight_numbers, farthest, leaf_distances, nearest
from ._tree_kernels import LEAF, TREE, WIDE, refresh, remove
from ._vectors import at_least, lowest_bit, store

SHELL = "Tuple((f8[::1], i4[::1], f8[:, :, ::1], i4[:, :, ::1], f8[::1], i4[::1], f8[::1], i8[::1]))"

TINY = 1e-300  # more than what squares lose that are too small to be held


@makes_no_array(f"void({SPACE}, b1[::1], {TREE}, {QUERY}, f8[:, ::1])")
def spread(space, gaps, tree, query, out):
    """δ² of the query and every point of the tree; -1 where there is none."""
    for leaf in range(len(out)):
        leaf_distances(space, gaps, tree, query, leaf)
        for i in range(LEAF):
            out[leaf, i] = query[2][i] if i < tree[7][leaf] else -1.0


@makes_no_array()
def _move(space, query, shell):
    """How far the average has moved since the list was made: (distance in numbers, most that codes can add)."""
    tables, start, size, unequal = space[3], space[4], space[5], space[6]
    drift, extra = 0.0, 0.0
    for a in range(len(query[0])):
        x, y = query[0][a], shell[4][a]
        gap = x - y
        if gap == gap:
            drift += gap * gap
        elif x == x or y == y:
            return 0.0, np.inf
    for b in range(len(query[1])):
        x, y, m = query[1][b], shell[5][b], size[b]
        if x != y:
            if m == 0:
                extra += unequal[b]
            else:
                now, then = tables[start[b] + x * m :], tables[start[b] + y * m :]
                most = 0.0
                for z in range(m):
                    most = max(most, now[z] - then[z])
                extra += most
    return np.sqrt(drift), extra


@makes_no_array()
def _reach(distance, drift, extra):
    """The most that a squared distance can have become."""
    bound = distance + 2.0 * np.sqrt(distance) * drift + drift * drift + extra
    return bound + SLACK * bound + TINY


@makes_no_array()
def _move_up(shell, first, stop):
    """Move what is left of the list from ``first`` to ``stop`` up against ``stop``; returns where it now begins."""
    distance, point, numbers, codes = shell[0], shell[1], shell[2], shell[3]
    at = stop
    for i in range(stop - 1, first - 1, -1):
        if point[i] >= 0:
            at -= 1
            distance[at], point[at] = distance[i], point[i]
            for a in range(numbers.shape[1]):
                numbers[at // WIDE, a, at % WIDE] = numbers[i // WIDE, a, i % WIDE]
            for b in range(codes.shape[1]):
                codes[at // LEAF, b, at % LEAF] = codes[i // LEAF, b, i % LEAF]
    for i in range(first, at):
        point[i] = -1
    return at


@makes_no_array()
def _listed(space, gaps, points, query, shell):
    """The farthest point from the list, or -1 if the list cannot tell."""
    distance, point, numbers, codes, state, debt = shell[0], shell[1], shell[2], shell[3], shell[6], shell[7]
    head, end, records = points[0], points[1], points[2]
    out = query[2]
    drift, extra = _move(space, query, shell)
    best, best_record, best_point = -1.0, np.int64(0), np.int64(-1)
    first = debt[0] // WIDE * WIDE
    at = first
    dead = 0
    while at < len(distance) and _reach(distance[at], drift, extra) >= best:
        leaf, half = at // LEAF, at % LEAF
        total = eight_numbers(space, gaps, numbers, query, at // WIDE)
        some = np.int64(0xFF)
        if codes.shape[1] == 0:
            some = at_least(total, best)
        if some != 0:
            store(total, out, half)
            add_codes(space, codes, query, leaf, some << half)
        while some != 0:
            i = lowest_bit(some)
            some &= some - 1
            away, t = out[half + i], np.int64(point[at + i])
            if away < best:
                continue
            # Only now ask whether the point is left: that is a look at memory far away, the distance is not.
            if t >= 0 and head[t] == end[t]:
                point[at + i] = t = np.int64(-1)
            if t < 0:
                dead += 1
                continue
            record = np.int64(records[head[t]])
            if away > best or record < best_record:
                best, best_record, best_point = away, record, t
        at += WIDE
    debt[1] += at - first
    if dead > 16 and 8 * dead > at - first:
        debt[0] = _move_up(shell, first, at)  # keep the list dense at its top
    return best_point if best > _reach(state[0], drift, extra) else np.int64(-1)


@makes_no_array()
def outermost(space, gaps, tree, points, query, shell):
    """The point farthest from the average that the query holds, or -1 if a new list is needed."""
    debt = shell[7]
    if debt[2] > 0:
        debt[2] -= 1
        return farthest(space, gaps, tree, points, query)
    t = np.int64(-1)
    if debt[1] < tree[0][3]:
        t = _listed(space, gaps, points, query, shell)
    if t < 0 and debt[3] == 1:
        # Even a new list cannot tell (too many points are equally far): do without one for a while.
        debt[2] = 64
        t = farthest(space, gaps, tree, points, query)
    debt[3] = 0
    return t


@inlined
def grab(space, rules, sums, tree, points, dirty, t, group):
    """Put the first record of a point into a group; a point that is used up leaves the tree."""
    if take(space, rules, sums, points, t, group):
        leaf = remove(tree, t)
        if dirty[0] == 0 or dirty[dirty[0]] != leaf:
            dirty[0] += 1
            dirty[dirty[0]] = leaf


@inlined
def become(space, points, tree, query, t):
    """Make the first record of a point the query; returns the leaf it is in."""
    record = points[2][points[0][t]]
    for a in range(len(query[0])):
        query[0][a] = space[0][record, a]
    for b in range(len(query[1])):
        query[1][b] = space[2][record, b]
    return np.int64(tree[9][t]) // LEAF


@makes_no_array(
    f"i8({SPACE}, b1[::1], {RULES}, {SUMS}, {POINTS}, {TREE}, {SHELL}, {QUERY}, {NEAR}, i8[::1], i8[::1], i8, i8, i8)"
)
def search(space, gaps, rules, sums, points, tree, shell, query, near, scratch, dirty, k, group, stop):
    """MDAV-generic until fewer than 3k records or ``stop`` points are left, or the query needs a new list.

    Returns the next group number.
    """
    p, q = space[0].shape[1], space[2].shape[1]
    left = sums[0]
    while left[0] >= 3 * k and tree[0][3] >= stop:
        average(space, rules, sums, scratch, query[0], query[1])
        r = outermost(space, gaps, tree, points, query, shell)
        if r < 0:
            return group
        leaf = become(space, points, tree, query, r)
        grab(space, rules, sums, tree, points, dirty, r, group)
        s = farthest(space, gaps, tree, points, query)
        last = points[2][points[0][s]]
        home = np.int64(tree[9][s]) // LEAF
        grab(space, rules, sums, tree, points, dirty, s, group + 1)
        for turn in range(2):
            nearest(space, gaps, tree, points, query, near, k - 1, leaf)
            for i in range(k - 1):
                grab(space, rules, sums, tree, points, dirty, near[2][i], group + turn)
            leaf = home
            for a in range(p):
                query[0][a] = space[0][last, a]
            for b in range(q):
                query[1][b] = space[2][last, b]
        for i in range(dirty[0]):
            refresh(tree, gaps, dirty[1 + i])
        dirty[0] = 0
        group += 2
    return group
