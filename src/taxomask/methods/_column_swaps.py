"""Semantic rank swapping of one attribute: along one ranking (Algorithm 1), or at opposite ends (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ..semantics import category_marginality
from ._swapping import Places, Swaps, distinct, free_set, largest, seeded, swap_along

__all__ = ["distances_from", "has_no_order", "most_distant", "steps_at_ends", "swap_at_ends", "swap_by_ranking"]

Float = NDArray[np.float64]
Rows = NDArray[np.uint16]
_MOST = 20_000  # categories; the table of their distances has 3 GB then


def swap_by_ranking(column: Column, k: int, whole: bool, rng: np.random.Generator) -> Swaps:
    """Algorithm 1: rank all values once, by their distance from the most distant one."""
    rows, codes, values = distinct(column)
    if not len(rows):
        return _nothing()
    values = _subtractable(values)
    sizes = np.bincount(codes, minlength=len(values))
    outermost = int(rng.choice(most_distant(column, values, sizes)))
    ranks = np.unique(distances_from(column, values, outermost), return_inverse=True)[1].astype(np.int32)
    swaps = swap_along(ranks[codes], k, rng, whole=whole)
    return Swaps(rows[swaps.pairs], swaps.candidates)


def distances_from(column: Column, values: Float, code: int) -> Float:
    """How far each different value of a column is from one of them."""
    if not has_no_order(column):
        return np.abs(values - values[code])
    if isinstance(column, TaxonomicColumn):
        distances: Float = column.table[code]
        return distances
    return (np.arange(len(values)) != code).astype(float)


def swap_at_ends(column: Column, k: int, whole: bool, rng: np.random.Generator) -> Swaps:
    """Algorithm 2: intervals around each value, each as far as possible from the last."""
    rows, codes, values = distinct(column)
    n = len(rows)
    if not n:
        return _nothing()
    values = _subtractable(values)
    places = Places.of(codes, len(values), np.arange(n))
    (found,) = steps_at_ends(column, values, places, k, whole, rng, n)
    return Swaps(rows[places.records[found.pairs]], found.candidates)


def steps_at_ends(
    column: Column, values: Float, places: Places, k: int, whole: bool, rng: np.random.Generator, room: int
) -> Iterator[Swaps]:
    """The swaps of Algorithm 2 between places, at most so many at a time."""
    n = int(places.start[-1])
    first = places.any_of(most_distant(column, values, np.diff(places.start)), rng)
    k, at, state, free = min(k, n - 1), np.array([first, n]), seeded(rng), free_set(n)
    if has_no_order(column):
        categories = _walk_of(column, places, k, whole)
    while at[1]:
        pairs, candidates = np.empty((room, 2), dtype=np.int64), np.empty(room, dtype=np.int64)
        if has_no_order(column):
            from ._category_swap_kernels import swap_at_ends

            steps = swap_at_ends(at, k, whole, places.start, *categories, free, state, pairs, candidates)
        else:
            from ._line_swap_kernels import swap_numbers_at_ends

            codes = places.codes, places.grain
            steps = swap_numbers_at_ends(at, k, whole, values, places.start, codes, free, state, pairs, candidates)
        yield Swaps(pairs[:steps], candidates[:steps])


def _walk_of(column: CategoricalColumn, places: Places, k: int, whole: bool) -> tuple[Any, ...]:
    """What the kernel for categories is given: those of the places, their neighbours, borders, and where it is."""
    from ._category_swap_kernels import find_borders

    order = _neighbours(column)
    border = np.zeros((len(order), 4), dtype=np.int64)
    if not whole:
        find_borders(k, places.start, order, border)
    c = len(order)
    walk = (
        np.diff(places.start).astype(np.int32),
        np.zeros(c, dtype=np.int64),
        np.tile(np.array([c, c - 1, 0]), (c, 1)),
        np.empty((c, c // 64 + 1), dtype=np.uint64),
    )
    return places.codes.astype(np.uint16), places.grain, order, border, walk


def _neighbours(column: CategoricalColumn) -> NDArray[np.uint16]:
    """For each category all categories by distance, the last of those that are tied marked by `LAST`."""
    from ._category_swap_kernels import LAST, distinct_distances, sort_rows

    c = len(column.categories)
    if c > _MOST:
        raise DataError(
            f"column {column.attribute.name!r} has {c:,} different categories; rank swapping can treat {_MOST:,}.",
            hint="Use RandomSwapping, or generalise the column first.",
        )
    order = np.empty((c, c), dtype=np.uint16)
    if not isinstance(column, TaxonomicColumn):  # one's own category, then all others
        each = np.arange(c)
        order[:] = each
        order[each, each], order[:, 0] = 0, each
        order[:, [0, -1]] |= LAST
        return order
    keys, slots = np.full(1 << 16, np.nan), np.full(1 << 16, -1, dtype=np.int32)
    if distinct_distances(column.table, keys, slots) >= 0:
        known = slots >= 0
        different, ranks = np.unique(keys[known], return_inverse=True)
        slots[known] = ranks
        sort_rows(column.table, keys, slots, len(different), order)
        return order
    for row, distances in zip(order, column.table, strict=True):  # distances that hardly tie
        row[:] = np.argsort(distances, kind="stable")
        row[np.append(np.diff(distances[row]) > 0, True)] |= LAST
    return order


def most_distant(column: Column, values: Float, sizes: NDArray[np.int64]) -> NDArray[np.intp]:
    """The codes of the values with the largest sum of distances to all values; several if they are tied."""
    if has_no_order(column):
        return largest(np.where(sizes > 0, category_marginality(column), -1.0))
    ends = np.flatnonzero(sizes)[[0, -1]]
    shares = sizes / sizes.sum()
    sums = np.array([shares @ np.abs(values - values[end]) for end in ends])
    return np.unique(ends[largest(sums)])


def _subtractable(values: Float) -> Float:
    """The numbers, in another unit if they are so large that a difference of two would not be finite."""
    return values / 4 if np.abs(values).max() > 2.0**1021 else values


def has_no_order(column: Column) -> TypeGuard[CategoricalColumn]:
    """Whether values are categories at semantic distances; others are on a line, at distances of numbers."""
    return not isinstance(column, ContinuousColumn) and column.attribute.kind != Kind.ORDINAL


def _nothing() -> Swaps:
    return Swaps(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64))
