"""How far apart two records are, with the scale of each attribute."""

from __future__ import annotations

from .distance import RecordDistance
from .spread import Extent, Spread
from .terms import CodeTerm, EqualityTerm, NumberTerm, TableTerm, Term

__all__ = ["CodeTerm", "EqualityTerm", "Extent", "NumberTerm", "RecordDistance", "Spread", "TableTerm", "Term"]
