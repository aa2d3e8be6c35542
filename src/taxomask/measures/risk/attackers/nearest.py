from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from .._among_all import Space, nearest_on, space_on
from ..inputs import chosen
from ..linkage import own_distances, spaces
from ..sampling import generator, targets, targets_on
from .attacker import Attack, Attacker, Whose, found_with, pairs_of, units_of
from .linking import by_distance, linked

__all__ = ["NEAREST", "nearest_of_people", "nearest_of_people_on"]


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


def _nearest_on(engine: Engine, tables: Tables) -> Attack:
    """The same of long tables."""
    if tables.original.units is None:
        return _nearest(tables, None)
    space = space_on(engine, tables, chosen(*tables.both, None))
    return nearest_of_people_on(engine, tables, space, "Each record by all quasi-identifiers.")


def nearest_of_people_on(engine: Engine, tables: Tables, space: Space, how: str) -> Attack:
    """Of some records of people, each among all original ones: how many of those as near as the nearest are theirs."""
    rows = targets_on(engine, tables, tables.n)
    whose, data = Whose.on(engine, tables, rows), tables.original
    assert whose is not None
    units = data.units if data.people is None else data.people
    columns = [tables.columns[name][0] for name in space.names]
    queries = space.picked(engine, tables, 1, rows)
    found = nearest_on(engine, columns, queries, space.distance)
    items = engine.cut([*columns, units], space.distance, queries, found.reach, whose.units)
    mine = sum(engine.map(_own_within, items, "linking"))
    return found_with(tables, rows, mine / found.ties, how, whose)


def _own_within(*columns_and_queries: Any) -> NDArray[np.int64]:
    """How many records of a chunk belong to the person of each query, and are within its reach."""
    *columns, units, space, queries, reach, whose = columns_and_queries
    here = space.among(columns)
    place, own = pairs_of(whose, units)
    near = own_distances(here, queries.take(place), own) <= reach[place]
    return np.bincount(place[near], minlength=len(whose))


NEAREST = Attacker(
    "nearest",
    title="nearest record",
    about="The share of records linked rightly with the nearest original one, by all quasi-identifiers.",
    knows="The original quasi-identifiers of everybody, and nothing about how the table was protected.",
    compute=_nearest,
    on_engine=_nearest_on,
    seconds=lambda tables: 1e-9 * tables.n,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    uses=("linkage",),
)
