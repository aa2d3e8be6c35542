"""Record linkage of tables that lie in files, block by block: nobody holds more than a few blocks.

The nearest record of a query is looked for in blocks, the nearest block first. A block is left out if all that is in it
is farther away than the ties of what was found, or of the query's own original record: see `Extent`. So the result is
that of `record_linkage`, to the last bit, whatever the blocks are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import Microdata, Role
from ...partition import median_cuts, members
from ...partition.extent import Extent
from ...partition.nearest import Distinct, Nearest, Neighbours
from ...records import RecordDistance
from ..measure import Figure, Measure
from .inputs import chosen
from .linkage import Linkage, own_distances, record_linkage, spaces, summed_up

__all__ = ["LINKAGE", "linkage_in_blocks"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def linkage_in_blocks(engine: Engine, original: Microdata, released: Microdata) -> Linkage:
    """The linkage of records in the same order by all quasi-identifiers, wherever the tables lie."""
    names, size = chosen(original, released, None), engine.block or original.n
    records = engine.run(_arranged, original, released, names, size, what="linking (arranging the records)")
    extents = engine.map(Extent.of, [(block,) for block in records.blocks], "linking (blocks)")
    items = [(part, records.blocks, extents) for part in records.parts]
    found = engine.map(_searched, items, "linking", main=True)
    rows = [part.rows for part in records.parts]
    linkage: Linkage = engine.run(_joined, names, records.point, records.own, rows, found, what="linking (summing up)")
    return linkage


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the different released records, and the distance up to which each must be looked for."""

    rows: Int
    queries: RecordDistance
    limit: Float


@dataclass(frozen=True, eq=False)
class _Arranged:
    """The original records in blocks, and the different released ones in parts.

    For each released record, which of the different ones it is, and how far it is from its original.
    """

    blocks: list[RecordDistance]
    parts: list[_Part]
    point: NDArray[np.int32]
    own: Float


def _arranged(original: Microdata, released: Microdata, names: tuple[str, ...], size: int) -> _Arranged:
    here, there = spaces(original, released, names)
    own = own_distances(here, there, np.arange(there.n))
    distinct = Distinct.of(there)
    blocks = [here.take(rows) for rows in members(median_cuts(here, size))]
    del here
    limit = np.minimum.reduceat(own[distinct.records], distinct.start[:-1])
    different = there.take(distinct.first)
    parts = [_Part(rows, different.take(rows), limit[rows]) for rows in members(median_cuts(different, size))]
    return _Arranged(blocks, parts, distinct.point, own)


def _searched(part: _Part, spaces: list[RecordDistance], extents: list[Extent]) -> tuple[Float, Int]:
    """The distance up to which records are as near to each query of a part as the nearest, and how many these are."""
    queries, found = part.queries, Nearest.within(part.limit, spaces[0].slack)
    around = Extent.of(queries)
    apart = np.array([extent.apart(around) for extent in extents])
    blocks = np.argsort(apart, kind="stable").tolist()
    for block in blocks:
        reach = found.reach
        if apart[block] > reach.max():
            break
        some = extents[block].reach(queries, reach)
        if len(some):
            found.put(some, Neighbours(spaces[block]).search(queries.take(some), found.take(some)))
    unsure, reach = np.flatnonzero(found.ties < 0), found.reach
    found.ties[unsure] = 0
    for block in blocks if len(unsure) else ():
        some = unsure[extents[block].reach(queries.take(unsure), reach[unsure])]
        if len(some):
            found.ties[some] += Neighbours(spaces[block]).count_within(queries.take(some), reach[some])
    return reach, found.ties


def _joined(
    names: tuple[str, ...], point: NDArray[np.int32], own: Float, rows: list[Int], found: list[tuple[Float, Int]]
) -> Linkage:
    reach, ties = np.empty(len(own)), np.empty(len(own), dtype=np.int64)  # there are not more points than records
    for some, (far, counts) in zip(rows, found, strict=True):
        reach[some], ties[some] = far, counts
    return summed_up(names, own <= reach[point], ties[point], len(own))


LINKAGE = Measure(
    "linkage",
    title="linked by all quasi-identifiers",
    about="The share of records linked rightly with the nearest original one; of equally near ones one is drawn.",
    paper="record linkage",
    compute=lambda tables, _: record_linkage(*tables.both),
    seconds=lambda tables: 2e-6 * tables.n * tables.known,
    where="expected.value",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    headline=True,
    on_engine=lambda engine, tables: linkage_in_blocks(engine, *tables.both),
    rates=lambda found: {"linked by all quasi-identifiers": found.expected},
    more=(
        Figure(
            "unique.value",
            "linked for sure",
            "The share of records whose own original is nearer than any other.",
            "record linkage, unique",
            lambda found: {"linked, and no other record is as near": found.unique},
        ),
    ),
)
