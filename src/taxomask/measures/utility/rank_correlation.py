"""How attributes hang together by rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ...microdata import CategoricalColumn, Column, Microdata
from ...semantics import category_marginality
from ._moments import complete, correlation, numbers, ordered
from .result import Loss, mean_of, pairs, side_by_side

__all__ = ["rank_correlations"]

Float = NDArray[np.float64]


def rank_correlations(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """|r(X', Y') - r(X, Y)| of every pair of attributes, r being Spearman's rank correlation.

    Nominal and taxonomic values are ranked by their marginality in the original table, then in the order of the
    categories. 0 if either attribute does not vary. Over the records that have both values.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, PSD 2014.
    """
    columns = {name: _scores(x, y) for name, (x, y) in side_by_side(original, released, attributes).items()}
    before, after = (_correlations({name: both[when] for name, both in columns.items()}) for when in (0, 1))
    each = {key: abs(after[key] - before[key]) for key in before}
    return Loss(mean_of(each.values()), each, before, after)


def _scores(original: Column, released: Column) -> tuple[Float, Float]:
    """Numbers that order the values; NaN where missing."""
    if ordered(original):
        return numbers(original), numbers(released)
    assert isinstance(original, CategoricalColumn)
    assert isinstance(released, CategoricalColumn)
    m = category_marginality(original)
    rounded = np.round(m / m.max(), 12) if m.max(initial=0.0) > 0 else m  # the same but for rounding: taxonomy order
    place = np.empty(len(m) + 1)
    place[np.argsort(rounded, kind="stable")] = np.arange(len(m))
    place[-1] = np.nan
    return place[original.codes], place[released.codes]


def _correlations(columns: Mapping[str, Float]) -> dict[tuple[str, str], float]:
    """Spearman's correlation of every pair; a column without missing values is ranked once."""
    whole = {name: _ranks(values) for name, values in columns.items() if not np.isnan(values).any()}

    def spearman(a: str, b: str) -> float:
        if a in whole and b in whole:
            return correlation(whole[a], whole[b])
        u, v = complete(columns[a], columns[b])
        return correlation(_ranks(u), _ranks(v))

    return {(a, b): spearman(a, b) for a, b in pairs(columns)}


def _ranks(x: Float) -> Float:
    """Average ranks, from 1."""
    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]
