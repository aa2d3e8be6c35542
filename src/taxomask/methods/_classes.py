"""Records with the same values: the cells of a table as small numbers, and the classes that they form."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..errors import DataError
from ..microdata import CategoricalColumn, Column, ContinuousColumn

__all__ = ["ClassSize", "cells", "check_k", "distinct_rows", "emptied"]

Int = NDArray[np.int64]
ClassSize = Annotated[int, Ge(2), Slider(2, 50, start=5), "A record alone in its class is not protected."]


def check_k(k: int, n: int) -> None:
    """Whether the table can reach k."""
    if n < k:
        raise DataError(f"the table has {n} records, too few for a class of k = {k}.", hint="Lower k or add records.")


def cells(column: Column) -> tuple[Int, int]:
    """The number of each cell's value, and how many values there are; that number stands for a missing cell."""
    if isinstance(column, ContinuousColumn):
        values, codes = np.unique(column.values, return_inverse=True, equal_nan=True)
        count = len(values) - int(column.missing.any())  # NaN is sorted last
        return codes.astype(np.int64, copy=False), count
    assert isinstance(column, CategoricalColumn)
    count = len(column.categories)
    return np.where(column.missing, count, column.codes).astype(np.int64), count


def distinct_rows(rows: NDArray[np.integer[Any]]) -> tuple[Int, Int]:
    """For each distinct row of a table of numbers from 0 its first place, and for each row the number of its kind."""
    key = np.zeros(len(rows), dtype=np.int64)
    size = 1
    for column in rows.T:
        values = int(column.max(initial=0)) + 1
        if size * values > 2**62:  # number anew what was joined so far
            key = np.unique(key, return_inverse=True)[1].astype(np.int64, copy=False)
            size = len(rows)
        key = key * values + column
        size *= values
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number


def emptied(column: Column, empty: NDArray[np.bool_]) -> Column:
    """The column with some cells missing."""
    if isinstance(column, ContinuousColumn):
        return column.with_values(np.where(empty, np.nan, column.values))
    assert isinstance(column, CategoricalColumn)
    return column.with_codes(np.where(empty, -1, column.codes))
