"""Groups of at least k similar records."""

from __future__ import annotations

from .aggregate import Groups, Ordinal, aggregate
from .blocks import in_blocks, median_cuts
from .mdav import mdav
from .merging import merge_until
from .refine import Refinement, refine

__all__ = ["Groups", "Ordinal", "Refinement", "aggregate", "in_blocks", "mdav", "median_cuts", "merge_until", "refine"]
