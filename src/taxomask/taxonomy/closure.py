"""The ancestors of every concept of a taxonomy, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .graph import Taxonomy

__all__ = ["Closure"]


@dataclass(frozen=True)
class Closure:
    """T(c) for every concept c: ``ancestor[start[c]:start[c + 1]]``, c itself first.

    ``hops`` is the number of links on the shortest path from c to each of them.
    """

    start: NDArray[np.int64]
    ancestor: NDArray[np.int32]
    hops: NDArray[np.int16]
    depth: NDArray[np.int32]

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Closure:
        from ._kernels import ancestors_of_all

        at_least = int(taxonomy.depth.sum())  # exact on a tree
        start, ancestor, hops = ancestors_of_all(taxonomy.parent_start, taxonomy.parent_index, at_least)
        return cls(start, ancestor, hops, taxonomy.depth)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """|T(c)| of every concept."""
        return np.diff(self.start)

    def ancestors(self, position: int) -> NDArray[np.int32]:
        return self.ancestor[self.start[position] : self.start[position + 1]]

    def descendants(self, position: int) -> NDArray[np.int32]:
        """The concepts that have this one as an ancestor, itself included, in taxonomy order."""
        entries = np.flatnonzero(self.ancestor == position)
        return (np.searchsorted(self.start, entries, side="right") - 1).astype(np.int32)

    def counts_below(self, positions: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many of these positions are at or below each concept."""
        from ._kernels import counts_below

        return np.asarray(counts_below(self.start, self.ancestor, positions))

    def least_common_subsumer(self, positions: NDArray[np.int32]) -> int:
        """The deepest concept above all of these; of several the first in taxonomy order."""
        common = np.flatnonzero(self.counts_below(positions) == len(positions))
        return int(common[np.argmax(self.depth[common])])
