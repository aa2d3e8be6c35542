from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..scope import Scope
from .base import Distance, Float, Positions

__all__ = ["Equality"]


class Equality(Distance):
    """0 if two values are equal, else 1: what is left when codes mean nothing."""

    name = "equality"
    metric = True
    reference = "the discrete metric"

    def block(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        return (rows[:, None] != columns).astype(float)

    def sums(self, scope: Scope, concepts: Positions, counts: NDArray[np.int64]) -> Float:
        return (counts.sum() - counts).astype(float)
