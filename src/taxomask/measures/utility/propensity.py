"""Can a model tell released records from original ones?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Microdata
from ..measure import Measure
from ..side_by_side import side_by_side
from ._design import Design
from ._moments import ordered, sum_of_products
from .result import Result

__all__ = ["PROPENSITY", "Propensity", "propensity"]

Float = NDArray[np.float64]

RIDGE = 1e-6
PRODUCTS = 15
NEARER = 30  # a step is good if the next one promises this many times less


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
    chances, rank = _Logistic(columns, (original.n, released.n)).fit()
    share = released.n / total
    pmse = sum(float(np.square(one - share).sum()) for one in chances) / total
    expected = (rank - 1) * (1 - share) ** 2 * share / total
    ratio = pmse / expected if expected > 0 else 0.0
    return Propensity(pmse / (share * (1 - share)), pmse, expected, ratio, rank)


class _Logistic:
    """Logistic regression of "is a released record", by Newton's method.

    The second derivative costs far more than the first, and changes little where the tables hardly differ: it is
    computed anew only when a step with the old one gets too little nearer.
    """

    def __init__(self, columns: Mapping[str, tuple[Column, Column]], sizes: tuple[int, int]) -> None:
        self.design = Design.of(columns)
        self.tables = [{name: pair[when] for name, pair in columns.items()} for when in (0, 1)]
        self.sizes = sizes
        self.ordered = [name for name, (x, _) in columns.items() if ordered(x)]
        several = len(self.ordered) <= PRODUCTS
        squares = [(place, place) for place in range(len(self.ordered))]
        self.crossed = squares + (list(combinations(range(len(self.ordered)), 2)) if several else [])
        self.penalty = np.full(self.design.width + len(self.crossed), RIDGE * sum(sizes))
        self.penalty[0] = 0.0

    def fit(self) -> tuple[list[Float], int]:
        """The chance that the model gives each record, and how many of its coefficients are independent."""
        total = sum(self.sizes)
        beta = np.zeros(len(self.penalty))
        beta[0] = math.log(self.sizes[1] / self.sizes[0])
        here = self._look(beta)
        curvature = self._curvature(here)
        rank = int(np.linalg.matrix_rank(_scaled(curvature - np.diag(self.penalty))[0], hermitian=True, rtol=1e-10))
        inverse, last = _inverse(curvature), math.inf
        for _ in range(100):
            step = inverse @ here.gradient
            gain = float(here.gradient @ step)
            if gain > last / NEARER:
                inverse = _inverse(self._curvature(here))
                step = inverse @ here.gradient
                gain = float(here.gradient @ step)
            near = gain <= 1e-12 * total  # so that the likelihood says no more: steps go on while they get nearer
            if gain <= 1e-24 * total or (near and gain > last / NEARER):
                break
            found = self._look(beta + step)
            for _ in range(0 if near else 40):
                if found.value >= here.value:
                    break
                step /= 2
                found = self._look(beta + step)
            if not near and found.value < here.value:
                break
            beta, here, last = beta + step, found, gain
        return here.chances, rank

    def _look(self, beta: Float) -> _Look:
        """Each table is summed by itself: for equal tables the gradient at the start is exactly 0 then."""
        value, gradient, chances = -float(self.penalty @ beta**2) / 2, -self.penalty * beta, []
        linear, crossed = np.split(beta, [self.design.width])
        for when, columns in enumerate(self.tables):
            standard = self.design.standard(columns)
            z = [standard[name] for name in self.ordered]
            score = np.broadcast_to(self.design.times(columns, standard, linear), self.sizes[when]).copy()
            for coefficient, (a, b) in zip(crossed, self.crossed, strict=True):
                score += coefficient * z[a] * z[b]
            p = _chance(score)
            rest = when - p
            products = [sum_of_products(z[a] * z[b], rest) for a, b in self.crossed]
            value -= float(np.logaddexp(0.0, score if when == 0 else -score).sum())
            gradient = gradient + np.concatenate([self.design.sums(columns, standard, rest), products])
            chances.append(p)
        return _Look(value, gradient, chances)

    def _curvature(self, here: _Look) -> Float:
        """The negative second derivative, over blocks of records."""
        curvature = np.diag(self.penalty)
        places = np.array([self.design.places[name].start for name in self.ordered], dtype=np.int64)
        left, right = places[np.array(self.crossed, dtype=np.int64).reshape(-1, 2)].T
        for columns, p in zip(self.tables, here.chances, strict=True):
            start = 0
            for block in self.design.blocks(columns, np.arange(len(p))):
                root = np.sqrt(p * (1 - p))[start : start + len(block), None]
                x = np.concatenate([block, block[:, left] * block[:, right]], axis=1)
                x *= root
                curvature += x.T @ x
                start += len(block)
        return curvature


@dataclass(frozen=True)
class _Look:
    """The penalised log-likelihood at some coefficients, its first derivative, and the chance of each record."""

    value: float
    gradient: Float
    chances: list[Float]


def _inverse(curvature: Float) -> Float:
    """What turns a gradient into a step; nothing is gained along directions that the data do not tell."""
    level, scale = _scaled(curvature)
    return np.outer(scale, scale) * np.linalg.pinv(level, rcond=1e-13, hermitian=True)


def _scaled(matrix: Float) -> tuple[Float, Float]:
    """A matrix with ones on its diagonal, and what it was multiplied by on both sides."""
    diagonal = np.diag(matrix)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    return matrix * np.outer(scale, scale), scale


def _chance(score: Float) -> Float:
    from scipy.special import expit

    return np.asarray(expit(score))


PROPENSITY = Measure(
    "propensity",
    title="propensity",
    about="How well a model tells released from original records: 0 is not at all, 1 is always.",
    paper="pMSE / c(1 − c)",
    compute=lambda tables, _: propensity(*tables.aligned),
    seconds=lambda tables: 3e-7 * tables.cells + 2e-8 * tables.n * tables.pairs,
    sampled=True,
)
