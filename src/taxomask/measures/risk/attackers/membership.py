from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....engines import Memory
from ....errors import DataError
from ....methods import Progress
from ....methods.decimals import rounded
from ....microdata import Role
from ....partition.nearest import Neighbours
from ...measure import Tables
from ..linkage import spaces
from ..rates import Rate
from ..sampling import TARGETS, generator
from .attacker import Attack, Attacker

__all__ = ["MEMBERSHIP", "share_told_apart"]

Float = NDArray[np.float64]

LEAST = 40  # records of which a half can be made into a table
_Z = 1.959963984540054


def share_told_apart(members: Float, others: Float) -> tuple[Rate, Float]:
    """2·AUC - 1 of telling members, who are nearer, from others; and for each member what it is against all others.

    The interval is that of Hanley and McNeil (1982) for the area under a ROC curve.

    >>> share_told_apart(np.array([1.0, 2.0]), np.array([2.0, 3.0, 4.0]))[0].value
    0.833...
    """
    ranked = np.sort(others)
    nearer = len(others) - np.searchsorted(ranked, members, "right")
    equal = np.searchsorted(ranked, members, "right") - np.searchsorted(ranked, members, "left")
    each = (nearer + equal / 2) / len(others)
    area = float(each.mean())
    once, twice = area / (2 - area), 2 * area**2 / (1 + area)
    spread = (len(members) - 1) * (once - area**2) + (len(others) - 1) * (twice - area**2)
    error = np.sqrt(max(area * (1 - area) + spread, 0.0) / (len(members) * len(others)))
    low, value, high = (float(np.clip(2 * (area + step * error) - 1, 0.0, 1.0)) for step in (-_Z, 0.0, _Z))
    return Rate(value, low, high, 0.0, len(members) + len(others)), np.clip(2 * each - 1, 0.0, 1.0)


def _membership(tables: Tables, _: Progress | None) -> Attack | None:
    method, data, rng = tables.method, tables.original, generator(tables)
    assert method is not None
    order = rng.permutation(data.n)
    inside, outside = order[: data.n // 2], order[data.n // 2 :]
    half = data.take(np.sort(inside))
    try:
        masked = rounded(Memory(), half, method.mask(half, rng.spawn(1)[0]), method, method.promises(half))
    except DataError:  # half of the table is too little for the method
        return None
    names = (*data.schema.quasi_identifiers, *tables.confidential)
    here, there = spaces(data, masked.data, names)
    neighbours = Neighbours(there)
    some = [rows[: TARGETS // 2] for rows in (inside, outside)]
    distances = [neighbours.nearest(here.take(rows)).squared for rows in some]
    share, each = share_told_apart(*distances)
    chances = np.full(data.n, np.nan)
    chances[some[0]] = each
    how = f"Fitted on a random half: {len(some[0]):,} records of it against {len(some[1]):,} others."
    return Attack(share, how, sum(map(len, some)), chances)


MEMBERSHIP = Attacker(
    "membership",
    title="tells who is in the table",
    about="How well people whose records were used are told from others: 2·AUC - 1, by the nearest synthetic record.",
    knows="Whole records of people, and the method; not which of them the table was made from.",
    compute=_membership,
    seconds=lambda tables: 3e-5 * tables.n,
    columns=Role.QUASI_IDENTIFIER,
    needs_method=True,
    sampled=True,
    applies=lambda tables: not tables.linked and tables.n >= LEAST,
)
