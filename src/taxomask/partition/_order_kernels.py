# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""An order of points in which each leaf of a tree holds neighbours.

room = (rows[m, p], bits[m, p], codes[m, q], keys[m], stack[64, 2]): the numbers of the points less their averages in 32
bits, the same memory seen as integers, their codes, and what is sorted. Bits of 32-bit numbers, those of negative ones
turned over, are in the order of the numbers; a key has them above the position of the point. So no two keys are equal,
and a key is all that moves. The order need not be exact: boxes are fitted to what they hold.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ._centre_kernels import SPACE
from ._points_kernels import POINTS

ROOM = "Tuple((f4[:, ::1], i4[:, ::1], i4[:, ::1], i8[::1], i8[:, ::1]))"
PAIRS = 32
WHO = np.int64(0xFFFFFFFF)


@makes_no_array()
def _term(space, room, a, i, j):
    """The term of attribute a (numbers first, then codes) in the distance of two points."""
    far, tables, start, size, unequal = space[1], space[3], space[4], space[5], space[6]
    rows, codes = room[0], room[2]
    p = rows.shape[1]
    if a < p:
        x, y = rows[i, a], rows[j, a]
        gap = np.float64(x - y)
        return gap * gap if gap == gap else (far[a] if x == x or y == y else 0.0)
    b = a - p
    x, y = codes[i, b], codes[j, b]
    if size[b] > 0:
        return tables[start[b] + x * size[b] + y]
    return unequal[b] if x != y else 0.0


@makes_no_array()
def _widest(space, room, first, stop):
    """The attribute in which pairs of points differ most on average."""
    keys = room[3]
    half = (stop - first) // 2
    pairs = min(half, PAIRS)
    best, most = np.int64(0), -1.0
    for a in range(room[0].shape[1] + room[2].shape[1]):
        total = 0.0
        for t in range(pairs):
            i = first + t * half // pairs
            total += _term(space, room, a, keys[i] & WHO, keys[i + half] & WHO)
        if total > most:
            best, most = np.int64(a), total
    return best


@makes_no_array()
def _median(x, y, z):
    return max(min(x, y), min(max(x, y), z))


@makes_no_array()
def _select(keys, first, stop, middle):
    """Reorder keys so that what belongs before ``middle`` is before it: quickselect, without branches that guess."""
    low, high = first, stop - 1
    while low < high:
        step = (high - low) // 8
        pivot = max(keys[low], keys[high])
        if step > 0:
            x = _median(keys[low], keys[low + step], keys[low + 2 * step])
            y = _median(keys[low + 3 * step], keys[low + 4 * step], keys[low + 5 * step])
            z = _median(keys[low + 6 * step], keys[low + 7 * step], keys[high])
            pivot = _median(x, y, z)
        at = low  # what is below the pivot goes to the front: something is, as the pivot is not the least of all
        for i in range(low, high + 1):
            key = keys[i]
            keys[i] = keys[at]
            keys[at] = key
            at += key < pivot
        if middle < at:
            high = at - 1
        else:
            low = at


@makes_no_array(f"void({SPACE}, b1[::1], {POINTS}, i4[::1], i8[::1], f8[::1], i4[::1], {ROOM})")
def arrange(space, gaps, points, alive, shape, middle, order, room):
    """Order the points of ``alive`` for a tree of this shape: halved again and again in the attribute that varies most.

    ``middle`` gets the averages of the numbers that are never missing.
    """
    rows, bits, codes, keys, stack = room
    head, records = points[0], points[2]
    m, p = len(alive), rows.shape[1]
    for a in range(p):
        middle[a] = 0.0
    for i in range(m):
        record = records[head[alive[i]]]
        for a in range(p):
            middle[a] += 0.0 if gaps[a] else space[0][record, a]
    for a in range(p):
        middle[a] /= m
    for i in range(m):
        record = records[head[alive[i]]]
        keys[i] = i
        for a in range(p):
            rows[i, a] = np.float32(space[0][record, a] - middle[a])
        for b in range(codes.shape[1]):
            codes[i, b] = space[2][record, b]
    leaves, below = shape[0], shape[0] // shape[2]
    stack[0, 0], stack[0, 1] = 0, leaves
    depth = 1
    while depth > 0:
        depth -= 1
        leaf, wide = stack[depth, 0], stack[depth, 1]
        if wide == 1:
            continue
        # Children of the root are kept whole, and may be 3, 5, 6 or 7; what is below them is a power of two.
        half = wide // 2 if wide <= below else wide // below // 2 * below
        first, stop = leaf * m // leaves, (leaf + wide) * m // leaves
        a = _widest(space, room, first, stop)
        if a < p:
            for i in range(first, stop):
                who = keys[i] & WHO
                value = np.int64(bits[who, a])
                keys[i] = (value ^ ((value >> 63) & 0x7FFFFFFF)) << 32 | who
        else:
            for i in range(first, stop):
                who = keys[i] & WHO
                keys[i] = np.int64(codes[who, a - p]) << 32 | who
        _select(keys, first, stop, (leaf + half) * m // leaves)
        stack[depth, 0], stack[depth, 1] = leaf, half
        stack[depth + 1, 0], stack[depth + 1, 1] = leaf + half, wide - half
        depth += 2
    for i in range(m):
        order[i] = alive[keys[i] & WHO]
