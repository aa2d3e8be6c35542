# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Compiled record distances. `RecordDistance.arrays` has the arguments that all of them share:

numbers[n, p], far[p]
    Coordinates of continuous and ordinal attributes (NaN is missing), and the term of a missing and a present one.
codes[n, q], tables, start[q], size[q], unequal[q]
    Codes of taxonomic and nominal attributes. ``tables[start[b] + x * size[b] + y]`` is the term of codes x and y; a
    size of 0 means that there is no table: different codes have the term ``unequal[b]``.

Terms are always added in this order, so that every way to compute a distance gives the same bits.
"""

from __future__ import annotations

from math import isnan

from .._support.compiling import kernel

_SPACE = "f8[:, ::1], f8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]"


@kernel()
def squared(numbers, far, codes, tables, start, size, unequal, query_numbers, query_codes, j):
    """δ² of a query and record j."""
    total = 0.0
    for a in range(numbers.shape[1]):
        gap = numbers[j, a] - query_numbers[a]
        if gap == gap:
            total += gap * gap
        elif isnan(numbers[j, a]) != isnan(query_numbers[a]):
            total += far[a]
    for b in range(codes.shape[1]):
        if size[b] > 0:
            total += tables[start[b] + query_codes[b] * size[b] + codes[j, b]]
        elif query_codes[b] != codes[j, b]:
            total += unequal[b]
    return total


@kernel(f"void({_SPACE}, f8[::1], i4[::1], f8[::1])")
def squared_to_all(numbers, far, codes, tables, start, size, unequal, query_numbers, query_codes, out):
    """δ² of a query and every record."""
    for j in range(len(out)):
        out[j] = squared(numbers, far, codes, tables, start, size, unequal, query_numbers, query_codes, j)


@kernel(f"void({_SPACE}, i8, i8[::1], f8[::1])")
def squared_to_rows(numbers, far, codes, tables, start, size, unequal, i, rows, out):
    """δ² of record i and some records."""
    for at in range(len(rows)):
        out[at] = squared(numbers, far, codes, tables, start, size, unequal, numbers[i], codes[i], rows[at])
