from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SchemaError
from ..microdata import Column, ContinuousColumn, Kind
from ._ranked_swapping import RankedSwapping

__all__ = ["NumericalSwapping"]


@dataclass(frozen=True)
class NumericalSwapping(RankedSwapping):
    """Numbers and ordered categories are ranked, and each value is swapped with one of the next k.

    Classical rank swapping: the ranks of two swapped values differ by at most p % of the records. Ties are ranked at
    random. Missing cells stay where they are.

    Parameters
    ----------
    k, p
        The size of the swapping interval, one of both: the number of records, or a percentage of the table (5 means
        5 %).
    attributes
        The columns to swap; by default all quasi-identifiers.

    References
    ----------
    Moore (1996), Controlled data-swapping techniques for masking public use microdata sets, US Bureau of the Census;
    Domingo-Ferrer, Torra (2001), A quantitative comparison of disclosure control methods for microdata.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [50, 20, 40, 30]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> tm.protect(table, schema, tm.NumericalSwapping(p=25)).data["age"].to_pylist()
    [40, 30, 50, 20]
    """

    name = "numerical_swapping"
    about = "Swaps every number with one whose rank is at most p % away."
    reference = "Moore (1996), Controlled data-swapping techniques for masking public use microdata sets"

    def ranks(self, column: Column) -> NDArray[np.int64] | None:
        if isinstance(column, ContinuousColumn):
            return None
        if column.attribute.kind == Kind.ORDINAL:
            return np.arange(len(column.categories))
        raise SchemaError(
            f"column {column.attribute.name!r} has no order of numbers.",
            hint="Use RankSwapping, or TopologicalSwapping for codes of a taxonomy.",
        )
