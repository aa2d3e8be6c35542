# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""MDAV by looking at every point: for small tables, for few distinct records, and to finish what the index leaves.

Columns lie side by side, a point that is used up is overwritten by the last, and distances are computed for a block of
points at a time, attribute by attribute, so that every loop is a vector operation.

work = (number[p], code[q], scratch, buffer[BLOCK + 1], whole, near) is room; ``whole`` is the buffer seen as integers:
distances are not negative, so their bits are in the same order and faster to compare.
live = (numbers[p, m], codes[q, m], point[m], place, count[1], lead[m]): the points that are left, where each of them
is, how many they are, and the first record of each.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ._centre_kernels import RULES, SPACE, SUMS, average
from ._points_kernels import NEAR, POINTS, offer, take

LIVE = "Tuple((f8[:, ::1], i4[:, ::1], i4[::1], i4[::1], i8[::1], i4[::1]))"
WORK = f"Tuple((f8[::1], i4[::1], i8[::1], f8[::1], i8[::1], {NEAR}))"
BLOCK = 512


@makes_no_array()
def _distances(space, gaps, live, number, code, first, stop, out):
    """δ² of a query and the points first..stop, added up in the order of ``records/_kernels.py``."""
    far, tables, start, size, unequal = space[1], space[3], space[4], space[5], space[6]
    m = stop - first
    for j in range(m):
        out[j] = 0.0
    for a in range(len(number)):
        row = live[0][a, first:stop]
        value = number[a]
        if value != value:
            term = far[a]
            for j in range(m):
                out[j] += term if row[j] == row[j] else 0.0
        elif gaps[a]:
            term = far[a]
            for j in range(m):
                gap = row[j] - value
                out[j] += gap * gap if gap == gap else term
        else:
            for j in range(m):
                gap = row[j] - value
                out[j] += gap * gap
    for b in range(len(code)):
        codes = live[1][b, first:stop]
        value = code[b]
        if size[b] > 0:
            begin = start[b] + value * size[b]
            table = tables[begin : begin + size[b]]
            for j in range(m):
                out[j] += table[np.uint32(codes[j])]
        else:
            term = unequal[b]
            for j in range(m):
                out[j] += term if codes[j] != value else 0.0


@makes_no_array()
def look(space, gaps, points, live, number, code, buffer, whole, near, want, own, apart):
    """The point farthest from a query and, if ``want`` is more than 0, the list of its nearest records.

    ``own`` is a point at distance 0, looked at first (or -1); ``apart`` says that no other point is at distance 0.
    """
    point, count, lead = live[2], live[4][0], live[5]
    top, top_record, top_place, have = np.int64(-1), np.int32(0), np.int64(0), np.int64(0)
    if own >= 0 and want > 0:
        have = offer(points, near, have, want, own, 0.0)
        if apart and have == want:
            want = np.int64(0)
    for first in range(0, count, BLOCK):
        stop = min(first + BLOCK, count)
        m = stop - first
        _distances(space, gaps, live, number, code, first, stop, buffer)
        least, most = whole[0], whole[0]
        for j in range(m):
            least = min(least, whole[j])
            most = max(most, whole[j])
        if most >= top:
            # Of equal distances the lowest record; without branches, as there may be very many.
            leads = lead[first:stop]
            record = np.int32(0x7FFFFFFF)
            for j in range(m):
                record = min(record, leads[j] if whole[j] == most else np.int32(0x7FFFFFFF))
            if most > top or record < top_record:
                top, top_record = most, record
                j = np.int64(0)
                while leads[j] != record:
                    j += 1
                top_place = first + j
        whole[BLOCK] = least
        if want > 0 and (have < want or buffer[BLOCK] <= near[0][want - 1]):
            for j in range(m):
                if have < want or buffer[j] <= near[0][want - 1]:
                    t = np.int64(point[first + j])
                    if t != own:
                        have = offer(points, near, have, want, t, buffer[j])
    return np.int64(point[top_place])


@makes_no_array()
def drop(live, t):
    """Point t is used up: the last point takes its place."""
    numbers, codes, point, place, count, lead = live
    at, last = place[t], count[0] - 1
    for a in range(numbers.shape[0]):
        numbers[a, at] = numbers[a, last]
    for b in range(codes.shape[0]):
        codes[b, at] = codes[b, last]
    point[at] = point[last]
    lead[at] = lead[last]
    place[point[at]] = at
    count[0] = last


@makes_no_array()
def grab_point(space, rules, sums, points, live, t, group):
    if take(space, rules, sums, points, t, group):
        drop(live, t)
    else:
        live[5][live[3][t]] = points[2][points[0][t]]


@makes_no_array()
def set_query(space, record, number, code):
    for a in range(len(number)):
        number[a] = space[0][record, a]
    for b in range(len(code)):
        code[b] = space[2][record, b]


@makes_no_array(f"i8({SPACE}, b1[::1], {RULES}, {SUMS}, {POINTS}, {LIVE}, {WORK}, b1, i8, i8)")
def scan(space, gaps, rules, sums, points, live, work, apart, k, group):
    """MDAV-generic on the points of ``live``, groups numbered from ``group``; returns the next number."""
    number, code, scratch, buffer, whole, near = work
    head, end, records = points[0], points[1], points[2]
    left = sums[0]
    while left[0] >= 2 * k:
        both = left[0] >= 3 * k
        average(space, rules, sums, scratch, number, code)
        r = look(space, gaps, points, live, number, code, buffer, whole, near, np.int64(0), np.int64(-1), apart)
        set_query(space, records[head[r]], number, code)
        grab_point(space, rules, sums, points, live, r, group)
        # One more than needed: if x_s is among the nearest of x_r (many equal records), it is left out.
        own = r if head[r] < end[r] else np.int64(-1)
        s = look(space, gaps, points, live, number, code, buffer, whole, near, k, own, apart)
        if not both:
            for i in range(k - 1):
                grab_point(space, rules, sums, points, live, near[2][i], group)
            group += 1
            break
        last = records[head[s]]
        set_query(space, last, number, code)
        grab_point(space, rules, sums, points, live, s, group + 1)
        taken = 0
        for i in range(k):
            if taken < k - 1 and near[1][i] != last:
                grab_point(space, rules, sums, points, live, near[2][i], group)
                taken += 1
        own = s if head[s] < end[s] else np.int64(-1)
        if own >= 0 and apart and end[s] - head[s] >= k - 1:
            offer(points, near, np.int64(0), k - 1, s, 0.0)
        else:
            look(space, gaps, points, live, number, code, buffer, whole, near, k - 1, own, apart)
        for i in range(k - 1):
            grab_point(space, rules, sums, points, live, near[2][i], group + 1)
        group += 2
    while live[4][0] > 0:
        t = np.int64(live[2][0])
        while head[t] < end[t]:
            take(space, rules, sums, points, t, group)
        drop(live, t)
    return group + 1
