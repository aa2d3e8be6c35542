# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""What a group loses by its released values, also with one record more, less or exchanged.

numbers[n, w + 1]
    Coordinates that are averaged by their mean and never missing, counted from the overall mean, zeros up to a multiple
    of four columns (four sums side by side keep the processor busy, in an order that does not depend on it); last their
    squared norm.
extra = (codes[n, e], values[n, e'], attributes[e, 5], far[e], whole, tables)
    All other attributes. A row of ``attributes`` is a rule (0 mean with missing values, 1 median, 2 convex median,
    3 Mean_M, 4 mode), where its tables start, how many codes there are, the code for missing, and the rounding of sums
    for rule 3 (see ``_centre_kernels.py``). The ``values`` count for rule 0 only. ``whole`` are the tables that choose
    the released category, in whole numbers; ``tables`` the terms that it loses, or the coordinates of levels. ``far``
    is the term of a missing and a present value, or of different codes (rule 4), or what a unit of ``whole`` loses if
    the terms are those that choose (rule 3; otherwise 0).
parts = (group[n], slot[n], members[g, most], count[g], sums[g, w + 2], away[n, e], used[1])
    The groups. ``sums`` are those of numbers, then the loss. ``away[i, b]`` is the whole-number distance of record i to
    its group (rule 3), or how many there have its code (rule 4).
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, kernel, makes_no_array
from ._centre_kernels import MOST, convex_middle

EXTRA = "Tuple((i4[:, ::1], f8[:, ::1], i8[:, ::1], f8[::1], i8[::1], f8[::1]))"
PARTS = "Tuple((i4[::1], i4[::1], i4[:, ::1], i8[::1], f8[:, ::1], i8[:, ::1], i8[::1]))"


@inlined
def plain_loss(numbers, sums, m, g, out, new):
    """Σ|x|² - |Σx|² / m of group g without record ``out`` and with record ``new`` (-1: none)."""
    width = numbers.shape[1] - 1
    s = sums[g]
    square = s[width]
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    if out >= 0 and new >= 0:
        x, y = numbers[out], numbers[new]
        square += y[width] - x[width]
        for a in range(0, width, 4):
            v0, v1 = s[a] - x[a] + y[a], s[a + 1] - x[a + 1] + y[a + 1]
            v2, v3 = s[a + 2] - x[a + 2] + y[a + 2], s[a + 3] - x[a + 3] + y[a + 3]
            t0, t1, t2, t3 = t0 + v0 * v0, t1 + v1 * v1, t2 + v2 * v2, t3 + v3 * v3
    else:
        sign = 1.0 if new >= 0 else -1.0
        m += 1 if new >= 0 else -1
        x = numbers[max(out, new)]
        square += sign * x[width]
        for a in range(0, width, 4):
            v0, v1 = s[a] + sign * x[a], s[a + 1] + sign * x[a + 1]
            v2, v3 = s[a + 2] + sign * x[a + 2], s[a + 3] + sign * x[a + 3]
            t0, t1, t2, t3 = t0 + v0 * v0, t1 + v1 * v1, t2 + v2 * v2, t3 + v3 * v3
    return max(square - ((t0 + t1) + (t2 + t3)) / m, 0.0) if m > 0 else 0.0


@inlined
def _number_loss(codes, values, far, tables, members, scratch, m, g, out, new, b, rule, start, size, missing):
    """The same for one number with a mean and missing values, or with a median."""
    room = m + 1 if new >= 0 else m
    present, absent, mean = 0, 0, 0.0
    if rule == 2:
        scratch[:size] = 0
    for t in range(room):
        j = members[g, t] if t < m else new
        if j == out:
            continue
        code = np.int64(codes[j, b])
        if code == missing:
            absent += 1
            continue
        if rule == 1:
            at = present
            while at > 0 and scratch[at - 1] > code:
                scratch[at] = scratch[at - 1]
                at -= 1
            scratch[at] = code
        elif rule == 2:
            scratch[code] += 1
        else:
            mean += values[j, b]
        present += 1
    if absent > present or present == 0:
        return present * far
    if rule == 0:
        centre = mean / present
    else:
        middle = scratch[(present + 1) // 2 - 1] if rule == 1 else convex_middle(scratch[:size], scratch[size:])
        centre = tables[start + middle]
    total = absent * far
    for t in range(room):
        j = members[g, t] if t < m else new
        if j != out and codes[j, b] != missing:
            gap = (values[j, b] if rule == 0 else tables[start + codes[j, b]]) - centre
            total += gap * gap
    return total


@inlined
def one_loss(codes, values, attributes, far, whole, tables, members, away, scratch, m, g, out, new, b):
    """The same for attribute b of the others; ``out`` and ``new`` may both be -1."""
    rule, start, size, missing = attributes[b, 0], attributes[b, 1], attributes[b, 2], attributes[b, 3]
    if rule < 3:
        return _number_loss(
            codes, values, far[b], tables, members, scratch, m, g, out, new, b, rule, start, size, missing
        )
    first = codes[new if new >= 0 else members[g, 0 if members[g, 0] != out or m == 1 else 1], b]
    pure = True
    for t in range(m):
        j = members[g, t]
        if codes[j, b] != first and j != out:
            pure = False
            break
    if pure:
        return 0.0
    to_new, to_out = np.int64(codes[new, b]), np.int64(codes[out, b])  # of no meaning for -1, but there
    if new < 0:
        to_new = missing  # adds no distance, equals no code
    if out < 0:
        to_out = missing
    absent = 1 if new >= 0 and to_new == missing else 0
    if rule == 4:
        return far[b] * _not_most(codes, members, away, m, g, out, new, b, to_out, to_new, missing, absent)
    room = m + 1 if new >= 0 else m
    left = room - 1 if out >= 0 else room
    own, least, chosen = np.int64(0), MOST, missing
    row_new, row_out = start + to_new * size, start + to_out * size
    for t in range(m):
        j = members[g, t]
        scratch[t] = MOST
        if j == out:
            continue
        code = np.int64(codes[j, b])
        if code == missing:
            absent += 1
            continue
        further = whole[row_new + code]
        own += further
        scratch[t] = away[j, b] + further - whole[row_out + code]
        least = min(least, scratch[t])
    if to_new != missing:
        least = min(least, own)
    if 2 * absent > left:
        chosen = missing
    else:
        least += attributes[b, 4] * (left - absent)
        if far[b] > 0.0 and absent == 0:  # and which of several equals does not matter
            return far[b] * (least - attributes[b, 4] * left)
        if to_new != missing and own <= least:
            chosen = to_new
        for t in range(m):
            if scratch[t] <= least:
                chosen = min(chosen, np.int64(codes[members[g, t], b]))
    total, row = 0.0, start + chosen * size
    for t in range(room):
        j = members[g, t] if t < m else new
        if j != out:
            total += tables[row + codes[j, b]]
    return total


@inlined
def _not_most(codes, members, away, m, g, out, new, b, to_out, to_new, missing, absent):
    """How many records of a group have another code than most of them (rule 4)."""
    most, same = np.int64(0), np.int64(1 if to_new != missing else 0)
    left = m + (1 if new >= 0 else 0) - (1 if out >= 0 else 0)
    for t in range(m):
        j = members[g, t]
        if j == out:
            continue
        code = codes[j, b]
        if code == missing:
            absent += 1
            continue
        times = away[j, b]
        if code == to_new:
            times += 1
            same += 1
        if code == to_out:
            times -= 1
        most = max(most, times)
    return left - absent if 2 * absent > left else left - max(most, same)


@makes_no_array()
def extra_loss(codes, values, attributes, far, whole, tables, members, away, scratch, m, g, out, new):
    """The same for all other attributes."""
    total = 0.0
    for b in range(codes.shape[1]):
        total += one_loss(codes, values, attributes, far, whole, tables, members, away, scratch, m, g, out, new, b)
    return total


@makes_no_array()
def tell(codes, attributes, whole, members, away, m, i, g, sign):
    """Record i joins (sign 1) or has left (-1) the m members of g: their distances to the group, and its own."""
    for b in range(codes.shape[1]):
        rule, start, size, code = attributes[b, 0], attributes[b, 1], attributes[b, 2], np.int64(codes[i, b])
        own = np.int64(0)
        if code == attributes[b, 3]:
            pass
        elif rule == 3:
            for t in range(m):
                distance = whole[start + code * size + codes[members[g, t], b]]
                away[members[g, t], b] += sign * distance
                own += distance
        elif rule == 4:
            own = np.int64(1)
            for t in range(m):
                if codes[members[g, t], b] == code:
                    away[members[g, t], b] += sign
                    own += 1
        away[i, b] = own


@makes_no_array()
def settle(numbers, members, sums, m, g, loss):
    """The sums of group g, afresh from its members, so that no rounding piles up; its loss is known."""
    s = sums[g]
    s[:] = 0.0
    for t in range(m):
        x = numbers[members[g, t]]
        for a in range(len(x)):
            s[a] += x[a]
    s[len(s) - 1] = loss


@kernel()
def _measure(numbers, extra, parts, scratch, g):
    """The loss of group g, from the distances to its average, which loses no digits to large numbers; and its sums."""
    codes, values, attributes, far, whole, tables = extra
    members, m, sums = parts[2], parts[3][g], parts[4]
    settle(numbers, members, sums, m, g, 0.0)
    loss = 0.0
    for t in range(m):
        for a in range(numbers.shape[1] - 1):
            gap = numbers[members[g, t], a] - sums[g, a] / m
            loss += gap * gap
    loss += extra_loss(codes, values, attributes, far, whole, tables, members, parts[5], scratch, m, g, -1, -1)
    sums[g, sums.shape[1] - 1] = loss
    return loss


@kernel(f"f8(f8[:, ::1], {EXTRA}, {PARTS}, i4[::1], i8[::1])")
def enter(numbers, extra, parts, groups, scratch):
    """Form the given groups; their loss."""
    codes, _, attributes, _, whole, _ = extra
    group, slot, members, count, _, away, used = parts
    count[:] = 0
    for i in range(len(groups)):
        g = groups[i]
        tell(codes, attributes, whole, members, away, count[g], i, g, 1)
        group[i] = g
        slot[i] = count[g]
        members[g, count[g]] = i
        count[g] += 1
    used[0] = groups.max() + 1
    total = 0.0
    for g in range(used[0]):
        total += _measure(numbers, extra, parts, scratch, g)
    return total
