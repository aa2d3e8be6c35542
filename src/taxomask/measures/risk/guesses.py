"""When a guess of a confidential value counts as right: the value itself, or something near enough to it.

Values are codes whose order means nearness (numbers, ordered categories, concepts in taxonomy order), and what counts
as right for a value is some runs of codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_integer
from ...errors import PlanError
from ...microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ...microdata.meanings import by_meaning
from ...partition.nearest import Distinct
from .inputs import in_one_numbering

__all__ = ["Runs", "Tally", "confidential_codes", "members_of"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Runs:
    """For each code c the codes that count as right: ``low[i]`` to ``high[i]`` for i from start[c] to start[c + 1]."""

    start: Whole
    low: Whole
    high: Whole

    @classmethod
    def single(cls, low: Whole, high: Whole) -> Runs:
        """One run for each code."""
        return cls(np.arange(len(low) + 1), low, high)

    @classmethod
    def of_sets(cls, sets: Sequence[Whole]) -> Runs:
        """From the sorted codes that are right for each code."""
        lows, highs = [], []
        for codes in sets:
            gap = np.diff(codes) > 1
            lows.append(codes[np.append(True, gap)])
            highs.append(codes[np.append(gap, True)])
        number = [0, *(len(low) for low in lows)]
        none = [np.zeros(0, dtype=np.int64)]
        return cls(np.cumsum(number), np.concatenate(lows or none), np.concatenate(highs or none))


class Tally:
    """The codes that each query has found, for counting those in runs."""

    def __init__(self, query: Whole, codes: Whole) -> None:
        present = codes >= 0
        self._size = int(codes.max(initial=0)) + 2
        self._keys, counts = np.unique(query[present] * self._size + codes[present], return_counts=True)
        self._until = np.concatenate([[0], np.cumsum(counts)])

    def count(self, query: Whole, truth: Whole, runs: Runs) -> Whole:
        """For each query the number of codes found that are right for the true one."""
        number = runs.start[truth + 1] - runs.start[truth]
        offset = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        run = np.repeat(runs.start[truth], number) + offset
        base, top = np.repeat(query * self._size, number), self._size - 1
        low = np.searchsorted(self._keys, base + np.minimum(runs.low[run], top), "left")
        high = np.searchsorted(self._keys, base + np.minimum(runs.high[run], top), "right")
        inside = np.concatenate([[0], np.cumsum(self._until[high] - self._until[low])])
        end = np.cumsum(number)
        return np.asarray(inside[end] - inside[end - number])


def members_of(distinct: Distinct, points: NDArray[np.int32], counts: Whole) -> tuple[NDArray[np.int32], Whole]:
    """The records of points, and the number of the query that each was found for."""
    sizes = distinct.sizes[points]
    whose = np.repeat(np.repeat(np.arange(len(counts)), counts), sizes)
    offset = np.arange(len(whose)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return distinct.records[np.repeat(distinct.start[points], sizes) + offset], whose


def confidential_codes(
    columns: Sequence[Column], levels: Mapping[str, int] | None, percent: float, counts: Whole | None = None
) -> tuple[list[Whole], dict[str, Runs]]:
    """The values of several tables (the original first) in codes, -1 where missing, and what is right at each level.

    Where columns are a part of the table, ``counts`` are how many original records have each category.
    """
    attribute = columns[0].attribute
    if levels is not None and attribute.kind != Kind.TAXONOMIC:
        raise PlanError(
            f"levels are of a taxonomy, but {attribute.name!r} is {attribute.kind}.",
            hint="Leave levels out for this attribute.",
        )
    if isinstance(columns[0], ContinuousColumn):
        codes, size = _numbered([column.numbers() for column in columns])
    else:
        columns = [by_meaning(column) for column in in_one_numbering(*columns)]
        categories = [column for column in columns if isinstance(column, CategoricalColumn)]
        codes = [column.codes.astype(np.int64) for column in categories]
        size = len(categories[0].categories)
    right = {"value": Runs.single(np.arange(size), np.arange(size))}
    if isinstance(columns[0], TaxonomicColumn):
        for name, depth in (_depths(columns[0]) if levels is None else levels).items():
            right[name] = _sharing(columns[0], check_integer(f"the depth of {name!r}", depth, at_least=1))
    elif isinstance(columns[0], ContinuousColumn) or attribute.kind == Kind.ORDINAL:
        known = codes[0][codes[0] >= 0]
        right["near"] = _near(np.bincount(known, minlength=size) if counts is None else counts, percent)
    return codes, right


def _numbered(values: Sequence[NDArray[np.float64]]) -> tuple[list[Whole], int]:
    """Numbers as their places among all different ones; -1 where missing."""
    known = np.unique(np.concatenate(values))
    known = known[~np.isnan(known)]
    return [np.where(np.isnan(one), -1, np.searchsorted(known, one)) for one in values], len(known)


def _near(counts: Whole, percent: float) -> Runs:
    """Codes within some percent of the ranks of the original values; of equal values the outermost ranks count."""
    each, until = np.arange(len(counts)), np.cumsum(counts)
    n = int(counts.sum())
    if not n:
        return Runs.single(each, each)
    reach = int(percent * n / 100)
    ends = np.clip(until - counts - reach, 0, n - 1), np.clip(until - 1 + reach, 0, n - 1)
    below, above = (np.searchsorted(until, end, "right") for end in ends)  # the code of a rank
    return Runs.single(np.minimum(below, each), np.maximum(above, each))


def _depths(column: TaxonomicColumn) -> dict[str, int]:
    """Every depth at which some values have an ancestor that is not the root."""
    depth = column.attribute.taxonomies[0][0].depth
    deepest = int(depth[column.positions[column.positions >= 0]].max(initial=1))
    return {f"depth {level}": level for level in range(deepest - 1, 1, -1)}


def _sharing(column: TaxonomicColumn, level: int) -> Runs:
    """Concepts that share an ancestor at a depth; a concept above it is right only by itself."""
    taxonomy = column.attribute.taxonomies[0][0]
    above: list[list[int]] = []
    below: dict[int, list[int]] = {}
    for code, position in enumerate(column.positions.tolist()):
        ancestors = taxonomy.closure.ancestors(position) if position >= 0 else np.zeros(0, dtype=np.int64)
        above.append(ancestors[taxonomy.depth[ancestors] == level].tolist())
        for ancestor in above[-1]:
            below.setdefault(ancestor, []).append(code)
    members = {ancestor: np.array(codes, dtype=np.int64) for ancestor, codes in below.items()}
    return Runs.of_sets(
        [
            members[ancestors[0]]
            if len(ancestors) == 1
            else np.unique(np.concatenate([[code], *(members[ancestor] for ancestor in ancestors)]))
            for code, ancestors in enumerate(above)
        ]
    )
