"""Many methods on one table: the risk-utility map."""

from __future__ import annotations

from .comparison import compare, compared_before
from .map import Choice, Point, RUMap

__all__ = ["Choice", "Point", "RUMap", "compare", "compared_before"]
