"""Near points where columns are so many that the boxes of a tree leave hardly any point out: all pairs are looked at.

Products of matrices in single precision say which pairs are worth an exact look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["near_pairs"]

Float = NDArray[np.float64]
Whole = NDArray[np.integer[Any]]

_AT_ONCE = 1 << 22  # distances


def near_pairs(
    points: Float, queries: Float, limit: Callable[[Whole, Whole], Float]
) -> Iterator[tuple[Whole, Whole, Whole]]:
    """Queries, and the pairs of one of these and a point within its limit: δ² is at most so large, or by rounding more.

    ``limit`` is told the queries, and for each a point that is as near as any but for rounding.

    With c as large as the relative error of a sum of products, that of |y|² - 2 x·y is at most c·(|x|² + 2|y|²), since
    2|x·y| is at most |x|² + |y|².
    """
    middle = points.mean(axis=0)
    x, y = queries - middle, points - middle
    of_x, of_y = (np.square(one).sum(axis=1) for one in (x, y))
    c = (x.shape[1] + 8) * 2.0**-24
    left = np.column_stack([-2 * x, np.ones(len(x))]).astype(np.float32)
    right = np.ascontiguousarray(np.column_stack([y, of_y * (1 - 2 * c)]).astype(np.float32).T)
    step = max(1, _AT_ONCE // len(points))
    for start in range(0, len(x), step):
        asked = np.arange(start, min(start + step, len(x)))
        squared = left[asked] @ right  # less |x|², which is the same for all points
        most = limit(asked, squared.argmin(axis=1)) - (1 - c) * of_x[asked]
        near = np.flatnonzero(squared <= np.nextafter(most.astype(np.float32), np.float32(np.inf))[:, None])
        yield asked, start + near // len(points), near % len(points)
