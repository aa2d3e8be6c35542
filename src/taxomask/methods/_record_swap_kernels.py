# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""Swaps between similar records (Algorithm 3), over the different combinations of values.

Places are ordered by combination. Row a of ``bits`` and ``sums`` is the set of places whose value of attribute a is not
yet swapped, row a of ``counts`` has their number for each combination; the last row is of the places with anything to
swap.

near, far = (space, tree, boxes, query, …)
    The trees of the searches, see ``_record_query_kernels.py`` and ``_record_far_kernels.py``.
closest = (members, lists, used)
    The combinations nearest to each, which never change: listed once, until there is no room left. lists[u] = (the
    first entry or -1, combinations inside the interval, combinations at its border, records at its border without the
    reference, how many of them the interval takes).
kinds = (kind, masks, held, used)
    The attributes that are not yet swapped at each place, a bit for each; and how many places of each combination have
    the same bits: entries start[u] to start[u] + used[u] - 1 of ``masks`` and ``held``. All attributes of a reference
    are swapped within one interval, so that it matters which records at its border are free in several of them.
drawn = (slots, masks, sizes, chosen, shown, where)
    The kinds of records at the border of an interval, found by ``slots`` (``where``): how many there are, how many of
    them it takes, and how many of these are known by name, being partners already.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ._record_far_kernels import FAR, next_reference, remove
from ._record_query_kernels import BOXES, QUERY, SPACE, TREE, ask, set_ranges
from ._record_tree_kernels import closest, refit
from ._swap_kernels import any_free, draw, how_many, take

NEAR = f"Tuple(({SPACE}, {TREE}, {BOXES}, {QUERY}))"
CLOSEST = "Tuple((i4[::1], i8[:, ::1], i8[::1]))"
KINDS = "Tuple((u8[::1], u8[::1], i4[::1], i4[::1]))"
DRAWN = "Tuple((i4[::1], u8[::1], i8[::1], i8[::1], i8[::1], i8[::1]))"
ROOM = "Tuple((f8[::1], i8[::1], i4[::1], f8[::1], f8[::1]))"
_ONE, _NONE = np.uint64(1), np.uint64(0)
_MIX, _S32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


# --------------------------------------------------------------------------------------- kinds of records


@makes_no_array()
def _entry(kinds, start, u, mask):
    """Where a kind of records of a combination is counted; after the last entry if it is not."""
    at = start[u]
    while at < start[u] + kinds[3][u] and kinds[1][at] != mask:
        at += 1
    return at


@makes_no_array()
def _swap_off(kinds, start, place, u, attributes):
    """Some attributes of a place are swapped; whether others are left."""
    kind, masks, held, used = kinds
    at = _entry(kinds, start, u, kind[place])
    held[at] -= 1
    if held[at] == 0:
        used[u] -= 1
        last = start[u] + used[u]
        masks[at], held[at] = masks[last], held[last]
    kind[place] &= ~attributes
    if kind[place] == _NONE:
        return False
    at = _entry(kinds, start, u, kind[place])
    if at == start[u] + used[u]:
        masks[at], held[at] = kind[place], 0
        used[u] += 1
    held[at] += 1
    return True


# --------------------------------------------------------------------------------------- the interval


@makes_no_array()
def _list_closest(near, sizes, k, u, pool, room):
    """List the combinations inside the interval of a combination, then those at its border."""
    members, lists, used = pool
    found, distances = room[2], room[3]
    set_ranges(near[0], near[3], False)
    limit, count = closest(near[0], near[1], near[2], near[3], sizes, k + 1, room)
    if used[0] + count > len(members):  # start anew; there is room for every single list
        used[0] = 0
        lists[:, 0] = -1
    first = used[0]
    at, inside = first, np.int64(0)
    for i in range(count):
        if distances[i] < limit:
            members[at] = found[i]
            at += 1
            inside += sizes[found[i]]
    lists[u, 0], lists[u, 1] = first, at - first
    total = np.int64(0)
    for i in range(count):
        if distances[i] == limit:
            members[at] = found[i]
            at += 1
            total += sizes[found[i]]
    lists[u, 2] = at - first - lists[u, 1]
    lists[u, 3], lists[u, 4] = (total, k + 1 - inside) if limit > 0.0 else (total - 1, k)
    used[0] = at


@makes_no_array()
def _draw_border(start, kinds, members, total, taken, wanted, drawn, state):
    """Draw how many records of each kind the interval takes at its border; returns the number of kinds.

    Kinds are told apart by the attributes that are ``wanted``; records that have none of them are left out.
    """
    slots, masks, sizes, chosen, shown, where = drawn
    found, top = np.int64(0), np.int64(len(slots) - 1)
    for u in members:
        for entry in range(start[u], start[u] + kinds[3][u]):
            mask = kinds[1][entry] & wanted
            if mask == _NONE:
                continue
            at = np.int64((mask * _MIX) >> _S32) & top
            while slots[at] >= 0 and masks[slots[at]] != mask:
                at = (at + 1) & top
            if slots[at] < 0:
                slots[at] = np.int32(found)
                masks[found], sizes[found], shown[found], where[found] = mask, 0, 0, at
                found += 1
            sizes[slots[at]] += kinds[2][entry]
    for i in range(found):
        chosen[i] = how_many(total, sizes[i], taken, state)
        total -= sizes[i]
        taken -= chosen[i]
        slots[where[i]] = -1
    return found


@makes_no_array()
def _one_of_kind(free, counts, start, kinds, members, wanted, mask, size, state):
    """A random one of the records of a kind at the border."""
    j = draw(state, size)
    for u in members:
        for entry in range(start[u], start[u] + kinds[3][u]):
            if kinds[1][entry] & wanted != mask:
                continue
            if j < kinds[2][entry]:
                while True:  # as many tries as there are kinds, on average
                    place = any_free(free, start[u], start[u + 1], counts[u], state)
                    if kinds[0][place] & wanted == mask:
                        return place
            j -= kinds[2][entry]
    return np.int64(-1)  # never reached


@makes_no_array()
def _closest(free, counts, start, kinds, pool, entry, wanted, one, drawn, found, partners, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from.

    ``one`` is the bit of the attribute. ``partners`` has the place and kind of each partner of this reference that is
    at the border: the interval takes these for sure.
    """
    _, masks, sizes, chosen, shown, _ = drawn
    inside = pool[0][entry[0] : entry[0] + entry[1]]
    border = pool[0][entry[0] + entry[1] : entry[0] + entry[1] + entry[2]]
    choice = np.int64(0)
    for u in inside:
        choice += counts[u]
    for i in range(found):
        if masks[i] & one != _NONE:
            choice += chosen[i]
    if choice == 0:
        return np.int64(-1), choice
    j = draw(state, choice)
    for u in inside:
        if j < counts[u]:
            return any_free(free, start[u], start[u + 1], counts[u], state), choice
        j -= counts[u]
    i = np.int64(0)
    while masks[i] & one == _NONE or j >= chosen[i]:
        if masks[i] & one != _NONE:
            j -= chosen[i]
        i += 1
    at = np.int64(0)
    if j < shown[i]:
        while partners[at, 1] != i or j > 0:
            j -= partners[at, 1] == i
            at += 1
        return partners[at, 0], choice
    while True:
        place = _one_of_kind(free, counts, start, kinds, border, wanted, masks[i], sizes[i], state)
        at = 0
        while partners[at, 1] >= 0 and partners[at, 0] != place:
            at += 1
        if partners[at, 1] < 0:
            partners[at, 0], partners[at, 1] = place, i
            shown[i] += 1
            return place, choice


@makes_no_array()
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


@makes_no_array()
def _finish(near, far, whole, anything, weights, place, u):
    """A record has nothing left to swap."""
    take(anything, place)
    weights[u] -= 1
    if weights[u] == 0:
        remove(far[1], far[2], far[4], weights, u)
        if whole:
            refit(near[1], near[2], weights, u)


@makes_no_array(
    f"void(i8, i8, b1, {NEAR}, {FAR}, i8[::1], i8[::1], i4[::1], u8[:, ::1], i4[:, ::1], i8[:, ::1], i8[::1], "
    f"{CLOSEST}, {KINDS}, {DRAWN}, {ROOM}, i8[:, ::1], u8[::1], i8[:, :, ::1], i8[:, ::1], i8[::1])"
)
def swap_records(
    place, k, whole, near, far, sizes, start, combination, bits, sums, counts, left, pool, kinds, drawn, room, partners,
    state, pairs, candidates, steps,
):  # fmt: skip
    """Algorithm 3 from a first place on; ``steps`` gets the number of steps of each attribute."""
    m = len(bits) - 1
    anything, weights = (bits[m], sums[m]), counts[m]
    space, tree, boxes, query = near
    lists, found = pool[1], np.int64(0)
    while True:
        u, wanted = np.int64(combination[place]), kinds[0][place]
        for a in range(m):
            if (wanted >> np.uint64(a)) & _ONE == _ONE:
                take((bits[a], sums[a]), place)
                counts[a, u] -= 1
                left[a] -= 1
        _swap_off(kinds, start, place, u, wanted)
        left[m] -= 1
        _finish(near, far, whole, anything, weights, place, u)
        ask(space, query, u)
        if whole:
            set_ranges(space, query, False)
        else:
            if lists[u, 0] < 0:
                _list_closest(near, sizes, k, u, pool, room)
            entry = lists[u]
            border = pool[0][entry[0] + entry[1] : entry[0] + entry[1] + entry[2]]
            found = _draw_border(start, kinds, border, entry[3], entry[4], wanted, drawn, state)
            partners[:, 1] = -1
        for a in range(m):
            one = _ONE << np.uint64(a)
            if wanted & one == _NONE:
                continue
            free, mine = (bits[a], sums[a]), counts[a]
            if whole:
                partner, choice = _closest_free(space, tree, boxes, query, free, mine, start, k, left[a], room, state)
            else:
                partner, choice = _closest(
                    free, mine, start, kinds, pool, lists[u], wanted, one, drawn, found, partners, state
                )
            pairs[a, steps[a], 0] = place
            pairs[a, steps[a], 1] = partner if partner >= 0 else place
            candidates[a, steps[a]] = choice
            steps[a] += 1
        for a in range(m):  # only now, so that the interval is the same for all attributes
            one = _ONE << np.uint64(a)
            partner = pairs[a, steps[a] - 1, 1]
            if wanted & one == _NONE or partner == place:
                continue
            x = np.int64(combination[partner])
            take((bits[a], sums[a]), partner)
            counts[a, x] -= 1
            left[a] -= 1
            if not _swap_off(kinds, start, partner, x, one):
                left[m] -= 1
                _finish(near, far, whole, anything, weights, partner, x)
        if left[m] == 0:
            return
        place = next_reference(far, anything, weights, start, combination, left[m], u, state)
