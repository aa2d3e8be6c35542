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
from ..records import Extent
from ._attributes import too_coarse, treatable
from ._joint_moments import (
    below_one,
    complete,
    correlations,
    deviation,
    joint_on,
    moved_to_moments_on,
    root_of,
    spread_on,
    with_moments_of,
)
from ._kept import MissingStays
from ._moments import extent_of
from ._noise_evidence import on_a_scale, whitened
from .base import Masked, Method, Progress, Promise, own_generators
from .likelihood import Evidence, Likelihood, NumberEvidence, grid, same_presence, unchanged
from .promises_of_moments import KeptMoments

__all__ = ["Noise"]

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
        still = [name for name, column in zip(names, numbers.T, strict=True) if deviation(column) == 0]
        notes = tuple(f"{name}: does not vary, so no noise was added." for name in still)
        return Masked(data.replace(columns), notes=notes)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        names = self._attributes(data)
        columns = [data.columns[name] for name in names]
        spreads = [spread_on(engine, column) for column in columns]
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
        size = {name: deviation(x.numbers()) for name, (x, _) in pairs.items()}
        parts: list[Evidence] = [unchanged(*pairs[name]) for name in names if size[name] == 0]
        varying = [name for name in names if size[name] > 0]
        if not self.correlated:
            scale = [name for name in varying if not isinstance(pairs[name][0], ContinuousColumn)]
            parts += [on_a_scale(*pairs[name], self.amount * size[name]) for name in scale]
            for name in varying:
                if name not in scale:
                    parts += self._normal(original, {name: pairs[name]}, np.ones((1, 1)))
            return tuple(parts)
        if varying:
            numbers = below_one(np.column_stack([pairs[name][0].numbers() for name in varying]))[0]
            together = correlations(numbers[complete(numbers)])
            parts += self._normal(original, {name: pairs[name] for name in varying}, together)
        return tuple(parts)

    def _normal(
        self, original: Microdata, pairs: Mapping[str, tuple[Column, Column]], correlations: Float
    ) -> list[Evidence]:
        """The evidence of some columns together, in coordinates in which their noise is independent with variance 1."""
        kept = {name for block in self._blocks(original) for name in block}
        before, after = (np.column_stack([pair[side].numbers() for pair in pairs.values()]) for side in (0, 1))
        size = np.array([deviation(column) for column in before.T])
        drawn_in = np.array([1 / np.sqrt(1 + self.amount**2) if name in kept else 1.0 for name in pairs])
        middle = np.nanmean(before, axis=0)
        rounding = np.array([grid(column) for column in after.T]) / size
        spread = self.amount**2 * correlations * np.outer(drawn_in, drawn_in) + np.diag(np.square(rounding) / 12)
        x, y = (before - middle) / size * drawn_in, (after - middle) / size
        here, there = whitened(x, spread), whitened(y, spread)
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
            drawn = np.einsum("ij,jk->ik", drawn, root_of(correlations(numbers[rows]))[0])
        return np.asarray(drawn * [deviation(column) for column in numbers.T])

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
