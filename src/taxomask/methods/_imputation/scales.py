"""A regression for numbers and ordered categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import ndtr, ndtri

__all__ = ["ScaleModel"]

Float = NDArray[np.float64]

ROUNDS = 20
"""Rounds of data augmentation. Only the place of a score between its neighbours is drawn, which settles quickly."""
RIDGE = 0.1
"""The prior precision of a coefficient, in units of 1/σ²: lost among a hundred records, but enough for three."""


class ScaleModel:
    """y = g(z), z = xβ + σe with normal e and an increasing g: a normal linear model of an ordered scale.

    A value of y is an interval of z between two cuts. The cuts are such that the model gives every value its observed
    share, over the observed x; so the margin is kept whatever its shape, ties and limits included, and the predictors
    may be of any shape too. For few values this is the ordered probit model, for many a linear regression on scores.

    The posterior is drawn by data augmentation (Albert and Chib 1993): the scores z within their intervals given the
    coefficients, then σ² (scaled inverse χ²) and β (normal) given the scores.
    """

    def __init__(self, levels: NDArray[np.int64], count: int, x: Float) -> None:
        self._levels, self._x = levels, x
        self._shares = np.cumsum(np.bincount(levels, minlength=count))[:-1] / max(len(levels), 1)
        if not len(self._shares):
            return  # nothing, or one value only: there is nothing to learn
        penalty = np.full(x.shape[1], RIDGE)
        penalty[0] = 0.0
        self._factor = cho_factor(x.T @ x + np.diag(penalty), lower=True)
        shrunk = RIDGE * np.trace(cho_solve(self._factor, np.eye(x.shape[1]))[1:, 1:])
        self._freedom = max(len(levels) - (x.shape[1] - shrunk), 1.0)

    def draw(self, x: Float, rng: np.random.Generator) -> NDArray[np.int64]:
        """Levels for records with these predictors."""
        if not len(self._shares):
            return np.zeros(len(x), dtype=np.int64)
        mean, sigma = np.zeros(len(self._x)), 1.0
        cuts = ndtri(self._shares)
        for _ in range(ROUNDS):
            scores = self._scores(mean, sigma, cuts, rng)
            centre, squares = self._estimate(scores)
            cuts = _cuts(self._x @ centre, np.sqrt(squares / self._freedom), self._shares)
            coefficients, sigma = self._posterior(centre, squares, rng)
            mean = self._x @ coefficients
        return np.searchsorted(cuts, x @ coefficients + sigma * rng.normal(size=len(x)))

    def _estimate(self, scores: Float) -> tuple[Float, float]:
        """The coefficients of least (penalised) squares, and the squares."""
        moments = self._x.T @ scores
        centre = cho_solve(self._factor, moments)
        return centre, max(float(scores @ scores - centre @ moments), 1e-9 * len(scores))

    def _posterior(self, centre: Float, squares: float, rng: np.random.Generator) -> tuple[Float, float]:
        sigma = float(np.sqrt(squares / rng.chisquare(self._freedom)))
        noise = solve_triangular(self._factor[0], rng.normal(size=len(centre)), lower=True, trans="T")
        return centre + sigma * noise, sigma

    def _scores(self, mean: Float, sigma: float, cuts: Float, rng: np.random.Generator) -> Float:
        """Normal scores about the mean, each within the interval of its value."""
        edges = np.concatenate([[-np.inf], cuts, [np.inf]])
        low = (edges[self._levels] - mean) / sigma
        high = (edges[self._levels + 1] - mean) / sigma
        upper = low > 0  # mirrored: small probabilities are more exact than those near 1
        a, b = np.where(upper, -high, low), np.where(upper, -low, high)
        below, above = ndtr(a), ndtr(b)
        drawn = ndtri(below + (above - below) * rng.random(len(mean)))
        drawn = np.where(np.isfinite(drawn), drawn, np.where(np.isfinite(b), b, a))  # far out, where ndtr is 0
        return mean + sigma * np.where(upper, -drawn, drawn)


def _cuts(mean: Float, sigma: float, shares: Float) -> Float:
    """Where the mixture of normal distributions N(mean, σ²) over the records has these shares below."""
    lowest, highest = float(mean.min()), float(mean.max())
    if highest - lowest < 1e-9 * sigma:
        return lowest + sigma * ndtri(shares)
    centres = np.linspace(lowest, highest, 129)
    place = (mean - lowest) * (128 / (highest - lowest))
    left = np.minimum(place.astype(np.int64), 127)  # each record is shared by the two centres beside it
    weights = np.bincount(left, 1 - (place - left), 129) + np.bincount(left + 1, place - left, 129)
    grid = np.linspace(lowest - 8 * sigma, highest + 8 * sigma, 257)
    below = ndtr((grid[:, None] - centres) / sigma) @ weights / len(mean)
    scale = ndtri(np.clip(below, 0, 1))  # nearly straight against the grid, far out too
    usable = np.isfinite(scale)
    return np.interp(ndtri(shares), scale[usable], grid[usable])
