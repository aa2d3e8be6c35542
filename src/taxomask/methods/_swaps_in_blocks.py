"""Algorithm 3 of semantic rank swapping for large tables: within blocks of similar records, or parts of a long table.

Each block is as a table by itself, with a generator of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import CategoricalColumn, Kind, Microdata
from ..partition import median_cuts, members
from ..records import RecordDistance
from ._parts import Parts, distance_on
from ._record_swaps import category_terms, record_terms, swap_records
from ._swapping import Swaps
from .base import Progress

if TYPE_CHECKING:
    from .rank_swapping import RankSwapping

__all__ = ["swaps_in_blocks"]

Rows = NDArray[np.int64]


def swaps_in_blocks(
    method: RankSwapping, engine: Engine, data: Microdata, rng: np.random.Generator
) -> tuple[list[list[Swaps]], int]:
    """The swaps of each attribute in the blocks, or parts, that have any; and the size of the largest interval."""
    found, k = (_in_blocks if data.n <= engine.chunk else _in_parts)(method, engine, data, rng)
    return [[swaps[place] for swaps in found if swaps] for place in range(len(method._attributes(data)))], k


def _in_blocks(
    method: RankSwapping, engine: Engine, data: Microdata, rng: np.random.Generator
) -> tuple[list[list[Swaps]], int]:
    blocks = engine.run(_cut, method, data, what="cutting into blocks")
    items = [(method, *block, child) for block, child in zip(blocks, rng.spawn(len(blocks)), strict=True)]
    found = engine.map(_swap_block, items, "swapping", main=True)
    return found, max(method._interval(len(rows)) for rows, _ in blocks)


def _in_parts(
    method: RankSwapping, engine: Engine, data: Microdata, rng: np.random.Generator
) -> tuple[list[list[Swaps]], int]:
    assert method.block_size is not None
    columns = [data.columns[name] for name in method._attributes(data)]
    codes = [one for one in columns if isinstance(one, CategoricalColumn) and one.attribute.kind != Kind.ORDINAL]
    if len(codes) == len(columns):
        space = RecordDistance.from_terms(category_terms([one.part(0, 0) for one in codes]))
    else:
        space = distance_on(engine, columns)
    sample, each = rng.spawn(2)
    parts = Parts.cut(engine, columns, space, method.block_size, sample)
    brought = [parts.order, *(parts.brought(column) for column in columns)]
    items = engine.cut(brought, method, space, rng=each, edges=parts.edges)
    found = engine.map(_swap_part, items, "swapping", main=True)
    return [swaps for swaps, _ in found], max(k for _, k in found)


def _cut(method: RankSwapping, data: Microdata) -> list[tuple[Rows, RecordDistance]]:
    """The rows of each block, and how far apart its records are."""
    assert method.block_size is not None
    space = RecordDistance.from_terms(record_terms(data, method._attributes(data)))
    return [(rows, space.take(rows)) for rows in members(median_cuts(space, method.block_size))]


def _swap_block(method: RankSwapping, rows: Rows, space: RecordDistance, rng: np.random.Generator) -> list[Swaps]:
    """The swaps of each attribute in a block; none if it has one record."""
    whole = method.interval == "open"
    swaps = swap_records(space.terms, method._interval(len(rows)), whole, rng) if len(rows) > 1 else []
    return [Swaps(rows[one.pairs], one.candidates) for one in swaps]


def _swap_part(
    positions: NDArray[Any], *columns_and_how: Any, progress: Progress | None = None
) -> tuple[list[Swaps], int]:
    """The swaps of each attribute in a part of a long table, and the size of the largest interval."""
    *columns, method, space, rng = columns_and_how
    here = space.among(columns)
    blocks = members(median_cuts(here, method.block_size, far=False))
    found = []
    for rows, child in zip(blocks, rng.spawn(len(blocks)), strict=True):
        found.append(_swap_block(method, rows, here.take(rows), child))
        if progress is not None:
            progress(len(found) / len(blocks))
    each = [Swaps.together(some) for some in zip(*(swaps for swaps in found if swaps), strict=True)]
    swaps = [Swaps(positions[one.pairs].astype(np.int64), one.candidates) for one in each]
    return swaps, max(method._interval(len(rows)) for rows in blocks)
