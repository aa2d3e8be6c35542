"""What repetitions of a method teach about the numbers of a record together, where they do not move independently.

Numbers are taken as normal scores of their ranks among those of the repetitions. A record has an average there, drawn
towards what is expected of its original numbers as far as records differ by no more than chance; how released records
scatter around their averages is taken to be the same everywhere, and normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ....methods.likelihood import Evidence, NumberEvidence
from ....microdata import Column, ContinuousColumn

__all__ = ["learned_jointly", "moving_together"]

Float = NDArray[np.float64]

_LEAST = 1e-6  # of the variance of normal scores: below that a number is taken for certain


def moving_together(columns: Mapping[str, Sequence[Column]], repeated: Sequence[Mapping[str, Column]]) -> list[str]:
    """The numbers of which no cell is missing, in any table; none if that is one, or nothing can be seen of it."""
    names = [
        name
        for name, versions in columns.items()
        if isinstance(versions[0], ContinuousColumn)
        and not any(one.missing.any() for one in [*versions, *(made[name] for made in repeated)])
    ]
    return names if len(names) > 1 and len(repeated) > 1 else []


def learned_jointly(
    columns: Mapping[str, Sequence[Column]], repeated: Sequence[Mapping[str, Column]], names: Sequence[str]
) -> list[list[Evidence]]:
    """The evidence of some numbers in each release: ``columns`` has the original ones, and those of the releases."""
    ranked = [np.sort(np.concatenate([one[name].numbers() for one in repeated])) for name in names]
    original, *releases = (
        np.column_stack(
            [_scores(columns[name][place].numbers(), among) for name, among in zip(names, ranked, strict=True)]
        )
        for place in range(len(columns[names[0]]))
    )
    made = [
        np.column_stack([_scores(one[name].numbers(), among) for name, among in zip(names, ranked, strict=True)])
        for one in repeated
    ]
    average = np.mean(made, axis=0)
    scatter = sum(_products(one - average) for one in made) / (len(average) * (len(made) - 1))
    expected = _expected(original, average)
    chance = np.diag(scatter) / len(made)
    apart = np.maximum(((average - expected) ** 2).mean(axis=0) - chance, 1e-12)
    average = expected + (average - expected) * apart / (apart + chance)
    # (z - average)' scatter⁻¹ (z - average), as a sum of squares
    factor = np.linalg.cholesky(np.linalg.inv(scatter + _LEAST * np.eye(len(names))))
    here, there = _turned(average, factor), [_turned(one, factor) for one in releases]
    ones = np.ones(len(here))
    return [[NumberEvidence(z, x, ones, ones) for z, x in zip(one.T, here.T, strict=True)] for one in there]


def _scores(values: Float, among: Float) -> Float:
    rank = (np.searchsorted(among, values, "left") + np.searchsorted(among, values, "right")) / 2
    return np.asarray(ndtri((rank + 0.5) / (len(among) + 1)))


def _expected(original: Float, average: Float) -> Float:
    """What is expected of the averages of records by their original numbers: linear regression."""
    known = np.column_stack([np.ones(len(original)), original])
    return _turned(known, np.asarray(np.linalg.lstsq(known, average, rcond=None)[0], dtype=np.float64))


def _products(rows: Float) -> Float:
    return np.asarray(np.einsum("ri,rj->ij", rows, rows))


def _turned(rows: Float, factor: Float) -> Float:
    """Rows times a matrix, so that equal rows give equal ones to the last bit."""
    return np.asarray(np.einsum("ri,ij->rj", rows, factor))
