# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The least or the largest number in any run of a row, in two looks: tables over all runs of 2^l numbers."""

from __future__ import annotations

from .._support.compiling import makes_no_array


@makes_no_array()
def set_ranges(row, ranges, most):
    """ranges[l·m + y] = the least (or, if ``most``, the largest) of row[y:y + 2^l], where the row has m numbers."""
    m = len(row)
    for y in range(m):
        ranges[y] = row[y]
    begin, step = 0, 1
    while 2 * step <= m:
        longer, shorter = ranges[begin + m : begin + 2 * m], ranges[begin : begin + m]
        stop = m - 2 * step + 1
        left, right = shorter[:stop], shorter[step : step + stop]
        if most:
            for y in range(stop):
                longer[y] = left[y] if left[y] > right[y] else right[y]
        else:
            for y in range(stop):
                longer[y] = left[y] if left[y] < right[y] else right[y]
        begin += m
        step *= 2
