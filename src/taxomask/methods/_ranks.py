"""Ranks: a random order of ties, average ranks, and values put back by rank."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .._support.sorting import Sortable, in_order, stable_order
from ..microdata import Column, ContinuousColumn
from ..semantics.ordering import Keys, category_ranks

__all__ = ["centred_ranks", "placed", "random_order", "stable_order"]

_Value = TypeVar("_Value", np.float64, np.int32)


def random_order(keys: Keys, rng: np.random.Generator) -> NDArray[np.int64]:
    """The positions of keys from the smallest to the largest; equal ones in random order."""
    shuffled = rng.permutation(len(keys))
    return shuffled[stable_order(keys[shuffled])]


def centred_ranks(keys: Sortable) -> NDArray[np.float64]:
    """2·rank − (n + 1) for each of n keys, which is an integer; equal keys share the average of their ranks."""
    n = len(keys)
    if keys.dtype.kind == "i":
        sizes = np.bincount(keys)
        return (2 * np.cumsum(sizes) - sizes - n).astype(np.float64)[keys]
    order, new = in_order(keys)
    ranks = np.empty(n)
    if new.all():
        ranks[order] = np.arange(1.0 - n, n, 2)
    else:
        edges = np.concatenate([[0], np.flatnonzero(new) + 1, [n]])
        ranks[order] = np.repeat((edges[1:] + edges[:-1] - n).astype(np.float64), np.diff(edges))
    return ranks


def placed(column: Column, rows: NDArray[np.int64], n: int | None = None) -> Column:
    """The values of a column, from the first to the last in its order, put at these rows in turn.

    The other cells of the n records (by default as many as before) are missing. If there are more or fewer rows than
    values, the j-th of m rows gets the value at the same quantile, that of rank ⌈(j − ½) · values / m⌉.
    """
    n = len(column) if n is None else n
    if isinstance(column, ContinuousColumn):
        values = np.full(n, np.nan)
        values[rows] = _at_quantiles(np.sort(column.values)[: int((~column.missing).sum())], len(rows))
        return column.with_values(values)
    order = np.argsort(category_ranks(column)).astype(np.int32)
    codes = np.full(n, -1, dtype=np.int32)
    codes[rows] = _at_quantiles(np.repeat(order, column.counts[order]), len(rows))
    return column.with_codes(codes)


def _at_quantiles(values: NDArray[_Value], m: int) -> NDArray[_Value]:
    n = len(values)
    if n == m:
        return values
    return values[-(-np.arange(1, 2 * m, 2) * n // (2 * m)) - 1]  # rounded up
