# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""Swaps between similar records (Algorithm 3), over the different combinations of values.

Places are ordered by combination, then by one random permutation of the records, ``draws``: that of each place. Row a
of ``bits`` and ``sums`` is the set of places whose value of attribute a is not yet swapped, row a of ``counts`` has
their number for each combination; the last row is of the places with anything to swap.

The k closest records of a combination never change: they are listed once, in ``pool``, until there is no room left.
list[u] = (first entry in the pool or -1, whole combinations, combinations of the border class, the combination that
gives one record more if the reference is one of the first of the border class).
``most`` is the distance of the farthest records of a combination, which can only fall, and ``witness`` a combination
that has it.
"""

from __future__ import annotations

import numpy as np

from .._jit import lean
from ._category_swap_kernels import cut
from ._record_far_kernels import LEAVES, farthest, remove
from ._record_query_kernels import BOXES, QUERY, SPACE, TREE, ask, away
from ._record_tree_kernels import closest, refit
from ._swap_kernels import any_free, draw, free_between, is_free, take

_TRIES = 12
NEAR = f"Tuple(({SPACE}, {TREE}, {BOXES}, {QUERY}))"
FAR = f"Tuple(({SPACE}, {TREE}, {BOXES}, {QUERY}, {LEAVES}, f8[::1]))"
POOL = "Tuple((i4[::1], i4[::1], i8[:, ::1], i8[::1]))"
ROOM = "Tuple((f8[::1], i8[::1], i4[::1], f8[::1], f8[::1]))"


@lean()
def _list_closest(space, tree, boxes, query, sizes, start, draws, k, u, pool, room):
    """List the k closest records of a combination: whole combinations, then the first places of the border class."""
    members, prefix, lists, used = pool
    found, distances = room[2], room[3]
    limit, count = closest(space, tree, boxes, query, sizes, k + 1, room)
    if used[0] + count > len(members):  # start anew; there is room for every single list
        used[0] = 0
        lists[:, 0] = -1
    first = used[0]
    at, need, own = first, k, False
    for i in range(count):
        if distances[i] < limit:
            members[at] = found[i]
            at += 1
            need -= sizes[found[i]]
            own |= found[i] == u
    if own:
        need += 1  # the reference is not in its own interval
    whole = at - first
    total = np.int64(0)
    for i in range(count):
        if distances[i] == limit:
            members[at] = found[i]
            at += 1
            total += sizes[found[i]]
    border = members[first + whole : at]
    for i in range(len(border)):
        prefix[first + whole + i] = np.int32(need * sizes[border[i]] // total)
    guess = need * np.int64(len(draws)) // total
    more = cut(start, draws, border, need, guess, prefix[first + whole : at])
    lists[u, 0], lists[u, 1], lists[u, 2] = first, whole, at - first - whole
    lists[u, 3] = np.int64(border[more]) if more >= 0 and not own else np.int64(-1)
    used[0] = at


@lean()
def _part(free, counts, start, x, stop):
    """How many of the first places of a combination are free."""
    if counts[x] == 0 or stop >= start[x + 1] - start[x]:
        return counts[x]
    return free_between(free, start[x], start[x] + stop)


@lean()
def _closest(free, counts, start, pool, entry, extra, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from."""
    members, prefix = pool[0], pool[1]
    first, border, stop = entry[0], entry[0] + entry[1], entry[0] + entry[1] + entry[2]
    choice = np.int64(0)
    for i in range(first, stop):
        x = members[i]
        choice += counts[x] if i < border else _part(free, counts, start, x, prefix[i] + (1 if x == extra else 0))
    if choice == 0:
        return np.int64(-1), choice
    j = draw(state, choice)
    for i in range(first, stop):
        x = members[i]
        part = counts[x] if i < border else _part(free, counts, start, x, prefix[i] + (1 if x == extra else 0))
        if j < part:
            stop = start[x + 1] if i < border else min(start[x + 1], start[x] + prefix[i] + (1 if x == extra else 0))
            return any_free(free, start[x], stop, part, state), choice
        j -= part
    return np.int64(-1), choice  # never reached


@lean()
def _is_first(pool, entry, u, rank):
    """Whether the place of this rank in combination u is one of the first in its own border class."""
    for i in range(entry[0] + entry[1], entry[0] + entry[1] + entry[2]):
        if pool[0][i] == u:
            return rank < pool[1][i]
    return False


@lean()
def _closest_free(space, tree, boxes, query, free, counts, start, k, left, room, state):
    """A random one of the free places in the closest whole tie classes that hold at least k of them."""
    if left <= k:
        return (any_free(free, 0, start[-1], left, state) if left else np.int64(-1)), left
    found = room[2]
    _, count = closest(space, tree, boxes, query, counts, k, room)
    choice = np.int64(0)
    for i in range(count):
        choice += counts[found[i]]
    j, i = draw(state, choice), np.int64(0)
    while j >= counts[found[i]]:
        j -= counts[found[i]]
        i += 1
    return any_free(free, start[found[i]], start[found[i] + 1], counts[found[i]], state), choice


@lean()
def _next(side, anything, weights, start, combination, left, u, witness, most, state):
    """A random one of the places farthest from a combination: by trying some, or the one that is known, or a search."""
    space, tree, boxes, query, leaves, room = side
    ask(space, query, u)
    v, best = np.int64(-1), -1.0
    for _ in range(_TRIES):
        place = any_free(anything, 0, start[-1], left, state)
        distance = away(space, query, combination[place])
        if distance >= most[u]:
            return place
        if distance > best:
            v, best = np.int64(combination[place]), distance
    if witness[u] < 0 or weights[witness[u]] == 0:
        witness[u], most[u] = farthest(space, tree, boxes, leaves, query, weights, room, v, best, most[u], state)
    v = np.int64(witness[u])
    return any_free(anything, start[v], start[v + 1], weights[v], state)


@lean()
def _finish(near, far, whole, anything, weights, place, u):
    """A record has nothing left to swap."""
    take(anything, place)
    weights[u] -= 1
    if weights[u] == 0:
        remove(far[1], far[2], far[4], u)
        if whole:
            refit(near[0], near[1], near[2], weights, u)


@lean(
    f"void(i8, i8, b1, {NEAR}, {FAR}, i8[::1], i8[::1], i4[::1], i4[::1], u8[:, ::1], i4[:, ::1], i8[:, ::1], i8[::1], "
    f"{POOL}, {ROOM}, i4[::1], f8[::1], u8[::1], i8[:, :, ::1], i8[:, ::1], i8[::1])"
)
def swap_records(
    place, k, whole, near, far, sizes, start, combination, draws, bits, sums, counts, left, pool, room, witness, most,
    state, pairs, candidates, steps,
):  # fmt: skip
    """Algorithm 3 from a first place on; ``steps`` gets the number of steps of each attribute."""
    m = len(bits) - 1
    anything, weights = (bits[m], sums[m]), counts[m]
    space, tree, boxes, query = near
    lists = pool[2]
    while True:
        u = np.int64(combination[place])
        ask(space, query, u)
        if not whole and lists[u, 0] < 0:
            _list_closest(space, tree, boxes, query, sizes, start, draws, k, u, pool, room)
        extra = np.int64(-1)
        if not whole and lists[u, 3] >= 0 and _is_first(pool, lists[u], u, place - start[u]):
            extra = lists[u, 3]
        for a in range(m):
            free, mine = (bits[a], sums[a]), counts[a]
            if not is_free(free, place):
                continue
            take(free, place)
            mine[u] -= 1
            left[a] -= 1
            if whole:
                partner, choice = _closest_free(space, tree, boxes, query, free, mine, start, k, left[a], room, state)
            else:
                partner, choice = _closest(free, mine, start, pool, lists[u], extra, state)
            step = steps[a]
            pairs[a, step, 0] = pairs[a, step, 1] = place
            candidates[a, step] = choice
            steps[a] += 1
            if partner < 0:
                continue
            pairs[a, step, 1] = partner
            take(free, partner)
            x = np.int64(combination[partner])
            mine[x] -= 1
            left[a] -= 1
            done = True
            for b in range(m):
                done &= not is_free((bits[b], sums[b]), partner)
            if done:
                left[m] -= 1
                _finish(near, far, whole, anything, weights, partner, x)
        left[m] -= 1
        _finish(near, far, whole, anything, weights, place, u)
        if left[m] == 0:
            return
        place = _next(far, anything, weights, start, combination, left[m], u, witness, most, state)
