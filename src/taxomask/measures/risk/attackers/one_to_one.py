from __future__ import annotations

from ....engines import Engine
from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from ..inputs import chosen
from ..linkage import spaces
from ..sampling import generator, targets
from .attacker import Attack, Attacker, found_with, units_of
from .linking import by_distance, linked, one_to_one

__all__ = ["ONE_TO_ONE"]


def _one_to_one(tables: Tables, _: Progress | None) -> Attack:
    original, released = tables.both
    here, there = spaces(original, released, chosen(original, released, None))
    rows, rng = targets(tables, released.n), generator(tables)
    units = units_of(tables)
    links = linked(by_distance(here, there), rows, units, rng)
    chances = one_to_one(links, units, rows, rng)
    how = "All records at once, no original twice, at the least total distance."
    return found_with(tables, rows, chances, how)


def _not_tried(engine: Engine, tables: Tables) -> None:
    """Of a sample of a long table hardly two records want the same original one: it would find what `nearest` does."""


ONE_TO_ONE = Attacker(
    "one_to_one",
    title="all records at once, one to one",
    about="The share of records linked rightly by the assignment of released to original ones at the least distance.",
    knows="The original quasi-identifiers of everybody, and that each record is released once.",
    compute=_one_to_one,
    on_engine=_not_tried,
    seconds=lambda tables: 3e-9 * tables.n * min(tables.n, 5_000) * tables.known,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
)
