# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Exact searches for all points that are equally near or far, in the tree of ``_tree_kernels.py``."""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._bound_kernels import most_of_codes, set_all_ranges, set_sides, upper_bounds
from ._nearest_kernels import opened, within_leaf
from ._search_kernels import leaf_distances
from ._short_kernels import norm_of
from ._tree_kernels import WIDE, first_child
from ._vectors import at_least, load, lowest_bit


@inlined
def _push(heap, heavy, count, distance, weight):
    """Add to a heap with the largest distance on top."""
    i = count
    while i > 0 and heap[(i - 1) // 2] < distance:
        heap[i], heavy[i] = heap[(i - 1) // 2], heavy[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i], heavy[i] = distance, weight


@inlined
def _pop(heap, heavy, count):
    """Remove the top; the heap has one less then."""
    distance, weight = heap[count - 1], heavy[count - 1]
    i = np.int64(0)
    while True:
        child = 2 * i + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= distance:
            break
        heap[i], heavy[i] = heap[child], heavy[child]
        i = child
    heap[i], heavy[i] = distance, weight


@makes_no_array()
def closest(space, gaps, tree, query, weights, want, room):
    """Collect the points within the smallest δ² that holds at least this weight; there must be as much.

    room = (heap, its weights, points found, their δ²). Returns the δ² and how many were found.
    """
    heap, heavy, found, distances = room
    inner, bound, node, out = tree[0][1], query[3], query[4], query[2]
    set_all_ranges(space, query, False)
    set_sides(tree, query)
    size, total, limit, count = np.int64(0), np.int64(0), np.inf, np.int64(0)
    bound[0], node[0], depth = 0.0, 0, np.int64(1)
    while depth > 0:
        depth -= 1
        if bound[depth] > limit:
            continue
        g = node[depth]
        if g < inner:
            depth = opened(space, gaps, tree, query, g, limit, depth)
            continue
        who = tree[8][g - inner]
        some = within_leaf(space, gaps, tree, query, g - inner, limit)
        while some != 0:
            i = lowest_bit(some)
            some &= some - 1
            distance, t = out[i], who[i]
            if distance > limit or weights[t] == 0:
                continue
            found[count], distances[count] = t, distance
            count += 1
            if distance == limit:
                continue
            _push(heap, heavy, size, distance, weights[t])
            size += 1
            total += weights[t]
            while total - heavy[0] >= want:
                total -= heavy[0]
                _pop(heap, heavy, size)
                size -= 1
            if total >= want:
                limit = heap[0]
    kept = np.int64(0)
    for i in range(count):
        if distances[i] <= limit:
            found[kept], distances[kept] = found[i], distances[i]
            kept += 1
    return limit, kept


@makes_no_array()
def farthest(space, gaps, tree, query, chosen, best, most, members, first):
    """One of the points farthest from a query, its δ², and how many as far away were seen.

    ``chosen`` is one that is known, at δ² = ``best``; the largest is known to be at most ``most``. If ``first`` is not
    negative, all points as far away are seen, and written to ``members`` from there on. Bounds on sums of semantic
    distances are loose: those of single leaves do not pay.
    """
    inner, bound, node, out = tree[0][1], query[3], query[4], query[2]
    set_all_ranges(space, query, True)
    set_sides(tree, query)
    norm, listed, seen = norm_of(gaps, tree, query), first >= 0, np.int64(0)
    query[9][0] = most_of_codes(space, query)
    bound[0], node[0], depth = np.inf, 0, np.int64(1)
    while depth > 0 and (listed or best < most):
        depth -= 1
        if bound[depth] < best or (bound[depth] == best and not listed):
            continue
        child = first_child(tree[0], node[depth])
        if child < inner:
            some, base = upper_bounds(space, gaps, tree, query, norm, node[depth], best), depth
            while some != 0:  # the farthest on top
                j = lowest_bit(some)
                some &= some - 1
                at = depth
                while at > base and bound[at - 1] > out[j]:
                    bound[at], node[at] = bound[at - 1], node[at - 1]
                    at -= 1
                bound[at], node[at] = out[j], child + j
                depth += 1
            continue
        for leaf in range(child - inner, min(child - inner + WIDE, tree[0][0])):
            if tree[7][leaf] == 0:
                continue
            leaf_distances(space, gaps, tree, query, leaf)
            some = at_least(load(out, 0), best) | (at_least(load(out, WIDE), best) << WIDE)
            some &= (np.int64(1) << tree[7][leaf]) - 1
            while some != 0:
                i = lowest_bit(some)
                some &= some - 1
                if out[i] > best:
                    best, seen = out[i], np.int64(0)
                if out[i] == best:
                    chosen = np.int64(tree[8][leaf, i])
                    if listed:
                        members[first + seen] = tree[8][leaf, i]
                    seen += 1
    return chosen, best, seen
