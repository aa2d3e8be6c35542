from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....methods import Progress
from ....microdata import ContinuousColumn, Role
from ....microdata.people import row_shares
from ....partition.nearest import Neighbours
from ....records import RecordDistance
from ...measure import Tables
from ..inference import members_of
from ..inputs import chosen
from ..linkage import spaces
from ..rates import Rate
from .attacker import Attack, Attacker

__all__ = ["EXTREMES", "extreme_weights"]

Float = NDArray[np.float64]

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


def _extremes(tables: Tables, _: Progress | None) -> Attack:
    original, released = tables.both
    here, there = spaces(original, released, chosen(original, released, None))
    neighbours = Neighbours(there)
    found = []
    for name in _numbers(tables):
        before, after = (data.columns[name].numbers() for data in tables.both)
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
        how = f"{name}: the owners of the {count} largest and {count} smallest values, by the nearest released record."
        found.append(Attack(share, how, int((~np.isnan(chances)).sum()), chances))
    return max(found, key=lambda one: one.share.excess)


def _reached(neighbours: Neighbours, people: RecordDistance, extreme: Float) -> Float:
    """For each of some people the chance that a record drawn from those nearest to them is an extreme one."""
    nearest = neighbours.nearest(people)
    out = np.zeros(len(nearest.ties))
    for piece, points, counts in neighbours.within(people, nearest.reach):
        rows, whose = members_of(neighbours.distinct, points, counts)
        out[piece] += np.bincount(whose, weights=extreme[rows], minlength=piece.stop - piece.start)
    return out / nearest.ties


def _numbers(tables: Tables) -> list[str]:
    """The confidential numbers of which some value is known."""
    both = tables.original.columns
    return [
        name
        for name in tables.confidential
        if isinstance(both[name], ContinuousColumn) and not both[name].missing.all()
    ]


EXTREMES = Attacker(
    "extremes",
    title="owners of extreme values",
    about="The chance that the nearest released record of an owner of an extreme confidential number shows an extreme "
    "one.",
    knows="The original quasi-identifiers of the owners of the ten largest and smallest values.",
    after="confidential",
    compute=_extremes,
    seconds=lambda tables: 1e-6 * tables.n,
    columns=Role.CONFIDENTIAL,
    needs_links=True,
    applies=lambda tables: bool(_numbers(tables)),
)
