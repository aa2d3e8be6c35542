"""Algorithm 3 of semantic rank swapping for large tables: within blocks of similar records, or parts of a long table.

Each block is as a table by itself, with a generator of its own.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import CategoricalColumn, Column, Kind, Microdata
from ..partition import median_cuts, members
from ..records import RecordDistance
from ._long_swaps import told_on
from ._parts import Parts, distance_on
from ._record_swaps import category_terms, record_terms, swap_records
from ._swapping import Swaps, Tally, exchanged
from .base import Masked, Progress

if TYPE_CHECKING:
    from .rank_swapping import RankSwapping

__all__ = ["swapped_in_parts", "swaps_in_blocks"]

Rows = NDArray[np.int64]


def swaps_in_blocks(
    method: RankSwapping, engine: Engine, data: Microdata, rng: np.random.Generator
) -> tuple[list[list[Swaps]], int]:
    """The swaps of each attribute in the blocks that have any; and the size of the largest interval."""
    blocks = engine.run(_cut, method, data, what="cutting into blocks")
    items = [(method, *block, child) for block, child in zip(blocks, rng.spawn(len(blocks)), strict=True)]
    found = engine.map(_swap_block, items, "swapping", main=True)
    each = [[swaps[place] for swaps in found if swaps] for place in range(len(method._attributes(data)))]
    return each, max(method._interval(len(rows)) for rows, _ in blocks)


def swapped_in_parts(method: RankSwapping, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
    """A long table with values exchanged in the blocks of its parts; which pairs there were is not kept."""
    assert method.block_size is not None
    names = method._attributes(data)
    columns = [data.columns[name] for name in names]
    codes = [one for one in columns if isinstance(one, CategoricalColumn) and one.attribute.kind != Kind.ORDINAL]
    if len(codes) == len(columns):
        space = RecordDistance.from_terms(category_terms([one.part(0, 0) for one in codes]))
    else:
        space = distance_on(engine, columns)
    sample, each = rng.spawn(2)
    parts = Parts.cut(engine, columns, space, method.block_size, sample)
    brought = [parts.brought(column) for column in columns]
    *made, moved, choices, sizes = parts.each(_swap_part, brought, method, space, what="swapping", rng=each, main=True)
    after = [parts.back(column, "exchanging") for column in made]
    notes = []
    for place, (before, column) in enumerate(zip(columns, after, strict=True)):
        known = engine.fold(_known, add, [before], what="exchanging")
        tally = reduce(Tally.with_, (one[place] for one in choices))
        notes += told_on(engine, before, column, known, sum(one[place] for one in moved), tally, max(sizes))
    return Masked(data.replace(dict(zip(names, after, strict=True))), notes=tuple(notes))


def _known(column: Column) -> int:
    return int((~column.missing).sum())


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


def _swap_part(*columns_and_how: Any, progress: Progress | None = None) -> tuple[Any, ...]:
    """The columns of a part of a long table with their values exchanged block by block.

    Then how many swaps of each attribute moved something, how many values each had to choose from, and the size of the
    largest interval.
    """
    *columns, method, space, rng = columns_and_how
    here = space.among(columns)
    blocks = members(median_cuts(here, method.block_size, far=False))
    found = []
    for rows, child in zip(blocks, rng.spawn(len(blocks)), strict=True):
        found.append(_swap_block(method, rows, here.take(rows), child))
        if progress is not None:
            progress(len(found) / len(blocks))
    none = Swaps(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64))
    each = [Swaps.together([none, *(swaps[place] for swaps in found if swaps)]) for place in range(len(columns))]
    made = [exchanged(column, one.pairs) for column, one in zip(columns, each, strict=True)]
    moved = [int((one.pairs[:, 0] != one.pairs[:, 1]).sum()) for one in each]
    choices = [Tally.of(one.candidates[one.candidates > 0]) for one in each]
    return *made, moved, choices, max(method._interval(len(rows)) for rows in blocks)
