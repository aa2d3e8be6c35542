from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Progress
from ....microdata import Column, Microdata, Role
from ...measure import Tables
from ..inputs import chosen
from ..rates import Rate
from .attacker import Attack, Attacker, found_with, own_pairs, units_of

__all__ = ["PATTERN", "missing_patterns"]


def missing_patterns(data: Microdata, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which cells of each record are missing."""
    return np.column_stack([data.columns[name].missing for name in names])


def _pattern(tables: Tables, _: Progress | None) -> Attack | None:
    original, released = tables.both
    names = chosen(original, released, None)
    both = np.concatenate([missing_patterns(data, names) for data in (original, released)])
    if not both.any():
        return None
    number = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    here, there = number[: original.n], number[original.n :]
    candidates = np.bincount(here, minlength=int(number.max()) + 1)
    whose, own = own_pairs(units_of(tables), np.arange(released.n))
    right = np.bincount(whose, weights=here[own] == there[whose], minlength=released.n)
    chances = right / np.maximum(candidates[there], 1)
    how = _how(len(names), len(np.unique(there)))
    return found_with(tables, np.arange(released.n), chances, how)


def _pattern_on(engine: Engine, tables: Tables) -> Attack | None:
    """The same from how many records have which patterns before and after; where people count, in one job."""
    if tables.original.units is not None:
        found: Attack | None = engine.run(_pattern, tables, None, what="looking at what is missing")
        return found
    names, n = chosen(*tables.both, None), tables.n
    columns = [tables.columns[name][when] for when in (0, 1) for name in names]
    counted = engine.fold(_counted_patterns, _added, columns, what="looking at what is missing")
    if set(counted) == {(0, 0)}:
        return None
    candidates = Counter[int]()
    for (here, _), count in counted.items():
        candidates[here] += count
    hits = math.fsum(count / candidates[here] for (here, there), count in counted.items() if here == there)
    patterns = len({there for _, there in counted})
    return Attack(Rate.of(hits, n, 1 / n), _how(len(names), patterns), n)


def _counted_patterns(*columns: Column) -> dict[tuple[int, int], int]:
    """How many records of a chunk have which pattern before and after; a pattern has a bit for each column."""
    sides = [
        np.packbits(np.column_stack([one.missing for one in some]), axis=1)
        for some in (columns[: len(columns) // 2], columns[len(columns) // 2 :])
    ]
    pairs, counts = np.unique(np.concatenate(sides, axis=1), axis=0, return_counts=True)
    half = pairs.shape[1] // 2
    return {
        (int.from_bytes(pair[:half].tobytes()), int.from_bytes(pair[half:].tobytes())): count
        for pair, count in zip(pairs, counts.tolist(), strict=True)
    }


def _added(one: dict[tuple[int, int], int], other: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in sorted(one.keys() | other.keys())}


def _how(columns: int, patterns: int) -> str:
    return f"By which of {columns} columns are missing: {patterns:,} pattern{'s' * (patterns != 1)}."


PATTERN = Attacker(
    "pattern",
    title="which cells are missing",
    about="The share of records linked rightly by nothing but which of their quasi-identifiers are missing.",
    knows="Which quasi-identifiers of everybody are missing in the original table, but none of their values.",
    compute=_pattern,
    on_engine=_pattern_on,
    seconds=lambda tables: 2e-7 * tables.n * tables.known,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
)
