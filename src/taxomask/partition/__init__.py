"""Groups of at least k similar records."""

from __future__ import annotations

from .aggregate import Groups, Ordinal, aggregate
from .blocks import median_cuts, members
from .mdav import mdav
from .merging import merge_until
from .refine import Refinement, refine

__all__ = ["Groups", "Ordinal", "Refinement", "aggregate", "mdav", "median_cuts", "members", "merge_until", "refine"]
