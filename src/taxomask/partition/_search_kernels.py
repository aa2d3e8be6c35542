# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Exact searches in the tree of ``_tree_kernels.py``: the nearest records of a query, and the farthest point.

Bounds by numbers are computed in 32 bits from boxes rounded outwards, with slack for what rounding may have added or
taken. Those by codes are added to them in the order in which distances are added up: rounding is monotone, so that
records at equal distance are all seen.

query = (number, code, lane, bound, node, ranges, range_start, logs, top, most, sides): the coordinates, room for the
distances of 16 points or the bounds of 8 boxes, a stack of nodes, the minima or maxima of each run of 2^l codes in the
query's rows, the most that codes can add, and the sides: the 32-bit numbers below and above each coordinate, and below
and above the coordinate mirrored in the middle (see ``upper_bounds``), and the coordinate less the middle.
"""

from __future__ import annotations

import numpy as np

from ._lean import inlined, lean
from ._points_kernels import offer
from ._short_kernels import TINY, blurring, norm_of, not_farther, not_nearer, rounding, short_numbers
from ._tree_kernels import LARGEST, LEAF, WIDE, above, below, first_child, parent
from ._vectors import (
    add,
    add_far,
    add_near,
    add_squares,
    at_least,
    at_most,
    combined,
    filled,
    load,
    lowest_bit,
    prefetch,
    short_zeros,
    smaller,
    store,
    widened,
)

QUERY = "Tuple((f8[::1], i4[::1], f8[::1], f8[::1], i8[::1], f8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f4[:, ::1]))"
SLACK = 1e-10
MIRROR = 0.3  # found by counting the nodes visited; anything from 0.2 to 0.6 does


@lean()
def set_ranges(space, query, most):
    """Prepare the range minima (or, if ``most``, maxima) of the rows of the query's codes."""
    tables, start, size = space[3], space[4], space[5]
    code, ranges, range_start = query[1], query[5], query[6]
    for b in range(len(code)):
        m = size[b]
        if m == 0:
            continue
        begin, first = range_start[b], start[b] + code[b] * m
        for y in range(m):
            ranges[begin + y] = tables[first + y]
        step = 1
        while 2 * step <= m:
            above, below = ranges[begin + m : begin + 2 * m], ranges[begin : begin + m]
            stop = m - 2 * step + 1
            left, right = below[:stop], below[step : step + stop]
            if most:
                for y in range(stop):
                    above[y] = left[y] if left[y] > right[y] else right[y]
            else:
                for y in range(stop):
                    above[y] = left[y] if left[y] < right[y] else right[y]
            begin += m
            step *= 2


@lean()
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
def _needed(query, best):
    """What the numbers must come to for the distance to reach the best."""
    return best if len(query[1]) == 0 else best - query[9][0] - SLACK * (abs(best) + query[9][0])


@inlined
def eight_numbers(space, gaps, numbers, query, leaf, first):
    """The part of the numbers in δ² of the query and the points first..first + 8 of a leaf."""
    p, far, term, total = numbers.shape[1], space[1], query[2], filled(0.0)
    for a in range(p):
        value = query[0][a]
        if not gaps[a]:
            total = add_squares(total, numbers, (leaf * p + a) * LEAF + first, value)
        else:
            row = numbers[leaf, a, first:]
            for i in range(WIDE):
                gap = row[i] - value
                if gap == gap:
                    term[i] = gap * gap
                else:
                    term[i] = far[a] if value == value or row[i] == row[i] else 0.0
            total = add(total, load(term, 0))
    return total


@inlined
def _leaf_numbers(space, gaps, tree, query, leaf):
    """The part of the numbers in δ² of the query and the points of a leaf: the first eight, and the others."""
    one = eight_numbers(space, gaps, tree[7], query, leaf, 0)
    if tree[9][leaf] <= WIDE:
        return one, one
    return one, eight_numbers(space, gaps, tree[7], query, leaf, WIDE)


@inlined
def add_codes(space, codes, query, leaf, some):
    """Add the part of the codes, for the points of a leaf whose bits are set."""
    tables, start, size, unequal = space[3], space[4], space[5], space[6]
    out = query[2]
    for b in range(codes.shape[1]):
        value = query[1][b]
        row = codes[leaf, b]
        first, term = start[b] + value * size[b], unequal[b]
        left = some
        while left != 0:
            i = lowest_bit(left)
            left &= left - 1
            if size[b] > 0:
                out[i] += tables[first + row[i]]
            elif row[i] != value:
                out[i] += term


@inlined
def leaf_distances(space, gaps, tree, query, leaf):
    """δ² of the query and the points of a leaf."""
    one, two = _leaf_numbers(space, gaps, tree, query, leaf)
    store(one, query[2], 0)
    store(two, query[2], WIDE)
    add_codes(space, tree[8], query, leaf, (np.int64(1) << tree[9][leaf]) - 1)


@inlined
def _code_bounds(space, tree, query, g, most, some):
    """Add the smallest (or largest) terms of the codes in the boxes of node g whose bits are set."""
    size, unequal = space[5], space[6]
    ranges, range_start, logs = query[5], query[6], query[7]
    out = query[2]
    for b in range(tree[3].shape[1]):
        value = query[1][b]
        low, high = tree[3][g, b], tree[4][g, b]
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
def _set_sides(tree, query):
    """Round the coordinates of the query and of its mirror image down and up to 32 bits."""
    middle, sides = tree[12], query[10]
    for a in range(len(middle)):
        value = query[0][a]
        mirrored = middle[a] - (value - middle[a]) / MIRROR
        sides[0, a], sides[1, a] = below(value), above(value)
        sides[2, a], sides[3, a] = below(mirrored), above(mirrored)
        sides[4, a] = np.float32(value - middle[a])


@inlined
def _finite(total):
    """A sum of squares in 32 bits, which may have become infinite, as a lower bound."""
    return smaller(widened(total), filled(LARGEST))


@inlined
def lower_bounds(space, gaps, tree, query, g, limit):
    """The smallest δ² of the query and a point in each box of node g; returns which are within the limit."""
    p, under, over = tree[1].shape[1], query[10][0], query[10][1]
    term, total, missing = query[2], short_zeros(), filled(0.0)
    for a in range(p):
        if not gaps[a]:
            total = add_near(total, tree[1], tree[2], (g * p + a) * WIDE, under[a], over[a])
        else:
            value, far, low, high = query[0][a], space[1][a], tree[1][g, a], tree[2][g, a]
            for j in range(WIDE):
                some = (tree[6][g, j] >> a) & 1 == 1
                if value != value:
                    term[j] = 0.0 if some else far
                elif low[j] > high[j]:
                    term[j] = far
                else:
                    gap = max(low[j] - value, value - high[j], 0.0)
                    term[j] = min(gap * gap, far) if some else gap * gap
            missing = add(missing, load(term, 0))
    bound = combined(1.0 - rounding(tree), _finite(total), 1.0 - SLACK, missing, -TINY)
    some = at_most(bound, limit) & at_least(load(tree[5], g * WIDE), 0.0)
    if some != 0:
        store(bound, query[2], 0)
        if tree[3].shape[1] > 0:
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
    p, under, over, term = tree[1].shape[1], query[10][0], query[10][1], query[2]
    corner, mirrored, missing = short_zeros(), short_zeros(), filled(0.0)
    for a in range(p):
        if not gaps[a]:
            at = (g * p + a) * WIDE
            corner = add_far(corner, tree[1], tree[2], at, under[a], over[a])
            mirrored = add_near(mirrored, tree[1], tree[2], at, query[10][2, a], query[10][3, a])
        else:
            value, far, low, high = query[0][a], space[1][a], tree[1][g, a], tree[2][g, a]
            for j in range(WIDE):
                most = 0.0
                if value != value:
                    most = far if low[j] <= high[j] else 0.0
                else:
                    if low[j] <= high[j]:
                        gap = max(value - low[j], high[j] - value)
                        most = gap * gap
                    if (tree[6][g, j] >> a) & 1 == 1:
                        most = max(most, far)
                term[j] = most
            missing = add(missing, load(term, 0))
    norms, slack = load(tree[5], g * WIDE), rounding(tree)
    less, more = -MIRROR * (1.0 - slack), (1.0 + 1.0 / MIRROR) * norm
    bound = combined((1.0 + MIRROR) * (1.0 + SLACK), norms, less, _finite(mirrored), more + SLACK * more + TINY)
    bound = smaller(combined(1.0 + slack, widened(corner), 0.0, norms, TINY), bound)
    bound = combined(1.0, bound, 1.0 + SLACK, missing, 0.0)
    some = at_least(bound, _needed(query, best)) & at_least(norms, 0.0)
    if some != 0:
        store(bound, query[2], 0)
        if tree[3].shape[1] > 0:
            _code_bounds(space, tree, query, g, True, some)
            some &= at_least(load(query[2], 0), best)
    return some


@inlined
def _fetch(tree, g):
    """Bring the numbers of a leaf that will be looked at soon closer."""
    leaf, p = g - tree[0][1], tree[7].shape[1]
    if leaf >= 0 and len(tree[13]) > 0:
        for a in range(0, p, 2):
            prefetch(tree[13], (2 * leaf * p + a) * WIDE)


@inlined
def _near_leaf(space, gaps, tree, points, query, near, have, want, leaf, reach):
    if reach < np.inf:
        some = at_most(short_numbers(gaps, tree, query, leaf, 0), reach)
        if tree[9][leaf] > WIDE:
            some |= at_most(short_numbers(gaps, tree, query, leaf, 1), reach) << WIDE
        if some & ((np.int64(1) << tree[9][leaf]) - 1) == 0:
            return have
    one, two = _leaf_numbers(space, gaps, tree, query, leaf)
    out, who = query[2], tree[10][leaf]
    limit = near[0][want - 1] if have == want else np.inf
    some = at_most(one, limit) | (at_most(two, limit) << WIDE)
    some &= (np.int64(1) << tree[9][leaf]) - 1
    if some != 0:
        store(one, out, 0)
        store(two, out, WIDE)
        add_codes(space, tree[8], query, leaf, some)
    while some != 0:
        i = lowest_bit(some)
        some &= some - 1
        have = offer(points, near, have, want, np.int64(who[i]), out[i])
    return have


@inlined
def _push_near(space, gaps, tree, query, g, but, limit):
    """Stack the children of node g that may hold something within the limit, the nearest on top; returns how many."""
    bound, node = query[3], query[4]
    some = lower_bounds(space, gaps, tree, query, g, limit)
    out = query[2]
    first = first_child(tree[0], g)
    base = np.int64(query[8][0])
    depth = base
    while some != 0:
        j = lowest_bit(some)
        some &= some - 1
        if first + j == but:
            continue
        at = depth
        while at > base and bound[at - 1] < out[j]:
            bound[at] = bound[at - 1]
            node[at] = node[at - 1]
            at -= 1
        bound[at] = out[j]
        node[at] = first + j
        _fetch(tree, first + j)
        depth += 1
    query[8][0] = depth


@lean()
def nearest(space, gaps, tree, points, query, near, want, leaf):
    """The list of the ``want`` nearest records of a query, from a leaf close to it upwards."""
    shape, bound, node, top = tree[0], query[3], query[4], query[8]
    set_ranges(space, query, False)
    _set_sides(tree, query)
    have = np.int64(0)
    blur, last, reach = blurring(tree, norm_of(gaps, tree, query)), np.inf, np.float32(np.inf)
    below = leaf + shape[1]
    bound[0], node[0], top[0] = 0.0, below, 1
    while True:
        limit = near[0][want - 1] if have == want else np.inf
        if limit != last:
            last, reach = limit, not_farther(tree, limit, blur)
        but = np.int64(-1)
        if top[0] > 0:
            top[0] -= 1
            if bound[top[0]] > limit:
                continue
            g = node[top[0]]
        elif below > 0:
            but = below
            below = parent(shape, below)
            g = below
        else:
            return have
        if g >= shape[1]:
            have = _near_leaf(space, gaps, tree, points, query, near, have, want, g - shape[1], reach)
        else:
            _push_near(space, gaps, tree, query, g, but, limit)


@lean()
def farthest(space, gaps, tree, points, query):
    """The point farthest from a query."""
    shape, bound, node = tree[0], query[3], query[4]
    head, records = points[0], points[2]
    set_ranges(space, query, True)
    _set_sides(tree, query)
    norm = norm_of(gaps, tree, query)
    blur, reach = blurring(tree, norm), np.float32(0.0)
    for a in range(len(gaps)):
        if gaps[a]:
            blur = np.inf
    query[9][0] = most_of_codes(space, query)
    out = query[2]
    best, best_record, best_point = -1.0, np.int64(0), np.int64(-1)
    bound[0], node[0] = np.inf, 0
    depth = 1
    while depth > 0:
        depth -= 1
        if bound[depth] < best:
            continue
        g = node[depth]
        if g >= shape[1]:
            leaf = g - shape[1]
            if reach > 0.0:
                some = at_least(short_numbers(gaps, tree, query, leaf, 0), reach)
                if tree[9][leaf] > WIDE:
                    some |= at_least(short_numbers(gaps, tree, query, leaf, 1), reach) << WIDE
                if some & ((np.int64(1) << tree[9][leaf]) - 1) == 0:
                    continue
            one, two = _leaf_numbers(space, gaps, tree, query, leaf)
            who = tree[10][leaf]
            need = _needed(query, best)
            some = at_least(one, need) | (at_least(two, need) << WIDE)
            some &= (np.int64(1) << tree[9][leaf]) - 1
            if some != 0:
                store(one, out, 0)
                store(two, out, WIDE)
                add_codes(space, tree[8], query, leaf, some)
            while some != 0:
                i = lowest_bit(some)
                some &= some - 1
                t = np.int64(who[i])
                record = np.int64(records[head[t]])
                if out[i] > best or (out[i] == best and record < best_record):
                    best, best_record, best_point = out[i], record, t
            reach = not_nearer(tree, _needed(query, best), blur)
            continue
        some = upper_bounds(space, gaps, tree, query, norm, g, best)
        first, base = first_child(shape, g), depth
        while some != 0:
            j = lowest_bit(some)
            some &= some - 1
            at = depth
            while at > base and bound[at - 1] > out[j]:
                bound[at] = bound[at - 1]
                node[at] = node[at - 1]
                at -= 1
            bound[at] = out[j]
            node[at] = first + j
            _fetch(tree, first + j)
            depth += 1
    return best_point
