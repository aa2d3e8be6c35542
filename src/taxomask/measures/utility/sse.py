"""The sum of squared errors of an attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...methods._moments import extent_of, spread_of
from ...microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ...microdata.alike import alike
from ...partition import Groups, aggregate
from ...records import Extent, Spread
from ...semantics import category_marginality, first_smallest

__all__ = ["SquaredError", "average_of", "average_on", "distances", "mean_category", "squared_error"]


@dataclass(frozen=True)
class SquaredError:
    """SSE, and SST: the SSE of replacing every value by the average of all."""

    sse: float
    sst: float

    @property
    def percent(self) -> float:
        """100·SSE/SST; 0 if the attribute does not vary."""
        return 100 * self.sse / self.sst if self.sst > 0 else 0.0


def squared_error(original: Column, released: Column) -> SquaredError:
    """Σ d(x, x')² over the records, with SST for comparison.

    d is the difference of continuous values or of category positions, the semantic distance of taxonomic values, and 0
    or 1 for plain categories. Records where either value is missing are left out.

    >>> from taxomask.microdata import Attribute, ContinuousColumn
    >>> age = Attribute("age", role="other", kind="continuous")
    >>> squared_error(ContinuousColumn(age, [1, 3, 5]), ContinuousColumn(age, [2, 2, 5]))
    SquaredError(sse=2.0, sst=8.0)
    """
    original, released = alike(original, released)
    return SquaredError(
        float(np.square(distances(original, released)).sum()),
        float(np.square(distances(original, average_of(original))).sum()),
    )


def distances(original: Column, released: Column) -> NDArray[np.float64]:
    """d(x, x') of the records that have both values; the columns must be `alike`."""
    present = ~(original.missing | released.missing)
    if isinstance(original, TaxonomicColumn) and isinstance(released, TaxonomicColumn):
        return original.table[original.codes[present], released.codes[present]]
    x, y = original.numbers()[present], released.numbers()[present]
    return (x != y).astype(float) if original.attribute.kind == Kind.NOMINAL else np.abs(x - y)


def average_of(column: Column) -> Column:
    """The column with every value replaced by the average of all values that are there."""
    present = ~column.missing
    if not present.any():
        return column
    if isinstance(column, TaxonomicColumn):
        return column.with_codes(np.full(len(column), mean_category(column)))
    values = column.take(present)
    average = aggregate(values, Groups(np.zeros(len(values), dtype=np.int32)))
    return average.take(np.zeros(len(column), dtype=np.int64))


def average_on(engine: Engine, column: Column) -> Column:
    """The average of all values that are there, as a column of one record, wherever the column lies."""
    what = "averaging"
    if isinstance(column, ContinuousColumn):
        extent = engine.fold(extent_of, Extent.with_, [column], what=what)
        origin = extent.smallest if extent.count else 0.0
        mean = engine.fold(spread_of, Spread.with_, [column], origin, what=what).mean
        return column.part(0, 0).with_cells(np.array([origin + mean if extent.count else np.nan]))
    outline = column.outline(engine.count(column))
    return outline.with_cells(np.array([_average_category(outline)], dtype=np.int32))


def _average_category(column: CategoricalColumn) -> int:
    """The code of the average of values of which it is known how many there are; -1 of none."""
    counts = column.counts
    if not counts.any():
        return -1
    if isinstance(column, TaxonomicColumn):
        return mean_category(column)
    if column.attribute.kind == Kind.NOMINAL:
        return int(counts.argmax())
    return int(np.searchsorted(np.cumsum(counts), (counts.sum() - 1) // 2, "right"))


def mean_category(column: CategoricalColumn) -> int:
    """Mean_M: the code of the value of the sample with the smallest marginality."""
    return first_smallest(np.where(column.counts > 0, category_marginality(column), np.inf))
