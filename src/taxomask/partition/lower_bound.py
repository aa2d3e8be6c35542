"""No partition into groups of at least k records can have less loss than this."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_loss", "loss_of_means"]

Float = NDArray[np.float64]
Rows = NDArray[np.int64]

_AT_ONCE = 2_000_000  # distances that are held at a time
_MORE, _STEPS = 30, 60  # near records of each that are listed beyond k; rounds of shifting
_ROUNDING = 1e-9  # of the bound


def least_loss(points: Float, k: int) -> float:
    """A bound from below of the squared distances of points to the means of their groups of at least k, summed up.

    The sum over a group of m points is Σ d² / m over its pairs. However the d² of each pair is divided between the two,
    into w_ij + w_ji with none negative, a point adds (1 / m)·Σ w_ij over the others of its group: no less than
    s(m - 1) / m, with s(r) the sum of the r smallest of its w. That is least for m = k: from m to m + 1 it grows, since
    m·s(m) ≥ (m + 1)·s(m - 1) says that the m-th smallest is no smaller than s(m - 1) / m, the mean of the smaller ones
    and 0. So Σ s(k - 1) / k over all points is a bound for every division.

    It is a concave function of the division, and is raised along its subgradient: where i counts a pair among its k - 1
    smallest and j does not, some of d² goes from j to i. A point far from all others gets nearly the whole of its
    distances so. Each point lists those near to it; of the pairs that it does not list it keeps the same, which is no
    more than half of the largest d² that it lists: no pair that neither lists is too short for that.

    >>> round(least_loss(np.array([[0.0], [1.0], [5.0], [7.0]]), 2), 6)
    2.5
    """
    if len(points) < k:
        return 0.0
    near, squares = _nearest(points - points.mean(axis=0), min(k + _MORE, len(points) - 1))
    back, listed = _turned(near), near.shape[1]
    mutual = back >= 0
    unit = np.partition(squares, k - 2, axis=1)[:, k - 2]  # no w that counts need be larger
    most = np.minimum(unit, squares.max(axis=1) / 2)
    share, kept, best = np.full(near.shape, 0.5), np.minimum(most, unit / 2), 0.0
    for step in range(_STEPS):
        divided = np.where(mutual, share * squares, squares - kept[near])
        others = np.where(listed < len(points) - 1, kept, np.inf)
        every = np.concatenate([divided, np.repeat(others[:, None], k - 1, axis=1)], axis=1)
        places = np.argpartition(every, k - 2, axis=1)[:, : k - 1]
        best = max(best, float(np.take_along_axis(every, places, axis=1).sum()) / k)
        counted = np.zeros(every.shape)
        np.put_along_axis(counted, places, 1.0, axis=1)
        own, rest = counted[:, :listed], counted[:, listed:].sum(axis=1)
        size = 1.5 / (10 + step)
        share = np.clip(share + size * (own - np.where(mutual, own.ravel()[back], 0.0)), 0.0, 1.0)
        wanted = np.bincount(near.ravel(), (own * ~mutual).ravel(), minlength=len(points))
        kept = np.clip(kept + size / 2 * unit * np.sign(rest - wanted), 0.0, most)
    return best * (1 - _ROUNDING)


def _nearest(points: Float, several: int) -> tuple[Rows, Float]:
    """The nearest other points of each, and their squared distances."""
    n, squares = len(points), np.square(points).sum(axis=1)
    near = np.empty((n, several), dtype=np.int64)
    step = max(_AT_ONCE // n, 1)
    for first in range(0, n, step):
        part = np.arange(first, min(first + step, n))
        away = squares[part, None] + squares - 2 * points[part] @ points.T
        away[np.arange(len(part)), part] = np.inf
        near[part] = np.argpartition(away, several - 1, axis=1)[:, :several]
    exact = np.stack([np.square(points[near[:, place]] - points).sum(axis=1) for place in range(several)], axis=1)
    return near, exact


def _turned(near: Rows) -> Rows:
    """Where each pair stands the other way round, as a place of the flattened list; -1 if it is not listed so."""
    n, several = near.shape
    own = np.repeat(np.arange(n), several)
    there, back = own * n + near.ravel(), near.ravel() * n + own
    order = np.argsort(there)
    at = np.minimum(np.searchsorted(there[order], back), len(there) - 1)
    found = np.where(there[order[at]] == back, order[at], -1)
    return found.reshape(near.shape)


def loss_of_means(points: Float, groups: NDArray[np.int32]) -> float:
    """The squared distances of points to the means of their groups, summed up."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / sizes for column in (points - points.mean(axis=0)).T])
    return float(np.square(points - points.mean(axis=0) - means[groups]).sum())
