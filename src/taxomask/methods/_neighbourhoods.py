"""Values within a radius of other values, and random draws among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn
from ..partition import Groups

__all__ = [
    "Candidates",
    "Draw",
    "by_code",
    "by_number",
    "category_distances",
    "farthest_in_group",
    "radii",
    "rotated",
    "rows_by_code",
]

Candidates = Literal["observed", "domain"]
Draw = Literal["frequency", "uniform"]
Float = NDArray[np.float64]


def radii(values: Float, groups: Groups) -> Float:
    """For each number the largest difference to a number of its group; NaN where it is missing."""
    lowest = np.full(len(groups.sizes), np.inf)
    highest = np.full(len(groups.sizes), -np.inf)
    present = ~np.isnan(values)
    np.minimum.at(lowest, groups.numbers[present], values[present])
    np.maximum.at(highest, groups.numbers[present], values[present])
    return np.maximum(values - lowest[groups.numbers], highest[groups.numbers] - values)


def farthest_in_group(column: CategoricalColumn, groups: Groups) -> Float:
    """For each category the largest distance to a category of its group; NaN where it is missing."""
    from ..partition._aggregate_kernels import group_radii

    if isinstance(column, TaxonomicColumn):
        codes = np.ascontiguousarray(column.codes)
        return np.asarray(group_radii(groups.order, groups.start, codes, column.table))
    return radii(np.where(column.missing, np.nan, column.codes), groups)


def by_number(
    column: ContinuousColumn, radius: Float, candidates: Candidates, draw: Draw, rng: np.random.Generator
) -> ContinuousColumn:
    """Every number replaced by a random one within its radius."""
    values = column.values.copy()
    present = ~column.missing
    x, r = values[present], radius[present]
    if candidates == "domain":
        values[present] = _from_interval(x, r, rng)
    else:
        known = np.sort(x) if draw == "frequency" else np.unique(x)
        low = np.searchsorted(known, x - r, side="left")
        high = np.searchsorted(known, x + r, side="right")
        drawn = known[rng.integers(low, np.maximum(high, low + 1))]
        values[present] = np.where(np.abs(drawn - x) <= r, drawn, x)  # rounding of x ± r must not let one out
    return column.with_values(values)


def _from_interval(x: Float, r: Float, rng: np.random.Generator) -> Float:
    """Uniform in [x - r, x + r] and in the range of the attribute; whole numbers if all of them are."""
    low, high = np.maximum(x - r, x.min(initial=np.inf)), np.minimum(x + r, x.max(initial=-np.inf))
    if (x == np.rint(x)).all():
        return low + np.floor(rng.random(len(x)) * (high - low + 1))
    drawn = low + rng.random(len(x)) * (high - low)
    return np.where(np.abs(drawn - x) <= r, drawn, x)


def by_code(
    column: CategoricalColumn, radius: Float, candidates: Candidates, draw: Draw, rng: np.random.Generator
) -> CategoricalColumn:
    """Every category replaced by a random one within its radius."""
    if candidates == "domain" and isinstance(column, TaxonomicColumn):
        column = column.including(column.scopes[0].concepts)
    weight = column.counts if candidates == "observed" else np.ones(len(column.categories), dtype=np.int64)
    if draw == "uniform":
        weight = np.minimum(weight, 1)
    codes = column.codes.copy()
    uniform = rng.random(len(codes))
    for code, rows in rows_by_code(column.codes, len(column.categories)):
        away = category_distances(column, code)
        nearest_first = np.argsort(away, kind="stable")
        within = np.searchsorted(away[nearest_first], radius[rows], side="right")
        total = np.concatenate([[0], np.cumsum(weight[nearest_first])])
        ticket = np.floor(uniform[rows] * total[within]).astype(np.int64)
        codes[rows] = nearest_first[np.searchsorted(total, ticket, side="right") - 1]
    return column.with_codes(codes)


def rows_by_code(codes: NDArray[np.integer[Any]], categories: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each code that occurs, with its rows; -1 left out."""
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(categories + 1))
    for code in np.flatnonzero(np.diff(bounds)).tolist():
        yield code, order[bounds[code] : bounds[code + 1]]


def category_distances(column: CategoricalColumn, code: int) -> Float:
    """The distances of one category to all others: semantic, or in positions for an ordinal attribute."""
    if not isinstance(column, TaxonomicColumn):
        return np.abs(np.arange(len(column.categories)) - code).astype(float)
    if column.further is not None or column.has_table:
        return column.table[code]
    return column.scopes[0].taxonomy.table(
        column.positions[code : code + 1], column.positions, distance=column.attribute.distance, scope=column.scopes[0]
    )[0]


def rotated(
    columns: list[Column], drawn: Mapping[str, Column], groups: Groups, rng: np.random.Generator
) -> dict[str, Column]:
    """Numbers regenerated in each group with exactly its means and covariances.

    The group's deviations from its means are multiplied by a random orthogonal matrix that leaves constant vectors
    alone: all first and second moments stay, the records change. Records with a missing number keep what was drawn.
    """
    numbers = [column for column in columns if isinstance(column, ContinuousColumn)]
    original = np.column_stack([column.values for column in numbers])
    values = np.column_stack([drawn[column.attribute.name].numbers() for column in numbers])
    complete = np.asarray(~np.isnan(original).any(axis=1))
    for group in range(len(groups.sizes)):
        rows = groups.members(group)
        rows = rows[complete[rows]]
        if len(rows) > 1:
            middle = original[rows].mean(axis=0)
            values[rows] = middle + _rotate(original[rows] - middle, rng)
    return {column.attribute.name: column.with_values(values[:, i]) for i, column in enumerate(numbers)}


def _rotate(deviations: Float, rng: np.random.Generator) -> Float:
    """A random rotation within the vectors that sum to 0."""
    n = len(deviations)
    # An orthonormal basis whose first vector is constant; the deviations live in the others.
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0][:, 1:]
    q, r = np.linalg.qr(rng.standard_normal((n - 1, n - 1)))
    turned = basis @ ((q * np.sign(np.diag(r))) @ (basis.T @ deviations))
    return turned - turned.mean(axis=0)
