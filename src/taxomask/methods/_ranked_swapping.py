"""What swaps along one ranking share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Column, Microdata
from ._long_swaps import each_swapped_on, outline_on, ranked_on, swapped_along_on
from ._swapping import IntervalShare, IntervalSize, Swaps, check_interval, distinct, interval_size, swap_along, swapped
from .base import Masked, Method, Progress, Promise
from .promises import Permutation

__all__ = ["RankedSwapping"]


@dataclass(frozen=True)
class RankedSwapping(Method):
    """Values are ranked once, and each is swapped with one of the next k."""

    k: IntervalSize | None = None
    p: IntervalShare | None = None
    attributes: Sequence[str] | None = None

    def check_parameters(self) -> None:
        super().check_parameters()
        check_interval(self.k, self.p)

    @abstractmethod
    def ranks(self, column: Column) -> NDArray[np.int64] | None:
        """The rank of each category, equal if tied; None: numbers, which rank themselves.

        `SchemaError` if the column has no such order. Of its records only their counts are looked at.
        """

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        names = self._attributes(data)
        k = interval_size(self.k, self.p, data.n)
        swaps: dict[str, Swaps] = {}
        for name in names:
            column = data.columns[name]
            ranks, (rows, codes, _) = self.ranks(column), distinct(column)
            found = swap_along((codes if ranks is None else ranks[codes]).astype(np.int32), k, rng)
            swaps[name] = Swaps(rows[found.pairs], found.candidates)
            if progress is not None:
                progress(len(swaps) / len(names))
        return swapped(data, swaps, k)

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        if data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        k = interval_size(self.k, self.p, data.n)
        return each_swapped_on(engine, data, self._attributes(data), partial(self._swapped_on, k=k), rng)

    def _swapped_on(self, engine: Engine, column: Column, rng: np.random.Generator, k: int) -> tuple[Column, list[str]]:
        ranks = self.ranks(outline_on(engine, column))
        return swapped_along_on(engine, column, ranked_on(engine, column, ranks), k, rng)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (Permutation(self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))
