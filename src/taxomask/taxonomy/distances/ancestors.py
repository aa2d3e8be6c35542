from __future__ import annotations

import numpy as np

from ..scope import Scope
from .base import Float
from .families import ByCommonAncestors

__all__ = ["Ancestors"]


class Ancestors(ByCommonAncestors):
    """log2(1 + (|T1 ∪ T2| - |T1 ∩ T2|) / |T1 ∪ T2|): the share of ancestors that two concepts do not have in common.

    In [0, 1], and a metric.
    """

    name = "ancestors"
    metric = True
    reference = "Sánchez, Batet, Isern, Valls (2012), doi 10.1016/j.eswa.2012.01.082"

    def formula(self, scope: Scope, size1: Float, size2: Float, common: Float) -> Float:
        union = size1 + size2 - common
        return np.asarray(np.log2(1 + (union - common) / union))
