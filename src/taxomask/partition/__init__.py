"""Groups of at least k similar records."""

from __future__ import annotations

from .mdav import mdav

__all__ = ["mdav"]
