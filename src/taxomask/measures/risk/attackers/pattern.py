from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....methods import Progress
from ....microdata import Microdata, Role
from ...measure import Tables
from ..inputs import chosen
from .attacker import Attack, Attacker, found_with, own_pairs, units_of

__all__ = ["PATTERN", "missing_patterns"]


def missing_patterns(data: Microdata, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which cells of each record are missing."""
    return np.column_stack([data.columns[name].missing for name in names])


def _pattern(tables: Tables, _: Progress | None) -> Attack:
    original, released = tables.both
    names = chosen(original, released, None)
    both = np.concatenate([missing_patterns(data, names) for data in (original, released)])
    number = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    here, there = number[: original.n], number[original.n :]
    candidates = np.bincount(here, minlength=int(number.max()) + 1)
    whose, own = own_pairs(units_of(tables), np.arange(released.n))
    right = np.bincount(whose, weights=here[own] == there[whose], minlength=released.n)
    chances = right / np.maximum(candidates[there], 1)
    patterns = len(np.unique(there))
    how = f"By which of {len(names)} columns are missing: {patterns:,} pattern{'s' * (patterns != 1)}."
    return found_with(tables, np.arange(released.n), chances, how)


def _any_missing(tables: Tables) -> bool:
    names = chosen(*tables.both, None)
    return any(data.columns[name].missing.any() for data in tables.both for name in names)


PATTERN = Attacker(
    "pattern",
    title="which cells are missing",
    about="The share of records linked rightly by nothing but which of their quasi-identifiers are missing.",
    knows="Which quasi-identifiers of everybody are missing in the original table, but none of their values.",
    compute=_pattern,
    seconds=lambda tables: 2e-7 * tables.n * tables.known,
    columns=Role.QUASI_IDENTIFIER,
    needs_links=True,
    applies=_any_missing,
)
