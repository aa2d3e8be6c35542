"""Many methods on one table: the risk-utility map."""

from __future__ import annotations

from .comparison import compare, compared_before
from .grid import default_grid, default_methods
from .map import Choice, Point, RUMap

__all__ = ["Choice", "Point", "RUMap", "compare", "compared_before", "default_grid", "default_methods"]
