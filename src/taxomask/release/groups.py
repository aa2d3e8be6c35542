"""Three columns or more that tell something only together: the bits of a number, the drugs of a person.

Not all of them can be tried. Begun with the pair that tells most, the column is added that adds most to what is told,
and so on, as long as one does, on a sample of the records. So columns are found of which each adds something, and those
are not that tell nothing before the last of them is there, such as numbers drawn at random that add up to another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .seen import Seen
from .telling import View, guess

__all__ = ["LIKELY", "MOST", "grown", "most_told"]

LIKELY = 0.3  # what columns must tell of the sample to be looked at in all records
MOST = 8  # columns of a group
SIZE = 64  # values of a column that is added
ADDS = 0.02  # of what is not known without a column, that it must add
REPEAT = 4  # records for each combination, at least
_BASE = SIZE + 1

Codes = NDArray[np.int32]


def most_told(cells: Codes, views: Sequence[View]) -> float:
    """The most that cells tell of one of some views."""
    return max((found.told for view in views if (found := guess(cells, view)) is not None), default=0.0)


def grown(
    columns: Sequence[Seen], pair: tuple[int, int], left_out: set[int], views: Sequence[View], rows: NDArray[np.int64]
) -> list[tuple[int, ...]]:
    """The places of three columns or more to which a pair grows, if it does and they may tell one of some views.

    Those ``left_out`` tell enough by themselves.
    """
    codes = {
        place: one.codes[rows].astype(np.int64) + 1
        for place, one in enumerate(columns)
        if one.size <= SIZE and place not in left_out
    }
    if not codes.keys() >= set(pair):
        return []
    group, together = list(pair), _numbered(codes[pair[0]] * _BASE + codes[pair[1]])
    told = most_told(together, views)
    while len(group) < MOST:
        tried = {
            place: _numbered(together * np.int64(_BASE) + one) for place, one in codes.items() if place not in group
        }
        fit = {place: one for place, one in tried.items() if REPEAT * (int(one.max()) + 1) <= len(rows)}
        tells = {place: most_told(one, views) for place, one in fit.items()}
        best = max(tells, key=lambda place: tells[place], default=-1)
        if best < 0 or tells[best] < told + ADDS:
            break
        group, together, told = [*group, best], fit[best], tells[best]
    return [tuple(sorted(group))] if len(group) > 2 and told >= LIKELY else []


def _numbered(keys: NDArray[np.int64]) -> Codes:
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)
