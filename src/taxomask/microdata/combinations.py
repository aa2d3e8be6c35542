"""Records with the same values in several columns: the same number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["combined", "numbered"]

Codes = NDArray[np.int64]

_LARGEST = 2**62


def combined(parts: Iterable[NDArray[Any]], n: int) -> Codes:
    """A key for each of n records: equal where the codes are equal in every part.

    Keys are in the order of the first part, then of the next, and so on; there may be gaps between them.

    >>> combined([np.array([0, 1, 0, -1]), np.array([2, 0, 2, 0])], 4).tolist()
    [5, 6, 5, 0]
    """
    keys, size = np.zeros(n, dtype=np.int64), 1
    for codes in parts:
        low = int(codes.min(initial=0))
        values = int(codes.max(initial=0)) - low + 1
        if size * values > _LARGEST:
            used, keys = np.unique(keys, return_inverse=True)
            size = len(used)
            if size == n:  # no two records are equal: further parts change neither that nor the order
                break
        keys *= values
        keys += codes
        keys -= low
        size *= values
    return keys


def numbered(parts: Iterable[NDArray[Any]], n: int) -> tuple[Codes, Codes]:
    """The number of each record's combination of codes, from 0 without gaps, and the first record of each combination.

    >>> numbers, first = numbered([np.array([0, 1, 0, -1]), np.array([2, 0, 2, 0])], 4)
    >>> numbers.tolist(), first.tolist()
    ([1, 2, 1, 0], [3, 0, 1])
    """
    _, first, numbers = np.unique(combined(parts, n), return_index=True, return_inverse=True)
    return numbers.astype(np.int64, copy=False), first
