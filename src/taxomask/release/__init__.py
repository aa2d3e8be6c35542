"""From a table and a method to a release: masked, checked, and written so that it is whole and as promised."""

from __future__ import annotations

from .protect import protect, protect_on
from .release import Release
from .write import Publication

__all__ = ["Publication", "Release", "protect", "protect_on"]
