"""A walk down the tree of the categories, one choice between two after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ...microdata import CategoricalColumn
from .branches import Branches, branches
from .dichotomies import Dichotomy
from .predictors import FEWEST

__all__ = ["CategoryModel"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class CategoryModel:
    """Nested dichotomies: at each branching the branches are halved (by records) until one is left.

    Each halving is a `Dichotomy` among the records that come there, with predictors if at least ten go either way.
    The likelihood is the product over the dichotomies, so each can be fitted and drawn on its own, whatever the number
    of categories. Without predictors the shares of all categories are drawn from a Dirichlet distribution with their
    counts as parameters: the Bayesian bootstrap (Rubin 1981).
    """

    def __init__(self, column: CategoricalColumn, x: Float) -> None:
        tree = branches(column)
        self._order = tree.order
        place = np.zeros(len(column.categories), dtype=np.int64)
        place[tree.order] = np.arange(len(tree.order))
        rows = np.argsort(place[column.codes], kind="stable")
        x = x[rows]  # the records of every range of categories side by side
        start = np.concatenate([[0], np.cumsum(column.counts[tree.order])])
        self._choices = [
            (low, middle, high, _dichotomy(x, int(start[low]), int(start[middle]), int(start[high])))
            for low, middle, high in halvings(tree, start)
        ]

    def draw(self, x: Float, rng: np.random.Generator) -> Int:
        """Codes for records with these predictors."""
        places = np.zeros(len(x), dtype=np.int64)
        coming = {(0, len(self._order)): np.arange(len(x))}
        for low, middle, high, dichotomy in self._choices:
            rows = coming.pop((low, high))
            if not len(rows):
                coming[low, middle] = coming[middle, high] = rows
                continue
            coefficients, constant = dichotomy.draw(rng)
            chance = expit(constant if coefficients is None else x[rows] @ coefficients + constant)
            right = rng.random(len(rows)) < chance
            coming[low, middle], coming[middle, high] = rows[~right], rows[right]
        for (low, _), rows in coming.items():
            places[rows] = low
        return self._order[places]


def halvings(tree: Branches, start: Int) -> Iterator[tuple[int, int, int]]:
    """Ranges of categories, each cut in two between branches so that the halves are as equal as they can be.

    A range comes before its halves.
    """
    for bounds in tree.bounds:
        waiting = [(0, len(bounds) - 1)]
        while waiting:
            first, last = waiting.pop()
            if last - first < 2:
                continue
            records = start[bounds[first : last + 1]]
            cut = first + 1 + int(np.argmin(np.abs(records[1:-1] - (records[0] + records[-1]) / 2)))
            yield int(bounds[first]), int(bounds[cut]), int(bounds[last])
            waiting += [(cut, last), (first, cut)]


def _dichotomy(x: Float, low: int, middle: int, high: int) -> Dichotomy:
    left, right = middle - low, high - middle
    learn = min(left, right) >= FEWEST and x.shape[1] > 1
    return Dichotomy(x[low:high] if learn else None, left, right)
