"""Promises that several methods make."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add, and_
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine, numbered_on
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.combinations import combined, numbered
from ..microdata.frames import Frame
from ..microdata.meanings import by_meaning
from ..microdata.people import class_owners, largest_share
from ..partition import Groups
from ..semantics import earth_mover
from ._by_value import changed_on
from ._closeness import different
from ._kept import missing_elsewhere, released_on
from ._long_closeness import Classes, largest_on, mover_on
from ._neighbourhoods import category_distances, farthest_in_group, radii, rows_by_code
from ._parts import Parts
from ._runs import Runs, combined_on, runs_of
from .base import Check, Limits, Masked, Promise

__all__ = [
    "KAnonymity",
    "LDiversity",
    "Permutation",
    "TCloseness",
    "WithinRadius",
    "class_sizes",
    "multiset",
]


_ONE = {"records": "record", "people": "person", "households": "household"}


def smallest_of(count: int, smallest: int, unit: str, what: str = "class", several: str = "classes") -> str:
    """How many records, or people, the smallest of some classes has, in words.

    >>> smallest_of(3, 1, "records"), smallest_of(1, 5, "people")
    ('the smallest of 3 classes has 1 record', 'the only class has 5 people')
    """
    unit = _ONE.get(unit, unit) if smallest == 1 else unit
    which = f"the only {what}" if count == 1 else f"the smallest of {count:,} {several}"
    return f"{which} has {smallest:,} {unit}"


@dataclass(frozen=True)
class KAnonymity(Promise):
    """Every combination of released values of these attributes is shared by at least k records.

    Where the schema names a person or a household, by records of at least k different people or households. A missing
    value is a category of its own: it matches other missing values only.
    """

    family: ClassVar[str] = "alike"

    k: int
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        keys = combined((released.distinct(name).codes for name in self.attributes), released.n)
        sizes = class_sizes(keys, original.units)
        return self._checked(original, len(sizes), int(sizes.min()) if len(sizes) else self.k)

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """Columns are numbered, and what they have in common is sorted and counted, in chunks."""
        if not released.n or (original.units is not None and not engine.in_parts(released.n)):
            return super().check_on(engine, original, released, masked)
        keys = combined_on(engine, (numbered_on(engine, released, name) for name in self.attributes), released.n)
        if original.units is not None:
            parts = Parts.of_equal(engine, keys)
            rows = [parts.brought(keys), parts.brought(original.units)]
            classes, smallest = parts.each(_owners, rows, what="checking k")
            return self._checked(original, sum(classes), min(smallest))
        runs = engine.fold(runs_of, Runs.then, [engine.sort(keys, "checking k")], what="checking k")
        return self._checked(original, runs.count, runs.shortest)

    def _checked(self, original: Microdata, classes: int, smallest: int) -> Check:
        listed, unit = ", ".join(self.attributes), original.unit
        different = "" if unit == "records" else "different "
        return Check(
            f"at least k = {self.k} {different}{unit} share every combination of {listed}",
            smallest >= self.k,
            smallest_of(classes, smallest, unit),
        )

    def suffices_for(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes


def _owners(keys: NDArray[np.int64], units: NDArray[np.int64]) -> tuple[int, int]:
    """How many classes there are, and the units of the one with the fewest."""
    sizes = class_sizes(keys, units)
    return len(sizes), int(sizes.min())


def of_people(original: Microdata, classes: NDArray[np.int64] | NDArray[np.int32]) -> str:
    """What a promise about the records of a class has to say of people who may have several of them."""
    if original.units is None:
        return ""
    share = np.ceil(1000 * largest_share(classes, original.units)) / 10
    return f"; nobody owns more than {share:.1f} % of the records of a class, counted in {original.unit}"


def class_sizes(keys: NDArray[np.int64], units: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """How many records each class has, given a key for each record; or how many different people or households."""
    if units is not None:
        return class_owners(np.unique(keys, return_inverse=True)[1], units)
    keys = np.sort(keys)
    edges = np.flatnonzero(keys[1:] != keys[:-1])
    return np.diff(edges, prepend=-1, append=len(keys) - 1) if len(keys) else np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class TCloseness(Promise):
    """In every class of equal released values the confidential attribute is distributed as in the table, within t.

    Where the schema names a person, everybody counts alike, in the class and in the table, whatever number of records
    they have.
    """

    t: float
    confidential: str
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        distance = earth_mover(code(released, original.schema[self.confidential]).column, original.people)
        classes = Groups(equal_records(released, self.attributes))
        return self._checked(distance.largest(classes.order, classes.start), original)

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """Class by class. Where people count, in one job: sums of shares in another order have other last bits."""
        if not engine.in_parts(released.n) or original.people is not None:
            return super().check_on(engine, original, released, masked)
        column = released_on(engine, released, original, self.confidential)
        keys = combined_on(engine, (numbered_on(engine, released, name) for name in self.attributes), released.n)
        return self._checked(largest_on(Classes(engine, keys), column, *mover_on(engine, column)), original)

    def _checked(self, largest: float, original: Microdata) -> Check:
        return Check(
            f"{self.confidential} is within t = {self.t:g} of its distribution in the table in every class"
            f"{'' if original.people is None else ', everybody counted once'}",
            largest <= self.t,
            f"the largest earth mover's distance is {largest:.4f}",
        )


@dataclass(frozen=True)
class LDiversity(Promise):
    """Every class of equal released values has at least l different values of the confidential attribute.

    Spellings of the same value count once (see `by_meaning`), and missing is a value.
    """

    l: int  # noqa: E741
    confidential: str
    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        codes = by_meaning(code(released, original.schema[self.confidential]).column).numbered()[0]
        return self._checked(
            _least_different(equal_records(released, self.attributes), codes) if released.n else self.l
        )

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """Records with the same released values are brought together, and looked at in parts."""
        if not engine.in_parts(released.n):
            return super().check_on(engine, original, released, masked)
        column = released_on(engine, released, original, self.confidential)
        if isinstance(column, CategoricalColumn):
            codes = changed_on(engine, column, by_meaning, "checking l").cells
        else:
            codes = numbered_on(engine, released, self.confidential)
        keys = combined_on(engine, (numbered_on(engine, released, name) for name in self.attributes), released.n)
        parts = Parts.of_equal(engine, keys)
        (least,) = parts.each(_least, [parts.brought(keys), parts.brought(codes)], what="checking l")
        return self._checked(min(least))

    def _checked(self, least: int) -> Check:
        return Check(
            f"at least l = {self.l} different values of {self.confidential} in every class",
            least >= self.l,
            f"the least is {least:,}",
        )


def _least(keys: NDArray[np.int64], codes: NDArray[np.int32]) -> tuple[int]:
    numbers = np.unique(keys, return_inverse=True)[1].astype(np.int32)
    return (_least_different(numbers, codes.astype(np.int64)),)


def _least_different(numbers: NDArray[np.int32], codes: NDArray[np.int64]) -> int:
    """The fewest different values that a class has; missing, -1, is one."""
    classes = Groups(numbers)
    return int(different(codes[classes.order] + 1, classes.start).min())


def equal_records(frame: Frame, attributes: tuple[str, ...]) -> NDArray[np.int32]:
    """The class of each record of a table: the same for records with the same values."""
    return numbered((frame.distinct(name).codes for name in attributes), frame.n)[0].astype(np.int32)


@dataclass(frozen=True)
class WithinRadius(Promise):
    """Every released value is at most as far from the original one as the farthest value of its group.

    Plain categories come from their group, and missing values stay missing.
    """

    attributes: tuple[str, ...]

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        assert masked.groups is not None
        outside = 0
        for name in self.attributes:
            before, after = original.columns[name], code(released, original.schema[name]).column
            outside += int((before.missing != after.missing).sum())
            outside += _outside(before, after, masked.data.columns[name], masked.groups)
        return Check(
            f"every value of {', '.join(self.attributes)} is within the radius of its group",
            outside == 0,
            f"{outside:,} of {len(self.attributes) * original.n:,} values outside",
        )

    @property
    def limits_by_record(self) -> bool:
        return False

    def limits(self, original: Microdata, masked: Masked, name: str) -> Limits:
        if name not in self.attributes:
            return super().limits(original, masked, name)
        assert masked.groups is not None
        values = original.columns[name].numbers()
        radius = radii(values, masked.groups)
        low, high = values - radius, values + radius
        # The sums are rounded themselves, and must not let a number out.
        low = np.where(values - low > radius, np.nextafter(low, np.inf), low)
        return low, np.where(high - values > radius, np.nextafter(high, -np.inf), high)


@dataclass(frozen=True)
class Permutation(Promise):
    """Each of these attributes has exactly the original values, in another order.

    Missing cells stay where they are, unless they take part.
    """

    attributes: tuple[str, ...]
    missing_move: bool = False

    def permuted(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        changed, moved = [], 0
        for name in self.attributes:
            before, after = alike(original.columns[name], code(released, original.schema[name]).column)
            if not self.missing_move:
                moved += int((before.missing != after.missing).sum())
            if not np.array_equal(multiset(before), multiset(after), equal_nan=True):
                changed.append(name)
        return self._checked(changed, moved)

    in_chunks = True

    def check_on(self, engine: Engine, original: Microdata, released: Frame, masked: Masked) -> Check:
        """Numbers are sorted, and categories counted, in chunks."""
        if released.n != original.n:
            return super().check_on(engine, original, released, masked)
        changed, moved = [], 0
        for name in self.attributes:
            before, after = original.columns[name], released_on(engine, released, original, name)
            if not self.missing_move:
                moved += engine.fold(missing_elsewhere, add, [before, after], what="checking")
            if isinstance(before, CategoricalColumn) and isinstance(after, CategoricalColumn):
                same = _as_many(engine, before, after)
            else:
                first, second = (engine.sort(one.cells, "checking") for one in (before, after))
                same = len(first) == len(second) and engine.fold(_equal, and_, [first, second], what="checking")
            if not same:
                changed.append(name)
        return self._checked(changed, moved)

    def _checked(self, changed: list[str], moved: int) -> Check:
        found = f"differs: {', '.join(changed)}" if changed else f"{moved:,} missing cells moved" if moved else "equal"
        return Check(
            f"the values of {', '.join(self.attributes)} are a permutation of the original ones",
            not changed and not moved,
            found,
        )


def _as_many(engine: Engine, before: CategoricalColumn, after: CategoricalColumn) -> bool:
    """Whether two columns have each category as often, however they number them."""
    every = [one.with_cells(np.arange(len(one.categories), dtype=np.int32)) for one in (before, after)]
    wide, other = alike(every[0], every[1])
    size = len(wide.categories)
    first, second = (
        np.bincount(numbers, weights=engine.count(one), minlength=size)
        for numbers, one in ((wide.codes, before), (other.codes, after))
    )
    return bool(np.array_equal(first, second))


def _equal(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    return bool(np.array_equal(first, second))


def multiset(column: Column) -> NDArray[np.float64] | NDArray[np.int64]:
    """What two columns with the same values in any order have in common, and others do not."""
    if isinstance(column, ContinuousColumn):
        return np.sort(column.values)
    return column.counts


def _outside(before: Column, after: Column, masked: Column, groups: Groups) -> int:
    """How many present values have left the neighbourhood of their group."""
    slack = 1 + 1e-12  # decimal files do not keep every bit
    if isinstance(before, ContinuousColumn):
        moved = np.abs(after.numbers() - before.values)
        return int((moved > radii(before.values, groups) * slack).sum())
    groups_of = masked.categorical
    numbers = {category: i for i, category in enumerate(groups_of.categories)}
    old, new = (_renumbered(column.categorical, numbers) for column in (before, after))
    present = (old != -1) & (new != -1)
    if not isinstance(before, TaxonomicColumn) and before.attribute.kind != Kind.ORDINAL:
        known = set(zip(groups.numbers.tolist(), old.tolist(), strict=True))
        pairs = zip(groups.numbers[present].tolist(), new[present].tolist(), strict=True)
        return sum(pair not in known for pair in pairs)
    allowed = farthest_in_group(before, groups)
    outside = int((new[present] == -2).sum())
    for category, rows in rows_by_code(np.where(new >= 0, old, -1), len(numbers)):
        outside += int((category_distances(groups_of, category)[new[rows]] > allowed[rows] * slack).sum())
    return outside


def _renumbered(column: CategoricalColumn, numbers: dict[object, int]) -> NDArray[np.int64]:
    """The codes of a column in another numbering of the categories; -1 missing, -2 not in it."""
    return np.array([*(numbers.get(category, -2) for category in column.categories), -1])[column.codes]
