from __future__ import annotations

import numpy as np

from ..scope import Scope
from .base import Float
from .families import ByCommonAncestors

__all__ = ["EdgeWeight"]


class EdgeWeight(ByCommonAncestors):
    """The sum of weights along the tree path between two concepts.

    An edge from depth i - 1 to depth i weighs 2^(L - i); L is the depth of the deepest value of the whole attribute. On
    trees only; a metric.
    """

    name = "edge_weight"
    metric = True
    trees_only = True
    reference = "Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, PSD"

    def formula(self, scope: Scope, size1: Float, size2: Float, common: Float) -> Float:
        # In a tree |T| is the depth, and the edges from the root to depth i weigh 2^(L-1) - 2^(L-i) together.
        deepest = scope.deepest
        return np.asarray(2 * np.exp2(deepest - common) - np.exp2(deepest - size1) - np.exp2(deepest - size2))
