"""Near points where columns are so many that the boxes of a tree leave hardly any point out: all pairs are looked at.

Products of matrices in single precision say which pairs are worth an exact look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["near_pairs"]

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Whole = NDArray[np.integer[Any]]

_QUERIES, _POINTS = 512, 4096  # distances of so many of each at a time; a product of slimmer matrices takes longer


def near_pairs(
    points: Float, queries: Float, away: Callable[[Whole, Whole], Float], limit: Callable[[Whole, Float], Float]
) -> Iterator[tuple[Whole, Whole, Whole, Float]]:
    """Queries, and the pairs of one of these and a point within its limit, with their δ².

    ``away`` is δ² of queries and points, which may have more terms than the squared differences of these numbers.
    ``limit`` is told queries, and for each the smallest δ² that was found. Pairs that come before a nearer one may be
    farther away than the limit. They are in the order of the queries, then of points.

    With c as large as the relative error of a sum of products, that of |y|² - 2 x·y is at most c·(|x|² + 2|y|²), since
    2|x·y| is at most |x|² + |y|².
    """
    middle = points.mean(axis=0)
    x, y = queries - middle, points - middle
    of_x, of_y = (np.square(one).sum(axis=1) for one in (x, y))
    c = (x.shape[1] + 8) * 2.0**-24
    left = np.column_stack([-2 * x, np.ones(len(x))]).astype(np.float32)
    right = np.ascontiguousarray(np.column_stack([y, of_y * (1 - 2 * c)]).astype(np.float32).T)

    def most(asked: Whole, nearest: Float) -> Single:
        """No product of a pair within its limit is larger."""
        return np.nextafter((limit(asked, nearest) - (1 - c) * of_x[asked]).astype(np.float32), np.float32(np.inf))

    for start in range(0, len(x), _QUERIES):
        asked = np.arange(start, min(start + _QUERIES, len(x)))
        yield asked, *_near(left[asked], right, asked, away, most)


def _near(
    left: Single,
    right: Single,
    asked: Whole,
    away: Callable[[Whole, Whole], Float],
    most: Callable[[Whole, Float], Single],
) -> tuple[Whole, Whole, Float]:
    """The pairs of some queries: with some points after the others, within the limit that is known by then."""
    each, least, nearest = np.arange(len(asked)), np.full(len(asked), np.inf), np.full(len(asked), np.inf)
    found = []
    for first in range(0, right.shape[1], _POINTS):
        squared = left @ right[:, first : first + _POINTS]  # less |x|², which is the same for all points
        place = squared.argmin(axis=1)
        smallest = squared[each, place]
        nearer = np.flatnonzero(smallest < least)
        least[nearer] = smallest[nearer]
        nearest[nearer] = np.minimum(nearest[nearer], away(asked[nearer], first + place[nearer]))
        limit = most(asked, nearest)
        rows = np.flatnonzero(smallest <= limit)
        near = np.flatnonzero(squared[rows] <= limit[rows, None])
        query, place = rows[near // squared.shape[1]], first + near % squared.shape[1]
        found.append((query, place, away(asked[query], place)))
        np.minimum.at(nearest, query, found[-1][2])
    query, place, distance = (np.concatenate(one) for one in zip(*found, strict=True))
    order = np.argsort(query, kind="stable")
    return asked[query[order]], place[order], distance[order]
