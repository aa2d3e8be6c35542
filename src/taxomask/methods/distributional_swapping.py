from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SchemaError
from ..microdata import CategoricalColumn, Column
from ._ranked_swapping import RankedSwapping

__all__ = ["DistributionalSwapping"]


@dataclass(frozen=True)
class DistributionalSwapping(RankedSwapping):
    """Categories are ranked by how often they occur, and each value is swapped with one of the next k.

    Frequent categories are swapped with frequent ones and rare with rare ones, whatever they mean: a baseline for
    `RankSwapping`. Missing cells stay where they are.

    Parameters
    ----------
    k, p
        The size of the swapping interval, one of both: the number of records, or a percentage of the table (5 means
        5 %).
    attributes
        The columns to swap; by default all quasi-identifiers.

    References
    ----------
    Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45, section 4.2.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["4019", "25001", "25001", "4010"]})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> tm.protect(table, schema, tm.DistributionalSwapping(k=1)).data["dx"].to_pylist()
    ['4010', '25001', '25001', '4019']
    """

    name = "distributional_swapping"
    about = "Swaps every category with one that is about as frequent."
    reference = "Rodriguez-Garcia, Batet, Sánchez (2019), Information Fusion 45, section 4.2"

    def ranks(self, column: Column) -> NDArray[np.int64]:
        if not isinstance(column, CategoricalColumn):
            raise SchemaError(
                f"column {column.attribute.name!r} is continuous; how often a number occurs is no order for it.",
                hint="Use RankSwapping or NumericalSwapping.",
            )
        return column.counts
