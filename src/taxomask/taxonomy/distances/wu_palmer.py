from __future__ import annotations

from .base import Float
from .families import ByDeepestSubsumer

__all__ = ["WuPalmer"]


class WuPalmer(ByDeepestSubsumer):
    """1 - 2·depth(LCS) / (2·depth(LCS) + path(c1, LCS) + path(c2, LCS)).

    Depth in nodes along the longest path from the root of τ(X), path in links along the shortest. Of several equally
    deep common subsumers the one that gives the smaller distance counts. In [0, 1), not a metric.
    """

    name = "wu_palmer"
    metric = False
    reference = "Wu, Palmer (1994), doi 10.3115/981732.981751"

    def formula(self, depth: Float, path: Float) -> Float:
        return 1 - 2 * depth / (2 * depth + path)
