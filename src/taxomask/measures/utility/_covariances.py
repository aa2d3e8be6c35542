"""Covariances of the pairs of a table; what several pairs need is made once."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...microdata import CategoricalColumn
from ...semantics import category_marginality
from ._moments import centred, complete, covariance, spread, sum_of_products

__all__ = ["NominalCovariances", "NumberCovariances"]

Float = NDArray[np.float64]


class NumberCovariances:
    """Of numbers; NaN where missing."""

    def __init__(self, columns: Mapping[str, Float]) -> None:
        self._columns = columns
        whole = [name for name, values in columns.items() if len(values) > 1 and not np.isnan(values).any()]
        self._place = {name: place for place, name in enumerate(whole)}
        products = _products([centred(columns[name]) for name in whole])
        self._covariances = (products / (len(columns[whole[0]]) - 1 if whole else 1)).tolist()
        self._spreads = [math.sqrt(row[place]) for place, row in enumerate(self._covariances)]

    def of(self, a: str, b: str) -> tuple[float, float]:
        """The covariance over the records with both values, NaN if there are none; and the product of the spreads."""
        if a in self._place and b in self._place:
            i, j = self._place[a], self._place[b]
            return self._covariances[i][j], self._spreads[i] * self._spreads[j]
        x, y = complete(self._columns[a], self._columns[b])
        return covariance(x, y) if len(x) else math.nan, spread(x) * spread(y)


class NominalCovariances:
    """Covar_M / n, from sqrt(m / n) of each record."""

    def __init__(self, columns: Mapping[str, CategoricalColumn]) -> None:
        self._columns = columns
        self._present = {name: column.codes >= 0 for name, column in columns.items()}
        whole = [name for name, present in self._present.items() if present.all()]
        self._place = {name: place for place, name in enumerate(whole)}
        self._roots = {name: _roots(column.take(self._present[name])) for name, column in columns.items()}
        self._products = _products([self._roots[name] for name in whole]).tolist()

    def of(self, a: str, b: str) -> float:
        """Over the records with both values, with marginalities among these; NaN if there are none."""
        if a in self._place and b in self._place:
            n = len(self._roots[a])
            return self._products[self._place[a]][self._place[b]] / n if n else math.nan
        u, v = self._among(a, b), self._among(b, a)
        return sum_of_products(u, v) / len(u) if len(u) else math.nan

    def _among(self, name: str, other: str) -> Float:
        """The roots of a column in the records where the other is not missing either."""
        if other in self._place:
            return self._roots[name]
        return _roots(self._columns[name].take(self._present[name] & self._present[other]))


def _products(columns: list[Float]) -> Float:
    """Σ x·y of all pairs, as one product of matrices."""
    every = np.stack(columns) if columns else np.zeros((0, 0))
    return np.asarray(every @ every.T)


def _roots(column: CategoricalColumn) -> Float:
    m = np.maximum(category_marginality(column), 0.0)  # rounding may leave less than 0
    return np.sqrt(m / max(len(column), 1))[column.codes]
