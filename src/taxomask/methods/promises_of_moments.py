"""Promises that means, variances and covariances are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column, Microdata
from ..microdata.casting import grain
from ..microdata.coding import code
from ..microdata.frames import Frame
from ._joint_moments import below_one, complete, joint_on, spread_on
from ._kept import released_column, released_on
from ._moments import binary_scale
from .base import Check, Masked, Promise

__all__ = ["ExactMoments", "KeptMoments", "MeanAndVariance", "moment_differences"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class ExactMoments(Promise):
    """In each group these attributes have the original means and covariances (over records without missing values).

    Within what half a unit of the last decimal does to them, where the schema gives decimals.
    """

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        assert masked.groups is not None
        columns = [original.columns[name] for name in self.attributes]
        before = np.column_stack([column.numbers() for column in columns])
        after = np.column_stack([code(released, column.attribute).column.numbers() for column in columns])
        scale = np.fmax.reduce(np.abs(before - np.fmin.reduce(before, axis=0)), axis=0)  # NaN if all are missing
        complete = np.asarray(~np.isnan(before).any(axis=1))
        unit = np.where(scale > 0, scale, 1.0)
        half = half_units(original, self.attributes) / unit
        worst, holds = 0.0, True
        for group in range(len(masked.groups.sizes)):
            rows = masked.groups.members(group)
            rows = rows[complete[rows]]
            if len(rows) > 1:
                difference, within = moment_differences(before[rows] / unit, after[rows] / unit, half)
                worst, holds = float(np.max([worst, difference])), holds and within  # NaN stays: a value was lost
        return Check(
            f"the means and covariances of {', '.join(self.attributes)} are kept in every group",
            holds,
            f"largest difference {worst:.1e} of the range",
        )


@dataclass(frozen=True)
class MeanAndVariance(Promise):
    """Each of these numbers has its original mean and variance, over the values that are there before and after.

    A number that is released as one value has a mean only. Dates and decimals are rounded when they are written, and
    numbers where the schema gives decimals; their means and standard deviations may differ by that.
    """

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        kept: dict[str, list[str]] = {"mean and variance": [], "mean": []}
        worst, holds = 0.0, True
        for name in self.attributes:
            x, y = (_present(one) for one in (original.columns[name], code(released, original.schema[name]).column))
            if not len(x) or not len(y):
                continue
            moved = max(_rounded_by(released, name, x), float(half_units(original, (name,))[0]))
            scale = binary_scale(x)
            x, y, moved = x / scale, y / scale, moved / scale
            unit = float(np.ptp(x) + 1e-8 * np.abs(x).max()) or 1.0  # decimal files do not keep every bit
            single = np.ptp(y) == 0 < np.ptp(x)
            kept["mean" if single else "mean and variance"].append(name)
            origin, rounding = x.min(), 1e-7 + moved / unit
            means = abs((y - origin).mean() - (x - origin).mean()) / unit
            spreads = 0.0 if single else abs(_deviation(y - origin) - _deviation(x - origin)) / unit
            holds &= bool(means <= rounding and spreads <= 1.5 * rounding)  # of two records a deviation moves by 1.42
            worst = max(worst, means, spreads)
        said = [f"the {what} of {', '.join(names)}" for what, names in kept.items() if names]
        verb = "is" if not kept["mean and variance"] and len(kept["mean"]) == 1 else "are"
        return Check(
            f"{' and '.join(said)} {verb} kept" if said else "no number is left",
            holds,
            f"largest difference {worst:.1e} of the range",
        )


@dataclass(frozen=True)
class KeptMoments(Promise):
    """These attributes have the original means, variances and covariances, over records without missing values.

    Within what half a unit of the last decimal does to them, where the schema gives decimals.
    """

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        before, powers = below_one(np.column_stack([original.columns[name].numbers() for name in self.attributes]))
        after = np.column_stack([released_column(released, original, name).numbers() for name in self.attributes])
        after = np.ldexp(after, -powers)
        rows = complete(before)
        before, after = before[rows], after[rows]
        unit = _unit(before.min(axis=0), before.max(axis=0))
        middle, half = before.mean(axis=0), half_units(original, self.attributes) / unit
        return self._checked(*moment_differences((before - middle) / unit, (after - middle) / unit, half))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        before = [original.columns[name] for name in self.attributes]
        after = [released_on(engine, released, original, name) for name in self.attributes]
        powers = [spread_on(engine, column)[0] for column in before]
        low, high = engine.fold(_ends, _wider, before, powers, what="checking")
        unit = _unit(low, high)
        middle = joint_on(engine, before, powers, low).means + low
        half = half_units(original, self.attributes) / unit
        found = engine.fold(_differences, Differences.with_, [*before, *after], powers, middle, unit, what="checking")
        return self._checked(*found.explained_by(half))

    def _checked(self, difference: float, holds: bool) -> Check:
        what = "means and covariances" if len(self.attributes) > 1 else "mean and variance"
        return Check(
            f"the {what} of {', '.join(self.attributes)} are kept",
            holds,
            f"largest difference {difference:.1e} of the range",
        )


def half_units(data: Microdata, names: tuple[str, ...]) -> Float:
    """Half a unit of the last decimal that the schema gives each attribute; 0 where it gives none."""
    given = [data.schema[name].decimals for name in names]
    return np.array([0.5 * 10.0**-one if isinstance(one, int) else 0.0 for one in given])


def moment_differences(x: Float, y: Float, half: Float) -> tuple[float, bool]:
    """The largest difference of means and covariances, and whether numbers moved by up to ``half`` explain it all."""
    middle = x.mean(axis=0)
    return Differences.of(x - middle, y - middle).explained_by(half)


@dataclass(frozen=True, eq=False)
class Differences:
    """Sums over records of numbers that are counted from their original means: how they differ from those before."""

    count: int
    totals: Float
    sizes: Float
    products: Float

    @classmethod
    def of(cls, x: Float, y: Float) -> Differences:
        """Of numbers before and after."""
        return cls(len(x), y.sum(axis=0), np.abs(y).sum(axis=0), y.T @ y - x.T @ x)

    def with_(self, other: Differences) -> Differences:
        """Of both parts."""
        return Differences(
            self.count + other.count,
            self.totals + other.totals,
            self.sizes + other.sizes,
            self.products + other.products,
        )

    def explained_by(self, half: Float) -> tuple[float, bool]:
        """The largest difference of means and covariances, and whether numbers moved by up to ``half`` explain it."""
        n = max(self.count, 1)
        means, products = np.abs(self.totals / n), np.abs(self.products) / n
        one_moved = np.outer(half, self.sizes / n + half)
        explained = one_moved + one_moved.T + np.outer(half, half)
        holds = bool((means <= half + 1e-7).all() and (products <= explained + 1e-7).all())
        return float(np.max([means.max(), products.max()])), holds


def _rounded_by(released: Frame, name: str, values: Float) -> float:
    """By how much numbers are rounded, at most, by the type of the column that they are written to."""
    import pyarrow.types as types

    dtype = released.arrow_type(name)
    if dtype is not None and types.is_floating(dtype):
        return float(np.finfo(dtype.to_pandas_dtype()).eps) * float(np.abs(values).max())
    return 0.5 * grain(dtype)


def _present(column: Column) -> Float:
    values = column.numbers()
    return values[~np.isnan(values)]


def _deviation(values: Float) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _unit(low: Float, high: Float) -> Float:
    """The range of numbers, and a little of the largest: decimal files do not keep every bit."""
    unit = high - low + 1e-8 * np.maximum(np.abs(low), np.abs(high))
    return np.where(unit == 0, 1.0, unit)


def _ends(*columns_and_powers: Any) -> tuple[Float, Float]:
    """The smallest and the largest number of each column, brought below one, over complete records."""
    *columns, powers = columns_and_powers
    numbers = np.column_stack([np.ldexp(one.numbers(), -power) for one, power in zip(columns, powers, strict=True)])
    numbers = numbers[complete(numbers)]
    return numbers.min(axis=0, initial=np.inf), numbers.max(axis=0, initial=-np.inf)


def _wider(one: tuple[Float, Float], other: tuple[Float, Float]) -> tuple[Float, Float]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _differences(*columns_and_how: Any) -> Differences:
    """By how much the moments of complete records differ; of the columns the original ones come first."""
    *columns, powers, middle, unit = columns_and_how
    before, after = (
        np.column_stack([np.ldexp(one.numbers(), -power) for one, power in zip(some, powers, strict=True)])
        for some in (columns[: len(powers)], columns[len(powers) :])
    )
    rows = complete(before)
    return Differences.of((before[rows] - middle) / unit, (after[rows] - middle) / unit)
