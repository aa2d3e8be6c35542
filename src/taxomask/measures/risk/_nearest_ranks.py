"""The released records that may be nearest to original ones by ranks, whatever the number of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...partition.all_pairs import near_pairs as all_pairs

__all__ = ["near_pairs"]

Float = NDArray[np.float64]
Whole = NDArray[np.integer[Any]]
Pairs = tuple[Whole, Whole, Float]

TIES = 8  # different points at the same distance that are told apart by a tree
_FEW = 10  # columns; with more of them a tree looks at nearly all points, one by one


def near_pairs(points: Float, queries: Float) -> Iterator[Pairs]:
    """Pairs of a query and a point with their distance, a part of the queries at a time.

    The nearest points of a query are among them, and those as near: all where columns are many, else up to `TIES`.
    """
    return _by_products(points, queries) if points.shape[1] > _FEW else _by_tree(points, queries)


def _by_tree(points: Float, queries: Float) -> Iterator[Pairs]:
    from scipy.spatial import cKDTree

    away, place = cKDTree(points).query(queries, k=list(range(1, min(TIES, len(points)) + 1)))
    yield np.repeat(np.arange(len(queries)), place.shape[1]), place.ravel(), np.ravel(away)


def _by_products(points: Float, queries: Float) -> Iterator[Pairs]:
    def away(query: Whole, place: Whole) -> Float:
        return np.asarray(np.square(queries[query] - points[place]).sum(axis=1))

    for _, query, place, squared in all_pairs(points, queries, away, lambda _, squared: squared * (1 + 1e-8)):
        yield query, place, np.sqrt(squared)
