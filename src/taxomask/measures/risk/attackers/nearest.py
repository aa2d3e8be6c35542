from __future__ import annotations

from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from ..inputs import chosen
from ..linkage import spaces
from ..sampling import generator, targets
from .attacker import Attack, Attacker, found_with, units_of
from .linking import by_distance, linked

__all__ = ["NEAREST", "nearest_of_people"]


def _nearest(tables: Tables, _: Progress | None) -> Attack:
    names = chosen(*tables.both, None)
    if tables.original.units is not None:
        return nearest_of_people(tables, names, "Each record by all quasi-identifiers.")
    linkage = tables.found["linkage"]
    return found_with(tables, linkage.rows, linkage.right / linkage.ties, "Each record by all quasi-identifiers.")


def nearest_of_people(tables: Tables, names: tuple[str, ...], how: str) -> Attack:
    """The same where a link with any record of a person is right."""
    here, there = spaces(*tables.both, names)
    rows = targets(tables, tables.released.n)
    links = linked(by_distance(here, there), rows, units_of(tables), generator(tables), near=1)
    return found_with(tables, rows, links.chances, how)


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
