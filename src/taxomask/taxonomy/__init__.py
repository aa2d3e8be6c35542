"""What a concept is: taxonomies, how they are read, and semantic distances between concepts."""

from __future__ import annotations

from .from_columns import FromColumns, Level
from .graph import Concept, Match, Taxonomy
from .normalize import check_normalize
from .scope import Scope

__all__ = ["Concept", "FromColumns", "Level", "Match", "Scope", "Taxonomy", "check_normalize"]
