"""Individual risk of a survey: the chance to find each record, and each household, in the population."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add, or_
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._support.parameters import check_number
from ...engines import Engine
from ...errors import DataError, SchemaError, did_you_mean
from ...methods import Progress
from ...microdata import ContinuousColumn, Microdata, Role
from ...microdata.class_risk import class_risk, people_risk
from ...microdata.people import in_order_of_appearance
from ..measure import Figure, Measure, Tables
from ..plain import Result
from ._by_class import ByClass, keys_on
from ._by_person import different_on, found_on, of_homes_on, row_shares_on
from .inputs import check_records, chosen, class_numbers
from .rates import Rate

__all__ = ["INDIVIDUAL", "HouseholdRisk", "IndividualRisk", "individual_risk"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
_WHAT = "measuring individual risk"


@dataclass(frozen=True, eq=False)
class HouseholdRisk(Result):
    """The chance that somebody of the household of each record is re-identified, and what it comes to.

    ``expected`` is the expected number of records of which somebody of the household is, ``mean`` the same per record.
    """

    records: Float
    expected: float
    mean: Rate
    highest: float


@dataclass(frozen=True, eq=False)
class IndividualRisk(Result):
    """The chance to re-identify each record in the population, and what it comes to.

    ``records`` is empty of tables of more than a chunk. ``expected`` is the expected number of re-identifications,
    ``mean`` the same per record; where the schema names people, of people and per person, each found by the easiest of
    their records. ``household`` is None where there are no households.
    """

    records: Float
    expected: float
    mean: Rate
    highest: float
    above: Rate
    household: HouseholdRisk | None = None


def individual_risk(
    original: Microdata,
    released: Microdata,
    weights: ArrayLike | str,
    attributes: Iterable[str] | None = None,
    *,
    households: ArrayLike | None = None,
    threshold: float = 0.2,
) -> IndividualRisk:
    """Individual risk of a survey with sampling weights: E(1/F | f), with F the size of a class in the population.

    Given f records of a class in the sample, F is taken to be negative binomial with success rate p = f / Σ weights
    of the class. Then E(1/F | f) = (p/f)·₂F₁(1, 1; f+1; 1-p); 1/f if the weights say that the sample is everybody.
    (sdcMicro computes the same for f of 1 and 2, and p / (f - 1 + p), which is a little more, for larger ones.)

    A household is found if one of its people is: 1 - Π(1 - r) over their risks r.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    weights
        How many people of the population each released record stands for, or the name of the column that says it.
    attributes
        By default all quasi-identifiers.
    households
        The number of the household of each record; by default those of the schema, if it names them.
    threshold
        Records with a risk above it are counted.

    References
    ----------
    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination; Franconi,
    Polettini (2004), Individual risk estimation in μ-Argus: a review, PSD 2004, LNCS 3050.
    """
    check_number("threshold", threshold, above=0, at_most=1)
    names = chosen(original, released, attributes)
    check_records(released, "released")
    weight = _weights(released, weights)
    numbers = class_numbers(released.columns[name] for name in names)
    people = released.people
    records = class_risk(numbers, people, weight)
    found = people_risk(records, people)
    everybody = max(float(weight.sum() if people is None else (weight / np.bincount(people)[people]).sum()), 1.0)
    expected, guess = float(found.sum()), 1 / everybody
    above = Rate.of(int((found > threshold).sum()), len(found), float(guess > threshold))
    homes = released.households if households is None else in_order_of_appearance(_numbers(households, released.n))
    household = None if homes is None else _household_risk(records, people, homes, guess)
    return IndividualRisk(
        records, expected, Rate.of(expected, len(found), guess), float(records.max()), above, household
    )


def _household_risk(records: Float, people: Whole | None, homes: Whole, guess: float) -> HouseholdRisk:
    """1 - Π(1 - r), of the household of each record."""
    risk, home = records, homes
    if people is not None:
        risk, home = people_risk(records, people), homes[np.unique(people, return_index=True)[1]]
    with np.errstate(divide="ignore"):
        each = -np.expm1(np.bincount(home, weights=np.log1p(-risk), minlength=int(homes.max()) + 1))
    found = each[homes]
    expected = float(found.sum())
    return HouseholdRisk(found, expected, Rate.of(expected, len(found), guess), float(found.max()))


def _weights(released: Microdata, weights: ArrayLike | str) -> Float:
    if isinstance(weights, str):
        column = released.columns.get(weights)
        if not isinstance(column, ContinuousColumn):
            raise SchemaError(
                f"the weights are to be in {weights!r}, which is not a coded column of numbers.",
                hint=did_you_mean(weights, released.columns) if column is None else "Give it the kind 'continuous'.",
            )
        weights = column.values
    weight = np.asarray(weights, dtype=np.float64)
    _check_weights(weight.size, released.n, wrong=_wrong(weight))
    return weight


def _check_weights(count: int, n: int, *, wrong: bool) -> None:
    if count != n:
        raise DataError(f"there are {count:,} weights for {n:,} released records.", hint="Give one per record.")
    if wrong:
        raise DataError("some weights are missing or not above 0.", hint="A record stands for at least itself.")


def _numbers(households: ArrayLike, n: int) -> Whole:
    given = np.asarray(households)
    if given.shape != (n,):
        raise DataError(f"there are {given.size:,} households for {n:,} released records.", hint="Give one per record.")
    return np.unique(given, return_inverse=True)[1].astype(np.int64, copy=False)


def _released(tables: Tables, progress: Progress | None) -> IndividualRisk | None:
    weights = tables.survey_weights
    return None if weights is None else individual_risk(*tables.both, weights)


# --------------------------------------------------------------------------------------- of long tables


def _released_on(engine: Engine, tables: Tables) -> IndividualRisk | None:
    """The same of long tables; ``records`` are left out."""
    weights = _weights_on(engine, tables)
    if weights is None:
        return None
    released, threshold = tables.released, 0.2
    people, homes = released.people, released.households
    names = chosen(*tables.both, None)
    classes = ByClass.of(engine, keys_on(engine, (released.columns[name] for name in names)))
    brought = [classes.brought(one) for one in (weights, people) if one is not None]
    records = classes.returned(classes.each(_of_classes, brought, what=_WHAT))
    found, tops = found_on(engine, records, people, threshold)
    rows = [weights] if people is None else [weights, row_shares_on(engine, people)]
    everybody = max(engine.fold(_summed, add, rows, what=_WHAT), 1.0)
    guess = 1 / everybody
    above = Rate.of(found.above, found.people, float(guess > threshold))
    none, household = np.zeros(0), None
    if homes is not None:
        of_homes, _ = of_homes_on(engine, tops, homes)
        mean = Rate.of(of_homes.expected, of_homes.people, guess)
        household = HouseholdRisk(none, of_homes.expected, mean, of_homes.highest)
    mean = Rate.of(found.expected, found.people, guess)
    return IndividualRisk(none, found.expected, mean, found.highest, above, household)


def _weights_on(engine: Engine, tables: Tables) -> Float | None:
    """For how many people each released record stands; None if there is nothing to say it from."""
    given, data = tables.weights, tables.original if tables.linked else tables.released
    if given is None and data.weights is None:
        size = data.schema.population_size
        if size is None:
            return None
        people = data.n if data.people is None else different_on(engine, data.people)
        alike: Float = engine.each(_alike, [range(data.n)], max(size / max(people, 1), 1.0), what=_WHAT)
        return alike
    weights: Any = data.weights
    if isinstance(given, str):
        column = tables.released.columns.get(given)
        weights = column.values if isinstance(column, ContinuousColumn) else _weights(tables.released, given)
    elif given is not None:
        weights = np.asarray(given, dtype=np.float64)
    _check_weights(len(weights), tables.released.n, wrong=engine.fold(_wrong, or_, [weights], what=_WHAT))
    found: Float = weights
    return found


def _alike(rows: range, weight: float) -> Float:
    return np.full(len(rows), weight)


def _wrong(weights: Float) -> bool:
    return not bool((np.isfinite(weights) & (weights > 0)).all())


def _of_classes(keys: Whole, weights: Float, people: Whole | None = None) -> Float:
    """The chance of each record of some classes."""
    return class_risk(np.cumsum(np.concatenate([[0], keys[1:] != keys[:-1]]).astype(np.int64)), people, weights)


def _summed(weights: Float, shares: Float | None = None) -> float:
    return float((weights if shares is None else weights * shares).sum())


INDIVIDUAL = Measure(
    "individual",
    title="people found in the population",
    about="How many records of a survey would be found in the population, from the weights.",
    unit="records",
    compute=_released,
    on_engine=_released_on,
    seconds=lambda tables: 1e-7 * tables.n,
    where="expected",
    columns=Role.QUASI_IDENTIFIER,
    more=(
        Figure(
            "highest",
            "highest individual risk",
            "The chance to find the record that is found most easily in the population.",
        ),
        Figure(
            "household.expected",
            "records in households found",
            "How many records of a survey belong to a household of which somebody would be found.",
        ),
    ),
)
