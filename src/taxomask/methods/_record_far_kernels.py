# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""An exact search for the farthest combination of values, from which combinations are removed one by one.

far = (index, known, ties)
    The tree of combinations in which codes are numbered by marginality: a run of codes is about equally far.
index = (space, gaps, tree, query)
    Combinations as points of the tree of ``partition/_tree_kernels.py``, and room for a query.
known = (most, witness)
    For each combination the largest distance of another, which can only fall, and one that has it.
ties = (members, lists, used)
    The combinations at the largest distance, where they are few: listed until there is no room left. lists[u] = (the
    first entry or -1, their number).
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ..partition._bound_kernels import QUERY
from ..partition._centre_kernels import SPACE
from ..partition._ties_kernels import farthest
from ..partition._tree_kernels import TREE
from ..records._kernels import squared
from ._swap_kernels import any_free, draw

INDEX = f"Tuple(({SPACE}, b1[::1], {TREE}, {QUERY}))"
TIES = "Tuple((i4[::1], i8[:, ::1], i8[::1]))"
FAR = f"Tuple(({INDEX}, Tuple((f8[::1], i4[::1])), {TIES}))"

_FEW, _MANY = 12, 256


@makes_no_array()
def ask(index, u):
    """Make a combination the query."""
    space, query = index[0], index[3]
    for a in range(len(query[0])):
        query[0][a] = space[0][u, a]
    for b in range(len(query[1])):
        query[1][b] = space[2][u, b]


@makes_no_array()
def _away(index, u):
    """The distance (or its square) of the query and a combination."""
    space, query = index[0], index[3]
    return squared(space[0], space[1], space[2], space[3], space[4], space[5], space[6], query[0], query[1], u)


@makes_no_array()
def _search(far, chosen, best, most, first):
    """See `farthest`."""
    space, gaps, tree, query = far[0]
    return farthest(space, gaps, tree, query, chosen, best, most, far[2][0], first)


@makes_no_array()
def _list_ties(far, u):
    """List the combinations at the largest distance from a combination; there is room for every single list."""
    members, lists, used = far[2]
    if used[0] + len(lists) > len(members):  # start anew
        used[0] = 0
        lists[:, 0] = -1
    lists[u, 0] = used[0]
    _, _, lists[u, 1] = _search(far, np.int64(-1), far[1][0][u], np.inf, used[0])
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
    index, (most, witness), (members, lists, _) = far
    ask(index, u)
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
            distance = _away(index, one)
            if distance > best:
                v, best = one, distance
            if best >= most[u]:
                break
        witness[u], seen = v, np.int64(0)
        if best < most[u]:
            witness[u], most[u], seen = _search(far, v, best, most[u], np.int64(-1))
        if most[u] > best and seen == 1:  # probably the only one
            tries = 0
    for _ in range(tries):
        place = any_free(anything, 0, start[-1], left, state)
        if _away(index, combination[place]) == most[u]:
            return place
    _list_ties(far, u)
    return _one_listed(anything, weights, start, members, lists[u], state)
