"""A linear regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Kind
from ._model import Design, Fit, Regression, solve
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

    def fitted(self, design: Design, side: Side, outcome: Float, rows: NDArray[np.int64]) -> Fit | None:
        from scipy.special import stdtrit

        middle = float(outcome[rows].mean()) if len(rows) else 0.0  # so that large numbers lose nothing
        w = np.ones(side.n) if side.weights is None else side.weights
        width = len(design.names)
        gram, right, squares = np.zeros((width, width)), np.zeros(width), 0.0
        for block, x in design.blocks(side, rows):
            weighted = x * w[block][:, None]
            gram += weighted.T @ x
            right += weighted.T @ (outcome[block] - middle)
            squares += float(w[block] @ (outcome[block] - middle) ** 2)
        kept, coefficients, inverse = solve(gram, right)
        freedom = len(rows) - len(kept)
        if freedom <= 0 or not kept:
            return None
        rest, meat = 0.0, np.zeros((len(kept), len(kept)))
        for block, x in design.blocks(side, rows):
            error = outcome[block] - middle - x[:, kept] @ coefficients
            rest += float(error @ error)
            scores = x[:, kept] * (w[block] * error)[:, None]
            meat += scores.T @ scores
        if side.weights is None:
            covariance = inverse * (0.0 if rest < 1e-20 * squares else rest / freedom)
        else:
            covariance = inverse @ meat @ inverse * (len(rows) / freedom)
        if kept[0] == 0:
            coefficients[0] += middle
        quantile = float(stdtrit(freedom, (1 + self.confidence) / 2))
        return Fit(kept, coefficients, covariance, quantile, len(rows))
