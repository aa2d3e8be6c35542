"""What an analysis is: declared kinds, each computed on the original and on the released table and compared."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from ..._support.parameters import declared
from ..._support.showing import ShowsItsCall
from ..._support.spelling import listing
from ...engines import Engine, Memory
from ...errors import PlanError, SchemaError, did_you_mean
from ...microdata import Kind, Role, Schema
from ..measure import Tables
from ..plain import Result, plain
from ..utility.result import mean_of
from .condition import parse
from .records import Records, Sides, sides

__all__ = ["Analysed", "Analysis", "Estimate", "Estimates", "interval_overlap"]

Confidence = Annotated[float, Gt(0.0), Le(0.999)]


@dataclass(frozen=True)
class Estimate(Result):
    """A number with its confidence interval; NaN where a table cannot tell it."""

    value: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        return not (math.isnan(self.low) or math.isnan(self.high))


@dataclass(frozen=True)
class Estimates:
    """What an analysis finds in one table: numbers by their labels, and how many records could be used.

    ``beside`` are labels that are shown, but not compared, such as an intercept; ``notes`` what else should be known.
    """

    numbers: Mapping[str, Estimate]
    records: int
    left_out: int
    beside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysed(Result):
    """An analysis of the original and of the released table, side by side.

    Parameters
    ----------
    words
        What was computed, in a sentence.
    overlap
        How far the confidence intervals of the two tables overlap, the mean over the numbers that the original tells:
        1 if they are the same, 0 if none has anything in common with its own. NaN if the original tells none.
    worst
        The smallest overlap of a number.
    each
        The overlap of each number. The share of the common part in each of both intervals, the mean of the two (Karr et
        al. 2006); 0 where the released table cannot tell the number any more.
    before, after
        The numbers with their intervals.
    records, left_out
        How many records were used, and how many were not since a value is missing, before and after.
    notes
        What else should be known.
    """

    words: str
    overlap: float
    worst: float
    each: Mapping[str, float]
    before: Mapping[str, Estimate]
    after: Mapping[str, Estimate]
    records: tuple[int, int]
    left_out: tuple[int, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis(ShowsItsCall, ABC):
    """Something that a user of the table computes. Constructors only store; what parameters take is declared.

    Parameters
    ----------
    name
        What it is called in reports, limits and on the command line.
    where
        A condition that records must meet, such as ``age >= 18 and dx under 390-459``; by default all count.
    levels
        For taxonomic columns the depth in the taxonomy at which codes are taken together, counted from its root, which
        is at depth 1; by default each code stands for itself.
    confidence
        Of the intervals.
    """

    name: str
    where: str | None = field(default=None, kw_only=True)
    levels: Mapping[str, int] | None = field(default=None, kw_only=True)
    confidence: Confidence = field(default=0.95, kw_only=True)

    kind: ClassVar[str]
    """How plans call it."""
    about: ClassVar[str]
    """What it does, in one sentence."""

    @abstractmethod
    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        """The columns that it uses, but for those of the condition, and of which kinds each may be."""

    @abstractmethod
    def estimates(self, records: Records, both: Sides) -> Estimates:
        """What it finds in one of both tables; what these must agree on, such as groups, comes from the original."""

    @abstractmethod
    def words(self) -> str:
        """What is computed, in a few words."""

    def conditions(self) -> tuple[str, ...]:
        """The conditions that it looks at."""
        return () if self.where is None else (self.where,)

    def columns(self) -> tuple[str, ...]:
        """All columns that it looks at."""
        inside = (name for text in self.conditions() for name in parse(text).columns())
        return tuple(dict.fromkeys((*self.used(), *inside)))

    def check_parameters(self) -> None:
        """Refuse what is wrong whatever the table."""
        try:
            for one in declared(type(self)):
                one.check(getattr(self, one.name))
            if not self.name.strip():
                raise PlanError("it needs a name.", hint="Write name: what it is called in the report.")
            for text in self.conditions():
                parse(text)
            for column in self.levels or {}:
                if column not in self.used():
                    raise PlanError(
                        f"levels names {column!r}, which it does not use.", hint=did_you_mean(column, self.used())
                    )
        except PlanError as error:
            raise PlanError(f"analysis {self.name!r}: {error.message}", hint=error.hint) from None

    def check_schema(self, schema: Schema) -> None:
        """Refuse columns that are not there, that are not released, or that it cannot work on."""
        kinds = {**dict.fromkeys(self.columns(), tuple(Kind)), **self.used()}
        for name, allowed in kinds.items():
            if name not in schema:
                raise PlanError(
                    f"analysis {self.name!r}: there is no column {name!r}.", hint=did_you_mean(name, schema)
                )
            one = schema[name]
            if one.role == Role.IDENTIFIER:
                raise PlanError(
                    f"analysis {self.name!r}: column {name!r} is an identifier, which is never released.",
                    hint="Name another column.",
                )
            if one.kind not in allowed:
                raise PlanError(
                    f"analysis {self.name!r}: column {name!r} is {one.kind or 'of no kind'}, and must be one of "
                    f"{', '.join(map(str, allowed))}.",
                    hint="Name another column, or change its kind.",
                )
        for name in self.levels or {}:
            if schema[name].kind != Kind.TAXONOMIC:
                raise PlanError(
                    f"analysis {self.name!r}: levels names {name!r}, which has no taxonomy.", hint="Leave it out."
                )

    def compare(self, tables: Tables, engine: Engine | None = None) -> Analysed:
        """What it finds in both tables, and how far that agrees."""
        before, after = sides(tables, engine or Memory())
        names = self.columns()
        absent = [name for name in names if name not in before.columns]
        if absent:
            raise SchemaError(
                f"analysis {self.name!r}: {listing(absent)} is not among the columns that are released and coded.",
                hint=did_you_mean(absent[0], before.columns),
            )
        left, right = both = before.of(names, self.where), after.of(names, self.where)
        try:
            found, then = (self.estimates(records, both) for records in both)
        except PlanError as error:
            raise PlanError(f"analysis {self.name!r}: {error.message}", hint=error.hint) from None
        return self._compared(found, then, (left.unknown, right.unknown))

    def _compared(self, before: Estimates, after: Estimates, unknown: tuple[int, int]) -> Analysed:
        each = {
            label: interval_overlap(one, after.numbers.get(label))
            for label, one in before.numbers.items()
            if one.told and label not in before.beside
        }
        untold = sum(not one.told for one in before.numbers.values())
        new = sum(one.told and label not in before.numbers for label, one in after.numbers.items())
        notes = [
            *(f"In the original: {note}" for note in before.notes),
            *(f"In the release: {note}" for note in after.notes),
            *([f"The original cannot tell {untold:,} of the numbers, which are not compared."] if untold else []),
            *([f"{new:,} of the numbers are in the release alone, and not compared."] if new else []),
        ]
        return Analysed(
            self.words(),
            mean_of(each.values()) if each else math.nan,
            min(each.values(), default=math.nan),
            each,
            before.numbers,
            after.numbers,
            (before.records, after.records),
            (before.left_out + unknown[0], after.left_out + unknown[1]),
            tuple(notes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as a plan has them."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        defaults = {one.name: one.default for one in declared(type(self)) if not one.required}
        kept = {key: value for key, value in given.items() if key not in defaults or value != defaults[key]}
        return {"name": kept.pop("name"), "kind": self.kind, **plain(kept)}


def interval_overlap(one: Estimate, other: Estimate | None) -> float:
    """How far two intervals overlap: the share of the common part in each, the mean of both; 0 if one is not told.

    Of an interval without a length all is common if it lies in the other.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter, Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality, The American Statistician 60.

    >>> interval_overlap(Estimate(5, 4, 6), Estimate(6, 5, 7)), interval_overlap(Estimate(5, 4, 6), Estimate(9, 8, 10))
    (0.5, 0.0)
    """
    if other is None or not one.told or not other.told:
        return 0.0
    common = min(one.high, other.high) - max(one.low, other.low)
    if common < -1e-12 * max(abs(one.low), abs(one.high), abs(other.low), abs(other.high)):
        return 0.0
    lengths = (one.high - one.low, other.high - other.low)
    return sum(min(max(common, 0.0) / length, 1.0) if length > 0 else 1.0 for length in lengths) / 2


def effective(total: float, squares: float) -> float:
    """To how many records of equal weight some records amount (Kish): (Σ w)² / Σ w²."""
    return total**2 / squares if squares else 0.0
