"""Rows that change places, and their order, when no job can hold all of them.

Rows are exchanged in two rounds: every chunk sorts its rows by where they go, and every place takes its own from all
chunks. To sort keys, places are ranges of keys: some keys of every chunk tell where ranges of about the length of a
chunk end. Equal keys are told apart by their position, so that a range is never longer for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.sorting import centred_ranks, in_order, stable_order

__all__ = [
    "Sorted",
    "cut_keys",
    "merged",
    "moved",
    "order_of",
    "ranked",
    "ranks_of",
    "sampled",
    "sorted_keys",
    "splitters",
    "spread",
]

Array: TypeAlias = NDArray[Any]
Pieces: TypeAlias = list[tuple[Array, Any]]

SAMPLE = 1_000  # keys of a chunk that tell where ranges end


# --------------------------------------------------------------------------------------- in one piece


def order_of(keys: Array) -> NDArray[np.int64]:
    """The order of keys without the missing ones."""
    rows = _present(keys)
    return stable_order(keys) if rows is None else rows[stable_order(keys[rows])]


def ranks_of(keys: Array) -> NDArray[np.float64]:
    """The centred ranks of keys; 0 of missing ones."""
    rows = _present(keys)
    if rows is None:
        return centred_ranks(keys)
    ranks = np.zeros(len(keys))
    ranks[rows] = centred_ranks(keys[rows])
    return ranks


def _present(keys: Array) -> NDArray[np.int64] | None:
    """The positions of the keys that are not missing; None if none is."""
    missing = keys < 0 if keys.dtype.kind == "i" else np.isnan(keys)
    return np.flatnonzero(~missing) if missing.any() else None


def sorted_keys(pieces: Pieces) -> Array:
    """The keys of a range in their order."""
    keys = np.concatenate([one for one, _ in pieces]) if len(pieces) > 1 else pieces[0][0]
    rows = _present(keys)
    found = (keys if rows is None else keys[rows]) + keys.dtype.type(0)  # one zero
    found.sort()
    return found


def moved(pieces: Pieces, start: int, stop: int, fill: Any) -> Array:
    """The rows that go to places from start to stop, each at its place."""
    first = pieces[0][0]
    shape = (stop - start, *first.shape[1:])
    found = np.empty(shape, first.dtype) if fill is None else np.full(shape, fill, first.dtype)
    for rows, places in pieces:
        found[places - start if start else places] = rows
    return found


# --------------------------------------------------------------------------------------- places


@dataclass(frozen=True, eq=False)
class Sorted:
    """Rows of a chunk, or keys, with their places, sorted by where they go; those of each lie between two edges."""

    rows: Array
    places: Array
    edges: NDArray[np.int64]

    def to(self, number: int) -> tuple[Array, Array]:
        """What goes to one chunk or range."""
        where = slice(int(self.edges[number]), int(self.edges[number + 1]))
        return self.rows[where], self.places[where]


def spread(rows: Array, places: Array, chunk: int, n: int) -> Sorted:
    """Rows by the chunk that they go to."""
    count = -(-n // chunk)
    whither = (places // chunk).astype(np.int16 if count < 1 << 15 else np.int64)  # short ones are sorted faster
    order = np.argsort(whither, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(whither, minlength=count))])
    return Sorted(rows[order], places[order].astype(_position_type(n), copy=False), edges)


def _position_type(n: int) -> type[np.integer[Any]]:
    return np.int32 if n < 1 << 31 else np.int64


# --------------------------------------------------------------------------------------- keys


def sampled(keys: Array, positions: range) -> tuple[Array, NDArray[np.int64], int]:
    """Some keys of a chunk with their positions, and how many keys it has."""
    rows = _present(keys)
    rows = np.arange(len(keys)) if rows is None else rows
    some = rows[:: max(len(rows) // SAMPLE, 1)]
    return keys[some], positions.start + some, len(rows)


def splitters(samples: Sequence[tuple[Array, NDArray[np.int64], int]], chunk: int) -> tuple[Array, NDArray[np.int64]]:
    """The first key of each range but the first one, with its position."""
    keys, positions = (np.concatenate(some) for some in ([one[0] for one in samples], [one[1] for one in samples]))
    ranges = max(-(-sum(one[2] for one in samples) // chunk), 1)
    order = np.lexsort((positions, keys))
    at = order[np.arange(1, ranges) * len(order) // ranges] if len(order) else order
    return keys[at], positions[at]


def cut_keys(
    keys: Array, positions: range, first: Array, where: NDArray[np.int64], n: int, told: bool
) -> tuple[Sorted, NDArray[np.int64], NDArray[np.int64]]:
    """The keys of a chunk by the range that they fall into, each with its position, if that is ``told``.

    ``first`` and ``where`` are the first key of each range but the first one, and its position. Of each it is told how
    many keys here are below it, and how many up to it: equal ones may fall into several ranges.
    """
    order = order_of(keys)
    ours = keys[order]
    placed = order + positions.start
    below, upto = (np.searchsorted(ours, first, side=side) for side in ("left", "right"))
    inner = [low + np.searchsorted(placed[low:high], at) for low, high, at in zip(below, upto, where, strict=True)]
    edges = np.array([0, *inner, len(ours)], dtype=np.int64)
    return Sorted(ours, placed.astype(_position_type(n)) if told else placed[:0], edges), below, upto


def merged(pieces: Pieces) -> NDArray[np.int64]:
    """The positions of a range in the order of their keys. Pieces come in the order of the chunks."""
    keys, positions = (np.concatenate(some) for some in zip(*pieces, strict=True))
    return positions[stable_order(keys)].astype(np.int64)


def ranked(
    pieces: Pieces, start: int, m: int, known: Sequence[tuple[Any, int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The positions of a range, and the centred ranks of their keys.

    ``known`` are keys that may stand in other ranges too, each with how many keys are below and up to it.
    """
    keys, positions = (np.concatenate(some) for some in zip(*pieces, strict=True))
    order, new = in_order(keys)
    edges = np.concatenate([[0], np.flatnonzero(new) + 1, [len(keys)]]) if len(keys) else np.zeros(1, np.int64)
    below, upto = start + edges[:-1], start + edges[1:]
    ours = keys[order[edges[:-1]]]
    for key, least, most in known:
        same = ours == key
        below, upto = np.where(same, least, below), np.where(same, most, upto)
    ranks = np.repeat((below + upto - m).astype(np.float64), np.diff(edges))
    return positions[order].astype(np.int64), ranks
