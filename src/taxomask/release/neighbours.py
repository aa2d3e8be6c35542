"""Two numbers that hardly repeat and tell something together, such as where somebody lives; and running totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .computed import Computed, numbers_to_combine
from .seen import Seen
from .telling import CELL

__all__ = ["alike_in_both", "pairs_of_numbers", "running_totals"]

_CELLS = 4_096  # at most, into which records are sorted by two numbers
_NEARLY = 2.0  # times as much, or as little, as the numbers add up to

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


def _hardly_repeats(column: Seen) -> bool:
    return int((column.codes >= 0).sum()) < CELL * column.size


def pairs_of_numbers(columns: Sequence[Seen], left_out: set[int]) -> list[tuple[int, int]]:
    """The places of two columns of numbers whose combinations hardly repeat; those ``left_out`` tell enough alone."""
    places = [
        place for place in numbers_to_combine(columns) if place not in left_out and _hardly_repeats(columns[place])
    ]
    return list(combinations(places, 2))


def alike_in_both(first: Floats, second: Floats) -> Codes:
    """Some eight records of a cell each that are neighbours in two numbers; -1 where one of them is missing.

    Strips of neighbours in the one are cut by the other.
    """
    both = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    found = np.full(len(first), -1, dtype=np.int32)
    a, b = first[both], second[both]
    cells = min(len(both) // CELL, _CELLS)
    strips = int(np.sqrt(cells))
    if strips < 2:
        return found
    strip = np.empty(len(both), dtype=np.int64)
    strip[np.argsort(a, kind="stable")] = np.arange(len(both)) * strips // len(both)
    order = np.lexsort((b, strip))
    place = np.arange(len(both)) * (strips * strips) // len(both)  # strips have as many records each
    found[both[order]] = place
    return found


def running_totals(columns: Sequence[Seen], left_out: set[int], numbers: Floats) -> Iterator[Computed]:
    """The steps of columns that may be running totals of a number, from one value to the next above or below it."""
    with np.errstate(over="ignore"):  # numbers may be as large as they come
        whole = float(np.nansum(np.abs(numbers)))
    for place in numbers_to_combine(columns):
        x = columns[place].amounts
        if place in left_out or x is None or not _hardly_repeats(columns[place]):
            continue
        order = np.flatnonzero(np.isfinite(x))
        order = order[np.argsort(x[order], kind="stable")]
        with np.errstate(over="ignore"):
            steps = np.diff(x[order])
            added = float(steps.sum())
        if not 0 < whole / _NEARLY <= added <= whole * _NEARLY < np.inf:
            continue
        for words, rows in (("less the next below it", order[1:]), ("taken from the next above it", order[:-1])):
            made = np.full(len(x), np.nan)
            made[rows] = steps
            yield Computed((place,), f"{columns[place].name}, {words},", made)
