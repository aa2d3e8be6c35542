"""No partition into groups of at least k records can have less loss than this."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_loss", "loss_of_means"]

_AT_ONCE = 2_000_000  # distances that are held at a time


def least_loss(points: NDArray[np.float64], k: int) -> float:
    """A bound from below of the squared distances of points to the means of their groups of at least k, summed up.

    The sum over a group of m points is Σ over pairs of d² / m, so that a point adds (1 / 2m)·Σ d² over the others of
    its group: at least s(m - 1) / 2m, with s(r) the sum of the r smallest d² to other points. That is least for m = k:
    from m to m + 1 it grows, since m·s(m) ≥ (m + 1)·s(m - 1) says that the m-th smallest is no smaller than
    s(m - 1) / m, the mean of the smaller ones and 0. The bound is Σ s(k - 1) / 2k over all points.

    >>> least_loss(np.array([[0.0], [1.0], [5.0], [7.0]]), 2)
    2.5
    """
    n = len(points)
    if n < k:
        return 0.0
    origin = points - points.mean(axis=0)
    squares, total = np.square(origin).sum(axis=1), 0.0
    for first in range(0, n, max(_AT_ONCE // n, 1)):
        part = slice(first, first + max(_AT_ONCE // n, 1))
        away = squares[part, None] + squares - 2 * origin[part] @ origin.T
        near = np.partition(away, k - 1, axis=1)[:, :k]  # the point itself among them, at 0
        total += float(np.maximum(near, 0.0).sum())
    return total / (2 * k)


def loss_of_means(points: NDArray[np.float64], groups: NDArray[np.int32]) -> float:
    """The squared distances of points to the means of their groups, summed up."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / sizes for column in (points - points.mean(axis=0)).T])
    return float(np.square(points - points.mean(axis=0) - means[groups]).sum())
