"""Who is alone in a long table in which people have several records: of some people, compared with all records.

Somebody is alone if they have a record that nobody else's equals. Which people are looked at is decided by a number
drawn from theirs; of these, all combinations of values are looked for in every record.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..measures.risk._by_person import different_on, owned_by
from ..microdata.frames import Frame
from .seen import distinct_in, value_numbers
from .singled_out import SingledOut
from .values import Numbers, joined, mixed

__all__ = ["alone_of_people", "keys_of"]

_LEAST = 4096  # records of those who are looked at, at least
_WHAT = "counting who is alone"
_NOBODY = np.iinfo(np.int64).max

Key = Hashable
Whole = NDArray[np.int64]
Ends = tuple[Whole, Whole]


@dataclass(frozen=True)
class _Looked:
    """The released columns, those that are released as they are, and pairs of these."""

    names: tuple[str, ...]
    same: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    def combinations(self, released: Frame) -> dict[Key, Numbers]:
        """A number for the values of each record in all columns, in those released as they are, and in each pair."""
        numbers = {name: value_numbers(distinct_in(released, name)) for name in self.names}
        found: dict[Key, Numbers] = {"all": _joined(released.n, numbers.values())}
        if self.same:
            found["same"] = _joined(released.n, (numbers[name] for name in self.same))
        return found | {pair: joined(numbers[pair[0]], numbers[pair[1]]) for pair in self.pairs}


def alone_of_people(
    engine: Engine,
    units: Whole,
    unit: str,
    released: Sequence[Frame],
    columns: tuple[Sequence[str], Sequence[str], Sequence[tuple[str, str]]],
    *,
    exact: bool,
) -> SingledOut:
    """Which share of people, or households, is alone.

    Parameters
    ----------
    engine, units, unit
        Where the table is, whose its records are, and in a word what they are.
    released
        The released table in chunks.
    columns
        The names of the released columns, of those that are released as they are, and pairs of these.
    exact
        Whether it must be known for sure how many are alone by what is released as it is.
    """
    same, pairs = columns[1], columns[2]
    looked, n = _Looked(tuple(columns[0]), tuple(same), tuple(pairs)), len(units)
    share = min(1.0, max(engine.chunk // 16, _LEAST) / n)
    cut = [(own, part, looked) for (own,), part in zip(engine.cut([units]), released, strict=True)]
    sought = reduce(_with, engine.map(_of_some, [(*item, share) for item in cut], _WHAT))
    values = {key: np.unique(one[:, 0]) for key, one in sought.items()}
    ends = reduce(_widened, engine.map(_whose, [(*item, values) for item in cut], _WHAT))
    several = max(len(np.unique(sought["all"][:, 1])), 1)
    alone = {key: _alone(one, values[key], *ends[key]) / several for key, one in sought.items()}
    worst = max(pairs, key=alone.__getitem__) if pairs else None
    as_they_are = alone.get("same", 0.0)
    if exact and same and share < 1:
        keys = engine.each(_keys, [range(n)], same, what=_WHAT, own=list(released))
        as_they_are = owned_by(engine, keys, units)[2] / max(different_on(engine, units), 1)
    by = alone[worst] if worst else 0.0
    return SingledOut(as_they_are, by, worst or (), alone["all"], len(same), len(pairs), unit, share, unit)


def keys_of(released: Frame, names: Iterable[str]) -> Whole:
    """A number for the values of each record in some columns, in 63 bits."""
    together = _joined(released.n, (value_numbers(distinct_in(released, name)) for name in names))
    return (together >> np.uint64(1)).astype(np.int64)


def _keys(rows: range, names: Sequence[str], released: Frame) -> Whole:
    return keys_of(released, names)


def _joined(n: int, numbers: Iterable[Numbers]) -> Numbers:
    return reduce(joined, numbers, np.zeros(n, dtype=np.uint64))


def _of_some(units: Whole, released: Frame, looked: _Looked, share: float) -> dict[Key, Numbers]:
    """The combinations of values that some people have, each with whose it is."""
    chosen = (
        mixed(units.astype(np.uint64)) < np.uint64(int(share * 2.0**64)) if share < 1 else np.ones(len(units), bool)
    )
    whose = units[chosen].astype(np.uint64)
    combinations = looked.combinations(released)
    return {key: _unique(np.stack([one[chosen], whose], axis=1)) for key, one in combinations.items()}


def _with(one: Mapping[Key, Numbers], other: Mapping[Key, Numbers]) -> dict[Key, Numbers]:
    return {key: _unique(np.concatenate([some, other[key]])) for key, some in one.items()}


def _unique(pairs: Numbers) -> Numbers:
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return np.asarray(pairs[new])


def _whose(units: Whole, released: Frame, looked: _Looked, values: Mapping[Key, Numbers]) -> dict[Key, Ends]:
    """The smallest and the largest number of those who have each combination in a chunk."""
    found = {}
    for key, one in looked.combinations(released).items():
        wanted = values[key]
        low, high = np.full(len(wanted), _NOBODY), np.full(len(wanted), -1)
        if len(wanted):
            place = np.minimum(np.searchsorted(wanted, one), len(wanted) - 1)
            here = np.flatnonzero(wanted[place] == one)
            np.minimum.at(low, place[here], units[here])
            np.maximum.at(high, place[here], units[here])
        found[key] = low, high
    return found


def _widened(one: Mapping[Key, Ends], other: Mapping[Key, Ends]) -> dict[Key, Ends]:
    return {key: (np.minimum(low, other[key][0]), np.maximum(high, other[key][1])) for key, (low, high) in one.items()}


def _alone(sought: Any, values: Numbers, low: Whole, high: Whole) -> int:
    """How many have a combination that nobody else has."""
    single = (low == high)[np.searchsorted(values, sought[:, 0])]
    return len(np.unique(sought[single, 1]))
