"""Many methods on one table: the risk-utility map."""

from __future__ import annotations

from .comparison import Choice, Point, RUMap, compare, compared_before

__all__ = ["Choice", "Point", "RUMap", "compare", "compared_before"]
