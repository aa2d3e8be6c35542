"""What a release risks: how well intruders of several kinds do, each beside a random guess."""

from __future__ import annotations

from .attacks import RankSwappingAttack, ReverseMappingAttack, rank_swapping_attack, reverse_mapping_attack
from .change_in_rank import ChangeInRank, change_in_rank, ranks_moved
from .classes import (
    ClassRisk,
    ClassSizes,
    IndividualRisk,
    Reidentification,
    class_sizes,
    individual_risk,
    reidentification,
)
from .diversity import Closeness, Diversity, l_diversity, t_closeness
from .inference import Guess, Inference, inference
from .intervals import IntervalDisclosure, RankCorrelation, interval_disclosure, rank_correlation
from .linkage import Linkage, partial_linkage, record_linkage
from .rates import Rate

__all__ = [
    "ChangeInRank",
    "ClassRisk",
    "ClassSizes",
    "Closeness",
    "Diversity",
    "Guess",
    "IndividualRisk",
    "Inference",
    "IntervalDisclosure",
    "Linkage",
    "RankCorrelation",
    "RankSwappingAttack",
    "Rate",
    "Reidentification",
    "ReverseMappingAttack",
    "change_in_rank",
    "class_sizes",
    "individual_risk",
    "inference",
    "interval_disclosure",
    "l_diversity",
    "partial_linkage",
    "rank_correlation",
    "rank_swapping_attack",
    "ranks_moved",
    "record_linkage",
    "reidentification",
    "reverse_mapping_attack",
    "t_closeness",
]
