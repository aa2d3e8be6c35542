"""The index that large partitions search: a tree that points are removed from, and a list of the outermost points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .points import Arrays, People, Points

__all__ = ["Index", "room_for_query", "tree_of"]

_WIDE, _LEAF = 8, 16  # children of a node and points of a leaf, as in _tree_kernels.py
_MANY = 6  # so many numbers, and a look at a leaf in 32 bits pays (measured)


class Index:
    """A tree of points, for MDAV. The arrays are explained in the kernel files."""

    def __init__(self, points: Points, k: int, people: People | None = None) -> None:
        self.points, self.k, self.people, self.query = points, k, people, room_for_query(points)
        self.tree = tree_of(points, arrange=True)

    def run(self, group: int, stop: int) -> int:
        """Form groups, the first numbered ``group``, until fewer than 3k records or ``stop`` points are left.

        Where people are counted, until fewer than 3k of them are left.
        """
        points, k, people = self.points, self.k, self.people
        search, counted = _search(people)
        near = np.empty(k), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
        scratch, dirty = np.empty(len(points.sums[3]), dtype=np.int64), np.zeros(2 * k + 1, dtype=np.int64)
        records = points.space, points.gaps, points.rules, points.sums, points.lists
        shell = self._listing(np.zeros(0, dtype=np.int64), np.zeros(0), np.inf, new=False)
        while True:
            group = search(*records, self.tree, shell, self.query, near, scratch, dirty, *counted, k, group, stop)
            if (points.left if people is None else people.left) < 3 * k or self.tree[0][3] < stop:
                return group
            shell = self._outermost()

    def _outermost(self) -> Arrays:
        """List the points farthest from the average, which the query holds."""
        from ._mdav_kernels import spread

        distance = np.empty((len(self.tree[7]), _LEAF))
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
        numbers, codes, point = self.tree[5], self.tree[6], self.tree[8].ravel()[full]
        point[len(which) :] = -1
        eights, leaves = full.reshape(-1, _WIDE), full.reshape(-1, _LEAF)
        return (
            np.append(distance, np.zeros(len(full) - len(which))),
            point,
            np.ascontiguousarray(numbers[eights // _WIDE, :, eights % _WIDE].transpose(0, 2, 1)),
            np.ascontiguousarray(codes[leaves // _LEAF, :, leaves % _LEAF].transpose(0, 2, 1)),
            self.query[0].copy(),
            self.query[1].copy(),
            np.array([limit]),
            np.array([0, 0, 0, int(new)]),
        )


def _search(people: People | None) -> tuple[Any, tuple[Arrays, ...]]:
    """The loop over the tree, and what it needs to count people."""
    if people is None:
        from ._mdav_kernels import search

        return search, ()
    from ._people_kernels import search as search_people

    return search_people, (people.arrays,)


def _listed(m: int) -> float:
    """How many of m points to list as outermost: enough for as many steps as pay for making the list."""
    return max(min(m / 24, 25 * m**0.5), 64)


def tree_of(points: Points, *, arrange: bool = False) -> Arrays:
    """A tree of the points that have records left; to ``arrange`` them is to number them leaf by leaf, for speed."""
    from ._order_kernels import arrange as in_order
    from ._tree_kernels import fill

    alive = points.alive()
    tree, order = _empty(points, len(alive)), np.empty_like(alive)
    in_order(points.space, points.gaps, points.lists, alive, tree[0], tree[10], order, _room(points, len(alive)))
    if arrange:
        points.arrange(order)
        order = np.arange(len(order), dtype=np.int32)
    fill(points.space, points.gaps, points.lists, order, tree)
    return tree


def _empty(points: Points, m: int) -> Arrays:
    """The arrays of a tree of m points."""
    p, q = points.space[0].shape[1], points.space[2].shape[1]
    least, below = -(-m // _LEAF), 1  # leaves that are needed, and those below each child of the root
    while _WIDE * below < least:
        below *= _WIDE
    top = max(-(-least // below), 2)
    leaves, inner, level = top * below, 1, top
    while level < leaves:
        inner, level = inner + level, level * _WIDE
    return (
        np.array([leaves, inner, top, m]),
        _aligned((inner, p, 2, _WIDE), np.float32),
        _aligned((inner, q, 2, _WIDE), np.int32),
        _aligned((inner, _WIDE), np.float32),
        np.empty((inner, _WIDE), dtype=np.int64),
        _aligned((2 * leaves, p, _WIDE), np.float64),
        _aligned((leaves, q, _LEAF), np.int32),
        np.empty(leaves, dtype=np.int32),
        np.empty((leaves, _LEAF), dtype=np.int32),
        np.empty(len(points.head), dtype=np.int32),
        np.empty(p),
        _aligned((2 * leaves if p >= _MANY else 0, p, _WIDE), np.float32),
    )


def _aligned(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """An empty array that begins where a line of the cache does: eight numbers then never lie in one line too many."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    room = np.empty(size + 64, dtype=np.uint8)
    first = -room.ctypes.data % 64
    return room[first : first + size].view(kind).reshape(shape)


def _room(points: Points, m: int) -> tuple[Any, ...]:
    """What ordering m points needs besides."""
    rows = np.empty((m, points.space[0].shape[1]), dtype=np.float32)
    return (
        rows,
        rows.view(np.int32),
        np.empty((m, points.space[2].shape[1]), dtype=np.int32),
        np.empty(m, dtype=np.int64),
        np.empty((64, 2), dtype=np.int64),
    )


def room_for_query(points: Points) -> Arrays:
    """Room for a query and its search."""
    sizes = points.space[5]
    range_start = np.cumsum([0, *(int(size) * int(size).bit_length() for size in sizes)], dtype=np.int64)
    return (
        np.zeros(points.space[0].shape[1]),  # before there is a query its codes are looked up, too: they must exist
        np.zeros(len(sizes), dtype=np.int32),
        np.zeros(_LEAF),
        np.empty(256),
        np.empty(256, dtype=np.int64),
        np.empty(range_start[-1]),
        range_start,
        np.array([0, *(i.bit_length() - 1 for i in range(1, int(sizes.max(initial=0)) + 1))], dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.empty((5, points.space[0].shape[1]), dtype=np.float32),
        np.empty(_WIDE, dtype=np.float32),
    )
