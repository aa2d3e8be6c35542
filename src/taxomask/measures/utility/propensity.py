"""Can a model tell released records from original ones?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Microdata
from ._design import Design
from ._moments import ordered
from .result import Result, side_by_side

__all__ = ["Propensity", "propensity"]

Float = NDArray[np.float64]

RIDGE = 1e-6
PRODUCTS = 15


@dataclass(frozen=True)
class Propensity(Result):
    """How well a logistic regression tells released records from original ones.

    Parameters
    ----------
    overall
        pMSE / (c (1 - c)): 0 if it cannot, 1 if it always can.
    pmse
        The mean of (p - c)² over the records of both tables, p being the probability that the model gives a record to
        be a released one and c their share.
    expected
        What pmse would be on average for a table of records drawn at random from the original: (k - 1)(1 - c)² c / N
        for a model of k coefficients and N records in all.
    ratio
        pmse / expected; about 1 for such a table, and 1 / (1 - c) for another sample of the same population.
    coefficients
        k, the intercept included; those that are combinations of others are not counted.
    """

    overall: float
    pmse: float
    expected: float
    ratio: float
    coefficients: int


def propensity(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Propensity:
    """pMSE, with its null expectation.

    Both tables are stacked and a logistic regression is fitted to tell them apart: by numbers and ordinal positions,
    their squares and products (of up to 15 of them; squares only beyond that), indicators of frequent categories and
    of the chapters of a taxonomy. A small ridge (10⁻⁶ per record, numbers being in standard deviations) keeps it finite
    where the tables can be told apart perfectly.

    References
    ----------
    Snoke, Raab, Nowok, Dibben, Slavkovic (2018), General and specific utility measures for synthetic data, Journal of
    the Royal Statistical Society A 181.
    """
    columns = side_by_side(original, released, attributes)
    total = original.n + released.n
    if not original.n or not released.n:
        return Propensity(0.0, 0.0, 0.0, 0.0, 1)
    model = _Logistic(columns, (original.n, released.n))
    beta, rank = model.fit()
    share = released.n / total
    pmse = model.mean_square(beta, share)
    expected = (rank - 1) * (1 - share) ** 2 * share / total
    ratio = pmse / expected if expected > 0 else 0.0
    return Propensity(pmse / (share * (1 - share)), pmse, expected, ratio, rank)


class _Logistic:
    """Logistic regression of "is a released record", by Newton's method over blocks of records."""

    def __init__(self, columns: Mapping[str, tuple[Column, Column]], sizes: tuple[int, int]) -> None:
        self.design = Design(columns)
        self.tables = [{name: pair[when] for name, pair in columns.items()} for when in (0, 1)]
        self.sizes = sizes
        places = [self.design.places[name].start for name, (x, _) in columns.items() if ordered(x)]
        products = [(a, b) for a in places for b in places if a < b] if len(places) <= PRODUCTS else []
        crossed = np.array([*((a, a) for a in places), *products], dtype=np.int64).reshape(-1, 2)
        self.left, self.right = crossed[:, 0], crossed[:, 1]
        self.width = self.design.width + len(crossed)

    def blocks(self, when: int) -> Iterable[Float]:
        for block in self.design.blocks(self.tables[when], np.arange(self.sizes[when])):
            yield np.concatenate([block, block[:, self.left] * block[:, self.right]], axis=1)

    def fit(self) -> tuple[Float, int]:
        """The coefficients, and how many of them are independent."""
        total = sum(self.sizes)
        beta = np.zeros(self.width)
        beta[0] = math.log(self.sizes[1] / self.sizes[0])
        penalty = np.full(self.width, RIDGE * total)
        penalty[0] = 0.0
        value, gradient, curvature = self._look(beta, penalty)
        rank = int(np.linalg.matrix_rank(_scaled(curvature - np.diag(penalty))[0], hermitian=True, rtol=1e-10))
        for _ in range(100):
            level, scale = _scaled(curvature)
            step = scale * np.linalg.lstsq(level, scale * gradient, rcond=1e-13)[0]
            gain = float(gradient @ step)
            if gain <= 1e-12 * total:
                break
            for _ in range(40):
                found = self._look(beta + step, penalty)
                if found[0] >= value:
                    break
                step /= 2
            else:
                break
            beta = beta + step
            value, gradient, curvature = found
        return beta, rank

    def mean_square(self, beta: Float, share: float) -> float:
        sums = [sum(float(np.square(_chance(x @ beta) - share).sum()) for x in self.blocks(when)) for when in (0, 1)]
        return sum(sums) / sum(self.sizes)

    def _look(self, beta: Float, penalty: Float) -> tuple[float, Float, Float]:
        """The penalised log-likelihood with its first and (negative) second derivative.

        Each table is summed by itself: for equal tables the gradient at the start is exactly 0 then.
        """
        value, gradient, curvature = -float(penalty @ beta**2) / 2, -penalty * beta, np.diag(penalty)
        for when in (0, 1):
            slope = np.zeros(self.width)
            for x in self.blocks(when):
                score = x @ beta
                p = _chance(score)
                value -= float(np.logaddexp(0.0, score if when == 0 else -score).sum())
                slope += x.T @ (when - p)
                curvature += (x * (p * (1 - p))[:, None]).T @ x
            gradient = gradient + slope
        return value, gradient, curvature


def _scaled(matrix: Float) -> tuple[Float, Float]:
    """A matrix with ones on its diagonal, and what it was multiplied by on both sides."""
    diagonal = np.diag(matrix)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    return matrix * np.outer(scale, scale), scale


def _chance(score: Float) -> Float:
    from scipy.special import expit

    return np.asarray(expit(score))
