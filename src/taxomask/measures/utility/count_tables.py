"""What tables of counts lose: CTBIL', ACTBIL' and EBIL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...methods import Progress
from ...microdata import CategoricalColumn, Kind, Microdata
from ..measure import CATEGORIES, Figure, Measure, telling
from ..side_by_side import side_by_side
from .result import Loss, Result, pairs

__all__ = ["ENTROPY", "TABLES", "TableLoss", "entropy_loss", "table_loss"]

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class TableLoss(Result):
    """CTBIL' (``relative``) and ACTBIL' (``per_cell``) of the categorical attributes.

    ``each`` has the tables of one and of two attributes; ``left_out`` of ``relative`` counts the cells that are filled
    in the release only.
    """

    relative: Loss
    per_cell: Loss


def table_loss(
    original: Microdata,
    released: Microdata,
    attributes: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> TableLoss:
    """CTBIL' and ACTBIL': how far the counts in all tables of one or two categorical attributes are from the original.

    CTBIL' = Σ |f - f'| / f over the cells with f > 0; overall the sum over the tables. ACTBIL' divides it by the number
    of cells of the tables: the products of the numbers of categories (of the whole scale of an ordinal attribute, of
    the values that occur in the original of others). A record counts in a table if it has both values there; if the
    tables differ in size, f' is scaled to the size of the original.

    References
    ----------
    Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5, Tables 4 to 7.
    """
    columns = _categorical(original, released, attributes, linked=False)
    scale = original.n / released.n if released.n else 1.0
    losses: dict[Any, float] = {}
    cells: dict[Any, int] = {}
    appeared: dict[Any, int] = {}
    keys = [*((name,) for name in columns), *pairs(columns)]
    for key in telling(keys, progress):
        sizes = [len(columns[name][0].categories) for name in key]
        before, after = (_joint([columns[name][when].codes for name in key], sizes) for when in (0, 1))
        name = key if len(key) > 1 else key[0]
        losses[name], appeared[name] = _relative_counts(before, after, scale)
        cells[name] = int(np.prod([_categories(columns[one][0]) for one in key]))
    per_cell = {key: losses[key] / cells[key] if cells[key] else 0.0 for key in losses}
    total, size = sum(losses.values()), sum(cells.values())
    return TableLoss(
        Loss(total, losses, left_out={key: count for key, count in appeared.items() if count}),
        Loss(total / size if size else 0.0, per_cell),
    )


def entropy_loss(original: Microdata, released: Microdata, attributes: Iterable[str] | None = None) -> Loss:
    """EBIL: Σ over the records of the entropy (in bits) of the original value given the released one.

    Of each categorical attribute; overall their sum. 0 if the original can be told from the released value, be it
    another one. Records with a missing value in either table are left out.

    References
    ----------
    Domingo-Ferrer, Torra (2005), doi 10.1007/s10618-005-0007-5, Tables 4 to 7.
    """
    each, left_out = {}, {}
    for name, (x, y) in _categorical(original, released, attributes, linked=True).items():
        size = len(x.categories)
        keys = _joint([y.codes, x.codes], [size, size])
        pairs_of_values, joint = np.unique(keys, return_counts=True)
        _, groups = np.unique(pairs_of_values // max(size, 1), return_inverse=True)
        sums = np.bincount(groups, weights=joint)
        each[name] = float((joint * np.log2(sums[groups] / joint)).sum())
        if len(keys) < len(x):
            left_out[name] = len(x) - len(keys)
    return Loss(sum(each.values()), each, left_out=left_out)


def _categorical(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None, *, linked: bool
) -> dict[str, tuple[CategoricalColumn, CategoricalColumn]]:
    columns = side_by_side(original, released, attributes, linked=linked)
    return {
        name: (x, y)
        for name, (x, y) in columns.items()
        if isinstance(x, CategoricalColumn) and isinstance(y, CategoricalColumn)
    }


def _joint(codes: list[NDArray[np.int32]], sizes: list[int]) -> Codes:
    """One number for the combination of values of each record that has them all."""
    present = np.logical_and.reduce([one >= 0 for one in codes])
    key = codes[0][present].astype(np.int64)
    for one, size in zip(codes[1:], sizes[1:], strict=True):
        key = key * size + one[present]
    return key


def _relative_counts(before: Codes, after: Codes, scale: float) -> tuple[float, int]:
    """Σ |f - f'| / f over the cells that the original fills, and the number of those that only the release fills."""
    cells, counts = np.unique(before, return_counts=True)
    others, released = np.unique(after, return_counts=True)
    found = np.searchsorted(cells, others)
    known = np.zeros(len(others), dtype=bool)
    inside = found < len(cells)
    known[inside] = cells[found[inside]] == others[inside]
    matched = np.zeros(len(cells))
    matched[found[known]] = released[known] * scale
    return float((np.abs(counts - matched) / counts).sum()), int((~known).sum())


def _categories(column: CategoricalColumn) -> int:
    return len(column.categories) if column.attribute.kind == Kind.ORDINAL else int((column.counts > 0).sum())


ENTROPY = Measure(
    "entropy",
    title="entropy",
    about="How many bits about the original categories the released ones leave open, over all records.",
    paper="EBIL",
    unit="bits",
    compute=lambda tables, _: entropy_loss(*tables.aligned),
    seconds=lambda tables: 5e-9 * tables.cells,
    columns=CATEGORIES,
    needs_links=True,
)
TABLES = Measure(
    "tables",
    title="tables of counts",
    about="The relative changes of all counts in tables of one or two categorical columns, summed.",
    paper="CTBIL'",
    unit="relative change",
    compute=lambda tables, told: table_loss(*tables.aligned, progress=told),
    seconds=lambda tables: (1e-4 + 1e-8 * tables.n) * tables.pairs,
    where="relative.overall",
    columns=CATEGORIES,
    more=(Figure("per_cell.overall", "tables of counts, per cell", "The same per cell of a table.", "ACTBIL'"),),
)
