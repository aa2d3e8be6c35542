"""``taxomask seed``: a number that nobody can guess."""

from __future__ import annotations

__all__ = ["seed"]


def seed() -> None:
    """Print a seed for a release that can be repeated. Whoever knows it can undo the protection: keep it secret."""
    from ..release.randomness import new_seed

    print(new_seed())
