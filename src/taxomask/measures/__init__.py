"""What a release costs and what it risks."""

from __future__ import annotations

from .combining import Combined, combine
from .measure import Figure, Measure, Tables
from .measured import MEASURES, Attackers, Risk, Utility, measure_utility
from .utility import (
    ChapterCounts,
    InformationLoss,
    Loss,
    ProbabilisticLoss,
    Propensity,
    RelativeDifferences,
    Result,
    SquaredError,
    TableLoss,
    chapter_counts,
    distance_correlations,
    distance_variances,
    entropy_loss,
    information_loss,
    overall_loss,
    probabilistic_loss,
    propensity,
    rank_correlations,
    regression_overlap,
    relative_differences,
    relative_differences_in_samples,
    root_mean_square_errors,
    semantic_means,
    squared_error,
    squared_errors,
    table_loss,
    total_distance,
)

__all__ = [
    "MEASURES", "Attackers", "ChapterCounts", "Combined", "Figure", "InformationLoss", "Loss", "Measure",
    "ProbabilisticLoss", "Propensity", "RelativeDifferences", "Result", "Risk", "SquaredError", "TableLoss", "Tables",
    "Utility",
    "chapter_counts", "combine", "distance_correlations", "distance_variances", "entropy_loss", "information_loss",
    "measure_utility", "overall_loss", "probabilistic_loss", "propensity", "rank_correlations", "regression_overlap",
    "relative_differences", "relative_differences_in_samples", "root_mean_square_errors", "semantic_means",
    "squared_error", "squared_errors", "table_loss", "total_distance",
]  # fmt: skip
