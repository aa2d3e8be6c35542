"""How columns enter a regression: a few numbers per record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ...microdata import CategoricalColumn, Column, ContinuousColumn, Kind
from .branches import branches

__all__ = ["Encoder", "design"]

Float = NDArray[np.float64]

BENDS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The quantiles at which a line may bend."""
LUMP = 0.05
"""A single number that has this share of the records has an indicator: newborns and zeros are not just small."""
MOST_INDICATORS = 20
"""As many branches or categories of a column have an indicator at most."""
FEWEST = 10
"""An indicator needs as many records with, and without; fewer say nothing about a dependence."""


class Encoder:
    """What a column of the original table looks like as a predictor, and how a synthetic version of it does.

    Numbers and ordered categories enter by their normal score, as a line that may bend at some quantiles, and by
    indicators of single values that many records share. Categories enter by indicators of the largest branches of
    their taxonomy, plain ones by indicators of the most frequent; a branch within another has an indicator of its own.
    A missing value has the score 0, or no category, and an indicator. All are centred and scaled to variance 1.
    """

    def __init__(self, column: Column) -> None:
        self._scale = isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL
        if isinstance(column, ContinuousColumn) or self._scale:
            self._learn_scores(column.numbers())
        else:
            self._learn_branches(column)
        self._missing = _enough(int(column.missing.sum()), len(column))
        plain = self._plain(column)
        self._centre, spread = plain.mean(axis=0), plain.std(axis=0)
        self._kept = spread > 1e-9
        self._spread = spread[self._kept]

    def matrix(self, column: Column) -> Float:
        """One row per record."""
        return (self._plain(column) - self._centre)[:, self._kept] / self._spread

    def _learn_scores(self, values: Float) -> None:
        self._levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        self._bends = self._lumps = np.zeros(0)
        if len(counts) < 2:
            return
        upto = np.cumsum(counts)
        self._scores = ndtri((upto - counts / 2) / upto[-1])
        inner = self._scores[1:-1]
        self._bends = np.intersect1d(self._scores[np.searchsorted(upto, np.array(BENDS) * upto[-1])], inner)
        if len(inner) > len(self._bends):  # otherwise the line goes through every value anyway
            self._lumps = self._scores[counts >= max(LUMP * upto[-1], FEWEST)]

    def _learn_branches(self, column: CategoricalColumn) -> None:
        tree = branches(column)
        self._place = np.full(len(column.categories) + 1, -1, dtype=np.int64)
        self._place[tree.order] = np.arange(len(tree.order))
        total = np.concatenate([[0], np.cumsum(column.counts[tree.order])])
        ranges = [
            pair for bounds in tree.bounds for pair in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]
        sizes = [int(total[high] - total[low]) for low, high in ranges]
        largest = sorted(range(len(ranges)), key=lambda i: -sizes[i])
        self._ranges = [ranges[i] for i in largest if _enough(sizes[i], len(column))][:MOST_INDICATORS]

    def _plain(self, column: Column) -> Float:
        if isinstance(column, ContinuousColumn) or self._scale:
            parts = list(self._line(column.numbers()))
        else:
            parts = list(self._indicators(column))
        if self._missing:
            parts.append(column.missing.astype(float))
        return np.column_stack(parts) if parts else np.zeros((len(column), 0))

    def _line(self, values: Float) -> Iterable[Float]:
        if len(self._levels) < 2:
            return
        present = ~np.isnan(values)
        score = np.zeros(len(values))
        score[present] = self._scores[np.searchsorted(self._levels, values[present])]
        yield score
        for bend in self._bends:
            yield np.maximum(score - bend, 0)
        for lump in self._lumps:
            yield (present & (score == lump)).astype(float)

    def _indicators(self, column: CategoricalColumn) -> Iterable[Float]:
        place = self._place[column.codes]
        for low, high in self._ranges:
            yield ((place >= low) & (place < high)).astype(float)


def design(encoders: Sequence[Encoder], columns: Sequence[Column], n: int) -> Float:
    """The predictors of n records: a constant, and what the columns say."""
    return np.hstack([np.ones((n, 1)), *(encoder.matrix(one) for encoder, one in zip(encoders, columns, strict=True))])


def _enough(count: int, n: int) -> bool:
    return min(count, n - count) >= FEWEST
