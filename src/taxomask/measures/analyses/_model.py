"""What both regressions share: terms in the numbers of a design, and coefficients in the units of the columns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from ..._support.spelling import spell
from ...errors import PlanError, did_you_mean
from ...microdata import CategoricalColumn, Kind
from .analysis import Analysis, Estimate, Estimates
from .condition import parse
from .grouping import labels_of
from .records import Records, Sides
from .side import Side

__all__ = ["Design", "Fit", "Moments", "Regression", "added", "solve"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

BLOCK = 32_768
MOST_TERMS = 200
_INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class Fit:
    """The coefficients of a design and their covariance, of the columns of the design that could be told."""

    kept: list[int]
    coefficients: Float
    covariance: Float
    quantile: float
    records: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Regression(Analysis):
    """A regression of a response on terms, each a column or a condition.

    A term that is a column of numbers is one coefficient, in its own unit. One of categories is a coefficient for each
    category but the commonest of the original table (or the one that ``reference`` names), which the others are
    compared with; codes are taken together at ``levels``. A term that is no column is a condition, such as ``dx under
    250``: 1 where it is true, 0 where it is not. Records of which a value is missing are left out (complete cases), and
    records are taken as independent of each other.
    """

    response: str
    terms: Annotated[Sequence[str], MinLen(1)]
    reference: Mapping[str, str] | None = None

    @abstractmethod
    def outcome(self, side: Side) -> Float:
        """The response of each record; NaN where it is missing."""

    @abstractmethod
    def fitted(self, design: Design, records: Records, count: int) -> Fit | None:
        """Coefficients from the complete cases, so many; None if there are none to be had."""

    def _named(self, column: str) -> bool:
        """Whether a term is a column, and no condition: a condition compares something."""
        try:
            parse(column)
        except PlanError:
            return True
        return False

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return dict.fromkeys((one for one in self.terms if self._named(one)), tuple(Kind))

    def conditions(self) -> tuple[str, ...]:
        return (*super().conditions(), *(one for one in self.terms if not self._named(one)))

    def check_parameters(self) -> None:
        super().check_parameters()
        if len(set(self.terms)) < len(self.terms) or self.response in self.terms:
            raise PlanError(
                f"analysis {self.name!r}: a term stands twice.", hint="Name each once, and not the response."
            )
        for column in self.reference or {}:
            if column not in self.used():
                raise PlanError(
                    f"analysis {self.name!r}: reference names {column!r}, which is no term.",
                    hint=did_you_mean(column, self.used()),
                )

    def words(self) -> str:
        return f"{self.response} explained by {', '.join(self.terms)}{f', where {self.where}' if self.where else ''}"

    def estimates(self, records: Records, both: Sides) -> Estimates:
        design = Design.of(self, both[0])
        count, left_out = records.fold(_counted, np.add, self).tolist()
        fit = self.fitted(design, records, count)
        untold = {name: Estimate(math.nan, math.nan, math.nan) for name in design.names}
        if fit is None:
            note = "the coefficients cannot be told: too few records, no differences, or a perfect prediction."
            return Estimates(untold, count, left_out, (_INTERCEPT,), (note,))
        numbers = untold | _in_units(design, fit)
        return Estimates(numbers, fit.records, left_out, (_INTERCEPT,), fit.notes)

    def complete(self, side: Side) -> tuple[Float, Whole]:
        """The response of each record, and the rows of the complete cases."""
        outcome = self.outcome(side)
        known = ~np.isnan(outcome)
        for term in self.terms:
            known &= ~side[term].missing if self._named(term) else parse(term).on(side).known
        return outcome, np.flatnonzero(known)


def _counted(side: Side, model: Regression) -> Whole:
    """How many complete cases there are, and how many other records."""
    count = len(model.complete(side)[1])
    return np.array([count, side.n - count])


@dataclass(frozen=True, eq=False)
class _Term:
    """The columns of the design that a term adds: a number in standard deviations, or indicators."""

    text: str
    names: tuple[str, ...]
    middle: float = 0.0
    unit: float = 1.0
    place: NDArray[np.int64] | None = None  # of the indicator of each category; -1 for the reference

    def fill(self, side: Side, rows: NDArray[np.int64], out: Float) -> None:
        if self.text not in side.columns or self.place is None:
            values = (
                side[self.text].numbers()[rows] if self.text in side.columns else parse(self.text).on(side).true[rows]
            )
            out[:, 0] = (values - self.middle) / self.unit
            return
        out[:] = self.place[side[self.text].categorical.codes[rows]][:, None] == np.arange(len(self.names))


@dataclass(frozen=True, eq=False)
class Design:
    """The terms of a regression as columns of numbers, the first being 1; numbers stand in standard deviations."""

    terms: tuple[_Term, ...]

    @classmethod
    def of(cls, model: Regression, records: Records) -> Design:
        design = cls(tuple(_term(model, name, records) for name in model.terms))
        if len(design.names) > MOST_TERMS:
            raise PlanError(
                f"a regression has at most {MOST_TERMS} coefficients; these terms make {len(design.names):,}.",
                hint="Take codes together with levels: {column: depth}.",
            )
        return design

    @property
    def names(self) -> tuple[str, ...]:
        return (_INTERCEPT, *(name for term in self.terms for name in term.names))

    def blocks(self, side: Side, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Float]]:
        """The design of these rows, some at a time."""
        width = len(self.names)
        for start in range(0, len(rows), BLOCK):
            chosen = rows[start : start + BLOCK]
            out, at = np.ones((len(chosen), width)), 1
            for term in self.terms:
                term.fill(side, chosen, out[:, at : at + len(term.names)])
                at += len(term.names)
            yield chosen, out

    def scales(self) -> tuple[Float, Float]:
        """The middle and the unit of each column."""
        middles, units = [0.0], [1.0]
        for term in self.terms:
            middles += [term.middle] * len(term.names)
            units += [term.unit] * len(term.names)
        return np.array(middles), np.array(units)


def _term(model: Regression, name: str, records: Records) -> _Term:
    if name not in records.columns or name in model.conditions():
        return _Term(name, (name,))
    column = records[name]
    if not isinstance(column, CategoricalColumn):
        found = records.fold(_spread, Moments.with_, model, name)
        spread = math.sqrt(found.squares / found.count) if found.count else 0.0
        return _Term(name, (name,), found.mean, spread or 1.0)
    groups, texts = labels_of(column, (model.levels or {}).get(name))
    sizes = records.fold(_sizes, np.add, model, name, np.append(groups, len(texts)), len(texts))
    base = _reference(model, name, texts, sizes)
    shown = [i for i in range(len(texts)) if i != base]
    place = np.full(len(texts) + 1, len(shown), dtype=np.int64)  # what has no indicator is in no column
    place[shown] = np.arange(len(shown))
    shown_here = tuple(f"{name} = {texts[i]}" for i in shown)
    return _Term(name, shown_here, place=place[np.append(groups, len(texts))])


@dataclass(frozen=True)
class Moments:
    """How many numbers there are, their mean, and their squared deviations from it."""

    count: int
    mean: float
    squares: float

    @classmethod
    def of(cls, values: Float) -> Moments:
        if not len(values):
            return cls(0, 0.0, 0.0)
        mean = float(values.mean())
        return cls(len(values), mean, float(((values - mean) ** 2).sum()))

    def with_(self, other: Moments) -> Moments:
        """Those of both."""
        if not self.count or not other.count:
            return self if self.count else other
        count, apart = self.count + other.count, other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * self.count * other.count / count
        return Moments(count, self.mean + apart * other.count / count, squares)


def _spread(side: Side, model: Regression, name: str) -> Moments:
    return Moments.of(side[name].numbers()[model.complete(side)[1]])


def _sizes(side: Side, model: Regression, name: str, groups: Whole, size: int) -> Whole:
    """How many complete cases each group of categories has."""
    return np.bincount(groups[side[name].categorical.codes[model.complete(side)[1]]], minlength=size + 1)[:-1]


def _reference(model: Regression, name: str, texts: list[str], sizes: NDArray[np.int64]) -> int:
    asked = (model.reference or {}).get(name)
    if asked is None:
        return int(sizes.argmax())
    found = [i for i, text in enumerate(texts) if text == spell(asked)]
    found = found or [i for i, text in enumerate(texts) if text.startswith(f"{spell(asked)} ")]
    if not found:
        raise PlanError(
            f"the reference of {name!r} is {asked!r}, which it does not have.", hint=did_you_mean(str(asked), texts)
        )
    return found[0]


def added(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums of two chunks, together."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def solve(gram: Float, right: Float) -> tuple[list[int], Float, Float]:
    """The columns that are no combination of those before them, and coefficients and inverse of their equations."""
    kept: list[int] = []
    work, size = gram.copy(), np.diag(gram).copy()
    for i in range(len(gram)):
        if work[i, i] > 1e-9 * max(size[i], 1e-300):
            kept.append(i)
            work -= np.outer(work[:, i], work[i]) / work[i, i]
    inverse: Float = np.asarray(np.linalg.inv(gram[np.ix_(kept, kept)]), dtype=np.float64)
    return kept, inverse @ right[kept], inverse


def _in_units(design: Design, fit: Fit) -> dict[str, Estimate]:
    """Coefficients and intervals in the units of the columns; the intercept is that of all terms at 0."""
    middles, units = (values[fit.kept] for values in design.scales())
    change = np.diag(1 / units)
    if fit.kept and fit.kept[0] == 0:
        change[0, 1:] = -middles[1:] / units[1:]
    values = change @ fit.coefficients
    half = fit.quantile * np.sqrt(np.maximum(np.diag(change @ fit.covariance @ change.T), 0.0))
    return {
        design.names[place]: Estimate(float(value), float(value - h), float(value + h))
        for place, value, h in zip(fit.kept, values, half, strict=True)
    }
