"""How many records have each combination of categories, counted chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import CategoricalColumn, Column
from ..measure import Tables

__all__ = ["Cells", "cells_of", "cells_on", "counted_on"]

Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The number of each combination that occurs, in rising order, and how many records have it."""

_DENSE = 1 << 22  # combinations that are counted in an array of all of them


def cells_on(engine: Engine, keys: Sequence[tuple[CategoricalColumn, ...]]) -> list[Cells]:
    """Of the records that have values in all columns of a key: see `cells_of`."""
    columns = list({id(column): column for key in keys for column in key}.values())
    places = {id(column): place for place, column in enumerate(columns)}
    which = [tuple(places[id(column)] for column in key) for key in keys]
    return engine.fold(_counted, _added, columns, which, what="counting combinations") if keys else []


def cells_of(columns: Sequence[CategoricalColumn]) -> Cells:
    """The combinations of the categories of some columns, numbered as in an array with an axis for each."""
    present = np.logical_and.reduce([one.codes >= 0 for one in columns])
    whole = bool(present.all())
    key = np.zeros(len(present) if whole else int(present.sum()), dtype=np.int64)
    size = 1
    for one in columns:
        key = key * len(one.categories) + (one.codes if whole else one.codes[present])
        size *= len(one.categories)
    if size > _DENSE:
        return np.unique(key, return_counts=True)
    counts = np.bincount(key)
    cells = np.flatnonzero(counts)
    return cells, counts[cells]


def counted_on(engine: Engine, tables: Tables) -> dict[str, tuple[Column, Column]]:
    """The columns of categories without their records, of which it is known how many have each category."""
    return {
        name: (x.outline(engine.count(x)), y.outline(engine.count(y)))
        for name, (x, y) in tables.columns.items()
        if isinstance(x, CategoricalColumn) and isinstance(y, CategoricalColumn)
    }


def _counted(*columns_and_keys: Any) -> list[Cells]:
    *columns, keys = columns_and_keys
    return [cells_of([columns[place] for place in key]) for key in keys]


def _added(some: list[Cells], others: list[Cells]) -> list[Cells]:
    return [_sum(one, other) for one, other in zip(some, others, strict=True)]


def _sum(one: Cells, other: Cells) -> Cells:
    cells, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.concatenate([one[1], other[1]])
    return cells, np.bincount(place, weights=counts, minlength=len(cells)).astype(np.int64)
