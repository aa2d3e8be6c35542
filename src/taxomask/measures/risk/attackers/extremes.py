from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Progress
from ....methods._parts import picked_on
from ....microdata import Column, ContinuousColumn, Role
from ....microdata.people import row_shares
from ....partition.nearest import Neighbours
from ....records import RecordDistance
from ...measure import Tables
from .._among_all import Space, nearest_on, space_on
from ..guesses import members_of
from ..inputs import chosen
from ..linkage import spaces
from ..rates import Rate
from ..sampling import numbers_on
from .attacker import Attack, Attacker, most_telling

__all__ = ["EXTREMES", "extreme_weights"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

_WHAT = "looking for the largest"
MOST = 10  # of the largest and of the smallest values each, and at most a tenth of the records


def extreme_weights(values: Float, count: int) -> Float:
    """The chance of each record to be among those with the largest values, where equal ones are drawn; 0 if missing.

    >>> extreme_weights(np.array([5.0, 9.0, 5.0, np.nan, 1.0]), 2)
    array([0.5, 1. , 0.5, 0. , 0. ])
    """
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return np.zeros(len(values))
    least = known[max(len(known) - count, 0)]
    above, equal = values > least, values == least
    return np.where(above, 1.0, np.where(equal, (min(count, len(known)) - above.sum()) / max(equal.sum(), 1), 0.0))


def _extremes(tables: Tables, _: Progress | None) -> Attack | None:
    original, released = tables.both
    here, there = spaces(original, released, chosen(original, released, None))
    neighbours = Neighbours(there)
    found = []
    for name in _numbers(tables):
        before, after = (data.columns[name].numbers() for data in tables.both)
        if np.isnan(before).all():
            continue
        count = min(MOST, max(tables.n // 10, 1))
        chances, hits, owners = np.full(tables.n, np.nan), 0.0, 0.0
        for side in (1.0, -1.0):
            weight = extreme_weights(side * before, count)
            rows = np.flatnonzero(weight)
            if not 0 < len(rows) <= 2 * count:  # a value that many share singles nobody out
                continue
            reached = _reached(neighbours, here.take(rows), extreme_weights(side * after, count))
            chances[rows] = np.fmax(chances[rows], reached)
            whose = tables.original.people
            owned = weight[rows] if whose is None else weight[rows] * row_shares(whose[rows])  # everybody once
            hits, owners = hits + float(owned @ reached), owners + float(owned.sum())
        share = Rate.of(hits, round(owners), min(count / tables.n, 1.0))
        found.append(Attack(share, _how(name, count), int((~np.isnan(chances)).sum()), chances))
    return most_telling(found) if found else None


def _how(name: str, count: int) -> str:
    return f"{name}: the owners of the {count} largest and {count} smallest values, by the nearest released record."


def _reached(neighbours: Neighbours, people: RecordDistance, extreme: Float) -> Float:
    """For each of some people the chance that a record drawn from those nearest to them is an extreme one."""
    nearest = neighbours.nearest(people)
    return _weight_within(neighbours, people, nearest.reach, extreme) / nearest.ties


def _weight_within(neighbours: Neighbours, people: RecordDistance, reach: Float, extreme: Float) -> Float:
    """The weight of all records within a squared distance of each of some people."""
    out = np.zeros(people.n)
    for piece, points, counts in neighbours.within(people, reach):
        rows, whose = members_of(neighbours.distinct, points, counts)
        out[piece] += np.bincount(whose, weights=extreme[rows], minlength=piece.stop - piece.start)
    return out


def _numbers(tables: Tables) -> list[str]:
    """The confidential numbers."""
    return [name for name in tables.confidential if isinstance(tables.original.columns[name], ContinuousColumn)]


# --------------------------------------------------------------------------------------- of long tables


@dataclass(frozen=True)
class _Top:
    """The numbers that count as the largest: those above one, and with a chance those equal to it."""

    least: float
    chance: float

    def weights(self, values: Float) -> Float:
        """As `extreme_weights`."""
        return np.where(values > self.least, 1.0, np.where(values == self.least, self.chance, 0.0))


def _extremes_on(engine: Engine, tables: Tables) -> Attack | None:
    """The same, of the owners among all records."""
    space = space_on(engine, tables, chosen(*tables.both, None))
    each = [_extremes_of(engine, tables, space, name) for name in _numbers(tables)]
    known = [one for one in each if one is not None]
    return most_telling(known) if known else None


def _extremes_of(engine: Engine, tables: Tables, space: Space, name: str) -> Attack | None:
    before, after = tables.columns[name]
    count = min(MOST, max(tables.n // 10, 1))
    hits, owners, rows_of_all, known = 0.0, 0.0, [], False
    for side in (1.0, -1.0):
        here, there = (_top_on(engine, one, side, count) for one in (before, after))
        if here is None:
            continue
        known, there = True, there or _Top(np.inf, 0.0)
        found = engine.map(_above, engine.cut([before, range(len(before))], side, here.least, 2 * count), _WHAT)
        rows = np.concatenate(found)
        if not 0 < len(rows) <= 2 * count:  # a value that many share singles nobody out
            continue
        weight = here.weights(side * picked_on(engine, [before], rows, _WHAT)[0].numbers())
        people = tables.original.people
        owned = weight if people is None else weight * row_shares(numbers_on(engine, people, rows))  # everybody once
        columns = [tables.columns[one][1] for one in space.names]
        queries = space.picked(engine, tables, 0, rows)
        nearest = nearest_on(engine, columns, queries, space.distance)
        items = engine.cut([*columns, after], space.distance, queries, nearest.reach, there, side)
        reached = sum(engine.map(_extreme_hits, items, _WHAT)) / nearest.ties
        hits, owners = hits + float(owned @ reached), owners + float(owned.sum())
        rows_of_all.append(rows)
    if not known:
        return None
    share = Rate.of(hits, round(owners), min(count / tables.n, 1.0))
    return Attack(share, _how(name, count), len(np.unique(np.concatenate([*rows_of_all, np.zeros(0, np.int64)]))))


def _top_on(engine: Engine, column: Column, side: float, count: int) -> _Top | None:
    largest = engine.fold(_largest, partial(_largest_of, count=count), [column], side, count, what=_WHAT)
    if not len(largest):
        return None
    least = float(largest[0])
    equal = engine.fold(_equal, add, [column], side, least, what=_WHAT)
    return _Top(least, (len(largest) - int((largest > least).sum())) / equal)


def _largest(column: Column, side: float, count: int) -> Float:
    values = side * column.numbers()
    return np.sort(values[~np.isnan(values)])[-count:]


def _largest_of(one: Float, other: Float, count: int) -> Float:
    return np.sort(np.concatenate([one, other]))[-count:]


def _equal(column: Column, side: float, least: float) -> int:
    return int((side * column.numbers() == least).sum())


def _above(column: Column, rows: range, side: float, least: float, most: int) -> Whole:
    """The positions of values that are at least so large, no more than tell that they are too many."""
    return rows.start + np.flatnonzero(side * column.numbers() >= least)[: most + 1]


def _extreme_hits(*columns_and_people: Any) -> Float:
    """The weight of the extreme values of the records in a chunk that are as near as the nearest, for each owner."""
    *columns, column, space, people, reach, top, side = columns_and_people
    neighbours = Neighbours(space.among(columns))
    return _weight_within(neighbours, people, reach, top.weights(side * column.numbers()))


EXTREMES = Attacker(
    "extremes",
    title="owners of extreme values",
    about="The chance that the nearest released record of an owner of an extreme confidential number shows an extreme "
    "one.",
    knows="The original quasi-identifiers of the owners of the ten largest and smallest values.",
    after="confidential",
    compute=_extremes,
    on_engine=_extremes_on,
    seconds=lambda tables: 1e-6 * tables.n,
    columns=Role.CONFIDENTIAL,
    needs_links=True,
    applies=lambda tables: bool(_numbers(tables)),
)
