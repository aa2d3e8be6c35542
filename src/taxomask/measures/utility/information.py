"""IL1 to IL5 and IL, and their probabilistic versions: what numbers lose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import Column, Kind, Microdata
from ..measure import Figure, Measure, Tables
from ..side_by_side import side_by_side
from ._moments import Sample, covariance, numbers, present, relative, unit_of
from ._power_sums import Moments, Single, moments_on
from .result import Loss, Result, mean_of, pairs

__all__ = [
    "INFORMATION", "PROBABILISTIC", "InformationLoss", "ProbabilisticLoss", "information_loss", "probabilistic_loss",
]  # fmt: skip

Float = NDArray[np.float64]
Pair = tuple[Float, Float]


@dataclass(frozen=True)
class InformationLoss(Result):
    """IL1 to IL5 of the continuous attributes, and IL = 100 times their mean.

    ``values`` (IL1) is the mean |x - x'| / |x| over the cells, ``means`` (IL2), ``variances`` (IL3) and ``covariances``
    (IL4) the mean relative differences of these statistics, ``correlations`` (IL5) their mean absolute difference.
    ``values`` is None for tables whose records do not correspond, and ``overall`` the mean of the other four then.
    """

    overall: float
    values: Loss | None
    means: Loss
    variances: Loss
    covariances: Loss
    correlations: Loss


def information_loss(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None, *, linked: bool = True
) -> InformationLoss:
    """IL1 to IL5 and IL of the continuous attributes.

    Cells with x = 0 are left out of IL1 and counted. IL1 and IL2 divide by the values, so that they depend on where a
    scale begins (degrees Celsius or Fahrenheit); none depends on the unit.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data
    Mining and Knowledge Discovery 11, doi 10.1007/s10618-005-0007-5, Table 2.
    """
    columns = _continuous(original, released, attributes, linked)
    values = _values(columns) if linked else None
    means = _compare(columns, columns, _mean, lambda x: float(np.abs(present(x)).max(initial=0.0)))
    variances = _compare(columns, columns, _variance, lambda x: 0.0)
    covariances, correlations = _of_pairs(columns)
    parts = [part for part in (values, means, variances, covariances, correlations) if part is not None]
    overall = 100 * mean_of(part.overall for part in parts)
    return InformationLoss(overall, values, means, variances, covariances, correlations)


def _values(columns: Mapping[str, Pair]) -> Loss:
    """IL1: the mean over all cells, not over attributes."""
    each, left_out, total, cells = {}, {}, 0.0, 0
    for name, (x, y) in columns.items():
        change = _relative_changes(x, y)
        each[name] = float(change.mean()) if len(change) else 0.0
        total, cells = total + float(change.sum()), cells + len(change)
        if len(change) < len(x):
            left_out[name] = len(x) - len(change)
    return Loss(total / cells if cells else 0.0, each, left_out=left_out)


def _compare(
    columns: Mapping[str, Pair],
    names: Iterable[str],
    statistic: Callable[[Float], float],
    scale: Callable[[Float], float],
) -> Loss:
    before = {name: statistic(columns[name][0]) for name in names}
    after = {name: statistic(columns[name][1]) for name in names}
    each = {name: relative(before[name], after[name], max(map(scale, columns[name]))) for name in names}
    return Loss(mean_of(each.values()), each, before, after)


def _of_pairs(columns: Mapping[str, Pair]) -> tuple[Loss, Loss]:
    """Relative differences of covariances, and absolute ones of correlations."""
    samples = _samples(columns)
    covariances: tuple[dict[tuple[str, str], float], ...] = ({}, {}, {})
    correlations: tuple[dict[tuple[str, str], float], ...] = ({}, {}, {})
    for a, b in pairs(columns):
        scale = 0.0
        for when in (0, 1):
            x, y = samples[a][when].with_values_of(samples[b][when])
            covariances[when][a, b] = x.covariance(y) if len(x) else math.nan
            correlations[when][a, b] = x.correlation(y)
            scale = max(scale, x.spread * y.spread)
        covariances[2][a, b] = relative(covariances[0][a, b], covariances[1][a, b], scale)
        correlations[2][a, b] = abs(correlations[1][a, b] - correlations[0][a, b])
    of_covariances, of_correlations = (
        Loss(mean_of(each.values()), each, before, after) for before, after, each in (covariances, correlations)
    )
    return of_covariances, of_correlations


def _samples(columns: Mapping[str, Pair]) -> dict[str, tuple[Sample, Sample]]:
    return {name: (Sample(x), Sample(y)) for name, (x, y) in columns.items()}


def _information_on(engine: Engine, tables: Tables) -> InformationLoss:
    """The same of long tables."""
    columns = tables.columns
    before, after = moments_on(engine, columns)
    values = _values_on(engine, columns) if tables.linked else None
    means = _compared(before, after, lambda one: one.mean, lambda one: one.largest)
    variances = _compared(before, after, lambda one: one.variance, lambda one: 0.0)
    both = {key: (_in_units(before, *key), _in_units(after, *key)) for key in pairs(columns)}
    of_covariances = {key: relative(x[0], y[0], max(x[1], y[1])) for key, (x, y) in both.items()}
    covariances = Loss(
        mean_of(of_covariances.values()),
        of_covariances,
        {key: x[0] for key, (x, _) in both.items()},
        {key: y[0] for key, (_, y) in both.items()},
    )
    first, second = ({key: one.correlation(*key) for key in pairs(columns)} for one in (before, after))
    each = {key: abs(second[key] - value) for key, value in first.items()}
    correlations = Loss(mean_of(each.values()), each, first, second)
    parts = [part for part in (values, means, variances, covariances, correlations) if part is not None]
    return InformationLoss(
        100 * mean_of(one.overall for one in parts), values, means, variances, covariances, correlations
    )


def _in_units(moments: Moments, a: str, b: str) -> tuple[float, float]:
    """The covariance of two columns in their own units, and the product of their spreads."""
    unit = moments.units[a] * moments.units[b]
    return moments.covariance(a, b) * unit, moments.spread(a, b) * moments.spread(b, a) * unit


def _compared(
    before: Moments, after: Moments, statistic: Callable[[Single], float], scale: Callable[[Single], float]
) -> Loss:
    first, second = ({name: statistic(one) for name, one in when.single.items()} for when in (before, after))
    each = {
        name: relative(value, second[name], max(scale(before.single[name]), scale(after.single[name])))
        for name, value in first.items()
    }
    return Loss(mean_of(each.values()), each, first, second)


def _values_on(engine: Engine, columns: Mapping[str, tuple[Column, Column]]) -> Loss:
    found = {name: engine.fold(_changes, _added, list(pair), what="adding up") for name, pair in columns.items()}
    each = {name: total / cells if cells else 0.0 for name, (total, cells, _) in found.items()}
    cells = sum(one for _, one, _ in found.values())
    left_out = {name: one for name, (_, _, one) in found.items() if one}
    return Loss(sum(total for total, _, _ in found.values()) / cells if cells else 0.0, each, left_out=left_out)


def _changes(before: Column, after: Column) -> tuple[float, int, int]:
    """The sum of the relative changes of a chunk, how many cells have one, and how many do not."""
    change = _relative_changes(numbers(before), numbers(after))
    return float(change.sum()), len(change), len(before) - len(change)


def _added(one: tuple[float, int, int], other: tuple[float, int, int]) -> tuple[float, int, int]:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _relative_changes(x: Float, y: Float) -> Float:
    usable = ~(np.isnan(x) | np.isnan(y)) & (x != 0)
    return np.asarray(np.abs(x[usable] - y[usable]) / np.abs(x[usable]))


# --------------------------------------------------------------------------------------- probabilistic


@dataclass(frozen=True)
class ProbabilisticLoss(Result):
    """PIL(Q), PIL(m), PIL(m2), PIL(m11) and PIL(r) of the continuous attributes, each in [0, 1]."""

    quantiles: Loss
    means: Loss
    variances: Loss
    covariances: Loss
    correlations: Loss


def probabilistic_loss(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None
) -> ProbabilisticLoss:
    """PIL(θ) = erf(|θ' - θ| / sqrt(2 Var θ)): how sure it is that a statistic changed by more than chance would.

    Var θ is that of the statistic in random samples of the original's size. Moments have the divisor n. The quantiles
    are those of 5 %, 10 %, … 95 %; the density at each is counted within 1/1000 of the attribute's own range. Where
    Var θ is 0 the loss is 0 if nothing changed, else 1.

    References
    ----------
    Mateo-Sanz, Domingo-Ferrer, Sebé (2005), Probabilistic information loss measures in confidentiality protection of
    continuous microdata, Data Mining and Knowledge Discovery 11; Domingo-Ferrer, Torra (2005), Table 3.
    """
    columns = {name: _standardised(pair) for name, pair in _continuous(original, released, attributes, False).items()}
    quantiles = {name: _quantile_loss(present(x), present(y)) for name, (x, y) in columns.items()}
    means = {name: _moment_loss(present(x), present(y), 1) for name, (x, y) in columns.items()}
    variances = {name: _moment_loss(present(x), present(y), 2) for name, (x, y) in columns.items()}
    covariances, correlations = {}, {}
    samples = _samples(columns)
    for a, b in pairs(columns):
        before, after = (samples[a][when].with_values_of(samples[b][when]) for when in (0, 1))
        covariances[a, b], correlations[a, b] = _joint_losses(before, after)
    parts = (quantiles, means, variances, covariances, correlations)
    return ProbabilisticLoss(*(Loss(mean_of(part.values()), part) for part in parts))


def _probabilistic_on(engine: Engine, tables: Tables) -> ProbabilisticLoss:
    """The same of long tables."""
    columns = tables.columns
    before, after = moments_on(engine, columns, 4)
    quantiles = {
        name: engine.run(
            _sorted_quantile_loss,
            *(engine.sort(one.cells, "sorting") for one in pair),
            before.units[name],
            what="sorting",
        )
        for name, pair in columns.items()
    }
    means, variances = ({name: _moment_loss_of(before, after, name, order) for name in columns} for order in (1, 2))
    both = {key: _joint_losses_of(before, after, *key) for key in pairs(columns)}
    parts = (
        quantiles,
        means,
        variances,
        {key: one for key, (one, _) in both.items()},
        {key: one for key, (_, one) in both.items()},
    )
    return ProbabilisticLoss(*(Loss(mean_of(part.values()), part) for part in parts))


def _moment_loss_of(before: Moments, after: Moments, name: str, order: int) -> float:
    n, released = before.count(name, name), after.count(name, name)
    if not n or not released:
        return 0.0 if n == released else math.nan
    second, unit = before.central(2, 0, name, name), before.units[name]
    if order == 1:
        return _chance((after.single[name].mean - before.single[name].mean) / unit, second / n)
    return _chance(after.central(2, 0, name, name) - second, (before.central(4, 0, name, name) - second**2) / n)


def _joint_losses_of(before: Moments, after: Moments, a: str, b: str) -> tuple[float, float]:
    n, released = before.count(a, b), after.count(a, b)
    if not n or not released:
        return (0.0, 0.0) if n == released else (math.nan, math.nan)
    orders = ((2, 0), (0, 2), (4, 0), (0, 4), (1, 1), (2, 2), (3, 1), (1, 3))
    return _joint_chances(
        n,
        tuple(before.central(i, j, a, b) for i, j in orders),
        after.central(1, 1, a, b),
        before.correlation(a, b),
        after.correlation(a, b),
    )


def _standardised(pair: Pair) -> Pair:
    """Both columns in units of the original's spread, from its mean: moments are of size 1 then, whatever the unit."""
    x = present(pair[0])
    if not len(x):
        return pair
    origin, unit = x.min(), unit_of(*pair)
    middle = ((x - origin) / unit).mean()
    return (pair[0] - origin) / unit - middle, (pair[1] - origin) / unit - middle


def _chance(difference: float, variance: float) -> float:
    if abs(difference) <= 1e-12:
        return 0.0
    return math.erf(abs(difference) / math.sqrt(2 * variance)) if variance > 1e-24 else 1.0


def _quantile_loss(x: Float, y: Float) -> float:
    if not len(x) or not len(y):
        return 0.0 if len(x) == len(y) else math.nan
    return _sorted_quantile_loss(np.sort(x), np.sort(y))


def _sorted_quantile_loss(x: Float, y: Float, unit: float = 1.0) -> float:
    """The same of sorted values, in a unit."""
    if not len(x) or not len(y):
        return 0.0 if len(x) == len(y) else math.nan
    width = (x[-1] - x[0]) / 1000
    losses = []
    for percent in range(5, 100, 5):
        before, after = x[(len(x) - 1) * percent // 100], y[(len(y) - 1) * percent // 100]
        near = np.searchsorted(x, before + width, "left") - np.searchsorted(x, before - width, "right")
        share = percent / 100
        with np.errstate(over="ignore"):  # of numbers below 1e-300
            density = near * unit / (2 * width * len(x)) if width > 0 else math.inf
        losses.append(_chance((after - before) / unit, share * (1 - share) / (len(x) * density**2)))
    return mean_of(losses)


def _moment_loss(x: Float, y: Float, order: int) -> float:
    if not len(x) or not len(y):
        return 0.0 if len(x) == len(y) else math.nan
    u = x - x.mean()
    second = float((u**2).mean())
    if order == 1:
        return _chance(float(y.mean() - x.mean()), second / len(x))
    return _chance(float(y.var()) - second, (float((u**4).mean()) - second**2) / len(x))


def _joint_losses(before: tuple[Sample, Sample], after: tuple[Sample, Sample]) -> tuple[float, float]:
    """PIL of the covariance and of the correlation."""
    n = len(before[0])
    if not n or not len(after[0]):
        return (0.0, 0.0) if n == len(after[0]) else (math.nan, math.nan)
    (x, x2, m20, m40), (y, y2, m02, m04) = (one.powers for one in before)
    product = x * y
    u, v = (one.powers[0] for one in after)
    thirds = (float((x2 * product).mean()), float((product * y2).mean())) if m20 > 0 and m02 > 0 else (0.0, 0.0)
    return _joint_chances(
        n,
        (m20, m02, m40, m04, float(product.mean()), float((x2 * y2).mean()), *thirds),
        float((u * v).mean()),
        before[0].correlation(before[1]),
        after[0].correlation(after[1]),
    )


def _joint_chances(
    n: int, moments: tuple[float, ...], released_m11: float, r: float, released_r: float
) -> tuple[float, float]:
    """From the moments μ20, μ02, μ40, μ04, μ11, μ22, μ31 and μ13 of the original."""
    m20, m02, m40, m04, m11, m22, m31, m13 = moments
    of_covariance = _chance(released_m11 - m11, (m22 - m11**2) / n)
    variance = 0.0
    if m20 > 0 and m02 > 0:
        root = math.sqrt(m20 * m02)  # r²/μ11² is 1/(μ20 μ02), also where the covariance is 0
        variance = (
            m22 / (m20 * m02)
            + r**2 / 4 * (m40 / m20**2 + m04 / m02**2 + 2 * m22 / (m20 * m02))
            - r / root * (m31 / m20 + m13 / m02)
        ) / n
    return of_covariance, _chance(released_r - r, variance)


# --------------------------------------------------------------------------------------- both


def _continuous(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None, linked: bool
) -> dict[str, Pair]:
    columns = side_by_side(original, released, attributes, linked=linked)
    return {name: (numbers(x), numbers(y)) for name, (x, y) in columns.items() if x.attribute.kind == Kind.CONTINUOUS}


def _mean(x: Float) -> float:
    values = present(x)
    if not len(values):
        return math.nan
    return float((values - values.min()).mean() + values.min())


def _variance(x: Float) -> float:
    values = present(x)
    return covariance(values, values) if len(values) else math.nan


_BY_CHANCE = "How sure it is, from 0 to 1, that {} changed by more than the luck of the draw."
INFORMATION = Measure(
    "information",
    title="information loss of numbers",
    about="100 times the mean of IL1 to IL5.",
    paper="IL",
    unit="relative change",
    compute=lambda tables, _: information_loss(*tables.aligned, linked=tables.linked),
    on_engine=_information_on,
    seconds=lambda tables: 3e-8 * tables.cells,
    columns=(Kind.CONTINUOUS,),
    more=(
        Figure(
            "values.overall",
            "values of numbers",
            "The mean change of a number as a share of it; cells with 0 are left out.",
            "IL1",
        ),
        Figure("means.overall", "means of numbers", "The mean relative change of the means.", "IL2"),
        Figure("variances.overall", "variances of numbers", "The mean relative change of the variances.", "IL3"),
        Figure(
            "covariances.overall",
            "covariances of numbers",
            "The mean relative change of the covariances of pairs.",
            "IL4",
        ),
        Figure(
            "correlations.overall",
            "correlations of numbers",
            "The mean absolute change of Pearson's correlations of pairs.",
            "IL5",
        ),
    ),
)
PROBABILISTIC = Measure(
    "probabilistic",
    title="quantiles, against chance",
    about=_BY_CHANCE.format("quantiles"),
    paper="PIL(Q)",
    unit="probability",
    compute=lambda tables, _: probabilistic_loss(*tables.aligned),
    on_engine=_probabilistic_on,
    seconds=lambda tables: 7.5e-8 * tables.cells,
    where="quantiles.overall",
    columns=(Kind.CONTINUOUS,),
    more=tuple(
        Figure(f"{what}.overall", f"{what}, against chance", _BY_CHANCE.format(what), f"PIL({paper})")
        for what, paper in {"means": "m", "variances": "m2", "covariances": "m11", "correlations": "r"}.items()
    ),
)
