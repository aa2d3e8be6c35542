# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""Swaps of categories between dynamic intervals at opposite ends (Algorithm 2), from a table of distances.

Places are ordered by category, then by one random permutation of the records, ``draws``: that of each place. In row c
of ``order`` the categories stand by their distance from c, in row c of ``level`` is the number of the distance of each
category: equal levels are tied.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ._swap_kernels import FREE, draw, free_before, free_between, nth_free, take

_TRIES = 6
_MOST_LEVELS = 1 << 15


@kernel("i8(f8[:, ::1], f8[::1], i4[::1])")
def distinct_distances(table, keys, slots):
    """Collect the different numbers of a table in a hash table; -1 if there are too many.

    ``keys`` has room for twice as many as are allowed; ``slots[i]`` is -1 where there is none.
    """
    found = np.int64(0)
    mask = np.int64(len(slots) - 1)
    flat = table.ravel()
    bits = flat.view(np.int64)
    for i in range(len(flat)):
        h = bits[i] * np.int64(-7046029254386353131)
        at = (h ^ (h >> 29) ^ (h >> 45)) & mask
        while slots[at] >= 0 and keys[at] != flat[i]:
            at = (at + 1) & mask
        if slots[at] < 0:
            if found == _MOST_LEVELS:
                return np.int64(-1)
            keys[at] = flat[i]
            slots[at] = np.int32(found)
            found += 1
    return found


@kernel("void(f8[:, ::1], f8[::1], i4[::1], i8, u2[:, ::1], u2[:, ::1])")
def sort_rows(table, keys, slots, levels, order, level):
    """Order each row by counting how often each distance occurs; ``slots`` has the rank of each."""
    mask = np.int64(len(slots) - 1)
    start = np.empty(levels + 1, dtype=np.int64)
    for c in range(len(table)):
        row, ranks, sequence = table[c], level[c], order[c]
        bits = row.view(np.int64)
        start[:] = 0
        for b in range(len(row)):
            h = bits[b] * np.int64(-7046029254386353131)
            at = (h ^ (h >> 29) ^ (h >> 45)) & mask
            while keys[at] != row[b]:
                at = (at + 1) & mask
            ranks[b] = np.uint16(slots[at])
            start[slots[at] + 1] += 1
        for i in range(levels):
            start[i + 1] += start[i]
        for b in range(len(row)):
            sequence[start[ranks[b]]] = np.uint16(b)
            start[ranks[b]] += 1


@kernel("void(i8, i8[::1], u2[:, ::1], u2[:, ::1], i8[:, ::1])")
def find_borders(k, start, order, level, border):
    """For each category: the border class in its row (from, to), and how many records of it the interval takes.

    The interval is the k closest records, the reference left out.
    """
    for c in range(len(order)):
        row, ranks = order[c], level[c]
        inside, first, i = np.int64(-1), np.int64(0), np.int64(0)
        while True:
            first = i
            size = np.int64(0)
            while i < len(row) and ranks[row[i]] == ranks[row[first]]:
                size += start[row[i] + 1] - start[row[i]]
                i += 1
            if inside + size >= k:
                break
            inside += size
        border[c, 0], border[c, 1], border[c, 2] = first, i, k - max(inside, 0)


@kernel()
def cut(start, draws, members, need, below, prefix):
    """How many places of each of some categories hold the ``need`` smallest draws of all; ``below`` is a first guess.

    Returns which of the categories holds the next one, or -1.
    """
    total = np.int64(0)
    for y in range(len(members)):
        total += start[members[y] + 1] - start[members[y]]
    n = np.int64(len(draws))
    if need >= total:
        for y in range(len(members)):
            prefix[y] = start[members[y] + 1] - start[members[y]]
        return np.int64(-1)
    low, high = np.int64(0), n  # at least as many as needed are below ``high``, fewer than that below ``low``
    turn = 0
    while True:
        have = np.int64(0)
        for y in range(len(members)):
            first, stop = start[members[y]], start[members[y] + 1]
            at = first + min(np.int64(prefix[y]), stop - first)
            while at < stop and draws[at] < below:
                at += 1
            while at > first and draws[at - 1] >= below:
                at -= 1
            prefix[y] = at - first
            have += at - first
        if have == need:
            break
        if have > need:
            high = min(high, below)
        else:
            low = max(low, below)
        below += (need - have) * n // total
        turn += 1
        if below <= low or below >= high or turn > 8:
            below = (low + high) // 2
    extra, smallest = np.int64(-1), n
    for y in range(len(members)):
        at = start[members[y]] + prefix[y]
        if at < start[members[y] + 1] and draws[at] < smallest:
            extra, smallest = np.int64(y), np.int64(draws[at])
    return extra


@kernel("void(i8[::1], i4[::1], u2[:, ::1], i8[:, ::1], i8[::1], i4[::1], i4[::1])")
def cut_borders(start, draws, order, border, offset, prefix, extra):
    """How many places of each category of the border class belong to the interval of each category, see `cut`."""
    n = np.int64(len(draws))
    for c in range(len(order)):
        members = order[c, border[c, 0] : border[c, 1]]
        mine = prefix[offset[c] : offset[c + 1]]
        need, total = border[c, 2], np.int64(0)
        for y in range(len(members)):
            total += start[members[y] + 1] - start[members[y]]
        for y in range(len(members)):
            mine[y] = np.int32(need * (start[members[y] + 1] - start[members[y]]) // total)
        found = cut(start, draws, members, need, need * n // total, mine)
        extra[c] = np.int32(-1) if found < 0 else np.int32(members[found])


@kernel()
def _part(free, counts, start, x, stop):
    """How many of the first places of a category are free."""
    if counts[x] == 0 or stop >= start[x + 1] - start[x]:
        return counts[x]
    return free_between(free, start[x], start[x] + stop)


@kernel()
def _closest(free, counts, start, row, border, prefix, extra, parts, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from.

    ``extra`` is the category from which one more place is taken for the reference, which is not in its own interval;
    ``parts`` is room for the number of free places of each category.
    """
    choice = np.int64(0)
    for i in range(border[0]):
        parts[i] = counts[row[i]]
        choice += parts[i]
    for i in range(border[0], border[1]):
        x = row[i]
        parts[i] = _part(free, counts, start, x, prefix[i - border[0]] + (1 if x == extra else 0))
        choice += parts[i]
    if choice == 0:
        return np.int64(-1), choice
    j, i = draw(state, choice), np.int64(0)
    while j >= parts[i]:
        j -= parts[i]
        i += 1
    return nth_free(free, free_before(free, start[row[i]]) + j), choice


@kernel()
def _closest_free(free, counts, start, row, ranks, near, k, left, state):
    """A random one of the free places in the closest whole tie classes that hold at least k of them."""
    if left <= k:
        return (nth_free(free, draw(state, left)) if left else np.int64(-1)), left
    choice = np.int64(0)
    i = near
    while True:
        level = ranks[row[i]]
        while i < len(row) and ranks[row[i]] == level:
            choice += counts[row[i]]
            i += 1
        if choice >= k:
            break
    j = draw(state, choice)
    i = near
    while j >= counts[row[i]]:
        j -= counts[row[i]]
        i += 1
    return nth_free(free, free_before(free, start[row[i]]) + j), choice


@kernel()
def _farthest(free, counts, start, categories, row, ranks, far, left, state):
    """A random one of the free places farthest away: by trying some, or else by counting."""
    level = ranks[row[far]]
    for _ in range(_TRIES):
        place = nth_free(free, draw(state, left))
        if ranks[categories[place]] == level:
            return place
    total, i = np.int64(0), far
    while i >= 0 and ranks[row[i]] == level:
        total += counts[row[i]]
        i -= 1
    j = draw(state, total)
    i = far
    while j >= counts[row[i]]:
        j -= counts[row[i]]
        i -= 1
    return nth_free(free, free_before(free, start[row[i]]) + j)


@kernel(
    f"i8(i8, i8, b1, i8[::1], u2[::1], u2[:, ::1], u2[:, ::1], i8[:, ::1], i8[::1], i4[::1], i4[::1], {FREE}, u8[::1], "
    "i8[:, ::1], i8[::1])"
)
def swap_at_ends(
    place, k, whole, start, categories, order, level, border, offset, prefix, extra, free, state, pairs, candidates
):
    """Algorithm 2 from a first place on; returns the number of steps."""
    c = len(order)
    counts, parts = np.empty(c, dtype=np.int64), np.empty(c, dtype=np.int64)
    near, far = np.zeros(c, dtype=np.int64), np.full(c, c - 1, dtype=np.int64)
    for x in range(c):
        counts[x] = start[x + 1] - start[x]
    left, steps = np.int64(len(categories)), np.int64(0)
    while True:
        x = np.int64(categories[place])
        row, ranks = order[x], level[x]
        take(free, place)
        counts[x] -= 1
        left -= 1
        if whole:
            while left > 0 and counts[row[near[x]]] == 0:
                near[x] += 1
            partner, choice = _closest_free(free, counts, start, row, ranks, near[x], k, left, state)
        else:
            mine = prefix[offset[x] : offset[x + 1]]
            more = np.int64(-1)
            if border[x, 0] == 0:  # the reference is in its own border class
                at = np.int64(0)
                while row[at] != x:
                    at += 1
                if place - start[x] < mine[at]:
                    more = np.int64(extra[x])
            partner, choice = _closest(free, counts, start, row, border[x], mine, more, parts, state)
        pairs[steps, 0] = pairs[steps, 1] = place
        candidates[steps] = choice
        if partner >= 0:
            take(free, partner)
            counts[categories[partner]] -= 1
            left -= 1
            pairs[steps, 1] = partner
        steps += 1
        if left == 0:
            return steps
        while counts[row[far[x]]] == 0:
            far[x] -= 1
        place = _farthest(free, counts, start, categories, row, ranks, far[x], left, state)
