from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....engines import Engine
from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from .._among_all import space_on
from ..inputs import chosen
from ..linkage import WORST
from .attacker import Attack, Attacker, found_with
from .nearest import nearest_of_people, nearest_of_people_on

__all__ = ["PARTIAL"]


def _partial(tables: Tables, _: Progress | None) -> Attack:
    return _worst(tables, lambda names, how: nearest_of_people(tables, names, how))


def _partial_on(engine: Engine, tables: Tables) -> Attack:
    """The same of long tables."""
    space = space_on(engine, tables, chosen(*tables.both, None))
    return _worst(tables, lambda names, how: nearest_of_people_on(engine, tables, space.only(names), how))


def _worst(tables: Tables, of_people: Callable[[tuple[str, ...], str], Attack]) -> Attack:
    every = tables.found["partial_linkage"]
    worst = every[0]
    named = ", ".join(worst.attributes)
    how = f"By {named}, the worst of {len(every):,} sets of at most three columns."
    if tables.original.units is None:
        found = found_with(tables, worst.rows, worst.right / worst.ties, how)
    else:
        several = [of_people(one.attributes, how) for one in every[:WORST]]
        best = max(range(len(several)), key=lambda place: several[place].share.value)
        found = replace(several[best], how=several[best].how.replace(named, ", ".join(every[best].attributes), 1))
    return replace(found, share=found.share.largest_of(len(every)))


PARTIAL = Attacker(
    "partial",
    title="nearest record by few columns",
    about="The share of records linked rightly by the worst set of at most three quasi-identifiers.",
    knows="One, two or three of the original quasi-identifiers of everybody.",
    compute=_partial,
    on_engine=_partial_on,
    seconds=lambda tables: 1e-9 * tables.n,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    uses=("partial_linkage",),
)
