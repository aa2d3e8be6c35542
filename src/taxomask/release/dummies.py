"""One column written as many: `is_asthma`, `is_diabetes`, … of which hardly two are set in one record.

Each of them tells little about a protected diagnosis, and all together tell it. So columns of two values, of which the
rarer ones hardly come together, are looked at as one column as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .seen import Seen
from .telling import few

__all__ = ["together", "written_apart"]

LEAST = 3  # columns; pairs are looked at anyway
APART = 0.5  # of the records in which two columns would be set together by chance
MOST = 64  # columns of a group


def written_apart(columns: Sequence[Seen]) -> list[tuple[int, ...]]:
    """The places of columns that may be one column written apart: groups of three or more."""
    rows = few(len(columns[0].codes)) if columns else np.empty(0, np.int64)
    set_ = {place: rare for place, one in enumerate(columns) if (rare := _set(one, rows)) is not None}
    groups: list[list[int]] = []
    for place in sorted(set_, key=lambda place: (-int(set_[place].sum()), place)):
        for group in groups:
            if len(group) < MOST and all(_apart(set_[place], set_[other]) for other in group):
                group.append(place)
                break
        else:
            groups.append([place])
    return [tuple(sorted(group)) for group in groups if len(group) >= LEAST]


def together(columns: Sequence[Seen]) -> NDArray[np.int32]:
    """The number of each combination of some columns, a missing value counted as one."""
    codes = np.zeros(len(columns[0].codes), dtype=np.int64)
    for one in columns:
        _, codes = np.unique(codes * (one.size + 1) + one.codes + 1, return_inverse=True)
    return codes.astype(np.int32)


def _set(column: Seen, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """In which of some records a column of two values has the rarer one; None if it has more, or one only."""
    codes = column.codes[rows]
    if column.size > 2 or (column.size == 2 and (codes < 0).any()):
        return None
    first = codes == 0
    rare = first if 2 * int(first.sum()) <= len(first) else ~first
    return rare if rare.any() else None


def _apart(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> bool:
    return float((a & b).sum()) <= APART * float(a.sum()) * float(b.sum()) / len(a)
