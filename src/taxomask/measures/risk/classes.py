"""Classes of records that share all released quasi-identifiers, and what their sizes mean for an intruder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._support.parameters import check_number
from ...errors import DataError, SchemaError, did_you_mean
from ...microdata import CategoricalColumn, Column, ContinuousColumn, Microdata, Role
from ..measure import Figure, Measure
from ..plain import Result
from ..side_by_side import side_by_side
from .inputs import check_records, chosen, class_numbers
from .rates import Rate

__all__ = [
    "CLASSES", "INDIVIDUAL", "REIDENTIFICATION", "ClassRisk", "ClassSizes", "IndividualRisk", "Reidentification",
    "class_sizes", "individual_risk", "reidentification",
]  # fmt: skip

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class ClassSizes(Result):
    """How many records share their values of some attributes with how many others.

    ``k`` is the size of the smallest class, ``uniques`` the number of records that are alone in theirs; ``sizes`` has
    the number of classes of each size. The original table is given for comparison.
    """

    attributes: tuple[str, ...]
    records: int
    classes: int
    k: int
    uniques: int
    sizes: tuple[tuple[int, int], ...]
    original_k: int
    original_uniques: int


def class_sizes(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> ClassSizes:
    """The achieved k of k-anonymity, the distribution of class sizes, and uniques.

    A missing value is a category of its own: it matches other missing values only.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    attributes
        By default all quasi-identifiers.
    """
    names = chosen(original, released, attributes)
    check_records(released, "released")
    before = _sizes(class_numbers(original.columns[name] for name in names))
    after = _sizes(class_numbers(released.columns[name] for name in names))
    values, counts = np.unique(after, return_counts=True)
    return ClassSizes(
        names,
        released.n,
        len(after),
        int(after.min()),
        int((after == 1).sum()),
        tuple(zip(values.tolist(), counts.tolist(), strict=True)),
        int(before.min(initial=original.n)),
        int((before == 1).sum()),
    )


def _sizes(numbers: Whole) -> Whole:
    return np.bincount(numbers) if len(numbers) else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class ClassRisk(Result):
    """The chance to re-identify a record: of the record at highest risk, on average, and above a threshold."""

    highest: float
    mean: Rate
    above: Rate


@dataclass(frozen=True)
class Reidentification(Result):
    """Chances of intruders who know the quasi-identifiers exactly as they are released.

    ``prosecutor``: knows that the person is in the release; ``journalist``: does not, and looks in a register of the
    population (None without one); ``marketer``: the share of all records that are linked rightly if every one is linked
    with somebody. ``unmatched``: records whose class the population does not have; nobody is found for them.
    """

    prosecutor: ClassRisk
    journalist: ClassRisk | None
    marketer: Rate
    unmatched: int


def reidentification(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    population: Microdata | None = None,
    threshold: float = 0.2,
) -> Reidentification:
    """Prosecutor, journalist and marketer risk from the sizes of classes.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    attributes
        By default all quasi-identifiers.
    population
        A register of everybody, with the attributes coded as in the release. Without one, the released table counts as
        the population: the marketer is then a prosecutor of everybody.
    threshold
        Records with a risk above it are counted.

    References
    ----------
    El Emam, Dankar (2008), Protecting privacy using k-anonymity, J. Am. Med. Inform. Assoc. 15; Dankar, El Emam (2010),
    A method for evaluating marketer re-identification risk, PAIS.
    """
    check_number("threshold", threshold, above=0, at_most=1)
    names = chosen(original, released, attributes)
    check_records(released, "released")
    numbers = class_numbers(released.columns[name] for name in names)
    f = np.bincount(numbers)[numbers]
    prosecutor = _class_risk(1 / f, 1 / released.n, threshold)
    if population is None:
        return Reidentification(prosecutor, None, prosecutor.mean, 0)
    check_records(population, "population")
    chosen(population, released, names)
    columns = side_by_side(population, released, names)
    both = class_numbers(_stacked(after, register) for register, after in columns.values())
    here, there = both[: released.n], both[released.n :]
    F = np.bincount(there, minlength=int(both.max()) + 1)[here]
    risk = np.divide(1.0, F, out=np.zeros(released.n), where=F > 0)
    journalist = _class_risk(risk, 1 / population.n, threshold)
    marketer = Rate.of(float(np.minimum(risk, 1 / f).sum()), released.n, 1 / population.n)
    return Reidentification(prosecutor, journalist, marketer, int((F == 0).sum()))


def _class_risk(risk: Float, guess: float, threshold: float) -> ClassRisk:
    n = len(risk)
    above = Rate.of(int((risk > threshold).sum()), n, float(guess > threshold))
    return ClassRisk(float(risk.max()), Rate.of(float(risk.sum()), n, guess), above)


def _stacked(first: Column, second: Column) -> Column:
    """Two columns in one numbering, one below the other."""
    if isinstance(first, ContinuousColumn) and isinstance(second, ContinuousColumn):
        return first.with_values(np.concatenate([first.values, second.values]))
    assert isinstance(first, CategoricalColumn)
    assert isinstance(second, CategoricalColumn)
    return first.with_codes(np.concatenate([first.codes, second.codes]))


@dataclass(frozen=True, eq=False)
class IndividualRisk(Result):
    """The chance to re-identify each record in the population, and what it comes to.

    ``expected`` is the expected number of re-identifications, ``mean`` the same per record.
    """

    records: Float
    expected: float
    mean: Rate
    highest: float
    above: Rate


def individual_risk(
    original: Microdata,
    released: Microdata,
    weights: ArrayLike | str,
    attributes: Iterable[str] | None = None,
    *,
    threshold: float = 0.2,
) -> IndividualRisk:
    """Individual risk of a survey with sampling weights: E(1/F | f), with F the size of a class in the population.

    Given f records of a class in the sample, F is taken to be negative binomial with success rate p = f / Σ weights
    of the class. Then E(1/F | f) = (p/f)·₂F₁(1, 1; f+1; 1-p); 1/f if the weights say that the sample is everybody.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    weights
        How many people of the population each released record stands for, or the name of the column that says it.
    attributes
        By default all quasi-identifiers.
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
    f = np.bincount(numbers)
    p = np.minimum(f / np.bincount(numbers, weights=weight), 1.0)
    records = (p / f * _series(f, 1 - p))[numbers]
    expected, guess = float(records.sum()), 1 / max(float(weight.sum()), 1.0)
    above = Rate.of(int((records > threshold).sum()), released.n, float(guess > threshold))
    return IndividualRisk(records, expected, Rate.of(expected, released.n, guess), float(records.max()), above)


def _series(f: Whole, z: Float) -> Float:
    """₂F₁(1, 1; f+1; z) = Σ z^i / C(f+i, i), term by term where f is large: scipy gives up there."""
    from scipy.special import hyp2f1

    out = hyp2f1(1.0, 1.0, np.minimum(f, 20) + 1.0, z)
    large = f > 20  # then 60 terms are all that count
    term, total = np.ones(int(large.sum())), np.ones(int(large.sum()))
    for i in range(1, 61):
        term = term * (i * z[large] / (f[large] + i))
        total += term
    out[large] = total
    return np.asarray(out)


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
    if weight.shape != (released.n,):
        raise DataError(
            f"there are {weight.size:,} weights for {released.n:,} released records.", hint="Give one per record."
        )
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise DataError("some weights are missing or not above 0.", hint="A record stands for at least itself.")
    return weight


CLASSES = Measure(
    "classes",
    title="smallest class",
    about="The fewest records that share all released quasi-identifiers.",
    paper="k",
    unit="records",
    compute=lambda tables, _: class_sizes(*tables.both),
    seconds=lambda tables: 1e-7 * tables.n * tables.known,
    where="k",
    columns=Role.QUASI_IDENTIFIER,
    headline=True,
    more=(
        Figure("uniques", "unique records", "Records that share their released quasi-identifiers with no other one."),
    ),
)
_FROM = "from the sizes of classes of equal quasi-identifiers"
REIDENTIFICATION = Measure(
    "reidentification",
    title="highest prosecutor risk",
    about=f"The chance to find the easiest person, known to be in the table, {_FROM}.",
    paper="prosecutor risk",
    compute=lambda tables, _: reidentification(*tables.both),
    seconds=lambda tables: 5e-8 * tables.n * tables.known,
    where="prosecutor.highest",
    columns=Role.QUASI_IDENTIFIER,
    more=(
        Figure(
            "marketer.value", "marketer risk", f"The share of all records linked rightly, {_FROM}.", "marketer risk"
        ),
    ),
)
INDIVIDUAL = Measure(
    "individual",
    title="people found in the population",
    about="How many records of a survey would be found in the population, from the weights.",
    unit="records",
    compute=lambda tables, _: None if tables.weights is None else individual_risk(*tables.both, tables.weights),
    seconds=lambda tables: 1e-7 * tables.n,
    where="expected",
    columns=Role.QUASI_IDENTIFIER,
)
