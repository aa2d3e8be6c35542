"""Marginality and the statistics built on it, and the earth mover's distance."""

from __future__ import annotations

from .covariances import covariance_matrix
from .statistics import (
    category_marginality,
    contingency,
    covariance_of_tables,
    distance_correlation,
    distance_covariance,
    distance_table,
    distance_variance,
    first_smallest,
    marginality,
    mean_marginality,
    nominal_covariance,
    nominal_mean,
    nominal_variance,
    semantic_mean,
    variance_of_table,
)
from .transport import EarthMover, earth_mover, earth_mover_of

__all__ = [
    "EarthMover",
    "category_marginality",
    "contingency",
    "covariance_matrix",
    "covariance_of_tables",
    "distance_correlation",
    "distance_covariance",
    "distance_table",
    "distance_variance",
    "earth_mover",
    "earth_mover_of",
    "first_smallest",
    "marginality",
    "mean_marginality",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "semantic_mean",
    "variance_of_table",
]
