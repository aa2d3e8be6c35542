"""The index that large partitions search: a tree that points are removed from, and a list of the outermost points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .points import Arrays, Points

__all__ = ["Index"]

_WIDE, _LEAF = 8, 16  # children of a node and points of a leaf, as in _tree_kernels.py
_MANY = 6  # so many numbers, and a look at a leaf in 32 bits pays (measured)


class Index:
    """A tree of points, for MDAV. The arrays are explained in the kernel files."""

    def __init__(self, points: Points, alive: NDArray[np.int32], k: int) -> None:
        from ._tree_kernels import build

        self.points, self.k = points, k
        self.tree, self.query = _tree(points, len(alive)), _query(points)
        build(points.space, points.gaps, points.lists, alive, self.tree, _room(points, len(alive)))

    def run(self, group: int, stop: int) -> int:
        """Form groups, the first numbered ``group``, until fewer than 3k records or ``stop`` points are left."""
        from ._mdav_kernels import search

        points, k = self.points, self.k
        near = np.empty(k), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
        scratch, dirty = np.empty(len(points.sums[3]), dtype=np.int64), np.zeros(2 * k + 1, dtype=np.int64)
        records = points.space, points.gaps, points.rules, points.sums, points.lists
        shell = self._listing(np.zeros(0, dtype=np.int64), np.zeros(0), np.inf, new=False)
        while True:
            group = search(*records, self.tree, shell, self.query, near, scratch, dirty, k, group, stop)
            if points.left < 3 * k or self.tree[0][3] < stop:
                return group
            shell = self._outermost()

    def _outermost(self) -> Arrays:
        """List the points farthest from the average, which the query holds."""
        from ._mdav_kernels import spread

        distance = np.empty((len(self.tree[9]), _LEAF))
        spread(self.points.space, self.points.gaps, self.tree, self.query, distance)
        flat, m = distance.ravel(), int(self.tree[0][3])
        sample = flat[:: max(len(flat) // 4096, 1)]
        sample = np.sort(sample[sample >= 0])
        limit = sample[int(len(sample) * max(1 - _listed(m) / m, 0))] if len(sample) else np.inf
        which = np.flatnonzero(flat > limit)
        if len(which) > m // 4 + 256:  # an unlucky sample; the search manages without a list
            which = which[:0]
        which = which[np.argsort(-flat[which])]
        return self._listing(which, flat[which], limit)

    def _listing(
        self, which: NDArray[np.int64], distance: NDArray[np.float64], limit: float, new: bool = True
    ) -> Arrays:
        """A list of places in the tree; all points not listed are within ``limit``."""
        full = np.append(which, np.zeros(-len(which) % _LEAF, dtype=np.int64))  # the last sixteen filled up
        leaf, lane = full.reshape(-1, _LEAF) // _LEAF, full.reshape(-1, _LEAF) % _LEAF
        point = self.tree[10][leaf, lane].ravel()
        point[len(which) :] = -1
        return (
            np.append(distance, np.zeros(len(full) - len(which))),
            point,
            *(np.ascontiguousarray(rows[leaf, :, lane].transpose(0, 2, 1)) for rows in self.tree[7:9]),
            self.query[0].copy(),
            self.query[1].copy(),
            np.array([limit]),
            np.array([0, 0, 0, int(new)]),
        )


def _listed(m: int) -> float:
    """How many of m points to list as outermost: enough for as many steps as pay for making the list."""
    return max(min(m / 24, 25 * m**0.5), 64)


def _tree(points: Points, m: int) -> Arrays:
    """The arrays of a tree of m points, empty."""
    p, q = points.space[0].shape[1], points.space[2].shape[1]
    depth = max((m - 1).bit_length() - 4, 1)  # 2^depth leaves have up to 16 points each
    leaves, top = 1 << depth, 1 << ((depth - 1) % 3 + 1)
    inner, level = 1, top
    while level < leaves:
        inner, level = inner + level, level * _WIDE
    return (
        np.array([leaves, inner, top, m]),
        *(_aligned((inner, p, _WIDE), np.float32) for _ in range(2)),
        *(_aligned((inner, q, _WIDE), np.int32) for _ in range(2)),
        _aligned((inner, _WIDE), np.float64),
        np.empty((inner, _WIDE), dtype=np.int64),
        _aligned((leaves, p, _LEAF), np.float64),
        _aligned((leaves, q, _LEAF), np.int32),
        np.empty(leaves, dtype=np.int32),
        np.empty((leaves, _LEAF), dtype=np.int32),
        np.empty(len(points.head), dtype=np.int32),
        np.empty(p),
        _aligned((leaves if p >= _MANY else 0, 2, p, _WIDE), np.float32),
    )


def _aligned(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """An empty array that begins where a line of the cache does: eight numbers then never lie in one line too many."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    room = np.empty(size + 64, dtype=np.uint8)
    first = -room.ctypes.data % 64
    return room[first : first + size].view(kind).reshape(shape)


def _room(points: Points, m: int) -> tuple[Any, ...]:
    """What building a tree of m points needs besides."""
    p, q = points.space[0].shape[1], points.space[2].shape[1]
    return (
        np.empty((m, p)),
        np.empty((m, q), dtype=np.int32),
        np.empty(m, dtype=np.int64),
        np.empty(m),
        np.empty((64, 2), dtype=np.int64),
    )


def _query(points: Points) -> Arrays:
    """Room for a query and its search."""
    sizes = points.space[5]
    range_start = np.cumsum([0, *(int(size) * int(size).bit_length() for size in sizes)], dtype=np.int64)
    return (
        np.empty(points.space[0].shape[1]),
        np.empty(len(sizes), dtype=np.int32),
        np.zeros(_LEAF),
        np.empty(256),
        np.empty(256, dtype=np.int64),
        np.empty(range_start[-1]),
        range_start,
        np.array([0, *(i.bit_length() - 1 for i in range(1, int(sizes.max(initial=0)) + 1))], dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.empty((5, points.space[0].shape[1]), dtype=np.float32),
    )
