"""The values that an attribute may have, fixed before anybody looks at the table, and how far apart they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import listing, spell
from ..errors import DataError, PlanError, SchemaError, TaxonomyError, did_you_mean
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..microdata.casting import is_temporal, number_in
from ..taxonomy import Taxonomy
from ..taxonomy.distances import get_distance
from ._mechanisms import Exponential, Geometric, Mechanism

__all__ = ["MOST_CLASSES", "Domain", "declared"]

Float = NDArray[np.float64]
Numbers = NDArray[np.int64]

MOST_CLASSES = 8_000  # a table of as many distances takes 512 MB
MOST_STEPS = 1_000_000
# What was made last: a release is checked with what it was made with. Together they are no larger than the largest.
_LAST: dict[object, Exponential] = {}


class Domain(ABC):
    """What an attribute may hold. Values are numbered from 0; where missing is a value, it is the last."""

    values: tuple[object, ...]
    positions: NDArray[np.int32] | None = None

    def __init__(self, column: Column) -> None:
        self.column, self.name = column, column.attribute.name

    @abstractmethod
    def mechanism(self, epsilon: float, missing: bool, sharp: bool = False) -> Mechanism:
        """The random replacement of its values, with missing as one of them or not; see `SemanticNoise`."""

    @abstractmethod
    def numbers(self, column: Column) -> Numbers:
        """The number of each cell's value; -1 where it is missing, -2 where it is none of the domain."""

    @abstractmethod
    def written(self, numbers: Numbers) -> Column:
        """The column with other values, by number; -1 is missing."""

    def original(self) -> Numbers:
        """The number of each cell of the original column; an error if one is none of the domain."""
        found = self.numbers(self.column)
        outside = np.flatnonzero(found == -2)
        if len(outside):
            column = self.column.categorical
            values = [spell(column.categories[i]) for i in np.unique(column.codes[outside]).tolist()]
            raise DataError(
                f"column {self.name!r}: {len(outside):,} cells hold {listing(values)}, which the domain does not have.",
                hint="List every value that can occur in domain, whether it does or not.",
            )
        return found


def declared(data: Microdata, name: str, given: Sequence[Any] | None) -> Domain:
    """The domain of an attribute: what is given, or else the whole taxonomy or the whole scale."""
    column = data.columns[name]
    dtype = data.value_type(name)
    if isinstance(column, ContinuousColumn):
        return _Range(column, given, dtype, data.grain(name))
    if isinstance(column, TaxonomicColumn):
        return _Concepts(column, given)
    if column.attribute.kind == Kind.ORDINAL:
        return _Scale(column, given, dtype)
    return _Plain(column, given, dtype)


# --------------------------------------------------------------------------------------- numbers


class _Range(Domain):
    """A range of numbers in steps. Numbers beyond an end count as the end, those between two steps as the nearer."""

    def __init__(self, column: ContinuousColumn, given: Sequence[Any] | None, dtype: Any, grain: float) -> None:
        super().__init__(column)
        hint = f"Write domain={{{self.name!r}: [0, 120, 1]}}: the least, the greatest, and the step, as they are known"
        hint += " without the table."
        if given is None or len(given) != 3:
            what = "has no domain" if given is None else f"has the domain {list(given)!r}"
            raise PlanError(f"the column {self.name!r} of numbers {what}; it needs a range and a step.", hint=hint)
        low, high = (number_in(value, dtype) for value in given[:2])
        step = number_in(given[2], None)
        steps = (high - low) / step if step > 0 else np.nan
        if not np.isfinite(steps) or not 1 <= round(steps) <= MOST_STEPS or abs(steps - round(steps)) > 1e-6:
            raise PlanError(
                f"the domain {list(given)!r} of {self.name!r} is no range of 1 to {MOST_STEPS:,} whole steps.",
                hint=hint,
            )
        for what, one in (("begin at", low), ("go in steps of", step)):
            if grain and abs(one / grain - round(one / grain)) > 1e-6:
                unit = "days or ticks of its unit" if dtype is not None and is_temporal(dtype) else f"{grain:g}"
                raise PlanError(
                    f"column {self.name!r} holds {dtype}, in multiples of {unit}; its domain cannot {what} {one:g}.",
                    hint=f"Choose a multiple of {grain:g}.",
                )
        digits = max(_decimals(low), _decimals(step))
        self._low, self._step, self._steps = low, step, round(steps)
        self._grid = np.round(low + step * np.arange(self._steps + 1), digits)

    @property
    def values(self) -> tuple[object, ...]:  # type: ignore[override]
        return tuple(self._grid.tolist())

    def mechanism(self, epsilon: float, missing: bool, sharp: bool = False) -> Mechanism:
        return Geometric(self._steps + 1, epsilon, missing)

    def original(self) -> Numbers:
        values = self.column.numbers()
        with np.errstate(invalid="ignore"):
            times = np.rint((np.clip(values, self._grid[0], self._grid[-1]) - self._low) / self._step)
        return np.where(np.isnan(values), -1, np.clip(np.nan_to_num(times), 0, self._steps)).astype(np.int64)

    def numbers(self, column: Column) -> Numbers:
        values = column.numbers()
        times = (values - self._low) / self._step
        near = np.clip(np.rint(np.nan_to_num(times)), 0, self._steps).astype(np.int64)
        apart = np.abs(np.nan_to_num(values) - self._grid[near])
        outside = apart > 1e-6 * np.maximum(self._step, np.abs(self._grid[near]))  # a column of 32 bits keeps so much
        return np.where(np.isnan(values), -1, np.where(outside, -2, near))

    def written(self, numbers: Numbers) -> Column:
        return self.column.with_cells(np.append(self._grid, np.nan)[numbers])


def _decimals(number: float) -> int:
    """How many decimals a number is written with."""
    from decimal import Decimal

    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


# --------------------------------------------------------------------------------------- categories


class _Categories(Domain):
    """Categories in a list."""

    def __init__(self, column: CategoricalColumn, values: Sequence[Any], dtype: Any) -> None:
        super().__init__(column)
        self.values = tuple(_as_held(value, dtype) for value in values)
        self._places = {spell(value): place for place, value in enumerate(self.values)}
        if len(self._places) < len(self.values) or None in self.values:
            raise PlanError(f"the domain of {self.name!r} lists a value twice, or none.", hint="List each value once.")
        if len(self.values) < 2:
            raise PlanError(f"the domain of {self.name!r} has one value only.", hint="Leave the column out.")

    def numbers(self, column: Column) -> Numbers:
        coded = column.categorical
        found = [self._places.get(spell(one), -2) for one in coded.categories]
        return np.array([*found, -1], dtype=np.int64)[coded.codes]

    def written(self, numbers: Numbers) -> Column:
        return replace(self.column.categorical, codes=numbers.astype(np.int32), categories=self.values)


class _Scale(_Categories):
    def __init__(self, column: CategoricalColumn, given: Sequence[Any] | None, dtype: Any) -> None:
        super().__init__(column, column.attribute.order, dtype)
        if given is not None and [spell(one) for one in given] != [spell(one) for one in self.values]:
            raise PlanError(
                f"the domain of {self.name!r} is not the order that the schema gives.",
                hint="Leave it out: the whole scale is the domain of ordered categories.",
            )

    def mechanism(self, epsilon: float, missing: bool, sharp: bool = False) -> Mechanism:
        return Geometric(len(self.values), epsilon, missing)


class _Plain(_Categories):
    def __init__(self, column: CategoricalColumn, given: Sequence[Any] | None, dtype: Any) -> None:
        if given is None:
            raise PlanError(
                f"the column {column.attribute.name!r} of plain categories has no domain.",
                hint=f"Write domain={{{column.attribute.name!r}: [f, m]}}: every value that can occur, whether it does "
                "or not.",
            )
        super().__init__(column, given, dtype)

    def mechanism(self, epsilon: float, missing: bool, sharp: bool = False) -> Mechanism:
        return _randomised_response(len(self.values) + missing, epsilon)


def _randomised_response(size: int, epsilon: float) -> Mechanism:
    """All values are equally far apart: normalisers are equal, and nothing of ε is lost on them."""
    return Exponential(np.zeros(size, dtype=np.int64), np.zeros((1, 1)), np.ones(1), epsilon, factor=1.0)


def _as_held(value: object, dtype: Any) -> object:
    """A value of a plan as the column holds values; as it is, where that is not possible."""
    import pyarrow as pa

    if dtype is None:
        return value
    try:
        held: object = pa.scalar(spell(value)).cast(getattr(dtype, "value_type", dtype)).as_py()
    except pa.ArrowException:
        return value
    return held


# --------------------------------------------------------------------------------------- concepts


class _Concepts(Domain):
    """All concepts of a taxonomy, or some of them. They are written as the taxonomy spells them.

    (As the table spells them would tell which of them occur in it.)
    """

    def __init__(self, column: TaxonomicColumn, given: Sequence[Any] | None) -> None:
        super().__init__(column)
        attribute = column.attribute
        self._distance = get_distance(attribute.distance)
        if len(attribute.taxonomies) > 1:
            raise SchemaError(
                f"the distances of {self.name!r} come from {len(attribute.taxonomies)} taxonomies, and their mean "
                "is no metric.",
                hint="Give the column one taxonomy.",
            )
        if not self._distance.metric:
            raise SchemaError(
                f"the distance {self._distance.name!r} of {self.name!r} is no metric, and the proof needs one.",
                hint="Use distance='ancestors', or 'edge_weight' on a tree.",
            )
        self._taxonomy: Taxonomy = attribute.taxonomies[0][0]
        if self._taxonomy.made_from is not None:
            raise SchemaError(
                f"the taxonomy of {self.name!r} is made from the table: what it holds, and how far apart, tells who is "
                "in the table.",
                hint="Give the column a taxonomy that was there before the table.",
            )
        match: Any = attribute.match
        if given is None:
            self.positions = np.arange(len(self._taxonomy.ids), dtype=np.int32)
        else:
            texts = [spell(one) for one in given]
            found = self._taxonomy.lookup(texts, match=match, normalize=attribute.normalize)
            if (found < 0).any():
                text = texts[int((found < 0).argmax())]
                near = self._taxonomy.nearest(text, match=match)
                raise TaxonomyError(
                    f"the domain of {self.name!r} lists {text!r}, which is not in {self._taxonomy.name}.",
                    hint=did_you_mean(text, near) or "List concepts of the taxonomy.",
                )
            self.positions = np.unique(found).astype(np.int32)
        if len(self.positions) < 2:
            raise PlanError(f"the domain of {self.name!r} has one value only.", hint="Leave the column out.")
        self.values = tuple(self._taxonomy.names(self.positions, match=match))
        if len(set(self.values)) < len(self.values):
            raise SchemaError(
                f"several concepts of {self._taxonomy.name} are called alike, so that {self.name!r} cannot release "
                f"them by {attribute.match}.",
                hint="Use match='id', or list the concepts in domain.",
            )

    def mechanism(self, epsilon: float, missing: bool, sharp: bool = False) -> Mechanism:
        assert self.positions is not None
        if self._distance.name == "equality":
            return _randomised_response(len(self.positions) + missing, epsilon)
        wanted = (self._taxonomy, self._distance.name, self.positions.tobytes(), epsilon, missing, sharp)
        made = _LAST.get(wanted)
        if made is None:
            classes = _alike(self._taxonomy, self.positions)
            sizes = [int(one.max()) + 1 for one in (classes, *(one.classes for one in _LAST.values()))]
            if sum(size**2 for size in sizes) > MOST_CLASSES**2:
                _LAST.clear()  # before the next large table is made
            made = _LAST[wanted] = self._made(classes, epsilon, missing, sharp)
        return made

    def _made(self, classes: Numbers, epsilon: float, missing: bool, sharp: bool) -> Exponential:
        assert self.positions is not None
        first, sizes = np.unique(classes, return_index=True)[1], np.bincount(classes)
        if len(first) > MOST_CLASSES:
            raise DataError(
                f"column {self.name!r}: {self._taxonomy.name} has {len(first):,} different concepts, too many for a "
                f"table of distances (at most {MOST_CLASSES:,}).",
                hint=f"List the concepts that can occur: domain={{{self.name!r}: […]}}.",
            )
        scope = self._taxonomy.scope(self.positions)
        table = self._distance.matrix(scope, self.positions[first], self.positions[first])
        inside = np.zeros(len(first))
        several = np.flatnonzero(sizes > 1)
        second = np.argsort(classes, kind="stable")[np.cumsum(sizes) - sizes + 1 - (sizes == 1)]
        for part in np.array_split(several, len(several) // 32 + 1):
            pair = self._distance.matrix(scope, self.positions[first[part]], self.positions[second[part]])
            inside[part] = pair.diagonal()
        largest = max(float(table.max()), float(inside.max()))
        table, inside = table / largest, inside / largest
        if missing:
            classes = np.append(classes, len(first))
            table = np.pad(table, (0, 1), constant_values=1.0)
            table[-1, -1], inside = 0.0, np.append(inside, 0.0)
        return Exponential(classes, table, inside, epsilon, None if sharp else 0.5)

    def numbers(self, column: Column) -> Numbers:
        assert isinstance(column, TaxonomicColumn)
        assert self.positions is not None
        place = np.full(len(self._taxonomy.ids), -2, dtype=np.int64)
        place[self.positions] = np.arange(len(self.positions))
        return np.append(place[column.positions], -1)[column.codes]

    def written(self, numbers: Numbers) -> Column:
        assert isinstance(self.column, TaxonomicColumn)
        assert self.positions is not None
        codes = numbers.astype(np.int32)
        other = replace(self.column, codes=codes, categories=self.values, positions=self.positions)
        other = other.compact()  # measures make tables of all categories that a column has
        other._shared["scopes"] = self.column.scopes  # distances go on to be measured in τ(X) of the original
        return other


def _alike(taxonomy: Taxonomy, positions: NDArray[np.int32]) -> Numbers:
    """Classes of concepts that no distance tells apart: leaves below the same parents; all others by themselves.

    Two such leaves could change places without changing the taxonomy, but for their names.
    """
    keys: dict[object, int] = {}
    leaf = taxonomy.leaf
    return np.array(
        [
            keys.setdefault(tuple(taxonomy.parents_of(one).tolist()) if leaf[one] else one, len(keys))
            for one in positions.tolist()
        ],
        dtype=np.int64,
    )
