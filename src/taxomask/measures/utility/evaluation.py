"""All measures of utility at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...methods import Progress
from ...microdata import Column, Microdata
from ..side_by_side import side_by_side
from ..turns import in_turn
from ._moments import same_values
from .chapters import ChapterCounts, chapter_counts
from .count_tables import TableLoss, entropy_loss, table_loss
from .differences import RelativeDifferences, relative_differences, relative_differences_in_samples
from .distance_correlation import distance_correlations, distance_variances
from .information import InformationLoss, ProbabilisticLoss, information_loss, probabilistic_loss
from .propensity import Propensity, propensity
from .rank_correlation import rank_correlations
from .regression import regression_overlap
from .result import Loss, Result
from .semantic_means import semantic_means
from .value_errors import overall_loss, root_mean_square_errors, squared_errors, total_distance

__all__ = ["Utility", "measure_utility", "utility_seconds"]


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
    progress: Progress | None = None,
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
    progress
        Called with the fraction that is done.
    """
    options: dict[str, Any] = {"rng": rng, "linked": linked, "samples": samples}
    columns = side_by_side(original, released, attributes, linked=linked)
    measures = utility_measures(original, released, columns, **options)
    seconds = utility_seconds(original, columns, samples=samples)
    return Utility(**in_turn(measures, seconds, progress))


def utility_measures(
    original: Microdata,
    released: Microdata,
    columns: Mapping[str, tuple[Column, Column]],
    *,
    rng: np.random.Generator,
    linked: bool,
    samples: int = 100,
) -> dict[str, Callable[[Progress | None], Any]]:
    """What `measure_utility` measures, by name: to be measured one by one, anywhere."""
    names = tuple(columns)
    # Laid side by side once: the distances between categories are shared by all measures then.
    both = (
        original.replace({name: x for name, (x, _) in columns.items()}),
        released.replace({name: y for name, (_, y) in columns.items()}),
        names,
    )
    return {
        "overall": lambda _: overall_loss(*both) if linked else None,
        "squared_errors": lambda _: squared_errors(*both) if linked else None,
        "root_mean_square_errors": lambda _: root_mean_square_errors(*both) if linked else None,
        "total_distance": lambda _: total_distance(*both) if linked else None,
        "entropy": lambda _: entropy_loss(*both) if linked else None,
        "differences": lambda _: relative_differences(*both),
        "differences_in_samples": lambda told: relative_differences_in_samples(
            *both, rng=rng, samples=samples, linked=linked, progress=told
        ),
        "information": lambda _: information_loss(*both, linked=linked),
        "probabilistic": lambda _: probabilistic_loss(*both),
        "tables": lambda told: table_loss(*both, progress=told),
        "semantic_means": lambda _: semantic_means(*both),
        "distance_variances": lambda _: distance_variances(*both),
        "distance_correlations": lambda told: distance_correlations(*both, progress=told),
        "rank_correlations": lambda told: rank_correlations(*both, progress=told),
        "regression": lambda _: regression_overlap(*both),
        "chapters": lambda _: chapter_counts(*both),
        "propensity": lambda _: propensity(*both),
    }


def utility_seconds(
    original: Microdata, columns: Mapping[str, tuple[Column, Column]], *, samples: int = 100
) -> dict[str, float]:
    """Roughly what each measure takes, as seen on tables of 1,000 to 100,000 records and 9 to 48 columns."""
    n, c = original.n, len(columns)
    same = sum(same_values(*pair) for pair in columns.values())
    pairs = c * (c - 1) / 2
    changed = pairs - same * (same - 1) / 2
    cells = 1e-9 * n * c
    return {
        "overall": 40 * cells,
        "squared_errors": 20 * cells,
        "root_mean_square_errors": 10 * cells,
        "total_distance": 5 * cells,
        "entropy": 5 * cells,
        "differences": 3e-9 * n * pairs,
        "differences_in_samples": samples * (1.5e-4 * changed + 1e-4 * c),
        "information": 30 * cells,
        "probabilistic": 75 * cells,
        "tables": (1e-4 + 1e-8 * n) * pairs,
        "semantic_means": 10 * cells,
        "distance_variances": 20 * cells,
        "distance_correlations": (6e-4 + 8e-9 * n) * (pairs + changed),
        "rank_correlations": (1e-4 + 3.5e-9 * n) * (pairs + changed),
        "regression": 200 * cells,
        "chapters": 10 * cells,
        "propensity": 300 * cells + 2e-8 * n * pairs,
    }
