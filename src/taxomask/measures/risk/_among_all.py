"""Some records looked for among all of a long table: no job holds more of it than a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods._parts import distance_on, picked_on
from ...microdata import Column
from ...partition.nearest import Nearest, Neighbours
from ...records import RecordDistance
from ..measure import Tables

__all__ = ["Found", "Space", "nearest_on", "space_on"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
_WHAT = "linking"


@dataclass(frozen=True, eq=False)
class Space:
    """The distance between records by some columns, with the scale of the original table, without any records."""

    names: tuple[str, ...]
    distance: RecordDistance

    def only(self, names: tuple[str, ...]) -> Space:
        return Space(names, self.distance.only(names))

    def picked(self, engine: Engine, tables: Tables, when: int, rows: Whole) -> RecordDistance:
        """Some records of the original (0) or of the released table (1), rows being in rising order."""
        columns = [tables.columns[name][when] for name in self.names]
        return self.distance.among(picked_on(engine, columns, rows, _WHAT))


def space_on(engine: Engine, tables: Tables, names: tuple[str, ...]) -> Space:
    return Space(names, distance_on(engine, [tables.columns[name][0] for name in names]))


@dataclass(frozen=True, eq=False)
class Found:
    """δ² up to which records are as near to each query as the nearest, and how many these are."""

    reach: Float
    ties: Whole


def nearest_on(
    engine: Engine,
    columns: Sequence[Column],
    queries: RecordDistance,
    space: RecordDistance,
    limit: Float | None = None,
) -> Found:
    """The nearest records to some queries among all of a table, none farther away than a squared distance, and ties.

    What is found in each chunk is put together as `Neighbours.nearest` does it, to the last tie.
    """
    limit = np.full(queries.n, np.inf) if limit is None else limit
    parts: list[Nearest] = engine.map(_nearest, engine.cut(columns, space, queries, limit), _WHAT, main=True)
    squared = np.minimum.reduce([one.squared for one in parts])
    reach = Nearest.within(squared, space.slack).reach
    ties = np.sum([np.where(one.squared == squared, one.ties, 0) for one in parts], axis=0)
    again = [np.flatnonzero((one.squared > squared) & (one.squared <= reach) & (one.ties > 0)) for one in parts]
    some = [place for place, rows in enumerate(again) if len(rows)]
    items = engine.cut(columns, space)
    unsure = [(*items[place], queries.take(again[place]), reach[again[place]]) for place in some]
    for place, counts in zip(some, engine.map(_within, unsure, _WHAT), strict=True):
        ties[again[place]] += counts
    return Found(reach, ties)


def _nearest(*columns_and_queries: Any) -> Nearest:
    *columns, space, queries, limit = columns_and_queries
    here = Neighbours(space.among(columns))
    found = here.search(queries, Nearest.within(limit, space.slack))
    unsure = np.flatnonzero(found.ties < 0)
    found.ties[unsure] = here.count_within(queries.take(unsure), found.take(unsure).reach)
    return found


def _within(*columns_and_queries: Any) -> Whole:
    *columns, space, queries, squared = columns_and_queries
    return Neighbours(space.among(columns)).count_within(queries, squared)
