"""A logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._model import Design, Fit, Regression, solve
from .condition import parse
from .side import Side

__all__ = ["LogisticRegression"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

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

    def outcome(self, side: Side) -> Float:
        truth = parse(self.response).on(side)
        return np.where(truth.known, truth.true.astype(float), np.nan)

    def fitted(self, design: Design, side: Side, outcome: Float, rows: Whole) -> Fit | None:
        from scipy.special import ndtri

        w = np.ones(side.n) if side.weights is None else side.weights
        rows, gone = _telling(design, side, outcome, rows)
        if len(rows) < 2 or outcome[rows].min() == outcome[rows].max():
            return None
        found = _maximum(design, side, outcome, rows, w)
        if found is None:
            return None
        kept, coefficients, inverse = found
        covariance = inverse
        if side.weights is not None:
            meat = np.zeros_like(inverse)
            for block, x in design.blocks(side, rows):
                error = outcome[block] - _chance(x[:, kept] @ coefficients)
                scores = x[:, kept] * (w[block] * error)[:, None]
                meat += scores.T @ scores
            covariance = inverse @ meat @ inverse * (len(rows) / max(len(rows) - len(kept), 1))
        notes = (f"all records answer alike in {', '.join(gone)}.",) if gone else ()
        return Fit(kept, coefficients, covariance, float(ndtri((1 + self.confidence) / 2)), len(rows), notes)


def _telling(design: Design, side: Side, outcome: Float, rows: Whole) -> tuple[Whole, list[str]]:
    """The records without those of categories that all answer alike, and these categories; until there are none."""
    gone: list[str] = []
    while True:
        width = len(design.names)
        low, high, count = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
        binary = np.ones(width, dtype=bool)
        for block, x in design.blocks(side, rows):
            inside = x == 1.0
            binary &= (inside | (x == 0.0)).all(axis=0)
            answers = outcome[block][:, None]
            low = np.minimum(low, np.where(inside, answers, np.inf).min(axis=0, initial=np.inf))
            high = np.maximum(high, np.where(inside, answers, -np.inf).max(axis=0, initial=-np.inf))
            count += inside.sum(axis=0)
        alike = np.flatnonzero(binary & (low == high) & (count > 0) & (count < len(rows)))
        if not len(alike):
            return rows, gone
        gone += [design.names[i] for i in alike.tolist()]
        stay = [block[~(x[:, alike] == 1.0).any(axis=1)] for block, x in design.blocks(side, rows)]
        rows = np.concatenate(stay)


def _maximum(
    design: Design, side: Side, outcome: Float, rows: Whole, w: Float
) -> tuple[list[int], Float, Float] | None:
    """The columns, coefficients and inverse information of the greatest likelihood; None if there is no maximum."""
    width = len(design.names)
    beta = np.zeros(width)
    last, information, gradient = _likelihood(design, side, outcome, rows, w, beta)
    kept, step, inverse = solve(information, gradient)
    for _ in range(STEPS):
        for halving in range(HALVINGS):
            new = beta.copy()
            new[kept] += step / 2**halving
            value, information, gradient = _likelihood(design, side, outcome, rows, w, new)
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


def _likelihood(
    design: Design, side: Side, outcome: Float, rows: Whole, w: Float, beta: Float
) -> tuple[float, Float, Float]:
    width = len(design.names)
    value, information, gradient = 0.0, np.zeros((width, width)), np.zeros(width)
    for block, x in design.blocks(side, rows):
        score, y = x @ beta, outcome[block]
        chance = _chance(score)
        value += float(w[block] @ (y * score - np.logaddexp(0.0, score)))
        information += (x * (w[block] * chance * (1 - chance))[:, None]).T @ x
        gradient += x.T @ (w[block] * (y - chance))
    return value, information, gradient


def _chance(score: Float) -> Float:
    from scipy.special import expit

    return np.asarray(expit(score))
