"""How far apart two records are, with the scale of each attribute."""

from __future__ import annotations

from .centres import Centre, ConvexMedian, MarginalMean, Mean, Median, Mode, convex_median, median
from .distance import RecordDistance
from .terms import EqualityTerm, NumberTerm, TableTerm, Term

__all__ = [
    "Centre",
    "ConvexMedian",
    "EqualityTerm",
    "MarginalMean",
    "Mean",
    "Median",
    "Mode",
    "NumberTerm",
    "RecordDistance",
    "TableTerm",
    "Term",
    "convex_median",
    "median",
]
