"""Special uniques (SUDA2): who is singled out by few columns, and by which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_integer, check_number
from ...engines import Engine
from ...methods import Progress
from ...microdata import Microdata, Role
from ...microdata.minimal_uniques import MinimalUniques, number_of_sets
from ..measure import Figure, Measure, Tables, telling
from ..plain import Result
from .inputs import check_records, chosen

__all__ = ["SPECIAL_UNIQUES", "SingledOutBy", "SpecialUniques", "special_uniques"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

MOST, FRACTION = 4, 0.01
WORK = 400_000_000  # sets of columns times records that an evaluation looks at
WORST = 10  # sets that are listed


@dataclass(frozen=True)
class SingledOutBy(Result):
    """What a column has to do with it: minimal sets with it, summed over records, and its share of all scores."""

    sets: int
    contribution: float


@dataclass(frozen=True, eq=False)
class SpecialUniques(Result):
    """Who is singled out by at most ``most`` columns, and by which.

    ``uniques``: records that nobody else equals in all columns; ``singled_out``: those that ``most`` columns, or fewer,
    are enough for, ``by_size`` with how many records need how many columns, and ``beyond`` how many need more.
    ``columns`` says how much each column has to do with it, ``worst`` the sets that single out the most records, with
    how many.

    Of each record: ``score`` (SUDA), ``dis`` (the DIS-SUDA score), ``fewest``, the size of the smallest set that
    singles it out (0 if none is that small), and ``smallest``, which of the ``sets`` that is (-1 if none): of several
    the first in the order of the columns.
    """

    attributes: tuple[str, ...]
    most: int
    fraction: float
    uniques: int
    singled_out: int
    beyond: int
    by_size: Mapping[int, int]
    columns: Mapping[str, SingledOutBy]
    worst: tuple[tuple[tuple[str, ...], int], ...]
    highest_score: float
    highest_dis: float
    score: Float
    dis: Float
    fewest: Whole
    smallest: Whole

    @property
    def sets(self) -> Sequence[tuple[str, ...]]:
        """Every set of at most ``most`` columns, the small ones first."""
        return _sets(self.attributes, self.most)

    def singles_out(self, record: int) -> tuple[str, ...]:
        """The smallest set of columns that singles out a record; empty if no set of at most ``most`` columns does."""
        which = int(self.smallest[record])
        return () if which < 0 else self.sets[which]


def special_uniques(
    data: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    most: int = MOST,
    fraction: float = FRACTION,
    progress: Progress | None = None,
) -> SpecialUniques:
    """All minimal sample uniques of at most ``most`` columns, with SUDA and DIS-SUDA scores.

    A set of columns is a minimal sample unique of a record if nobody else has the same values in these columns, and
    no smaller set within it has that property. Of M columns, one of size s adds Π (M - i), i from s to ``most`` (to
    M - 1, if that is less), to the score of its record: the fewer columns are enough, the more.

    DIS is the chance that a match with a unique record is right, π·u / (π·u + (1 - π)·p) with u unique records, p
    records in pairs and the sampling fraction π. It is shared out by score: 1 / (1 + (1/DIS - 1) / (s^q·m)) for the
    score s, with m the mean of s^-q over the scores above 0 and q = 1 + (8 - M) / 20, as sdcMicro does.

    A missing value is a category of its own, as everywhere here; sdcMicro leaves values that are missing out of all
    sets. Where the schema names people or households, these are counted: nobody else is no other of them.

    Parameters
    ----------
    data
        A table, original or released.
    attributes
        By default all quasi-identifiers.
    most
        How many columns a set has at most.
    fraction
        The share of the population that is in the table, for the DIS-SUDA score; 0.01 is the default of sdcMicro.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in ("sex", "job")])
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "job": ["cook", "nurse", "cook", "cook"]})
    >>> found = special_uniques(tm.Microdata.from_frame(table, schema))
    >>> found.score.tolist(), found.singles_out(0), found.singles_out(1)
    ([1.0, 1.0, 0.0, 0.0], ('sex', 'job'), ('job',))

    References
    ----------
    Elliot, Manning, Mayes, Gurd, Bane (2005), SUDA: a program for detecting special uniques; Manning, Haglin, Keane
    (2008), A recursive search algorithm for statistical disclosure assessment, Data Mining and Knowledge Discovery 16;
    Skinner, Elliot (2002), A measure of disclosure risk for microdata, J. R. Stat. Soc. B 64.
    """
    check_integer("most", most, at_least=1)
    check_number("fraction", fraction, above=0, at_most=1)
    names = chosen(data, data, attributes)
    check_records(data, "released")
    search = MinimalUniques([data.columns[name].numbered()[0] for name in names], data.n, most=most, people=data.units)
    return _scored(search, names, fraction, data.units, progress)


def _scored(
    search: MinimalUniques, names: tuple[str, ...], fraction: float, units: Whole | None, progress: Progress | None
) -> SpecialUniques:
    columns, sets = len(names), _sets(range(len(names)), search.most)
    place = {one: number for number, one in enumerate(sets)}
    worth = np.array(
        [prod(range(columns - min(search.most, columns - 1), columns - len(one) + 1)) for one in sets], float
    )
    rows = np.bincount(search.numbers)  # of each combination; several only if they are one person's
    score, smallest = np.zeros(search.combinations), np.full(search.combinations, len(sets))
    held = np.zeros(len(sets), dtype=np.int64)  # records that each set is minimal for
    for one, found in search:
        which = place[one]
        score[found] += worth[which]
        smallest[found] = np.minimum(smallest[found], which)
        held[which] = rows[found].sum()
        if progress is not None:
            progress(search.visited / len(sets))
    fewest = np.array([*map(len, sets), 0])[smallest][search.numbers]
    smallest[smallest == len(sets)] = -1
    scores, alone = score[search.numbers], search.alone[search.numbers]
    dis = _dis(scores, columns, fraction, search.numbers, np.arange(len(scores)) if units is None else units)
    inside = np.array([[column in one for one in sets] for column in range(columns)])
    shares = inside @ (worth * held) / max(float(scores.sum()), 1.0)
    order = np.argsort(-held, kind="stable")[:WORST].tolist()
    return SpecialUniques(
        names,
        search.most,
        fraction,
        int(alone.sum()),
        int((fewest > 0).sum()),
        int((alone & (fewest == 0)).sum()),
        {size: int((fewest == size).sum()) for size in range(1, search.most + 1)},
        {name: SingledOutBy(int(inside[i] @ held), float(shares[i])) for i, name in enumerate(names)},
        tuple((tuple(names[i] for i in sets[which]), int(held[which])) for which in order if held[which]),
        float(scores.max()),
        float(dis.max()),
        scores,
        dis,
        fewest,
        smallest[search.numbers],
    )


def _sets(columns: Iterable[Any], most: int) -> list[tuple[Any, ...]]:
    every = tuple(columns)
    return [one for size in range(1, most + 1) for one in combinations(every, size)]


def _dis(score: Float, columns: int, fraction: float, classes: Whole, units: Whole) -> Float:
    """The DIS-SUDA scores: 0 where the score is."""
    pairs = np.unique(classes * (int(units.max()) + 1) + units)  # of a class and somebody in it
    people = np.bincount(pairs // (int(units.max()) + 1))
    unique, in_pairs = float((people == 1).sum()), 2.0 * float((people == 2).sum())
    if not score.any():
        return np.zeros(len(score))
    highest = np.zeros(int(units.max()) + 1)
    np.maximum.at(highest, units, score)
    power = 1 + (8 - columns) / 20
    mean = float((highest[highest > 0] ** -power).mean())
    odds = fraction * unique / ((1 - fraction) * in_pairs) if in_pairs and fraction < 1 else np.inf
    scored = odds * mean * np.where(score > 0, score, 1.0) ** power
    return np.where(score > 0, 1 / (1 + 1 / scored), 0.0)


def most_columns(columns: int, records: int) -> int:
    """How many columns a set may have, at most four, so that an evaluation does not take too long; at least one.

    >>> most_columns(10, 100_000), most_columns(40, 100_000)
    (4, 2)
    """
    return max(size for size in range(1, MOST + 1) if size == 1 or number_of_sets(columns, size) * records <= WORK)


def _before_and_after(tables: Tables, progress: Progress | None) -> dict[str, SpecialUniques]:
    most = most_columns(tables.known, tables.n)
    both = {"before": tables.original, "after": tables.released}
    return {
        when: special_uniques(data, most=most, fraction=tables.fraction or FRACTION)
        for when, data in telling(both.items(), progress)
    }


def _not_looked_for(engine: Engine, tables: Tables) -> None:
    """Sets of columns are not searched in long tables: each would take as long as finding their classes."""


SPECIAL_UNIQUES = Measure(
    "special_uniques",
    title="singled out by few columns",
    about="Records that few columns, at most four, are enough to single out.",
    paper="SUDA2",
    unit="records",
    compute=_before_and_after,
    on_engine=_not_looked_for,
    seconds=lambda tables: 4e-8 * tables.n * number_of_sets(tables.known, most_columns(tables.known, tables.n)),
    where="after.singled_out",
    columns=Role.QUASI_IDENTIFIER,
    more=(
        Figure("before.singled_out", "singled out before", "The same in the original table."),
        Figure(
            "after.highest_score",
            "highest SUDA score",
            "The score of the record that the most and smallest sets of columns single out.",
            "SUDA score",
        ),
        Figure(
            "after.highest_dis",
            "highest DIS-SUDA score",
            "The chance that a match with the record of the highest score is right, by its score.",
            "DIS-SUDA score",
        ),
    ),
)
