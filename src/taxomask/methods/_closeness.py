"""How far groups are from t-closeness, l-diversity and k people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..microdata import Column
from ..microdata.people import class_owners
from ..semantics import EarthMover, earth_mover

__all__ = ["Limits", "different"]

Int = NDArray[np.int64]
Float = NDArray[np.float64]
_BELOW = 1 - 1e-9  # of t: sums are rounded


class Limits:
    """How far groups are from what is asked for; 0 or less where they have it. See `taxomask.partition.Violation`.

    Parameters
    ----------
    columns
        The confidential columns.
    t, l
        The largest earth mover's distance, and the least number of different values; None if not asked for.
    people, units
        Whose records they are: for t, and for k.
    k
        How many different people or households a group must have.
    """

    def __init__(
        self,
        columns: list[Column],
        t: float | None,
        l: int | None,  # noqa: E741
        people: Int | None,
        units: Int | None,
        k: int,
    ) -> None:
        self._movers: list[EarthMover] = [earth_mover(column, people) for column in columns]
        self._t, self._l, self._units, self._k = t, l, units, k
        self._needs_rows = units is not None or (people is not None and t is not None)
        for column, mover in zip(columns, self._movers, strict=True):
            found = len(np.unique(mover.codes))
            if l is not None and found < l:
                raise DataError(
                    f"column {column.attribute.name!r} has only {found} different values, fewer than l = {l}.",
                    hint="Lower l.",
                )

    def __call__(self, rows: Int) -> float:
        found = -np.inf
        for mover in self._movers:
            if self._t is not None:
                found = max(found, mover(rows) - self._t * _BELOW)
            if self._l is not None:
                found = max(found, self._l - len(np.unique(mover.codes[rows])))
        if self._units is not None:
            found = max(found, self._k - len(np.unique(self._units[rows])))
        return float(found)

    def summary(self, rows: Int) -> Any:
        """How many records have each value; the records themselves where it matters whose they are."""
        if self._needs_rows:
            return rows
        return [np.unique(mover.codes[rows], return_counts=True) for mover in self._movers]

    def joined(self, one: Any, other: Any) -> Any:
        if self._needs_rows:
            return np.sort(np.concatenate([one, other]))
        return [_together(a, b) for a, b in zip(one, other, strict=True)]

    def of_summary(self, summary: Any) -> float:
        if self._needs_rows:
            return self(summary)
        found = -np.inf
        for mover, (values, counts) in zip(self._movers, summary, strict=True):
            if self._t is not None:
                found = max(found, mover.of_counts(values, counts) - self._t * _BELOW)
            if self._l is not None:
                found = max(found, self._l - len(values))
        return float(found)

    def of_groups(self, order: Int, start: Int) -> Float:
        return self._of_all(order, start, lambda mover, t: mover.of_groups(order, start, t))

    def at_most(self, order: Int, start: Int) -> Float:
        return self._of_all(order, start, lambda mover, t: mover.at_most(order, start))

    def _of_all(self, order: Int, start: Int, distances: Callable[[EarthMover, float], Float]) -> Float:
        found = np.full(len(start) - 1, -np.inf)
        for mover in self._movers:
            if self._t is not None:
                found = np.maximum(found, distances(mover, self._t * _BELOW) - self._t * _BELOW)
            if self._l is not None:
                found = np.maximum(found, self._l - different(mover.codes[order] + 1, start))
        if self._units is not None:
            found = np.maximum(found, self._k - different(self._units[order], start))
        return found


def _together(one: tuple[Int, Int], other: tuple[Int, Int]) -> tuple[Int, Int]:
    """The different values of both, and how many records have each."""
    values, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([one[1], other[1]]))
    return values, counts.astype(np.int64)


def different(codes: Int, start: Int) -> Int:
    """How many different codes each group has: the codes from 0, group by group, and where each group begins."""
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return class_owners(group, codes)
