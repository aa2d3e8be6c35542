# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""An exact search for the farthest combination of values, from which combinations are removed one by one.

The tree is that of ``_record_tree_kernels.py`` with large leaves, since bounds on sums of semantic distances are loose;
codes are numbered by marginality: a run of codes is about equally far.

leaves = (who, place, count, numbers, codes)
    The combinations leaf by leaf, the first ``count`` of each leaf not removed; the place of each combination; and
    their numbers and codes in this order, one row per attribute.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ._record_tree_kernels import BOXES, SPACE, TREE, bound_of, fit_node, set_ranges
from ._swap_kernels import draw

LEAVES = "Tuple((i4[::1], i4[::1], i8[::1], f8[:, ::1], i4[:, ::1]))"


@kernel()
def _fit(boxes, leaves, leaf):
    """Fit the box of a leaf to what is left in it."""
    low, high, code_low, code_high, gone, count = boxes
    total, u = len(leaves[2]), len(leaves[0])
    node, first = leaf + total, leaf * u // total
    stop = first + leaves[2][leaf]
    gone[node], count[node] = 0, leaves[2][leaf]
    for a in range(low.shape[1]):
        lowest, highest = np.inf, -np.inf
        for value in leaves[3][a, first:stop]:
            if value != value:
                gone[node] |= np.int64(1) << a
            else:
                lowest, highest = min(lowest, value), max(highest, value)
        low[node, a], high[node, a] = lowest, highest
    for b in range(code_low.shape[1]):
        least, most = np.int32(0x7FFFFFFF), np.int32(-1)
        for code in leaves[4][b, first:stop]:
            least, most = min(least, code), max(most, code)
        code_low[node, b], code_high[node, b] = least, most


@kernel()
def remove(boxes, leaves, leaf_of, u):
    """Remove a combination."""
    who, place, count, numbers, codes = leaves
    leaf = np.int64(leaf_of[u])
    count[leaf] -= 1
    at, last = np.int64(place[u]), leaf * len(who) // len(count) + count[leaf]
    other = who[last]
    who[at], who[last], place[u], place[other] = other, np.int32(u), np.int32(last), np.int32(at)
    for a in range(len(numbers)):
        numbers[a, at] = numbers[a, last]
    for b in range(len(codes)):
        codes[b, at] = codes[b, last]
    _fit(boxes, leaves, leaf)
    node = (leaf + len(count)) >> 1
    while node > 0:
        fit_node(boxes, node)
        node >>= 1


@kernel(f"void({SPACE}, {TREE}, {BOXES}, {LEAVES}, i8[::1])")
def settle(space, tree, boxes, leaves, weights):
    """Put the combinations that have a weight into their leaves, and fit all boxes."""
    who, place, count, numbers, codes = leaves
    total, u = len(count), len(who)
    for leaf in range(total):
        first, stop = leaf * u // total, (leaf + 1) * u // total
        at, end = first, stop
        for i in range(first, stop):
            one = tree[0][i]
            if weights[one] == 0:
                end -= 1
            here = at if weights[one] else end
            at += 1 if weights[one] else 0
            who[here], place[one] = one, np.int32(here)
            for a in range(len(numbers)):
                numbers[a, here] = space[0][one, a]
            for b in range(len(codes)):
                codes[b, here] = space[2][one, b]
        count[leaf] = at - first
        _fit(boxes, leaves, leaf)
    for node in range(total - 1, 0, -1):
        fit_node(boxes, node)


@kernel()
def _distances(space, leaves, query, first, stop, out):
    """The distances of the query and the combinations at some places, added up as `squared` does."""
    far, tables, start, size, unequal = space[1], space[3], space[4], space[5], space[6]
    numbers, codes = leaves[3], leaves[4]
    out[: stop - first] = 0.0
    for a in range(len(numbers)):
        value, row = query[0][a], numbers[a, first:stop]
        for i in range(len(row)):
            gap = row[i] - value
            if gap == gap:
                out[i] += gap * gap
            elif value == value or row[i] == row[i]:
                out[i] += far[a]
    for b in range(len(codes)):
        code, row = query[1][b], codes[b, first:stop]
        if size[b] > 0:
            terms = tables[start[b] + code * size[b] : start[b] + (code + 1) * size[b]]
            for i in range(len(row)):
                out[i] += terms[row[i]]
        else:
            for i in range(len(row)):
                out[i] += unequal[b] if row[i] != code else 0.0


@kernel()
def farthest(space, boxes, leaves, query, weights, room, chosen, best, most, state):
    """A random one of the combinations farthest away, and its distance.

    ``chosen`` is one that is known, at the distance ``best``; the largest is known to be at most ``most``.
    """
    who, count, bound, node = leaves[0], leaves[2], query[5], query[6]
    total, u = len(count), len(who)
    set_ranges(space, query, True)
    bound[0], node[0], depth = np.inf, 1, np.int64(1)
    while depth > 0 and best < most:
        depth -= 1
        if bound[depth] <= best:
            continue
        g = node[depth]
        if g < total:
            x, y = 2 * g, 2 * g + 1
            far_x = bound_of(space, boxes, query, x, True) if boxes[5][x] > 0 else -1.0
            far_y = bound_of(space, boxes, query, y, True) if boxes[5][y] > 0 else -1.0
            if far_x > far_y or (far_x == far_y and draw(state, 2) == 0):
                x, y, far_x, far_y = y, x, far_y, far_x
            if far_x > best:
                bound[depth], node[depth] = far_x, x
                depth += 1
            if far_y > best:
                bound[depth], node[depth] = far_y, y
                depth += 1
            continue
        first = (g - total) * u // total
        stop = first + count[g - total]
        _distances(space, leaves, query, first, stop, room)
        highest = best
        for i in range(stop - first):
            highest = room[i] if room[i] > highest else highest
        if highest > best:
            best, heavy = highest, np.int64(0)
            for i in range(stop - first):
                if room[i] == best:
                    one = np.int64(who[first + i])
                    heavy += weights[one]
                    if draw(state, heavy) < weights[one]:
                        chosen = one
    return chosen, best
