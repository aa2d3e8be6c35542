"""What a release costs: one file per family of measures, each measure a function of two tables."""

from __future__ import annotations

from .chapters import ChapterCounts, chapter_counts
from .count_tables import TableLoss, entropy_loss, table_loss
from .differences import RelativeDifferences, relative_differences, relative_differences_in_samples
from .distance_correlation import distance_correlations, distance_variances
from .evaluation import Utility, measure_utility
from .information import InformationLoss, ProbabilisticLoss, information_loss, probabilistic_loss
from .propensity import Propensity, propensity
from .rank_correlation import rank_correlations
from .regression import regression_overlap
from .result import Loss, Result
from .semantic_means import semantic_means
from .sse import SquaredError, squared_error
from .value_errors import overall_loss, root_mean_square_errors, squared_errors, total_distance

__all__ = [
    "ChapterCounts",
    "InformationLoss",
    "Loss",
    "ProbabilisticLoss",
    "Propensity",
    "RelativeDifferences",
    "Result",
    "SquaredError",
    "TableLoss",
    "Utility",
    "chapter_counts",
    "distance_correlations",
    "distance_variances",
    "entropy_loss",
    "information_loss",
    "measure_utility",
    "overall_loss",
    "probabilistic_loss",
    "propensity",
    "rank_correlations",
    "regression_overlap",
    "relative_differences",
    "relative_differences_in_samples",
    "root_mean_square_errors",
    "semantic_means",
    "squared_error",
    "squared_errors",
    "table_loss",
    "total_distance",
]
