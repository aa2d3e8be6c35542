from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Progress
from ....microdata import Column, Microdata, Role
from ...measure import Tables
from .._by_class import ByClass
from .._by_person import found_on, of_homes_on
from ..inputs import chosen
from ..rates import Rate
from .attacker import Attack, Attacker, found_with, own_pairs, units_of

__all__ = ["PATTERN", "missing_patterns"]

Whole = NDArray[np.int64]
_WHAT = "looking at what is missing"


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
    """The same from how many records have which patterns before and after."""
    names, n = chosen(*tables.both, None), tables.n
    columns = [tables.columns[name][when] for when in (0, 1) for name in names]
    counted = engine.fold(_counted_patterns, _added, columns, what=_WHAT)
    if set(counted) == {(0, 0)}:
        return None
    candidates = Counter[int]()
    for (here, _), count in counted.items():
        candidates[here] += count
    how = _how(len(names), len({there for _, there in counted}))
    if tables.original.units is not None:
        return _of_people_on(engine, tables, columns, candidates, how)
    hits = math.fsum(count / candidates[here] for (here, there), count in counted.items() if here == there)
    return Attack(Rate.of(hits, n, 1 / n), how, n)


def _of_people_on(
    engine: Engine, tables: Tables, columns: list[Column], candidates: Mapping[int, int], how: str
) -> Attack:
    """A record is found by any of its person's that has the pattern; a person by the record found most easily."""
    data = tables.original
    people = data.units if data.people is None else data.people
    assert people is not None
    known = {pattern: number for number, pattern in enumerate(candidates)}
    counts = np.array([*candidates.values(), 0], dtype=np.int64)
    here, there = engine.each(_numbered_patterns, columns, known, what=_WHAT)
    by = ByClass.of(engine, people)
    own = by.each(_own_chances, [by.brought(one) for one in (here, there)], counts, what=_WHAT)
    found, tops = found_on(engine, by.returned(own), people)
    attack = Attack(Rate.of(found.expected, found.people, 1 / found.people), how, tables.n)
    if data.people is None or data.households is None:
        return attack
    return replace(attack, households=of_homes_on(engine, tops, data.households)[1])


def _numbered_patterns(*columns_and_known: Any) -> tuple[Whole, Whole]:
    """The number of the pattern of each record before and after; one that nobody had before has the last."""
    *columns, known = columns_and_known
    found = []
    for some in (columns[: len(columns) // 2], columns[len(columns) // 2 :]):
        bits = np.packbits(np.column_stack([one.missing for one in some]), axis=1)
        patterns, place = np.unique(bits, axis=0, return_inverse=True)
        numbers = [known.get(int.from_bytes(one.tobytes()), len(known)) for one in patterns]
        found.append(np.array(numbers, dtype=np.int64)[place.reshape(-1)])
    return found[0], found[1]


def _own_chances(people: Whole, here: Whole, there: Whole, counts: Whole) -> NDArray[np.float64]:
    """How many of a person's original records have the pattern of each of their released ones, of all that have it."""
    size = len(counts)
    person = np.cumsum(np.concatenate([[0], people[1:] != people[:-1]]).astype(np.int64))
    keys, times = np.unique(person * size + here, return_counts=True)
    wanted = person * size + there
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, times[place], 0) / np.maximum(counts[there], 1)


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
