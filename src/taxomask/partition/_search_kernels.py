# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Exact searches in the tree of ``_tree_kernels.py``: the nearest records of a query, and the farthest point."""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._bound_kernels import lower_bounds, most_of_codes, needed, set_all_ranges, set_sides, upper_bounds
from ._points_kernels import offer
from ._short_kernels import blurring, norm_of, not_farther, not_nearer, short_numbers
from ._tree_kernels import WIDE, first_child, parent
from ._vectors import add, add_squares, at_least, at_most, filled, load, lowest_bit, prefetch, store


@inlined
def eight_numbers(space, gaps, numbers, query, row):
    """The part of the numbers in δ² of the query and eight points."""
    p, far, term, total = numbers.shape[1], space[1], query[2], filled(0.0)
    for a in range(p):
        value = query[0][a]
        if not gaps[a]:
            total = add_squares(total, numbers, (row * p + a) * WIDE, value)
        else:
            eight = numbers[row, a]
            for i in range(WIDE):
                gap = eight[i] - value
                if gap == gap:
                    term[i] = gap * gap
                else:
                    term[i] = far[a] if value == value or eight[i] == eight[i] else 0.0
            total = add(total, load(term, 0))
    return total


@inlined
def _leaf_numbers(space, gaps, tree, query, leaf):
    """The part of the numbers in δ² of the query and the points of a leaf: the first eight, and the others."""
    one = eight_numbers(space, gaps, tree[5], query, 2 * leaf)
    if tree[7][leaf] <= WIDE:
        return one, one
    return one, eight_numbers(space, gaps, tree[5], query, 2 * leaf + 1)


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
    add_codes(space, tree[6], query, leaf, (np.int64(1) << tree[7][leaf]) - 1)


@inlined
def _fetch(tree, g):
    """Bring the numbers of a leaf that will be looked at soon closer."""
    leaf, p = g - tree[0][1], tree[5].shape[1]
    if leaf >= 0 and len(tree[11]) > 0:
        for a in range(0, p, 2):
            prefetch(tree[11], (2 * leaf * p + a) * WIDE)


@inlined
def _near_leaf(space, gaps, tree, points, query, near, have, want, leaf, reach):
    if reach < np.inf:
        some = at_most(short_numbers(gaps, tree, query, leaf, 0), reach)
        if tree[7][leaf] > WIDE:
            some |= at_most(short_numbers(gaps, tree, query, leaf, 1), reach) << WIDE
        if some & ((np.int64(1) << tree[7][leaf]) - 1) == 0:
            return have
    one, two = _leaf_numbers(space, gaps, tree, query, leaf)
    out, who = query[2], tree[8][leaf]
    limit = near[0][want - 1] if have == want else np.inf
    some = at_most(one, limit) | (at_most(two, limit) << WIDE)
    some &= (np.int64(1) << tree[7][leaf]) - 1
    if some != 0:
        store(one, out, 0)
        store(two, out, WIDE)
        add_codes(space, tree[6], query, leaf, some)
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


@makes_no_array()
def nearest(space, gaps, tree, points, query, near, want, leaf):
    """The list of the ``want`` nearest records of a query, from a leaf close to it upwards."""
    shape, bound, node, top = tree[0], query[3], query[4], query[8]
    set_all_ranges(space, query, False)
    set_sides(tree, query)
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


@makes_no_array()
def farthest(space, gaps, tree, points, query):
    """The point farthest from a query."""
    shape, bound, node = tree[0], query[3], query[4]
    head, records = points[0], points[2]
    set_all_ranges(space, query, True)
    set_sides(tree, query)
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
                if tree[7][leaf] > WIDE:
                    some |= at_least(short_numbers(gaps, tree, query, leaf, 1), reach) << WIDE
                if some & ((np.int64(1) << tree[7][leaf]) - 1) == 0:
                    continue
            one, two = _leaf_numbers(space, gaps, tree, query, leaf)
            who = tree[8][leaf]
            need = needed(query, best)
            some = at_least(one, need) | (at_least(two, need) << WIDE)
            some &= (np.int64(1) << tree[7][leaf]) - 1
            if some != 0:
                store(one, out, 0)
                store(two, out, WIDE)
                add_codes(space, tree[6], query, leaf, some)
            while some != 0:
                i = lowest_bit(some)
                some &= some - 1
                t = np.int64(who[i])
                record = np.int64(records[head[t]])
                if out[i] > best or (out[i] == best and record < best_record):
                    best, best_record, best_point = out[i], record, t
            reach = not_nearer(tree, needed(query, best), blur)
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
