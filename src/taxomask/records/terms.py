"""What one attribute adds to the squared distance of two records.

One contract for all kinds of attribute, so that one scan and one index serve every method. A term holds its column in
*coordinates* (numbers, or codes in taxonomy order) and answers

- `between`: the term of one coordinate and many others,
- `farthest`: the largest term that two coordinates of the attribute have.

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

__all__ = ["EqualityTerm", "NumberTerm", "TableTerm", "Term"]

Float = NDArray[np.float64]
Codes = NDArray[np.int32]


class Term(ABC):
    """The part of one attribute in δ²; ``farthest`` is the largest that two values of the attribute have."""

    name: str
    coordinates: NDArray[Any]
    farthest: float

    @abstractmethod
    def between(self, query: Any, others: NDArray[Any]) -> Float:
        """The terms of a coordinate and each of others (or of each of several coordinates and its partner)."""

    @abstractmethod
    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """The term of some of the records; ``farthest`` stays that of all."""


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

    def between(self, query: float | Float, others: Float) -> Float:
        one, other = np.isnan(query), np.isnan(others)
        return np.where(one & other, 0.0, np.where(one | other, self.farthest, np.square(others - query)))

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        levels = None if self.levels is None else self.levels[rows]
        return replace(self, coordinates=self.coordinates[rows], levels=levels)


@dataclass(frozen=True, eq=False)
class TableTerm(Term):
    """table[x, y], for taxonomic attributes: ``coordinates`` are codes, the last row of the table means missing.

    ``distances`` are what the average of a group is found by, if they are not the table divided by ``factor``.
    ``made`` is what was made of the table; the terms of some of the records share it, as they share the table.
    """

    name: str
    coordinates: Codes
    table: Float
    distances: Float | None = None
    factor: float = 1.0
    farthest: float = -1.0  # found from the table
    made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.farthest < 0:
            object.__setattr__(self, "farthest", float(self.table.max(initial=0.0)))

    def between(self, query: int | Codes, others: Codes) -> Float:
        return self.table[query, others]

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        return replace(self, coordinates=self.coordinates[rows])


@dataclass(frozen=True, eq=False)
class EqualityTerm(Term):
    """0 if equal, else one constant, for nominal attributes; a table is not needed.

    The code after the last of the ``categories`` means missing.
    """

    name: str
    coordinates: Codes
    farthest: float
    categories: int

    def between(self, query: int | Codes, others: Codes) -> Float:
        return np.where(others == query, 0.0, self.farthest)

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        return replace(self, coordinates=self.coordinates[rows])
