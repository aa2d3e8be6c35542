"""What an attacker is: what it knows, what it is after, how it works, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...measure import Measure, Tables
from ...plain import Result
from ..rates import Rate

__all__ = ["Attack", "Attacker", "found_with", "own_pairs", "units_of"]

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
    """

    share: Rate
    how: str
    targets: int
    chances: Float = field(default_factory=lambda: np.zeros(0))


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
    """Whose each original record is: a link is right if it reaches any record of the same person."""
    return np.arange(tables.original.n)


def own_pairs(units: Whole, rows: Whole) -> tuple[Whole, Whole]:
    """Every pair of a record that is looked for (its place among the rows) and an original record of its unit."""
    order = np.argsort(units, kind="stable")
    ranked = units[order]
    low, high = (np.searchsorted(ranked, units[rows], side) for side in ("left", "right"))
    count = high - low
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(rows)), count), order[np.repeat(low, count) + offset]


def found_with(n: int, rows: Whole, chances: Float, guess: float, how: str) -> Attack:
    """What was found of some of the records."""
    every = np.full(n, np.nan)
    every[rows] = chances
    said = f" A random {len(rows):,} of {n:,} records were looked for." if len(rows) < n else ""
    return Attack(Rate.of(float(chances.sum()), len(chances), guess), how + said, len(rows), every)
