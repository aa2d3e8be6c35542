"""What an attacker is: what it knows, what it is after, how it works, and what it finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ...measure import Measure, Tables
from ...plain import Result
from ..rates import Rate
from ..sampling import numbers_on

__all__ = ["Attack", "Attacker", "found_with", "most_telling", "own_pairs", "units_of"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Attack(Result):
    """What an attacker finds.

    Parameters
    ----------
    share
        The expected share of records (or values) that are found, with its 95 % interval and what a random guess finds.
    how
        What it did, in words.
    targets
        How many records it looked for: all of them, or a random sample.
    chances
        For each record the chance to be found; NaN if it was not looked for.
    rows
        The records that chances are of, where the table is too long to have one of each; by default all.
    households
        Where the table has people and households: the mean chance that anybody of a household is found.
    """

    share: Rate
    how: str
    targets: int
    chances: Float = field(default_factory=lambda: np.zeros(0))
    rows: Whole = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    households: float | None = None


@dataclass(frozen=True)
class Attacker(Measure):
    """Somebody who wants to know who a record is about, or a confidential value. To add one: a file, and a line.

    Parameters
    ----------
    knows
        What it knows, in one sentence for a custodian.
    after
        ``"identity"``: who a record is, or ``"confidential"``: values.
    needs_method
        Whether it must know how the table was protected.
    uses
        The measures of risk that it sums up.
    applies
        Whether there is something for it to work on, besides links and the method.
    """

    where: str = "share.value"
    headline: bool = True
    knows: str = ""
    after: Literal["identity", "confidential"] = "identity"
    needs_method: bool = False
    uses: tuple[str, ...] = ()
    applies: Callable[[Tables], bool] = field(default=lambda tables: True)

    def __post_init__(self) -> None:
        if self.rates is None:
            object.__setattr__(self, "rates", lambda found: {self.title: found.share})

    def can_be_measured(self, tables: Tables) -> bool:
        return (
            super().can_be_measured(tables)
            and (tables.attackers is None or self.name in tables.attackers)
            and (tables.method is not None or not self.needs_method)
            and (tables.known > 0)
            and self.applies(tables)
        )


def units_of(tables: Tables) -> Whole:
    """Whose each original record is: a link is right if it reaches any record of the same person (or household)."""
    data = tables.original
    units = data.units if data.people is None else data.people
    return np.arange(data.n) if units is None else units


def own_pairs(units: Whole, rows: Whole) -> tuple[Whole, Whole]:
    """Every pair of a record that is looked for (its place among the rows) and an original record of its unit."""
    return pairs_of(units[rows], units)


def pairs_of(whose: Whole, units: Whole) -> tuple[Whole, Whole]:
    """Every pair of a record that is looked for and one of some others of the same unit, by their places."""
    order = np.argsort(units, kind="stable")
    ranked = units[order]
    low, high = (np.searchsorted(ranked, whose, side) for side in ("left", "right"))
    count = high - low
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(whose)), count), order[np.repeat(low, count) + offset]


@dataclass(frozen=True, eq=False)
class Whose:
    """The person of each record that is looked for, how many people the table has, and their households."""

    units: Whole
    everybody: int
    homes: Whole | None

    @classmethod
    def of(cls, tables: Tables, rows: Whole) -> Whose:
        units, data = units_of(tables), tables.original
        homes = None if data.people is None or data.households is None else data.households[rows]
        return cls(units[rows], int(units.max(initial=0)) + 1, homes)

    @classmethod
    def on(cls, engine: Engine, tables: Tables, rows: Whole) -> Whose | None:
        """The same of long tables; None where nobody owns records."""
        data = tables.original
        units = data.units if data.people is None else data.people
        if units is None:
            return None
        homes = None if data.people is None else data.households
        return cls(
            numbers_on(engine, units, rows),
            engine.fold(_most, max, [units], what="drawing a sample") + 1,
            None if homes is None else numbers_on(engine, homes, rows),
        )


def _most(units: Whole) -> int:
    return int(units.max(initial=0))


def found_with(tables: Tables, rows: Whole, chances: Float, how: str, whose: Whose | None = None) -> Attack:
    """What was found of some of the records.

    The share is of people: the chance of a person is that of the record that is found most easily. Where the table has
    households, that of a household is the chance that anybody of it is found.
    """
    n, data = tables.released.n, tables.original
    said = f" A random {len(rows):,} of {n:,} records were looked for." if len(rows) < n else ""
    if data.units is None:
        return Attack(_rate(chances, n), how + said, len(rows), *_chances(rows, chances, n))
    whose = whose or Whose.of(tables, rows)
    several, first, place = np.unique(whose.units, return_index=True, return_inverse=True)
    each = np.zeros(len(several))
    np.maximum.at(each, place, chances)
    share = _rate(each, max(whose.everybody, 1))
    found = Attack(share, how + said, len(rows), *_chances(rows, chances, n))
    if whose.homes is None:
        return found
    homes, home = np.unique(whose.homes[first], return_inverse=True)  # of a record of each person
    spared = np.ones(len(homes))
    np.multiply.at(spared, home, 1 - each)
    return replace(found, households=float((1 - spared).mean()))


def most_telling(found: Sequence[Attack]) -> Attack:
    """The attack with the largest excess; its interval allows for its being the largest."""
    largest = max(found, key=lambda one: one.share.excess)
    return replace(largest, share=largest.share.largest_of(len(found)))


def _rate(each: Float, everybody: int) -> Rate:
    hits = math.fsum(each.tolist())  # exactly rounded: ten times 1/10 is 1, and a limit of 1/k can be kept to
    return Rate.of(hits, len(each), 1 / max(everybody, 1))


def _chances(rows: Whole, chances: Float, n: int) -> tuple[Float, Whole]:
    """For all records; of long tables, for those that were looked for."""
    if n > Engine.chunk:
        return chances, rows
    every = np.full(n, np.nan)
    every[rows] = chances
    return every, np.zeros(0, dtype=np.int64)
