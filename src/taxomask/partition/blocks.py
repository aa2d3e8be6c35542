"""Blocks of similar records, for tables too large to be partitioned in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..microdata import Column, ContinuousColumn
from ..records import NumberTerm, RecordDistance, Term

__all__ = ["MOST", "Cuts", "check_in_one_piece", "median_cuts", "members", "with_enough"]

Numbers = NDArray[np.int32]

MOST = 10_000_000  # records that are grouped or swapped in one piece
_PAIRS = 2000  # pairs of records that tell how much an attribute still varies in a block


def check_in_one_piece(n: int, name: str) -> None:
    """An error if a table is too long to be looked at in one piece."""
    if n > MOST:
        raise PlanError(
            f"{name} looks at all records at once, which can be done with {MOST:,}; the table has {n:,}.",
            hint="Declare blocks, such as 'block_size: 20000', each treated by itself; with closeness, take "
            "'swap' or 'merge'.",
        )


def median_cuts(space: RecordDistance, size: int, *, far: bool = True) -> Numbers:
    """The block of each record, of at most ``size`` records.

    The records farthest from the average are the first block (unless ``far`` says that there are none): they are
    sparse, and their neighbours must not be spread over many blocks. The others are cut at the median, again and again,
    along the attribute that contributes most to the distances within the block. Records with equal values are told
    apart by their position in the table.
    """
    blocks = np.zeros(space.n, dtype=np.int32)
    if space.n <= size:
        return blocks
    waiting, number = [np.arange(space.n)], 0
    if far:
        away = np.argsort(space.squared_from(*_average(space)), kind="stable")
        waiting = [np.sort(away[:-size]), np.sort(away[-size:])]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            blocks[rows] = number
            number += 1
            continue
        term = max(space.terms, key=lambda term: _spread(term, rows))
        order = rows[np.argsort(term.coordinates[rows], kind="stable")]
        half = len(order) // 2
        waiting += [np.sort(order[half:]), np.sort(order[:half])]
    return blocks


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts at medians, found in a sample of a table, by which all its records fall into parts of similar ones.

    The records farther from the average of the sample than a limit are the first part, as in `median_cuts`. Each cut
    of the others is made along one attribute, at a value and a position in the table: records below the value, and
    those with this value and a lower position, are on one side. So parts are about as large as the sample says, however
    many records have the same value. Missing values come last.

    Attributes
    ----------
    attribute, value, position
        What each cut is made at.
    below, above
        The number of the cut on either side of it; -1 - p is part p.
    parts
        How many parts there are.
    middle, limit
        The average, and the largest δ² from it of a record that is not far away.
    """

    attribute: NDArray[np.int32]
    value: NDArray[np.float64]
    position: NDArray[np.int64]
    below: NDArray[np.int32]
    above: NDArray[np.int32]
    parts: int
    middle: tuple[NDArray[np.float64], NDArray[np.int32]]
    limit: float

    @classmethod
    def of(
        cls,
        space: RecordDistance,
        columns: Sequence[Column],
        positions: NDArray[np.int64],
        n: int,
        size: int,
        far: int,
    ) -> Cuts:
        """The cuts that leave about ``size`` of n records or fewer in each part.

        Parameters
        ----------
        space, columns
            A sample of the records: how far apart they are, and their values.
        positions
            Where they stand in the table; in their order.
        n
            How many records the table has.
        size, far
            The size of a part, and of that with the records that are far away.
        """
        middle = _average(space)
        away = space.squared_from(*middle)
        some = min(round(far * len(away) / n), len(away) // 2)
        limit = float(np.sort(away)[-1 - some]) if some else np.inf
        keys = [_keys(column) for column in columns]
        made: list[tuple[int, float, int, list[int]]] = []
        waiting: list[tuple[NDArray[np.intp], list[int], int]] = [(np.flatnonzero(away <= limit), [0], 0)]
        parts = 1
        while waiting:
            rows, whence, side = waiting.pop()
            if len(rows) < 2 or len(rows) * n <= size * len(positions):
                whence[side], parts = -1 - parts, parts + 1
                continue
            best = max(range(len(keys)), key=lambda place: _spread(space.terms[place], rows))
            order = rows[np.argsort(keys[best][rows], kind="stable")]
            half = len(order) // 2
            sides = [0, 0]
            whence[side] = len(made)
            made.append((best, float(keys[best][order[half]]), int(positions[order[half]]), sides))
            waiting += [(np.sort(order[half:]), sides, 1), (np.sort(order[:half]), sides, 0)]
        return cls(
            np.array([one[0] for one in made], dtype=np.int32),
            np.array([one[1] for one in made], dtype=np.float64),
            np.array([one[2] for one in made], dtype=np.int64),
            np.array([one[3][0] for one in made], dtype=np.int32),
            np.array([one[3][1] for one in made], dtype=np.int32),
            parts,
            middle,
            limit,
        )

    def part_of(self, space: RecordDistance, columns: Sequence[Column], first: int) -> Numbers:
        """The part of each of some records that follow each other, given the position of the first one."""
        found = np.zeros(space.n, dtype=np.int32)
        near = np.flatnonzero(space.squared_from(*self.middle) <= self.limit)
        keys = [_keys(column) for column in columns]
        waiting: list[tuple[int, Any]] = [(0 if len(self.value) else -2, near)]
        while waiting:
            cut, rows = waiting.pop()
            if cut < 0:
                found[rows] = -1 - cut
                continue
            values = keys[self.attribute[cut]][rows]
            value = self.value[cut]
            below = (values < value) | ((values == value) & (rows + first < self.position[cut]))
            waiting += [(int(self.below[cut]), rows[below]), (int(self.above[cut]), rows[~below])]
        return found


def _keys(column: Column) -> NDArray[np.float64]:
    """The values of a column as numbers in their order, missing ones last."""
    values = column.values if isinstance(column, ContinuousColumn) else column.codes.astype(np.float64)
    return np.where(column.missing, np.inf, values)


def with_enough(blocks: list[NDArray[np.intp]], people: NDArray[np.int64] | None, k: int) -> list[NDArray[np.intp]]:
    """The blocks, those with fewer than k people joined with the next one (the last with the one before it).

    Without people, or where everybody has one record, they are as they were: a block has more records than k.
    """
    if people is None:
        return blocks
    joined: list[NDArray[np.intp]] = []
    waiting: list[NDArray[np.intp]] = []
    for rows in blocks:
        waiting.append(rows)
        every = np.sort(np.concatenate(waiting))
        if len(np.unique(people[every])) >= k:
            joined.append(every)
            waiting = []
    if waiting and joined:
        joined[-1] = np.sort(np.concatenate([joined[-1], *waiting]))
    return joined or blocks


def members(blocks: Numbers) -> list[NDArray[np.intp]]:
    """The records of each block, in the order of the table."""
    order = np.argsort(blocks, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1)


def _average(space: RecordDistance) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """The means of the numbers and the most frequent codes: near enough to tell who is far from the middle."""
    numbers = [term.coordinates for term in space.terms if isinstance(term, NumberTerm)]
    codes = [term.coordinates for term in space.terms if not isinstance(term, NumberTerm)]
    means = [column[~np.isnan(column)].mean() if not np.isnan(column).all() else np.nan for column in numbers]
    return np.array(means, dtype=np.float64), np.array([np.bincount(c).argmax() for c in codes], dtype=np.int32)


def _spread(term: Term, rows: NDArray[np.intp]) -> float:
    """The mean term of pairs of records that are half a block apart in the table."""
    half = len(rows) // 2
    step = max(half // _PAIRS, 1)
    first, second = rows[:half:step], rows[half : 2 * half : step]
    return float(term.between(term.coordinates[first], term.coordinates[second]).mean())
