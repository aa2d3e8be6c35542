from __future__ import annotations

import numpy as np

from .base import Float
from .families import ByInformation

__all__ = ["Lin"]


class Lin(ByInformation):
    """1 - 2·IC(LCS) / (IC(c1) + IC(c2)). In [0, 1], not a metric."""

    name = "lin"
    metric = False
    reference = "Lin (1998), An information-theoretic definition of similarity, ICML"

    def formula(self, content1: Float, content2: Float, common: Float) -> Float:
        both = content1 + content2
        # Two concepts without content are the root itself, at distance 0.
        return 1 - np.divide(2 * common, both, out=np.ones_like(common), where=both > 0)
