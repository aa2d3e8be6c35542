"""The earth mover's distance between a group of records and the whole table, for t-closeness.

The least work that turns the distribution of an attribute in the group into that in the table, where moving all weight
over the largest distance is 1:

==============================  ==========================================================================
continuous, ordinal             distances between ranks of the distinct values, |i - j| / (m - 1)
taxonomic, on a tree            links on the path, over twice the depth of the deepest value below the root of τ(X)
taxonomic, on a DAG             the attribute's own distance over the largest of it
nominal                         0 or 1: half the sum of the differences
==============================  ==========================================================================

Spellings of a category that differ only in case, outer spaces or Unicode form are one category (see `by_meaning`).

Missing values are a category of their own at distance 1 from every value. Where a group has another share of them than
the table, the result is an upper bound: the difference of the shares, and the distance of the rest.

Reference: Li, Li, Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.meanings import by_meaning
from ..microdata.people import row_shares

__all__ = ["EarthMover", "earth_mover", "earth_mover_of"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


def earth_mover(column: Column, people: Codes | None = None) -> EarthMover:
    """The earth mover's distance for the kind of a column.

    With the number of each record's person, everybody counts alike: a record counts 1 over the number of records that
    its person has in the group, or in the table.
    """
    column = by_meaning(column)
    codes, count = column.numbered()
    if isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL:
        return _Ordered(codes, count, people)
    if isinstance(column, TaxonomicColumn) and column.further is None and column.scopes[0].taxonomy.is_tree:
        return _OnTree(codes, column, people)
    if isinstance(column, TaxonomicColumn):
        return _ByTable(codes, column.table, people)
    return _Flat(codes, count, people)


def earth_mover_of(column: Column, counts: Codes) -> EarthMover:
    """The same of a column that is not at hand, for groups of its records: see `EarthMover.among`.

    ``column`` is a part of it, by meaning, and ``counts`` tell how many values are missing, and then how many records
    have each category, or each different number, in rising order.
    """
    none = np.zeros(0, dtype=np.int64)
    if isinstance(column, ContinuousColumn) or column.attribute.kind == Kind.ORDINAL:
        return _Ordered(none, len(counts) - 1, None, counts)
    if isinstance(column, TaxonomicColumn) and column.further is None and column.scopes[0].taxonomy.is_tree:
        return _OnTree(none, column, None, counts)
    if isinstance(column, TaxonomicColumn):
        return _ByTable(none, column.table, None, counts)
    return _Flat(none, len(counts) - 1, None, counts)


class EarthMover(ABC):
    """The distance between any group of records and the whole table."""

    def __init__(self, codes: Codes, categories: int, people: Codes | None = None, counts: Codes | None = None) -> None:
        self.codes = codes
        self.categories = categories
        self.people = people
        present = codes[codes >= 0]
        if counts is not None:
            there = counts[1:].sum()
            self.missing = float(1 - there / counts.sum()) if counts.any() else 0.0
            self.share = counts[1:] / (there or 1)
        elif people is None:
            self.missing = 1 - len(present) / len(codes) if len(codes) else 0.0
            self.share = np.bincount(present, minlength=categories) / max(len(present), 1)
        else:
            counted = row_shares(people)
            here, whole = counted[codes >= 0], float(counted.sum())
            self.missing = 1 - float(here.sum()) / whole if whole else 0.0
            self.share = np.bincount(present, here, minlength=categories) / (float(here.sum()) or 1.0)

    def among(self, codes: Codes, people: Codes | None = None) -> EarthMover:
        """The distance from the same table, for groups of records with these codes, of these people."""
        other = copy(self)
        other.codes, other.people = codes, people
        return other

    def __call__(self, rows: NDArray[np.integer]) -> float:
        """The distance between the distribution in these records and that in the table."""
        codes = self.codes[rows]
        if self.people is None:
            present = np.sort(codes[codes >= 0])
            missing, shares = 1 - len(present) / len(codes), None
        else:
            order = np.argsort(codes, kind="stable")
            order = order[codes[order] >= 0]
            counted = row_shares(self.people[rows])
            present, shares = codes[order], counted[order]
            total = float(shares.sum())
            missing, shares = 1 - total / float(counted.sum()), shares / (total or 1.0)
        between = self._between(present, shares) if len(present) and self.missing < 1 else 0.0
        return abs(missing - self.missing) + (1 - max(missing, self.missing)) * between

    def of_counts(self, values: Codes, counts: Codes) -> float:
        """The same of a group that has so many records of each of some different codes (sorted; -1 is missing)."""
        absent = int(counts[0]) if len(values) and values[0] < 0 else 0
        total = int(counts.sum())
        there, first = total - absent, int(absent > 0)
        missing = absent / total
        between = self._between(values[first:], counts[first:] / there) if there and self.missing < 1 else 0.0
        return abs(missing - self.missing) + (1 - max(missing, self.missing)) * between

    def at_most(self, order: Codes, start: Codes) -> Float:
        """As `of_groups`, or cheap bounds from above where the distances are not."""
        return self.of_groups(order, start)

    def of_groups(self, order: Codes, start: Codes, enough: float = -np.inf) -> Float:
        """The distances of many groups: their records one group after the other, and where each begins.

        Where a bound shows that a distance is at most ``enough``, the bound may stand in its place.
        """
        several = len(start) - 1
        group, codes = np.repeat(np.arange(several), np.diff(start)), self.codes[order]
        counted = np.ones(len(order)) if self.people is None else _row_shares_within(group, self.people[order])
        here = codes >= 0
        total, there = _sums(group, counted, several), _sums(group[here], counted[here], several)
        missing = 1 - there / total
        if self.missing >= 1 or not here.any():
            return np.abs(missing - self.missing)
        group, codes = group[here], codes[here]
        between = self._between_all(group, codes, counted[here], there)
        between[there == 0] = 0.0
        return np.asarray(np.abs(missing - self.missing) + (1 - np.maximum(missing, self.missing)) * between)

    def largest(self, order: Codes, start: Codes) -> float:
        """The largest distance of many groups."""
        return float(self.of_groups(order, start).max(initial=0.0))

    @abstractmethod
    def _between_all(self, group: Codes, codes: Codes, counted: Float, there: Float) -> Float:
        """As `_between`, for many groups: of each record its group (sorted), its code, and what it counts.

        ``there`` is what all records of a group count together. Shares are divided last: equal ones are equal bits.
        """

    @abstractmethod
    def _between(self, codes: Codes, shares: Float | None) -> float:
        """The distance between the distribution of these codes (sorted) and that in the table.

        Each of them has its share of the whole; without shares all have the same.
        """


def _sums(group: Codes, weights: Float, several: int) -> Float:
    return np.asarray(np.bincount(group, weights, minlength=several), dtype=np.float64)


def _row_shares_within(group: Codes, people: Codes) -> Float:
    """Of each record 1 over the number of records that its person has in its group."""
    keys = group * (int(people.max(initial=0)) + 1) + people
    _, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(1 / times[place])


def _cells(group: Codes, codes: Codes, counted: Float, there: Float, categories: int) -> tuple[Codes, Codes, Float]:
    """The different codes of each group, group by group, and the share of each."""
    keys, place = np.unique(group * categories + codes, return_inverse=True)
    group = keys // categories
    return group, keys % categories, _sums(place, counted, len(keys)) / there[group]


def _distribution(codes: Codes, shares: Float | None) -> tuple[Codes, Float]:
    """The different codes, and the share of each."""
    if shares is None:
        values, counts = np.unique(codes, return_counts=True)
        return values, counts / len(codes)
    values, place = np.unique(codes, return_inverse=True)
    return values, np.asarray(np.bincount(place, shares), dtype=np.float64)


class _Flat(EarthMover):
    def _between(self, codes: Codes, shares: Float | None) -> float:
        values, here = _distribution(codes, shares)
        return float(np.maximum(here - self.share[values], 0).sum())

    def _between_all(self, group: Codes, codes: Codes, counted: Float, there: Float) -> Float:
        group, codes, here = _cells(group, codes, counted, there, self.categories)
        return _sums(group, np.maximum(here - self.share[codes], 0), len(there))


class _Ordered(EarthMover):
    def __init__(self, codes: Codes, categories: int, people: Codes | None = None, counts: Codes | None = None) -> None:
        super().__init__(codes, categories, people, counts)
        self._reached = np.cumsum(self.share)
        self._sums = np.concatenate([[0.0], np.cumsum(self._reached)])

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """Σ |F(i) - G(i)| / (m - 1), run by run: between two of its codes the group's G is constant."""
        if self.categories < 2:
            return 0.0
        low = np.concatenate([[0], codes])
        high = np.concatenate([codes, [self.categories]])
        if shares is None:
            level = np.arange(len(codes) + 1) / len(codes)
        else:
            level = np.concatenate([[0.0], np.cumsum(shares)])
            level[-1] = 1.0  # the sum is rounded
        turn = np.clip(np.searchsorted(self._reached, level), low, high)  # F is below the level before it, above after
        below = level * (turn - low) - (self._sums[turn] - self._sums[low])
        above = (self._sums[high] - self._sums[turn]) - level * (high - turn)
        return float((below + above).sum()) / (self.categories - 1)

    def _between_all(self, group: Codes, codes: Codes, counted: Float, there: Float) -> Float:
        several = len(there)
        if self.categories < 2:
            return np.zeros(several)
        order = np.lexsort((codes, group))
        codes, shares = codes[order], (counted / there[group])[order]
        sizes = np.bincount(group, minlength=several)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        some = group[first]
        if self.people is None:
            reached = (np.arange(len(group)) - np.repeat(first, sizes[some])) / sizes[group]
        else:
            sums = np.cumsum(shares)
            reached = sums - shares - np.repeat(sums[first] - shares[first], sizes[some])
        low = np.concatenate([[0], codes[:-1]])
        low[first] = 0
        last = np.append(first[1:], len(codes)) - 1
        low, high = np.append(low, codes[last]), np.append(codes, np.full(len(some), self.categories))
        level = np.append(np.clip(reached, 0.0, 1.0), np.ones(len(some)))
        turn = np.clip(np.searchsorted(self._reached, level), low, high)
        below = level * (turn - low) - (self._sums[turn] - self._sums[low])
        above = (self._sums[high] - self._sums[turn]) - level * (high - turn)
        return _sums(np.append(group, some), below + above, several) / (self.categories - 1)


class _OnTree(EarthMover):
    def __init__(
        self, codes: Codes, column: TaxonomicColumn, people: Codes | None = None, counts: Codes | None = None
    ) -> None:
        super().__init__(codes, len(column.categories), people, counts)
        scope = column.scopes[0]
        depth, closure = scope.taxonomy.depth, scope.taxonomy.closure
        top = int(depth[scope.root])
        self._unit = 2 * max(scope.deepest - top, 1)
        ways = [closure.ancestors(int(position)) for position in column.positions]
        ways = [way[depth[way] > top] for way in ways]
        concepts = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *ways]))
        # The edges from a code up to the root of τ(X), named by their lower ends; the last edge stands for none.
        self._edges = len(concepts)
        self._paths = np.full((len(ways), max(map(len, ways), default=0)), self._edges)
        for code, way in enumerate(ways):
            self._paths[code, : len(way)] = np.searchsorted(concepts, way)
        length = self._paths.shape[1]
        self._below = _sums(self._paths.ravel(), np.repeat(self.share, length), self._edges + 1)
        self._below[-1] = 0.0
        self._whole = float(self._below.sum())

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """Σ over the edges of the difference in weight below them; where the group does not reach it is all of it."""
        if shares is None:
            every = np.zeros(len(codes), dtype=np.int64)
            return float(self._between_all(every, codes, np.ones(len(codes)), np.array([float(len(codes))]))[0])
        return float(self._between_all(np.zeros(len(codes), dtype=np.int64), codes, shares, np.ones(1))[0])

    def _between_all(self, group: Codes, codes: Codes, counted: Float, there: Float) -> Float:
        length = self._paths.shape[1]
        paths = self._paths[codes].ravel()
        used = paths < self._edges
        group, edges = np.repeat(group, length)[used], paths[used]
        group, edges, here = _cells(group, edges, np.repeat(counted, length)[used], there, self._edges + 1)
        below = self._below[edges]
        return (self._whole + _sums(group, np.abs(here - below) - below, len(there))) / self._unit


class _ByTable(EarthMover):
    def __init__(self, codes: Codes, table: Float, people: Codes | None = None, counts: Codes | None = None) -> None:
        super().__init__(codes, len(table), people, counts)
        self._table = table / (table.max(initial=0.0) or 1.0)
        self._to_table = self._table @ self.share  # from each code to the table

    def largest(self, order: Codes, start: Codes) -> float:
        """Linear programs are solved only for groups that may be farther away than those before, by a bound."""
        bounds = self.at_most(order, start)
        found = 0.0
        for group in np.argsort(-bounds, kind="stable").tolist():
            if bounds[group] * (1 + 1e-9) + 1e-12 <= found:
                break
            found = max(found, self(order[start[group] : start[group + 1]]))
        return found

    def at_most(self, order: Codes, start: Codes) -> Float:
        return np.array([self._at_most(order[a:b]) for a, b in pairwise(start.tolist())])

    def of_groups(self, order: Codes, start: Codes, enough: float = -np.inf) -> Float:
        found, known = self.at_most(order, start), dict[bytes, float]()
        for group in np.flatnonzero(found > enough).tolist():
            rows = order[start[group] : start[group + 1]]
            content = self._content(rows)
            if content not in known:  # groups with the same values share a linear program
                known[content] = self(rows)
            found[group] = known[content]
        return found

    def _content(self, rows: Codes) -> bytes:
        """What the distance of some records depends on: their values and, where people count, how much each counts."""
        codes = self.codes[rows]
        if self.people is None:
            return np.sort(codes).tobytes()
        shares = row_shares(self.people[rows])
        order = np.lexsort((shares, codes))
        return codes[order].tobytes() + shares[order].tobytes()

    def _between_all(self, group: Codes, codes: Codes, counted: Float, there: Float) -> Float:
        raise NotImplementedError  # group by group: see of_groups

    def _at_most(self, rows: Codes) -> float:
        """A bound from above: what is common stays, and the rest is spread over all that is missing alike."""
        codes = self.codes[rows]
        counted = np.ones(len(rows)) if self.people is None else row_shares(self.people[rows])
        here = codes >= 0
        there, total = float(counted[here].sum()), float(counted.sum())
        missing, between = 1 - there / total, 0.0
        if there and self.missing < 1:
            values, shares = _distribution(codes[here], counted[here] / there)
            common = np.minimum(shares, self.share[values])
            rest = shares - common
            moved = rest @ (self._to_table[values] - self._table[np.ix_(values, values)] @ common)
            between = float(moved / rest.sum()) if rest.sum() > 1e-12 else 0.0
        return abs(missing - self.missing) + (1 - max(missing, self.missing)) * between

    def _between(self, codes: Codes, shares: Float | None) -> float:
        """A transport problem: from the group's values to those of the table."""
        from ._transport_kernels import least_cost

        values, here = _distribution(codes, shares)
        used = np.flatnonzero(self.share)
        cost: float = least_cost(np.ascontiguousarray(self._table[np.ix_(used, values)]), here, self.share[used])
        return cost
