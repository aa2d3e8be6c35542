"""A logistic regression for a choice between two, from which parameters can be drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit, logit

__all__ = ["Dichotomy"]

Float = NDArray[np.float64]

PRIOR = 1.25
"""The scale of the Cauchy prior of coefficients: 2.5 for half a standard deviation (Gelman et al. 2008)."""


class Dichotomy:
    """Whether a record goes right, given its predictors.

    The share of records that go right, over the observed x, is drawn from a beta distribution about the observed one,
    and the coefficients from the normal approximation of their posterior at its mode. Their prior is a Cauchy
    distribution: noise is shrunk, strong effects hardly, and a perfect separation has a finite mode. The constant
    follows from the share and the coefficients.

    Parameters
    ----------
    x
        The predictors: first the records that go left, then those that go right. None if they are too few to learn
        anything from.
    left, right
        How many records go there.
    """

    def __init__(self, x: Float | None, left: int, right: int) -> None:
        self._x, self._left, self._right = x, left, right
        self._precision = 1.0
        if x is not None:
            self._mode, information = _mode(x, left)
            self._factor = np.linalg.cholesky(information)
            # Predictors explain a part of the variance of the share; what is left is that of the records given x.
            p = expit(x @ self._mode)
            share = right / (left + right)
            self._precision = share * (1 - share) / max(float((p * (1 - p)).mean()), 1e-6)

    def draw(self, rng: np.random.Generator) -> tuple[Float | None, float]:
        """The coefficients (None: all 0) and the constant, which add up to the logit of going right."""
        share = float(rng.beta(self._right * self._precision, self._left * self._precision))
        if self._x is None:
            return None, float(logit(share))
        noise = solve_triangular(self._factor, rng.normal(size=len(self._mode)), lower=True, trans="T")
        coefficients = self._mode + noise
        return coefficients, _constant(self._x @ coefficients, share)


def _mode(x: Float, left: int) -> tuple[Float, Float]:
    """The mode of the posterior, and the information there: Newton steps, the prior majorised by a normal one."""
    right = x[left:].sum(axis=0)
    beta = np.zeros(x.shape[1])
    beta[0] = np.log((len(x) - left) / left)

    def loss(beta: Float) -> float:
        eta = x @ beta
        return float(np.logaddexp(0, eta).sum() - beta @ right + np.log(PRIOR**2 + np.square(beta[1:])).sum())

    def information(beta: Float) -> tuple[Float, Float, Float]:
        p = expit(x @ beta)
        precision = np.concatenate([[1e-6], 2 / (PRIOR**2 + np.square(beta[1:]))])
        return p, precision, (x * (p * (1 - p))[:, None]).T @ x + np.diag(precision)

    before = loss(beta)
    for _ in range(50):
        p, precision, hessian = information(beta)
        step = np.linalg.solve(hessian, x.T @ p - right + precision * beta)
        after = loss(beta - step)
        while after > before and np.abs(step).max() > 1e-8:
            step /= 2
            after = loss(beta - step)
        beta, before = beta - step, after
        if np.abs(step).max() < 1e-3:
            break
    return beta, information(beta)[2]


def _constant(eta: Float, share: float) -> float:
    """What to add so that the mean probability is the share: Newton steps on the logit, kept between bounds."""
    share = min(max(share, 1e-12), 1 - 1e-12)
    goal = float(logit(share))
    low, high = goal - float(eta.max()), goal - float(eta.min())
    constant = goal - float(np.median(eta))
    for _ in range(100):
        p = expit(constant + eta)
        mean = float(p.mean())
        if abs(mean - share) < 1e-9 + 1e-6 * share * (1 - share):
            break
        low, high = (constant, high) if mean < share else (low, constant)
        slope = float((p * (1 - p)).mean())
        constant = constant + (share - mean) / slope if slope > 0 else high
        if not low < constant < high:
            constant = (low + high) / 2
    return constant
