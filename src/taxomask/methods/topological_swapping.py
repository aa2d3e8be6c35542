from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SchemaError
from ..microdata import Column, TaxonomicColumn
from ._ranked_swapping import RankedSwapping

__all__ = ["TopologicalSwapping"]


@dataclass(frozen=True)
class TopologicalSwapping(RankedSwapping):
    """Codes are ranked in the order of their taxonomy, and each value is swapped with one of the next k.

    The order is that of the taxonomy file, depth first, every concept after its first parent: siblings are close, but
    so are the last concept of one branch and the first of the next. A baseline for `RankSwapping`. Missing cells stay
    where they are.

    Parameters
    ----------
    k, p
        The size of the swapping interval, one of both: the number of records, or a percentage of the table (5 means
        5 %).
    attributes
        The columns to swap; by default all quasi-identifiers.

    References
    ----------
    Torra (2004), Microaggregation for categorical variables: a median based approach, PSD (total orders of partially
    ordered categories); Moore (1996), Controlled data-swapping techniques for masking public use microdata sets.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["4019", "25001", "25002", "4010"]})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> tm.protect(table, schema, tm.TopologicalSwapping(k=1)).data["dx"].to_pylist()
    ['4010', '25002', '25001', '4019']
    """

    name = "topological_swapping"
    about = "Swaps every code with one that stands near it in the taxonomy file."
    reference = "Torra (2004), Microaggregation for categorical variables: a median based approach, PSD"

    def ranks(self, column: Column) -> NDArray[np.int64]:
        if not isinstance(column, TaxonomicColumn):
            raise SchemaError(
                f"column {column.attribute.name!r} has no taxonomy to take an order from.",
                hint="Use RankSwapping, or NumericalSwapping for numbers and ordered categories.",
            )
        return np.arange(len(column.categories))
