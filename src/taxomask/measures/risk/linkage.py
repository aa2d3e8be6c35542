"""Distance-based record linkage: an intruder links every released record with the nearest original one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._support.parameters import check_integer
from ...engines import Engine
from ...errors import DataError
from ...microdata import Microdata, Role
from ...partition.nearest import Neighbours
from ...records import RecordDistance
from ..measure import Figure, Measure, Tables
from ..plain import Result
from ..side_by_side import side_by_side
from ._among_all import Space, nearest_on, space_on
from .inputs import check_linked, check_records, chosen
from .rates import Rate
from .sampling import TARGETS, targets, targets_on

__all__ = [
    "LINKAGE", "PARTIAL_LINKAGE", "WORST", "Linkage", "own_distances", "partial_linkage", "record_linkage", "spaces",
    "summed_up",
]  # fmt: skip

Scale = Literal["balanced", "paper"]

LONG = 65_536  # records that are looked for in a table of more than one chunk
KNOWN, SETS = 3, 200  # attributes that an intruder knows who does not know them all, and choices of them
WORST = 6  # choices of attributes that are shown


@dataclass(frozen=True, eq=False)
class Linkage(Result):
    """How often a released record is linked with its own original record.

    Several original records may be equally near. A link counts as right if the right one is among them (``among``), if
    it is the only one (``unique``), or with the chance of drawing it from them (``expected``). ``right`` and ``ties``
    have, for each released record, whether its original is among the nearest and how many those are; ``rows`` are the
    released records that were looked for, all of them or some.
    """

    attributes: tuple[str, ...]
    among: Rate
    unique: Rate
    expected: Rate
    right: NDArray[np.bool_]
    ties: NDArray[np.int64]
    rows: NDArray[np.int64]


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
    sets: int | None = None,
    rows: ArrayLike | None = None,
    scale: Scale = "balanced",
    truth: ArrayLike | None = None,
) -> tuple[Linkage, ...]:
    """Linkage by an intruder who knows only some of the attributes: every choice of up to ``most`` of them.

    The choice with the most expected right links comes first.

    Parameters
    ----------
    most
        How many attributes at most are known.
    sets
        How many choices at most are tried: single attributes first, all of them, then pairs and so on; where not all
        can be tried, those first whose parts linked most.
    rows
        The released records that are looked for; by default all.
    """
    check_integer("most", most, at_least=1)
    names = chosen(original, released, attributes)
    own = _truth(original, released, truth)
    here, there = spaces(original, released, names, scale)
    if rows is not None:
        rows = np.asarray(rows, dtype=np.int64)
        own, there = own[rows], there.take(rows)
    return _of_choices(
        names, most, sets, lambda subset: _linked(subset, here.only(subset), there.only(subset), own, rows)
    )


def _of_choices(
    names: tuple[str, ...], most: int, sets: int | None, linked: Callable[[tuple[str, ...]], Linkage]
) -> tuple[Linkage, ...]:
    """The linkage by every choice of columns that is tried, what links most first."""
    found: dict[tuple[str, ...], Linkage] = {}
    for size in range(1, min(most, len(names)) + 1):
        subsets = list(combinations(names, size))
        left = len(subsets) if sets is None or size == 1 else sets - len(found)
        if left < len(subsets):
            subsets = sorted(subsets, key=lambda one: -_by_parts(found, one))[: max(left, 0)]
        for subset in subsets:
            found[subset] = linked(subset)
    return tuple(sorted(found.values(), key=lambda one: -one.expected.value))


def _by_parts(found: Mapping[tuple[str, ...], Linkage], subset: tuple[str, ...]) -> float:
    """How much the choices with one attribute less link, those that were tried."""
    parts = combinations(subset, len(subset) - 1)
    return sum(found[part].expected.value for part in parts if part in found)


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


def summed_up(
    names: tuple[str, ...],
    right: NDArray[np.bool_],
    ties: NDArray[np.int64],
    originals: int,
    rows: NDArray[np.int64] | None = None,
) -> Linkage:
    """The rates of what was found for each released record."""
    n = len(right)
    return Linkage(
        names,
        Rate.of(int(right.sum()), n, float(ties.mean()) / originals),
        Rate.of(int((right & (ties == 1)).sum()), n, float((ties == 1).mean()) / originals),
        Rate.of(float((right / ties).sum()), n, 1 / originals),
        right,
        ties,
        np.arange(n) if rows is None else rows,
    )


def _linked(
    names: tuple[str, ...],
    here: RecordDistance,
    there: RecordDistance,
    own: NDArray[np.int64],
    rows: NDArray[np.int64] | None = None,
) -> Linkage:
    nearest = Neighbours(here).nearest(there)
    return summed_up(names, own_distances(here, there, own) <= nearest.reach, nearest.ties, here.n, rows)


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


# --------------------------------------------------------------------------------------- of long tables


def _linkage_on(engine: Engine, tables: Tables) -> Linkage:
    """Of a random sample of the released records, each among all original ones."""
    rows = targets_on(engine, tables, tables.released.n, LONG)
    space = space_on(engine, tables, chosen(*tables.both, None))
    here, there = (space.picked(engine, tables, when, rows) for when in (0, 1))
    return _found_on(engine, tables, space, here, there, rows)


def _found_on(
    engine: Engine,
    tables: Tables,
    space: Space,
    here: RecordDistance,
    there: RecordDistance,
    rows: NDArray[np.int64],
) -> Linkage:
    own = own_distances(here, there, np.arange(len(rows)))
    columns = [tables.columns[name][0] for name in space.names]
    found = nearest_on(engine, columns, there, space.distance, own)
    return summed_up(space.names, own <= found.reach, found.ties, tables.n, rows)


def _partial_on(engine: Engine, tables: Tables) -> tuple[Linkage, ...]:
    """The same for every choice of few columns."""
    names, rows = chosen(*tables.both, None), targets_on(engine, tables, tables.released.n)
    whole = space_on(engine, tables, names)
    here, there = (whole.picked(engine, tables, when, rows) for when in (0, 1))

    def found(subset: tuple[str, ...]) -> Linkage:
        return _found_on(engine, tables, whole.only(subset), here.only(subset), there.only(subset), rows)

    return _of_choices(names, KNOWN, SETS, found)


def _number_of_sets(columns: int) -> int:
    return max(min(sum(comb(columns, size) for size in range(1, KNOWN + 1)), SETS), columns)


LINKAGE = Measure(
    "linkage",
    title="linked by all quasi-identifiers",
    about="The share of records linked rightly with the nearest original one; of equally near ones one is drawn.",
    paper="record linkage",
    compute=lambda tables, _: record_linkage(*tables.both),
    seconds=lambda tables: 2e-6 * tables.n * tables.known,
    where="expected.value",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    headline=True,
    on_engine=_linkage_on,
    rates=lambda found: {"linked by all quasi-identifiers": found.expected},
    more=(
        Figure(
            "unique.value",
            "linked for sure",
            "The share of records whose own original is nearer than any other.",
            "record linkage, unique",
            lambda found: {"linked, and no other record is as near": found.unique},
        ),
    ),
)
PARTIAL_LINKAGE = Measure(
    "partial_linkage",
    title="linked by some quasi-identifiers",
    about="The share linked rightly by an intruder who holds these columns only.",
    compute=lambda tables, _: partial_linkage(
        *tables.both, most=KNOWN, sets=SETS, rows=targets(tables, tables.released.n)
    ),
    on_engine=_partial_on,
    seconds=lambda tables: (2e-7 * tables.n + 2e-6 * min(tables.n, TARGETS)) * _number_of_sets(tables.known),
    where="",
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    otherwise=(),
    headline=True,
    rates=lambda found: {
        f"linked by {', '.join(one.attributes)} only": one.expected.largest_of(len(found)) for one in found[:WORST]
    },
)
