"""The sum of squared errors of an attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..microdata import CategoricalColumn, Column, ContinuousColumn, Kind, TaxonomicColumn
from ..microdata.sharing import alike
from ..partition import Groups, aggregate

__all__ = ["SquaredError", "squared_error"]


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
    everything = aggregate(original, Groups(np.zeros(len(original), dtype=np.int32)))
    return SquaredError(_sse(original, released), _sse(original, everything))


def _sse(original: Column, released: Column) -> float:
    if isinstance(original, ContinuousColumn) and isinstance(released, ContinuousColumn):
        return float(np.nansum(np.square(original.values - released.values)))
    assert isinstance(original, CategoricalColumn)
    assert isinstance(released, CategoricalColumn)
    present = ~(original.missing | released.missing)
    x, y = original.codes[present], released.codes[present]
    if isinstance(original, TaxonomicColumn):
        return float(np.square(original.table[x, y]).sum())
    if original.attribute.kind == Kind.ORDINAL:
        return float(np.square(x.astype(float) - y).sum())
    return float((x != y).sum())
