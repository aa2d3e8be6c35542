"""Groups of at least k similar records."""

from __future__ import annotations

from .aggregate import Groups, Ordinal, aggregate
from .blocks import median_cuts, members
from .line import Order, along_one_column, optimal_groups
from .mdav import mdav
from .merging import merge_until
from .refine import Refinement, refine

__all__ = [
    "Groups",
    "Order",
    "Ordinal",
    "Refinement",
    "aggregate",
    "along_one_column",
    "mdav",
    "median_cuts",
    "members",
    "merge_until",
    "optimal_groups",
    "refine",
]
