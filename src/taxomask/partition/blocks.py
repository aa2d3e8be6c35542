"""Blocks of similar records, for tables too large to be partitioned in one piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..records import NumberTerm, RecordDistance, Term

__all__ = ["MOST", "check_in_one_piece", "median_cuts", "members", "with_enough"]

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


def median_cuts(space: RecordDistance, size: int) -> Numbers:
    """The block of each record, of at most ``size`` records.

    The records farthest from the average are the first block: they are sparse, and their neighbours must not be spread
    over many blocks. The others are cut at the median, again and again, along the attribute that contributes most to
    the distances within the block. Records with equal values are told apart by their position in the table.
    """
    blocks = np.zeros(space.n, dtype=np.int32)
    if space.n <= size:
        return blocks
    away = np.argsort(space.squared_from(*_average(space)), kind="stable")
    waiting, number = [np.sort(away[:-size]), np.sort(away[-size:])], 0
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
