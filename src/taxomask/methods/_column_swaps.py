"""Semantic rank swapping of one attribute: along one ranking (Algorithm 1), or at opposite ends (Algorithm 2)."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ..semantics import category_marginality
from ._swapping import Places, Swaps, distinct, free_set, largest, seeded, swap_along

__all__ = ["swap_at_ends", "swap_by_ranking"]

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
    outermost = int(rng.choice(_most_distant(column, values, sizes)))
    if not _has_no_order(column):
        away = np.abs(values - values[outermost])
    elif isinstance(column, TaxonomicColumn):
        away = column.table[outermost]
    else:
        away = (np.arange(len(values)) != outermost).astype(float)
    ranks = np.unique(away, return_inverse=True)[1].astype(np.int32)
    swaps = swap_along(ranks[codes], k, rng, whole=whole)
    return Swaps(rows[swaps.pairs], swaps.candidates)


def swap_at_ends(column: Column, k: int, whole: bool, rng: np.random.Generator) -> Swaps:
    """Algorithm 2: intervals around each value, each as far as possible from the last."""
    rows, codes, values = distinct(column)
    n = len(rows)
    if not n:
        return _nothing()
    values = _subtractable(values)
    places = Places.of(codes, len(values), np.arange(n))
    first = places.any_of(_most_distant(column, values, np.diff(places.start)), rng)
    k = min(k, n - 1)
    pairs, candidates = np.empty((n, 2), dtype=np.int64), np.empty(n, dtype=np.int64)
    if _has_no_order(column):
        steps = _swap_categories(column, places, first, k, whole, seeded(rng), (pairs, candidates))
    else:
        from ._line_swap_kernels import swap_numbers_at_ends

        steps = swap_numbers_at_ends(
            first, k, whole, values, places.start, places.codes, free_set(n), seeded(rng), pairs, candidates,
        )  # fmt: skip
    return Swaps(rows[places.records[pairs[:steps]]], candidates[:steps])


def _swap_categories(
    column: CategoricalColumn,
    places: Places,
    first: int,
    k: int,
    whole: bool,
    state: NDArray[np.uint64],
    log: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> int:
    from ._category_swap_kernels import find_borders, swap_at_ends

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
    steps: int = swap_at_ends(
        first, k, whole, places.start, places.codes.astype(np.uint16), order, border, walk,
        free_set(len(places.codes)), state, *log,
    )  # fmt: skip
    return steps


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


def _most_distant(column: Column, values: Float, sizes: NDArray[np.int64]) -> NDArray[np.intp]:
    """The codes of the values with the largest sum of distances to all values; several if they are tied."""
    if _has_no_order(column):
        return largest(np.where(sizes > 0, category_marginality(column), -1.0))
    ends = np.flatnonzero(sizes)[[0, -1]]
    shares = sizes / sizes.sum()
    sums = np.array([shares @ np.abs(values - values[end]) for end in ends])
    return np.unique(ends[largest(sums)])


def _subtractable(values: Float) -> Float:
    """The numbers, in another unit if they are so large that a difference of two would not be finite."""
    return values / 4 if np.abs(values).max() > 2.0**1021 else values


def _has_no_order(column: Column) -> TypeGuard[CategoricalColumn]:
    """Whether values are categories at semantic distances; others are on a line, at distances of numbers."""
    return not isinstance(column, ContinuousColumn) and column.attribute.kind != Kind.ORDINAL


def _nothing() -> Swaps:
    return Swaps(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64))
