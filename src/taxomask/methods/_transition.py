"""How released cells of one attribute are distributed, given the original cell, where that has a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from ..microdata import Column, ContinuousColumn, TaxonomicColumn

__all__ = ["Transition"]

Float = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Transition:
    """P(released | original) for the cells of one attribute.

    Values that are alike to all others make a class: leaves below the same parents, say. From a value of class A each
    value of class B is released with the probability ``between[A, B]``, and the value itself with ``kept[A]`` more. So
    17,731 diagnoses need a table of 5,555 classes.

    Parameters
    ----------
    values
        What can stand in a cell: categories or codes as they are released, numbers, None for missing.
    classes
        The class of each value.
    between, kept
        The probabilities.
    positions
        The positions of the values in the taxonomy, if they have one; -1 for missing.
    """

    values: tuple[object, ...]
    classes: Numbers
    between: Float
    kept: Float
    positions: NDArray[np.int32] | None = None

    @property
    def sizes(self) -> Numbers:
        """How many values each class has."""
        return np.bincount(self.classes, minlength=len(self.kept)).astype(np.int64)

    def rows(self, numbers: Numbers) -> Float:
        """The probabilities of all values, for each of some originals by number."""
        classes = self.classes[numbers]
        out = self.between[np.ix_(classes, self.classes)]
        out[np.arange(len(numbers)), numbers] += self.kept[classes]
        return out

    def matrix(self) -> Float:
        """The whole table: a row for each original value, a column for each released one."""
        return self.rows(np.arange(len(self.values)))

    def likelihood(self, originals: Numbers, released: Numbers) -> Float:
        """P(released | original) of pairs of values by number; 0 for one that cannot be there (below 0)."""
        there = (originals >= 0) & (released >= 0)
        if not there.any():
            return np.zeros(there.shape)
        a, b = self.classes[np.maximum(originals, 0)], self.classes[np.maximum(released, 0)]
        found = self.between[a, b] + np.where(originals == released, self.kept[a], 0.0)
        return np.where(there, found, 0.0)

    def numbers(self, column: Column) -> Numbers:
        """The number of the value in each cell of a column; -1 where it is none of them."""
        missing = self._places.get(None, -1)
        if isinstance(column, ContinuousColumn):
            known, inverse = np.unique(column.values, return_inverse=True)
            places = [self._places.get(one, -1) for one in known.tolist()]
            return np.where(column.missing, missing, np.array(places or [-1])[inverse])
        if isinstance(column, TaxonomicColumn) and self.positions is not None:
            place = np.full(int(max(self.positions.max(initial=0), column.positions.max(initial=0))) + 2, -1)
            place[self.positions] = np.arange(len(self.positions))
            found = place[column.positions]
        else:
            found = np.array([self._places.get(spell(one), -1) for one in column.categories], dtype=np.int64)
        return np.append(found, missing)[column.codes].astype(np.int64)

    @cached_property
    def _places(self) -> dict[object, int]:
        named = (value if value is None or isinstance(value, float) else spell(value) for value in self.values)
        return {value: place for place, value in enumerate(named)}
