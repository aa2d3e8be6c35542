"""What a class of records that look alike tells about a confidential attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods import Progress
from ...methods._long_closeness import Classes, mean_on, mover_on
from ...microdata import Attribute, CategoricalColumn, Column, Microdata, Role
from ...microdata.combinations import numbered
from ...microdata.meanings import by_meaning
from ...microdata.people import class_owners
from ...partition import Groups
from ...semantics import EarthMover, earth_mover
from ..measure import Measure, Tables, telling
from ._by_class import ByClass, keys_on, sizes_on
from ._by_person import row_shares_on
from .inputs import check_records, chosen, class_numbers
from .rates import Rate

__all__ = [
    "CLOSENESS", "DIVERSITY", "Closeness", "Diversity", "alike_by_chance", "alike_of_sizes", "emptied", "l_diversity",
    "t_closeness", "value_counts_on",
]  # fmt: skip

Whole = NDArray[np.int64]
_TOGETHER = 1 << 18  # records whose classes are compared with the table at once


@dataclass(frozen=True)
class Diversity:
    """How many values of a confidential attribute the classes have.

    ``l`` is the smallest number of different values in a class, ``entropy_l`` the smallest exponential of a class's
    entropy. ``disclosed``: the share of records in classes with one value only, whose value is known to whoever knows
    the class; the baseline is the share in classes of the same sizes drawn at random. Where the schema names a person,
    the records that somebody has with the same value in the same class count once.
    """

    attribute: str
    l: int  # noqa: E741
    entropy_l: float
    disclosed: Rate


def l_diversity(
    original: Microdata, released: Microdata, confidential: str, attributes: Iterable[str] | None = None
) -> Diversity:
    """The achieved l of l-diversity of a confidential attribute. Missing counts as a value.

    Spellings that differ only in case, outer spaces or Unicode form count as one value; classes are made of values as
    they are written.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    confidential
        The attribute to be protected.
    attributes
        What makes the classes; by default all quasi-identifiers.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), l-diversity, doi 10.1145/1217299.1217302.
    """
    return _diversity(released, _classes(original, released, [confidential], attributes), confidential)


def _classes(
    original: Microdata, released: Microdata, confidential: Sequence[str], attributes: Iterable[str] | None = None
) -> Whole:
    """The class of each released record."""
    names = chosen(original, released, attributes)
    chosen(original, released, [*names, *confidential])
    check_records(released, "released")
    return class_numbers(released.columns[name] for name in names)


def _diversity(released: Microdata, classes: Whole, confidential: str) -> Diversity:
    values = class_numbers([by_meaning(released.columns[confidential])])
    if released.people is not None:
        once = numbered([classes, values, released.people], released.n)[1]
        classes, values = classes[once], values[once]
    sizes, different, entropy = _in_classes(classes, values)
    return Diversity(
        confidential,
        int(different.min()),
        float(np.exp(max(entropy.min(), 0.0))),
        Rate.of(int(sizes[different == 1].sum()), len(values), alike_by_chance(np.bincount(values), sizes)),
    )


def _in_classes(classes: Whole, values: Whole) -> tuple[Whole, Whole, NDArray[np.float64]]:
    """The size of each class, how many different values it has, and their entropy."""
    sizes = np.bincount(classes)
    pairs, counts = np.unique(classes * (values.max() + 1) + values, return_counts=True)
    whose = pairs // (values.max() + 1)
    different = np.bincount(whose)
    order = np.lexsort((counts, whose))  # sums do not depend on how the values are numbered
    share = (counts / sizes[whose])[order]
    entropy = np.bincount(whose[order], weights=-share * np.log(share))
    return sizes, different, np.asarray(entropy, dtype=np.float64)


def alike_by_chance(counts: Whole, sizes: Whole) -> float:
    """The share of records in classes of one value if records were dealt into classes of these sizes at random."""
    size, times = np.unique(sizes, return_counts=True)
    return alike_of_sizes(int(counts.sum()), counts, size, times)


def alike_of_sizes(n: int, counts: Whole, size: Whole, times: Whole) -> float:
    """The same of so many classes of each size. Values that fewer records have than any class has may be left out."""
    from scipy.special import gammaln

    total = 0.0
    for s, number in zip(size.tolist(), times.tolist(), strict=True):
        enough = np.sort(counts[counts >= s])
        ways = gammaln(enough + 1) - gammaln(enough - s + 1) - gammaln(n + 1) + gammaln(n - s + 1)
        total += number * s * float(np.exp(ways).sum())
    return min(total / n, 1.0)


@dataclass(frozen=True)
class Closeness:
    """How far the classes' distributions of a confidential attribute are from that of the table, 0 to 1.

    ``t`` is the largest earth mover's distance of a class, ``mean`` the average over the records. Where the schema
    names a person everybody counts alike, in a class and in the table.
    """

    attribute: str
    t: float
    mean: float


def t_closeness(
    original: Microdata, released: Microdata, confidential: str, attributes: Iterable[str] | None = None
) -> Closeness:
    """The achieved t of t-closeness of a confidential attribute; see `taxomask.semantics.transport` for the distances.

    Parameters
    ----------
    original, released
        The tables; their records need not be linked.
    confidential
        The attribute to be protected.
    attributes
        What makes the classes; by default all quasi-identifiers.

    References
    ----------
    Li, Li, Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE.
    """
    classes = Groups(_classes(original, released, [confidential], attributes).astype(np.int32))
    return _closeness(released, classes, confidential)


def _closeness(released: Microdata, classes: Groups, confidential: str) -> Closeness:
    people = released.people
    distances = _distances(earth_mover(released.columns[confidential], people), classes)
    sizes = class_owners(classes.numbers, people)
    return Closeness(confidential, float(distances.max()), float(np.average(distances, weights=sizes)))


def _distances(distance: EarthMover, classes: Groups) -> NDArray[np.float64]:
    """The distance of every class; many classes at a time, so that what is in between stays small."""
    ends = np.searchsorted(classes.start, np.arange(_TOGETHER, len(classes.order), _TOGETHER)).tolist()
    found = []
    for first, last in pairwise(sorted({0, *ends, len(classes.sizes)})):
        start = classes.start[first : last + 1]
        found.append(distance.of_groups(classes.order[start[0] : start[-1]], start - start[0]))
    return np.concatenate(found)


# --------------------------------------------------------------------------------------- of long tables


@dataclass(frozen=True)
class _Found:
    """What classes tell of a confidential attribute: the fewest values and the least entropy, how many records are in
    classes of one value, and how many classes have each size."""

    different: int
    entropy: float
    single: int
    sizes: Whole
    counts: Whole

    def with_(self, other: _Found) -> _Found:
        sizes, place = np.unique(np.concatenate([self.sizes, other.sizes]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([self.counts, other.counts])).astype(np.int64)
        return _Found(
            min(self.different, other.different),
            min(self.entropy, other.entropy),
            self.single + other.single,
            sizes,
            counts,
        )


def _diversity_on(engine: Engine, tables: Tables) -> dict[str, Diversity]:
    """The same of long tables, class by class."""
    if not tables.confidential:
        return {}
    released = tables.released
    keys = keys_on(engine, (released.columns[name] for name in chosen(*tables.both, None)))
    classes = ByClass.of(engine, keys)
    people = [] if released.people is None else [classes.brought(released.people)]
    return {name: _one_on(engine, released.columns[name], classes, people) for name in tables.confidential}


def _one_on(engine: Engine, column: Column, classes: ByClass, people: list[Whole]) -> Diversity:
    brought = classes.brought(column)
    once, parts = classes.each(_of_classes, [brought, *people], what="counting values of classes")
    found = reduce(_Found.with_, parts)
    n, sizes, least = int(found.sizes @ found.counts), found.sizes, int(found.sizes[0])
    counted = engine.each(emptied, [brought, once], what="counting values") if people else column
    values, times = value_counts_on(engine, counted, n)
    often = values >= least
    chance = alike_of_sizes(n, np.repeat(values[often], times[often]), sizes, found.counts)
    return Diversity(
        column.attribute.name,
        found.different,
        float(np.exp(max(found.entropy, 0.0))),
        Rate.of(found.single, n, chance),
    )


def _of_classes(keys: Whole, column: Column, people: Whole | None = None) -> tuple[NDArray[np.bool_], _Found]:
    """Which records count, everybody once with each value of a class, and what those of each class tell."""
    classes = np.cumsum(np.concatenate([[0], keys[1:] != keys[:-1]]).astype(np.int64))
    values, once = class_numbers([by_meaning(column)]), np.ones(len(keys), dtype=bool)
    if people is not None:
        once = np.zeros(len(keys), dtype=bool)
        once[numbered([classes, values, people], len(keys))[1]] = True
    sizes, different, entropy = _in_classes(classes[once], values[once])
    one = int(sizes[different == 1].sum())
    return once, _Found(int(different.min()), float(entropy.min()), one, *np.unique(sizes, return_counts=True))


def emptied(column: Column, kept: NDArray[np.bool_]) -> Column:
    """The column without the values of records that do not count."""
    gone = np.nan if column.cells.dtype.kind == "f" else -1
    return column.with_cells(np.where(kept, column.cells, gone).astype(column.cells.dtype))


def _closeness_on(engine: Engine, tables: Tables) -> dict[str, Closeness]:
    """The same of long tables, class by class."""
    names = [name for name in tables.confidential if _quick(tables.original.schema[name])]
    if not names:
        return {}
    released = tables.released
    keys = keys_on(engine, (released.columns[name] for name in chosen(*tables.both, None)))
    classes = Classes(engine, keys, released.people)
    shares = None if released.people is None else row_shares_on(engine, released.people)
    found = {}
    for name in names:
        column = released.columns[name]
        found[name] = Closeness(name, *mean_on(classes, column, *mover_on(engine, column, shares)))
    return found


def value_counts_on(engine: Engine, column: Column, n: int | None = None) -> tuple[Whole, Whole]:
    """How many records values have, and how many values have so many; all missing ones are one value.

    Of ``n`` records, if some of the missing ones do not count.
    """
    if isinstance(column, CategoricalColumn):
        counts = engine.count(engine.each(by_meaning, [column], what="counting values"))
    else:
        sizes, times = sizes_on(engine, column.cells)
        counts = np.repeat(sizes, times)
    gone = (len(column) if n is None else n) - int(counts.sum())
    return np.unique(np.append(counts[counts > 0], [gone] * (gone > 0)).astype(np.int64), return_counts=True)


DIVERSITY = Measure(
    "diversity",
    title="l-diversity",
    about="The fewest different confidential values in a class.",
    paper="l",
    unit="values",
    compute=lambda tables, told: _each_diversity(tables, told),
    on_engine=_diversity_on,
    seconds=lambda tables: 3e-7 * tables.n * len(tables.confidential),
    where="*.l",
    columns=Role.CONFIDENTIAL,
    otherwise={},
)
CLOSENESS = Measure(
    "closeness",
    title="t-closeness",
    about="The largest distance of the confidential values of a class to those of the table, from 0 to 1.",
    paper="t",
    unit="distance",
    compute=lambda tables, told: _each_closeness(tables, told),
    on_engine=_closeness_on,
    seconds=lambda tables: 3e-6 * tables.n * len(tables.confidential),
    where="*.t",
    columns=Role.CONFIDENTIAL,
    otherwise={},
)


def _each_closeness(tables: Tables, progress: Progress | None) -> dict[str, Closeness]:
    names = [name for name in tables.confidential if _quick(tables.original.schema[name])]
    if not names:
        return {}
    classes = Groups(_classes(*tables.both, names).astype(np.int32))
    return {name: _closeness(tables.released, classes, name) for name in telling(names, progress)}


def _each_diversity(tables: Tables, progress: Progress | None) -> dict[str, Diversity]:
    if not tables.confidential:
        return {}
    classes = _classes(*tables.both, tables.confidential)
    return {name: _diversity(tables.released, classes, name) for name in telling(tables.confidential, progress)}


def _quick(attribute: Attribute) -> bool:
    """Whether the earth mover's distance of many classes is a matter of seconds: not on a taxonomy that is no tree."""
    return attribute.taxonomy is None or all(taxonomy.is_tree for taxonomy, _ in attribute.taxonomies)
