# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""Swaps of categories between dynamic intervals at opposite ends (Algorithm 2), from a table of distances.

Places are ordered by category. In row c of ``order`` the categories stand by their distance from c; the last of each
class of tied ones is marked by a high bit.

border
    For each category the class of tied ones that its interval cuts, see `find_borders`.
walk = (counts, near, far, members)
    For each category the number of its free places, the first category in its row that has any, its farthest class that
    has any (from, to, the category there), and the set of the categories of this class.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel, makes_no_array
from ._swap_kernels import FREE, any_free, category_at, draw, take, to_choose_from

_TRIES = 24
_MOST_LEVELS = 1 << 15
LAST, CATEGORY = np.uint16(0x8000), np.uint16(0x7FFF)
WALK = "Tuple((i4[::1], i8[::1], i8[:, ::1], u8[:, ::1]))"
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
    """For each category: the border class in its row (from, to), its records, and how many of them the interval takes.

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
        border[c, 0], border[c, 1] = first, i
        border[c, 2], border[c, 3] = (size, k - inside) if inside >= 0 else (size - 1, k)


@makes_no_array()
def _closest(free, counts, start, row, border, state):
    """A random free one of the k closest places, or -1, and how many there are to choose from."""
    inside, tied = np.int64(0), np.int64(0)
    for i in range(border[0]):
        inside += counts[row[i] & CATEGORY]
    for i in range(border[0], border[1]):
        tied += counts[row[i] & CATEGORY]
    choice, is_inside = to_choose_from(inside, border[2], tied, border[3], state)
    if choice == 0:
        return np.int64(-1), choice
    if is_inside:
        return _pick(free, counts, start, row, np.int64(0), inside, state), choice
    return _pick(free, counts, start, row, border[0], tied, state), choice


@makes_no_array()
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


@makes_no_array()
def _pick(free, counts, start, row, i, choice, state):
    """A random one of this many free places of the categories in a row from the i-th on."""
    j = draw(state, choice)
    while j >= counts[row[i] & CATEGORY]:
        j -= counts[row[i] & CATEGORY]
        i += 1
    x = np.int64(row[i] & CATEGORY)
    return any_free(free, start[x], start[x + 1], counts[x], state)


@makes_no_array()
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


@makes_no_array()
def _farthest(free, counts, start, categories, grain, row, far, members, left, state):
    """A random one of the free places farthest away: by trying some, or else by counting."""
    if counts[far[2]] == 0 or far[0] > far[1]:
        _find_farthest(counts, row, far, members)
    for _ in range(_TRIES):
        place = any_free(free, 0, start[-1], left, state)
        x = category_at(start, categories, grain, place)
        if (members[x >> 6] >> np.uint64(x & 63)) & _ONE == _ONE:
            return place
    total = np.int64(0)
    for i in range(far[0], far[1] + 1):
        total += counts[row[i] & CATEGORY]
    return _pick(free, counts, start, row, far[0], total, state)


@makes_no_array(
    f"i8(i8[::1], i8, b1, i8[::1], u2[::1], i8, u2[:, ::1], i8[:, ::1], {WALK}, {FREE}, u8[::1], i8[:, ::1], i8[::1])"
)
def swap_at_ends(at, k, whole, start, categories, grain, order, border, walk, free, state, pairs, candidates):
    """Algorithm 2 from at[0] on, with at[1] places left, as long as there is room for pairs; the number of steps."""
    counts, near, far, members = walk
    place, left, steps = at[0], at[1], np.int64(0)
    while left > 0 and steps < len(pairs):
        x = category_at(start, categories, grain, place)
        row = order[x]
        take(free, place)
        counts[x] -= 1
        left -= 1
        if whole:
            while left > 0 and counts[row[near[x]] & CATEGORY] == 0:
                near[x] += 1
            partner, choice = _closest_free(free, counts, start, row, near[x], k, left, state)
        else:
            partner, choice = _closest(free, counts, start, row, border[x], state)
        pairs[steps, 0] = pairs[steps, 1] = place
        candidates[steps] = choice
        if partner >= 0:
            take(free, partner)
            counts[category_at(start, categories, grain, partner)] -= 1
            left -= 1
            pairs[steps, 1] = partner
        steps += 1
        if left > 0:
            place = _farthest(free, counts, start, categories, grain, row, far[x], members[x], left, state)
    at[0], at[1] = place, left
    return steps
