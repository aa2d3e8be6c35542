# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Distances of a query and combinations of values, and bounds on them for the boxes of a tree.

space = (numbers, far, codes, tables, start, size, unequal)
    The combinations, in the form of `RecordDistance.arrays`; see ``records/_kernels.py``.
tree = (order, leaf_of, numbers, codes)
    The combinations leaf by leaf, the leaf of each, and their numbers and codes in this order, one row per attribute.
    Leaf l of L holds those from l·u // L to (l + 1)·u // L - 1; it is node L + l, node i has the children 2i and
    2i + 1, the root is node 1.
boxes = (low, high, code_low, code_high, gone, count)
    For each node the range of each number and of each code, a bit for each number that is missing somewhere, and how
    many combinations there are.
query = (number, code, ranges, range_start, logs, bound, node)
    The coordinates, the minima or maxima of each run of 2^l codes in the query's rows, and a stack.

Codes are in taxonomy order: a run of codes is about equally near. Bounds are added up in the order in which distances
are: rounding is monotone, so that a bound holds to the last bit.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import makes_no_array
from ..partition._range_kernels import set_ranges as ranges_of
from ..records._kernels import squared

SPACE = "Tuple((f8[:, ::1], f8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]))"
TREE = "Tuple((i4[::1], i4[::1], f8[:, ::1], i4[:, ::1]))"
BOXES = "Tuple((f8[:, ::1], f8[:, ::1], i4[:, ::1], i4[:, ::1], i8[::1], i4[::1]))"
QUERY = "Tuple((f8[::1], i4[::1], f8[::1], i8[::1], i8[::1], f8[::1], i8[::1]))"


@makes_no_array()
def away(space, query, u):
    """The distance (or its square) of the query and a combination."""
    return squared(space[0], space[1], space[2], space[3], space[4], space[5], space[6], query[0], query[1], u)


@makes_no_array()
def ask(space, query, u):
    """Make a combination the query."""
    for a in range(len(query[0])):
        query[0][a] = space[0][u, a]
    for b in range(len(query[1])):
        query[1][b] = space[2][u, b]


@makes_no_array()
def set_ranges(space, query, most):
    """Prepare the range minima (or, if ``most``, maxima) of the rows of the query's codes."""
    tables, start, size = space[3], space[4], space[5]
    code, ranges, range_start = query[1], query[2], query[3]
    for b in range(len(code)):
        first = start[b] + code[b] * size[b]
        if size[b] > 0:
            ranges_of(tables[first : first + size[b]], ranges[range_start[b] :], most)


@makes_no_array()
def bound_of(space, boxes, query, node, most):
    """The smallest (or largest) distance of the query and a combination in the box of a node."""
    far, size, unequal = space[1], space[5], space[6]
    low, high, code_low, code_high, gone, _ = boxes
    number, code, ranges, range_start, logs, _, _ = query
    total = 0.0
    for a in range(len(number)):
        value = number[a]
        some, lowest, highest = (gone[node] >> a) & 1 == 1, low[node, a], high[node, a]
        if value != value:
            total += (far[a] if lowest <= highest else 0.0) if most else (0.0 if some else far[a])
            continue
        term = far[a] if some else (0.0 if most else np.inf)
        if lowest <= highest:
            if most:
                gap = max(value - lowest, highest - value)
                term = max(term, gap * gap)
            else:
                gap = max(lowest - value, value - highest, 0.0)
                term = min(term, gap * gap)
        total += term
    for b in range(len(code)):
        x, y, m = np.int64(code_low[node, b]), np.int64(code_high[node, b]), size[b]
        if m > 0:
            level = logs[y - x + 1]
            at = range_start[b] + level * m
            one, two = ranges[at + x], ranges[at + y + 1 - (np.int64(1) << level)]
            total += max(one, two) if most else min(one, two)
        elif most:
            total += 0.0 if x == code[b] and y == code[b] else unequal[b]
        else:
            total += 0.0 if x <= code[b] and code[b] <= y else unequal[b]
    return total


@makes_no_array()
def leaf_distances(space, tree, query, first, stop, out):
    """The distances of the query and some combinations that stand together, added up as `squared` does."""
    _, far, _, tables, start, size, unequal = space
    _, _, numbers, codes = tree
    for i in range(stop - first):
        out[i] = 0.0
    for a in range(len(numbers)):
        value, row = query[0][a], numbers[a, first:stop]
        for i in range(len(row)):
            gap = row[i] - value
            if gap == gap:
                out[i] += gap * gap
            elif value == value or row[i] == row[i]:
                out[i] += far[a]
    for b in range(len(codes)):
        code, row = query[1][b], codes[b, first:stop]
        if size[b] > 0:
            terms = tables[start[b] + code * size[b] : start[b] + (code + 1) * size[b]]
            for i in range(len(row)):
                out[i] += terms[row[i]]
        else:
            for i in range(len(row)):
                out[i] += unequal[b] if row[i] != code else 0.0
