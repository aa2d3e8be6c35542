from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..errors import PlanError
from ..microdata import Column, Microdata
from ..microdata.class_risk import class_risk, survey_weights
from ..microdata.combinations import numbered
from ..microdata.people import class_owners
from ..partition import several
from ._at_risk import AtRisk, OnlyAtRisk, check_at_risk
from ._by_value import different_on
from ._classes import ClassSize, cells, check_k, emptied, some_people
from ._kept import OriginalOrMissing, how_many
from ._long_swaps import numbered_on
from ._parts import Parts
from ._runs import combined_on
from .base import Masked, Method, Progress, Promise, chosen
from .promises import KAnonymity

__all__ = ["Suppression"]

Int = NDArray[np.int64]
People = NDArray[np.int32]


@dataclass(frozen=True)
class Suppression(Method):
    """Local suppression: as few cells as possible become missing until every combination of values is shared by k.

    A missing value matches missing values only, so that the result is k-anonymous in the strict sense. To find the
    fewest cells is NP-hard; the search is greedy. Of the records in classes of fewer than k, those that reach k when
    one attribute is emptied are settled first, then those that need two and three, the least important attributes
    before the others; what is left loses more and more attributes in that order. Suppressed records join classes with
    the same missing cells. The last records, fewer than k, take others with them: of classes that differ from them in
    the emptied attributes only, those that a class can spare (chosen at random), or whole classes, the smallest first.
    In the end records go over to classes with fewer missing cells, as long as that pays (not where people count).

    Where the schema names a person, or a household, a class has records of k different ones.

    Parameters
    ----------
    k
        The smallest class.
    importance
        The attributes to protect, from the most to the least important; by default all quasi-identifiers, the fewer
        different values the more important.
    records
        ``{"risk": 0.2}``: only records that are found with a chance above 0.2 lose cells, in the same order, until they
        are in classes of k with a chance of at most 0.2; what cannot be settled so loses all its cells. The chance is
        one over the people of a class, or that to find somebody in the population, if the schema says how the table was
        sampled. All others stay as they are, so that k is not promised; the check says how many records remain above.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, section 3.3, doi 10.1002/9781118348239; Meyerson,
    Williams (2004), On the complexity of optimal k-anonymity, PODS, doi 10.1145/1055558.1055591.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"sex": ["f", "f", "f", "m", "m"], "region": ["north", "north", "south", "north", "north"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    ...     tm.Attribute("region", role="quasi_identifier", kind="nominal"),
    ... ])
    >>> release = tm.protect(table, schema, tm.Suppression(k=2), seed=1)
    >>> release.notes[0]
    '3 of 10 (30.0 %) cells suppressed: sex 0, region 3.'
    """

    k: ClassSize
    importance: Sequence[str] | None = None
    records: AtRisk | None = None

    name = "suppression"
    about = "Empties as few cells as possible until k records share every combination of values."
    reference = "Hundepool et al. (2012), Statistical Disclosure Control, doi 10.1002/9781118348239"

    def check_parameters(self) -> None:
        super().check_parameters()
        check_at_risk(self.records)

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        people = check_k(self.k, data)
        names = self._attributes(data)
        columns = [data.columns[name] for name in names]
        table, missing = _table(columns)
        order = self._first_emptied([len(np.unique(column)) for column in table.T])
        if self.records is None:
            found = suppressed(table[:, order], missing[order], self.k, rng, people)
        else:
            found = _suppressed_at_risk(table[:, order], missing[order], self.k, self.records["risk"], data)
        made, new = _without(columns, table, missing, found, order)
        return self._masked(data, names, made, new)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        """Long tables in parts in the order of the most important attributes; records that are alike are in one."""
        if self.records is not None or data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        check_k(self.k, data)
        names = self._attributes(data)
        columns = [data.columns[name] for name in names]
        different = [
            different_on(engine, one, "counting") + engine.fold(_any_missing, max, [one], what="counting")
            for one in columns
        ]
        order = self._first_emptied(different)
        keys = combined_on(engine, (numbered_on(engine, columns[place]) for place in order[::-1].tolist()), data.n)
        parts = Parts.of_equal(engine, keys, self.k, several(data.units))
        whose = [] if several(data.units) is None else [parts.brought(data.units)]
        rows = [*(parts.brought(column) for column in columns), *whose]
        *made, new = parts.each(
            _suppressed_part, rows, len(columns), order, self.k, what="suppressing", rng=rng, main=True
        )
        made = [parts.back(column, "suppressing") for column in made]
        return self._masked(data, names, made, np.sum(new, axis=0))

    def _first_emptied(self, different: Sequence[int]) -> Int:
        """The attributes, the least important first: by default those with the most different values."""
        if self.importance is None:
            return np.argsort(-np.array(different), kind="stable")
        return np.arange(len(different))[::-1]

    def _masked(self, data: Microdata, names: tuple[str, ...], made: Sequence[Column], new: Int) -> Masked:
        """The table with cells emptied, so many of each attribute."""
        each = ", ".join(f"{name} {count:,}" for name, count in zip(names, new.tolist(), strict=True))
        note = f"{how_many(int(new.sum()), len(names) * data.n)} cells suppressed: {each}."
        return Masked(data.replace(dict(zip(names, made, strict=True))), notes=(note,))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        if self.records is not None:
            return OnlyAtRisk(self.records["risk"], names, names), OriginalOrMissing(names)
        return KAnonymity(self.k, names), OriginalOrMissing(names)

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        names = chosen(data, self.importance, data.schema.quasi_identifiers, "quasi-identifier")
        if len(set(names)) < len(names):
            raise PlanError("importance names an attribute twice.", hint="Name every attribute once.")
        return names


def _table(columns: Sequence[Column]) -> tuple[Int, Int]:
    """The number of each cell's value, and for each column the number that stands for a missing one."""
    pairs = [cells(column) for column in columns]
    return np.column_stack([codes for codes, _ in pairs]), np.array([count for _, count in pairs])


def _without(columns: Sequence[Column], table: Int, missing: Int, found: Int, order: Int) -> tuple[list[Column], Int]:
    """The columns without the cells that were found to be missing, in this order of columns; how many are new."""
    empty = (found == missing[order])[:, np.argsort(order)]
    made = [emptied(column, empty[:, place]) for place, column in enumerate(columns)]
    return made, (empty & (table != missing)).sum(axis=0)


def _suppressed_part(*columns_and_how: Any) -> tuple[Any, ...]:
    """The columns of a part of a long table, and how many cells of each were emptied; see `suppressed`."""
    *rows, width, order, k, rng = columns_and_how
    columns, people = rows[:width], rows[width] if len(rows) > width else None
    table, missing = _table(columns)
    made, new = _without(columns, table, missing, suppressed(table[:, order], missing[order], k, rng, people), order)
    return *made, new.tolist()


def _any_missing(column: Column) -> int:
    return int(column.missing.any())


def suppressed(table: Int, missing: Int, k: int, rng: np.random.Generator, people: People | None = None) -> Int:
    """The cells with as few as possible set to missing so that every row occurs k times; first columns go first.

    With the person of each row, so that rows of k different people are alike.
    """
    number, first = numbered(table.T, len(table))
    kinds, counts = table[first], np.bincount(number)
    settled = class_owners(number, people) >= k
    for empty in _subsets(kinds.shape[1]):
        open_ = np.flatnonzero(~settled)
        if not len(open_):
            break
        trial = kinds[open_].copy()
        trial[:, empty] = missing[empty]
        joinable = np.flatnonzero(settled & (kinds[:, empty] == missing[empty]).all(axis=1))
        both = np.concatenate([trial, kinds[joinable]])
        group, _ = numbered(both.T, len(both))
        which = np.concatenate([open_, joinable])
        sizes = np.bincount(group, counts[which]) if people is None else _joined(group, which, number, people)
        enough = sizes[group[: len(open_)]] >= k
        kinds[open_[enough]] = trial[enough]
        settled[open_[enough]] = True
    rows = kinds[number]
    if not settled.all():
        rows = _Last(rows, ~settled[number], missing, k, rng, people).settled()
    return rows if people is not None else _with_fewer(rows, table, missing, k)


def _with_fewer(rows: Int, table: Int, missing: Int, k: int) -> Int:
    """The same with fewer cells missing: records go over to classes with fewer missing cells, if that pays as a whole.

    For each set of columns, what would be alike with only these emptied is looked at together. Those that get values
    back go there, those with the most first, and as many as it takes to make k of those that get none back or lose
    some. Nobody leaves a class of k. Until nothing pays.
    """
    some = np.flatnonzero((rows == missing).any(axis=1))
    now, whole = rows[some], table[some]
    number, _ = numbered(now.T, len(now))
    sizes = np.bincount(number).tolist()
    lost = (now != whole).sum(axis=1)
    pays = True
    while pays:
        pays = False
        for empty in _subsets(table.shape[1]):
            if len(empty) >= lost.max(initial=0):
                break
            trial = whole.copy()
            trial[:, empty] = missing[empty]
            gains = lost - (trial != whole).sum(axis=1)
            there = (trial == now).all(axis=1)
            free = there | (np.array(sizes)[number] > k)
            group, _ = numbered(trial.T, len(trial))
            worth = np.bincount(group, free & (gains > 0)) > 0
            members = np.flatnonzero(free & (worth & (np.bincount(group, free) >= k))[group])
            members = members[np.lexsort((-gains[members], group[members]))]
            for alike in np.split(members, np.flatnonzero(np.diff(group[members])) + 1):
                stay = alike[there[alike]]
                go = _that_pay(alike[~there[alike]], gains, number, sizes, k, k - len(stay))
                if not go:
                    continue
                if not len(stay):
                    sizes.append(0)
                joined = int(number[stay[0]]) if len(stay) else len(sizes) - 1
                for row in go:
                    sizes[number[row]] -= 1
                sizes[joined] += len(go)
                number[go], now[go], lost[go] = joined, trial[go], lost[go] - gains[go]
                pays = True
    rows = rows.copy()
    rows[some] = now
    return rows


def _that_pay(candidates: Int, gains: Int, number: Int, sizes: list[int], k: int, short: int) -> list[int]:
    """Which records to take so that there are enough and the gains add up to more than nothing; the largest gain first.

    Candidates come in this order. Each leaves a class that keeps k.
    """
    left: dict[int, int] = {}
    taken: list[int] = []
    total = 0
    for row in candidates.tolist():
        gain, own = int(gains[row]), int(number[row])
        if gain <= 0 and (len(taken) >= short or total + gain <= 0):
            break
        if left.setdefault(own, sizes[own]) > k:
            left[own] -= 1
            taken.append(row)
            total += gain
    return taken if len(taken) >= short else []


def _suppressed_at_risk(table: Int, missing: Int, k: int, risk: float, data: Microdata) -> Int:
    """The cells, with as few as possible of those at risk set to missing so that they are so no more.

    Records of a class are at risk together, so that nobody else's class becomes smaller.
    """
    table, given = table.copy(), (data.units, data.people, survey_weights(data))
    open_ = class_risk(numbered(table.T, len(table))[0], data.people, given[-1]) > risk
    for empty in _subsets(table.shape[1]):
        rows = np.flatnonzero(open_)
        if not len(rows):
            break
        joinable = np.flatnonzero(~open_ & (table[:, empty] == missing[empty]).all(axis=1))
        trial = table[rows].copy()
        trial[:, empty] = missing[empty]
        both = np.concatenate([rows, joinable])
        group, _ = numbered(np.concatenate([trial, table[joinable]]).T, len(both))
        units, people, weights = (None if one is None else one[both] for one in given)
        enough = (class_owners(group, units)[group] >= k) & (class_risk(group, people, weights) <= risk)
        settled = enough[: len(rows)]
        table[rows[settled]] = trial[settled]
        open_[rows[settled]] = False
    table[open_] = missing
    return table


def _joined(group: Int, which: Int, number: Int, people: People) -> Int:
    """How many people each group of kinds of rows has."""
    of_kind = np.full(int(number.max()) + 1, -1, dtype=np.int64)
    of_kind[which] = group
    rows = of_kind[number]
    return class_owners(rows[rows >= 0], people[rows >= 0])


def _subsets(width: int) -> Iterator[Int]:
    """What to empty: each one, two and three of the columns, then ever more from the first."""
    for size in range(1, min(width, 3) + 1):
        yield from map(np.array, combinations(range(width), size))
    for size in range(4, width + 1):
        yield np.arange(size)


class _Last:
    """The last rows, too few for a class by themselves, are emptied together with rows of other classes."""

    def __init__(
        self,
        rows: Int,
        left: NDArray[np.bool_],
        missing: Int,
        k: int,
        rng: np.random.Generator,
        people: People | None = None,
    ) -> None:
        self.rows, self.left, self.missing, self.k, self.rng, self.people = rows, left, missing, k, rng, people
        self._classes()

    def settled(self) -> Int:
        """The rows with all of them in classes of k; at the latest when all columns are emptied."""
        for empty in _subsets(self.rows.shape[1]):
            for row in np.flatnonzero(self.left).tolist():
                if self.left[row]:
                    self._settle(row, empty)
        return self.rows

    def _classes(self) -> None:
        self.number, first = numbered(self.rows.T, len(self.rows))
        self.kinds, self.open = self.rows[first], self.left[first]
        self.sizes = class_owners(self.number, self.people)

    def _settle(self, row: int, empty: Int) -> None:
        """Empty these columns of a row and of all that become like it, if these are enough."""
        kept = np.setdiff1d(np.arange(self.rows.shape[1]), empty)
        alike = (self.kinds[:, kept] == self.rows[row, kept]).all(axis=1)
        there = alike & (self.kinds[:, empty] == self.missing[empty]).all(axis=1)
        joining = alike & self.open
        donors = alike & ~there & ~self.open
        if self.people is None:
            others = self._others(donors, self.k - int(self.sizes[joining | there].sum()))
        else:
            others = self._other_people(donors, (joining | there)[self.number], self.people)
        if others is None:
            return
        chosen = joining[self.number]
        chosen[others] = True
        self.rows[np.ix_(np.flatnonzero(chosen), empty)] = self.missing[empty]
        self.left &= ~chosen
        self._classes()

    def _others(self, donors: NDArray[np.bool_], short: int) -> Int | None:
        """Enough records of other classes, which keep k or nothing; None if there are too few."""
        if short <= 0:
            return np.zeros(0, dtype=np.int64)
        classes = np.flatnonzero(donors)
        spare = self.sizes[classes] - self.k
        if spare.sum() < short:
            classes = classes[np.argsort(self.sizes[classes], kind="stable")]
            reached = np.cumsum(self.sizes[classes])
            if not len(classes) or reached[-1] < short:
                return None
            return np.flatnonzero(np.isin(self.number, classes[: np.searchsorted(reached, short) + 1]))
        taken = []
        for place in np.argsort(-spare, kind="stable").tolist():
            members = np.flatnonzero(self.number == classes[place])
            taken.append(self.rng.choice(members, min(short, int(spare[place])), replace=False))
            short -= len(taken[-1])
            if not short:
                break
        return np.concatenate(taken)

    def _other_people(self, donors: NDArray[np.bool_], together: NDArray[np.bool_], people: People) -> Int | None:
        """The same where people count: all rows that some more people have in these classes."""
        taken, known = [np.zeros(0, dtype=np.int64)], np.unique(people[together])
        classes = np.flatnonzero(donors)
        spare = self.sizes[classes] - self.k
        for place in np.argsort(-spare, kind="stable").tolist():
            short = min(self.k - len(known), int(spare[place]))
            if short <= 0:
                break
            taken.append(some_people(np.flatnonzero(self.number == classes[place]), people, known, short, self.rng))
            known = np.union1d(known, people[taken[-1]])
        if len(known) >= self.k:
            return np.concatenate(taken)
        whole, known = together.copy(), np.unique(people[together])
        for one in classes[np.argsort(self.sizes[classes], kind="stable")].tolist():
            whole |= self.number == one
            if len(np.unique(people[whole])) >= self.k:
                return np.flatnonzero(whole & ~together)
        return None
