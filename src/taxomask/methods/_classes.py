"""Records with the same values: the cells of a table as small numbers, and the classes that they form."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..errors import DataError
from ..microdata import Column, ContinuousColumn, Microdata
from ..partition import several

__all__ = ["ClassSize", "cells", "check_k", "emptied", "some_people"]

Int = NDArray[np.int64]
ClassSize = Annotated[int, Ge(2), Slider(2, 50, start=5), "A record alone in its class is not protected."]


def check_k(k: int, data: Microdata) -> NDArray[np.int32] | None:
    """Whether the table can reach k: the person (or household) of each record, None if everybody has one record."""
    people = several(data.units)
    if data.n < k:
        raise DataError(
            f"the table has {data.n} records, too few for a class of k = {k}.", hint="Lower k or add records."
        )
    if people is not None and (different := int(people.max()) + 1) < k:
        raise DataError(
            f"the table has {data.n:,} records of {different:,} {data.unit}, too few for a class of k = {k}.",
            hint="Lower k or add people.",
        )
    return people


def some_people(
    rows: Int, people: NDArray[np.int32], known: NDArray[np.int32], want: int, rng: np.random.Generator
) -> Int:
    """The rows, among some, of people drawn at random who are not known yet: of as many as are wanted, or of all."""
    new = np.setdiff1d(people[rows], known)
    chosen = rng.choice(new, min(want, len(new)), replace=False)
    return rows[np.isin(people[rows], chosen)]


def cells(column: Column) -> tuple[Int, int]:
    """The number of each cell's value, and how many values there are; that number stands for a missing cell."""
    codes, count = column.numbered()
    return np.where(codes < 0, count, codes), count


def emptied(column: Column, empty: NDArray[np.bool_]) -> Column:
    """The column with some cells missing."""
    if isinstance(column, ContinuousColumn):
        return column.with_values(np.where(empty, np.nan, column.values))
    return column.with_codes(np.where(empty, -1, column.codes))
