"""Counts along the taxonomy: does the number of records of each chapter survive?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import Column, Kind, Microdata, TaxonomicColumn
from ..measure import Measure
from ..side_by_side import side_by_side
from ._cells import counted_on
from .result import Loss, Result, mean_of

__all__ = ["CHAPTERS", "ChapterCounts", "chapter_counts"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class ChapterCounts(Result):
    """How many records lie at or below each concept, before and after.

    ``loss.each`` has an entry for every attribute and level below the root of τ(X), such as ``("dx", 1)`` for the
    chapters. ``counts`` has for each attribute its concepts that occur, with the counts in both tables.
    """

    loss: Loss
    counts: Mapping[str, Mapping[str, tuple[float, float]]]


def chapter_counts(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> ChapterCounts:
    """How far the numbers of records at or below the concepts of each level of the taxonomy are from the original.

    With f and f' the counts of the concepts of one level in both tables, the loss of the level is
    Σ |f - f'| / Σ (f + f'): the share of records that would have to change sides, in [0, 1]. A value above a level does
    not count in it, so that values that were generalised are missing from the lower levels. Levels count links from
    the root of τ(X), on the longest path. With several taxonomies the first one counts. If the tables differ in size,
    f' is scaled to the size of the original.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm")])
    >>> before = tm.Microdata.from_frame(pa.table({"dx": ["1740", "1749", "4019", "4019"]}), schema)
    >>> after = before.replace(dx=before.columns["dx"].with_codes([0, 2, 2, 2]))
    >>> found = chapter_counts(before, after)
    >>> found.counts["dx"]["CH 140-239"], found.loss.each["dx", 1]
    ((2.0, 1.0), 0.25)
    """
    return _compared(side_by_side(original, released, attributes), _scale(original.n, released.n))


def _scale(n: int, released: int) -> float:
    return n / released if released else 1.0


def _compared(columns: Mapping[str, tuple[Column, Column]], scale: float) -> ChapterCounts:
    each: dict[tuple[str, int], float] = {}
    counts: dict[str, dict[str, tuple[float, float]]] = {}
    for name, (x, y) in columns.items():
        if not isinstance(x, TaxonomicColumn) or not isinstance(y, TaxonomicColumn):
            continue
        before, after = below(x), below(y) * scale
        occurring = np.flatnonzero((before > 0) | (after > 0))
        ids = x.scopes[0].taxonomy.ids
        counts[name] = {ids[i]: (float(before[i]), float(after[i])) for i in occurring.tolist()}
        depth = x.scopes[0].depth
        levels = np.where(depth > 0, depth - 1, 0)
        for level in range(1, int(levels[before > 0].max(initial=0)) + 1):
            here = levels == level
            each[name, level] = float(np.abs(before - after)[here].sum() / (before + after)[here].sum())
    return ChapterCounts(Loss(mean_of(each.values()), each), counts)


def below(column: TaxonomicColumn) -> Float:
    """For each concept of the (first) taxonomy, the records that lie at or below it."""
    closure = column.scopes[0].taxonomy.closure
    known = column.positions >= 0
    total = np.zeros(len(column.scopes[0].taxonomy.ids))
    for position, count in zip(column.positions[known].tolist(), column.counts[known].tolist(), strict=True):
        if count:
            total[closure.ancestors(position)] += count
    return total


CHAPTERS = Measure(
    "chapters",
    title="branches of a taxonomy",
    about="The share of records that would have to change the branch, the mean over levels and columns.",
    compute=lambda tables, _: chapter_counts(*tables.aligned),
    on_engine=lambda engine, tables: _compared(counted_on(engine, tables), _scale(tables.n, tables.released.n)),
    seconds=lambda tables: 1e-8 * tables.cells,
    where="loss.overall",
    columns=(Kind.TAXONOMIC,),
)
