"""Record linkage of tables that lie in files, block by block: no job holds more than a few blocks.

The nearest record of a query is looked for in blocks, the nearest block first. A block is left out if all that is in it
is farther away than the ties of what was found, or of the query's own original record: see `Extent`. So the result is
that of `record_linkage`, to the last bit, whatever the blocks are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engines import Keeper, Site, open_site
from ...microdata import Microdata
from ...partition import median_cuts, members
from ...partition.extent import Extent
from ...partition.nearest import Distinct, Nearest, Neighbours
from .linkage import Linkage, own_distances, spaces, summed_up
from .tables import chosen

__all__ = ["linkage_in_blocks"]

_BLOCK = 1 << 20  # records; in more and smaller blocks more have to be looked at


def linkage_in_blocks(site: Site, original: Microdata, released: Microdata, *, block_size: int = _BLOCK) -> Linkage:
    """The linkage of records in the same order by all quasi-identifiers, wherever the tables lie."""
    prefix = site.prefix("linkage")
    jobs = [site.dump((original, released, block_size, prefix), prefix)]
    ((blocks, parts),) = site.map(_arrange, jobs, "linking (arranging the records)")
    extents = site.map(_extent, [(prefix, block) for block in range(blocks)], "linking (blocks)")
    site.store.put(f"{prefix}/extents", extents)
    site.map(_search, [(prefix, part) for part in range(parts)], "linking")
    (found,) = site.map(_join, [(prefix, parts, chosen(original, released, None))], "linking (summing up)")
    kept = ("space", "extents", "records", *(f"block-{block}" for block in range(blocks)))
    site.store.drop(*(f"{prefix}/{key}" for key in kept))
    linkage: Linkage = found
    return linkage


def _arrange(store: Keeper, dumped: Any) -> tuple[int, int]:
    """Keep the original records in blocks, and the different released ones in parts; how many there are of each."""
    original, released, size, prefix = open_site(store).load(dumped)
    here, there = spaces(original, released, chosen(original, released, None))
    own = own_distances(here, there, np.arange(there.n))
    distinct = Distinct.of(there)
    store.put(f"{prefix}/records", (distinct.point, own))
    store.put(f"{prefix}/space", here.take(np.empty(0, dtype=np.intp)))
    blocks = members(median_cuts(here, size))
    for number, rows in enumerate(blocks):
        store.put(f"{prefix}/block-{number}", here.records(rows))
    del here
    limit = np.minimum.reduceat(own[distinct.records], distinct.start[:-1])
    different = there.take(distinct.first)
    parts = members(median_cuts(different, size))
    for number, rows in enumerate(parts):
        store.put(f"{prefix}/part-{number}", (rows, different.records(rows), limit[rows]))
    return len(blocks), len(parts)


def _extent(store: Keeper, item: tuple[str, int]) -> Extent:
    prefix, number = item
    return Extent.of(store.shared(f"{prefix}/space").with_records(store.get(f"{prefix}/block-{number}")))


def _search(store: Keeper, item: tuple[str, int]) -> None:
    """The distance up to which records are as near to each query of a part as the nearest, and how many these are."""
    prefix, number = item
    space, extents = store.shared(f"{prefix}/space"), store.shared(f"{prefix}/extents")
    rows, records, limit = store.get(f"{prefix}/part-{number}")
    queries, found = space.with_records(records), Nearest.within(limit, space.slack)
    around = Extent.of(queries)
    apart = np.array([extent.apart(around) for extent in extents])
    blocks = np.argsort(apart, kind="stable").tolist()
    for block in blocks:
        reach = found.reach
        if apart[block] > reach.max():
            break
        some = extents[block].reach(queries, reach)
        if len(some):
            found.put(some, _neighbours(store, prefix, block).search(queries.take(some), found.take(some)))
    unsure, reach = np.flatnonzero(found.ties < 0), found.reach
    found.ties[unsure] = 0
    for block in blocks if len(unsure) else ():
        some = unsure[extents[block].reach(queries.take(unsure), reach[unsure])]
        if len(some):
            found.ties[some] += _neighbours(store, prefix, block).count_within(queries.take(some), reach[some])
    store.put(f"{prefix}/found-{number}", (rows, reach, found.ties))
    store.drop(f"{prefix}/part-{number}")


def _neighbours(store: Keeper, prefix: str, block: int) -> Neighbours:
    return Neighbours(store.shared(f"{prefix}/space").with_records(store.get(f"{prefix}/block-{block}")))


def _join(store: Keeper, item: tuple[str, int, tuple[str, ...]]) -> Linkage:
    prefix, parts, names = item
    point, own = store.get(f"{prefix}/records")
    reach, ties = np.empty(len(own)), np.empty(len(own), dtype=np.int64)  # there are not more points than records
    for number in range(parts):
        rows, some, counts = store.get(f"{prefix}/found-{number}")
        reach[rows], ties[rows] = some, counts
        store.drop(f"{prefix}/found-{number}")
    return summed_up(names, own <= reach[point], ties[point], len(own))
