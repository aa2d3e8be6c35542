"""What the best attacker can do: one file and one declared object for each.

To add one: a file with a function and an `Attacker`, and one line in ``ATTACKERS``.
"""

from __future__ import annotations

from .attacker import Attack, Attacker
from .extremes import EXTREMES
from .homogeneity import HOMOGENEITY
from .inference import INFERENCE_ATTACK
from .informed import INFORMED
from .membership import MEMBERSHIP
from .nearest import NEAREST
from .one_to_one import ONE_TO_ONE
from .partial import PARTIAL
from .pattern import PATTERN
from .rank_intervals import RANK_INTERVALS

__all__ = ["ATTACKERS", "Attack", "Attacker"]

ATTACKERS: dict[str, Attacker] = {
    attacker.name: attacker
    for attacker in (
        NEAREST,
        PARTIAL,
        ONE_TO_ONE,
        PATTERN,
        INFORMED,
        RANK_INTERVALS,
        MEMBERSHIP,
        INFERENCE_ATTACK,
        HOMOGENEITY,
        EXTREMES,
    )
}
