"""Distance-based record linkage: an intruder links every released record with the nearest original one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._support.parameters import check_integer
from ...errors import DataError
from ...microdata import Microdata, Role
from ...partition.nearest import Neighbours
from ...records import RecordDistance
from ..measure import Measure
from ..plain import Result
from ..side_by_side import side_by_side
from .inputs import check_linked, check_records, chosen
from .rates import Rate

__all__ = [
    "PARTIAL_LINKAGE", "WORST", "Linkage", "own_distances", "partial_linkage", "record_linkage", "spaces", "summed_up",
]  # fmt: skip

Scale = Literal["balanced", "paper"]

SMALL = 20_000  # records up to which linkage by every pair of attributes is a matter of seconds
WORST = 6  # choices of attributes that are shown


@dataclass(frozen=True, eq=False)
class Linkage(Result):
    """How often a released record is linked with its own original record.

    Several original records may be equally near. A link counts as right if the right one is among them (``among``), if
    it is the only one (``unique``), or with the chance of drawing it from them (``expected``). ``right`` and ``ties``
    have, for each released record, whether its original is among the nearest and how many those are.
    """

    attributes: tuple[str, ...]
    among: Rate
    unique: Rate
    expected: Rate
    right: NDArray[np.bool_]
    ties: NDArray[np.int64]


def record_linkage(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    scale: Scale = "balanced",
    truth: ArrayLike | None = None,
) -> Linkage:
    """Link every released record with the nearest original ones by S-distance, exactly.

    Distances have the scale of the original table. Equally near are all records whose δ is larger than the smallest by
    no more than 1e-12·δ + 1e-14·M, with the smallest δ and M the largest |x|/S of the attributes: distances that are
    equal by definition differ by no more than that when they are computed. A random guess is right with chance 1/n; the
    baselines of the policies allow for the number of ties.

    Parameters
    ----------
    original, released
        The tables.
    attributes
        What the intruder knows of people; by default all quasi-identifiers.
    scale
        Of the S-distance; see `RecordDistance`.
    truth
        The position of the original record of each released one; by default they are in the same order.

    References
    ----------
    Domingo-Ferrer, Torra (2001), A quantitative comparison of disclosure control methods for microdata.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> original = tm.Microdata.from_frame(pa.table({"age": [20, 30, 30, 70]}), schema)
    >>> released = original.replace(age=original.columns["age"].with_values([22, 30, 45, 60]))
    >>> linkage = record_linkage(original, released)
    >>> linkage.among.value, linkage.unique.value, linkage.expected.value, linkage.expected.baseline
    (1.0, 0.5, 0.75, 0.25)
    >>> linkage.ties
    array([1, 2, 2, 1])
    """
    names = chosen(original, released, attributes)
    own = _truth(original, released, truth)
    here, there = spaces(original, released, names, scale)
    return _linked(names, here, there, own)


def partial_linkage(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    most: int = 2,
    scale: Scale = "balanced",
    truth: ArrayLike | None = None,
) -> tuple[Linkage, ...]:
    """Linkage by an intruder who knows only some of the attributes: every choice of up to ``most`` of them.

    The choice with the most expected right links comes first.
    """
    check_integer("most", most, at_least=1)
    names = chosen(original, released, attributes)
    own = _truth(original, released, truth)
    here, there = spaces(original, released, names, scale)
    subsets = [subset for size in range(1, min(most, len(names)) + 1) for subset in combinations(names, size)]
    found = [_linked(subset, here.only(subset), there.only(subset), own) for subset in subsets]
    return tuple(sorted(found, key=lambda one: -one.expected.value))


def spaces(
    original: Microdata, released: Microdata, names: tuple[str, ...], scale: Scale = "balanced"
) -> tuple[RecordDistance, RecordDistance]:
    """The records of both tables in the distance that has the scale of the original one."""
    columns = side_by_side(original, released, names)
    distance = RecordDistance(original.replace({name: x for name, (x, _) in columns.items()}), names, scale=scale)
    return distance, distance.of(released.replace({name: y for name, (_, y) in columns.items()}))


def own_distances(here: RecordDistance, there: RecordDistance, own: NDArray[np.int64]) -> NDArray[np.float64]:
    """δ² of each released record and its own original one."""
    from ...partition._nearest_kernels import between

    distance = np.empty(there.n)
    between(here.arrays, *there.coordinates, own, distance)
    return distance


def summed_up(names: tuple[str, ...], right: NDArray[np.bool_], ties: NDArray[np.int64], originals: int) -> Linkage:
    """The rates of what was found for each released record."""
    n = len(right)
    return Linkage(
        names,
        Rate.of(int(right.sum()), n, float(ties.mean()) / originals),
        Rate.of(int((right & (ties == 1)).sum()), n, float((ties == 1).mean()) / originals),
        Rate.of(float((right / ties).sum()), n, 1 / originals),
        right,
        ties,
    )


def _linked(names: tuple[str, ...], here: RecordDistance, there: RecordDistance, own: NDArray[np.int64]) -> Linkage:
    nearest = Neighbours(here).nearest(there)
    return summed_up(names, own_distances(here, there, own) <= nearest.reach, nearest.ties, here.n)


def _truth(original: Microdata, released: Microdata, truth: ArrayLike | None) -> NDArray[np.int64]:
    check_records(released, "released")
    if truth is None:
        check_linked(original, released, "record linkage")
        return np.arange(original.n)
    own = np.asarray(truth, dtype=np.int64)
    if own.shape != (released.n,) or own.min() < 0 or own.max() >= original.n:
        raise DataError(
            f"truth must have a position from 0 to {original.n - 1:,} for each of {released.n:,} released records.",
            hint="Give the position of the original record of every released one.",
        )
    return own


PARTIAL_LINKAGE = Measure(
    "partial_linkage",
    title="linked by some quasi-identifiers",
    about="The share linked rightly by an intruder who holds these columns only.",
    compute=lambda tables, _: partial_linkage(*tables.both, most=2 if tables.n <= SMALL else 1),
    seconds=lambda tables: 1e-7 * tables.n * (comb(tables.known + 1, 2) if tables.n <= SMALL else tables.known),
    where="",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    otherwise=(),
    rates=lambda found: {f"linked by {', '.join(one.attributes)} only": one.expected for one in found[:WORST]},
)
