"""What swaps along one ranking share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column, Microdata
from ._swapping import IntervalShare, IntervalSize, Swaps, check_interval, interval_size, swap_along, swapped
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
    def ranks(self, column: Column) -> NDArray[np.int32]:
        """The rank of each value that is not missing, equal if tied; `SchemaError` if the column has no such order."""

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        names = self._attributes(data)
        k = interval_size(self.k, self.p, data.n)
        swaps: dict[str, Swaps] = {}
        for name in names:
            column = data.columns[name]
            found = swap_along(self.ranks(column), k, rng)
            swaps[name] = Swaps(np.flatnonzero(~column.missing)[found.pairs], found.candidates)
            if progress is not None:
                progress(len(swaps) / len(names))
        return swapped(data, swaps, k)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (Permutation(self._attributes(data)),)

    def parts(self, data: Microdata) -> tuple[Method, ...]:
        return tuple(replace(self, attributes=(name,)) for name in self._attributes(data))
