"""A linear regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Kind
from ._model import Design, Fit, Moments, Regression, added, solve
from .records import Records
from .side import Side

__all__ = ["LinearRegression"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class LinearRegression(Regression):
    """Ordinary least squares with t intervals: how a number goes with other columns.

    A column of numbers is one coefficient, in its own unit; one of categories is a coefficient for each category but
    the reference. A term may be a condition. Records of which a value is missing are left out (complete cases), and are
    taken as independent. With sampling weights: weighted least squares, with the sandwich estimate of the variance.

    Parameters
    ----------
    response
        The column of numbers that is explained.
    terms
        The columns, or conditions such as ``dx under 250``, that explain it.
    reference
        For terms of categories the one that the others are compared with; by default the commonest of the original.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [1, 2, 3, 4], "days": [1, 3, 5, 7]})
    >>> schema = tm.Schema([tm.Attribute(one, role="quasi_identifier", kind="continuous") for one in ("age", "days")])
    >>> slope = tm.LinearRegression("slope", response="days", terms=["age"])
    >>> found = tm.evaluate(table, table, schema, analyses=[slope]).analyses["slope"]
    >>> round(found.before["age"].value, 9), round(found.before["intercept"].value, 9), found.overlap
    (2.0, -1.0, 1.0)
    """

    kind = "linear_regression"
    about = "How a column of numbers goes with others: least squares with chosen terms."

    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        return {**super().used(), self.response: (Kind.CONTINUOUS,)}

    def outcome(self, side: Side) -> Float:
        return side[self.response].numbers()

    def fitted(self, design: Design, records: Records, count: int) -> Fit | None:
        from scipy.special import stdtrit

        middle = records.fold(_middle, Moments.with_, self).mean  # so that large numbers lose nothing
        gram, right, squares = records.fold(_equations, added, self, design, middle)
        kept, coefficients, inverse = solve(gram, right)
        freedom = count - len(kept)
        if freedom <= 0 or not kept:
            return None
        rest, meat = records.fold(_errors, added, self, design, middle, kept, coefficients)
        if records.weights is None:
            covariance = inverse * (0.0 if rest < 1e-20 * squares else rest / freedom)
        else:
            covariance = inverse @ meat @ inverse * (count / freedom)
        if kept[0] == 0:
            coefficients[0] += middle
        quantile = float(stdtrit(freedom, (1 + self.confidence) / 2))
        return Fit(kept, coefficients, covariance, quantile, count)


def _middle(side: Side, model: LinearRegression) -> Moments:
    outcome, rows = model.complete(side)
    return Moments.of(outcome[rows])


def _equations(side: Side, model: LinearRegression, design: Design, middle: float) -> tuple[Float, Float, float]:
    """The normal equations of the complete cases, and the squares of the response."""
    outcome, rows = model.complete(side)
    w = np.ones(side.n) if side.weights is None else side.weights
    width = len(design.names)
    gram, right, squares = np.zeros((width, width)), np.zeros(width), 0.0
    for block, x in design.blocks(side, rows):
        weighted = x * w[block][:, None]
        gram += weighted.T @ x
        right += weighted.T @ (outcome[block] - middle)
        squares += float(w[block] @ (outcome[block] - middle) ** 2)
    return gram, right, squares


def _errors(
    side: Side, model: LinearRegression, design: Design, middle: float, kept: list[int], coefficients: Float
) -> tuple[float, Float]:
    """The squares of the errors, and of the scores."""
    outcome, rows = model.complete(side)
    w = np.ones(side.n) if side.weights is None else side.weights
    rest, meat = 0.0, np.zeros((len(kept), len(kept)))
    for block, x in design.blocks(side, rows):
        error = outcome[block] - middle - x[:, kept] @ coefficients
        rest += float(error @ error)
        scores = x[:, kept] * (w[block] * error)[:, None]
        meat += scores.T @ scores
    return rest, meat
