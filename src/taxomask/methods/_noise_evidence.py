"""How likely noisy numbers are given the original ones, put into coordinates in which the noise is independent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, ContinuousColumn
from .likelihood import CodeEvidence, Evidence

__all__ = ["on_a_scale", "whitened"]

Float = NDArray[np.float64]


def whitened(values: Float, covariance: Float) -> Float:
    """Coordinates in which noise of this covariance is independent with variance 1, by what is there in each row.

    Rows with the same cells missing are treated alike; what is left of their coordinates is 0. A direction without
    noise has almost none, so that it decides.
    """
    present = ~np.isnan(values)
    out = np.zeros_like(values)
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        rows, columns = np.flatnonzero(which.ravel() == place), np.flatnonzero(pattern)
        if len(columns):
            found, vectors = np.linalg.eigh(covariance[np.ix_(columns, columns)])
            root = vectors / np.sqrt(np.maximum(found, 1e-9))
            out[rows, : len(columns)] = np.einsum("ij,jk->ik", values[np.ix_(rows, columns)], root)
    return out


def on_a_scale(original: Column, released: Column, deviation: float) -> Evidence:
    """Noise on positions, rounded and cut off at the ends: the chance of each position given each."""
    from scipy.special import ndtr

    assert not isinstance(original, ContinuousColumn)
    assert not isinstance(released, ContinuousColumn)
    size = len(original.categories)
    edges = np.concatenate([[-np.inf], np.arange(size - 1) + 0.5, [np.inf]])
    chance = np.diff(ndtr((edges[:, None] - np.arange(size)) / deviation), axis=0)
    with np.errstate(divide="ignore"):
        log = np.full((size + 1, size + 1), -np.inf)
        log[:size, :size] = np.log(chance)
    log[size, size] = 0.0  # missing stays missing
    there, here = (np.where(one.missing, size, one.codes).astype(np.int32) for one in (released, original))
    return CodeEvidence(there, here, log)
