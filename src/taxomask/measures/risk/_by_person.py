"""What counts people, or households, of long tables in place of records, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods._runs import Runs, runs_of
from ...microdata import Microdata
from ...microdata.people import class_owners
from ._by_class import ByClass, keys_on

__all__ = ["Found", "different_on", "easiest_on", "found_on", "of_homes_on", "owned_by", "owned_on", "row_shares_on"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
_WHAT = "counting people"


def different_on(engine: Engine, numbers: NDArray[Any]) -> int:
    """How many different numbers there are; negative ones do not count."""
    ordered = engine.sort(numbers, _WHAT)
    return engine.fold(runs_of, Runs.then, [ordered], what=_WHAT).count if len(ordered) else 0


def row_shares_on(engine: Engine, owners: Whole) -> Float:
    """As `row_shares`: of each record 1 over how many its owner has."""
    by = ByClass.of(engine, owners)
    shares: Float = by.returned(by.each(_shares, [], what=_WHAT))
    return shares


def owned_on(
    engine: Engine, data: Microdata, names: Iterable[str], units: Whole
) -> tuple[Whole, tuple[Whole, Whole], int]:
    """The classes of a table by some columns, in units of which each record has one: see `owned_by`."""
    return owned_by(engine, keys_on(engine, (data.columns[name] for name in names)), units)


def owned_by(engine: Engine, keys: Whole, units: Whole) -> tuple[Whole, tuple[Whole, Whole], int]:
    """Of records with the same key: how many units the class of each record has; how many classes have how many; and
    how many units are alone in one."""
    classes = ByClass.of(engine, keys)
    brought = classes.brought(units)
    sizes, counted = classes.each(_owners, [brought], what=_WHAT)
    alone = different_on(engine, engine.each(_of_one, [brought, sizes], what=_WHAT))
    return classes.returned(sizes), _together(counted), alone


def easiest_on(engine: Engine, sizes: Whole, people: Whole | None) -> tuple[Whole, Whole]:
    """The smallest class in which each person has a record: the sizes that occur, and how many people have each."""
    if people is None:
        return _together(engine.map(_different, engine.cut([sizes]), _WHAT))
    by = ByClass.of(engine, people)
    return _together(by.map(_smallest, [by.brought(sizes)], what=_WHAT))


@dataclass(frozen=True)
class Found:
    """The chances of people to be found, each by the record of theirs that is found most easily: how many there are,
    the sum, the largest, and how many are above a threshold."""

    people: int
    expected: float
    highest: float
    above: int

    def with_(self, other: Found) -> Found:
        return Found(
            self.people + other.people,
            self.expected + other.expected,
            max(self.highest, other.highest),
            self.above + other.above,
        )


def found_on(engine: Engine, chances: Float, people: Whole | None, threshold: float = 0.2) -> tuple[Found, Float]:
    """What the chances of records are for people; and that of each person at their first record, 0 at others."""
    if people is None:
        return engine.fold(_found, Found.with_, [chances], threshold, what=_WHAT), chances
    by = ByClass.of(engine, people)
    tops, found = by.each(_tops, [by.brought(chances)], threshold, what=_WHAT)
    return reduce(Found.with_, found), by.returned(tops)


def of_homes_on(engine: Engine, tops: Float, homes: Whole) -> tuple[Found, float]:
    """The chance that somebody of a household is found, of each record of it; and the mean over households."""
    by = ByClass.of(engine, homes)
    parts = by.map(_of_homes, [by.brought(tops)], what=_WHAT)
    found = reduce(Found.with_, (one for one, _, _ in parts))
    return found, sum(one for _, one, _ in parts) / sum(one for _, _, one in parts)


def _together(counted: Sequence[tuple[Whole, Whole]]) -> tuple[Whole, Whole]:
    """Different numbers of several parts, and how often each occurs in all of them."""
    values, place = np.unique(np.concatenate([one for one, _ in counted]), return_inverse=True)
    times = np.zeros(len(values), dtype=np.int64)
    np.add.at(times, place, np.concatenate([one for _, one in counted]))
    return values, times


def _starts(keys: Whole) -> NDArray[np.intp]:
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))


def _shares(keys: Whole) -> Float:
    sizes = np.diff(_starts(keys), append=len(keys))
    return np.asarray(np.repeat(1.0 / sizes, sizes))


def _owners(keys: Whole, units: Whole) -> tuple[Whole, tuple[Whole, Whole]]:
    """How many units the class of each record has, and how many classes have how many."""
    classes = np.cumsum(np.concatenate([[0], keys[1:] != keys[:-1]]).astype(np.int64))
    sizes = class_owners(classes, units).astype(np.int64)
    return sizes[classes], _different(sizes)


def _different(sizes: Whole) -> tuple[Whole, Whole]:
    values, counts = np.unique(sizes, return_counts=True)
    return values, counts.astype(np.int64)


def _of_one(units: Whole, sizes: Whole) -> Whole:
    """The units that are alone in a class; -1 of others."""
    return np.where(sizes == 1, units, -1)


def _smallest(keys: Whole, sizes: Whole) -> tuple[Whole, Whole]:
    return _different(np.minimum.reduceat(sizes, _starts(keys)))


def _found(chances: Float, threshold: float) -> Found:
    return Found(len(chances), float(chances.sum()), float(chances.max()), int((chances > threshold).sum()))


def _tops(keys: Whole, chances: Float, threshold: float) -> tuple[Float, Found]:
    starts = _starts(keys)
    tops, at_first = np.maximum.reduceat(chances, starts), np.zeros(len(keys))
    at_first[starts] = tops
    return at_first, _found(tops, threshold)


def _of_homes(homes: Whole, tops: Float) -> tuple[Found, float, int]:
    """Of each record; and the sum over households, and how many there are."""
    starts = _starts(homes)
    with np.errstate(divide="ignore"):
        each = -np.expm1(np.add.reduceat(np.log1p(-tops), starts))
    return _found(np.repeat(each, np.diff(starts, append=len(homes))), 1.0), float(each.sum()), len(each)
