"""Some records of a table as an analyst sees them: coded columns, weights, and what a written number means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import PlanError, did_you_mean
from ...microdata import Column
from ...microdata.casting import number_in

__all__ = ["Side", "one_of"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """Some records of a table as an analyst sees them.

    Parameters
    ----------
    columns
        The coded columns; those of the original and of the released table have one numbering of the categories.
    n
        How many records there are.
    weights
        For how many people each record stands; None if it says nothing about that.
    types
        What the columns hold in the table itself: a date is written in another way than a number.
    """

    columns: Mapping[str, Column]
    n: int
    weights: Float | None
    types: Mapping[str, Any]

    def __getitem__(self, name: str) -> Column:
        return one_of(self.columns, name)

    def number(self, name: str, text: str) -> float:
        """What somebody wrote for a column of numbers or dates, as a number; NaN if it is none."""
        return number_in(text, self.types.get(name))

    def take(self, rows: NDArray[np.bool_]) -> Side:
        """Some records only."""
        if rows.all():
            return self
        weights = None if self.weights is None else self.weights[rows]
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, n=int(rows.sum()), weights=weights)


def one_of(columns: Mapping[str, Column], name: str) -> Column:
    """A column that there must be."""
    if name not in columns:
        raise PlanError(
            f"there is no column {name!r} to analyse.",
            hint=did_you_mean(name, columns) or "It must have a kind, and be no identifier.",
        )
    return columns[name]
