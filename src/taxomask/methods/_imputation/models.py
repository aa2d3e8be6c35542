"""The model of a column given its predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...microdata import CategoricalColumn, Column, ContinuousColumn, Kind
from .categories import CategoryModel
from .scales import ScaleModel

__all__ = ["ColumnModel", "MissingModel"]

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]


class ColumnModel:
    """The values of a column given its predictors, learnt from the records that have one."""

    def __init__(self, column: Column, x: Float) -> None:
        self._column = column
        present = ~column.missing
        known = column.take(present)
        self._model: ScaleModel | CategoryModel
        if isinstance(known, CategoricalColumn) and column.attribute.kind != Kind.ORDINAL:
            self._model = CategoryModel(known, x[present])
            return
        self._values, levels = np.unique(_scale(known), return_inverse=True)
        self._model = ScaleModel(levels, len(self._values), x[present])

    def draw(self, x: Float, missing: Mask, rng: np.random.Generator) -> Column:
        """A column for records with these predictors: other parameters and values with every draw."""
        drawn: NDArray[Any] = self._model.draw(x[~missing], rng)
        if isinstance(self._model, ScaleModel):
            drawn = self._values[drawn]
        column = self._column
        if isinstance(column, ContinuousColumn):
            values = np.full(len(x), np.nan)
            values[~missing] = drawn
            return column.with_values(values)
        codes = np.full(len(x), -1, dtype=np.int32)
        codes[~missing] = drawn
        return column.with_codes(codes)


class MissingModel:
    """Which records have no value in a column, given its predictors."""

    def __init__(self, column: Column, x: Float) -> None:
        missing = CategoricalColumn(column.attribute, column.missing.astype(np.int32), (False, True))
        self._model = CategoryModel(missing, x)

    def draw(self, x: Float, rng: np.random.Generator) -> Mask:
        return self._model.draw(x, rng) == 1


def _scale(column: Column) -> NDArray[np.float64] | NDArray[np.int32]:
    if isinstance(column, ContinuousColumn):
        return column.values
    return column.codes
