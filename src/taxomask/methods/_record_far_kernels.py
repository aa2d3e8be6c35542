# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""An exact search for the farthest combination of values, from which combinations are removed one by one.

The tree is that of ``_record_tree_kernels.py`` with large leaves, since bounds on sums of semantic distances are loose;
codes are numbered by marginality: a run of codes is about equally far.

leaves = (place, count)
    The place of each combination in the order of the tree; in each leaf, the first ``count`` are not removed.
known = (most, witness)
    For each combination the largest distance of another, which can only fall, and one that has it.
ties = (members, lists, used)
    The combinations at the largest distance, where they are few: listed until there is no room left. lists[u] = (the
    first entry or -1, their number).
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ._record_query_kernels import BOXES, QUERY, SPACE, TREE, ask, away, bound_of, leaf_distances, set_ranges
from ._record_tree_kernels import fit, refit
from ._swap_kernels import any_free, draw

LEAVES = "Tuple((i4[::1], i8[::1]))"
TIES = "Tuple((i4[::1], i8[:, ::1], i8[::1]))"
FAR = f"Tuple(({SPACE}, {TREE}, {BOXES}, {QUERY}, {LEAVES}, f8[::1], Tuple((f8[::1], i4[::1])), {TIES}))"

_FEW, _MANY = 12, 256


@makes_no_array()
def _put_last(tree, leaves, u):
    """Exchange a combination with the last of its leaf, which has one less then."""
    order, leaf_of, numbers, codes = tree
    place, count = leaves
    leaf = np.int64(leaf_of[u])
    count[leaf] -= 1
    at, last = np.int64(place[u]), leaf * len(order) // len(count) + count[leaf]
    other = order[last]
    order[at], order[last], place[u], place[other] = other, np.int32(u), np.int32(last), np.int32(at)
    for a in range(len(numbers)):
        numbers[a, at], numbers[a, last] = numbers[a, last], numbers[a, at]
    for b in range(len(codes)):
        codes[b, at], codes[b, last] = codes[b, last], codes[b, at]


@makes_no_array()
def remove(tree, boxes, leaves, weights, u):
    """Remove a combination, which has lost its weight."""
    _put_last(tree, leaves, u)
    refit(tree, boxes, weights, u)


@makes_no_array(f"void({TREE}, {BOXES}, {LEAVES}, i8[::1])")
def settle(tree, boxes, leaves, weights):
    """Remove the combinations that have no weight, and fit all boxes."""
    order, place, count = tree[0], leaves[0], leaves[1]
    total, n = len(count), len(order)
    for i in range(n):
        place[order[i]] = np.int32(i)
    for leaf in range(total):
        count[leaf] = (leaf + 1) * n // total - leaf * n // total
    for u in range(n):
        if weights[u] == 0:
            _put_last(tree, leaves, u)
    fit(tree, boxes, weights)


@makes_no_array()
def _search(far, chosen, best, most, listed):
    """One of the combinations farthest away, its distance, and how many as far away were seen; if ``listed``, all are.

    ``chosen`` is one that is known, at the distance ``best``; the largest is known to be at most ``most``.
    """
    space, tree, boxes, query, leaves, room, _, ties = far
    order, count, bound, node = tree[0], leaves[1], query[5], query[6]
    total, u, seen = len(count), len(order), np.int64(0)
    set_ranges(space, query, True)
    bound[0], node[0], depth = np.inf, 1, np.int64(1)
    while depth > 0 and (listed or best < most):
        depth -= 1
        if bound[depth] < best or (bound[depth] == best and not listed):
            continue
        g = node[depth]
        if g < total:
            x, y = 2 * g, 2 * g + 1
            far_x = bound_of(space, boxes, query, x, True) if boxes[5][x] > 0 else -1.0
            far_y = bound_of(space, boxes, query, y, True) if boxes[5][y] > 0 else -1.0
            if far_x > far_y:
                x, y, far_x, far_y = y, x, far_y, far_x
            if far_x > best or (far_x == best and listed):
                bound[depth], node[depth] = far_x, x
                depth += 1
            if far_y > best or (far_y == best and listed):
                bound[depth], node[depth] = far_y, y
                depth += 1
            continue
        first = (g - total) * u // total
        stop = first + count[g - total]
        leaf_distances(space, tree, query, first, stop, room)
        highest = -1.0
        for i in range(stop - first):
            highest = room[i] if room[i] > highest else highest
        if highest < best:
            continue
        if highest > best:
            best, seen = highest, np.int64(0)
        for i in range(stop - first):
            if room[i] == best:
                chosen = np.int64(order[first + i])
                if listed:
                    ties[0][ties[2][0] + seen] = order[first + i]
                seen += 1
    return chosen, best, seen


@makes_no_array()
def _list_ties(far, u):
    """List the combinations at the largest distance from a combination; there is room for every single list."""
    members, lists, used = far[7]
    if used[0] + len(lists) > len(members):  # start anew
        used[0] = 0
        lists[:, 0] = -1
    lists[u, 0] = used[0]
    _, _, lists[u, 1] = _search(far, np.int64(-1), far[6][0][u], np.inf, True)
    used[0] += lists[u, 1]


@makes_no_array()
def _one_listed(anything, weights, start, members, entry, state):
    """A random one of the places of the combinations in a list, or -1 if there is none left."""
    total, at = np.int64(0), entry[0]
    for i in range(entry[0], entry[0] + entry[1]):
        members[at] = members[i]
        total += weights[members[at]]
        at += weights[members[at]] > 0
    entry[1] = at - entry[0]
    if total == 0:
        return np.int64(-1)
    j, i = draw(state, total), entry[0]
    while j >= weights[members[i]]:
        j -= weights[members[i]]
        i += 1
    v = np.int64(members[i])
    return any_free(anything, start[v], start[v + 1], weights[v], state)


@makes_no_array()
def next_reference(far, anything, weights, start, combination, left, u, state):
    """A random one of the records farthest from a combination: from a list of few, or by trying many."""
    space, query, (most, witness), (members, lists, _) = far[0], far[3], far[6], far[7]
    ask(space, query, u)
    if lists[u, 0] >= 0:
        place = _one_listed(anything, weights, start, members, lists[u], state)
        if place >= 0:
            return place
        lists[u, 0] = -1
    tries = _MANY
    if witness[u] < 0 or weights[witness[u]] == 0:
        v, best = np.int64(-1), -1.0
        for _ in range(_FEW):
            one = np.int64(combination[any_free(anything, 0, start[-1], left, state)])
            distance = away(space, query, one)
            if distance > best:
                v, best = one, distance
            if best >= most[u]:
                break
        witness[u], seen = v, np.int64(0)
        if best < most[u]:
            witness[u], most[u], seen = _search(far, v, best, most[u], False)
        if most[u] > best and seen == 1:  # probably the only one
            tries = 0
    for _ in range(tries):
        place = any_free(anything, 0, start[-1], left, state)
        if away(space, query, combination[place]) == most[u]:
            return place
    _list_ties(far, u)
    return _one_listed(anything, weights, start, members, lists[u], state)
