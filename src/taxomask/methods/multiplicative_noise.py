from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..engines import Engine, Memory
from ..errors import SchemaError
from ..microdata import Column, ContinuousColumn, Kind, Microdata
from ..microdata.frames import Frame
from ._attributes import treatable
from ._kept import MissingStays, released_column, released_on
from .base import Check, Limits, Masked, Method, Progress, Promise, own_generators
from .likelihood import CodeEvidence, Evidence, Likelihood, NumberEvidence, grid, same_presence

__all__ = ["KeptSigns", "MultiplicativeNoise"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class MultiplicativeNoise(Method):
    """Every number is multiplied by a random factor with mean 1.

    y = x·f, with f independent of x, of mean 1 and standard deviation ``amount``: large values change more than small
    ones, and means stay as they are in expectation. The variance s² becomes s² + amount²·(s² + mean²). Zeros stay zero,
    which is noted, and missing values missing. Not for dates, whose zero is arbitrary.

    Parameters
    ----------
    amount
        The standard deviation of the factors.
    distribution
        Of the factors: ``"lognormal"``, always positive, so that every value keeps its sign, or ``"normal"``.
    attributes
        The columns to protect; by default all continuous quasi-identifiers.

    References
    ----------
    Kim, Winkler (2003), Multiplicative noise for masking continuous data, US Census Bureau, Research Report Series
    (Statistics 2003-01).

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"cost": [0.0, 10.0, 1000.0, -50.0]})
    >>> schema = tm.Schema([tm.Attribute("cost", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.MultiplicativeNoise(0.2), seed=1)
    >>> [(y > 0) - (y < 0) for y in release.data["cost"].to_pylist()]
    [0, 1, 1, -1]
    """

    amount: Annotated[float, Gt(0), Le(100), Slider(0.01, 1, 0.01), "0.1 is a common choice."] = 0.1
    distribution: Literal["lognormal", "normal"] = "lognormal"
    attributes: Sequence[str] | None = None

    name = "multiplicative_noise"
    about = "Multiplies every number by a random factor close to 1."
    reference = "Kim, Winkler (2003), Multiplicative noise for masking continuous data"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        return self.mask_on(Memory().telling(progress), data, rng)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if engine.in_one_job(data.n):
            return super().mask_on(engine, data, rng)
        names = self._attributes(data)
        columns, notes = {}, []
        for name, own in zip(names, own_generators(rng, len(names)), strict=True):
            column, grain = data.continuous(name), data.grain(name)
            columns[name], found = engine.each(_multiplied, [column], self, grain, what="masking", rng=own, main=True)
            if zeros := sum(found):
                notes.append(f"{name}: {zeros:,} zeros stay as they are.")
        return Masked(data.replace(columns), notes=tuple(notes))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        names = self._attributes(data)
        signs = (KeptSigns(names),) if self.distribution == "lognormal" else ()
        return (MissingStays(names), *signs)

    def likelihood(self, original: Microdata, released: Microdata) -> Likelihood:
        """Normal: of the logarithms if factors are lognormal, else of the values; rounding counts as a little noise."""
        found: list[Evidence] = []
        for name in self._attributes(original):
            x, y = original.columns[name], released.columns[name]
            made = _of_logarithms if self.distribution == "lognormal" else _of_values
            found += [same_presence(x, y), *made(x.numbers(), y.numbers(), self.amount)]
        return tuple(found)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        names = treatable(data, self.attributes, (Kind.CONTINUOUS,), self.name)
        dates = [name for name in names if data.holds_dates(name)]
        if dates:
            raise SchemaError(
                f"{self.name} cannot treat {', '.join(map(repr, dates))}: the zero of dates and times is arbitrary.",
                hint="Use Noise, or name other numbers in attributes=[…].",
            )
        return names


def _multiplied(
    column: ContinuousColumn, method: MultiplicativeNoise, grain: float, rng: np.random.Generator
) -> tuple[ContinuousColumn, int]:
    """The numbers of a column times random factors, and how many of them are zero."""
    if method.distribution == "normal":
        factors = rng.normal(1.0, method.amount, len(column))
    else:
        spread = np.log1p(method.amount**2)
        factors = rng.lognormal(-spread / 2, np.sqrt(spread), len(column))
    with np.errstate(over="ignore"):  # what is too large to be written is an error when it is
        values = column.values * factors
    if method.distribution == "lognormal":
        values = _with_signs(column.values, values, grain)
    return column.with_values(values), int((column.values == 0).sum())


def _of_logarithms(x: Float, y: Float, amount: float) -> list[Evidence]:
    """log y - log x is normal with mean -σ²/2 and variance σ² = log(1 + amount²); signs and zeros stay."""
    spread = np.log1p(amount**2)
    one = np.ones(len(x))
    signs = [np.where(np.isnan(values), 0.0, np.sign(values)).astype(np.int32) for values in (y, x)]
    size = [np.where(sign != 0, np.abs(values), 1.0) for sign, values in zip(signs, (y, x), strict=True)]
    there, here = np.log(size[0]), np.where(signs[1] != 0, np.log(size[1]) - spread / 2, 0.0)
    precision = np.where(signs[0] != 0, 1 / (spread + np.square(grid(y) / size[0]) / 12), 0.0)
    return [CodeEvidence(signs[0], signs[1]), NumberEvidence(there, here, precision, one)]


def _of_values(x: Float, y: Float, amount: float) -> list[Evidence]:
    """y is normal with mean x and variance (amount·x)²."""
    present = x[~np.isnan(x)]
    least = max(grid(y) ** 2 / 12, (1e-9 * float(np.abs(present).max(initial=1.0))) ** 2)
    variance = np.where(np.isnan(x), 1.0, np.square(amount * np.nan_to_num(x)) + least)
    there, here, one = np.nan_to_num(y), np.nan_to_num(x), (~np.isnan(y)).astype(float)
    return [NumberEvidence(there, here, one, 1 / variance, np.where(np.isnan(x), 0.0, -np.log(variance) / 2))]


def _with_signs(before: Float, after: Float, grain: float) -> Float:
    """Numbers that would be rounded to zero when they are written become the smallest that are not."""
    lost = (np.abs(after) <= grain / 2) & (before != 0)
    least = grain or float(np.finfo(np.float64).smallest_subnormal)
    return np.where(lost, np.copysign(least, before), after)


@dataclass(frozen=True)
class KeptSigns(Promise):
    """Positive numbers stay positive, negative ones negative, and zeros zero."""

    attributes: tuple[str, ...]

    def limits(self, original: Microdata, masked: Masked, name: str) -> Limits:
        column = original.columns[name]
        if name not in self.attributes or not isinstance(column, ContinuousColumn):
            return super().limits(original, masked, name)
        sign, least = np.sign(column.values), np.finfo(np.float64).smallest_subnormal
        low = np.where(sign > 0, least, np.where(sign < 0, -np.inf, 0.0))
        return low, np.where(sign < 0, -least, np.where(sign > 0, np.inf, 0.0))

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        columns = [(original.columns[name], released_column(released, original, name)) for name in self.attributes]
        return self._checked(sum(_other_sign(*both) for both in columns))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        columns = [(original.columns[name], released_on(engine, released, original, name)) for name in self.attributes]
        return self._checked(sum(engine.fold(_other_sign, add, both, what="checking") for both in columns))

    def _checked(self, changed: int) -> Check:
        return Check(
            f"every number of {', '.join(self.attributes)} keeps its sign", changed == 0, f"{changed:,} do not"
        )


def _other_sign(before: Column, after: Column) -> int:
    """How many numbers have another sign than before."""
    first, second = before.numbers(), after.numbers()
    both = ~np.isnan(first) & ~np.isnan(second)
    return int((np.sign(first[both]) != np.sign(second[both])).sum())
