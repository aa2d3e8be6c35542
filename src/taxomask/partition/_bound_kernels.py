# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Bounds on the distances of a query and the points in the boxes of the tree of ``_tree_kernels.py``.

Bounds by numbers are computed in 32 bits from boxes rounded outwards, with slack for what rounding may have added or
taken. Those by codes are added to them in the order in which distances are added up: rounding is monotone, so that
records at equal distance are all seen.

query = (number, code, lane, bound, node, ranges, range_start, logs, top, most, sides, short): the coordinates, room for
the distances of 16 points or the bounds of 8 boxes, a stack of nodes, the minima or maxima of each run of 2^l codes in
the query's rows, the most that codes can add, the sides, and room for eight numbers of 32 bits. The sides are the
32-bit numbers below and above each coordinate, and below and above the coordinate mirrored in the middle (see
``upper_bounds``), and the coordinate less the middle.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._range_kernels import set_ranges
from ._short_kernels import TINY, rounding
from ._tree_kernels import LARGEST, WIDE, above, below
from ._vectors import (
    add,
    add_far,
    add_near,
    at_least,
    at_most,
    combined,
    filled,
    load,
    lowest_bit,
    scaled,
    smaller,
    store,
    widened,
)

QUERY = (
    "Tuple((f8[::1], i4[::1], f8[::1], f8[::1], i8[::1], f8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f4[:, ::1], "
    "f4[::1]))"
)
SLACK = 1e-10
MIRROR = 0.3  # found by counting the nodes visited; anything from 0.2 to 0.6 does


@inlined
def set_sides(tree, query):
    """Round the coordinates of the query and of its mirror image down and up to 32 bits."""
    middle, sides = tree[10], query[10]
    for a in range(len(middle)):
        value = query[0][a]
        mirrored = middle[a] - (value - middle[a]) / MIRROR
        sides[0, a], sides[1, a] = below(value), above(value)
        sides[2, a], sides[3, a] = below(mirrored), above(mirrored)
        sides[4, a] = np.float32(value - middle[a])


@inlined
def set_code_ranges(space, query, b, most):
    """Prepare the range minima (or, if ``most``, maxima) of the row of one of the query's codes."""
    m = space[5][b]
    first = space[4][b] + query[1][b] * m
    set_ranges(space[3][first : first + m], query[5][query[6][b] :], most)


@inlined
def set_all_ranges(space, query, most):
    """Prepare the range minima (or, if ``most``, maxima) of the rows of the query's codes."""
    for b in range(len(query[1])):
        if space[5][b] > 0:
            set_code_ranges(space, query, b, most)


@makes_no_array()
def most_of_codes(space, query):
    """The most that codes can add to a distance from the query."""
    size, unequal = space[5], space[6]
    ranges, range_start, logs = query[5], query[6], query[7]
    total = 0.0
    for b in range(len(query[1])):
        m = size[b]
        if m > 0:
            at = range_start[b] + logs[m] * m
            total += max(ranges[at], ranges[at + m - (np.int64(1) << logs[m])])
        else:
            total += unequal[b]
    return total


@inlined
def needed(query, best):
    """What the numbers must come to for the distance to reach the best."""
    return best if len(query[1]) == 0 else best - query[9][0] - SLACK * (abs(best) + query[9][0])


@inlined
def _code_bounds(space, tree, query, g, most, some):
    """Add the smallest (or largest) terms of the codes in the boxes of node g whose bits are set."""
    size, unequal = space[5], space[6]
    ranges, range_start, logs = query[5], query[6], query[7]
    out = query[2]
    for b in range(tree[2].shape[1]):
        value = query[1][b]
        low, high = tree[2][g, b, 0], tree[2][g, b, 1]
        first, m, far = range_start[b], size[b], unequal[b]
        left = some
        while left != 0:
            j = lowest_bit(left)
            left &= left - 1
            x, y = np.int64(low[j]), np.int64(high[j])
            if m > 0:
                level = logs[y - x + 1]
                at = first + level * m
                one, two = ranges[at + x], ranges[at + y + 1 - (np.int64(1) << level)]
                term = (one if one > two else two) if most else (one if one < two else two)
            elif most:
                term = 0.0 if x == value and y == value else far
            else:
                term = 0.0 if x <= value and value <= y else far
            out[j] += term


@inlined
def lower_bounds(space, gaps, tree, query, g, limit):
    """The smallest δ² of the query and a point in each box of node g; returns which are within the limit."""
    p, under, over = tree[1].shape[1], query[10][0], query[10][1]
    total = filled(np.float32(0.0))
    for a in range(p):
        if not gaps[a]:
            total = add_near(total, tree[1], (g * p + a) * 2 * WIDE, under[a], over[a])
        else:
            value, far, low, high, term = query[0][a], space[1][a], tree[1][g, a, 0], tree[1][g, a, 1], query[11]
            for j in range(WIDE):
                some = (tree[4][g, j] >> a) & 1 == 1
                if value != value:
                    least = 0.0 if some else far
                elif low[j] > high[j]:
                    least = far
                else:
                    gap = max(low[j] - value, value - high[j], 0.0)
                    least = min(gap * gap, far) if some else gap * gap
                term[j] = np.float32(least)
            total = add(total, load(term, 0))
    total = smaller(total, filled(np.float32(LARGEST)))
    bound = scaled(np.float32(1.0 - rounding(tree)), total, np.float32(-TINY))
    some = at_most(bound, np.float32(limit + limit * 2.0**-22 + TINY))
    some &= at_least(load(tree[3], g * WIDE), np.float32(0.0))
    if some != 0:
        store(widened(bound), query[2], 0)
        if tree[2].shape[1] > 0:
            _code_bounds(space, tree, query, g, False, some)
            some &= at_most(load(query[2], 0), limit)
    return some


@inlined
def upper_bounds(space, gaps, tree, query, norm, g, best):
    """The largest δ² of the query and a point in each of the eight boxes of node g; returns which reach ``best``.

    ``norm`` is |query - middle|². The smaller of two bounds: the far corner of the box, and, with x and q counted
    from the middle, |x - q|² = (1 + u)|x|² + (1 + 1/u)|q|² - u|x + q/u|² with the largest |x| and the smallest
    distance of the box from -q/u. It is the parallelogram law for u = 1, and |x|² + |q|² - 2x·q for u towards 0.
    """
    p, under, over = tree[1].shape[1], query[10][0], query[10][1]
    corner, mirrored, missing = filled(np.float32(0.0)), filled(np.float32(0.0)), filled(np.float32(0.0))
    for a in range(p):
        if not gaps[a]:
            at = (g * p + a) * 2 * WIDE
            corner = add_far(corner, tree[1], at, under[a], over[a])
            mirrored = add_near(mirrored, tree[1], at, query[10][2, a], query[10][3, a])
        else:
            value, far, low, high, term = query[0][a], space[1][a], tree[1][g, a, 0], tree[1][g, a, 1], query[11]
            for j in range(WIDE):
                most = 0.0
                if value != value:
                    most = far if low[j] <= high[j] else 0.0
                else:
                    if low[j] <= high[j]:
                        gap = max(value - low[j], high[j] - value)
                        most = gap * gap
                    if (tree[4][g, j] >> a) & 1 == 1:
                        most = max(most, far)
                term[j] = np.float32(most)
            missing = add(missing, load(term, 0))
    norms, slack = load(tree[3], g * WIDE), rounding(tree)
    mirrored = smaller(mirrored, filled(np.float32(LARGEST)))
    less, more = np.float32(-MIRROR * (1.0 - slack)), np.float32((1.0 + 1.0 / MIRROR) * (1.0 + slack) * norm + TINY)
    bound = combined(np.float32((1.0 + MIRROR) * (1.0 + slack)), norms, less, mirrored, more)
    once = np.float32(1.0 + slack)
    bound = smaller(scaled(once, corner, np.float32(TINY)), bound)
    bound = add(bound, scaled(once, missing, np.float32(0.0)))
    need = needed(query, best)
    some = at_least(bound, np.float32(need - abs(need) * 2.0**-22)) & at_least(norms, np.float32(0.0))
    if some != 0:
        store(widened(bound), query[2], 0)
        if tree[2].shape[1] > 0:
            _code_bounds(space, tree, query, g, True, some)
            some &= at_least(load(query[2], 0), best)
    return some
