"""The Gaussian copula of a table: ranks, their correlations, normal scores, and some columns given the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._support.sorting import centred_ranks
from ..semantics.ordering import Keys

__all__ = ["Conditional", "Ranked", "conditional", "normal_scores", "positive_definite", "ranked", "spearman"]

Float = NDArray[np.float64]

_SMALLEST = 1e-6  # of the eigenvalues of a correlation matrix that counts as positive definite


@dataclass(frozen=True, eq=False)
class Ranked:
    """The average ranks of the m values of a column, centred and doubled: 2·rank − (m + 1); 0 where missing."""

    ranks: Float
    present: NDArray[np.bool_] | None
    """Where there is a value; None if everywhere."""

    @cached_property
    def m(self) -> int:
        """The number of values."""
        return len(self.ranks) if self.present is None else int(self.present.sum())

    @property
    def constant(self) -> bool:
        """Whether the values are all the same."""
        return self.spread == 0

    @cached_property
    def spread(self) -> float:
        """The sum of squares of the ranks."""
        return _product(self.ranks, self.ranks)

    @property
    def tied(self) -> bool:
        """Whether values occur so often that the ranks spread less than those of different values, by a billionth."""
        return self.spread < self.m * (self.m**2 - 1) / 3 * (1 - 1e-9)

    def values(self) -> Float:
        """The ranks of the records with a value."""
        return self.ranks if self.present is None else self.ranks[self.present]

    def among(self, rows: NDArray[np.bool_]) -> Ranked:
        """The values of some records, all of which have one, ranked anew."""
        return Ranked(centred_ranks((self.ranks[rows] + self.m + 1).astype(np.int64)), None)


def ranked(keys: Keys, missing: NDArray[np.bool_]) -> Ranked:
    """The ranks of a column's keys."""
    if not missing.any():
        return Ranked(centred_ranks(keys), None)
    present = ~missing
    ranks = np.zeros(len(keys))
    ranks[present] = centred_ranks(keys[present])
    return Ranked(ranks, present)


def spearman(a: Ranked, b: Ranked) -> float:
    """The rank correlation of two columns, ranked anew among the records that have both values; NaN if not known."""
    a, b = _complete(a, b)
    if a.constant or b.constant:
        return float("nan")
    return _product(a.ranks, b.ranks) / float(np.sqrt(a.spread * b.spread))


def normal_scores(m: int) -> Float:
    """Φ⁻¹((rank − 0.5) / m) for the ranks 1, 1.5, 2, … m."""
    from scipy.special import ndtri

    upper = ndtri(np.arange(m, 2 * m) / (2 * m))  # by symmetry; the middle one is 0
    return np.concatenate([-upper[:0:-1], upper])


def positive_definite(matrix: Float) -> Float:
    """A correlation matrix near this one that is positive definite; the same one if it is."""
    values, vectors = np.linalg.eigh(matrix)
    if not len(values) or values[0] >= _SMALLEST:
        return matrix
    raised: Float = (vectors * np.maximum(values, _SMALLEST)) @ vectors.T
    size = np.sqrt(np.diag(raised))
    raised /= size[:, None] * size
    return (raised + raised.T) / 2


@dataclass(frozen=True, eq=False)
class Conditional:
    """Normal variables given others: weights · given + factor · noise."""

    weights: Float
    factor: Float

    def draw(self, place: int, noise: Iterable[Float], given: Iterable[Float]) -> Float:
        """One of the variables; a row of noise for it and each before it, and a row for each given one.

        Not a matrix product, whose last bits may depend on the number of threads.
        """
        weights = (*self.factor[place, : place + 1].tolist(), *self.weights[place].tolist())
        rows = itertools.chain(noise, given)
        drawn = weights[0] * next(rows)
        part = np.empty_like(drawn)
        for weight, row in zip(weights[1:], rows, strict=True):
            drawn += np.multiply(row, weight, out=part)
        return drawn

    @property
    def explained(self) -> Float:
        """The share of each variable's variance that the given ones explain."""
        return 1 - np.square(self.factor).sum(axis=1)


def conditional(rho: Float, first: int) -> Conditional:
    """The first variables given the rest: N(ρ_XS ρ_SS⁻¹ s, ρ_XX − ρ_XS ρ_SS⁻¹ ρ_SX)."""
    cross = rho[:first, first:]
    weights: Float = np.linalg.solve(rho[first:, first:], cross.T).T.astype(np.float64)
    rest = rho[:first, :first] - weights @ cross.T
    return Conditional(weights, np.linalg.cholesky((rest + rest.T) / 2).astype(np.float64))


def _complete(a: Ranked, b: Ranked) -> tuple[Ranked, Ranked]:
    """Two columns with the records that have both values."""
    if a.present is None and b.present is None:
        return a, b
    rows = np.ones(len(a.ranks), dtype=np.bool_)
    for one in (a, b):
        rows &= True if one.present is None else one.present
    return a.among(rows), b.among(rows)


def _product(a: Float, b: Float) -> float:
    """Σ a·b, added in one order whatever the number of threads."""
    return float(np.einsum("n,n->", a, b))
