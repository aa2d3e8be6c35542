"""What one attribute adds to the squared distance of two records.

One contract for all kinds of attribute, so that one scan and one index serve every method. A term holds its column in
*coordinates* (numbers, or codes in taxonomy order) and answers

- `between`: the term of one coordinate and many others,
- `bounds`: the smallest and largest term of one coordinate and any in a range,
- `farthest`: the largest term that two coordinates of the attribute have.

A missing value has a coordinate of its own (NaN, or the code after the last): 0 from another missing value and
`farthest` from every other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EqualityTerm", "NumberTerm", "TableTerm", "Term"]

Float = NDArray[np.float64]
Codes = NDArray[np.int32]


class Term(ABC):
    """The part of one attribute in δ²."""

    name: str
    farthest: float

    @abstractmethod
    def between(self, query: Any, others: NDArray[Any]) -> Float:
        """The terms of a coordinate and each of others."""

    @abstractmethod
    def bounds(self, query: Any, low: Any, high: Any) -> tuple[float, float]:
        """The smallest and largest term that a present coordinate in [low, high] can have with the query."""


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

    @cached_property
    def farthest(self) -> float:  # type: ignore[override]
        present = self.coordinates[~np.isnan(self.coordinates)]
        return float((present.max() - present.min()) ** 2) if len(present) else 0.0

    def between(self, query: float, others: Float) -> Float:
        if np.isnan(query):
            return np.where(np.isnan(others), 0.0, self.farthest)
        return np.where(np.isnan(others), self.farthest, np.square(others - query))

    def bounds(self, query: float, low: float, high: float) -> tuple[float, float]:
        if np.isnan(query):
            return self.farthest, self.farthest
        nearest = min(max(query, low), high)
        return (nearest - query) ** 2, max((low - query) ** 2, (high - query) ** 2)


@dataclass(frozen=True, eq=False)
class TableTerm(Term):
    """table[x, y], for taxonomic attributes: ``coordinates`` are codes, the last row of the table means missing."""

    name: str
    coordinates: Codes
    table: Float

    @cached_property
    def farthest(self) -> float:  # type: ignore[override]
        return float(self.table.max(initial=0.0))

    def between(self, query: int, others: Codes) -> Float:
        return self.table[query, others]

    def bounds(self, query: int, low: int, high: int) -> tuple[float, float]:
        row = self.table[query, low : high + 1]
        return float(row.min()), float(row.max())


@dataclass(frozen=True, eq=False)
class EqualityTerm(Term):
    """0 if equal, else one constant, for nominal attributes; a table is not needed."""

    name: str
    coordinates: Codes
    farthest: float

    def between(self, query: int, others: Codes) -> Float:
        return np.where(others == query, 0.0, self.farthest)

    def bounds(self, query: int, low: int, high: int) -> tuple[float, float]:
        lowest = 0.0 if low <= query <= high else self.farthest
        return lowest, 0.0 if low == high == query else self.farthest
