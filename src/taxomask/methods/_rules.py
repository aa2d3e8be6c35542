"""Rules of recoding: which values of a column become which new one, by the kind of the column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from .._support.spelling import in_order, listing, spell
from ..errors import PlanError, SchemaError, did_you_mean
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.casting import is_temporal, number_in
from ._ancestors import with_concepts

__all__ = ["Ruled", "Rules", "ruled"]

Rules = Annotated[
    Mapping[Any, Annotated[Sequence[Any], MinLen(1), "Write ABC: [a, b, c], or for numbers 30: [20, 40]."]],
    MinLen(1),
    "Write, for example, {name: recoding, rules: {job: {ABC: [a, b, c]}, age: {30: [20, 40]}}}.",
]
"""Of each new value the old ones that become it: categories, codes, or the two ends of a range of numbers."""

_STORED = 1e-6  # a column of 32 bits keeps so much of a number


class Ruled(ABC):
    """A column with the rules for it, checked."""

    @abstractmethod
    def recoded(self) -> Column:
        """The column as the rules say; missing cells stay."""

    @abstractmethod
    def broken(self, released: Column) -> int:
        """How many cells of a released version of the column are not as the rules say."""


def ruled(column: Column, dtype: Any, rules: Rules, others: object = None) -> Ruled:
    """The rules for a column that is held in a type; an error if they contradict themselves, the column or each other.

    ``others`` is what all other values become; None if they stay as they are.
    """
    if isinstance(column, ContinuousColumn):
        return _Numbers(column, rules, others, dtype)
    if isinstance(column, TaxonomicColumn):
        return _Concepts(column, rules, others)
    return _Categories(column, rules, others, dtype)


# --------------------------------------------------------------------------------------- ranges of numbers


@dataclass(frozen=True)
class _Range:
    """From ``low`` up to, and not including, ``high``; what it becomes."""

    low: float
    high: float
    new: float
    told: str

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return (values >= self.low) & (values < self.high)


class _Numbers(Ruled):
    def __init__(self, column: ContinuousColumn, rules: Rules, others: object, dtype: Any) -> None:
        self._column, self._name, self._dtype = column, column.attribute.name, dtype
        self._ranges = sorted((self._range(new, ends) for new, ends in rules.items()), key=lambda one: one.low)
        for one, after in zip(self._ranges, self._ranges[1:], strict=False):
            if after.low < one.high:
                raise PlanError(
                    f"the rules for {self._name!r} overlap: {one.told} and {after.told}.",
                    hint="A range goes up to its second number and does not include it.",
                )
        self._others = None if others is None else self._number(others)

    def recoded(self) -> ContinuousColumn:
        values = self._column.values
        out = values.copy() if self._others is None else np.where(np.isnan(values), np.nan, self._others)
        for one in self._ranges:
            out[one.holds(values)] = one.new
        return self._column.with_values(out)

    def broken(self, released: Column) -> int:
        before, after = self._column.values, released.numbers()
        rest = ~(np.isnan(before) | np.isnan(after))
        broken = 0
        for one in self._ranges:
            inside = rest & one.holds(before)
            broken += _unlike(after[inside], one.new)
            rest &= ~inside
        if self._others is not None:
            return broken + _unlike(after[rest], self._others)
        return broken + int((before[rest] != after[rest]).sum())

    def _range(self, new: Any, ends: Sequence[Any]) -> _Range:
        told = f"{new!r}: {list(ends)!r}"
        hint = "Write the number that stands for a range and its two ends: 30: [20, 40]; null is no end."
        if len(ends) != 2:
            raise PlanError(f"the rule {told} for {self._name!r} must name the two ends of a range.", hint=hint)
        low = -np.inf if ends[0] is None else self._number(ends[0])
        high = np.inf if ends[1] is None else self._number(ends[1])
        if not low < high:
            raise PlanError(f"the rule {told} for {self._name!r} holds for no number.", hint=hint)
        number = self._number(new)
        if not low <= number <= high:
            raise PlanError(
                f"the rule {told} for {self._name!r} puts a number outside of the range in its place.",
                hint="Choose one of the range, such as its middle.",
            )
        return _Range(low, high, number, told)

    def _number(self, value: object) -> float:
        """A number or, in a column of dates or times, one of these; the keys of JSON are text."""
        temporal = self._dtype is not None and is_temporal(self._dtype)
        number = number_in(value, self._dtype)
        if isinstance(value, bool) or not np.isfinite(number):
            what, hint = (
                ("date or time", "Write it as 1950-01-31 or 12:30.")
                if temporal
                else ("number", "A column of numbers stays one: name a number that stands for the range.")
            )
            raise PlanError(f"a rule for {self._name!r} names {value!r}, which is no {what}.", hint=hint)
        return number


def _unlike(values: NDArray[np.float64], new: float) -> int:
    """How many are not the new number, or not written as the others are."""
    wrong = ~np.isclose(values, new, rtol=_STORED, atol=0) | (values != (values[0] if len(values) else new))
    return int(wrong.sum())


# --------------------------------------------------------------------------------------- categories


class _Categories(Ruled):
    """Plain and ordered categories."""

    def __init__(self, column: CategoricalColumn, rules: Rules, others: object, dtype: Any) -> None:
        self._column, self._name = column, column.attribute.name
        self._texts = [spell(category) for category in column.categories]
        self._places: dict[str, list[int]] = {}
        for place, text in enumerate(self._texts):
            self._places.setdefault(text, []).append(place)
        self._become: dict[str, str] = {}
        olds: dict[str, list[str]] = {}
        for new, old in _by_text(self._name, rules):
            olds[new] = [self._known(one) for one in old]
            for one in olds[new]:
                if self._become.setdefault(one, new) != new:
                    raise _overlap(self._name, one, self._become[one], new)
        if others is not None:
            rest = spell(others)
            if rest in olds:
                raise _overlap(self._name, "others", rest, rest)
            olds[rest] = [one for one in self._places if one not in self._become and one not in olds]
            self._become |= dict.fromkeys(olds[rest], rest)
        for new, old_ones in olds.items():
            self._check_new(new, old_ones)
        self._written = {new: self._as_written(new, dtype) for new in olds}

    def recoded(self) -> CategoricalColumn:
        column = self._column
        if column.attribute.kind == Kind.ORDINAL:
            recode = [self._places[self._become.get(text, text)][0] for text in self._texts]
            return column.with_codes(np.array([*recode, -1])[column.codes])
        pairs = zip(self._texts, column.categories, strict=True)
        after = [self._written[self._become[text]] if text in self._become else category for text, category in pairs]
        number = {(type(one), one): i for i, one in enumerate(in_order(_different(after)))}
        codes = np.array([*(number[type(one), one] for one in after), -1], dtype=np.int32)[column.codes]
        return replace(column, codes=codes, categories=tuple(one for _, one in number)).compact()

    def broken(self, released: Column) -> int:
        before, after = alike(self._column, released)
        broken = 0
        for old, new, cells in _pairs(before.codes, after.codes):
            text = spell(before.categories[old])
            broken += cells * (spell(after.categories[new]) != self._become.get(text, text))
        return broken

    def _known(self, category: object) -> str:
        if spell(category) in self._places:
            return spell(category)
        known = "the order" if self._column.attribute.kind == Kind.ORDINAL else "the values"
        raise SchemaError(
            f"a rule for {self._name!r} names {category!r}, which is not among {known} of the column.",
            hint=f"{did_you_mean(spell(category), self._places)} Take it out of the rule if no value is meant.",
        )

    def _check_new(self, new: str, old: list[str]) -> None:
        """What a rule makes must not stand for something else already; on a scale it must have its place."""
        occurs = any(self._column.counts[place] for place in self._places.get(new, ()))
        if new not in old and (new in self._become or occurs):
            raise PlanError(
                f"a rule for {self._name!r} makes {new!r}, which is a category already.",
                hint=f"List {new!r} among the old categories of the rule, or choose another name.",
            )
        if self._column.attribute.kind != Kind.ORDINAL:
            return
        if new not in self._places:
            raise PlanError(
                f"a rule for {self._name!r} makes {new!r}, which has no place in the order of the column.",
                hint="Name one of the joined categories, or list the new one beside them in the order of the column.",
            )
        run = {self._places[one][0] for one in (*old, new)}
        between = [self._texts[place] for place in range(min(run), max(run)) if place not in run]
        if between:
            raise PlanError(
                f"a rule for {self._name!r} joins categories that are not neighbours: between those of {new!r} stands "
                f"{listing(between)}.",
                hint="Join neighbours only, so that the order is kept; or make the column's kind 'nominal'.",
            )

    def _as_written(self, new: str, dtype: Any) -> object:
        """The new category as the column holds values."""
        import pyarrow as pa

        if new in self._places:
            return self._column.categories[self._places[new][0]]
        if dtype is None:  # objects of several types
            return new
        try:
            return pa.scalar(new).cast(getattr(dtype, "value_type", dtype)).as_py()
        except pa.ArrowException:
            raise PlanError(
                f"column {self._name!r} holds {dtype}, in which {new!r} cannot be written.",
                hint="Choose a new value of that type, or turn the column into text first.",
            ) from None


def _different(values: list[object]) -> list[object]:
    """Each value once; 1, True and "1" stay apart."""
    return [value for _, value in dict.fromkeys((type(value), value) for value in values)]


# --------------------------------------------------------------------------------------- codes of a taxonomy


class _Concepts(Ruled):
    """Codes: a rule holds for the codes that it names and for all below them, and makes one above them."""

    def __init__(self, column: TaxonomicColumn, rules: Rules, others: object) -> None:
        self._column, self._name = column, column.attribute.name
        self._taxonomy = column.scopes[0].taxonomy
        self._ancestors = self._taxonomy.closure.ancestors
        self._of: dict[int, tuple[str, int]] = {}  # of each code that a rule names, the rule and what it makes
        for new, old in _by_text(self._name, rules):
            above = self._position(new)
            for one in old:
                place = self._position(one)
                self._check_above(above, place)
                if self._of.get(place, (new,))[0] != new:
                    raise _overlap(self._name, spell(one), self._of[place][0], new)
                self._of[place] = new, above
        self._others = None if others is None else self._position(others)
        self._become = {place: self._made(place) for place in {*column.positions.tolist(), *self._of}}

    def recoded(self) -> TaxonomicColumn:
        concepts = np.array([self._become[place] for place in self._column.positions.tolist()], dtype=np.int32)
        return with_concepts(self._column, concepts).compact()

    def broken(self, released: Column) -> int:
        before, after = alike(self._column, released)
        broken = 0
        for old, new, cells in _pairs(before.codes, after.codes):
            wanted = self._become[int(before.positions[old])]
            broken += cells * (old != new if wanted < 0 else int(after.positions[new]) != wanted)
        return broken

    def _made(self, place: int) -> int:
        """What becomes of a code; -1 if it stays."""
        above = self._ancestors(place).tolist() if place >= 0 else ()
        rules = {self._of[one] for one in above if one in self._of}
        if len(rules) > 1:
            first, second = sorted(new for new, _ in rules)[:2]
            raise _overlap(self._name, self._taxonomy.ids[place], first, second)
        if rules:
            return next(iter(rules))[1]
        if self._others is None or place in {made for _, made in self._of.values()}:
            return -1
        self._check_above(self._others, place, "others")
        return self._others

    def _position(self, code: object) -> int:
        match: Any = self._column.attribute.match
        place = int(self._taxonomy.lookup([spell(code)], match=match, normalize=self._column.attribute.normalize)[0])
        if place < 0:
            near = self._taxonomy.nearest(spell(code), match=match)
            raise SchemaError(
                f"a rule for {self._name!r} names {code!r}, which is not in {self._taxonomy.name}.",
                hint=(f"Near it: {listing(near)}. " if near else "")
                + "A new code must be one of the taxonomy: add it there, or make the column's kind 'nominal'.",
            )
        return place

    def _check_above(self, above: int, place: int, what: str = "a rule") -> None:
        if place >= 0 and above in self._ancestors(place):
            return
        new, old = (self._taxonomy.ids[one] if one >= 0 else "a code of another taxonomy" for one in (above, place))
        raise PlanError(
            f"{what} for {self._name!r} puts {new!r} in place of {old!r}, which is not below it.",
            hint="Choose a code above all that it stands for; the root is above every one.",
        )


# --------------------------------------------------------------------------------------- pieces


def _by_text(name: str, rules: Rules) -> Iterator[tuple[str, Sequence[Any]]]:
    seen = set()
    for new, old in rules.items():
        if spell(new) in seen:
            raise PlanError(f"two rules for {name!r} make {spell(new)!r}.", hint="Put all old values into one.")
        seen.add(spell(new))
        yield spell(new), old


def _overlap(name: str, value: str, first: str, second: str) -> PlanError:
    return PlanError(
        f"the rules for {name!r} overlap: {value!r} becomes {first!r} and {second!r}.", hint="Name every value once."
    )


def _pairs(before: NDArray[np.int32], after: NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    """The different pairs of categories that are not missing, with the number of cells."""
    both = (before >= 0) & (after >= 0)
    size = int(after.max(initial=0)) + 1
    pairs, cells = np.unique(before[both].astype(np.int64) * size + after[both], return_counts=True)
    for pair, count in zip(pairs.tolist(), cells.tolist(), strict=True):
        yield pair // size, pair % size, count
