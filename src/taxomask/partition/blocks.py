"""Blocks of similar records, for tables too large to be partitioned in one piece."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..records import RecordDistance

__all__ = ["in_blocks", "median_cuts"]

Numbers = NDArray[np.int32]

_PAIRS = 2000  # pairs of records that tell how much an attribute still varies in a block


def median_cuts(space: RecordDistance, size: int) -> Numbers:
    """The block of each record: the table is cut at the median, again and again, until no block exceeds the size.

    Each cut is along the attribute that contributes most to the distances within the block. Records with equal values
    are told apart by their position in the table.
    """
    blocks = np.zeros(space.n, dtype=np.int32)
    waiting, number = [np.arange(space.n)], 0
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            blocks[rows] = number
            number += 1
            continue
        term = max(space.terms, key=lambda term: _spread(term.coordinates[rows], term.between))
        order = rows[np.argsort(term.coordinates[rows], kind="stable")]
        half = len(order) // 2
        waiting += [np.sort(order[half:]), np.sort(order[:half])]
    return blocks


def in_blocks(blocks: Numbers, partition: Callable[[NDArray[np.intp]], Numbers]) -> Numbers:
    """Partition the records of each block by themselves; groups are numbered through."""
    groups = np.empty(len(blocks), dtype=np.int32)
    order = np.argsort(blocks, kind="stable")
    first = 0
    for rows in np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1):
        inside = partition(rows)
        groups[rows] = inside + first
        first += int(inside.max()) + 1
    return groups


def _spread(coordinates: NDArray[np.generic], between: Callable[..., NDArray[np.float64]]) -> float:
    """The mean term of pairs of records that are half a block apart in the table."""
    half = len(coordinates) // 2
    step = max(half // _PAIRS, 1)
    first, second = coordinates[:half:step], coordinates[half : 2 * half : step]
    return float(np.mean([between(a, second[i : i + 1])[0] for i, a in enumerate(first)]))
