"""What a report shows of long tables beside its figures: looked at chunk by chunk, while the tables are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..measures import Tables
from ..measures.risk import ATTACKERS
from ..methods._parts import picked_on
from ..microdata import CategoricalColumn, Column
from ..records import Extent

__all__ = ["BINS", "Drawn", "LookedFor", "bin_edges", "drawn_on", "looked_for_on"]

BINS = 30
_WHAT = "drawing"

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A column without its records: of categories how many have each, of numbers the shares in intervals."""

    before: Column
    after: Column
    changed: float
    edges: NDArray[np.float64] | None = None
    shares: tuple[NDArray[np.float64], ...] = ()


def drawn_on(engine: Engine, tables: Tables) -> dict[str, Drawn]:
    return {name: _drawn(engine, *pair) for name, pair in tables.columns.items()}


def _drawn(engine: Engine, x: Column, y: Column) -> Drawn:
    changed = engine.fold(_changed, add, [x, y], what=_WHAT) / max(len(x), 1) if len(x) == len(y) else np.nan
    if isinstance(x, CategoricalColumn) and isinstance(y, CategoricalColumn):
        return Drawn(x.outline(engine.count(x)), y.outline(engine.count(y)), changed)
    both = [engine.fold(_extent, Extent.with_, [one], what=_WHAT) for one in (x, y)]
    outlines = x.part(0, 0), y.part(0, 0)
    if not all(one.count for one in both):
        return Drawn(*outlines, changed)
    edges = bin_edges(min(one.smallest for one in both), max(one.largest for one in both))
    counts = [engine.fold(_histogram, np.add, [one], edges, what=_WHAT) for one in (x, y)]
    return Drawn(*outlines, changed, edges, tuple(one / of.count for one, of in zip(counts, both, strict=True)))


def bin_edges(low: float, high: float) -> NDArray[np.float64]:
    """Where the intervals of a histogram end."""
    return np.asarray(np.histogram_bin_edges(np.array([low, high]), BINS))


def _changed(x: Column, y: Column) -> int:
    return int((~x.same(y)).sum())


def _extent(column: Column) -> Extent:
    return Extent.of(column.numbers())


def _histogram(column: Column, edges: NDArray[np.float64]) -> Whole:
    values = column.numbers()
    return np.histogram(values[~np.isnan(values)], edges)[0].astype(np.int64)


# --------------------------------------------------------------------------------------- records that were looked for


@dataclass(frozen=True, eq=False)
class LookedFor:
    """The records that attackers on who a record is looked for, and how many records each is alike before."""

    rows: Whole
    alike: Whole


def looked_for_on(engine: Engine, tables: Tables, attackers: Mapping[str, Any]) -> LookedFor | None:
    """None if nobody looked for any, or where people count."""
    found = [one.rows for name, one in attackers.items() if one is not None and ATTACKERS[name].after == "identity"]
    rows = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    if not len(rows) or tables.original.units is not None:
        return None
    columns = [tables.columns[name][0] for name in tables.original.schema.quasi_identifiers if name in tables.columns]
    known, place = np.unique(_keys(picked_on(engine, columns, rows, _WHAT)), return_inverse=True)
    return LookedFor(rows, engine.fold(_alike, np.add, columns, known, what=_WHAT)[place])


def _alike(*columns_and_known: Any) -> Whole:
    """How many records of a chunk have each of some keys."""
    *columns, known = columns_and_known
    keys, counts = np.unique(_keys(columns), return_counts=True)
    place = np.minimum(np.searchsorted(keys, known), len(keys) - 1)
    return np.where(keys[place] == known, counts[place], 0).astype(np.int64)


def _keys(columns: list[Column]) -> NDArray[np.void]:
    """The values of each record in one, equal where all are; missing values are equal."""
    cells = [one.codes.astype(np.float64) if isinstance(one, CategoricalColumn) else one.numbers() for one in columns]
    rows = np.ascontiguousarray(np.nan_to_num(np.column_stack(cells), nan=np.inf) + 0.0)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
