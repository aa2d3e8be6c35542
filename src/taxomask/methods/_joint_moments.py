"""What numbers have in common, means, deviations and covariances: of whole tables, and added up chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column

__all__ = [
    "Joint",
    "below_one",
    "complete",
    "correlations",
    "deviation",
    "joint_on",
    "moved_to_moments_on",
    "root_of",
    "spread_on",
    "with_moments_of",
]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joint:
    """The means of several numbers, and the sums of the products of their differences from them.

    Of the records that have all of them. Those of two parts are put together as of Chan, Golub and LeVeque.
    """

    count: int
    means: Float
    products: Float

    @classmethod
    def of(cls, numbers: Float) -> Joint:
        """Of the rows of a table without missing values."""
        means = numbers.mean(axis=0) if len(numbers) else np.zeros(numbers.shape[1])
        away = numbers - means
        return cls(len(numbers), means, np.einsum("ij,ik->jk", away, away))

    def with_(self, other: Joint) -> Joint:
        """Of both parts."""
        count = self.count + other.count
        if not self.count or not other.count:
            return self if self.count else other
        apart = other.means - self.means
        means = self.means + apart * (other.count / count)
        products = self.products + other.products + np.outer(apart, apart) * (self.count * other.count / count)
        return Joint(count, means, products)

    @property
    def covariances(self) -> Float:
        return self.products / max(self.count, 1)

    @property
    def correlations(self) -> Float:
        """Correlations of numbers below one; 0 with what does not vary."""
        size = np.sqrt(self.products.diagonal())
        varies = size > 1e-12 * np.sqrt(self.count)
        unit = np.divide(1.0, size, out=np.zeros_like(size), where=varies)
        matrix: Float = self.products * np.outer(unit, unit)
        np.fill_diagonal(matrix, 1.0)
        return matrix


def complete(numbers: Float) -> NDArray[np.bool_]:
    """Which rows have no missing value."""
    return np.asarray(~np.isnan(numbers).any(axis=1))


def root_of(matrix: Float) -> tuple[Float, Float]:
    """The symmetric square root of a covariance matrix, and its inverse where there is one."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.where(values > 1e-12 * values.max(), values, 0.0))
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T


def below_one(numbers: Float) -> tuple[Float, NDArray[np.int64]]:
    """The columns of a table brought below 1 by powers of two, and these powers.

    No digit changes; but squares of 1e200 would be infinite, and those of 1e-200 zero.
    """
    powers = np.array([int(np.frexp(np.nanmax(np.abs(column), initial=0.0))[1]) for column in numbers.T])
    return np.ldexp(numbers, -powers), powers


def with_moments_of(x: Float, y: Float) -> Float:
    """y moved linearly so that its means and covariances are those of x.

    Of all such maps the one that moves standardised values least: A = F^(-1/2) (F^(1/2) W F^(1/2))^(1/2) F^(-1/2),
    with F the covariance matrix found and W the one wanted, both in units of the deviations of x.
    """
    origin = x[0]
    middle = (x - origin).mean(axis=0)
    scale = x.std(axis=0)
    scale[scale == 0] = 1.0
    a = (x - origin - middle) / scale
    b = (y - y.mean(axis=0)) / scale
    wanted, found = (np.einsum("ij,ik->jk", z, z) / len(z) for z in (a, b))
    root, inverse = root_of(found)
    move = inverse @ root_of(root @ wanted @ root)[0] @ inverse
    moved = np.einsum("ij,jk->ik", b, move)
    return np.asarray(origin + (middle + (moved - moved.mean(axis=0)) * scale))


def correlations(values: Float) -> Float:
    """Correlations; 0 with what does not vary."""
    deviations = values - values.mean(axis=0)
    size = np.sqrt(np.square(deviations).sum(axis=0))
    varies = size > 1e-12 * np.abs(values).max(axis=0) * np.sqrt(len(values))
    unit = np.divide(deviations, size, out=np.zeros_like(deviations), where=varies)
    matrix = np.einsum("ij,ik->jk", unit, unit)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def deviation(values: Float) -> float:
    """The standard deviation of the values that are not missing; exactly 0 if they are all the same."""
    present = values[~np.isnan(values)]
    return float(np.std(present - present[0], ddof=1)) if len(present) > 1 else 0.0


def joint_on(
    engine: Engine, known: Sequence[Column], powers: Sequence[int], origins: Float, rows: Sequence[Any] | None = None
) -> Joint:
    """What numbers have in common, brought below one by powers of two and counted from an origin of each.

    Of the records in which those of the columns are known; of other numbers in the same ``rows``, if they are given.
    """
    columns = [*known, *(known if rows is None else rows)]
    return engine.fold(_joint, Joint.with_, columns, tuple(powers), origins, rows is None, what="adding up")


def moved_to_moments_on(
    engine: Engine, columns: Sequence[Column], noisy: Sequence[Float], powers: Sequence[int]
) -> list[Float]:
    """Noisy numbers moved linearly so that their means and covariances are those of the columns; see `with_moments_of`.

    Noisy numbers are below one, and so is what comes back; records with a missing number stay as they are.
    """
    firsts = [
        engine.fold(_first, _earlier, [one], power, what="adding up")
        for one, power in zip(columns, powers, strict=True)
    ]
    origins = np.array(firsts)
    wanted, found = joint_on(engine, columns, powers, origins), joint_on(engine, columns, powers, origins, noisy)
    scale = np.sqrt(wanted.covariances.diagonal())
    scale[scale == 0] = 1.0
    outer = np.outer(scale, scale)
    root, inverse = root_of(found.covariances / outer)
    move = inverse @ root_of(root @ (wanted.covariances / outer) @ root)[0] @ inverse
    items = [*columns, *noisy]
    moved = engine.each(_moved, items, origins, wanted.means, found.means, scale, move, what="masking", main=True)
    return list(moved)


def _first(column: Column, power: int) -> float:
    present = column.numbers()[~column.missing]
    return float(np.ldexp(present[0], -power)) if len(present) else np.nan


def _earlier(one: float, other: float) -> float:
    return other if np.isnan(one) else one


def _joint(*columns_and_how: Any) -> Joint:
    *columns, powers, origins, are_columns = columns_and_how
    known, rows = columns[: len(powers)], columns[len(powers) :]
    there = complete(np.column_stack([one.numbers() for one in known]))
    if are_columns:
        rows = [np.ldexp(one.numbers(), -power) for one, power in zip(rows, powers, strict=True)]
    return Joint.of(np.column_stack(rows)[there] - origins)


def _moved(*columns_and_how: Any) -> tuple[Float, ...]:
    *columns, origins, wanted, found, scale, move = columns_and_how
    known, noisy = columns[: len(scale)], np.column_stack(columns[len(scale) :])
    rows = complete(np.column_stack([one.numbers() for one in known]))
    away = (noisy[rows] - origins - found) / scale
    noisy[rows] = origins + (wanted + np.einsum("ij,jk->ik", away, move) * scale)
    return tuple(np.ascontiguousarray(one) for one in noisy.T)


def spread_on(engine: Engine, column: Column) -> tuple[int, float]:
    """The power of two that brings a column below one, and its standard deviation then; 0 if all is the same."""
    largest, origin = engine.fold(_largest, _of_both, [column], what="adding up")
    power = int(np.frexp(largest)[1])
    count, total = engine.fold(_total, _sum, [column], power, origin, what="adding up")
    if count < 2:
        return power, 0.0
    _, squares = engine.fold(_squares, _sum, [column], power, origin, total / count, what="adding up")
    return power, float(np.sqrt(squares / (count - 1)))


def _largest(column: Column) -> tuple[float, float]:
    """The largest number, whatever its sign, and the first one; 0 and NaN if there is none."""
    present = column.numbers()[~column.missing]
    return float(np.abs(present).max(initial=0.0)), float(present[0]) if len(present) else np.nan


def _of_both(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], two[0]), two[1] if np.isnan(one[1]) else one[1]


def _away(column: Column, power: int, origin: float) -> Float:
    """How far the numbers are from one of them, brought below one."""
    return np.ldexp(column.numbers()[~column.missing], -power) - np.ldexp(origin, -power)


def _total(column: Column, power: int, origin: float) -> tuple[int, float]:
    away = _away(column, power, origin)
    return len(away), float(away.sum())


def _squares(column: Column, power: int, origin: float, mean: float) -> tuple[int, float]:
    away = _away(column, power, origin)
    return len(away), float(np.square(away - mean).sum())


def _sum(one: tuple[int, float], two: tuple[int, float]) -> tuple[int, float]:
    return one[0] + two[0], one[1] + two[1]
