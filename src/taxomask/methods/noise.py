from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from .._support.parameters import Slider
from ..engines import Engine, Memory
from ..errors import DataError, SchemaError
from ..microdata import Column, ContinuousColumn, Kind, Microdata
from ..microdata.frames import Frame
from ..records import Extent
from ._attributes import too_coarse, treatable
from ._kept import MissingStays, released_column, released_on
from ._long_noise import complete, joint_on, moved_to_moments_on, root_of
from ._moments import extent_of
from .base import Check, Masked, Method, Progress, Promise, own_generators
from .likelihood import CodeEvidence, Evidence, Likelihood, NumberEvidence, grid, same_presence, unchanged
from .promises import Differences, half_units, moment_differences

__all__ = ["KeptMoments", "Noise"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Noise(Method):
    """Normal noise is added to every number.

    y = x + e, e normal with mean 0. Independent noise has the covariance matrix amount² · diag(s²), s² the variances of
    the attributes; correlated noise has amount² · S, proportional to the covariance matrix S of the data, so that
    correlations stay as they are. Both enlarge the variances by the factor 1 + amount², unless moments are kept.

    Ordered categories get noise on their positions, rounded to the nearest position and cut off at the ends of the
    scale, which pulls values a little away from the ends. For plain categories see `Pram`, for taxonomic ones
    `MarginalityNoise`. Missing values stay missing.

    Parameters
    ----------
    amount
        The standard deviation of the noise as a share of that of the attribute.
    correlated
        Noise with the correlations of the data, measured on the records without missing values.
    keep_moments
        Move the noisy numbers linearly, as little as possible, so that the mean and variance of each continuous
        attribute are exactly those of the input; with ``correlated`` all covariances too, over the records in which no
        continuous attribute is missing. Not for dates, which are rounded to their unit when they are written.
    attributes
        The columns to protect; by default all continuous and ordinal quasi-identifiers.

    References
    ----------
    Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation, Proceedings of
    the ASA Section on Survey Research Methods; Brand (2002), Microdata protection through noise addition, LNCS 2316,
    doi 10.1007/3-540-47804-3_8.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20.0, 30.0, 40.0, 70.0]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.Noise(0.5, keep_moments=True), seed=1)
    >>> age = release.data["age"].to_numpy()
    >>> round(float(age.mean()), 9), round(float(age.var()), 9)
    (40.0, 350.0)
    """

    amount: Annotated[float, Gt(0), Le(100), Slider(0.01, 1, 0.01), "0.1 is a common choice."] = 0.1
    correlated: bool = False
    keep_moments: bool = False
    attributes: Sequence[str] | None = None

    name = "noise"
    about = "Adds random noise to every number, in proportion to how much the attribute varies."
    reference = "Brand (2002), doi 10.1007/3-540-47804-3_8"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        names = self._attributes(data)
        numbers, powers = below_one(np.column_stack([data.columns[name].numbers() for name in names]))
        noisy = numbers + self.amount * self._unit_noise(numbers, names, rng)
        for block in self._blocks(data):
            places = np.array([names.index(name) for name in block])
            rows = np.flatnonzero(complete(numbers[:, places]))
            where = np.ix_(rows, places)
            noisy[where] = with_moments_of(numbers[where], noisy[where])
        with np.errstate(over="ignore"):  # what is too large to be written is an error when it is
            noisy = np.ldexp(noisy, powers)
        columns = {name: _written(data.columns[name], noisy[:, i]) for i, name in enumerate(names)}
        still = [name for name, column in zip(names, numbers.T, strict=True) if _deviation(column) == 0]
        notes = tuple(f"{name}: does not vary, so no noise was added." for name in still)
        return Masked(data.replace(columns), notes=notes)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        names = self._attributes(data)
        columns = [data.columns[name] for name in names]
        spreads = [_spread(engine, column) for column in columns]
        powers = [power for power, _ in spreads]
        noisy = self._noisy_on(engine, names, columns, spreads, rng)
        for block in self._blocks_on(engine, data):
            places = [names.index(name) for name in block]
            before, after = [columns[place] for place in places], [noisy[place] for place in places]
            moved = moved_to_moments_on(engine, before, after, [powers[place] for place in places])
            for place, numbers in zip(places, moved, strict=True):
                noisy[place] = numbers
        masked = {
            name: engine.each(_back, [column, numbers], power, what="masking")
            for name, column, numbers, power in zip(names, columns, noisy, powers, strict=True)
        }
        still = [name for name, (_, deviation) in zip(names, spreads, strict=True) if deviation == 0]
        notes = tuple(f"{name}: does not vary, so no noise was added." for name in still)
        return Masked(data.replace(masked), notes=notes)

    def _noisy_on(
        self,
        engine: Engine,
        names: tuple[str, ...],
        columns: list[Column],
        spreads: list[tuple[int, float]],
        rng: np.random.Generator,
    ) -> list[Float]:
        """The numbers of some columns with noise, brought below one by powers of two."""
        if not self.correlated:
            each = zip(columns, spreads, own_generators(rng, len(names)), strict=True)
            return [
                engine.each(_noisy, [column], power, self.amount, deviation, what="masking", rng=own, main=True)
                for column, (power, deviation), own in each
            ]
        powers, deviations = (tuple(some) for some in zip(*spreads, strict=True))
        joint = joint_on(engine, columns, powers, np.zeros(len(names)))
        _check_for_correlations(joint.count, names)
        unit = self.amount * np.array(deviations)
        root = root_of(joint.correlations)[0]
        return list(engine.each(_noisy_together, columns, powers, unit, root, what="masking", rng=rng, main=True))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return self.promises_on(Memory(), data)

    def promises_on(self, engine: Engine, data: Microdata) -> tuple[Promise, ...]:
        return (MissingStays(self._attributes(data)), *map(KeptMoments, self._blocks_on(engine, data)))

    def keeps_moments(self, data: Microdata) -> tuple[str, ...]:
        return self._attributes(data) if self.keep_moments else ()

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        if self.correlated:
            return (self,)
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def likelihood(self, original: Microdata, released: Microdata) -> Likelihood:
        """Normal, with the rounding of what is released as a little more noise.

        Where moments are kept, what comes out is the noisy value drawn in by 1 / √(1 + amount²), nearly: the factor
        that is found in the sample is taken for the one that is expected. With correlated noise, ordered categories
        count as numbers that were rounded.
        """
        names = self._attributes(original)
        pairs = {name: (original.columns[name], released.columns[name]) for name in names}
        size = {name: _deviation(x.numbers()) for name, (x, _) in pairs.items()}
        parts: list[Evidence] = [unchanged(*pairs[name]) for name in names if size[name] == 0]
        varying = [name for name in names if size[name] > 0]
        if not self.correlated:
            scale = [name for name in varying if not isinstance(pairs[name][0], ContinuousColumn)]
            parts += [_on_a_scale(*pairs[name], self.amount * size[name]) for name in scale]
            for name in varying:
                if name not in scale:
                    parts += self._normal(original, {name: pairs[name]}, np.ones((1, 1)))
            return tuple(parts)
        if varying:
            numbers = below_one(np.column_stack([pairs[name][0].numbers() for name in varying]))[0]
            correlations = _correlations(numbers[complete(numbers)])
            parts += self._normal(original, {name: pairs[name] for name in varying}, correlations)
        return tuple(parts)

    def _normal(
        self, original: Microdata, pairs: Mapping[str, tuple[Column, Column]], correlations: Float
    ) -> list[Evidence]:
        """The evidence of some columns together, in coordinates in which their noise is independent with variance 1."""
        kept = {name for block in self._blocks(original) for name in block}
        before, after = (np.column_stack([pair[side].numbers() for pair in pairs.values()]) for side in (0, 1))
        size = np.array([_deviation(column) for column in before.T])
        drawn_in = np.array([1 / np.sqrt(1 + self.amount**2) if name in kept else 1.0 for name in pairs])
        middle = np.nanmean(before, axis=0)
        rounding = np.array([grid(column) for column in after.T]) / size
        spread = self.amount**2 * correlations * np.outer(drawn_in, drawn_in) + np.diag(np.square(rounding) / 12)
        x, y = (before - middle) / size * drawn_in, (after - middle) / size
        here, there = _whitened(x, spread), _whitened(y, spread)
        one = np.ones(len(x))
        each = [NumberEvidence(v, u, one, one) for u, v in zip(here.T, there.T, strict=True)]
        return [*(same_presence(*pair) for pair in pairs.values()), *each]

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return treatable(data, self.attributes, (Kind.CONTINUOUS, Kind.ORDINAL), self.name)

    def _unit_noise(self, numbers: Float, names: tuple[str, ...], rng: np.random.Generator) -> Float:
        """Noise with the standard deviations of the attributes."""
        drawn = rng.standard_normal(numbers.shape)
        if self.correlated:
            rows = complete(numbers)
            _check_for_correlations(int(rows.sum()), names)
            drawn = np.einsum("ij,jk->ik", drawn, root_of(_correlations(numbers[rows]))[0])
        return np.asarray(drawn * [_deviation(column) for column in numbers.T])

    def _blocks(self, data: Microdata) -> tuple[tuple[str, ...], ...]:
        return self._blocks_on(Memory(), data)

    def _blocks_on(self, engine: Engine, data: Microdata) -> tuple[tuple[str, ...], ...]:
        """The attributes whose moments are kept: each by itself, or all together with their covariances."""
        if not self.keep_moments:
            return ()
        columns = {name: data.columns[name] for name in self._attributes(data)}
        extents = {
            name: engine.fold(extent_of, Extent.with_, [column], what="adding up")
            for name, column in columns.items()
            if isinstance(column, ContinuousColumn)
        }
        varying = [name for name, extent in extents.items() if extent.smallest < extent.largest]
        coarse = [name for name in varying if too_coarse(data, name, extents[name])]
        if coarse:
            raise SchemaError(
                f"the moments of {', '.join(coarse)} cannot be kept: their types round what is written.",
                hint="Use keep_moments=False, or name other numbers in attributes=[…].",
            )
        if not varying:
            return ()
        blocks = (tuple(varying),) if self.correlated else tuple((name,) for name in varying)
        for block in blocks:
            records = engine.fold(_how_many_complete, add, [columns[name] for name in block], what="adding up")
            if records < len(block) + 2:
                raise DataError(
                    f"{records} records have a value in all of {', '.join(block)}, too few to keep moments and change "
                    "anything.",
                    hint="Leave out attributes with many missing values, or use keep_moments=False.",
                )
        return blocks


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
        powers = [_spread(engine, column)[0] for column in before]
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


def _whitened(values: Float, covariance: Float) -> Float:
    """Coordinates in which noise of this covariance is independent with variance 1, by what is there in each row.

    Rows with the same cells missing are treated alike; what is left of their coordinates is 0. A direction without
    noise has almost none, so that it decides.
    """
    present = ~np.isnan(values)
    out = np.zeros_like(values)
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        rows, columns = np.flatnonzero(which.ravel() == place), np.flatnonzero(pattern)
        if len(columns):
            found, vectors = np.linalg.eigh(covariance[np.ix_(columns, columns)])
            root = vectors / np.sqrt(np.maximum(found, 1e-9))
            out[rows, : len(columns)] = np.einsum("ij,jk->ik", values[np.ix_(rows, columns)], root)
    return out


def _on_a_scale(original: Column, released: Column, deviation: float) -> Evidence:
    """Noise on positions, rounded and cut off at the ends: the chance of each position given each."""
    from scipy.special import ndtr

    assert not isinstance(original, ContinuousColumn)
    assert not isinstance(released, ContinuousColumn)
    size = len(original.categories)
    edges = np.concatenate([[-np.inf], np.arange(size - 1) + 0.5, [np.inf]])
    chance = np.diff(ndtr((edges[:, None] - np.arange(size)) / deviation), axis=0)
    with np.errstate(divide="ignore"):
        log = np.full((size + 1, size + 1), -np.inf)
        log[:size, :size] = np.log(chance)
    log[size, size] = 0.0  # missing stays missing
    there, here = (np.where(one.missing, size, one.codes).astype(np.int32) for one in (released, original))
    return CodeEvidence(there, here, log)


def _correlations(values: Float) -> Float:
    """Correlations; 0 with what does not vary."""
    deviations = values - values.mean(axis=0)
    size = np.sqrt(np.square(deviations).sum(axis=0))
    varies = size > 1e-12 * np.abs(values).max(axis=0) * np.sqrt(len(values))
    unit = np.divide(deviations, size, out=np.zeros_like(deviations), where=varies)
    matrix = np.einsum("ij,ik->jk", unit, unit)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _deviation(values: Float) -> float:
    """The standard deviation of the values that are not missing; exactly 0 if they are all the same."""
    present = values[~np.isnan(values)]
    return float(np.std(present - present[0], ddof=1)) if len(present) > 1 else 0.0


def _spread(engine: Engine, column: Column) -> tuple[int, float]:
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


def _noisy(column: Column, power: int, amount: float, deviation: float, rng: np.random.Generator) -> Float:
    """The numbers of a column, or the positions of its categories, brought below one and with noise."""
    noise = amount * (rng.standard_normal(len(column)) * deviation)
    return np.asarray(np.ldexp(column.numbers(), -power) + noise)


def _noisy_together(*columns_and_how: Any) -> tuple[Float, ...]:
    """The same of several columns, whose noise is correlated."""
    *columns, powers, unit, root, rng = columns_and_how
    noise = np.einsum("ij,jk->ik", rng.standard_normal((len(columns[0]), len(columns))), root) * unit
    each = zip(columns, powers, noise.T, strict=True)
    return tuple(np.ldexp(column.numbers(), -power) + own for column, power, own in each)


def _back(column: Column, noisy: Float, power: int) -> Column:
    """A column with noisy numbers in their own size."""
    with np.errstate(over="ignore"):  # what is too large to be written is an error when it is
        return _written(column, np.ldexp(noisy, power))


def _how_many_complete(*columns: Column) -> int:
    return int(complete(np.column_stack([column.numbers() for column in columns])).sum())


def _check_for_correlations(records: int, names: tuple[str, ...]) -> None:
    if records < 2:
        raise DataError(
            f"{records} records have a value in all of {', '.join(names)}, too few for correlations.",
            hint="Leave out attributes with many missing values, or use correlated=False.",
        )


def _written(column: Column, values: Float) -> Column:
    if isinstance(column, ContinuousColumn):
        return column.with_values(values)
    positions = np.rint(np.clip(values, 0, len(column.categories) - 1))
    return column.with_codes(np.where(column.missing, -1, positions))
