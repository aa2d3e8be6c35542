"""Δ(θ): by how much means, variances and covariances changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...checks import check_integer, check_number
from ...microdata import CategoricalColumn, Column, Microdata
from ...semantics import category_marginality
from ._moments import complete, covariance, numbers, ordered, present, relative, same_values, spread
from .result import Loss, Result, mean_of, pairs, side_by_side

__all__ = ["RelativeDifferences", "relative_differences", "relative_differences_in_samples"]

Columns = Mapping[str, Column]
Parts = Mapping[Any, float]


@dataclass(frozen=True)
class RelativeDifferences(Result):
    """Δ(θ) = |θ' - θ| / |θ| of means, variances and covariances."""

    means: Loss
    variances: Loss
    covariances: Loss


def relative_differences(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None
) -> RelativeDifferences:
    """Δ(θ) = |θ' - θ| / |θ| for the means, variances and covariances of both tables.

    Continuous attributes, and ordinal ones by position (from 1), have the ordinary statistics; nominal and taxonomic
    ones those of marginality: Num_mean_M, Var_M and Covar_M, each divided by the number of values that are there, so
    that a table with fewer values does not look less varied. Between a number and a category there is no covariance;
    see `distance_correlations`. Where θ is 0 and θ' is not, Δ is NaN.

    References
    ----------
    Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, PSD 2012.
    """
    columns = side_by_side(original, released, attributes)
    return _compare(
        {name: pair[0] for name, pair in columns.items()}, {name: pair[1] for name, pair in columns.items()}
    )


def relative_differences_in_samples(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    rng: np.random.Generator,
    samples: int = 100,
    share: float = 0.1,
    linked: bool = True,
) -> RelativeDifferences:
    """The mean Δ(θ) over random samples of the records: what a user of a part of the table loses.

    Every sample takes the same records from both tables; if they are not ``linked``, samples of the same share.
    """
    check_integer("samples", samples, at_least=1)
    check_number("share", share, above=0, at_most=1)
    columns = side_by_side(original, released, attributes, linked=linked)
    same = {name for name, pair in columns.items() if linked and same_values(*pair)}  # in every sample, then
    found: list[RelativeDifferences] = []
    for _ in range(samples):
        rows = _sample(rng, original.n, share)
        others = rows if linked else _sample(rng, released.n, share)
        before = {name: x.take(rows) for name, (x, _) in columns.items()}
        after = {name: y.take(others) for name, (_, y) in columns.items()}
        found.append(_compare(before, after, same))
    names = list(columns)
    kinds = {name: ordered(x) for name, (x, _) in columns.items()}
    return RelativeDifferences(
        _mean_loss([one.means for one in found], names),
        _mean_loss([one.variances for one in found], names),
        _mean_loss([one.covariances for one in found], [(a, b) for a, b in pairs(names) if kinds[a] == kinds[b]]),
    )


def _sample(rng: np.random.Generator, n: int, share: float) -> NDArray[np.int64]:
    return np.sort(rng.choice(n, size=min(n, max(1, round(share * n))), replace=False)) if n else np.zeros(0, np.int64)


def _mean_loss(losses: list[Loss], keys: Iterable[Any]) -> Loss:
    """The mean of each part; 0 of those that were not looked at because nothing changed."""
    each = {key: mean_of(loss.each.get(key, 0.0) for loss in losses) for key in keys}
    return Loss(mean_of(each.values()), each)


def _compare(original: Columns, released: Columns, same: Collection[str] = ()) -> RelativeDifferences:
    """The differences; those of columns known to be the ``same`` are left out."""
    before, after = _Statistics(original, same), _Statistics(released, same)
    return RelativeDifferences(
        _loss(before.means, after.means, before.sizes, after.sizes),
        _loss(before.variances, after.variances, before.variance_scales, after.variance_scales),
        _loss(before.covariances, after.covariances, before.covariance_scales, after.covariance_scales),
    )


def _loss(before: Parts, after: Parts, scales: Parts, released_scales: Parts) -> Loss:
    each = {key: relative(value, after[key], max(scales[key], released_scales[key])) for key, value in before.items()}
    return Loss(mean_of(each.values()), each, before, after)


@dataclass
class _Statistics:
    """The statistics of one table, and for each the size below which it is rounding."""

    columns: Columns
    skip: Collection[str] = ()
    means: dict[str, float] = field(default_factory=dict)
    variances: dict[str, float] = field(default_factory=dict)
    covariances: dict[tuple[str, str], float] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    variance_scales: dict[str, float] = field(default_factory=dict)
    covariance_scales: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if name in self.skip:
                continue
            if ordered(column):
                self._numbers(name, numbers(column))
            else:
                assert isinstance(column, CategoricalColumn)
                self._categories(name, column)
        roots = {
            name: _roots(column)
            for name, column in self.columns.items()
            if isinstance(column, CategoricalColumn) and not ordered(column)
        }
        for a, b in pairs(self.columns):
            x, y = self.columns[a], self.columns[b]
            if a in self.skip and b in self.skip:
                continue
            if ordered(x) and ordered(y):
                u, v = complete(numbers(x), numbers(y))
                self.covariances[a, b] = covariance(u, v) if len(u) else np.nan
                self.covariance_scales[a, b] = spread(u) * spread(v)
            elif not ordered(x) and not ordered(y):
                self.covariances[a, b] = _nominal_covariance(x, y, roots[a], roots[b])
                self.covariance_scales[a, b] = 1.0

    def _numbers(self, name: str, values: NDArray[np.float64]) -> None:
        there = present(values)
        origin = there.min() if len(there) else 0.0
        self.means[name] = float((there - origin).mean() + origin) if len(there) else np.nan
        self.variances[name] = covariance(there, there) if len(there) else np.nan
        self.sizes[name] = float(np.abs(there).max(initial=0.0))
        self.variance_scales[name] = 0.0

    def _categories(self, name: str, column: CategoricalColumn) -> None:
        counts, n = column.counts, int(column.counts.sum())
        m = category_marginality(column) / n if n else np.zeros(0)
        self.means[name] = float(m[counts > 0].min()) if n else np.nan
        self.variances[name] = float(m @ counts / n) if n else np.nan
        self.sizes[name] = self.variance_scales[name] = 1.0


def _roots(column: CategoricalColumn) -> NDArray[np.float64]:
    """sqrt(m / n) of the value of every record."""
    n = int(column.counts.sum())
    m = np.maximum(category_marginality(column), 0.0)  # rounding may leave less than 0
    return np.append(np.sqrt(m / max(n, 1)), np.nan)[column.codes]


def _nominal_covariance(x: Column, y: Column, root_x: NDArray[np.float64], root_y: NDArray[np.float64]) -> float:
    """Covar_M / n over the records with both values, with marginalities among these."""
    assert isinstance(x, CategoricalColumn)
    assert isinstance(y, CategoricalColumn)
    both = ~(x.missing | y.missing)
    if not both.any():
        return np.nan
    if not both.all():
        root_x, root_y = _roots(x.take(both)), _roots(y.take(both))
    return float(root_x @ root_y / len(root_x))
