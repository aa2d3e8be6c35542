# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Sums over pairs of records of the product of two distances, less those of the means of rows, without the pairs.

Records are given as cells: combinations of two values with the number of records that have them, in the order of the
first value, which is a number. ``first`` and ``second`` are the values by code, ``x`` the numbers u, ``y`` those of the
second value, if it is one, and ``x_rows`` and ``y_rows`` the mean distances of each value to all records. With A_j the
sum of the distances from cell j to earlier ones in the second value, and since that to later ones is n·y_rows - A_j,
the sum over all unordered pairs of |u_i - u_j|·d_ij is Σ_j w_j u_j (2 A_j - n·y_rows).
"""

from __future__ import annotations

import numpy as np

from ..._support.compiling import kernel
from ...partition._vectors import prefetch

_AHEAD = 8  # records; their places in the tree are asked for so early
_CELLS = "i4[::1], i4[::1], f8[::1], f8[::1], f8[::1], f8[::1]"


@kernel(f"f8({_CELLS}, f8[::1], f8)")
def sum_of_numbers(first, second, weights, x, x_rows, y_rows, y, n):
    """Σ_j w_j (u_j 2 A_j / n - (u_j + x_rows) y_rows).

    A tree over the codes of y has in each node the weight and the sum of the earlier records in its left half. There is
    no branch in a step: half of them would be guessed wrongly.
    """
    base, levels = 1, 0
    while base < len(y):
        base *= 2
        levels += 1
    tree = np.zeros((base, 2))
    total = every = moved = 0.0
    for j in range(len(first)):
        code, w = second[j], weights[j]
        ahead = np.int64(second[min(j + _AHEAD, len(second) - 1)])
        prefetch(y, ahead)
        prefetch(y_rows, ahead)
        for level in range(1, 4):
            prefetch(tree, 2 * ((base + ahead) >> level))
        value = y[code]
        wv = w * value
        at = base + np.int64(code)
        below_n = below_y = 0.0
        for _ in range(levels):
            right = at & 1
            at >>= 1
            count, sums = tree[at, 0], tree[at, 1]
            below_n += count if right else 0.0
            below_y += sums if right else 0.0
            tree[at, 0] = count + (0.0 if right else w)
            tree[at, 1] = sums + (0.0 if right else wv)
        away = value * (2 * below_n - every) - (2 * below_y - moved)
        one = first[j]
        total += w * (2 * x[one] * away / n - (x[one] + x_rows[one]) * y_rows[code])
        every += w
        moved += wv
    return total


@kernel(f"f8({_CELLS}, f8[:, ::1], f8)")
def sum_of_numbers_and_concepts(first, second, weights, x, x_rows, y_rows, table, n):
    """The same for categories with distances: for each, the sum to all earlier records is kept up to date."""
    size = len(table)
    near = np.zeros(size)
    total = 0.0
    for j in range(len(first)):
        code, w = second[j], weights[j]
        one = first[j]
        total += w * (2 * x[one] * near[code] / n - (x[one] + x_rows[one]) * y_rows[code])
        row = table[code]
        for other in range(size):
            near[other] += w * row[other]
    return total


@kernel(f"f8({_CELLS}, f8)")
def sum_of_numbers_and_categories(first, second, weights, x, x_rows, y_rows, n):
    """The same where categories are only equal (0) or different (1)."""
    earlier = np.zeros(len(y_rows))
    every = total = 0.0
    for j in range(len(first)):
        code, w = second[j], weights[j]
        one = first[j]
        total += w * (2 * x[one] * (every - earlier[code]) / n - (x[one] + x_rows[one]) * y_rows[code])
        earlier[code] += w
        every += w
    return total
