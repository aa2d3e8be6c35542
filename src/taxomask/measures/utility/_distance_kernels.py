# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Sums over all pairs of records of the product of two distances, without the pairs.

Records are given as cells: combinations of two values with the number of records that have them, in the order of the
first value, which is a number. Each unordered pair counts once.
"""

from __future__ import annotations

import numpy as np

from ..._support.compiling import kernel


@kernel("f8(f8[::1], f8[::1], i8[::1], f8[::1])")
def sum_of_numbers(x, y, ranks, weights):
    """Σ |x_i - x_j|·|y_i - y_j|; ``ranks`` are those of y among its distinct values, from 0.

    Of the earlier records (smaller x), those with y up to the present one are kept in a Fenwick tree of four sums.
    """
    size = 0
    for rank in ranks:
        size = max(size, rank + 1)
    tree = np.zeros((size + 1, 4))
    n = sx = sy = sxy = 0.0
    total = 0.0
    for j in range(len(x)):
        u, v, w = x[j], y[j], weights[j]
        below_n = below_x = below_y = below_xy = 0.0
        at = ranks[j] + 1
        while at > 0:
            below_n += tree[at, 0]
            below_x += tree[at, 1]
            below_y += tree[at, 2]
            below_xy += tree[at, 3]
            at -= at & -at
        below = u * v * below_n - u * below_y - v * below_x + below_xy
        total += w * (2 * below - (u * v * n - u * sy - v * sx + sxy))
        at = ranks[j] + 1
        while at <= size:
            tree[at, 0] += w
            tree[at, 1] += w * u
            tree[at, 2] += w * v
            tree[at, 3] += w * u * v
            at += at & -at
        n += w
        sx += w * u
        sy += w * v
        sxy += w * u * v
    return total


@kernel("f8(f8[::1], i8[::1], f8[::1], f8[:, ::1])")
def sum_of_numbers_and_concepts(x, codes, weights, table):
    """Σ |x_i - x_j|·table[c_i, c_j]: for each category, its distances to all earlier records are kept up to date."""
    size = len(table)
    near = np.zeros(size)
    moved = np.zeros(size)
    total = 0.0
    for j in range(len(x)):
        code = codes[j]
        total += weights[j] * (x[j] * near[code] - moved[code])
        row = table[code]
        w = weights[j]
        wx = weights[j] * x[j]
        for other in range(size):
            near[other] += w * row[other]
            moved[other] += wx * row[other]
    return total


@kernel("f8(f8[::1], i8[::1], f8[::1], i8)")
def sum_of_numbers_and_categories(x, codes, weights, size):
    """The same where categories are only equal (0) or different (1)."""
    n = np.zeros(size)
    sx = np.zeros(size)
    all_n = all_x = total = 0.0
    for j in range(len(x)):
        code = codes[j]
        total += weights[j] * (x[j] * (all_n - n[code]) - (all_x - sx[code]))
        n[code] += weights[j]
        sx[code] += weights[j] * x[j]
        all_n += weights[j]
        all_x += weights[j] * x[j]
    return total
