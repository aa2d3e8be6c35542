"""What users of a table compute: one file per kind, computed before and after and compared by confidence intervals.

To add one: one file, and one line in ``ANALYSES``.
"""

from __future__ import annotations

from .analysis import Analysed, Analysis, Estimate, Estimates
from .count import Count
from .cross_table import CrossTable
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .mean import Mean
from .quantile import Quantile

__all__ = [
    "ANALYSES", "Analysed", "Analysis", "Count", "CrossTable", "Estimate", "Estimates", "LinearRegression",
    "LogisticRegression", "Mean", "Quantile",
]  # fmt: skip

ANALYSES: dict[str, type[Analysis]] = {
    kind.kind: kind for kind in (Mean, Quantile, CrossTable, Count, LinearRegression, LogisticRegression)
}
