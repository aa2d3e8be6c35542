"""Population uniques: how many unique records of a sample are unique in the population that it was drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_integer
from ...engines import Engine
from ...errors import DataError
from ...methods import Progress
from ...microdata import Microdata, Role
from ...microdata.people import class_owners
from ..measure import Figure, Measure, Tables
from ..plain import Result
from ._by_person import owned_on
from .classes import class_counts_on
from .inputs import check_records, chosen, class_numbers

__all__ = ["POPULATION_UNIQUES", "PopulationModel", "PopulationUniques", "population_uniques"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

SIZES = 10  # classes of 1, 2, …, 10 records, and larger ones, show how a model fits
NONE_UNIQUE = "no record is unique in the table, so none is in the population"
EVERYBODY = "the table has the whole population"
AS_GOOD = 2.0  # deviances that differ by no more cannot be told apart
BY_FIT = (
    f"of the models whose sizes of classes (1 to {SIZES}, and larger) are nearest to those of the table, by deviance "
    f"within {AS_GOOD:g} of the least, the one with the most uniques"
)


@dataclass(frozen=True)
class PopulationModel(Result):
    """What a model says: ``uniques`` of the population, its parameters, and how far its sizes of classes are off.

    ``deviance`` is 2·Σ O·log(O/E) over classes of 1 to 10 and of more records, O the number of them in the table and E
    what the model expects, for the same number of classes. Undefined where the model cannot be fitted.
    """

    uniques: float
    deviance: float
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class PopulationUniques(Result):
    """Estimates of how many people are unique in the population.

    ``population``: how many people it has; ``fraction``: the share of them in the table; ``sample_uniques``: records
    that are unique in the table. ``uniques``: how many are unique in the population, by the model that is ``chosen`` by
    the ``rule``; ``expected``: how many records of the table are among them, ``share`` the same as a share of the
    sample uniques. ``models`` has all of them.
    """

    population: int
    fraction: float
    sample_uniques: int
    chosen: str
    rule: str
    uniques: float
    expected: float
    share: float
    models: Mapping[str, PopulationModel]


def population_uniques(data: Microdata, population: int, attributes: Iterable[str] | None = None) -> PopulationUniques:
    """Estimate how many people are unique in the population, by three models of the sizes of its classes.

    All three take the table for a simple random sample of n from N people. With s_j classes of j records in the table:

    ``zayatz``: the sizes in the population are distributed as in the sample. A sample unique is a population unique
    with probability s_1·h(1) / Σ_j s_j·h(j), where h(j) is the hypergeometric probability that one of j is drawn.

    ``pitman``: the Ewens–Pitman partition with parameters θ and α, fitted by maximum likelihood; N people have
    N·(θ+α)_(N-1) / (θ+1)_(N-1) uniques, about Γ(θ+1)/Γ(θ+α)·N^α, with rising factorials.

    ``negative_binomial``: a class has 1 + X people, X negative binomial (α, β), fitted by maximum likelihood to what is
    left of it when each person is drawn with probability n/N and empty classes are not seen; K classes have K·β^α
    uniques.

    The one that fits best is chosen, by its ``deviance``; of those that fit as well as the best, within 2 of the least,
    the one with the most uniques. None holds in general: see them all, and mistrust them where they are far apart.

    Parameters
    ----------
    data
        The table; a missing value is a category of its own.
    population
        N: how many people the population has.
    attributes
        By default all quasi-identifiers.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="nominal")])
    >>> data = tm.Microdata.from_frame(pa.table({"age": [31, 35, 35, 62, 62, 62, 70, 70]}), schema)
    >>> found = population_uniques(data, 16)
    >>> found.sample_uniques, found.fraction, round(found.models["zayatz"].uniques, 2)
    (1, 0.5, 0.51)

    References
    ----------
    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample; Hoshino
    (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of Official Statistics
    17; Chen, Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, Journal of Official
    Statistics 14.
    """
    check_integer("population", population, at_least=1)
    names = chosen(data, data, attributes)
    check_records(data, "released")
    sizes = class_owners(class_numbers(data.columns[name] for name in names), data.people)
    return _estimated(sizes, population)


def _estimated(sizes: Whole, population: int) -> PopulationUniques:
    n, unique = int(sizes.sum()), int((sizes == 1).sum())
    if n > population:
        raise DataError(
            f"the table has {n:,} people and the population {population:,}.",
            hint="Give the number of people that the table is a sample of (population_size).",
        )
    fraction = n / population
    if not unique or n == population:
        rule = NONE_UNIQUE if not unique else EVERYBODY
        return PopulationUniques(population, fraction, unique, "none", rule, unique, unique, float(unique > 0), {})
    counted = _Sizes.of(sizes, population)
    models = {name: _bounded(model(counted), counted) for name, model in MODELS.items()}
    least = min(model.deviance for model in models.values())
    good = [name for name, model in models.items() if model.deviance <= least + AS_GOOD]
    best = max(good, key=lambda name: models[name].uniques)
    uniques = models[best].uniques
    expected = min(uniques * fraction, float(unique))
    return PopulationUniques(population, fraction, unique, best, BY_FIT, uniques, expected, expected / unique, models)


@dataclass(frozen=True, eq=False)
class _Sizes:
    """The sizes of classes that occur in the table, and how many classes have each."""

    sizes: Float
    counts: Float
    n: int
    population: int

    @classmethod
    def of(cls, sizes: Whole, population: int) -> _Sizes:
        values, counts = np.unique(sizes, return_counts=True)
        return cls(values.astype(np.float64), counts.astype(np.float64), int(sizes.sum()), population)

    @property
    def classes(self) -> float:
        return float(self.counts.sum())

    @property
    def fraction(self) -> float:
        return self.n / self.population

    def deviance(self, chances: Float) -> float:
        """How far the numbers of classes of 1, 2, … and of more records are from these chances of each size."""
        small = self.sizes <= SIZES
        seen = np.zeros(SIZES + 1)
        seen[self.sizes[small].astype(np.int64) - 1] = self.counts[small]
        seen[SIZES] = self.counts[~small].sum()
        expected = self.classes * np.append(chances, max(1 - float(chances.sum()), 0.0))
        some = seen > 0
        if (expected[some] <= 0).any():
            return inf
        return float(2 * (seen[some] * np.log(seen[some] / expected[some])).sum())


def _bounded(model: PopulationModel, counted: _Sizes) -> PopulationModel:
    """There are at most as many uniques as people; what could not be fitted is last in every choice."""
    if not np.isfinite(model.uniques) or np.isnan(model.deviance):
        return PopulationModel(nan, inf, model.parameters)
    return PopulationModel(min(model.uniques, float(counted.population)), model.deviance, model.parameters)


def _zayatz(counted: _Sizes) -> PopulationModel:
    chances = np.array([float(np.exp(_log_drawn(i, counted)) @ counted.counts) for i in range(1, SIZES + 1)])
    seen = float(-np.expm1(_log_drawn(0, counted)) @ counted.counts)
    uniques = counted.counts[0] ** 2 / chances[0]  # s_1·share / fraction, share = s_1·fraction / Σ
    return PopulationModel(float(uniques), counted.deviance(chances / seen), {})


def _log_drawn(drawn: int, counted: _Sizes) -> Float:
    """The logarithm of the hypergeometric chance that so many of a class are in the sample, for each size of a class.

    C(j, i)·π^i·(1-π)^(j-i), and what drawing without replacement adds: products of 1 - l/n, 1 - l/(N-n) and 1 - l/N.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    every = np.arange(int(counted.sizes[-1]))

    def without_replacement(people: int, size: NDArray[Any]) -> Float:
        with np.errstate(divide="ignore"):
            each = np.log1p(-np.minimum(every / people, 1.0))
        return np.concatenate([[0.0], np.cumsum(each)])[size.astype(np.int64)]

    here, fraction, rest = counted.sizes, counted.fraction, counted.population - counted.n
    others = np.maximum(here - drawn, 0)
    ways = gammaln(here + 1) - gammaln(drawn + 1.0) - gammaln(others + 1)
    drawing = xlogy(drawn, fraction) + xlog1py(others, -fraction)
    inside = without_replacement(counted.n, np.minimum(here, drawn)) + without_replacement(rest, others)
    log = ways + drawing + inside - without_replacement(counted.population, here)
    return np.where(here >= drawn, log, -np.inf)


def _pitman(counted: _Sizes) -> PopulationModel:
    from scipy.special import gammaln

    n, classes = counted.n, int(counted.classes)

    def against(point: Float) -> float:
        theta, alpha = _of_pitman(point)
        new = (classes - 1) * np.log(alpha) + gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        again = float((counted.counts * (gammaln(counted.sizes - alpha) - gammaln(1 - alpha))).sum())
        return -float(new + again - (gammaln(theta + n) - gammaln(theta + 1)))

    theta, alpha = _of_pitman(_best(against, [(0.0, 1.0), (2.0, 3.0), (-2.0, 5.0), (0.0, 9.0)]))

    def expected(size: Any, people: float) -> Any:
        """How many classes of a size so many people have."""
        ways = gammaln(people + 1) - gammaln(size + 1) - gammaln(people - size + 1)
        inside = gammaln(size - alpha) - gammaln(1 - alpha)
        others = gammaln(theta + alpha + people - size) - gammaln(theta + alpha)
        return np.exp(ways + inside + others - gammaln(theta + people) + gammaln(theta + 1))

    sizes = np.arange(1.0, min(SIZES, n) + 1)
    grown = gammaln(theta + alpha + n) - gammaln(theta + alpha) - gammaln(theta + n) + gammaln(theta + 1)
    every = (np.exp(grown) - theta) / alpha
    chances = np.zeros(SIZES)
    chances[: len(sizes)] = expected(sizes, float(n)) / every
    uniques = float(expected(1.0, float(counted.population)))
    return PopulationModel(uniques, counted.deviance(chances), {"theta": theta, "alpha": alpha})


def _of_pitman(point: Float) -> tuple[float, float]:
    """θ > -α and 0 < α < 1, from any two numbers."""
    alpha = min(max(1 / (1 + np.exp(-point[0])), 1e-6), 1 - 1e-9)
    return float(np.exp(np.clip(point[1], -20, 40)) - alpha), float(alpha)


def _negative_binomial(counted: _Sizes) -> PopulationModel:
    drawn = counted.fraction

    def chance(size: Float, shape: float, beta: float) -> Float:
        """Of a class with so many people in the sample."""
        first = np.where(size > 0, drawn * _nb(np.maximum(size - 1, 0), shape, beta), 0.0)
        return np.asarray(first + (1 - drawn) * _nb(size, shape, beta))

    def against(point: Float) -> float:
        shape, beta = _of_binomial(point)
        likely = np.log(np.maximum(chance(counted.sizes, shape, beta), 1e-300))
        unseen = float(chance(np.zeros(1), shape, beta)[0])
        return -float((counted.counts * likely).sum()) + counted.classes * float(np.log1p(-min(unseen, 1 - 1e-15)))

    shape, thinned = _of_binomial(_best(against, [(0.0, 0.0), (-3.0, -3.0), (2.0, 2.0), (-6.0, -6.0)]))
    beta = thinned * drawn / (thinned * drawn + 1 - thinned)  # (1 - β)/β is that of the sample, divided by the fraction
    seen = 1 - float(chance(np.zeros(1), shape, thinned)[0])
    chances = chance(np.arange(1.0, SIZES + 1), shape, thinned) / seen
    uniques = counted.classes / seen * beta**shape
    return PopulationModel(float(uniques), counted.deviance(chances), {"alpha": shape, "beta": beta})


def _of_binomial(point: Float) -> tuple[float, float]:
    shape = float(np.exp(np.clip(point[0], -14, 14)))
    return shape, float(min(max(1 / (1 + np.exp(-np.clip(point[1], -500, 500))), 1e-12), 1 - 1e-12))


def _nb(size: Float, shape: float, beta: float) -> Float:
    from scipy.special import gammaln

    ways = gammaln(shape + size) - gammaln(shape) - gammaln(size + 1)
    return np.asarray(np.exp(ways + shape * np.log(beta) + size * np.log1p(-beta)))


def _best(against: Callable[[Float], float], starts: Iterable[tuple[float, float]]) -> Float:
    """Where a function of two numbers is least, from several places, the same each time."""
    from scipy.optimize import minimize

    found: list[Any] = [
        minimize(against, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-9, "maxiter": 2000})
        for start in starts
    ]
    return np.asarray(min(found, key=lambda one: float(one.fun)).x)


MODELS: dict[str, Callable[[_Sizes], PopulationModel]] = {
    "zayatz": _zayatz,
    "pitman": _pitman,
    "negative_binomial": _negative_binomial,
}
"""The models, each from the sizes of classes to what it says."""


def _before_and_after(tables: Tables, progress: Progress | None) -> dict[str, PopulationUniques] | None:
    if tables.population is None:
        return None
    size = tables.population
    return {"before": population_uniques(tables.original, size), "after": population_uniques(tables.released, size)}


def _before_and_after_on(engine: Engine, tables: Tables) -> dict[str, PopulationUniques] | None:
    """The same of long tables."""
    size = tables.population
    if size is None:
        return None
    names = chosen(*tables.both, None)
    both = zip(("before", "after"), tables.both, strict=True)
    return {when: _estimated(np.repeat(*_sizes_on(engine, data, names)), size) for when, data in both}


def _sizes_on(engine: Engine, data: Microdata, names: tuple[str, ...]) -> tuple[Whole, Whole]:
    """The sizes of classes, in people where these count, and how many have each."""
    if data.people is None:
        return class_counts_on(engine, data, names)
    return owned_on(engine, data, names, data.people)[1]


POPULATION_UNIQUES = Measure(
    "population_uniques",
    title="records unique in the population",
    about="How many records of a sample nobody in the population equals, by the model that fits best.",
    unit="records",
    compute=_before_and_after,
    on_engine=_before_and_after_on,
    seconds=lambda tables: 0.5 if tables.population is not None else 0.0,
    where="after.expected",
    columns=Role.QUASI_IDENTIFIER,
    more=(
        Figure("before.expected", "records unique in the population before", "The same in the original table."),
        Figure(
            "after.uniques",
            "population uniques",
            "How many people the population has whom nobody equals, by that model.",
        ),
    ),
)
