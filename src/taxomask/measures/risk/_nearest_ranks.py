"""The released records that may be nearest to original ones by ranks, whatever the number of columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["near_pairs"]

Float = NDArray[np.float64]
Whole = NDArray[np.integer]
Pairs = tuple[Whole, Whole, Float]

TIES = 8  # different points at the same distance that are told apart by a tree
_FEW = 10  # columns; with more of them a tree looks at nearly all points, one by one
_AT_ONCE = 1 << 21  # distances


def near_pairs(points: Float, queries: Float) -> Iterator[Pairs]:
    """Pairs of a query and a point with their distance, a part of the queries at a time.

    The nearest points of a query are among them, and those as near: all where columns are many, else up to `TIES`.
    """
    return _by_products(points, queries) if points.shape[1] > _FEW else _by_tree(points, queries)


def _by_tree(points: Float, queries: Float) -> Iterator[Pairs]:
    from scipy.spatial import cKDTree

    away, place = cKDTree(points).query(queries, k=list(range(1, min(TIES, len(points)) + 1)))
    yield np.repeat(np.arange(len(queries)), place.shape[1]), place.ravel(), away.ravel()


def _by_products(points: Float, queries: Float) -> Iterator[Pairs]:
    """By products of matrices in single precision; what may be nearest but for rounding is looked at again."""
    middle = points.mean(axis=0)
    x, y = queries - middle, points - middle
    of_x, of_y = (np.square(one).sum(axis=1) for one in (x, y))
    left = np.column_stack([-2 * x, np.ones(len(x))]).astype(np.float32)
    right = np.column_stack([y, of_y]).astype(np.float32).T
    largest = np.sqrt(of_y.max()) * (np.sqrt(of_y.max()) + 2 * np.sqrt(of_x))  # of the sums of the sizes of all terms
    rounding = (2 * (x.shape[1] + 8) * 2.0**-23 * largest).astype(np.float32)
    step = max(1, _AT_ONCE // len(points))
    for start in range(0, len(x), step):
        squared = left[start : start + step] @ right  # less |x|², which is the same for all points
        limit = squared.min(axis=1) + 2 * rounding[start : start + step]
        query, place = np.nonzero(squared <= limit[:, None])
        query += start
        yield query, place, np.sqrt(np.square(queries[query] - points[place]).sum(axis=1))
