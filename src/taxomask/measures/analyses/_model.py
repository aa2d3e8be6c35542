"""What both regressions share: terms in the numbers of a design, and coefficients in the units of the columns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from ..._support.spelling import spell
from ...errors import PlanError, did_you_mean
from ...microdata import CategoricalColumn, Kind
from .analysis import Analysis, Estimate, Estimates
from .condition import parse
from .grouping import labels_of
from .side import Side, Sides

__all__ = ["Design", "Fit", "Regression", "solve"]

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]

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
    def fitted(self, design: Design, side: Side, outcome: Float, rows: NDArray[np.int64]) -> Fit | None:
        """Coefficients from the complete cases; None if there are none to be had."""

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

    def estimates(self, side: Side, both: Sides) -> Estimates:
        first, _ = both
        design = Design.of(self, first, self._complete(first)[1])
        outcome, complete = self._complete(side)
        rows = np.flatnonzero(complete)
        fit = self.fitted(design, side, outcome, rows)
        untold = {name: Estimate(math.nan, math.nan, math.nan) for name in design.names}
        if fit is None:
            note = "the coefficients cannot be told: too few records, no differences, or a perfect prediction."
            return Estimates(untold, len(rows), side.n - len(rows), (_INTERCEPT,), (note,))
        numbers = untold | _in_units(design, fit)
        return Estimates(numbers, fit.records, side.n - len(rows), (_INTERCEPT,), fit.notes)

    def _complete(self, side: Side) -> tuple[Float, Mask]:
        outcome = self.outcome(side)
        known = ~np.isnan(outcome)
        for term in self.terms:
            known &= ~side[term].missing if self._named(term) else parse(term).on(side).known
        return outcome, known


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
    def of(cls, model: Regression, side: Side, complete: Mask) -> Design:
        design = cls(tuple(_term(model, name, side, complete) for name in model.terms))
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


def _term(model: Regression, name: str, side: Side, complete: Mask) -> _Term:
    if name not in side.columns or name in model.conditions():
        return _Term(name, (name,))
    column = side[name]
    if not isinstance(column, CategoricalColumn):
        values = column.numbers()[complete]
        spread = float(values.std()) if len(values) else 0.0
        return _Term(name, (name,), float(values.mean()) if len(values) else 0.0, spread or 1.0)
    groups, texts = labels_of(column, (model.levels or {}).get(name))
    sizes = np.bincount(np.append(groups, len(texts))[column.codes[complete]], minlength=len(texts) + 1)[:-1]
    base = _reference(model, name, texts, sizes)
    shown = [i for i in range(len(texts)) if i != base]
    place = np.full(len(texts) + 1, len(shown), dtype=np.int64)  # what has no indicator is in no column
    place[shown] = np.arange(len(shown))
    shown_here = tuple(f"{name} = {texts[i]}" for i in shown)
    return _Term(name, shown_here, place=place[np.append(groups, len(texts))])


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
