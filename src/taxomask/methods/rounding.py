from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import add
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..engines import Engine
from ..errors import PlanError
from ..microdata import Column, ContinuousColumn, Kind, Microdata
from ..microdata.frames import Frame
from ..microdata.resolution import Resolution, decimals_of
from ._attributes import each, is_short
from ._kept import MissingStays, released_column, released_on
from .base import Check, Masked, Method, Progress, Promise, own_generators

__all__ = ["KeptTotal", "Multiples", "Rounding"]

Float = NDArray[np.float64]
Base = Annotated[float, Gt(0), Le(1e300), Slider(1, 100, start=5)]
_FINE = 2.0**53


@dataclass(frozen=True)
class Rounding(Method):
    """Numbers are rounded to multiples of a base.

    Missing values stay missing.

    Parameters
    ----------
    base
        One for all continuous quasi-identifiers, or a mapping from attributes to bases; a whole number for dates and
        times, in their own unit, counted from 1970 (or midnight).
    random
        False: to the nearest multiple, halves to the even one. True: up or down at random, with probabilities such that
        the expected value is the original one; the choices are tied together (systematic sampling in random order) so
        that the total of the column changes by less than one base.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, doi 10.1002/9781118348239; Cox (1987), A
    constructive procedure for unbiased controlled rounding, Journal of the American Statistical Association 82,
    doi 10.1080/01621459.1987.10478456.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"cost": [101, 102, 103, 104]})
    >>> schema = tm.Schema([tm.Attribute("cost", role="quasi_identifier", kind="continuous")])
    >>> tm.protect(table, schema, tm.Rounding(5)).data["cost"].to_pylist()
    [100, 100, 105, 105]
    >>> sum(tm.protect(table, schema, tm.Rounding(5, random=True)).data["cost"].to_pylist())
    410
    """

    base: Base | Mapping[str, Base]
    random: bool = False

    name = "rounding"
    about = "Rounds numbers to multiples of a base."
    reference = "Cox (1987), doi 10.1080/01621459.1987.10478456"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        columns = {}
        for name, base in self._bases(data).items():
            columns[name] = _rounded(data.continuous(name), base, rng if self.random else None)
        return Masked(data.replace(columns))

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        bases = self._bases(data)
        columns = {}
        for (name, base), own in zip(bases.items(), own_generators(rng, len(bases)), strict=True):
            column = data.columns[name]
            if self.random:
                columns[name] = _up_or_down_on(engine, column, base, own)
            else:
                columns[name] = engine.each(_rounded, [column], base, what="rounding", main=True)
        return Masked(data.replace(columns))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        bases = self._bases(data)
        promises: list[Promise] = [MissingStays(tuple(bases))]
        for name, base in bases.items():
            promises.append(Multiples(name, base))
            if self.random:
                promises.append(KeptTotal(name, base))
        return tuple(promises)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, base={name: base}) for name, base in self._bases(data).items())

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return tuple(self._bases(data))

    def _bases(self, data: Microdata) -> dict[str, float]:
        given = each(data, self.base, (Kind.CONTINUOUS,), self.name)
        bases = {name: float(base) for name, base in given.items()}
        for name, base in bases.items():
            grain = data.grain(name)
            if grain and abs(base / grain - round(base / grain)) > 1e-9:
                raise PlanError(
                    f"column {name!r} holds {data.value_type(name)}, whose values are multiples of {grain:g} and "
                    f"cannot be multiples of {base:g}.",
                    hint=f"Give it a base of its own that is a multiple of {grain:g}: base={{{name!r}: …}}.",
                )
        return bases


@dataclass(frozen=True)
class Multiples(Promise):
    """Every number of the attribute is a multiple of the base."""

    attribute: str
    base: float

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return (self.attribute,)

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        column = released_column(released, original, self.attribute)
        return self._checked(_away(column, self.base, short=is_short(released, self.attribute)))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        column, short = released_on(engine, released, original, self.attribute), is_short(released, self.attribute)
        return self._checked(engine.fold(_away, add, [column], self.base, short, what="checking"))

    def _checked(self, away: int) -> Check:
        return Check(f"every number of {self.attribute} is a multiple of {self.base:g}", not away, f"{away:,} are not")


@dataclass(frozen=True)
class KeptTotal(Promise):
    """The total of the attribute differs by less than one base from the original one."""

    attribute: str
    base: float

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        both = original.columns[self.attribute], released_column(released, original, self.attribute)
        return self._checked(_totals(*both), short=is_short(released, self.attribute))

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        both = [original.columns[self.attribute], released_on(engine, released, original, self.attribute)]
        totals = engine.fold(_totals, add, both, what="checking")
        return self._checked(totals, short=is_short(released, self.attribute))

    def _checked(self, totals: Float, short: bool) -> Check:
        change, slack = totals.tolist()
        slack *= 1e6 if short else 1.0
        return Check(
            f"the total of {self.attribute} changes by less than {self.base:g}",
            bool(abs(change) <= self.base + slack),
            f"by {abs(change):g}",
        )


def _totals(before: Column, after: Column) -> Float:
    """By how much the total differs, and what adding up numbers of 64 bits may make of it."""
    x, y = before.numbers(), after.numbers()
    return np.array([np.nansum(y - x), np.nansum(1e-12 * np.abs(x))])


def _rounded(column: ContinuousColumn, base: float, rng: np.random.Generator | None = None) -> ContinuousColumn:
    """Numbers as multiples of a base, the nearest ones, or with a generator one of the two neighbours at random."""
    times = _in_bases(column.values, base)
    if rng is not None:
        present = rng.permutation(np.flatnonzero(~column.missing))
        times[present] = _up_or_down(times[present], rng)
    return _multiples(column, times, base)


def _multiples(column: ContinuousColumn, times: Float, base: float) -> ContinuousColumn:
    """Numbers that are so many times a base; those that are too large for it stay as they are."""
    rounded = _times(np.rint(times), base)
    return column.with_values(np.where(np.abs(times) < _FINE, rounded, column.values))


def _away(column: Column, base: float, short: bool) -> int:
    """How many numbers are no multiples. One cannot be nearer to a decimal multiple than its last bits."""
    values, bits = _present(column), 1e-6 if short else 1e-12
    times = _in_bases(values, base)
    away = np.abs(values - _times(np.rint(times), base)) > bits * np.abs(values)
    return int((away & (np.abs(times) < _FINE)).sum())


def _in_bases(values: Float, base: float) -> Float:
    """How many bases each number has; ± ``_FINE`` for one of which neighbours lie further apart than a base."""
    with np.errstate(over="ignore"):
        return np.clip(values / base, -_FINE, _FINE)


def _up_or_down_on(engine: Engine, column: Column, base: float, rng: np.random.Generator) -> ContinuousColumn:
    """The same of a long column: the sum of the fractions goes on from chunk to chunk."""
    start, each = rng.spawn(2)
    fractions = engine.map(_fraction, engine.cut([column], base), "rounding")
    reached = list(accumulate(fractions, initial=float(start.random())))
    ends = list(pairwise(reached))
    rounded: ContinuousColumn = engine.each(
        _up_or_down_between, [column], base, what="rounding", rng=each, own=ends, main=True
    )
    return rounded


def _fraction(column: Column, base: float) -> float:
    times = _in_bases(_present(column), base)
    return float((times - np.floor(times)).sum())


def _up_or_down_between(
    column: ContinuousColumn, base: float, rng: np.random.Generator, ends: tuple[float, float]
) -> ContinuousColumn:
    """A chunk rounded up as often as whole numbers are passed from one sum of fractions to another."""
    times = _in_bases(column.values, base)
    present = rng.permutation(np.flatnonzero(~column.missing))
    some = times[present]
    sums = np.minimum(ends[0] + np.cumsum(some - np.floor(some)), ends[1])
    sums[-1:] = ends[1]  # whatever rounding does, the next chunk goes on from here
    times[present] = np.floor(some) + np.diff(np.floor(np.concatenate([ends[:1], sums])))
    return _multiples(column, times, base)


def _up_or_down(times: Float, rng: np.random.Generator) -> Float:
    """Each number rounded up with the probability of its fraction, and as many in all as the fractions add up to."""
    down = np.floor(times)
    reached = np.floor(np.concatenate([[0.0], np.cumsum(times - down)]) + rng.random())
    return down + np.diff(reached)


def _times(times: Float, base: float) -> Float:
    """Multiples of a base, with its decimals: three times 0.1 is 0.3 and not 0.30000000000000004."""
    return Resolution(decimals_of(np.array([base]))).rounded(times * base)


def _present(column: Column) -> Float:
    return column.numbers()[~column.missing]
