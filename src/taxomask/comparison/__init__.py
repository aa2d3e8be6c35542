"""Many methods on one table: the risk-utility map."""

from __future__ import annotations

from .comparison import compare, compared_before
from .grid import default_grid, default_methods
from .map import Choice, Point, RUMap
from .weights import Weighted, search_weights

__all__ = [
    "Choice",
    "Point",
    "RUMap",
    "Weighted",
    "compare",
    "compared_before",
    "default_grid",
    "default_methods",
    "search_weights",
]
