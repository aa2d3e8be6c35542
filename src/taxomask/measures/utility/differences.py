"""Δ(θ): by how much means, variances and covariances changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_integer, check_number
from ...engines import Engine
from ...methods import Progress
from ...microdata import CategoricalColumn, Column, Microdata
from ...semantics import category_marginality
from ..measure import Figure, Measure, Tables, telling
from ..side_by_side import same_values, side_by_side
from ._cells import Cells, cells_on
from ._covariances import NominalCovariances, NumberCovariances
from ._moments import numbers, ordered, present, relatives, sum_of_products, with_mean
from ._power_sums import Moments, moments_on
from .result import Loss, Result, mean_of, pairs

__all__ = [
    "DIFFERENCES", "DIFFERENCES_IN_SAMPLES", "RelativeDifferences", "relative_differences",
    "relative_differences_in_samples",
]  # fmt: skip

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
    before, after = ({name: pair[when] for name, pair in columns.items()} for when in (0, 1))
    same = {name for name, pair in columns.items() if same_values(*pair)}
    return _compared(_Statistics(before), _Statistics(after, same))


def relative_differences_in_samples(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    rng: np.random.Generator,
    samples: int = 100,
    share: float = 0.1,
    linked: bool = True,
    progress: Progress | None = None,
) -> RelativeDifferences:
    """The mean Δ(θ) over random samples of the records: what a user of a part of the table loses.

    Every sample takes the same records from both tables; if they are not ``linked``, samples of the same share.
    """
    check_integer("samples", samples, at_least=1)
    check_number("share", share, above=0, at_most=1)
    columns = side_by_side(original, released, attributes, linked=linked)
    same = {name for name, pair in columns.items() if linked and same_values(*pair)}  # in every sample, then
    found: list[RelativeDifferences] = []
    for _ in telling(range(samples), progress):
        rows = _sample(rng, original.n, share)
        others = rows if linked else _sample(rng, released.n, share)
        before = {name: x.take(rows) for name, (x, _) in columns.items()}
        after = {name: before[name] if name in same else y.take(others) for name, (_, y) in columns.items()}
        found.append(_compared(_Statistics(before, same), _Statistics(after, same)))
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


def _compared(before: _Statistics, after: _Statistics) -> RelativeDifferences:
    return RelativeDifferences(
        _loss(before.means, after.means, before.sizes, after.sizes),
        _loss(before.variances, after.variances, before.variance_scales, after.variance_scales),
        _loss(before.covariances, after.covariances, before.covariance_scales, after.covariance_scales),
    )


def _loss(before: Parts, after: Parts, scales: Parts, released_scales: Parts) -> Loss:
    """What was not looked at after the protection is what it was before."""
    after = {key: after.get(key, value) for key, value in before.items()}
    larger = [max(scales[key], released_scales.get(key, 0.0)) for key in before]
    changes = relatives(*(np.array(list(some), dtype=np.float64) for some in (before.values(), after.values(), larger)))
    each = dict(zip(before, changes.tolist(), strict=True))
    return Loss(mean_of(each.values()), each, before, after)


@dataclass
class _Statistics:
    """The statistics of one table, and for each the size below which it is rounding; between ``skip``, none."""

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
            if isinstance(column, CategoricalColumn) and not ordered(column):
                self._categories(name, column)
            else:
                self._numbers(name, numbers(column))
        in_order = {name: numbers(one) for name, one in self.columns.items() if ordered(one)}
        others = {
            name: one
            for name, one in self.columns.items()
            if isinstance(one, CategoricalColumn) and name not in in_order
        }
        of_numbers, of_categories = NumberCovariances(in_order), NominalCovariances(others)
        for a, b in pairs(self.columns):
            if (a in in_order) != (b in in_order) or (a in self.skip and b in self.skip):
                continue
            if a in in_order:
                self.covariances[a, b], self.covariance_scales[a, b] = of_numbers.of(a, b)
            else:
                self.covariances[a, b], self.covariance_scales[a, b] = of_categories.of(a, b), 1.0

    def _numbers(self, name: str, values: NDArray[np.float64]) -> None:
        there = present(values)
        mean, away = with_mean(there) if len(there) else (np.nan, there)
        self.means[name] = mean
        self.variances[name] = sum_of_products(away, away) / max(len(there) - 1, 1) if len(there) else np.nan
        self.sizes[name] = float(np.abs(there).max(initial=0.0))
        self.variance_scales[name] = 0.0

    def _categories(self, name: str, column: CategoricalColumn) -> None:
        counts, n = column.counts, int(column.counts.sum())
        m = category_marginality(column) / n if n else np.zeros(0)
        self.means[name] = float(m[counts > 0].min()) if n else np.nan
        self.variances[name] = float(m @ counts / n) if n else np.nan
        self.sizes[name] = self.variance_scales[name] = 1.0


# --------------------------------------------------------------------------------------- of long tables


def _differences_on(engine: Engine, tables: Tables) -> RelativeDifferences:
    """The same of long tables."""
    in_order = {name: pair for name, pair in tables.columns.items() if ordered(pair[0])}
    moments = moments_on(engine, in_order)
    keys = [key for key in pairs(tables.columns) if not in_order.keys() & set(key)]
    before, after = (
        _statistics_on(engine, {name: pair[when] for name, pair in tables.columns.items()}, moments[when], keys)
        for when in (0, 1)
    )
    return _compared(before, after)


def _statistics_on(engine: Engine, columns: Columns, moments: Moments, keys: list[tuple[str, str]]) -> _Statistics:
    """The statistics of a table, of whose numbers the moments are known, and pairs of categories."""
    found = _Statistics({})
    coded = {
        name: one for name, one in columns.items() if name not in moments.names and isinstance(one, CategoricalColumn)
    }
    counted = {name: one.outline(engine.count(one)) for name, one in coded.items()}
    for name in columns:  # in the order of the table
        if name in counted:
            found._categories(name, counted[name])
        else:
            _of_numbers(found, name, moments)
    cells = zip(keys, cells_on(engine, [(coded[a], coded[b]) for a, b in keys]), strict=True)
    joint = {(a, b): _joint_covariance(counted[a], counted[b], one) for (a, b), one in cells}
    for a, b in pairs(columns):
        if (a, b) in joint:
            found.covariances[a, b], found.covariance_scales[a, b] = joint[a, b], 1.0
        elif a in moments.names and b in moments.names:
            unit = moments.units[a] * moments.units[b]
            found.covariances[a, b] = moments.covariance(a, b) * unit
            found.covariance_scales[a, b] = moments.spread(a, b) * moments.spread(b, a) * unit
    return found


def _of_numbers(found: _Statistics, name: str, moments: Moments) -> None:
    one = moments.single[name]
    found.means[name], found.variances[name] = one.mean, one.variance
    found.sizes[name], found.variance_scales[name] = one.largest, 0.0


def _joint_covariance(x: CategoricalColumn, y: CategoricalColumn, cells: Cells) -> float:
    """Covar_M / n from how many records have which two categories, with marginalities among these records."""
    (both, counts), size = cells, len(y.categories)
    n = int(counts.sum())
    if not n:
        return math.nan
    sides = [(x, both // size), (y, both % size)]
    roots = [_root(one.outline(_totals(one, codes, counts)), n)[codes] for one, codes in sides]
    return float((roots[0] * roots[1] * counts).sum()) / n


def _totals(column: CategoricalColumn, codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(codes, weights=counts, minlength=len(column.categories)).astype(np.int64)


def _root(column: CategoricalColumn, n: int) -> NDArray[np.float64]:
    """sqrt(m / n) of each category."""
    return np.sqrt(np.maximum(category_marginality(column), 0.0) / n)  # rounding may leave less than 0


DIFFERENCES = Measure(
    "differences",
    title="means",
    about="The mean relative change of the means of columns; of codes, of their least marginality.",
    paper="Δ(mean)",
    unit="relative change",
    compute=lambda tables, _: relative_differences(*tables.aligned),
    on_engine=_differences_on,
    seconds=lambda tables: 3e-9 * tables.n * tables.pairs,
    where="means.overall",
    more=(
        Figure(
            "variances.overall",
            "variances",
            "The mean relative change of the variances of columns; of codes, of their marginality.",
            "Δ(variance)",
        ),
        Figure(
            "covariances.overall",
            "covariances",
            "The mean relative change of the covariances of pairs of numbers, and of pairs of codes.",
            "Δ(covariance)",
        ),
    ),
)
_IN_A_SAMPLE = "The mean relative change of {} for somebody who uses a random tenth of the records"
DIFFERENCES_IN_SAMPLES = Measure(
    "differences_in_samples",
    title="means in samples",
    about=f"{_IN_A_SAMPLE.format('means')}, over 100 samples.",
    paper="Δ̄(mean)",
    unit="relative change",
    compute=lambda tables, told: relative_differences_in_samples(
        *tables.aligned, rng=tables.rng, samples=tables.samples, linked=tables.linked, progress=told
    ),
    seconds=lambda tables: tables.samples * (1.5e-4 * tables.changed_pairs + 1e-4 * len(tables.columns)),
    sampled=True,
    where="means.overall",
    more=tuple(
        Figure(f"{what}s.overall", f"{what}s in samples", f"{_IN_A_SAMPLE.format(f'{what}s')}.", f"Δ̄({what})")
        for what in ("variance", "covariance")
    ),
)
