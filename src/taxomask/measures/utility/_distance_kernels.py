# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Sums over pairs of records of the product of two distances, less those of the means of rows, without the pairs.

Records are given as cells: combinations of two values with the number of records that have them, in the order of the
first value, which is a number. ``first`` and ``second`` are the values by code. ``x`` has for each first value u itself
and u plus its mean distance to all records, ``y`` for each second value the value, if it is a number, and its mean
distance r. With A_j the sum of the distances from cell j to earlier ones in the second value, and since that to later
ones is n·r_j - A_j, the sum over all unordered pairs of |u_i - u_j|·d_ij is Σ_j w_j u_j (2 A_j - n·r_j).
"""

from __future__ import annotations

import numpy as np

from ..._support.compiling import kernel
from ...partition._vectors import prefetch

_AHEAD = 8  # records; their places in the tree are asked for so early
_CELLS = "i4[::1], i4[::1], f8[::1], f8[:, ::1]"


@kernel(f"f8({_CELLS}, f8[:, ::1], f8)")
def sum_of_numbers(first, second, weights, x, y, n):
    """Σ_j w_j (u_j 2 A_j / n - (u_j + mean distance) r_j).

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
        prefetch(y, 2 * ahead)
        for level in range(1, 4):
            prefetch(tree, 2 * ((base + ahead) >> level))
        value = y[code, 0]
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
        total += w * (2 * x[one, 0] * away / n - x[one, 1] * y[code, 1])
        every += w
        moved += wv
    return total


@kernel(f"f8({_CELLS}, f8[::1], f8[:, ::1], f8)")
def sum_of_numbers_and_concepts(first, second, weights, x, rows, table, n):
    """The same for categories with distances: for each, the sum to all earlier records is kept up to date."""
    size = len(table)
    near = np.zeros(size)
    total = 0.0
    for j in range(len(first)):
        code, w = second[j], weights[j]
        one = first[j]
        total += w * (2 * x[one, 0] * near[code] / n - x[one, 1] * rows[code])
        row = table[code]
        for other in range(size):
            near[other] += w * row[other]
    return total


@kernel(f"f8({_CELLS}, f8[::1], f8)")
def sum_of_numbers_and_categories(first, second, weights, x, rows, n):
    """The same where categories are only equal (0) or different (1)."""
    earlier = np.zeros(len(rows))
    every = total = 0.0
    for j in range(len(first)):
        code, w = second[j], weights[j]
        one = first[j]
        total += w * (2 * x[one, 0] * (every - earlier[code]) / n - x[one, 1] * rows[code])
        earlier[code] += w
        every += w
    return total
