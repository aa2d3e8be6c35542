"""Classes of records that share all released quasi-identifiers, and what their sizes mean for an intruder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_number
from ...engines import Engine
from ...microdata import Column, ContinuousColumn, Microdata, Role
from ...microdata.people import by_owner, class_owners
from ..measure import Figure, Measure, Tables
from ..plain import Result
from ..side_by_side import side_by_side
from ._by_class import keys_on, sizes_on
from ._by_person import different_on, easiest_on, owned_on
from .inputs import check_records, chosen, class_numbers
from .rates import Rate

__all__ = [
    "CLASSES", "REIDENTIFICATION", "ClassRisk", "ClassSizes", "Reidentification", "class_counts_on", "class_sizes",
    "reidentification",
]  # fmt: skip

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class ClassSizes(Result):
    """How many records share their values of some attributes with how many others.

    ``k`` is the size of the smallest class, ``uniques`` the number of records that are alone in theirs; ``sizes`` has
    the number of classes of each size. The original table is given for comparison. Where the schema names a person or a
    household, ``unit`` says so: sizes are then numbers of different people or households, and uniques those who are
    alone in some class; ``units`` is how many there are.
    """

    attributes: tuple[str, ...]
    records: int
    classes: int
    k: int
    uniques: int
    sizes: tuple[tuple[int, int], ...]
    original_k: int
    original_uniques: int
    unit: str = "records"
    units: int = 0


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
    before, alone_before = _sizes(class_numbers(original.columns[name] for name in names), original.units)
    after, alone = _sizes(class_numbers(released.columns[name] for name in names), released.units)
    values, counts = np.unique(after, return_counts=True)
    return ClassSizes(
        names,
        released.n,
        len(after),
        int(after.min()),
        alone,
        tuple(zip(values.tolist(), counts.tolist(), strict=True)),
        int(before.min(initial=original.n)),
        alone_before,
        released.unit,
        released.n if released.units is None else len(np.unique(released.units)),
    )


def _sizes(numbers: Whole, units: Whole | None) -> tuple[Whole, int]:
    """How many records, or different people, each class has, and how many of them are alone in one."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64), 0
    sizes = class_owners(numbers, units)
    alone = sizes[numbers] == 1
    return sizes, int(alone.sum()) if units is None else len(np.unique(units[alone]))


@dataclass(frozen=True)
class ClassRisk(Result):
    """The chance to re-identify a record: of the record at highest risk, on average, and above a threshold.

    Where the schema names a person, the chance of a person is that of their record that is found most easily, and the
    average is over people.
    """

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
    people = released.people
    f = class_owners(numbers, released.units)[numbers]
    everybody = _different(released)
    prosecutor = _class_risk(by_owner(1 / f, people), 1 / everybody, threshold)
    if population is None:
        return Reidentification(prosecutor, None, prosecutor.mean, 0)
    check_records(population, "population")
    chosen(population, released, names)
    columns = side_by_side(population, released, names)
    both = class_numbers(_stacked(after, register) for register, after in columns.values())
    here, there = both[: released.n], both[released.n :]
    F = np.zeros(int(both.max()) + 1, dtype=np.int64)
    F[: int(there.max()) + 1] = class_owners(there, population.units)
    F = F[here]
    risk = np.divide(1.0, F, out=np.zeros(released.n), where=F > 0)
    guess = 1 / _different(population)
    journalist = _class_risk(by_owner(risk, people), guess, threshold)
    linked = by_owner(np.minimum(risk, 1 / f), people)
    marketer = Rate.of(float(linked.sum()), len(linked), guess)
    return Reidentification(prosecutor, journalist, marketer, int((F == 0).sum()))


def _different(data: Microdata) -> int:
    """How many people, or households, a table has; records, if it names none."""
    return data.n if data.units is None else len(np.unique(data.units))


def _class_risk(risk: Float, guess: float, threshold: float) -> ClassRisk:
    n = len(risk)
    above = Rate.of(int((risk > threshold).sum()), n, float(guess > threshold))
    return ClassRisk(float(risk.max()), Rate.of(float(risk.sum()), n, guess), above)


def _stacked(first: Column, second: Column) -> Column:
    """Two columns in one numbering, one below the other."""
    if isinstance(first, ContinuousColumn) and isinstance(second, ContinuousColumn):
        return first.with_values(np.concatenate([first.values, second.values]))
    return first.categorical.with_codes(np.concatenate([first.categorical.codes, second.categorical.codes]))


# --------------------------------------------------------------------------------------- of long tables


def _class_sizes_on(engine: Engine, tables: Tables) -> ClassSizes:
    """The same of long tables."""
    original, released = tables.both
    names = chosen(original, released, None)
    before, alone_before = _counted_on(engine, original, names)
    (sizes, counts), alone = _counted_on(engine, released, names)
    return ClassSizes(
        names,
        released.n,
        int(counts.sum()),
        int(sizes[0]),
        alone,
        tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        int(before[0][0]),
        alone_before,
        released.unit,
        _different_on(engine, released),
    )


def _counted_on(engine: Engine, data: Microdata, names: tuple[str, ...]) -> tuple[tuple[Whole, Whole], int]:
    """The sizes of classes and how many have each, and how many records, or people, are alone in one."""
    if data.units is not None:
        return owned_on(engine, data, names, data.units)[1:]
    sizes, counts = class_counts_on(engine, data, names)
    return (sizes, counts), int(counts[0]) if sizes[0] == 1 else 0


def _different_on(engine: Engine, data: Microdata) -> int:
    """As `_different`."""
    return data.n if data.units is None else different_on(engine, data.units)


def class_counts_on(engine: Engine, data: Microdata, names: Iterable[str]) -> tuple[Whole, Whole]:
    """The sizes of the classes of a long table, in rising order, and how many classes have each."""
    return sizes_on(engine, keys_on(engine, (data.columns[name] for name in names)))


def _reidentification_on(engine: Engine, tables: Tables) -> Reidentification:
    """The same of long tables."""
    original, released = tables.both
    names, guess, threshold = chosen(original, released, None), 1 / _different_on(engine, released), 0.2
    if released.units is None:
        sizes, counts = class_counts_on(engine, released, names)
        counts = sizes * counts
    else:
        sizes, counts = easiest_on(engine, owned_on(engine, released, names, released.units)[0], released.people)
    n, above = int(counts.sum()), int(counts[1 / sizes > threshold].sum())
    found = Rate.of(float((counts / sizes).sum()), n, guess)
    risk = ClassRisk(float(1 / sizes[0]), found, Rate.of(above, n, float(guess > threshold)))
    return Reidentification(risk, None, risk.mean, 0)


CLASSES = Measure(
    "classes",
    title="smallest class",
    about="The fewest records, or people where the schema names them, that share all released quasi-identifiers.",
    paper="k",
    unit="records",
    compute=lambda tables, _: class_sizes(*tables.both),
    on_engine=_class_sizes_on,
    seconds=lambda tables: 1e-7 * tables.n * tables.known,
    where="k",
    columns=Role.QUASI_IDENTIFIER,
    headline=True,
    more=(
        Figure(
            "uniques",
            "unique records",
            "Records, or people, that share their released quasi-identifiers with no other one.",
        ),
    ),
)
_FROM = "from the sizes of classes of equal quasi-identifiers"
REIDENTIFICATION = Measure(
    "reidentification",
    title="highest prosecutor risk",
    about=f"The chance to find the easiest person, known to be in the table, {_FROM}.",
    paper="prosecutor risk",
    compute=lambda tables, _: reidentification(*tables.both),
    on_engine=_reidentification_on,
    seconds=lambda tables: 5e-8 * tables.n * tables.known,
    where="prosecutor.highest",
    columns=Role.QUASI_IDENTIFIER,
    more=(
        Figure(
            "marketer.value", "marketer risk", f"The share of all records linked rightly, {_FROM}.", "marketer risk"
        ),
    ),
)
