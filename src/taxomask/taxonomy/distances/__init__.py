"""Semantic distances between concepts. To add one: one file with one class, and one line here."""

from __future__ import annotations

from ...errors import TaxonomyError, did_you_mean
from .ancestors import Ancestors
from .base import Distance
from .edge_weight import EdgeWeight
from .equality import Equality
from .families import ByCommonAncestors, ByDeepestSubsumer, ByInformation
from .jiang_conrath import JiangConrath
from .lin import Lin
from .wu_palmer import WuPalmer

__all__ = [
    "DISTANCES",
    "ByCommonAncestors",
    "ByDeepestSubsumer",
    "ByInformation",
    "Distance",
    "get_distance",
]

DISTANCES: dict[str, Distance] = {
    distance.name: distance for distance in (Ancestors(), WuPalmer(), EdgeWeight(), Lin(), JiangConrath(), Equality())
}


def get_distance(distance: str | Distance) -> Distance:
    """A distance by its name; a `Distance` passes through."""
    if isinstance(distance, Distance):
        return distance
    try:
        return DISTANCES[distance]
    except (KeyError, TypeError):
        raise TaxonomyError(
            f"distance must be one of {', '.join(map(repr, DISTANCES))}; got {distance!r}.",
            hint=did_you_mean(str(distance), DISTANCES),
        ) from None
