"""Records with the same values: the cells of a table as small numbers, and the classes that they form."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..errors import DataError
from ..microdata import Column, ContinuousColumn

__all__ = ["ClassSize", "cells", "check_k", "emptied"]

Int = NDArray[np.int64]
ClassSize = Annotated[int, Ge(2), Slider(2, 50, start=5), "A record alone in its class is not protected."]


def check_k(k: int, n: int) -> None:
    """Whether the table can reach k."""
    if n < k:
        raise DataError(f"the table has {n} records, too few for a class of k = {k}.", hint="Lower k or add records.")


def cells(column: Column) -> tuple[Int, int]:
    """The number of each cell's value, and how many values there are; that number stands for a missing cell."""
    codes, count = column.numbered()
    return np.where(codes < 0, count, codes), count


def emptied(column: Column, empty: NDArray[np.bool_]) -> Column:
    """The column with some cells missing."""
    if isinstance(column, ContinuousColumn):
        return column.with_values(np.where(empty, np.nan, column.values))
    return column.with_codes(np.where(empty, -1, column.codes))
