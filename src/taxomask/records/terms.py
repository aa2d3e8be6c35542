"""What one attribute adds to the squared distance of two records.

One contract for all kinds of attribute, so that one scan and one index serve every method. A term holds its column in
*coordinates* (numbers, or codes in taxonomy order) and answers

- `between`: the term of one coordinate and many others,
- `farthest`: the largest term that two coordinates of the attribute have,
- `placed`: the same term for the records of another column with the same categories.

A missing value has a coordinate of its own (NaN, or the code after the last): 0 from another missing value and
`farthest` from every other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column

__all__ = ["CodeTerm", "EqualityTerm", "NumberTerm", "TableTerm", "Term"]

Float = NDArray[np.float64]
Codes = NDArray[np.int32]


class Term(ABC):
    """The part of one attribute in δ²; ``farthest`` is the largest that two values of the attribute have."""

    name: str
    coordinates: NDArray[Any]
    farthest: float

    @property
    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Which records have no value."""

    @abstractmethod
    def between(self, query: Any, others: NDArray[Any]) -> Float:
        """The terms of a coordinate and each of others (or of each of several coordinates and its partner)."""

    @abstractmethod
    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """The term of some of the records; ``farthest`` stays that of all."""

    @abstractmethod
    def placed(self, column: Column) -> Self:
        """The term of another column's records; the scale stays that of this one."""


@dataclass(frozen=True, eq=False)
class NumberTerm(Term):
    """(u - v)², for continuous and ordinal attributes: ``coordinates`` are scaled so that no factor is left.

    A coordinate is (value - origin)·scale. For an ordinal attribute ``levels`` are its category positions (-1 is
    missing) and ``categories`` their number.
    """

    name: str
    coordinates: Float
    origin: float
    scale: float
    levels: Codes | None = None
    categories: int = 0
    farthest: float = -1.0  # found from the coordinates

    def __post_init__(self) -> None:
        if self.farthest < 0:
            present = self.coordinates[~np.isnan(self.coordinates)]
            gap = np.ptp(present) if len(present) else 0.0
            object.__setattr__(self, "farthest", float(gap * gap))  # as distances are: a power is rounded otherwise

    @property
    def largest(self) -> float:
        """The largest |value|·scale of the table that ``origin``, its smallest value, and ``farthest`` are of."""
        smallest = self.origin * self.scale
        return max(abs(smallest), abs(smallest + math.sqrt(self.farthest)))

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.coordinates)

    def between(self, query: float | Float, others: Float) -> Float:
        one, other = np.isnan(query), np.isnan(others)
        return np.where(one & other, 0.0, np.where(one | other, self.farthest, np.square(others - query)))

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        levels = None if self.levels is None else self.levels[rows]
        return replace(self, coordinates=self.coordinates[rows], levels=levels)

    def placed(self, column: Column) -> Self:
        levels = column.codes if isinstance(column, CategoricalColumn) else None
        return replace(self, coordinates=(column.numbers() - self.origin) * self.scale, levels=levels)


@dataclass(frozen=True, eq=False)
class CodeTerm(Term):
    """For nominal and taxonomic attributes: ``coordinates`` are codes, the last of the ``codes`` means missing."""

    name: str
    coordinates: Codes

    @property
    @abstractmethod
    def codes(self) -> int:
        """How many codes there are, the one for missing included."""

    @property
    def missing(self) -> NDArray[np.bool_]:
        return self.coordinates == self.codes - 1

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        return replace(self, coordinates=self.coordinates[rows])

    def placed(self, column: Column) -> Self:
        return replace(self, coordinates=codes_with_missing(column.categorical))


def codes_with_missing(column: CategoricalColumn) -> Codes:
    """The codes of a column, with the one after the last for missing values."""
    return np.where(column.missing, len(column.categories), column.codes).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TableTerm(CodeTerm):
    """table[x, y], for taxonomic attributes.

    ``distances`` are what the average of a group is found by, if they are not the table divided by ``factor``.
    ``made`` is what was made of the table; the terms of some of the records share it, as they share the table.
    """

    table: Float
    distances: Float | None = None
    factor: float = 1.0
    farthest: float = -1.0  # found from the table
    made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.farthest < 0:
            object.__setattr__(self, "farthest", float(self.table.max(initial=0.0)))

    @property
    def codes(self) -> int:
        return len(self.table)

    def between(self, query: int | Codes, others: Codes) -> Float:
        return self.table[query, others]


@dataclass(frozen=True, eq=False)
class EqualityTerm(CodeTerm):
    """0 if equal, else one constant, for nominal attributes with so many ``categories``; a table is not needed."""

    farthest: float
    categories: int

    @property
    def codes(self) -> int:
        return self.categories + 1

    def between(self, query: int | Codes, others: Codes) -> Float:
        return np.where(others == query, 0.0, self.farthest)
