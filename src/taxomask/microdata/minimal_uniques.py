"""The smallest sets of columns that single out a record: minimal sample uniques, all of them up to a size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .combinations import numbered

__all__ = ["MinimalUniques", "number_of_sets"]

Codes = NDArray[np.int64]
Packed = NDArray[np.uint8]
Set = tuple[int, ...]


def number_of_sets(columns: int, most: int) -> int:
    """How many sets of at most so many columns there are.

    >>> number_of_sets(10, 4)
    385
    """
    return sum(comb(columns, size) for size in range(1, min(most, columns) + 1))


class MinimalUniques:
    """Every set of at most ``most`` columns that singles out a record while no smaller set within it does.

    A set of columns singles out a record if nobody else has the same values in all of them. With ``people``, the
    number of the person of each record, other records of the same person do not count as somebody else.

    The sets are visited so that all smaller sets within one come before it. Whoever is singled out by a set is so by
    every larger one: it needs to be looked at no more, and is in nobody's way. So below a set only those records are
    compared that it does not single out, and the columns with the most values come first. Records that are equal in all
    columns are compared once.

    Iterating gives each set that is minimal for some record, as positions of columns, with the ``combinations`` of
    values that it singles out; ``numbers`` has the combination of each record.

    Parameters
    ----------
    parts
        The codes of each column; equal codes are equal values.
    n
        How many records there are.
    most
        How many columns a set has at most.
    people
        The person of each record, by number.

    Examples
    --------
    >>> found = MinimalUniques([np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.array([0, 0, 0, 1])], 4)
    >>> sorted((columns, found.records(combinations).tolist()) for columns, combinations in found)
    [((0, 1), [1]), ((0, 2), [2]), ((1,), [0]), ((2,), [3])]
    """

    def __init__(
        self, parts: Sequence[NDArray[Any]], n: int, *, most: int = 4, people: NDArray[Any] | None = None
    ) -> None:
        self.numbers, self._first = numbered(parts, n)
        self.combinations = len(self._first)
        self.most = min(most, len(parts))
        codes = [np.unique(part[self._first], return_inverse=True) for part in parts]
        self._order = sorted(range(len(parts)), key=lambda i: (-len(codes[i][0]), i))
        self._codes = [codes[i][1].astype(np.int64, copy=False) for i in self._order]
        self._values = [len(codes[i][0]) for i in self._order]
        self.visited = 0  # sets that were looked at; sets whose records are all singled out already are passed over
        self._owner = _owners(self.numbers, self.combinations, people)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which combinations of all columns belong to one person only."""
        return self._owner >= 0

    def records(self, combinations: Codes) -> Codes:
        """The records that have these combinations of values."""
        return np.flatnonzero(np.isin(self.numbers, combinations))

    def __iter__(self) -> Iterator[tuple[Set, Codes]]:
        singled: dict[Set, Packed] = {}
        self.visited = 0
        yield from self._below(
            (), np.arange(self.combinations), np.zeros(self.combinations, dtype=np.int64), 1, singled
        )

    def _below(
        self, above: Set, rows: Codes, classes: Codes, count: int, singled: dict[Set, Packed]
    ) -> Iterator[tuple[Set, Codes]]:
        """The sets that begin with ``above``, which does not single out ``rows`` and puts them in so many classes.

        From the last column to the first: then every set within one was visited before it.
        """
        last = above[-1] if above else -1
        for column in range(len(self._codes) - 1, last, -1) if len(rows) else ():
            columns = (*above, column)
            self.visited += 1
            here, size = _joined(classes, count, self._codes[column][rows], self._values[column])
            alone = self._alone(rows, here, size)
            smaller = self._by_smaller(columns, singled)
            if smaller is None:  # smaller sets within it single out everybody
                continue
            unique = rows[alone]
            found = unique[np.unpackbits(smaller, count=self.combinations)[unique] == 0]
            if len(found):
                yield tuple(sorted(self._order[i] for i in columns)), found
            if len(columns) == self.most:
                continue
            mask = np.zeros(self.combinations, dtype=np.uint8)
            mask[unique] = 1
            singled[columns] = np.packbits(mask) | smaller
            left = ~alone
            if left.any():
                yield from self._below(columns, rows[left], here[left], size, singled)

    def _by_smaller(self, columns: Set, singled: dict[Set, Packed]) -> Packed | None:
        """Who is singled out by a set with one column less; None if that is everybody, so that it was not kept."""
        smaller = np.zeros((self.combinations + 7) // 8, dtype=np.uint8)
        for leave_out in range(len(columns)) if len(columns) > 1 else ():
            one = singled.get(columns[:leave_out] + columns[leave_out + 1 :])
            if one is None:
                return None
            smaller |= one
        return smaller

    def _alone(self, rows: Codes, classes: Codes, size: int) -> NDArray[np.bool_]:
        """Which rows are in a class of one person only."""
        owner = self._owner[rows]
        someone = np.empty(size, dtype=np.int64)
        someone[classes] = owner  # of several owners any one: then another differs from it
        shared = np.zeros(size, dtype=np.bool_)
        shared[classes[(owner != someone[classes]) | (owner < 0)]] = True
        return ~shared[classes]


def _owners(numbers: Codes, combinations: int, people: NDArray[Any] | None) -> Codes:
    """Who has each combination of values: the number of a person, -1 if several have it."""
    person = np.arange(len(numbers)) if people is None else np.unique(people, return_inverse=True)[1]
    owner = np.full(combinations, -1, dtype=np.int64)
    owner[numbers] = person
    owner[numbers[owner[numbers] != person]] = -1
    return owner


def _joined(classes: Codes, count: int, codes: Codes, values: int) -> tuple[Codes, int]:
    """Classes by one more column, numbered almost without gaps, and what the numbers are below."""
    keys, size = classes * values + codes, count * values
    if size <= 4 * len(keys) + 1024:
        return (keys, size) if size <= len(keys) else _without_gaps(keys, size)
    used, found = np.unique(keys, return_inverse=True)
    return found.astype(np.int64, copy=False), len(used)


def _without_gaps(keys: Codes, size: int) -> tuple[Codes, int]:
    used = np.zeros(size, dtype=np.int64)
    used[keys] = 1
    place = np.cumsum(used)
    return place[keys] - 1, int(place[-1])
