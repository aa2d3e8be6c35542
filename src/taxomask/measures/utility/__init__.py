"""What a release costs: one file per family of measures, each a function of two tables with its declaration.

To add one: one file, and one line in ``UTILITY``.
"""

from __future__ import annotations

from ..measure import Measure
from . import count_tables, differences, distance_correlation, information, value_errors
from .chapters import CHAPTERS, ChapterCounts, chapter_counts
from .count_tables import TableLoss, entropy_loss, table_loss
from .differences import RelativeDifferences, relative_differences, relative_differences_in_samples
from .distance_correlation import distance_correlations, distance_variances
from .information import InformationLoss, ProbabilisticLoss, information_loss, probabilistic_loss
from .propensity import PROPENSITY, Propensity, propensity
from .rank_correlation import RANK_CORRELATIONS, rank_correlations
from .regression import REGRESSION, regression_overlap
from .result import Loss, Result
from .semantic_means import SEMANTIC_MEANS, semantic_means
from .sse import SquaredError, squared_error
from .value_errors import overall_loss, root_mean_square_errors, squared_errors, total_distance

__all__ = [
    "UTILITY", "ChapterCounts", "InformationLoss", "Loss", "ProbabilisticLoss", "Propensity", "RelativeDifferences",
    "Result", "SquaredError", "TableLoss", "chapter_counts", "distance_correlations", "distance_variances",
    "entropy_loss", "information_loss", "overall_loss", "probabilistic_loss", "propensity", "rank_correlations",
    "regression_overlap", "relative_differences", "relative_differences_in_samples", "root_mean_square_errors",
    "semantic_means", "squared_error", "squared_errors", "table_loss", "total_distance",
]  # fmt: skip

UTILITY: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        value_errors.OVERALL,
        value_errors.SQUARED_ERRORS,
        value_errors.ROOT_MEAN_SQUARE_ERRORS,
        value_errors.TOTAL_DISTANCE,
        count_tables.ENTROPY,
        differences.DIFFERENCES,
        differences.DIFFERENCES_IN_SAMPLES,
        information.INFORMATION,
        information.PROBABILISTIC,
        count_tables.TABLES,
        SEMANTIC_MEANS,
        distance_correlation.DISTANCE_VARIANCES,
        distance_correlation.DISTANCE_CORRELATIONS,
        RANK_CORRELATIONS,
        REGRESSION,
        CHAPTERS,
        PROPENSITY,
    )
}
