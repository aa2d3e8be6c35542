"""The Gaussian copula of a table: ranks, their correlations, normal scores, and some columns given the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column

__all__ = ["Conditional", "Ranked", "conditional", "normal_scores", "positive_definite", "ranked", "spearman"]

Float = NDArray[np.float64]

_SMALLEST = 1e-6  # of the eigenvalues of a correlation matrix that counts as positive definite


@dataclass(frozen=True, eq=False)
class Ranked:
    """The average ranks of the m values of a column, centred and doubled: 2·rank − (m + 1); 0 where missing."""

    ranks: Float
    present: NDArray[np.bool_] | None
    """Where there is a value; None if everywhere."""
    m: int
    spread: float
    """The sum of squares of the ranks."""

    @property
    def constant(self) -> bool:
        """Whether the values are all the same."""
        return self.spread == 0

    @property
    def tied(self) -> bool:
        """Whether values occur so often that the ranks spread less than those of different values, by a billionth."""
        return self.spread < self.m * (self.m**2 - 1) / 3 * (1 - 1e-9)


def ranked(engine: Engine, ranks: Float, column: Column) -> Ranked:
    """The ranks of the values of a column, which are 0 where one is missing."""
    m, spread = engine.fold(_size, _added, [ranks, column], what="correlating")
    present = None if m == len(ranks) else engine.each(_present, [column], what="ranking")
    return Ranked(ranks, present, m, spread)


def spearman(engine: Engine, columns: Sequence[Ranked]) -> Float:
    """The rank correlations of columns; NaN where not known.

    Of two columns in which values are missing, the records that have both are ranked anew.
    """
    r = np.eye(len(columns))
    ranks = [one.ranks for one in columns]
    products = engine.fold(_products, add, ranks, what="correlating") if ranks else r
    for j, b in enumerate(columns):
        for i, a in enumerate(columns[:j]):
            if a.present is None and b.present is None:
                found = _correlation(products[i, j], a.spread, b.spread)
            else:
                found = _correlation(*_among_both(engine, a, b))
            r[i, j] = r[j, i] = found
    return r


def _correlation(product: float, first: float, second: float) -> float:
    return product / float(np.sqrt(first * second)) if first and second else float("nan")


def _among_both(engine: Engine, a: Ranked, b: Ranked) -> tuple[float, float, float]:
    """The sums of products and squares of two columns, ranked anew among the records that have both values."""
    present = [one.present for one in (a, b) if one.present is not None]
    x, y = engine.each(_both, [a.ranks, b.ranks, *present], what="correlating")
    ranks = [engine.rank(keys, "correlating") for keys in (x, y)]
    found: tuple[float, float, float] = engine.fold(_sums, _added, [*ranks, x], what="correlating")
    return found


def normal_scores(ranks: Float, m: int) -> Float:
    """Φ⁻¹((rank − 0.5) / m) of centred ranks among m values; 0 for a missing one, which has the rank 0."""
    from scipy.special import ndtri

    return np.copysign(ndtri((m + np.abs(ranks)) / (2 * m)), ranks)


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


def _size(ranks: Float, column: Column) -> tuple[int, float]:
    """How many values there are, and the sum of squares of their ranks."""
    return int((~column.missing).sum()), _product(ranks, ranks)


def _present(column: Column) -> NDArray[np.bool_]:
    return ~column.missing


def _both(x: Float, y: Float, *present: NDArray[np.bool_]) -> tuple[Float, Float]:
    """The ranks of the records that have both values; NaN of the others."""
    rows = np.logical_and.reduce(present)
    return np.where(rows, x, np.nan), np.where(rows, y, np.nan)


def _products(*ranks: Float) -> Float:
    """Σ a·b of all columns a before b."""
    found = np.zeros((len(ranks), len(ranks)))
    for j, b in enumerate(ranks):
        for i, a in enumerate(ranks[:j]):
            found[i, j] = _product(a, b)
    return found


def _sums(a: Float, b: Float, keys: Float) -> tuple[float, float, float]:
    rows = ~np.isnan(keys)
    a, b = a[rows], b[rows]
    return _product(a, b), _product(a, a), _product(b, b)


def _added(one: tuple[Any, ...], two: tuple[Any, ...]) -> Any:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _product(a: Float, b: Float) -> float:
    """Σ a·b, added in one order whatever the number of threads."""
    return float(np.einsum("n,n->", a, b))
