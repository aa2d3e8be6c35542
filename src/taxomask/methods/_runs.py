"""How many records have the same values in several columns, when no job can hold all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine

__all__ = ["Runs", "combined_on", "runs_of"]

_LARGEST = 2**62


@dataclass(frozen=True)
class Runs:
    """Equal keys that follow each other in some sorted keys: the first and the last run, and what lies between.

    ``inner`` is the length of the shortest run but for the first and the last one, which may go on elsewhere, and
    ``single`` how many of these others are one key only.
    """

    first: tuple[int, int]
    last: tuple[int, int]
    inner: float
    count: int
    single: int = 0

    @property
    def shortest(self) -> int:
        """The length of the shortest run."""
        return int(min(self.first[1], self.last[1], self.inner))

    @property
    def alone(self) -> int:
        """How many keys stand once."""
        ends = [self.first, self.last] if self.count > 1 else [self.first]
        return self.single + sum(length == 1 for _, length in ends)

    def then(self, other: Runs) -> Runs:
        """The runs of these keys and of some that follow them."""
        inner, single = min(self.inner, other.inner), self.single + other.single
        if self.last[0] != other.first[0]:
            between = [run[1] for runs, run in ((self, self.last), (other, other.first)) if runs.count > 1]
            single += sum(length == 1 for length in between)
            return Runs(self.first, other.last, min(inner, *between, np.inf), self.count + other.count, single)
        joined = self.last[0], self.last[1] + other.first[1]
        if self.count > 1 and other.count > 1:
            inner = min(inner, joined[1])
        first = self.first if self.count > 1 else joined
        last = other.last if other.count > 1 else joined
        return Runs(first, last, inner, self.count + other.count - 1, single)


def runs_of(keys: NDArray[np.int64]) -> Runs:
    """The runs of some sorted keys, at least one."""
    edges = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]])
    sizes = np.diff(edges)
    first, last = (int(keys[0]), int(sizes[0])), (int(keys[-1]), int(sizes[-1]))
    inner = sizes[1:-1]
    return Runs(first, last, float(inner.min(initial=np.iinfo(np.int64).max)), len(sizes), int((inner == 1).sum()))


def combined_on(engine: Engine, parts: Iterable[NDArray[Any]], n: int) -> NDArray[np.int64]:
    """A key for each of n records: equal where the codes, from -1 on, are equal in every part. See `combined`.

    Of the parts no more than one is needed at a time.
    """
    keys: NDArray[np.int64] = engine.each(_zeros, [range(n)], what="combining")
    size = 1
    for codes in parts:
        values = engine.fold(_largest, max, [codes], what="combining") + 2
        if size * values > _LARGEST:  # equal keys have equal ranks
            keys, size = engine.each(_whole, [engine.rank(keys, "combining")], n, what="combining"), 2 * n
        keys = engine.each(_with, [keys, codes], values, what="combining")
        size *= values
        del codes  # before the next one is made
    return keys


def _zeros(rows: range) -> NDArray[np.int64]:
    return np.zeros(len(rows), dtype=np.int64)


def _largest(codes: NDArray[Any]) -> int:
    return int(codes.max(initial=-1))


def _whole(ranks: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    return ranks.astype(np.int64) + (n - 1)


def _with(keys: NDArray[np.int64], codes: NDArray[Any], values: int) -> NDArray[np.int64]:
    return keys * values + codes + 1
