"""From groups to released values: every value of a group becomes the average of the group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn, Kind, TaxonomicColumn
from .whole_distances import whole_distances

__all__ = ["Groups", "Ordinal", "aggregate"]

Ordinal = Literal["median", "convex_median"]


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the records, given by the group number of each, and what is worth knowing of how it was made."""

    numbers: NDArray[np.int32]
    notes: tuple[str, ...] = ()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.numbers)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The records group by group, in each group in the order of the table."""
        return np.argsort(self.numbers, kind="stable").astype(np.int64)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where each group begins in the order."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def members(self, group: int) -> NDArray[np.int64]:
        """The records of one group."""
        return self.order[self.start[group] : self.start[group + 1]]


def aggregate(column: Column, groups: Groups, *, ordinal: Ordinal = "median") -> Column:
    """The column with every value replaced by the average of its group.

    Continuous: the mean. Ordinal: the median or the convex median. Nominal: the mode. Taxonomic: the value of the group
    with the smallest marginality in it (see `whole_distances`), of several the first in taxonomy order. Missing if more
    than half of the group is missing.
    """
    from ._aggregate_kernels import group_marginal_means, group_means, group_medians, group_modes

    where = (groups.order, groups.start)
    if isinstance(column, ContinuousColumn):
        return column.with_values(group_means(*where, np.ascontiguousarray(column.values))[groups.numbers])
    codes, categories = np.ascontiguousarray(column.codes), len(column.categories)
    if column.attribute.kind == Kind.ORDINAL:
        centres = group_medians(*where, codes, categories, ordinal == "convex_median")
    elif isinstance(column, TaxonomicColumn):
        centres = group_marginal_means(*where, codes, *whole_distances(column.table, int(groups.sizes.max(initial=0))))
    else:
        centres = group_modes(*where, codes, categories)
    return column.with_codes(centres[groups.numbers])
