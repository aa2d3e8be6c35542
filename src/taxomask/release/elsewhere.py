"""Values of a protected column that stand in other rows of the same person or household.

The weight at the visit before, the age of the head of the household, the number of the stay that went before: no row
tells its own value by them, and yet somebody's value is released as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..microdata import Microdata
from ..microdata.frames import Frame
from .seen import Seen, distinct_in, seen, value_numbers
from .telling import ENOUGH, SAMPLE
from .twins import Finding, percent
from .values import Numbers, joined, mixed

__all__ = ["Own", "elsewhere", "own_rows", "values_of"]

_CHANCE = 0.2  # of the rows of others that have the value as well: of more it says little
_LEAST = 20  # rows in which it must stand,
_DIFFERENT = 10  # with so many values
_MOVES = 3  # parts of the rows by which they are moved, to count what chance does

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Own:
    """Some records of people or households who have several, and whose each is."""

    rows: Whole
    units: Numbers
    unit: str


def own_rows(data: Microdata) -> Own | None:
    """All rows of some people; None if nobody has several."""
    units = data.units
    if units is None:
        return None
    several = np.flatnonzero(np.bincount(units) > 1)
    some = several[np.linspace(0, len(several) - 1, min(len(several), SAMPLE)).astype(np.int64)]
    rows = np.flatnonzero(np.isin(units, some))
    rows = rows[np.argsort(units[rows], kind="stable")][:SAMPLE]
    unit = "household" if data.households is not None else "person"
    return Own(rows, mixed(units[rows].astype(np.uint64)), unit) if len(rows) else None


def values_of(frame: Frame, name: str, own: Own) -> Numbers:
    """The value of a column in each of the records, as a number; 0 for none."""
    column: Seen = seen(frame, name)
    if column.amounts is None:
        return value_numbers(distinct_in(frame, name))[own.rows]
    numbers = column.amounts[own.rows] + 0.0  # one zero
    return np.where(np.isnan(numbers), np.uint64(0), np.maximum(mixed(numbers.view(np.uint64)), np.uint64(1)))


def elsewhere(
    data: Microdata, released: Frame, name: str, own: Own, columns: Sequence[tuple[str, Numbers]]
) -> list[Finding]:
    """The columns that have values of a protected or removed one in the rows of the same person.

    In half of the records beyond chance. Values that the method left as they were are no matter.
    """
    if name in (data.schema.person, data.schema.household):
        return []
    original = Own(data.rows[own.rows], own.units, own.unit)
    values = values_of(data.frame, name, original)
    hidden = values != 0
    if name in released.names:
        hidden &= values != values_of(released, name, own)
    theirs = np.unique(joined(own.units[hidden], values[hidden]))
    found = []
    for column, numbers in columns:
        there = numbers != 0
        units, numbers = own.units[there], numbers[there]
        hits = np.isin(joined(units, numbers), theirs)
        if hits.sum() < _LEAST or len(np.unique(numbers[hits])) < _DIFFERENT:
            continue
        moved = np.roll(units, len(units) // _MOVES)
        chance, share = float(np.isin(joined(moved, numbers), theirs).mean()), float(hits.mean())
        if chance <= _CHANCE and share - chance >= ENOUGH * (1 - chance):
            words = (
                f"{column} has {name} of a row of the same {own.unit} in {percent(share)} of the records that were "
                f"looked at, and in {percent(chance)} by chance"
            )
            found.append(Finding((column,), name, words))
    return found
