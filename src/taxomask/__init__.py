"""Anonymize tables about people whose columns mix numbers, categories and codes of a taxonomy.

The public names; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .comparison import RUMap, compare
    from .errors import (
        DataError,
        EngineError,
        PlanError,
        PromiseError,
        SchemaError,
        TaxomaskError,
        TaxonomyError,
    )
    from .evaluation import Evaluation, evaluate
    from .methods import (
        DistributionalSwapping,
        Generalisation,
        Imputation,
        MarginalityNoise,
        Microaggregation,
        MicroHybrid,
        MultiplicativeNoise,
        Noise,
        NumericalSwapping,
        Pipeline,
        Pram,
        RandomSwapping,
        RankSwapping,
        Recoding,
        ReverseMapping,
        Rounding,
        Shuffling,
        Suppression,
        TopBottomCoding,
        TopologicalSwapping,
    )
    from .microdata import Attribute, Kind, Microdata, Role, Schema, infer
    from .plan import Plan
    from .plan.run import run
    from .records import RecordDistance
    from .release import Release, protect
    from .semantics import (
        covariance_matrix,
        distance_correlation,
        distance_covariance,
        distance_variance,
        marginality,
        mean_marginality,
        nominal_covariance,
        nominal_mean,
        nominal_variance,
        semantic_mean,
    )
    from .taxonomy import Concept, Taxonomy

_HOMES = {
    "plan.run": ("run",),
    "comparison": ("RUMap", "compare"),
    "evaluation": ("Evaluation", "evaluate"),
    "plan": ("Plan",),
    "errors": (
        "DataError",
        "EngineError",
        "PlanError",
        "PromiseError",
        "SchemaError",
        "TaxomaskError",
        "TaxonomyError",
    ),
    "methods": (
        "Generalisation",
        "Imputation",
        "MarginalityNoise",
        "MicroHybrid",
        "Microaggregation",
        "MultiplicativeNoise",
        "Noise",
        "Pipeline",
        "Pram",
        "DistributionalSwapping",
        "NumericalSwapping",
        "RandomSwapping",
        "TopologicalSwapping",
        "RankSwapping",
        "Recoding",
        "ReverseMapping",
        "Rounding",
        "Shuffling",
        "Suppression",
        "TopBottomCoding",
    ),
    "microdata": ("Attribute", "Kind", "Microdata", "Role", "Schema", "infer"),
    "records": ("RecordDistance",),
    "release": ("Release", "protect"),
    "semantics": (
        "covariance_matrix",
        "distance_correlation",
        "distance_covariance",
        "distance_variance",
        "marginality",
        "mean_marginality",
        "nominal_covariance",
        "nominal_mean",
        "nominal_variance",
        "semantic_mean",
    ),
    "taxonomy": ("Concept", "Taxonomy"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Attribute",
    "Concept",
    "DataError",
    "DistributionalSwapping",
    "EngineError",
    "Evaluation",
    "Generalisation",
    "Imputation",
    "Kind",
    "MarginalityNoise",
    "MicroHybrid",
    "Microaggregation",
    "Microdata",
    "MultiplicativeNoise",
    "Noise",
    "NumericalSwapping",
    "Pipeline",
    "Plan",
    "PlanError",
    "Pram",
    "PromiseError",
    "RUMap",
    "RandomSwapping",
    "RankSwapping",
    "Recoding",
    "RecordDistance",
    "Release",
    "ReverseMapping",
    "Role",
    "Rounding",
    "Schema",
    "SchemaError",
    "Shuffling",
    "Suppression",
    "TaxomaskError",
    "Taxonomy",
    "TaxonomyError",
    "TopBottomCoding",
    "TopologicalSwapping",
    "__version__",
    "compare",
    "covariance_matrix",
    "distance_correlation",
    "distance_covariance",
    "distance_variance",
    "evaluate",
    "infer",
    "marginality",
    "mean_marginality",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "protect",
    "run",
    "semantic_mean",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'taxomask' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
