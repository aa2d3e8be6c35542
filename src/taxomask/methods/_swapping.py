"""What swapping methods share: the interval, the order of records, the exchange of values, and what to say about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..errors import DataError, PlanError
from ..microdata import Column, ContinuousColumn, Microdata
from .base import Masked

__all__ = [
    "IntervalShare",
    "IntervalSize",
    "Places",
    "Swaps",
    "Tally",
    "about_swaps",
    "check_interval",
    "distinct",
    "exchanged",
    "free_set",
    "interval_size",
    "largest",
    "notes_of",
    "raw",
    "seeded",
    "swap_along",
    "swapped",
]

Int = NDArray[np.int64]
_GRAIN = 6  # of long tables: the code of one in 64 places is kept
IntervalSize = Annotated[int, Ge(1), Slider(1, 50)]
IntervalShare = Annotated[
    float, Gt(0), Le(100), Slider(0.5, 50, 0.5, start=5), "p is a percentage of the records: 5 means 5 %."
]


@dataclass(frozen=True, eq=False)
class Swaps:
    """The swaps of one attribute in order, and how many values each could have chosen from.

    ``pairs`` has the two records of each swap; a value that stayed in place is swapped with itself.
    """

    pairs: Int
    candidates: Int

    @classmethod
    def together(cls, found: Sequence[Swaps]) -> Swaps:
        """All of several, in their order."""
        return cls(np.concatenate([one.pairs for one in found]), np.concatenate([one.candidates for one in found]))


@dataclass(frozen=True, eq=False)
class Tally:
    """How often some numbers were met: the different ones in order, and how often each."""

    numbers: NDArray[Any]
    times: Int

    @classmethod
    def of(cls, numbers: NDArray[Any]) -> Tally:
        return cls(*np.unique(numbers, return_counts=True))

    def with_(self, other: Tally) -> Tally:
        """Both together."""
        numbers, place = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        times = np.bincount(place, np.concatenate([self.times, other.times]), len(numbers))
        return Tally(numbers, times.astype(np.int64))

    @property
    def median(self) -> float:
        """The middle one, or the mean of both."""
        upto = np.cumsum(self.times)
        middle = [self.numbers[np.searchsorted(upto, (upto[-1] - odd) // 2, side="right")] for odd in (1, 0)]
        return float(middle[0] + middle[1]) / 2


@dataclass(frozen=True, eq=False)
class Places:
    """Records in order of their code.

    Parameters
    ----------
    records
        The record at each place.
    codes
        The code of each place, or of one in 2**grain places.
    start
        The first place of each code, and the number of places.
    """

    records: Int
    codes: NDArray[np.int32]
    start: Int
    grain: int = 0

    @classmethod
    def of(cls, codes: NDArray[np.int32], categories: int, sequence: Int) -> Places:
        """Put records in order; those of equal codes stand in the given sequence of all records."""
        from ._swap_kernels import arrange

        sizes = np.bincount(codes, minlength=categories)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        records = np.empty(len(codes), dtype=np.int64)
        arrange(np.ascontiguousarray(codes), sequence, start, records)
        return cls(records, np.repeat(np.arange(categories, dtype=np.int32), sizes), start)

    @classmethod
    def without_records(cls, sizes: Int) -> Places:
        """The places of so many records of each code, whichever they are: 0.06 bytes for each place."""
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        some = np.searchsorted(start, np.arange(0, start[-1], 1 << _GRAIN), side="right") - 1
        return cls(np.empty(0, dtype=np.int64), some.astype(np.int32), start, _GRAIN)

    def any_of(self, codes: NDArray[np.intp], rng: np.random.Generator) -> int:
        """A random place of these codes."""
        sizes = np.diff(self.start)[codes]
        total = np.cumsum(sizes)
        ticket = int(rng.integers(total[-1]))
        at = int(np.searchsorted(total, ticket, side="right"))
        return int(self.start[codes[at]] + ticket - total[at] + sizes[at])


def check_interval(k: int | None, p: float | None) -> None:
    """One of k and p says how large a swapping interval is."""
    if (k is None) == (p is None):
        raise PlanError(
            f"give either k or p; got k={k!r} and p={p!r}.",
            hint="k is the number of records in a swapping interval, p the same in per cent of the table.",
        )


def interval_size(k: int | None, p: float | None, n: int) -> int:
    """The number of records in a swapping interval, from one of k and p (a percentage of the records)."""
    if k is not None:
        if k >= n:
            raise DataError(
                f"k must be less than the number of records; got k = {k} for {n:,} records.",
                hint="The swapping interval of a record is made of other records.",
            )
        return int(k)
    assert p is not None
    if n < 2:
        raise DataError(f"a table of {n} records has nothing to swap.", hint="Swapping needs at least two records.")
    return min(max(round(p * n / 100), 1), n - 1)


def distinct(column: Column) -> tuple[Int, NDArray[np.int32], NDArray[np.float64]]:
    """The records that are not missing, the code of each, and how the codes are ordered as numbers.

    Different numbers are numbered in order; categories keep their codes.
    """
    rows = np.flatnonzero(~column.missing)
    if isinstance(column, ContinuousColumn):
        values, codes = np.unique(column.values[rows], return_inverse=True)
        return rows, codes.astype(np.int32), values
    return rows, column.codes[rows], np.arange(len(column.categories), dtype=float)


def largest(sums: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where the largest sums are; sums that differ by rounding only are equal."""
    top = sums.max()
    return np.flatnonzero(sums >= top - 1e-12 * abs(top))


def seeded(rng: np.random.Generator) -> NDArray[np.uint64]:
    """The state of random numbers for compiled kernels."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


def free_set(places: int | NDArray[np.bool_]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The set of places that are not yet swapped, for compiled kernels: all of a number, or those marked."""
    from ._swap_kernels import count_free

    if isinstance(places, int):
        bits = np.full(places // 64 + 1, 2**64 - 1, dtype=np.uint64)
        bits[-1] = 2 ** (places % 64) - 1
    else:
        packed = np.packbits(places, bitorder="little")
        padded = np.zeros(8 * (len(packed) // 8 + 1), dtype=np.uint8)
        padded[: len(packed)] = packed
        bits = padded.view("<u8").astype(np.uint64)
    free = bits, np.zeros(len(bits) + 1, dtype=np.int32)
    count_free(free)
    return free


def swap_along(ranks: NDArray[np.int32], k: int, rng: np.random.Generator, *, whole: bool = False) -> Swaps:
    """Rank records, ties at random, and swap each with an unswapped one among the next k.

    If ``whole``: among the next k unswapped ones and all that are tied with the last of them.
    """
    from ._swap_kernels import swap_along

    n = len(ranks)
    places = Places.of(ranks, int(ranks.max(initial=-1)) + 1, rng.permutation(n))
    pairs, candidates = np.empty((n, 2), dtype=np.int64), np.empty(n, dtype=np.int64)
    ties = places.start[places.codes + 1]
    steps = swap_along(n, n, n, k, ties, whole, free_set(n), seeded(rng), pairs, candidates)
    return Swaps(places.records[pairs[:steps]], candidates[:steps])


def swapped(data: Microdata, swaps: Mapping[str, Swaps], k: int | None = None) -> Masked:
    """The table with the values of each attribute exchanged, and what to say about it."""
    columns, notes = {}, []
    for name, one in swaps.items():
        columns[name] = exchanged(data.columns[name], one.pairs)
        notes += about_swaps(data.columns[name], columns[name], one, k)
    return Masked(data.replace(columns), notes=tuple(notes), swaps={name: one.pairs for name, one in swaps.items()})


def exchanged(column: Column, pairs: Int) -> Column:
    """The column with values exchanged; no record is in more than one pair."""
    i, j = pairs.T
    if isinstance(column, ContinuousColumn):
        values = column.values.copy()
        values[i], values[j] = column.values[j], column.values[i]
        return column.with_values(values)
    codes = column.codes.copy()
    codes[i], codes[j] = column.codes[j], column.codes[i]
    return column.with_codes(codes)


def about_swaps(before: Column, after: Column, swaps: Swaps, k: int | None) -> list[str]:
    """How much the swaps of an attribute changed, and what to do if it was little."""
    moved = int((swaps.pairs[:, 0] != swaps.pairs[:, 1]).sum())
    changed = int((raw(before) != raw(after))[~before.missing].sum())
    sizes = None if k is None else np.bincount(distinct(before)[1])
    choices = Tally.of(swaps.candidates[swaps.candidates > 0])
    return notes_of(before.attribute.name, int((~before.missing).sum()), moved, changed, choices, k, sizes)


def notes_of(
    name: str, n: int, moved: int, changed_values: int, choices: Tally | None, k: int | None, sizes: Int | None
) -> list[str]:
    """The same for n values, by how many swaps moved some, how many values changed, what there was to choose from for
    each swap, and how often each value occurs, as far as that is known."""
    if not n:
        return [f"{name}: all values are missing; nothing was swapped."]
    changed = changed_values / n
    stayed = 1 - 2 * moved / n
    notes = [f"{name}: {_percent(stayed)} of the values stayed in place and {_percent(changed)} changed"]
    if choices is not None:
        choice = f"a median of {choices.median:,.0f} and at least {choices.numbers[0]:,}" if moved else "no"
        notes[0] += f"; {choice} values to choose from per swap{'' if k is None else f' (k = {k:,})'}"
    notes[0] += "."
    if k is None or sizes is None:
        return notes
    if changed < 0.5 and _others(sizes, k) < 0.5:
        enough = _enough(sizes)
        wanted = (
            f"From about k = {enough:,} (p = {100 * enough / n:.2g} %) on, half of them would."
            if enough < n
            else "One value is so frequent that no k changes half of them."
        )
        notes.append(
            f"{name}: few values changed, since {n:,} records share {np.count_nonzero(sizes):,} values and the "
            f"{k:,} nearest records mostly have the same value. {wanted}"
        )
    return notes


def raw(column: Column) -> NDArray[Any]:
    """The values or codes of a column."""
    if isinstance(column, ContinuousColumn):
        return column.values
    return column.codes


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _others(sizes: Int, k: int) -> float:
    """The share of other values among the k nearest records, over all records, if the nearest are the equal ones."""
    return float((sizes * np.maximum(k - sizes + 1, 0)).sum() / (sizes.sum() * k))


def _enough(sizes: Int) -> int:
    """The smallest k at which half of the values in the intervals are others."""
    low, high = 1, int(sizes.sum())
    while low < high:
        middle = (low + high) // 2
        if _others(sizes, middle) >= 0.5:
            high = middle
        else:
            low = middle + 1
    return low
