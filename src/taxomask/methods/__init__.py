"""Protection methods: one file per method, each a small declared object. To add one: one file, and one line here."""

from __future__ import annotations

from .base import Check, Masked, Method, Progress, Promise
from .distributional_swapping import DistributionalSwapping
from .estimated_counts import EstimatedCounts, estimate_counts
from .generalisation import Generalisation
from .group_permutation import GroupPermutation
from .imputation import Imputation
from .individual_ranking import IndividualRanking
from .marginality_noise import MarginalityNoise
from .micro_hybrid import MicroHybrid
from .microaggregation import Microaggregation
from .multiplicative_noise import MultiplicativeNoise
from .noise import Noise
from .numerical_swapping import NumericalSwapping
from .pipeline import Pipeline
from .pram import Pram
from .random_swapping import RandomSwapping
from .rank_swapping import RankSwapping
from .recoding import Recoding
from .reverse_mapping import ReverseMapping
from .rounding import Rounding
from .semantic_noise import SemanticNoise
from .shuffling import Shuffling
from .suppression import Suppression
from .top_bottom_coding import TopBottomCoding
from .topological_swapping import TopologicalSwapping

__all__ = [
    "METHODS",
    "Check",
    "DistributionalSwapping",
    "EstimatedCounts",
    "Generalisation",
    "GroupPermutation",
    "Imputation",
    "IndividualRanking",
    "MarginalityNoise",
    "Masked",
    "Method",
    "MicroHybrid",
    "Microaggregation",
    "MultiplicativeNoise",
    "Noise",
    "NumericalSwapping",
    "Pipeline",
    "Pram",
    "Progress",
    "Promise",
    "RandomSwapping",
    "RankSwapping",
    "Recoding",
    "ReverseMapping",
    "Rounding",
    "SemanticNoise",
    "Shuffling",
    "Suppression",
    "TopBottomCoding",
    "TopologicalSwapping",
    "estimate_counts",
]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Microaggregation,
        MicroHybrid,
        GroupPermutation,
        IndividualRanking,
        Shuffling,
        RankSwapping,
        DistributionalSwapping,
        NumericalSwapping,
        RandomSwapping,
        TopologicalSwapping,
        ReverseMapping,
        Imputation,
        Noise,
        MultiplicativeNoise,
        MarginalityNoise,
        Pram,
        SemanticNoise,
        Generalisation,
        Recoding,
        Suppression,
        TopBottomCoding,
        Rounding,
        Pipeline,
    )
}
