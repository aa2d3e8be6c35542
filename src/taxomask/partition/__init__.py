"""Groups of at least k similar records."""

from __future__ import annotations

from .aggregate import Groups, Ordinal, aggregate
from .blocks import Cuts, check_in_one_piece, median_cuts, members, with_enough
from .closeness import enough_strata, exchange, from_strata
from .line import Order, along_one_column, optimal_groups
from .lower_bound import least_loss, loss_of_means
from .mdav import check_enough, mdav, several
from .merging import Violation, merge_until
from .refine import Refinement, refine

__all__ = [
    "Cuts",
    "Groups",
    "Order",
    "Ordinal",
    "Refinement",
    "Violation",
    "aggregate",
    "along_one_column",
    "check_enough",
    "check_in_one_piece",
    "enough_strata",
    "exchange",
    "from_strata",
    "least_loss",
    "loss_of_means",
    "mdav",
    "median_cuts",
    "members",
    "merge_until",
    "optimal_groups",
    "refine",
    "several",
    "with_enough",
]
