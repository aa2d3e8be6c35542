"""Which records are looked for in a long table, and what attackers draw from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ..measure import Tables

__all__ = ["TARGETS", "generator", "numbers_on", "targets", "targets_on"]

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


def targets_on(engine: Engine, tables: Tables, n: int, most: int = TARGETS) -> NDArray[np.int64]:
    """The same of a long table, whose people no function looks at as a whole; another draw where people count."""
    units = tables.original.units
    if n <= most or units is None or len(units) != n:
        return targets(tables, n, most)
    several = engine.fold(_largest, max, [units], what="drawing a sample") + 1
    drawn = generator(tables).choice(several, min(most, several), replace=False)
    order = np.argsort(drawn)
    counts = engine.fold(_counted, np.add, [units], drawn[order], what="drawing a sample")
    until = np.empty(len(drawn), dtype=np.int64)
    until[order] = counts
    kept = drawn[: max(int(np.searchsorted(np.cumsum(until), most, side="right")), 1)]
    rows = engine.map(_of_some, engine.cut([units, range(n)], np.sort(kept)), "drawing a sample")
    return np.concatenate(rows)


def numbers_on(engine: Engine, values: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Some rows, in rising order, of an array wherever it lies."""
    found = [
        (part, rows[(rows >= start) & (rows < stop)] - start)
        for (part,), (start, stop) in zip(engine.cut([values]), engine.parts(len(values)), strict=True)
    ]
    return np.concatenate(engine.map(_picked, found, "drawing a sample"))


def _largest(units: NDArray[np.int64]) -> int:
    return int(units.max(initial=-1))


def _counted(units: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many records of a chunk each of some units has, which are in rising order."""
    place = np.minimum(np.searchsorted(drawn, units), len(drawn) - 1)
    return np.bincount(place[drawn[place] == units], minlength=len(drawn))


def _of_some(units: NDArray[np.int64], rows: range, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of a chunk that some units own."""
    place = np.minimum(np.searchsorted(drawn, units), len(drawn) - 1)
    return np.flatnonzero(drawn[place] == units) + rows.start


def _picked(values: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    return np.asarray(values[rows])
