"""Groups of at least k similar records."""

from __future__ import annotations

from .aggregate import Groups, Ordinal, aggregate
from .blocks import median_cuts, members, with_enough
from .mdav import check_enough, mdav, several
from .merging import merge_until
from .refine import Refinement, refine

__all__ = [
    "Groups",
    "Ordinal",
    "Refinement",
    "aggregate",
    "check_enough",
    "mdav",
    "median_cuts",
    "members",
    "merge_until",
    "refine",
    "several",
    "with_enough",
]
