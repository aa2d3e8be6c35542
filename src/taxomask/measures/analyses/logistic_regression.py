"""A logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._model import Design, Fit, Regression, added, solve
from .condition import parse
from .records import Records
from .side import Side

__all__ = ["LogisticRegression"]

Float = NDArray[np.float64]

STEPS, HALVINGS = 50, 30


@dataclass(frozen=True)
class LogisticRegression(Regression):
    """Logistic regression: how the log odds of a condition go with other columns, with normal intervals.

    Fitted by iteratively reweighted least squares. Where all records of a category answer alike, its log odds are
    infinite: the coefficient cannot be told, and these records say nothing about the others. For the rest it is as in a
    linear regression.

    Parameters
    ----------
    response
        The condition whose odds are explained, such as ``readmitted = '<30'``.
    terms
        The columns, or conditions such as ``dx under 250``, that explain it.
    reference
        For terms of categories the one that the others are compared with; by default the commonest of the original.

    References
    ----------
    McCullagh, Nelder (1989), Generalized Linear Models, Chapman and Hall, chapter 4.

    Examples
    --------
    The log odds ratio of two groups, 3 of 4 against 1 of 4, is log 9.

    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"sex": ["f"] * 4 + ["m"] * 4, "days": [1, 2, 3, 9, 1, 7, 8, 9]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    ...     tm.Attribute("days", role="quasi_identifier", kind="continuous"),
    ... ])
    >>> long = tm.LogisticRegression("long stay", response="days > 5", terms=["sex"])
    >>> found = tm.evaluate(table, table, schema, analyses=[long]).analyses["long stay"]
    >>> round(float(np.exp(found.before["sex = m"].value)), 6)
    9.0
    """

    kind = "logistic_regression"
    about = "How the log odds of a condition go with other columns: logistic regression with chosen terms."

    def conditions(self) -> tuple[str, ...]:
        return (*super().conditions(), self.response)

    def words(self) -> str:
        return f"The log odds of {super().words()}"

    def outcome(self, side: Side) -> Float:
        truth = parse(self.response).on(side)
        return np.where(truth.known, truth.true.astype(float), np.nan)

    def fitted(self, design: Design, records: Records, count: int) -> Fit | None:
        from scipy.special import ndtri

        cases, answers = _telling(_Cases(self, design), records)
        if answers.count < 2 or answers.low == answers.high:
            return None
        found = _maximum(cases, records)
        if found is None:
            return None
        kept, coefficients, inverse = found
        covariance = inverse
        if records.weights is not None:
            (meat,) = records.fold(_scores, added, cases, kept, coefficients)
            covariance = inverse @ meat @ inverse * (answers.count / max(answers.count - len(kept), 1))
        gone = [design.names[i] for i in cases.gone]
        notes = (f"all records answer alike in {', '.join(gone)}.",) if gone else ()
        return Fit(kept, coefficients, covariance, float(ndtri((1 + self.confidence) / 2)), answers.count, notes)


@dataclass(frozen=True)
class _Cases:
    """The complete cases but for those of some categories, which all answer alike."""

    model: LogisticRegression
    design: Design
    gone: tuple[int, ...] = ()

    def blocks(self, side: Side) -> Iterator[tuple[Float, Float, Float]]:
        """The answers of some cases at a time, what they count, and their design."""
        outcome, rows = self.model.complete(side)
        w = np.ones(side.n) if side.weights is None else side.weights
        for block, x in self.design.blocks(side, rows):
            if self.gone:
                stay = ~(x[:, list(self.gone)] == 1.0).any(axis=1)
                block, x = block[stay], x[stay]
            yield outcome[block], w[block], x


@dataclass(frozen=True, eq=False)
class _Answers:
    """How many cases there are, and the least and the largest answer: of all, and of those in which a column is 1.

    ``binary``: whether a column is 0 in all others.
    """

    count: int
    low: float
    high: float
    inside: Float
    least: Float
    largest: Float
    binary: NDArray[np.bool_]

    def with_(self, other: _Answers) -> _Answers:
        return _Answers(
            self.count + other.count,
            min(self.low, other.low),
            max(self.high, other.high),
            self.inside + other.inside,
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
            self.binary & other.binary,
        )


def _answers(side: Side, cases: _Cases) -> _Answers:
    width = len(cases.design.names)
    none = np.full(width, np.inf)
    found = _Answers(0, np.inf, -np.inf, np.zeros(width), none, -none, np.ones(width, dtype=bool))
    for answers, _, x in cases.blocks(side):
        inside, each = x == 1.0, answers[:, None]
        some = _Answers(
            len(answers),
            float(answers.min(initial=np.inf)),
            float(answers.max(initial=-np.inf)),
            inside.sum(axis=0).astype(float),
            np.where(inside, each, np.inf).min(axis=0, initial=np.inf),
            np.where(inside, each, -np.inf).max(axis=0, initial=-np.inf),
            (inside | (x == 0.0)).all(axis=0),
        )
        found = found.with_(some)
    return found


def _telling(cases: _Cases, records: Records) -> tuple[_Cases, _Answers]:
    """The cases without those of categories that all answer alike, until there are none; and what they answer."""
    while True:
        found = records.fold(_answers, _Answers.with_, cases)
        same = (found.least == found.largest) & (found.inside > 0) & (found.inside < found.count)
        alike = np.flatnonzero(found.binary & same)
        if not len(alike):
            return cases, found
        cases = replace(cases, gone=(*cases.gone, *alike.tolist()))


def _maximum(cases: _Cases, records: Records) -> tuple[list[int], Float, Float] | None:
    """The columns, coefficients and inverse information of the greatest likelihood; None if there is no maximum."""

    def likelihood(beta: Float) -> tuple[float, Float, Float]:
        value, information, gradient = records.fold(_likelihood, added, cases, beta)
        return value, information, gradient

    beta = np.zeros(len(cases.design.names))
    last, information, gradient = likelihood(beta)
    kept, step, inverse = solve(information, gradient)
    for _ in range(STEPS):
        for halving in range(HALVINGS):
            new = beta.copy()
            new[kept] += step / 2**halving
            value, information, gradient = likelihood(new)
            if value >= last - 1e-9 * abs(last):
                break
        else:
            return None
        moved, beta, last = float(np.abs(new - beta).max()), new, value
        known = np.ix_(kept, kept)
        try:
            inverse = np.asarray(np.linalg.inv(information[known]), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        step = inverse @ gradient[kept]
        if moved < 1e-8:
            return (kept, beta[kept], inverse) if np.abs(beta).max() < 30 else None
    return None


def _likelihood(side: Side, cases: _Cases, beta: Float) -> tuple[float, Float, Float]:
    width = len(beta)
    value, information, gradient = 0.0, np.zeros((width, width)), np.zeros(width)
    for y, w, x in cases.blocks(side):
        score = x @ beta
        chance = _chance(score)
        value += float(w @ (y * score - np.logaddexp(0.0, score)))
        information += (x * (w * chance * (1 - chance))[:, None]).T @ x
        gradient += x.T @ (w * (y - chance))
    return value, information, gradient


def _scores(side: Side, cases: _Cases, kept: list[int], coefficients: Float) -> tuple[Float]:
    meat = np.zeros((len(kept), len(kept)))
    for y, w, x in cases.blocks(side):
        scores = x[:, kept] * (w * (y - _chance(x[:, kept] @ coefficients)))[:, None]
        meat += scores.T @ scores
    return (meat,)


def _chance(score: Float) -> Float:
    from scipy.special import expit

    return np.asarray(expit(score))
