"""Columns in which every record with the same value gets the same new one, whatever their length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import CategoricalColumn, Column, ContinuousColumn
from ._runs import Runs, runs_of

__all__ = ["changed_on", "different_on"]


def changed_on(engine: Engine, column: Column, change: Callable[..., Column], what: str) -> Column:
    """What a function makes of a column, if what becomes of a record depends on nothing but its own value.

    It is given each chunk of numbers; of categories one record for each that occurs, which tells for all.
    """
    if len(column) <= engine.chunk:
        found: Column = engine.run(change, column, what=what, main=True)
        return found
    if isinstance(column, ContinuousColumn):
        changed: Column = engine.each(_changed, [column], change, what=what, main=True)
        return changed
    seen = np.flatnonzero(engine.count(column)).astype(np.int32)
    became = change(column.with_cells(seen))
    table = np.full(len(column.categories) + 1, -1, dtype=np.int32)
    table[seen] = became.cells
    return became.with_cells(engine.each(_looked_up, [column], table, what=what, main=True))


def different_on(engine: Engine, column: Column, what: str) -> int:
    """How many different values a column has; missing is none."""
    if isinstance(column, CategoricalColumn):
        return int(np.count_nonzero(engine.count(column)))
    values = engine.sort(column.cells, what)
    return engine.fold(runs_of, Runs.then, [values], what=what).count if len(values) else 0


def _changed(column: Column, change: Callable[..., Column]) -> Column:
    return change(column)


def _looked_up(column: CategoricalColumn, table: NDArray[np.int32]) -> NDArray[Any]:
    return table[column.codes]
