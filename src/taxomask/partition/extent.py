"""Where the records of a block lie: a lower bound of their distance from any record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import EqualityTerm, NumberTerm, RecordDistance

__all__ = ["Extent"]

Float = NDArray[np.float64]
_SLACK = 1 - 1e-9  # far more than sums of squares are rounded by


@dataclass(frozen=True, eq=False)
class _Span:
    """A number: its range (upside down if none is present), whether some are missing, and the term of these."""

    low: float
    high: float
    missing: bool
    farthest: float

    def terms(self, values: Float) -> Float:
        gaps = np.maximum(np.maximum(self.low - values, values - self.high), 0.0)
        terms = np.where(np.isnan(values), 0.0 if self.missing else self.farthest, gaps * gaps)
        return np.minimum(terms, self.farthest) if self.missing else terms

    def apart(self, other: _Span) -> float:
        gap = max(self.low - other.high, other.low - self.high, 0.0)
        term = min(gap * gap, self.farthest) if self.missing or other.missing else gap * gap
        return 0.0 if self.missing and other.missing else term


@dataclass(frozen=True, eq=False)
class _Codes:
    """A category: which codes are there, and the smallest term of each code and one of them."""

    present: NDArray[np.int32]
    nearest: Float

    def terms(self, codes: NDArray[np.int32]) -> Float:
        return self.nearest[codes]

    def apart(self, other: _Codes) -> float:
        return float(self.nearest[other.present].min())


@dataclass(frozen=True, eq=False)
class Extent:
    """The range of each number and the set of each category's codes, over the records of a block."""

    attributes: tuple[_Span | _Codes, ...]

    @classmethod
    def of(cls, space: RecordDistance) -> Extent:
        """Of all records of a space, at least one."""
        return cls(tuple(_extent(term) for term in space.terms))

    def reach(self, queries: RecordDistance, squared: Float) -> NDArray[np.intp]:
        """The queries from which some record here may be within a squared distance, one for each query."""
        rows, total = np.arange(queries.n), np.zeros(queries.n)
        for attribute, term in zip(self.attributes, queries.terms, strict=True):
            total += attribute.terms(term.coordinates[rows])
            near = total * _SLACK <= squared[rows]
            rows, total = rows[near], total[near]
        return rows

    def apart(self, other: Extent) -> float:
        """A lower bound of the squared distance of the records here and there."""
        pairs: Any = zip(self.attributes, other.attributes, strict=True)
        return _SLACK * sum(one.apart(two) for one, two in pairs)


def _extent(term: Any) -> _Span | _Codes:
    if isinstance(term, NumberTerm):
        present = term.coordinates[~np.isnan(term.coordinates)]
        low, high = (float(present.min()), float(present.max())) if len(present) else (np.inf, -np.inf)
        return _Span(low, high, len(present) < len(term.coordinates), term.farthest)
    if isinstance(term, EqualityTerm):
        codes = np.unique(term.coordinates)
        nearest = np.full(term.categories + 1, term.farthest)
        nearest[codes] = 0.0
        return _Codes(codes, nearest)
    codes = np.unique(term.coordinates)
    nearest = np.full(len(term.table), np.inf)
    for code in codes.tolist():
        np.minimum(nearest, term.table[code], out=nearest)
    return _Codes(codes, nearest)
