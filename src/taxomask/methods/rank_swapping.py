from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from ..engines import Engine, Memory
from ..errors import PlanError
from ..microdata import Microdata
from ._column_swaps import swap_at_ends, swap_by_ranking
from ._long_swaps import each_swapped_on, swapped_at_ends_on, swapped_by_ranking_on
from ._record_swaps import record_terms, swap_records
from ._swapping import IntervalShare, IntervalSize, Swaps, check_interval, interval_size, swapped
from ._swaps_in_blocks import swapped_in_parts, swaps_in_blocks
from .base import Masked, Method, Progress, Promise
from .promises import Permutation

__all__ = ["RankSwapping"]

_ONE_PIECE = 20_000  # records among which algorithm 3 looks for similar ones if nothing is said
_BLOCK, _INTERVALS = 5_000, 5  # the records of a block of a longer table, and how many intervals it holds at least


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
    block_size
        Algorithm 3 looks for similar records within blocks of at most so many, made by cutting the table at medians as
        in `Microaggregation`; p is then a percentage of the block. If not given, tables of more than 20,000 records are
        cut into blocks of 5,000, or of five intervals if these are more, and p is that of the table.
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

    k: IntervalSize | None = None
    p: IntervalShare | None = None
    algorithm: Literal[1, 2, 3] = 2
    interval: Literal["paper", "open"] = "paper"
    block_size: Annotated[int, Ge(10), "A block must hold some similar records."] | None = None
    attributes: Sequence[str] | None = None

    name = "rank_swapping"
    about = "Swaps every value with one of the k values closest to it in meaning."
    reference = (
        "Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via "
        "semantic rank swapping, Information Fusion 45"
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        check_interval(self.k, self.p)
        if self.block_size is not None and self.algorithm != 3:
            raise PlanError(
                f"algorithm {self.algorithm} has no blocks.",
                hint="Leave block_size out: it ranks large tables as well.",
            )

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        if self._cut(data.n) is not None:
            return self.mask_on(Memory().telling(progress), data, rng)
        names = self._attributes(data)
        k, whole = interval_size(self.k, self.p, data.n), self.interval == "open"
        if self.algorithm == 3:
            found = swap_records(record_terms(data, names), k, whole, rng)
            return swapped(data, dict(zip(names, found, strict=True)), k)
        one = swap_by_ranking if self.algorithm == 1 else swap_at_ends
        swaps: dict[str, Swaps] = {}
        for name in names:
            swaps[name] = one(data.columns[name], k, whole, rng)
            if progress is not None:
                progress(len(swaps) / len(names))
        return swapped(data, swaps, k)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        cut = self._cut(data.n)
        if cut is None:
            if self.algorithm == 3 or data.n <= engine.chunk:
                return super().mask_on(engine, data, rng)
            one = swapped_by_ranking_on if self.algorithm == 1 else swapped_at_ends_on
            k, whole = interval_size(self.k, self.p, data.n), self.interval == "open"
            swap = lambda engine, column, rng: one(engine, column, k, whole, rng)  # noqa: E731
            return each_swapped_on(engine, data, self._attributes(data), swap, rng)
        interval_size(self.k, self.p, data.n)
        told = f"The table has {data.n:,} records: similar ones were looked for within blocks of at most "
        told += f"{cut.block_size:,} (block_size says how many)."
        said = (told,) if self.block_size is None else ()
        if data.n > engine.chunk:
            masked = swapped_in_parts(cut, engine, data, rng)
            return replace(masked, notes=(*masked.notes, *said))
        names = self._attributes(data)
        found, k = swaps_in_blocks(cut, engine, data, rng)
        made = engine.map(_exchanged, [(data, *one, k) for one in zip(names, found, strict=True)], "exchanging")
        swaps = {name: pairs for one in made for name, pairs in (one.swaps or {}).items()}
        notes = (*(note for one in made for note in one.notes), *said)
        return Masked(data.changed_as([one.data for one in made]), notes=notes, swaps=swaps or None)

    def _cut(self, n: int) -> RankSwapping | None:
        """As it swaps in blocks of a table of n records; None if it looks at all records at once."""
        if self.block_size is not None:
            return self
        if self.algorithm != 3 or n <= _ONE_PIECE:
            return None
        k = interval_size(self.k, self.p, n)
        return replace(self, k=k, p=None, block_size=max(_BLOCK, _INTERVALS * k))

    def _interval(self, records: int) -> int:
        """The size of the swapping interval in a block; at most all other records of it."""
        return min(self.k, max(records - 1, 1)) if self.k is not None else interval_size(None, self.p, max(records, 2))

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (Permutation(self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        if self.algorithm == 3:
            return (self,)
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))


def _exchanged(data: Microdata, name: str, found: list[Swaps], k: int) -> Masked:
    """The table with the values of one attribute exchanged as the blocks say."""
    return swapped(data, {name: Swaps.together(found)}, k)
