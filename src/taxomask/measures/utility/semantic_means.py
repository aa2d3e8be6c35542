"""Where the middle of a nominal or taxonomic attribute went."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...microdata import CategoricalColumn, Column, Kind, Microdata, TaxonomicColumn
from ...semantics import distance_table, first_smallest
from ...taxonomy.distances import get_distance
from ..measure import Measure
from ..side_by_side import side_by_side
from ._cells import counted_on
from ._moments import ordered
from .result import Loss, mean_of
from .sse import mean_category

__all__ = ["SEMANTIC_MEANS", "semantic_means"]


def semantic_means(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """The semantic distance between the means of nominal and taxonomic attributes in both tables.

    The mean of a taxonomic attribute is the concept of τ(X), in the sample or not, with the smallest sum of distances
    to the values (P3 eq. 13; with several taxonomies: of the values that occur); that of a nominal one its mode.
    ``before`` and ``after`` name them.

    References
    ----------
    Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45.
    """
    return _compared(side_by_side(original, released, attributes))


def _compared(columns: Mapping[str, tuple[Column, Column]]) -> Loss:
    each, before, after = {}, {}, {}
    for name, (x, y) in columns.items():
        if isinstance(x, CategoricalColumn) and isinstance(y, CategoricalColumn) and not ordered(x):
            each[name], before[name], after[name] = _compare_means(x, y)
    return Loss(mean_of(each.values()), each, before, after)


def _compare_means(x: CategoricalColumn, y: CategoricalColumn) -> tuple[float, Any, Any]:
    """How far the means of two columns are apart, and what they are; None if there is no value."""
    if not x.counts.any() or not y.counts.any():
        return (math.nan if x.counts.any() or y.counts.any() else 0.0), _mean_name(x), _mean_name(y)
    if isinstance(x, TaxonomicColumn) and isinstance(y, TaxonomicColumn) and x.further is None:
        scope = x.scopes[0]
        a, b = _mean_concept(x), _mean_concept(y)
        table = scope.taxonomy.table([a, b], distance=x.attribute.distance, scope=scope)
        return float(table[0, 1]), _mean_name(x), _mean_name(y)
    a, b = mean_category(x), mean_category(y)
    return float(distance_table(x)[a, b]), x.categories[a], x.categories[b]


def _mean_name(column: CategoricalColumn) -> Any:
    if not column.counts.any():
        return None
    if isinstance(column, TaxonomicColumn) and column.further is None:
        return column.scopes[0].taxonomy.ids[_mean_concept(column)]
    return column.categories[mean_category(column)]


def _mean_concept(column: TaxonomicColumn) -> int:
    scope = column.scopes[0]
    concepts = np.union1d(scope.concepts, column.positions[column.counts > 0]).astype(np.int32)
    counts = np.zeros(len(concepts), dtype=np.int64)
    counts[np.searchsorted(concepts, column.positions[column.counts > 0])] = column.counts[column.counts > 0]
    sums = get_distance(column.attribute.distance).sums(scope, concepts, counts)
    return int(concepts[first_smallest(sums)])


SEMANTIC_MEANS = Measure(
    "semantic_means",
    title="middle of codes",
    about="How far the middle of categories and codes moved, as a semantic distance; the mean over these columns.",
    paper="distance of semantic means",
    unit="distance",
    compute=lambda tables, _: semantic_means(*tables.aligned),
    on_engine=lambda engine, tables: _compared(counted_on(engine, tables)),
    seconds=lambda tables: 1e-8 * tables.cells,
    columns=(Kind.NOMINAL, Kind.TAXONOMIC),
)
