# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""Swaps of categories between dynamic intervals at opposite ends (Algorithm 2), from a table of distances.

Places are ordered by category, then by one random permutation of the records, ``draws``: that of each place. In row c
of ``order`` the categories stand by their distance from c; the last of each class of tied ones is marked by a high bit.

borders = (border, offset, prefix, extra)
    The k closest records of each category, see `find_borders` and `cut_borders`.
walk = (counts, near, far, members, parts)
    For each category the number of its free places, the first category in its row that has any, its farthest class that
    has any (from, to, the category there), and the set of the categories of this class; and room to count.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, lean
from ._swap_kernels import FREE, any_free, draw, free_between, take

_TRIES = 24
_MOST_LEVELS = 1 << 15
LAST, CATEGORY = np.uint16(0x8000), np.uint16(0x7FFF)
BORDERS = "Tuple((i8[:, ::1], i8[::1], i4[::1], i4[::1]))"
WALK = "Tuple((i4[::1], i8[::1], i8[:, ::1], u8[:, ::1], i8[::1]))"
_ONE = np.uint64(1)


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


@kernel("void(f8[:, ::1], f8[::1], i4[::1], i8, u2[:, ::1])")
def sort_rows(table, keys, slots, levels, order):
    """Order each row by counting how often each distance occurs; ``slots`` has the rank of each."""
    mask = np.int64(len(slots) - 1)
    start = np.empty(levels + 1, dtype=np.int64)
    ranks = np.empty(len(table), dtype=np.uint16)
    for c in range(len(table)):
        row, sequence = table[c], order[c]
        bits = row.view(np.int64)
        start[:] = 0
        for b in range(len(row)):
            h = bits[b] * np.int64(-7046029254386353131)
            at = (h ^ (h >> 29) ^ (h >> 45)) & mask
            while keys[at] != row[b]:
                at = (at + 1) & mask
            ranks[b] = np.uint16(slots[at])
            start[ranks[b] + 1] += 1
        for i in range(levels):
            start[i + 1] += start[i]
        for b in range(len(row)):
            sequence[start[ranks[b]]] = np.uint16(b)
            start[ranks[b]] += 1
        for i in range(levels):
            if start[i] > 0:  # where the next class begins
                sequence[start[i] - 1] |= LAST


@kernel("void(i8, i8[::1], u2[:, ::1], i8[:, ::1])")
def find_borders(k, start, order, border):
    """For each category: the border class in its row (from, to), and how many records of it the interval takes.

    The interval is the k closest records, the reference left out.
    """
    for c in range(len(order)):
        row = order[c]
        inside, first, i = np.int64(-1), np.int64(0), np.int64(0)
        while True:
            first = i
            size, last = np.int64(0), False
            while not last:
                x = row[i] & CATEGORY
                size += start[x + 1] - start[x]
                last = row[i] >= LAST
                i += 1
            if inside + size >= k:
                break
            inside += size
        border[c, 0], border[c, 1], border[c, 2] = first, i, k - max(inside, 0)


@lean()
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
        members = order[c, border[c, 0] : border[c, 1]] & CATEGORY
        mine = prefix[offset[c] : offset[c + 1]]
        need, total = border[c, 2], np.int64(0)
        for y in range(len(members)):
            total += start[members[y] + 1] - start[members[y]]
        for y in range(len(members)):
            mine[y] = np.int32(need * (start[members[y] + 1] - start[members[y]]) // total)
        found = cut(start, draws, members, need, need * n // total, mine)
        extra[c] = np.int32(-1) if found < 0 else np.int32(members[found])


@lean()
def _part(free, counts, start, x, stop):
    """How many of the first places of a category are free."""
    if counts[x] == 0 or stop >= start[x + 1] - start[x]:
        return np.int64(counts[x])
    return free_between(free, start[x], start[x] + stop)


@lean()
def _closest(free, counts, start, row, first, prefix, extra, parts, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from.

    The places are those of the ``first`` categories in the row and, of each one after these, as many as ``prefix`` says
    and one more of the category ``extra``; ``parts`` is room for the number of free ones of each.
    """
    choice = np.int64(0)
    for i in range(first):
        parts[i] = counts[row[i] & CATEGORY]
        choice += parts[i]
    for i in range(len(prefix)):
        x = np.int64(row[first + i] & CATEGORY)
        parts[first + i] = _part(free, counts, start, x, prefix[i] + (1 if x == extra else 0))
        choice += parts[first + i]
    if choice == 0:
        return np.int64(-1), choice
    j, i = draw(state, choice), np.int64(0)
    while j >= parts[i]:
        j -= parts[i]
        i += 1
    x = np.int64(row[i] & CATEGORY)
    stop = start[x + 1]
    if i >= first:
        stop = min(stop, start[x] + prefix[i - first] + (1 if x == extra else 0))
    return any_free(free, start[x], stop, parts[i], state), choice


@lean()
def _closest_free(free, counts, start, row, near, k, left, state):
    """A random one of the free places in the closest whole tie classes that hold at least k of them."""
    if left <= k:
        return (any_free(free, 0, start[-1], left, state) if left else np.int64(-1)), left
    choice, i, last = np.int64(0), near, False
    while choice < k or not last:
        choice += counts[row[i] & CATEGORY]
        last = row[i] >= LAST
        i += 1
    return _pick(free, counts, start, row, near, choice, state), choice


@lean()
def _pick(free, counts, start, row, i, choice, state):
    """A random one of this many free places of the categories in a row from the i-th on."""
    j = draw(state, choice)
    while j >= counts[row[i] & CATEGORY]:
        j -= counts[row[i] & CATEGORY]
        i += 1
    x = np.int64(row[i] & CATEGORY)
    return any_free(free, start[x], start[x + 1], counts[x], state)


@lean()
def _find_farthest(counts, row, far, members):
    """Find the farthest class of a row in which there are free places."""
    first, last = far[0], far[1]
    while counts[row[last] & CATEGORY] == 0:
        last -= 1
    if last < first:
        for i in range(len(members)):
            members[i] = 0
        first = last + 1
        while first == last + 1 or (first > 0 and row[first - 1] < LAST):
            first -= 1
            x = row[first] & CATEGORY
            members[x >> 6] |= _ONE << np.uint64(x & 63)
    far[0], far[1], far[2] = first, last, row[last] & CATEGORY


@lean()
def _farthest(free, counts, start, categories, row, far, members, left, state):
    """A random one of the free places farthest away: by trying some, or else by counting."""
    if counts[far[2]] == 0 or far[0] > far[1]:
        _find_farthest(counts, row, far, members)
    for _ in range(_TRIES):
        place = any_free(free, 0, start[-1], left, state)
        x = categories[place]
        if (members[x >> 6] >> np.uint64(x & 63)) & _ONE == _ONE:
            return place
    total = np.int64(0)
    for i in range(far[0], far[1] + 1):
        total += counts[row[i] & CATEGORY]
    return _pick(free, counts, start, row, far[0], total, state)


@lean(f"i8(i8, i8, b1, i8[::1], u2[::1], u2[:, ::1], {BORDERS}, {WALK}, {FREE}, u8[::1], i8[:, ::1], i8[::1])")
def swap_at_ends(place, k, whole, start, categories, order, borders, walk, free, state, pairs, candidates):
    """Algorithm 2 from a first place on; returns the number of steps."""
    border, offset, prefix, extra = borders
    counts, near, far, members, parts = walk
    left, steps = np.int64(len(categories)), np.int64(0)
    while True:
        x = np.int64(categories[place])
        row = order[x]
        take(free, place)
        counts[x] -= 1
        left -= 1
        if whole:
            while left > 0 and counts[row[near[x]] & CATEGORY] == 0:
                near[x] += 1
            partner, choice = _closest_free(free, counts, start, row, near[x], k, left, state)
        else:
            mine = prefix[offset[x] : offset[x + 1]]
            more = np.int64(-1)
            if border[x, 0] == 0:  # the reference is in its own border class
                at = np.int64(0)
                while row[at] & CATEGORY != x:
                    at += 1
                if place - start[x] < mine[at]:
                    more = np.int64(extra[x])
            partner, choice = _closest(free, counts, start, row, border[x, 0], mine, more, parts, state)
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
        place = _farthest(free, counts, start, categories, row, far[x], members[x], left, state)
