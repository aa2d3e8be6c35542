from __future__ import annotations

from ....methods import Progress
from ....microdata import Role
from ...measure import Tables
from .attacker import Attack, Attacker, found_with

__all__ = ["PARTIAL"]


def _partial(tables: Tables, _: Progress | None) -> Attack:
    every = tables.found["partial_linkage"]
    worst = every[0]
    how = f"By {', '.join(worst.attributes)}, the worst of {len(every):,} sets of at most three columns."
    return found_with(tables.released.n, worst.rows, worst.right / worst.ties, 1 / tables.n, how)


PARTIAL = Attacker(
    "partial",
    title="nearest record by few columns",
    about="The share of records linked rightly by the worst set of at most three quasi-identifiers.",
    knows="One, two or three of the original quasi-identifiers of everybody.",
    compute=_partial,
    seconds=lambda tables: 1e-9 * tables.n,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    uses=("partial_linkage",),
)
