"""What a class of records that look alike tells about a confidential attribute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...microdata import Attribute, Microdata, Role
from ...microdata.combinations import numbered
from ...microdata.meanings import by_meaning
from ...microdata.people import class_owners
from ...partition import Groups
from ...semantics import EarthMover, earth_mover
from ..measure import Measure, telling
from .inputs import check_records, chosen, class_numbers
from .rates import Rate

__all__ = ["CLOSENESS", "DIVERSITY", "Closeness", "Diversity", "alike_by_chance", "l_diversity", "t_closeness"]

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
    names = chosen(original, released, attributes)
    chosen(original, released, [confidential])
    check_records(released, "released")
    classes = class_numbers(released.columns[name] for name in names)
    values = class_numbers([by_meaning(released.columns[confidential])])
    if released.people is not None:
        once = numbered([classes, values, released.people], released.n)[1]
        classes, values = classes[once], values[once]
    sizes = np.bincount(classes)
    pairs, counts = np.unique(classes * (values.max() + 1) + values, return_counts=True)
    whose = pairs // (values.max() + 1)
    different = np.bincount(whose)
    order = np.lexsort((counts, whose))  # sums do not depend on how the values are numbered
    share = (counts / sizes[whose])[order]
    entropy = np.bincount(whose[order], weights=-share * np.log(share))
    return Diversity(
        confidential,
        int(different.min()),
        float(np.exp(max(entropy.min(), 0.0))),
        Rate.of(int(sizes[different == 1].sum()), len(values), alike_by_chance(np.bincount(values), sizes)),
    )


def alike_by_chance(counts: Whole, sizes: Whole) -> float:
    """The share of records in classes of one value if records were dealt into classes of these sizes at random."""
    from scipy.special import gammaln

    n = int(counts.sum())
    size, times = np.unique(sizes, return_counts=True)
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
    names = chosen(original, released, attributes)
    chosen(original, released, [confidential])
    check_records(released, "released")
    classes = Groups(class_numbers(released.columns[name] for name in names).astype(np.int32))
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


DIVERSITY = Measure(
    "diversity",
    title="l-diversity",
    about="The fewest different confidential values in a class.",
    paper="l",
    unit="values",
    compute=lambda tables, told: {name: l_diversity(*tables.both, name) for name in telling(tables.confidential, told)},
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
    compute=lambda tables, told: {
        name: t_closeness(*tables.both, name)
        for name in telling(tables.confidential, told)
        if _quick(tables.original.schema[name])
    },
    seconds=lambda tables: 3e-6 * tables.n * len(tables.confidential),
    where="*.t",
    columns=Role.CONFIDENTIAL,
    otherwise={},
)


def _quick(attribute: Attribute) -> bool:
    """Whether the earth mover's distance of many classes is a matter of seconds: not on a taxonomy that is no tree."""
    return attribute.taxonomy is None or all(taxonomy.is_tree for taxonomy, _ in attribute.taxonomies)
