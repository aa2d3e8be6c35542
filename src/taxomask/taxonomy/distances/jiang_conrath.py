from __future__ import annotations

from .base import Float
from .families import ByInformation

__all__ = ["JiangConrath"]


class JiangConrath(ByInformation):
    """(IC(c1) + IC(c2) - 2·IC(LCS)) / 2. In [0, 1]."""

    name = "jiang_conrath"
    metric = False
    reference = "Jiang, Conrath (1997), arXiv cmp-lg/9709008; halved as in Seco, Veale, Hayes (2004)"

    def formula(self, content1: Float, content2: Float, common: Float) -> Float:
        return (content1 + content2 - 2 * common) / 2
