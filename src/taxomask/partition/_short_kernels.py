# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""A quick look at a leaf: do 32 bits tell that none of its points matters?

In many dimensions most leaves that a search comes to hold nothing that it is after. Their points are compared with the
query in 32 bits first, both counted from the middle of the tree and rounded to nearest. Let x, q be what is exact and
X, Q what is rounded: by the triangle inequality, |x - q| and |X - Q| differ by no more than |x - X| + |q - Q|, the
blur. The sum of squares |X - Q|² has a relative error besides, and may lose what underflows. Hence the points that
matter, and at times a few more, pass; distances that count are computed in 64 bits.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined
from ._tree_kernels import WIDE, above, below
from ._vectors import add_squares, filled

TINY = 1e-37  # more than what a sum of squares in 32 bits can lose by underflow


@inlined
def rounding(tree):
    """The largest relative error of a sum of squared differences in 32 bits, with some to spare."""
    return (tree[1].shape[1] + 8) * 2.0**-23


@inlined
def norm_of(gaps, tree, query):
    """The squared distance of the query from the middle, over the numbers that are never missing."""
    norm = 0.0
    for a in range(len(query[0])):
        if not gaps[a]:
            norm += (query[0][a] - tree[10][a]) ** 2
    return norm


@inlined
def blurring(tree, norm):
    """How much rounding to 32 bits can change the distance of the query and a point, at most; infinite: very much."""
    if len(tree[11]) == 0:
        return np.inf
    most = 0.0
    for j in range(WIDE):
        most = max(most, np.float64(tree[3][0, j]))
    return 2.0**-23 * (np.sqrt(most) + np.sqrt(norm)) + 1e-40 if max(most, norm) < 1e70 else np.inf


@inlined
def not_nearer(tree, needed, blur):
    """What a sum of squares in 32 bits comes to, at least, where the exact one reaches what is needed."""
    root = np.sqrt(max(needed, 0.0)) - blur
    return below((root * root - TINY) * (1.0 - rounding(tree))) if root > 0.0 else np.float32(0.0)


@inlined
def not_farther(tree, limit, blur):
    """What a sum of squares in 32 bits comes to, at most, where the exact one is within the limit."""
    root = np.sqrt(limit) + blur
    return above(root * root * (1.0 + rounding(tree)) + TINY)


@inlined
def short_numbers(gaps, tree, query, leaf, half):
    """The sums of squares, in 32 bits, of eight points of a leaf over the numbers that are never missing."""
    p, value, total = tree[5].shape[1], query[10][4], filled(np.float32(0.0))
    for a in range(p):
        if not gaps[a]:
            total = add_squares(total, tree[11], ((2 * leaf + half) * p + a) * WIDE, value[a])
    return total
