"""The order of a column's values: what every method that permutes by rank sorts by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing
from ..errors import DataError
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.alike import alike
from ..taxonomy.distances import get_distance
from ..taxonomy.distances.families import ByDeepestSubsumer
from .statistics import category_marginality

__all__ = ["Keys", "category_ranks", "masked_ranks", "rank_keys"]

Keys = NDArray[np.float64] | NDArray[np.int32]

_ROUNDING = 1e-12  # sums of distances that differ by less are equal


def rank_keys(column: Column, sample: Column | None = None) -> Keys:
    """One key per record, in the order of the values: the numbers themselves, or the places of the categories.

    Parameters
    ----------
    column
        The values to be ordered.
    sample
        Where marginalities are taken from, if not from the column itself: the original version of a masked column.
        The masked one may hold concepts that the original does not.

    Returns
    -------
    Numbers with NaN, or integers with -1, where a value is missing.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm")])
    >>> table = pa.table({"dx": ["4019", "25001", "25002", "25001", None]})
    >>> rank_keys(tm.Microdata.from_frame(table, schema).columns["dx"]).tolist()
    [2, 0, 1, 0, -1]
    """
    if sample is None or sample is column:
        if isinstance(column, ContinuousColumn):
            return column.values
        return _by_category(category_ranks(column), column)
    original, masked = alike(sample, column)
    if isinstance(original, ContinuousColumn) or isinstance(masked, ContinuousColumn):
        return masked.numbers()
    _check_on_scale(original, masked)
    return _by_category(category_ranks(original), masked)


def category_ranks(column: CategoricalColumn) -> NDArray[np.int32]:
    """The place of each category in the order of a column, from 0.

    Ordinal categories keep their order. All others are ordered by their marginality: from those in the middle of the
    data, in a flat attribute the frequent ones, to the outlying ones; of categories with the same marginality the one
    that is first in the order of the taxonomy, or in sorted order, comes first. So no two have the same place.
    """
    ranks = np.arange(len(column.categories), dtype=np.int32)
    if column.attribute.kind == Kind.ORDINAL:
        return ranks
    marginality = _marginality(column)
    order = np.argsort(marginality, kind="stable")
    step = np.diff(marginality[order], prepend=-np.inf) > _ROUNDING * marginality.max(initial=0.0)
    level = np.empty(len(order), dtype=np.int64)
    level[order] = np.cumsum(step)
    ranks[np.argsort(level, kind="stable")] = np.arange(len(order), dtype=np.int32)
    return ranks


def masked_ranks(masked: CategoricalColumn, original: CategoricalColumn) -> NDArray[np.int32]:
    """The place of each category of a masked column in the order of the original one.

    Both are columns without rows that know how often each category occurs (`CategoricalColumn.outline`).
    """
    _check_on_scale(original, masked)
    one_of_each = [one.with_cells(np.arange(len(one.categories), dtype=np.int32)) for one in (original, masked)]
    wide, now = alike(*one_of_each)
    counts = np.bincount(wide.codes, original.counts, len(wide.categories)).astype(np.int64)
    return category_ranks(wide.outline(counts))[now.codes]


def _marginality(column: CategoricalColumn) -> NDArray[np.float64]:
    marginality = category_marginality(column)
    if isinstance(column, TaxonomicColumn) and isinstance(get_distance(column.attribute.distance), ByDeepestSubsumer):
        # Depths count from the root of τ(X). A concept outside meets all values at depth 0: as far away as can be.
        outside = column.scopes[0].depth[column.positions] == 0
        marginality[outside] = column.counts.sum()
    return marginality


def _by_category(ranks: NDArray[np.int32], column: CategoricalColumn) -> NDArray[np.int32]:
    return np.append(ranks, np.int32(-1))[column.codes]


def _check_on_scale(original: CategoricalColumn, masked: CategoricalColumn) -> None:
    """Refuse masked categories that are not on the scale of an ordinal attribute: they have no place in its order."""
    scale = len(original.attribute.order)
    if original.attribute.kind == Kind.ORDINAL and masked.counts[scale:].any():
        new = [str(masked.categories[i]) for i in np.flatnonzero(masked.counts) if i >= scale]
        raise DataError(
            f"column {original.attribute.name!r}: {listing(new)} is not on its scale and cannot be ordered.",
            hint="Leave the column out: name attributes=[…] without it.",
        )
