"""The order of a million numbers in some 30 ms, and their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["centred_ranks", "in_order", "stable_order"]

_SAMPLE = 1_000  # numbers that a middle one is found from
_LOW = np.int64(0xFFFFFFFF)


def stable_order(keys: NDArray[Any]) -> NDArray[np.int64]:
    """The positions of keys from the smallest to the largest; equal ones in the order in which they stand.

    The same as ``np.argsort(keys, kind="stable")`` without NaN, some four times as fast: a 32-bit key and the position
    are packed into one integer, because whole integers are sorted faster than positions are.
    """
    return in_order(keys)[0]


def centred_ranks(keys: NDArray[Any]) -> NDArray[np.float64]:
    """2·rank − (n + 1) for each of n keys, which is an integer; equal keys share the average of their ranks."""
    n = len(keys)
    if keys.dtype.kind == "i" and keys.max(initial=0) <= 4 * n + 1024:
        sizes = np.bincount(keys)
        return (2 * np.cumsum(sizes) - sizes - n).astype(np.float64)[keys]
    order, new = in_order(keys)
    ranks = np.empty(n)
    if new.all():
        ranks[order] = np.arange(1.0 - n, n, 2)
    else:
        edges = np.concatenate([[0], np.flatnonzero(new) + 1, [n]])
        ranks[order] = np.repeat((edges[1:] + edges[:-1] - n).astype(np.float64), np.diff(edges))
    return ranks


def in_order(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The positions of the keys in their order, and whether each key differs from the one before it."""
    if keys.dtype.kind == "i" and len(keys) and not -(2**31) <= keys.min() <= keys.max() < 2**31:
        wide = np.argsort(keys, kind="stable").astype(np.int64, copy=False)
        return wide, keys[wide[1:]] != keys[wide[:-1]]
    short, exact = _short(keys)
    packed = short.astype(np.int64)
    packed <<= 32
    packed |= np.arange(len(keys))
    packed.sort()
    order = packed & _LOW
    packed >>= 32
    new = packed[1:] != packed[:-1]
    alike = np.flatnonzero(~new)
    if exact or not len(alike):
        return order, new
    before, after = keys[order[alike]], keys[order[alike + 1]]
    falls = alike[after < before]
    if len(falls):  # different numbers with the same 32-bit key: these runs are sorted once more
        runs = np.unique(packed[falls])
        edges = np.zeros(len(keys) + 1, dtype=np.int8)
        edges[np.searchsorted(packed, runs)] += 1
        edges[np.searchsorted(packed, runs, side="right")] -= 1
        places = np.flatnonzero(np.cumsum(edges[:-1], dtype=np.int8))
        order[places] = order[places[np.argsort(keys[order[places]], kind="stable")]]
        before, after = keys[order[alike]], keys[order[alike + 1]]
    new[alike] = after != before
    return order, new


def _short(keys: NDArray[Any]) -> tuple[NDArray[np.int32], bool]:
    """32-bit integers in the order of the keys, and whether they are the same for equal keys only.

    Numbers are taken from a middle one and rounded to 24 bits, which keeps those apart that lie close together far from
    zero. Neither step can turn the order of two numbers round.
    """
    if keys.dtype.kind == "i":
        return keys.astype(np.int32, copy=False), True
    some = np.sort(keys[:: len(keys) // _SAMPLE + 1])
    middle = some[len(some) // 2] if len(some) else 0.0
    with np.errstate(over="ignore", under="ignore"):
        near = keys - middle
        near += 0.0  # -0.0 becomes 0.0, which it equals
        rounded = near.astype(np.float32)
        exact = bool((rounded + middle == keys).all())
    bits = rounded.view(np.int32)
    bits ^= (bits >> 31) & np.int32(0x7FFFFFFF)
    return bits, exact
