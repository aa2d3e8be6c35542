"""What is guessed of some people in a long table from the nearest of all its released records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods._parts import picked_on
from ...microdata import CategoricalColumn, Column, ContinuousColumn
from ...microdata.meanings import by_meaning
from ...microdata.people import row_shares
from ...partition.nearest import Distinct, Neighbours
from ..measure import Tables
from ._among_all import Space, nearest_on
from .guesses import Runs, Tally, confidential_codes, members_of
from .rates import Rate

__all__ = ["Guesses", "guesses_on"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
_WHAT = "guessing"


@dataclass(frozen=True)
class _Numbers:
    """Numbers from ``low`` to ``high`` are right for each of some people."""

    low: Float
    high: Float

    def runs(self, known: Float) -> Runs:
        """As places among some sorted numbers."""
        return Runs.single(np.searchsorted(known, self.low, "left"), np.searchsorted(known, self.high, "right") - 1)


@dataclass(frozen=True, eq=False)
class Guesses:
    """For each level the chance of each of some people that their value is guessed, and that of a random guess."""

    rows: Whole
    chances: Mapping[str, Float]
    guess: Mapping[str, Float]

    def rate(self, level: str, whose: Whole | None = None) -> Rate:
        """The share that is guessed; where it is known whose the records are, everybody counts once."""
        chances, guess, n = self.chances[level], self.guess[level], len(self.rows)
        if whose is None or not n:
            return Rate.of(float(chances.sum()), n, float(guess.mean()) if n else 0.0)
        counts = row_shares(whose)
        people = round(float(counts.sum()))
        return Rate.of(float(counts @ chances), people, float(counts @ guess) / people)


def guesses_on(engine: Engine, tables: Tables, name: str, rows: Whole, space: Space, percent: float = 5.0) -> Guesses:
    """Of the people of some rows whose confidential value is known; see `inference`."""
    before, after = tables.columns[name]
    (truth,) = picked_on(engine, [before], rows, _WHAT)
    truth = by_meaning(truth)
    known = np.flatnonzero(~truth.missing)
    rows, truth = rows[known], truth.take(known)
    right: Mapping[str, Any]
    if isinstance(truth, ContinuousColumn):
        right, guess = _right_numbers(engine, before, after, truth.values, percent)
        codes = np.arange(len(rows))
    else:
        right, guess = _right_codes(engine, before, after, truth, percent)
        codes = truth.codes.astype(np.int64)
    found = dict.fromkeys(right, np.zeros(0))
    if len(rows):
        people = space.picked(engine, tables, 0, rows)
        distinct = Distinct.of(people, always=True)
        queries = people.take(distinct.first)
        columns = [tables.columns[one][1] for one in space.names]
        nearest = nearest_on(engine, columns, queries, space.distance)
        items = engine.cut([*columns, after], space.distance, queries, nearest.reach, distinct, codes, right)
        parts = engine.map(_hits, items, _WHAT, main=True)
        ties = nearest.ties[distinct.point]
        found = {level: sum(part[level] for part in parts) / ties for level in right}
    return Guesses(rows, found, guess)


def _hits(*columns_and_queries: Any) -> dict[str, Whole]:
    """How many of the records in a chunk that are as near as the nearest have a right value, for each person."""
    *columns, column, space, queries, reach, distinct, truth, right = columns_and_queries
    neighbours = Neighbours(space.among(columns))
    codes, runs = _in_chunk(by_meaning(column), right)
    found = {level: np.zeros(len(truth), dtype=np.int64) for level in right}
    for piece, points, counts in neighbours.within(queries, reach):
        rows, whose = members_of(neighbours.distinct, points, counts)
        if not len(rows):
            continue
        tally = Tally(whose, codes[rows])
        asked = distinct.records[distinct.start[piece.start] : distinct.start[piece.stop]]
        query = distinct.point[asked].astype(np.int64) - piece.start
        for level, one in runs.items():
            found[level][asked] = tally.count(query, truth[asked], one)
    return found


def _in_chunk(column: Column, right: Mapping[str, Any]) -> tuple[Whole, dict[str, Runs]]:
    """The values of a chunk in codes, and which of these are right."""
    if isinstance(column, CategoricalColumn):
        return column.codes.astype(np.int64), dict(right)
    values = column.numbers()
    known, codes = np.unique(values, return_inverse=True)
    present = known[~np.isnan(known)]
    return np.where(np.isnan(values), -1, codes), {level: one.runs(present) for level, one in right.items()}


def _right_numbers(
    engine: Engine, before: Column, after: Column, truth: Float, percent: float
) -> tuple[dict[str, _Numbers], dict[str, Float]]:
    ranked, released = (engine.sort(one.cells, _WHAT) for one in (before, after))
    low, high = engine.run(_near, ranked, truth, percent, what=_WHAT)
    right = {"value": _Numbers(truth, truth), "near": _Numbers(low, high)}
    n = len(after)
    guess = {level: engine.run(_between, released, one.low, one.high, what=_WHAT) / n for level, one in right.items()}
    return right, guess


def _near(ranked: Float, truth: Float, percent: float) -> tuple[Float, Float]:
    """From which number to which one is within some percent of the ranks; of equal ones the outermost ranks count."""
    n = len(ranked)
    reach = int(percent * n / 100)
    below = np.clip(np.searchsorted(ranked, truth, "left") - reach, 0, max(n - 1, 0))
    above = np.clip(np.searchsorted(ranked, truth, "right") - 1 + reach, 0, max(n - 1, 0))
    return np.minimum(ranked[below], truth), np.maximum(ranked[above], truth)


def _between(ranked: Float, low: Float, high: Float) -> Whole:
    return np.asarray(np.searchsorted(ranked, high, "right") - np.searchsorted(ranked, low, "left"))


def _right_codes(
    engine: Engine, before: Column, after: Column, truth: CategoricalColumn, percent: float
) -> tuple[dict[str, Runs], dict[str, Float]]:
    meant = [engine.each(by_meaning, [one.categorical], what=_WHAT) for one in (before, after)]
    counts, released = (engine.count(one) for one in meant)
    right = confidential_codes([truth, truth], None, percent, counts)[1]
    until = np.concatenate([[0], np.cumsum(released)])
    codes, guess = truth.codes.astype(np.int64), {}
    for level, runs in right.items():
        inside = np.concatenate([[0], np.cumsum(until[runs.high + 1] - until[runs.low])])
        each = inside[runs.start[1:]] - inside[runs.start[:-1]]
        guess[level] = each[codes] / len(after)
    return right, guess
