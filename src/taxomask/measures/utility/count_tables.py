"""What tables of counts lose: CTBIL', ACTBIL' and EBIL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engines import Engine
from ...methods import Progress
from ...microdata import CategoricalColumn, Kind, Microdata
from ..measure import CATEGORIES, Figure, Measure, Tables, telling
from ..side_by_side import side_by_side
from ._cells import Cells, cells_of, cells_on
from .result import Loss, Result, pairs

__all__ = ["ENTROPY", "TABLES", "TableLoss", "entropy_loss", "table_loss"]


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
    counted = {
        key: tuple(cells_of([columns[name][when] for name in key]) for when in (0, 1))
        for key in telling(_keys(columns), progress)
    }
    return _table_loss(
        {name: _categories(x) for name, (x, _) in columns.items()}, counted, _scale(original.n, released.n)
    )


def _table_loss_on(engine: Engine, tables: Tables) -> TableLoss:
    """The same of long tables."""
    columns = _categorical(*tables.aligned, linked=False)
    keys = _keys(columns)
    before, after = (cells_on(engine, [tuple(columns[name][when] for name in key) for key in keys]) for when in (0, 1))
    sizes = {name: _categories(x.outline(engine.count(x))) for name, (x, _) in columns.items()}
    counted = dict(zip(keys, zip(before, after, strict=True), strict=True))
    return _table_loss(sizes, counted, _scale(tables.original.n, tables.released.n))


def _keys(columns: Iterable[str]) -> list[tuple[str, ...]]:
    return [*((name,) for name in columns), *pairs(columns)]


def _scale(n: int, released: int) -> float:
    return n / released if released else 1.0


def _table_loss(
    sizes: Mapping[str, int], counted: Mapping[tuple[str, ...], tuple[Cells, ...]], scale: float
) -> TableLoss:
    losses: dict[Any, float] = {}
    cells: dict[Any, int] = {}
    appeared: dict[Any, int] = {}
    for key, (before, after) in counted.items():
        name = key if len(key) > 1 else key[0]
        losses[name], appeared[name] = _relative_counts(before, after, scale)
        cells[name] = int(np.prod([sizes[one] for one in key]))
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
    columns = _categorical(original, released, attributes, linked=True)
    counted = {name: cells_of([y, x]) for name, (x, y) in columns.items()}
    return _entropy_loss({name: len(x.categories) for name, (x, _) in columns.items()}, counted, original.n)


def _entropy_loss_on(engine: Engine, tables: Tables) -> Loss:
    """The same of long tables."""
    columns = _categorical(*tables.aligned, linked=True)
    counted = dict(zip(columns, cells_on(engine, [(y, x) for x, y in columns.values()]), strict=True))
    return _entropy_loss({name: len(x.categories) for name, (x, _) in columns.items()}, counted, tables.n)


def _entropy_loss(sizes: Mapping[str, int], counted: Mapping[str, Cells], n: int) -> Loss:
    each, left_out = {}, {}
    for name, (pairs_of_values, joint) in counted.items():
        _, groups = np.unique(pairs_of_values // max(sizes[name], 1), return_inverse=True)
        sums = np.bincount(groups, weights=joint)
        each[name] = float((joint * np.log2(sums[groups] / joint)).sum())
        if joint.sum() < n:
            left_out[name] = n - int(joint.sum())
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


def _relative_counts(before: Cells, after: Cells, scale: float) -> tuple[float, int]:
    """Σ |f - f'| / f over the cells that the original fills, and the number of those that only the release fills."""
    (cells, counts), (others, released) = before, after
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
    on_engine=_entropy_loss_on,
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
    on_engine=_table_loss_on,
    seconds=lambda tables: (1e-4 + 1e-8 * tables.n) * tables.pairs,
    where="relative.overall",
    columns=CATEGORIES,
    more=(Figure("per_cell.overall", "tables of counts, per cell", "The same per cell of a table.", "ACTBIL'"),),
)
