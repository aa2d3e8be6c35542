"""The sum of squared errors of an attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import CategoricalColumn, Column, Kind, TaxonomicColumn
from ...microdata.alike import alike
from ...partition import Groups, aggregate
from ...semantics import category_marginality, first_smallest

__all__ = ["SquaredError", "average_of", "distances", "mean_category", "squared_error"]


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


def mean_category(column: CategoricalColumn) -> int:
    """Mean_M: the code of the value of the sample with the smallest marginality."""
    return first_smallest(np.where(column.counts > 0, category_marginality(column), np.inf))
