"""Numbers that anybody can compute from two columns: days between two dates, a total, a product, a price for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .seen import Seen
from .telling import few

__all__ = ["LEAST", "MOST", "Computed", "computed", "numbers_to_combine"]

MOST = 12  # columns of numbers, of which all pairs are looked at
LEAST = 0.8  # what a number that is near, but not the same in another unit, must tell for sure
_LOOK = 512  # records of a first look
_FOLLOWS = 0.6  # rank correlation in these, from which on all records are looked at
_SMALLEST = 10  # different values of a number that others are computed from, and records that are compared

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Computed:
    """What columns give together: the places of the columns, how it reads, and the number in each record."""

    places: tuple[int, ...]
    words: str
    numbers: Floats


def numbers_to_combine(columns: Sequence[Seen]) -> list[int]:
    """The places of the columns of numbers that are put together: those with the most values."""
    numeric = [place for place, one in enumerate(columns) if one.amounts is not None and one.size >= _SMALLEST]
    return sorted(sorted(numeric, key=lambda place: -columns[place].size)[:MOST])


def computed(columns: Sequence[Seen], left_out: set[int], numbers: Floats) -> Iterator[Computed]:
    """Sums, differences, products and quotients of two columns that go in the order of a number, or against it.

    Columns ``left_out`` tell it by themselves.
    """
    rows = few(len(numbers))
    rows = rows[np.arange(min(_LOOK, len(rows))) * len(rows) // max(min(_LOOK, len(rows)), 1)]
    places = [place for place in numbers_to_combine(columns) if place not in left_out]
    for pair in combinations(places, 2):
        (first, a), (second, b) = ((columns[place].name, columns[place].amounts) for place in pair)
        assert a is not None
        assert b is not None
        some = dict(_combined(first, second, a[rows], b[rows]))
        likely = {words for words, one in some.items() if abs(_rank_correlation(one, numbers[rows])) >= _FOLLOWS}
        if likely:
            every = _combined(first, second, a, b)
            yield from (Computed(pair, words, one) for words, one in every if words in likely)


def _combined(first: str, second: str, a: Floats, b: Floats) -> Iterator[tuple[str, Floats]]:
    """What two numbers give; NaN where that is no number."""
    with np.errstate(all="ignore"):  # numbers may be as large as they come, and zero
        made = (
            (f"{first} − {second}", a - b),
            (f"{first} + {second}", a + b),
            (f"{first} × {second}", a * b),
            (f"{first} ÷ {second}", a / b),
            (f"{second} ÷ {first}", b / a),
        )
    for words, numbers in made:
        yield words, np.where(np.isfinite(numbers), numbers, np.nan)


def _rank_correlation(x: Floats, y: Floats) -> float:
    """Of the records that have both numbers; 0 if one of them is the same in all."""
    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < _SMALLEST:
        return 0.0
    a, b = (_ranks(one[both]) for one in (x, y))
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0


def _ranks(numbers: Floats) -> Floats:
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts / 2)[inverse]
