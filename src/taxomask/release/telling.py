"""How well a column tells another one: from joint counts, every record guessed from all the others.

Two columns that go together by chance must not be taken for twins, and a column that has another value in every record
"determines" all others without telling anything. So a value is never guessed from its own record: each record is held
out in turn, its value is guessed from the others that have the same value in the telling column, and a record without
such others is not guessed at all. Everything needed is the table of joint counts, in which a record is held out by
taking 1 from its cell; there is no random split and no seed, and counts of chunks of a table could be added up.

- A plain value is guessed as the commonest of the others (the λ of Goodman and Kruskal, 1954, on held-out records), and
  a wrong guess is an error of 1; where two values are equally common, of 1/2.
- A place on a scale is guessed as the median of the others; the error is the difference in ranks, as a share of all.

*Told* is the share of the error of the best constant guess that the column takes away: 0 for nothing, 1 for everything.
A column in which one cell of ten was replaced by a random one still tells 0.9 of its twin; two normal variables with a
correlation of 0.8 tell 0.43 of each other's ranks, with 0.9 0.59. The threshold is ``ENOUGH`` = 0.5, and it must be
passed for sure: by ``SURE`` = 3 standard errors (of a ratio, with two more misses than were seen, and fewer degrees of
freedom where cells are small), so that a small table or a column that hardly repeats is no twin by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "Guess", "View", "cells_of", "few", "gain", "guess", "ranked", "same_number"]

ENOUGH = 0.5  # of what is not known without a column: told, it is a twin
SURE = 3.0  # standard errors
MISSES = 2.0  # that are added to those seen
CELL = 8  # records in a row that are looked at together where numbers hardly repeat
MOST_CELLS = 512  # of such
MOST_PLACES = 128  # on a scale
CLOSE = 0.1  # of a scale: guessed rightly
SAMPLE = 4096  # records that are looked at first
_DENSE = 8  # cells of a table of counts that is made whole, for each record

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class View:
    """What is to be told in each record: a number of a value (-1: none), with its place from 0 to 1 if on a scale."""

    codes: Codes
    places: Floats | None = None

    @property
    def size(self) -> int:
        return int(self.codes.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class Guess:
    """How well some cells tell a view.

    ``told`` is the share of the error that they take away, ``surely`` what it is at least, and ``right`` the share of
    the guessed records that are guessed rightly (on a scale: to a tenth of the ranks), ``blind`` the same without them.
    """

    told: float
    surely: float
    right: float
    blind: float
    records: int
    _keys: NDArray[np.int64]
    _errors: Floats
    _blind: Floats
    _size: int

    def errors(self, cells: Codes, view: View) -> tuple[Floats, Floats]:
        """The error in each record, with the cells and without; not a number where nothing was guessed."""
        both = (cells >= 0) & (view.codes >= 0)
        keys = cells[both].astype(np.int64) * self._size + view.codes[both]
        places = np.searchsorted(self._keys, keys)
        found, without = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        found[both], without[both] = self._errors[places], self._blind[places]
        return found, without


def guess(cells: Codes, view: View) -> Guess | None:
    """How well cells (a number in each record, -1: none) tell a view; None if nothing can be guessed."""
    both = (cells >= 0) & (view.codes >= 0)
    size = max(view.size, 1)
    keys = cells[both].astype(np.int64) * size + view.codes[both]
    if not len(keys):
        return None
    used, counts = _counted(keys, (int(cells.max()) + 1) * size)
    cell, value = used // size, used % size
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    spread = np.diff(starts, append=len(used))
    sizes = np.repeat(np.add.reduceat(counts, starts), spread)
    guessed = sizes >= 2
    records = int(counts[guessed].sum())
    if records <= 1:
        return None
    if view.places is None:
        errors, blind = _misses(counts, starts, spread), _constant(value, np.where(guessed, counts, 0), size)
    else:
        errors, blind = _distances(value, counts, starts, spread, sizes, view.places, guessed)
    weights = counts[guessed].astype(np.float64)
    told, surely = _share_told(errors[guessed], blind[guessed], weights, records, int((sizes[starts] >= 2).sum()))
    right, without = (_right(one[guessed], weights, view) / records for one in (errors, blind))
    errors = np.where(guessed, errors, np.nan)
    return Guess(told, surely, right, without, records, used, errors, blind, size)


def gain(told: Floats, without: Floats, released: Floats) -> float:
    """Of the records that the release itself does not tell, the share that a column does, beyond a constant guess.

    All three are errors in each record: of the guess from the column, of the constant guess, and of the best guess from
    what is released of the told column. A record is told if the error is at most half of that from the release.
    """
    open_ = (released > 0) & ~np.isnan(told)
    if not open_.any():
        return 0.0
    half = released[open_] / 2
    right, blind = float((told[open_] <= half).mean()), float((without[open_] <= half).mean())
    return (right - blind) / (1 - blind) if blind < 1 else 0.0


def cells_of(codes: Codes, numbers: Floats | None) -> list[Codes]:
    """The ways to look at a column as cells: by its values, and where numbers hardly repeat also by neighbours."""
    found = [codes]
    present = int((codes >= 0).sum())
    if numbers is not None and present >= 2 * CELL and present < CELL * (int(codes.max(initial=-1)) + 1):
        found.append(_cut(numbers, min(present // CELL, MOST_CELLS)))
    return found


def ranked(numbers: Floats) -> View:
    """Numbers as places on a scale: their ranks, in at most 128 steps."""
    present = ~np.isnan(numbers)
    values, inverse, counts = np.unique(numbers[present], return_inverse=True, return_counts=True)
    if len(values) > MOST_PLACES:
        step = ((np.cumsum(counts) - counts) * MOST_PLACES // max(int(counts.sum()), 1)).astype(np.int64)
        _, step = np.unique(step, return_inverse=True)
        inverse, counts = step[inverse], np.bincount(step, weights=counts).astype(np.int64)
    codes = np.full(len(numbers), -1, dtype=np.int32)
    codes[present] = inverse
    return View(codes, (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # numbers may be as large as they come
def same_number(x: Floats, y: Floats) -> NDArray[np.bool_] | None:
    """Where y is x in another unit: a·x + b, with a and b found from most records; None if it is so by chance only.

    The slope is the median over pairs of records half a table apart in the order of x, which up to a quarter of other
    records does not spoil. y must be nearer to a·x + b than a twentieth of what neighbouring values of x are apart, in
    half of the records more than in records that do not belong together.
    """
    rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    some = few(len(rows))
    if len(rows) < 10 or (len(some) < len(rows) and same_number(x[rows[some]], y[rows[some]]) is None):
        return None
    rows = rows[np.argsort(x[rows], kind="stable")]
    a, b = x[rows], y[rows]
    gaps = np.diff(np.unique(a))
    if len(gaps) < 9:
        return None
    half = len(rows) // 2
    run, rise = a[half:] - a[: len(a) - half], b[half:] - b[: len(b) - half]
    slope = float(np.median(rise[run > 0] / run[run > 0]))
    if not np.isfinite(slope) or slope == 0:
        return None
    near = max(0.05 * float(np.median(gaps)), 1e-9 * float(np.abs(a).max())) * abs(slope)
    near = max(near, 1e-9 * float(np.abs(b).max()))
    rest = b - slope * a
    hits = np.abs(rest - np.median(rest)) <= near
    moved = np.roll(b, len(b) // 3) - slope * a
    chance = float((np.abs(moved - np.median(rest)) <= near).mean())
    share = float(hits.mean())
    if hits.sum() < 10 or len(np.unique(a[hits])) < 10 or share - chance < ENOUGH * (1 - chance):
        return None
    found = np.zeros(len(x), dtype=bool)
    found[rows[hits]] = True
    return found


def few(n: int) -> NDArray[np.int64]:
    """Some of n records, for a first look: evenly spaced."""
    return np.arange(n) if n <= SAMPLE else np.arange(SAMPLE) * n // SAMPLE


# --------------------------------------------------------------------------------------- from joint counts


def _counted(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in order, with their counts."""
    if size > _DENSE * (len(keys) + 128):
        used, counts = np.unique(keys, return_counts=True)
        return used, counts
    whole = np.bincount(keys, minlength=1)
    used = np.flatnonzero(whole)
    return used, whole[used]


def _misses(counts: NDArray[np.int64], starts: NDArray[np.intp], spread: NDArray[np.intp]) -> Floats:
    """For each value of a cell: the error of the commonest of the others, one record of the value held out."""
    most = np.maximum.reduceat(counts, starts)
    top = counts == np.repeat(most, spread)
    tops = np.add.reduceat(top.astype(np.int64), starts)
    second = np.maximum.reduceat(np.where(top, 0, counts), starts)
    rival = np.where(top, np.repeat(np.where(tops > 1, most, second), spread), np.repeat(most, spread))
    return np.where(counts - 1 > rival, 0.0, np.where(counts - 1 == rival, 0.5, 1.0))


def _constant(value: NDArray[np.int64], weights: NDArray[np.int64], size: int) -> Floats:
    """For each value of a cell: the error of always guessing the commonest value."""
    return (value != np.bincount(value, weights=weights, minlength=size).argmax()).astype(np.float64)


def _distances(
    value: NDArray[np.int64],
    counts: NDArray[np.int64],
    starts: NDArray[np.intp],
    spread: NDArray[np.intp],
    sizes: NDArray[np.int64],
    places: Floats,
    guessed: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """For each value of a cell: how far the median of the others is, and how far that of all values is."""
    ends = np.cumsum(counts)
    first = np.repeat(ends[starts] - counts[starts], spread)
    middle = np.maximum(sizes - 2, 0) // 2  # the lower middle of the others, counted from 0
    middle += (ends - first - 1 <= middle) & (middle + 1 < sizes)  # the record held out stood before it
    guesses = value[np.minimum(np.searchsorted(ends, first + middle, side="right"), len(value) - 1)]
    total = np.cumsum(np.bincount(value, weights=np.where(guessed, counts, 0), minlength=len(places)))
    median = int(np.searchsorted(total, total[-1] / 2))
    return np.abs(places[guesses] - places[value]), np.abs(places[median] - places[value])


def _right(errors: Floats, weights: Floats, view: View) -> float:
    """How many guesses are right; half of one that was tossed for, and on a scale those within a tenth of it."""
    rightly = 1 - errors if view.places is None else errors <= CLOSE
    return float((weights * rightly).sum())


def _share_told(errors: Floats, blind: Floats, weights: Floats, records: int, cells: int) -> tuple[float, float]:
    """The share of the blind error that is taken away, and what it is at least."""
    whole = float((weights * blind).sum())
    if whole <= 0:
        return 0.0, 0.0
    unit = float((weights * blind**2).sum()) / whole
    below = whole + MISSES * unit
    left = (float((weights * errors).sum()) + MISSES * unit) / below
    spread = float((weights * (errors - left * blind) ** 2).sum()) + MISSES * unit**2 * (1 - left) ** 2
    error = np.sqrt(spread * records / max(records - cells, 1)) / below
    return 1 - left, float(1 - left - SURE * error)


def _cut(numbers: Floats, cells: int) -> Codes:
    """Numbers that follow each other together, about as many in each cell; equal ones always."""
    present = np.flatnonzero(~np.isnan(numbers))
    order = present[np.argsort(numbers[present], kind="stable")]
    number = np.arange(len(order)) * cells // max(len(order), 1)
    sorted_ = numbers[order]
    new = np.flatnonzero(np.diff(sorted_, prepend=np.nan) != 0)  # the first of equal ones
    number = np.repeat(number[new], np.diff(new, append=len(order)))
    codes = np.full(len(numbers), -1, dtype=np.int32)
    codes[order] = np.unique(number, return_inverse=True)[1]
    return codes
