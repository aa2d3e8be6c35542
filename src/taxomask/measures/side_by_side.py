"""Two tables laid side by side: columns in one numbering of the categories."""

from __future__ import annotations

from collections.abc import Iterable
from operator import and_, or_

import numpy as np

from .._support.spelling import is_nan
from ..engines import Engine
from ..errors import DataError, SchemaError, did_you_mean
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Microdata
from ..microdata.alike import alike

__all__ = ["same_values", "same_values_on", "side_by_side", "side_by_side_on", "varies_on"]


def side_by_side(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None, *, linked: bool = False
) -> dict[str, tuple[Column, Column]]:
    """The columns of both tables, in which equal codes mean equal categories; by default all coded columns.

    ``linked`` measures need record i of the released table to come from record i of the original.
    """
    if linked and original.n != released.n:
        raise DataError(
            f"the original has {original.n:,} records and the release {released.n:,}, so they cannot be compared "
            "one by one.",
            hint="Compare tables whose records correspond, or use measures of whole columns.",
        )
    names = [name for name in original.columns if name in released.columns] if attributes is None else list(attributes)
    for name in names:
        for columns in (original.columns, released.columns):
            if name not in columns:
                raise SchemaError(f"there is no coded column {name!r} to compare.", hint=did_you_mean(name, columns))
    return {name: alike(original.columns[name], released.columns[name]) for name in names}


def same_values(x: Column, y: Column) -> bool:
    """Whether two columns in one numbering of the categories have the same values, record by record."""
    return len(x) == len(y) and bool(x.same(y).all())


def side_by_side_on(engine: Engine, original: Microdata, released: Microdata) -> dict[str, tuple[Column, Column]]:
    """The same of all coded columns, wherever the tables lie."""
    names = [name for name in original.columns if name in released.columns]
    return {name: _alike_on(engine, original.columns[name], released.columns[name]) for name in names}


def _alike_on(engine: Engine, x: Column, y: Column) -> tuple[Column, Column]:
    wide, _ = alike(x.part(0, 0), y.part(0, 0))
    if isinstance(x, ContinuousColumn) or isinstance(y, ContinuousColumn):
        return x, y
    if isinstance(wide, CategoricalColumn) and x.categories == y.categories:
        return x, x.with_cells(y.cells)
    if len(x) == len(y):
        before, after = engine.each(alike, [x, y], what="comparing")
        return before, before.with_cells(after.cells)
    before, after = engine.run(alike, x, y, what="comparing")
    return before, after


def same_values_on(engine: Engine, x: Column, y: Column) -> bool:
    """Whether two columns have the same values, wherever they lie."""
    return len(x) == len(y) and engine.fold(same_values, and_, [x, y], what="comparing")


def varies_on(engine: Engine, x: Column) -> bool:
    """Whether a column has more than one value, missing cells being one, wherever it lies."""
    return len(engine.fold(_two_cells, or_, [x], what="comparing")) > 1


def _two_cells(x: Column) -> frozenset[float | None]:
    return frozenset(None if is_nan(cell) else float(cell) for cell in np.unique(x.cells)[:2].tolist())
