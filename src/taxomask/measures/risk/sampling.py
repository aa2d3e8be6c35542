"""Which records are looked for in a long table, and what attackers draw from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..measure import Tables

__all__ = ["TARGETS", "generator", "targets"]

TARGETS = 5_000  # records that are looked for, by those who take more than n log n
_STREAM = 0xA77AC  # no draw of an attacker is one of a release, even if both have the same seed


def generator(tables: Tables) -> np.random.Generator:
    """What attackers draw from: the seed of the evaluation, never that of a release."""
    if isinstance(tables.seed, np.random.Generator):
        return tables.seed
    return np.random.default_rng([tables.seed, _STREAM])


def targets(tables: Tables, n: int, most: int = TARGETS) -> NDArray[np.int64]:
    """The records that are looked for: all of a short table, else so many drawn at random; in their order.

    Of a person all records or none, so that who is found most easily is known.
    """
    if n <= most:
        return np.arange(n)
    units = tables.original.units
    if units is None or len(units) != n:
        return np.sort(generator(tables).choice(n, most, replace=False))
    order = generator(tables).permutation(int(units.max()) + 1)
    until = np.cumsum(np.bincount(units)[order])
    some = np.zeros(len(order), dtype=bool)
    some[order[: max(int(np.searchsorted(until, most, side="right")), 1)]] = True
    return np.flatnonzero(some[units])
