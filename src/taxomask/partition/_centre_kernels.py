# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The average record of the records that are left, exact and incremental.

Everything is a sum of integers, so that the average after removals has the bits of one computed afresh. The arguments:

rules = (rule[p], one[p], level_column[p], level_start[p], level_count[p], levels[n, o], level_coordinates, whole,
rounding[q])
    How each number averages: 0 mean, 1 median, 2 convex median; the fixed-point unit of a mean; where the levels of an
    ordinal attribute are. ``whole`` has the tables of the space in whole numbers (missing values count 0); sums of them
    are equal if they differ by no more than ``rounding`` for each record.
sums = (left[1], total[p], present[p], level_counts, code_start[q], code_counts, code_sums)
    What is left: how many records, sums and numbers of present values, records per level and per code, and for codes
    with a table the sum of distances of each code to the records left.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array

SPACE = "Tuple((f8[:, ::1], f8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]))"
RULES = "Tuple((i8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1]))"
MOST = np.int64(0x7FFFFFFFFFFFFFFF)
SUMS = "Tuple((i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1]))"


@inlined
def leave(space, rules, sums, record, sign):
    """A record leaves (sign -1) or joins (1) the records that are left."""
    numbers, codes, start, size = space[0], space[2], space[4], space[5]
    rule, one, level_column, level_start, levels, whole = rules[0], rules[1], rules[2], rules[3], rules[5], rules[7]
    total, present, level_counts = sums[1], sums[2], sums[3]
    code_start, code_counts, code_sums = sums[4], sums[5], sums[6]
    sums[0][0] += sign
    for a in range(numbers.shape[1]):
        value = numbers[record, a]
        if value == value:
            present[a] += sign
            if rule[a] == 0:
                total[a] += sign * np.int64(np.rint(value * one[a]))
            else:
                level_counts[level_start[a] + levels[record, level_column[a]]] += sign
    for b in range(codes.shape[1]):
        code = codes[record, b]
        code_counts[code_start[b] + code] += sign
        if size[b] > 0:
            m = size[b]
            first = start[b] + code * m
            row = whole[first : first + m]
            out = code_sums[code_start[b] : code_start[b] + m]
            if sign < 0:
                for y in range(m):
                    out[y] -= row[y]
            else:
                for y in range(m):
                    out[y] += row[y]


@makes_no_array(f"void({SPACE}, {RULES}, {SUMS})")
def join_all(space, rules, sums):
    """Every record joins; tables are summed once per code, not once per record."""
    numbers, codes, start, size = space[0], space[2], space[4], space[5]
    rule, one, level_column, level_start, levels, whole = rules[0], rules[1], rules[2], rules[3], rules[5], rules[7]
    total, present, level_counts = sums[1], sums[2], sums[3]
    code_start, code_counts, code_sums = sums[4], sums[5], sums[6]
    n = len(numbers)
    sums[0][0] = n
    for a in range(numbers.shape[1]):
        for i in range(n):
            value = numbers[i, a]
            if value == value:
                present[a] += 1
                if rule[a] == 0:
                    total[a] += np.int64(np.rint(value * one[a]))
                else:
                    level_counts[level_start[a] + levels[i, level_column[a]]] += 1
    for b in range(codes.shape[1]):
        for i in range(n):
            code_counts[code_start[b] + codes[i, b]] += 1
        for x in range(size[b]):
            times = code_counts[code_start[b] + x]
            if times:
                for y in range(size[b]):
                    code_sums[code_start[b] + y] += times * whole[start[b] + x * size[b] + y]


@makes_no_array()
def middle(counts):
    """The median of levels by their counts; the lower of two."""
    total = 0
    for level in range(len(counts)):
        total += counts[level]
    need = (total + 1) // 2
    total = 0
    for level in range(len(counts)):
        total += counts[level]
        if total >= need:
            return level
    return len(counts) - 1


@makes_no_array()
def convex_middle(counts, scratch):
    """The median after the counts were made convex: f'(c) = min(max_{≤c} f, max_{≥c} f).

    Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5, Definition 5.3.
    """
    m = len(counts)
    top = 0
    for level in range(m):
        top = max(top, counts[level])
        scratch[level] = top
    top = 0
    for level in range(m - 1, -1, -1):
        top = max(top, counts[level])
        scratch[level] = min(scratch[level], top)
    return middle(scratch[:m])


@makes_no_array()
def average(space, rules, sums, scratch, number, code):
    """The average record, written to ``number`` and ``code``; missing where more than half of the records are."""
    size = space[5]
    rule, one, level_start, level_count, coordinates = rules[0], rules[1], rules[3], rules[4], rules[6]
    total, present, level_counts = sums[1], sums[2], sums[3]
    code_start, code_counts, code_sums = sums[4], sums[5], sums[6]
    left = sums[0][0]
    for a in range(len(number)):
        if present[a] == 0 or left - present[a] > present[a]:
            number[a] = np.nan
        elif rule[a] == 0:
            number[a] = np.float64(total[a]) / np.float64(present[a]) / one[a]
        else:
            counts = level_counts[level_start[a] : level_start[a] + level_count[a]]
            level = middle(counts) if rule[a] == 1 else convex_middle(counts, scratch)
            number[a] = coordinates[level_start[a] + level]
    for b in range(len(code)):
        counts = code_counts[code_start[b] : code_start[b + 1]]
        last = len(counts) - 1
        if 2 * counts[last] > left:
            code[b] = last
            continue
        if size[b] > 0:
            away = code_sums[code_start[b] : code_start[b + 1]]
            least = MOST
            for y in range(last):
                least = min(least, away[y] if counts[y] > 0 else MOST)
            least += rules[8][b] * (left - counts[last])
            y = 0
            while counts[y] == 0 or away[y] > least:
                y += 1
        else:
            most = np.int64(0)
            for y in range(last):
                most = max(most, counts[y])
            y = 0
            while counts[y] != most:
                y += 1
        code[b] = y
