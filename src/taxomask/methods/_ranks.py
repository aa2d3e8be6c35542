"""Values put back by rank, ties in random order."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._support.sorting import stable_order
from ..engines import Engine
from ..microdata import Column, ContinuousColumn
from ..semantics.ordering import Keys, category_ranks

__all__ = ["nth_code", "placed", "put_back", "random_order", "random_order_on"]

_BITS = 31
_Value = TypeVar("_Value", np.float64, np.int32)


def random_order(keys: Keys, rng: np.random.Generator) -> NDArray[np.int64]:
    """The positions of keys from the smallest to the largest; equal ones in random order."""
    shuffled = rng.permutation(len(keys))
    return shuffled[stable_order(keys[shuffled])]


def random_order_on(
    engine: Engine, keys: Keys | NDArray[np.int64], rng: np.random.Generator, what: str
) -> NDArray[np.int64]:
    """The same of long columns, whose missing keys, NaN or negative integers, are left out.

    Equal keys are told apart by 31 random bits, and the few that share these by their position.
    """
    if keys.dtype != np.int32:
        keys = engine.each(_numbers_of, [keys, engine.rank(keys, what)], len(keys), what=what)
    return engine.order(engine.each(_with_random_bits, [keys], what=what, rng=rng), what)


def _numbers_of(keys: NDArray[Any], ranks: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    missing = np.isnan(keys) if keys.dtype.kind == "f" else keys < 0
    return np.where(missing, -1, ranks + (n - 1)).astype(np.int64)


def _with_random_bits(keys: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.int64]:
    wide = keys.astype(np.int64)
    return np.where(wide < 0, -1, (wide << _BITS) | rng.integers(0, 1 << _BITS, len(keys)))


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


def put_back(engine: Engine, column: Column, rows: NDArray[np.int64]) -> Column:
    """The values of a column, from the first to the last in its order, put at these rows in turn; others are missing.

    There must be a row for each value.
    """
    if isinstance(column, ContinuousColumn):
        return column.with_cells(
            engine.move(engine.sort(column.values, "sorting"), rows, n=len(column), fill=np.nan, what="moving")
        )
    counts = engine.count(column)
    order = np.argsort(category_ranks(column.outline(counts))).astype(np.int32)
    codes = engine.each(nth_code, [range(len(rows))], order, np.cumsum(counts[order]), what="sorting")
    return column.with_cells(engine.move(codes, rows, n=len(column), fill=-1, what="moving"))


def nth_code(rows: range, order: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """The codes at some places of a sorted column; each category in turn ends at a place."""
    inside = np.concatenate([[rows.start], np.clip(ends, rows.start, rows.stop)])
    return np.repeat(order, inside[1:] - inside[:-1])


def _at_quantiles(values: NDArray[_Value], m: int) -> NDArray[_Value]:
    n = len(values)
    if n == m:
        return values
    return values[-(-np.arange(1, 2 * m, 2) * n // (2 * m)) - 1]  # rounded up
