# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Averages of all groups at once. ``order`` lists the records group by group, ``start`` is where each group begins."""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel


@kernel("f8[::1](i8[::1], i8[::1], f8[::1])")
def group_means(order, start, values):
    """The mean of the values that are there; NaN if more than half of the group is missing.

    What rounding loses is summed up apart (Neumaier), so that a large offset of the values costs no digits.
    """
    out = np.empty(len(start) - 1)
    for g in range(len(out)):
        members = order[start[g] : start[g + 1]]
        present = 0
        total = 0.0
        lost = 0.0
        for i in members:
            value = values[i]
            if value == value:
                present += 1
                longer = total + value
                lost += (total - longer) + value if abs(total) >= abs(value) else (value - longer) + total
                total = longer
        out[g] = (total + lost) / present if 2 * present >= len(members) and present > 0 else np.nan
    return out


@kernel("i4[::1](i8[::1], i8[::1], i4[::1], i8, b1)")
def group_medians(order, start, codes, categories, convex):
    """The (lower) median of the codes that are there, or the convex median; -1 if more than half is missing."""
    out = np.empty(len(start) - 1, np.int32)
    frequency = np.zeros(categories, np.int64)
    falling = np.zeros(categories, np.int64)
    for g in range(len(out)):
        members = order[start[g] : start[g + 1]]
        frequency[:] = 0
        present = 0
        for i in members:
            if codes[i] >= 0:
                present += 1
                frequency[codes[i]] += 1
        if 2 * present < len(members) or present == 0:
            out[g] = -1
            continue
        if convex:
            highest = 0
            for c in range(categories - 1, -1, -1):
                highest = max(highest, frequency[c])
                falling[c] = highest
            highest = 0
            present = 0
            for c in range(categories):
                highest = max(highest, frequency[c])
                frequency[c] = min(highest, falling[c])
                present += frequency[c]
        reached = 0
        for c in range(categories):
            reached += frequency[c]
            if 2 * reached >= present:
                out[g] = c
                break
    return out


@kernel("i4[::1](i8[::1], i8[::1], i4[::1], i8)")
def group_modes(order, start, codes, categories):
    """The most frequent code, of several the lowest; -1 if more than half of the group is missing."""
    out = np.empty(len(start) - 1, np.int32)
    frequency = np.zeros(categories, np.int64)
    for g in range(len(out)):
        members = order[start[g] : start[g + 1]]
        present = 0
        best = -1
        for i in members:
            code = codes[i]
            if code >= 0:
                present += 1
                frequency[code] += 1
        for i in members:
            code = codes[i]
            if code >= 0 and (
                best < 0 or frequency[code] > frequency[best] or (frequency[code] == frequency[best] and code < best)
            ):
                best = code
        for i in members:
            if codes[i] >= 0:
                frequency[codes[i]] = 0
        out[g] = best if 2 * present >= len(members) else -1
    return out


@kernel("i4[::1](i8[::1], i8[::1], i4[::1], i8[:, ::1], i8)")
def group_marginal_means(order, start, codes, table, rounding):
    """The code of the group with the smallest sum of distances to the group, of several the lowest.

    Sums are equal if they differ by no more than ``rounding`` for each record.
    """
    out = np.empty(len(start) - 1, np.int32)
    seen = np.full(len(table), -1, np.int64)
    number = np.zeros(len(table), np.int64)
    distinct = np.empty(len(table), np.int32)
    away = np.empty(len(table), np.int64)
    for g in range(len(out)):
        members = order[start[g] : start[g + 1]]
        present = 0
        different = 0
        for i in members:
            code = codes[i]
            if code >= 0:
                present += 1
                if seen[code] != g:
                    seen[code] = g
                    number[code] = 0
                    distinct[different] = code
                    different += 1
                number[code] += 1
        best = -1
        smallest = np.int64(0)
        for at in range(different):
            total = np.int64(0)
            for b in distinct[:different]:
                total += number[b] * table[distinct[at], b]
            away[at] = total
            smallest = total if at == 0 else min(smallest, total)
        for at in range(different):
            if away[at] <= smallest + rounding * present and (best < 0 or distinct[at] < best):
                best = distinct[at]
        out[g] = best if 2 * present >= len(members) else -1
    return out


@kernel("f8[::1](i8[::1], i8[::1], i4[::1], f8[:, ::1])")
def group_radii(order, start, codes, table):
    """For each record the largest distance to the code of another record of its group; NaN where it is missing."""
    out = np.full(len(codes), np.nan)
    seen = np.full(len(table), -1, np.int64)
    radius = np.zeros(len(table))
    distinct = np.empty(len(table), np.int32)
    for g in range(len(start) - 1):
        members = order[start[g] : start[g + 1]]
        different = 0
        for i in members:
            code = codes[i]
            if code >= 0 and seen[code] != g:
                seen[code] = g
                distinct[different] = code
                different += 1
        for a in distinct[:different]:
            largest = 0.0
            for b in distinct[:different]:
                largest = max(largest, table[a, b])
            radius[a] = largest
        for i in members:
            if codes[i] >= 0:
                out[i] = radius[codes[i]]
    return out
