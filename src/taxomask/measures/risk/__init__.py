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
    REIDENTIFICATION,
    ClassRisk,
    ClassSizes,
    Reidentification,
    class_sizes,
    reidentification,
)
from .diversity import CLOSENESS, DIVERSITY, Closeness, Diversity, l_diversity, t_closeness
from .individual import INDIVIDUAL, HouseholdRisk, IndividualRisk, individual_risk
from .inference import INFERENCE, Guess, Inference, inference
from .intervals import (
    INTERVALS,
    RANK_CORRELATION,
    IntervalDisclosure,
    RankCorrelation,
    interval_disclosure,
    rank_correlation,
)
from .linkage import LINKAGE, PARTIAL_LINKAGE, Linkage, partial_linkage, record_linkage
from .permutation import (
    PERMUTATION,
    MaximumKnowledge,
    Moved,
    PermutationDistance,
    permutation_distance,
    permutation_distances,
)
from .population import POPULATION_UNIQUES, PopulationModel, PopulationUniques, population_uniques
from .rates import Rate
from .special_uniques import SPECIAL_UNIQUES, SpecialUniques, special_uniques

__all__ = [
    "ATTACKERS", "RISK", "Attack", "Attacker", "ChangeInRank", "ClassRisk", "ClassSizes", "Closeness", "Diversity",
    "Guess", "HouseholdRisk", "IndividualRisk", "Inference", "IntervalDisclosure", "Linkage", "MaximumKnowledge",
    "Moved", "PermutationDistance", "PopulationModel", "PopulationUniques", "RankCorrelation", "RankSwappingAttack",
    "Rate", "Reidentification", "ReverseMappingAttack", "SpecialUniques", "change_in_rank", "class_sizes",
    "individual_risk", "inference", "interval_disclosure", "l_diversity", "partial_linkage", "permutation_distance",
    "permutation_distances", "population_uniques", "rank_correlation", "rank_swapping_attack", "ranks_moved",
    "record_linkage", "reidentification", "reverse_mapping_attack", "special_uniques", "t_closeness",
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
        PERMUTATION,
        DIVERSITY,
        CLOSENESS,
        INFERENCE,
        INDIVIDUAL,
        POPULATION_UNIQUES,
        SPECIAL_UNIQUES,
    )
}
