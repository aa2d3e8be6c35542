from __future__ import annotations

import numpy as np

from ....engines import Engine
from ....methods import NumericalSwapping, Progress, RankSwapping
from ....methods._swapping import interval_size
from ....microdata import Role
from ...measure import Tables
from ..attacks import candidates_on, rank_swapping_attack
from ..sampling import targets, targets_on
from .attacker import Attack, Attacker, Whose, found_with

__all__ = ["RANK_INTERVALS"]


def _swapped(tables: Tables) -> tuple[str, ...]:
    """The quasi-identifiers that a method swaps with values that are at most k ranks away."""
    method, data = tables.method, tables.original
    if not isinstance(method, NumericalSwapping | RankSwapping) or getattr(method, "block_size", None) is not None:
        return ()
    protected = method.protects(data)
    return tuple(name for name in data.schema.quasi_identifiers if name in protected)


def _rank_intervals(tables: Tables, _: Progress | None) -> Attack:
    method = tables.method
    assert isinstance(method, NumericalSwapping | RankSwapping)
    names, k = _swapped(tables), interval_size(method.k, method.p, tables.n)
    rows = targets(tables, tables.n)
    found = rank_swapping_attack(*tables.both, k, names, rows=rows)
    chances = np.asarray(found.own / np.maximum(found.candidates, 1))
    return found_with(tables, rows, chances, _how(len(names), k))


def _rank_intervals_on(engine: Engine, tables: Tables) -> Attack:
    """The same of long tables."""
    method = tables.method
    assert isinstance(method, NumericalSwapping | RankSwapping)
    names, k = _swapped(tables), interval_size(method.k, method.p, tables.n)
    rows = targets_on(engine, tables, tables.n)
    candidates, own = candidates_on(engine, tables, k, names, rows)
    whose = Whose.on(engine, tables, rows)
    return found_with(tables, rows, np.asarray(own / np.maximum(candidates, 1)), _how(len(names), k), whose)


def _how(columns: int, k: int) -> str:
    return f"The released records whose values of {columns} columns are all within {k:,} ranks."


RANK_INTERVALS = Attacker(
    "rank_intervals",
    title="intersects the swapping intervals",
    about="The share of people found among the released records whose values can all have been swapped from theirs.",
    paper="rank swapping attack",
    knows="The original quasi-identifiers of everybody, and how far apart in rank swapped values can be.",
    compute=_rank_intervals,
    on_engine=_rank_intervals_on,
    seconds=lambda tables: 2e-5 * min(tables.n, 5_000) * tables.known,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    needs_method=True,
    applies=lambda tables: bool(_swapped(tables)),
)
