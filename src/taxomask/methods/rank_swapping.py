from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..checks import check_choice
from ..errors import PlanError
from ..microdata import Microdata
from ._column_swaps import swap_at_ends, swap_by_ranking
from ._record_swaps import swap_records
from ._swapping import Swaps, interval_size, swapped
from .base import Masked, Method, Progress, Promise, chosen
from .promises import Permutation

__all__ = ["RankSwapping"]

Interval = Literal["paper", "open"]


@dataclass(frozen=True)
class RankSwapping(Method):
    """Every value is swapped with one of the k values that mean nearly the same.

    Each attribute keeps exactly its values, in another order. Distances are semantic for taxonomic attributes, |x - y|
    for numbers and positions of ordered categories, and 0 or 1 for plain categories. Missing cells stay where they are.

    Parameters
    ----------
    k, p
        The size of the swapping interval, one of both: the number of records, or a percentage of the table (5 means
        5 %). The larger, the more values change.
    algorithm
        1: all values are ranked once, by their distance from the most distant value, and each is swapped with one of
        the next k. 2: the interval of each value is made of the k values closest to it, and each interval is as far
        from the last as possible. 3: the same for whole records, which keeps attributes that belong together similar;
        each value of a record is swapped with that of one of the k closest records. Records are apart by the mean of
        the distances of their values if all attributes are taxonomic or plain categories, and by S-distance otherwise
        (see `RecordDistance`).
    interval
        ``"paper"``: of the k closest values of the whole table, those not yet swapped; if there is none, the value
        stays. ``"open"``: all values up to the distance within which there are at least k not yet swapped, so that
        every value finds a partner. Ties are broken at random.
    attributes
        The columns to swap; by default all quasi-identifiers.

    References
    ----------
    Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"dx": ["25001", "25002", "4019", "4010"]})
    >>> schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    >>> release = tm.protect(table, schema, tm.RankSwapping(k=1))
    >>> release.data["dx"].to_pylist()
    ['25002', '25001', '4010', '4019']
    >>> sorted(sorted(pair) for pair in release.swaps["dx"].tolist())
    [[0, 1], [2, 3]]
    """

    k: int | None = None
    p: float | None = None
    algorithm: Literal[1, 2, 3] = 2
    interval: Interval = "paper"
    attributes: Sequence[str] | None = None

    name = "rank_swapping"
    about = "Swaps every value with one of the k values closest to it in meaning."
    reference = (
        "Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via "
        "semantic rank swapping, Information Fusion 45"
    )

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        names = self._attributes(data)
        check_choice("interval", self.interval, get_args(Interval))
        if isinstance(self.algorithm, bool) or self.algorithm not in (1, 2, 3):
            raise PlanError(f"algorithm must be 1, 2 or 3; got {self.algorithm!r}.")
        k, whole = interval_size(self.k, self.p, data.n), self.interval == "open"
        if self.algorithm == 3:
            return swapped(data, swap_records(data, names, k, whole, rng), k)
        one = swap_by_ranking if self.algorithm == 1 else swap_at_ends
        swaps: dict[str, Swaps] = {}
        for name in names:
            swaps[name] = one(data.columns[name], k, whole, rng)
            if progress is not None:
                progress(len(swaps) / len(names))
        return swapped(data, swaps, k)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (Permutation(self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        if self.algorithm == 3:
            return (self,)
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        return chosen(data, self.attributes, data.schema.quasi_identifiers, "quasi-identifier")
