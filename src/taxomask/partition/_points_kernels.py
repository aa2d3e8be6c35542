# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Distinct points and their records: finding them by hashing, taking records from them, and lists of the nearest.

points = (head, end, records, group) as in ``points.py``; near = (distance, record, point) a list of the nearest
records, in order of distance and, where equal, of position.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, kernel, makes_no_array
from ._centre_kernels import leave

POINTS = "Tuple((i4[::1], i4[::1], i4[::1], i4[::1]))"
NEAR = "Tuple((f8[::1], i8[::1], i8[::1]))"


@inlined
def take(space, rules, sums, points, t, group):
    """Put the first record of point t into a group; True if it was its last."""
    head, end, records, groups = points
    record = records[head[t]]
    groups[record] = group
    head[t] += 1
    leave(space, rules, sums, record, -1)
    return head[t] == end[t]


@inlined
def offer(points, near, have, want, t, distance):
    """Enter the records of point t into the list of the nearest; returns how many it has."""
    head, end, records, _ = points
    distances, who, whose = near
    if have == want and distance > distances[want - 1]:
        return have
    for place in range(head[t], end[t]):
        record = records[place]
        at = have
        if have == want:
            at = have - 1
            if distance > distances[at] or (distance == distances[at] and record > who[at]):
                break
        else:
            have += 1
        while at > 0 and (distances[at - 1] > distance or (distances[at - 1] == distance and who[at - 1] > record)):
            distances[at] = distances[at - 1]
            who[at] = who[at - 1]
            whose[at] = whose[at - 1]
            at -= 1
        distances[at] = distance
        who[at] = record
        whose[at] = t
    return have


@makes_no_array()
def _mix(h, word):
    h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))


@makes_no_array()
def _same(numbers, codes, i, j):
    for a in range(numbers.shape[1]):
        x, y = numbers[i, a], numbers[j, a]
        if x != y and (x == x or y == y):
            return False
    same = True
    for b in range(codes.shape[1]):
        same &= codes[i, b] == codes[j, b]
    return same


@kernel("i8(f8[:, ::1], i4[:, ::1], i4[::1], i4[::1], i4[::1])")
def distinct(numbers, codes, point, records, head):
    """Number the distinct records in order of appearance; their records, in order, are records[head[t]:head[t + 1]]."""
    n = len(point)
    slots = 16
    while slots < 2 * n:
        slots *= 2
    mask = np.uint64(slots - 1)
    table = np.full(slots, -1, np.int32)
    first = records  # reused: the first record of each point, until the records are listed
    word = np.empty(1)
    bits = word.view(np.uint64)
    count = 0
    for i in range(n):
        h = np.uint64(0)
        for a in range(numbers.shape[1]):
            value = numbers[i, a]
            word[0] = value + 0.0 if value == value else np.nan
            h = _mix(h, bits[0])
        for b in range(codes.shape[1]):
            h = _mix(h, np.uint64(codes[i, b]))
        at = np.int64(h & mask)
        while table[at] >= 0 and not _same(numbers, codes, i, first[table[at]]):
            at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
        if table[at] < 0:
            table[at] = count
            first[count] = i
            count += 1
        point[i] = table[at]
    for t in range(n + 1):
        head[t] = 0
    for i in range(n):
        head[point[i] + 1] += 1
    for t in range(count):
        head[t + 1] += head[t]
    for i in range(n - 1, -1, -1):
        head[point[i] + 1] -= 1
        records[head[point[i] + 1]] = i
    for t in range(count):
        head[t] = head[t + 1]
    head[count] = n
    return count
