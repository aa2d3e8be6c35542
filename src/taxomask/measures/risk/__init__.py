"""What a release risks: how well intruders of several kinds do, each beside a random guess.

To add a measure, or an intruder: one file with a function and its declaration, and one line in ``RISK``.
"""

from __future__ import annotations

from ..measure import Measure
from .attackers import ATTACKERS, Attack, Attacker
from .attacks import RankSwappingAttack, ReverseMappingAttack, rank_swapping_attack, reverse_mapping_attack
from .change_in_rank import CHANGE_IN_RANK, ChangeInRank, change_in_rank, ranks_moved
from .classes import (
    CLASSES,
    INDIVIDUAL,
    REIDENTIFICATION,
    ClassRisk,
    ClassSizes,
    IndividualRisk,
    Reidentification,
    class_sizes,
    individual_risk,
    reidentification,
)
from .diversity import CLOSENESS, DIVERSITY, Closeness, Diversity, l_diversity, t_closeness
from .inference import INFERENCE, Guess, Inference, inference
from .intervals import (
    INTERVALS,
    RANK_CORRELATION,
    IntervalDisclosure,
    RankCorrelation,
    interval_disclosure,
    rank_correlation,
)
from .linkage import PARTIAL_LINKAGE, Linkage, partial_linkage, record_linkage
from .linkage_in_blocks import LINKAGE
from .rates import Rate

__all__ = [
    "ATTACKERS", "RISK", "Attack", "Attacker", "ChangeInRank", "ClassRisk", "ClassSizes", "Closeness", "Diversity",
    "Guess", "IndividualRisk", "Inference", "IntervalDisclosure", "Linkage", "RankCorrelation", "RankSwappingAttack",
    "Rate", "Reidentification", "ReverseMappingAttack", "change_in_rank", "class_sizes", "individual_risk", "inference",
    "interval_disclosure", "l_diversity", "partial_linkage", "rank_correlation", "rank_swapping_attack", "ranks_moved",
    "record_linkage", "reidentification", "reverse_mapping_attack", "t_closeness",
]  # fmt: skip

RISK: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        CLASSES,
        REIDENTIFICATION,
        LINKAGE,
        PARTIAL_LINKAGE,
        INTERVALS,
        RANK_CORRELATION,
        CHANGE_IN_RANK,
        DIVERSITY,
        CLOSENESS,
        INFERENCE,
        INDIVIDUAL,
    )
}
