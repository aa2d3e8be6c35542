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
    "check_interval",
    "distinct",
    "exchanged",
    "free_set",
    "interval_size",
    "largest",
    "raw",
    "seeded",
    "swap_along",
    "swapped",
]

Int = NDArray[np.int64]
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
class Places:
    """Records in order of their code.

    Parameters
    ----------
    records
        The record at each place.
    codes
        The code of each place.
    start
        The first place of each code, and the number of places.
    """

    records: Int
    codes: NDArray[np.int32]
    start: Int

    @classmethod
    def of(cls, codes: NDArray[np.int32], categories: int, sequence: Int) -> Places:
        """Put records in order; those of equal codes stand in the given sequence of all records."""
        from ._swap_kernels import arrange

        sizes = np.bincount(codes, minlength=categories)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        records = np.empty(len(codes), dtype=np.int64)
        arrange(np.ascontiguousarray(codes), sequence, start, records)
        return cls(records, np.repeat(np.arange(categories, dtype=np.int32), sizes), start)

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

    packed = np.packbits(np.ones(places, dtype=bool) if isinstance(places, int) else places, bitorder="little")
    words = len(packed) // 8 + 1
    bits = np.zeros(8 * words, dtype=np.uint8)
    bits[: len(packed)] = packed
    free = bits.view("<u8").astype(np.uint64), np.zeros(words + 1, dtype=np.int32)
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
    steps = swap_along(n, k, places.start[places.codes + 1], whole, free_set(n), seeded(rng), pairs, candidates)
    return Swaps(places.records[pairs[:steps]], candidates[:steps])


def swapped(data: Microdata, swaps: Mapping[str, Swaps], k: int | None = None) -> Masked:
    """The table with the values of each attribute exchanged, and what to say about it."""
    columns, notes = {}, []
    for name, one in swaps.items():
        columns[name] = exchanged(data.columns[name], one.pairs)
        notes += _notes(data.columns[name], columns[name], one, k)
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


def _notes(before: Column, after: Column, swaps: Swaps, k: int | None) -> list[str]:
    """How much the swaps of an attribute changed, and what to do if it was little."""
    name, n = before.attribute.name, int((~before.missing).sum())
    if not n:
        return [f"{name}: all values are missing; nothing was swapped."]
    moved = int((swaps.pairs[:, 0] != swaps.pairs[:, 1]).sum())
    changed = int((raw(before) != raw(after))[~before.missing].sum()) / n
    stayed = 1 - 2 * moved / n
    candidates = swaps.candidates[swaps.candidates > 0]
    choice = f"a median of {np.median(candidates):,.0f} and at least {candidates.min():,}" if moved else "no"
    notes = [
        f"{name}: {_percent(stayed)} of the values stayed in place and {_percent(changed)} changed; "
        f"{choice} values to choose from per swap{'' if k is None else f' (k = {k:,})'}."
    ]
    if k is None:
        return notes
    sizes = np.bincount(distinct(before)[1])
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
