"""Average ranks from the distinct values and their counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column
from ..semantics.ordering import category_ranks

__all__ = ["Places", "places", "ranks"]

Places = NDArray[np.int32]


def places(before: Column, after: Column) -> tuple[Places, Places]:
    """Of each value its place among the distinct ones, in their order before protection; -1 where missing.

    Categories are ordered by their marginality in the original table, then as in the taxonomy (or as they are sorted).
    """
    if isinstance(before, CategoricalColumn) and isinstance(after, CategoricalColumn):
        order = np.append(category_ranks(before), np.int32(-1))
        return order[before.codes], order[after.codes]
    return _sorted(before.numbers()), _sorted(after.numbers())


def ranks(places: Places) -> tuple[NDArray[np.float64], float]:
    """Average ranks less their mean, and the root of the sum of their squares: exactly 0 if there is one value."""
    counts = np.bincount(places)
    of_each = np.cumsum(counts) - (counts - 1) / 2 - (len(places) + 1) / 2
    return of_each[places], math.sqrt((counts * of_each**2).sum())


def _sorted(values: NDArray[np.float64]) -> Places:
    distinct, found = np.unique(values, return_inverse=True)
    return np.where(np.isnan(distinct), -1, np.arange(len(distinct)))[found].astype(np.int32)
