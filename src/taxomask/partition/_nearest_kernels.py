# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Nearest points of many queries, all that are equally near, in the tree of ``_tree_kernels.py``.

``gaps`` are the numbers that are missing in some point or some query. ``slack`` is 1e-14·M: see `Nearest`.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ..records._kernels import squared as squared_distance
from ._bound_kernels import QUERY, lower_bounds, set_code_ranges
from ._centre_kernels import SPACE
from ._search_kernels import add_codes, eight_numbers
from ._tree_kernels import TREE, WIDE, above, below, first_child
from ._vectors import at_most, load, lowest_bit, store

_QUERIES = "f8[:, ::1], i4[:, ::1]"


@inlined
def _set(space, query, numbers, codes, i):
    """Make record i of the queries the query. Queries with equal codes in a row share the minima of their ranges."""
    for a in range(len(query[0])):
        value = numbers[i, a]
        query[0][a] = value
        query[10][0, a], query[10][1, a] = below(value), above(value)
    for b in range(len(query[1])):
        if query[1][b] != codes[i, b]:
            query[1][b] = codes[i, b]
            set_code_ranges(space, query, b, False)


@inlined
def _open(space, gaps, tree, query, g, limit, depth):
    """Stack the children of node g that may hold something within the limit, the nearest on top."""
    bound, node, out = query[3], query[4], query[2]
    some = lower_bounds(space, gaps, tree, query, g, limit)
    first, base = first_child(tree[0], g), depth
    while some != 0:
        j = lowest_bit(some)
        some &= some - 1
        at = depth
        while at > base and bound[at - 1] < out[j]:
            bound[at] = bound[at - 1]
            node[at] = node[at - 1]
            at -= 1
        bound[at] = out[j]
        node[at] = first + j
        depth += 1
    return depth


@inlined
def _within(space, gaps, tree, query, leaf, limit):
    """Which points of a leaf are within the limit; their δ² is in the query's room."""
    one = eight_numbers(space, gaps, tree[5], query, 2 * leaf)
    two = one
    if tree[7][leaf] > WIDE:
        two = eight_numbers(space, gaps, tree[5], query, 2 * leaf + 1)
    store(one, query[2], 0)
    store(two, query[2], WIDE)
    some = (at_most(one, limit) | (at_most(two, limit) << WIDE)) & ((np.int64(1) << tree[7][leaf]) - 1)
    if tree[6].shape[1] > 0 and some != 0:
        add_codes(space, tree[6], query, leaf, some)
        some &= at_most(load(query[2], 0), limit) | (at_most(load(query[2], WIDE), limit) << WIDE)
    return some


@inlined
def _to_place(space, tree, query, leaf, i):
    """δ² of the query and point i of a leaf."""
    far, tables, start, size, unequal = space[1], space[3], space[4], space[5], space[6]
    total = 0.0
    for a in range(tree[5].shape[1]):
        x, y = tree[5][2 * leaf + i // WIDE, a, i % WIDE], query[0][a]
        gap = x - y
        if gap == gap:
            total += gap * gap
        elif x == x or y == y:
            total += far[a]
    for b in range(tree[6].shape[1]):
        x, y = tree[6][leaf, b, i], query[1][b]
        if size[b] > 0:
            total += tables[start[b] + y * size[b] + x]
        elif x != y:
            total += unequal[b]
    return total


@inlined
def _reach(squared, slack):
    """The largest δ² that is a tie with the smallest one; it grows with that."""
    far = np.sqrt(squared) * (1.0 + 1e-12) + slack
    return max(far * far, squared)


@makes_no_array("void(f8[::1], f8, f8[::1])")
def reach(squared, slack, out):
    """The largest δ² that is a tie with each smallest one."""
    for i in range(len(out)):
        out[i] = _reach(squared[i], slack)


@inlined
def _still(best, last, count, limit):
    """What is left of the ties, whose δ² are from ``best`` to ``last``, within a smaller limit; -1 if it is unsure."""
    if count == 0 or best > limit:
        return np.int64(0)
    return count if last <= limit else np.int64(-1)


@makes_no_array(f"void({SPACE}, b1[::1], {TREE}, {QUERY}, i8[::1], f8, {_QUERIES}, i4[::1], f8[::1], f8[::1], i8[::1])")
def nearest(space, gaps, tree, query, weight, slack, numbers, codes, order, squared, last, ties):
    """δ² of each query and the nearest point, and the weight of all points that are ties, with the largest δ² of these.

    A search goes on with what was found elsewhere: ``squared`` is the smallest δ² so far, or the largest that counts.
    When a smaller one is found, ties may cease to be ties. Mostly all or none do; where it is unsure how many are left,
    the weight is -1. What was nearest to a query is a good guess for the next one if the order is one of neighbours.
    """
    inner, bound, node, out = tree[0][1], query[3], query[4], query[2]
    query[1][:] = -1
    best_leaf, best_place = np.int64(-1), np.int64(0)
    for at in range(len(order)):
        i = order[at]
        _set(space, query, numbers, codes, i)
        best, widest, count = squared[i], last[i], ties[i]
        guess = best if best_leaf < 0 else _to_place(space, tree, query, best_leaf, best_place)
        limit = _reach(min(best, guess), slack)
        if guess < best:
            count = _still(best, widest, count, limit)
            best = guess
        bound[0], node[0], depth = 0.0, 0, np.int64(1)
        while depth > 0:
            depth -= 1
            if bound[depth] > limit:
                continue
            g = node[depth]
            if g < inner:
                depth = _open(space, gaps, tree, query, g, limit, depth)
                continue
            leaf = g - inner
            some = _within(space, gaps, tree, query, leaf, limit)
            who = tree[8][leaf]
            while some != 0:
                j = lowest_bit(some)
                some &= some - 1
                away = out[j]
                if away < best:
                    limit = _reach(away, slack)
                    count = _still(best, widest, count, limit)
                    best = away
                    best_leaf, best_place = leaf, j
                if away <= limit and count >= 0:
                    widest = max(widest, away) if count > 0 else away
                    count += weight[who[j]]
        squared[i], last[i], ties[i] = best, widest, count


@makes_no_array("void(f8[:, ::1], i4[:, ::1], f8[::1], f8[::1], i8[::1], i8, u8[::1])")
def curve(numbers, codes, low, scale, bits, fine, keys):
    """Keys whose order is one of neighbours: the codes, then the numbers interleaved bit by bit, then the position.

    Codes take ``bits`` each (attributes with none are left out), numbers ``fine`` each.
    """
    p = numbers.shape[1]
    top = float((np.int64(1) << fine) - 1)
    for i in range(len(keys)):
        key = np.uint64(0)
        for b in range(codes.shape[1]):
            key = (key << np.uint64(bits[b])) | (np.uint64(codes[i, b]) & np.uint64((np.int64(1) << bits[b]) - 1))
        base = fine * p
        key <<= np.uint64(base)
        for a in range(p):
            value = (numbers[i, a] - low[a]) * scale[a]
            cell = np.uint64(min(max(value, 0.0), top)) if value == value else np.uint64(0)
            for bit in range(fine):
                key |= ((cell >> np.uint64(bit)) & np.uint64(1)) << np.uint64(bit * p + a)
        keys[i] = (key << np.uint64(32)) | np.uint64(i)


@makes_no_array(f"i8({SPACE}, b1[::1], {TREE}, {QUERY}, {_QUERIES}, f8[::1], i8, i4[::1], i8[::1])")
def within(space, gaps, tree, query, numbers, codes, squared, i, found, end):
    """The points within ``squared`` of each query, from query i on, for as many queries as there is room.

    The points of query i are ``found[end[i - 1]:end[i]]``. Returns the query to go on with.
    """
    inner, node = tree[0][1], query[4]
    query[1][:] = -1
    used = np.int64(0)
    while i < len(squared):
        _set(space, query, numbers, codes, i)
        node[0], depth = 0, np.int64(1)
        while depth > 0:
            depth -= 1
            g = node[depth]
            if g < inner:
                depth = _open(space, gaps, tree, query, g, squared[i], depth)
                continue
            some = _within(space, gaps, tree, query, g - inner, squared[i])
            who = tree[8][g - inner]
            while some != 0:
                j = lowest_bit(some)
                some &= some - 1
                if used == len(found):
                    return i
                found[used] = who[j]
                used += 1
        end[i] = used
        i += 1
    return i


@makes_no_array(f"void({SPACE}, {_QUERIES}, i8[::1], f8[::1])")
def between(space, numbers, codes, record, out):
    """δ² of each query and the record that belongs to it."""
    for i in range(len(out)):
        out[i] = squared_distance(*space, numbers[i], codes[i], record[i])


@inlined
def _held(tree, until, node):
    """The weight of all points below a node."""
    first, last = node, node
    while first < tree[0][1]:
        first, last = first_child(tree[0], first), first_child(tree[0], last) + WIDE - 1
    return until[last - tree[0][1] + 1] - until[first - tree[0][1]]


@makes_no_array(f"void({SPACE}, {TREE}, {QUERY}, i8[::1], i8[::1], f8[:, ::1], f8[:, ::1], i4[:, ::1], i8[::1])")
def count_inside(space, tree, query, weight, until, low, high, codes, out):
    """The weight of the points whose numbers are within [low, high] and whose codes have the term 0, for each query.

    ``until`` is the weight of all points before each leaf. Codes without a table match if equal or if either is 0.
    Nothing is missing.
    """
    tables, start, size = space[3], space[4], space[5]
    ranges, range_start, logs = query[5], query[6], query[7]
    inner, node, count = tree[0][1], query[4], tree[7]
    p, q = tree[5].shape[1], tree[6].shape[1]
    query[1][:] = -1
    for i in range(len(out)):
        _set(space, query, low, codes, i)
        total, depth = np.int64(0), np.int64(1)
        node[0] = 0
        while depth > 0:
            depth -= 1
            g = node[depth]
            if g >= inner:
                leaf = g - inner
                for j in range(count[leaf]):
                    inside = True
                    for a in range(p):
                        value = tree[5][2 * leaf + j // WIDE, a, j % WIDE]
                        inside &= low[i, a] <= value and value <= high[i, a]
                    for b in range(q):
                        code, other = codes[i, b], tree[6][leaf, b, j]
                        if size[b] > 0:
                            inside &= tables[start[b] + code * size[b] + other] == 0.0
                        else:
                            inside &= code == other or code == 0 or other == 0
                    if inside:
                        total += weight[tree[8][leaf, j]]
                continue
            first = first_child(tree[0], g)
            for j in range(WIDE):
                if tree[3][g, j] < 0:
                    continue
                meets, inside = True, True
                for a in range(p):
                    x, y = tree[1][g, a, 0, j], tree[1][g, a, 1, j]
                    meets &= x <= high[i, a] and low[i, a] <= y
                    inside &= low[i, a] <= x and y <= high[i, a]
                for b in range(q):
                    left, right = np.int64(tree[2][g, b, 0, j]), np.int64(tree[2][g, b, 1, j])
                    if size[b] > 0:
                        level = logs[right - left + 1]
                        at = range_start[b] + level * size[b]
                        meets &= min(ranges[at + left], ranges[at + right + 1 - (np.int64(1) << level)]) == 0.0
                    else:
                        meets &= codes[i, b] == 0 or left == 0 or (left <= codes[i, b] and codes[i, b] <= right)
                    inside &= left == right
                if meets and inside:
                    total += _held(tree, until, first + j)
                elif meets:
                    node[depth] = first + j
                    depth += 1
        out[i] = total
