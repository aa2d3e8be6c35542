"""Anonymize tables about people whose columns mix numbers, categories and codes of a taxonomy.

The public names; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .comparison import RUMap as RUMap
    from .comparison import compare as compare
    from .errors import DataError as DataError
    from .errors import EngineError as EngineError
    from .errors import PlanError as PlanError
    from .errors import PromiseError as PromiseError
    from .errors import SchemaError as SchemaError
    from .errors import TaxomaskError as TaxomaskError
    from .errors import TaxonomyError as TaxonomyError
    from .evaluation import Evaluation as Evaluation
    from .evaluation import evaluate as evaluate
    from .measures.analyses import Count as Count
    from .measures.analyses import CrossTable as CrossTable
    from .measures.analyses import LinearRegression as LinearRegression
    from .measures.analyses import LogisticRegression as LogisticRegression
    from .measures.analyses import Mean as Mean
    from .measures.analyses import Quantile as Quantile
    from .methods import DistributionalSwapping as DistributionalSwapping
    from .methods import Generalisation as Generalisation
    from .methods import GroupPermutation as GroupPermutation
    from .methods import Imputation as Imputation
    from .methods import IndividualRanking as IndividualRanking
    from .methods import MarginalityNoise as MarginalityNoise
    from .methods import Microaggregation as Microaggregation
    from .methods import MicroHybrid as MicroHybrid
    from .methods import MultiplicativeNoise as MultiplicativeNoise
    from .methods import Noise as Noise
    from .methods import NumericalSwapping as NumericalSwapping
    from .methods import Pipeline as Pipeline
    from .methods import Pram as Pram
    from .methods import RandomSwapping as RandomSwapping
    from .methods import RankSwapping as RankSwapping
    from .methods import Recoding as Recoding
    from .methods import ReverseMapping as ReverseMapping
    from .methods import Rounding as Rounding
    from .methods import SemanticNoise as SemanticNoise
    from .methods import Shuffling as Shuffling
    from .methods import Suppression as Suppression
    from .methods import TopBottomCoding as TopBottomCoding
    from .methods import TopologicalSwapping as TopologicalSwapping
    from .methods import estimate_counts as estimate_counts
    from .microdata import Attribute as Attribute
    from .microdata import Kind as Kind
    from .microdata import Microdata as Microdata
    from .microdata import Role as Role
    from .microdata import Schema as Schema
    from .microdata import infer as infer
    from .plan import Plan as Plan
    from .plan.run import run as run
    from .records import RecordDistance as RecordDistance
    from .release import Release as Release
    from .release import protect as protect
    from .semantics import covariance_matrix as covariance_matrix
    from .semantics import distance_correlation as distance_correlation
    from .semantics import distance_covariance as distance_covariance
    from .semantics import distance_variance as distance_variance
    from .semantics import marginality as marginality
    from .semantics import mean_marginality as mean_marginality
    from .semantics import nominal_covariance as nominal_covariance
    from .semantics import nominal_mean as nominal_mean
    from .semantics import nominal_variance as nominal_variance
    from .semantics import semantic_mean as semantic_mean
    from .taxonomy import Concept as Concept
    from .taxonomy import Taxonomy as Taxonomy

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
    "methods": ("estimate_counts",),
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


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(["__version__", *_homes()])
    home = _HOME.get(name) or (_homes().get(name) if name[:1].isupper() else None)  # methods are classes
    if home is None:
        raise AttributeError(f"module 'taxomask' has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_homes()])


def _homes() -> dict[str, str]:
    """Where each public name is at home. Methods and kinds of analyses are those of their lists."""
    from .measures.analyses import ANALYSES
    from .methods import METHODS

    analyses = {kind.__name__: "measures.analyses" for kind in ANALYSES.values()}
    return {**_HOME, **analyses, **{kind.__name__: "methods" for kind in METHODS.values()}}
