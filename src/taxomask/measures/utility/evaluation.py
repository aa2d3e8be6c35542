"""All measures of utility at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...microdata import Microdata
from .cells import overall_loss, root_mean_square_errors, squared_errors, total_distance
from .chapters import ChapterCounts, chapter_counts
from .differences import RelativeDifferences, relative_differences, relative_differences_in_samples
from .distance_correlation import distance_correlations, distance_variances
from .information import InformationLoss, ProbabilisticLoss, information_loss, probabilistic_loss
from .propensity import Propensity, propensity
from .rank_correlation import rank_correlations
from .regression import regression_overlap
from .result import Loss, Result, side_by_side
from .semantic_means import semantic_means
from .tables import TableLoss, entropy_loss, table_loss

__all__ = ["Utility", "measure_utility"]


@dataclass(frozen=True)
class Utility(Result):
    """What a release costs, by every measure; those that compare record by record are None for unlinked tables."""

    overall: Loss | None
    squared_errors: Loss | None
    root_mean_square_errors: Loss | None
    total_distance: Loss | None
    entropy: Loss | None
    differences: RelativeDifferences
    differences_in_samples: RelativeDifferences
    information: InformationLoss
    probabilistic: ProbabilisticLoss
    tables: TableLoss
    semantic_means: Loss
    distance_variances: Loss
    distance_correlations: Loss
    rank_correlations: Loss
    regression: Loss
    chapters: ChapterCounts
    propensity: Propensity


def measure_utility(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    rng: np.random.Generator,
    linked: bool = True,
    samples: int = 100,
) -> Utility:
    """Every measure of utility.

    Parameters
    ----------
    original, released
        The tables before and after protection.
    attributes
        The columns to compare; by default all coded columns of both.
    rng
        Draws the samples of `relative_differences_in_samples`.
    linked
        Whether record i of the release comes from record i of the original.
    samples
        The number of these samples.
    """
    columns = side_by_side(original, released, attributes, linked=linked)
    names = tuple(columns)
    # Laid side by side once: the distances between categories are shared by all measures then.
    both = (
        original.replace({name: x for name, (x, _) in columns.items()}),
        released.replace({name: y for name, (_, y) in columns.items()}),
        names,
    )
    return Utility(
        overall=overall_loss(*both) if linked else None,
        squared_errors=squared_errors(*both) if linked else None,
        root_mean_square_errors=root_mean_square_errors(*both) if linked else None,
        total_distance=total_distance(*both) if linked else None,
        entropy=entropy_loss(*both) if linked else None,
        differences=relative_differences(*both),
        differences_in_samples=relative_differences_in_samples(*both, rng=rng, samples=samples, linked=linked),
        information=information_loss(*both, linked=linked),
        probabilistic=probabilistic_loss(*both),
        tables=table_loss(*both),
        semantic_means=semantic_means(*both),
        distance_variances=distance_variances(*both),
        distance_correlations=distance_correlations(*both),
        rank_correlations=rank_correlations(*both),
        regression=regression_overlap(*both),
        chapters=chapter_counts(*both),
        propensity=propensity(*both),
    )
