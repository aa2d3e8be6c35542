from __future__ import annotations

import numpy as np

from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from .attacker import Attack, Attacker

__all__ = ["NEAREST"]


def _nearest(tables: Tables, _: Progress | None) -> Attack:
    linkage = tables.found["linkage"]
    chances = linkage.right / linkage.ties
    return Attack(linkage.expected, "Each record by all quasi-identifiers.", len(chances), np.asarray(chances))


NEAREST = Attacker(
    "nearest",
    title="nearest record",
    about="The share of records linked rightly with the nearest original one, by all quasi-identifiers.",
    knows="The original quasi-identifiers of everybody, and nothing about how the table was protected.",
    compute=_nearest,
    seconds=lambda tables: 1e-9 * tables.n,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    uses=("linkage",),
)
