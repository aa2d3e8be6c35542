"""One of two tables as an analyst sees it: coded columns, weights, and what a written number means in each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import PlanError, did_you_mean
from ...microdata import Column, Microdata, Role
from ...microdata.casting import number_in
from ..measure import Tables

__all__ = ["Side", "Sides", "sides"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """A table as an analyst sees it.

    Parameters
    ----------
    columns
        The coded columns; those of the original and of the released table have one numbering of the categories.
    n
        How many records it has.
    weights
        For how many people each record stands; None if it says nothing about that.
    number
        What somebody wrote for a column of numbers or dates, as a number; NaN if it is none.
    """

    columns: Mapping[str, Column]
    n: int
    weights: Float | None
    number: Callable[[str, str], float]

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            raise PlanError(
                f"there is no column {name!r} to analyse.",
                hint=did_you_mean(name, self.columns) or "It must have a kind, and be no identifier.",
            )
        return self.columns[name]

    def take(self, rows: NDArray[np.bool_]) -> Side:
        """Some records only."""
        if rows.all():
            return self
        weights = None if self.weights is None else self.weights[rows]
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, n=int(rows.sum()), weights=weights)

    def of(self, names: tuple[str, ...]) -> Side:
        """Some columns only."""
        return replace(self, columns={name: self[name] for name in names})


Sides = tuple[Side, Side]  # the original and the released table


def sides(tables: Tables) -> Sides:
    """Both tables; an analyst of the released one has the weights that are released, if any are."""

    def number(name: str, text: str) -> float:
        return number_in(text, tables.original.frame.arrow_type(name))

    before = {name: x for name, (x, _) in tables.columns.items()}
    after = {name: y for name, (_, y) in tables.columns.items()}
    return (
        Side(before, tables.original.n, tables.original.weights, number),
        Side(after, tables.released.n, _released_weights(tables.original, tables.released, after), number),
    )


def _released_weights(original: Microdata, released: Microdata, columns: Mapping[str, Column]) -> Float | None:
    name = original.schema.sampling_weight
    if name is None or original.schema[name].role == Role.IDENTIFIER:
        return None
    if name in columns:
        return columns[name].numbers()
    return released.weights
