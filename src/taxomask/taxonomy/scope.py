"""τ(X): the part of a taxonomy that an attribute lives in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .graph import Taxonomy

__all__ = ["Scope", "least_common_subsumer"]


class Scope:
    """τ(X): the least common subsumer of all values of an attribute, and everything below it.

    It always comes from the whole original attribute, never from a pair or a group of values: distances that
    depend on it (`wu_palmer`, `edge_weight`) would otherwise not be comparable with each other.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    sample
        The distinct positions of the attribute's values.
    """

    def __init__(self, taxonomy: Taxonomy, sample: NDArray[np.int32]) -> None:
        self.taxonomy = taxonomy
        self.sample = sample

    @cached_property
    def root(self) -> int:
        """The position of the least common subsumer of the sample."""
        return least_common_subsumer(self.taxonomy, self.sample) if len(self.sample) else 0

    @cached_property
    def concepts(self) -> NDArray[np.int32]:
        """The positions of τ(X), in taxonomy order."""
        if self.root == 0:
            return np.arange(len(self.taxonomy.ids), dtype=np.int32)
        return self.taxonomy.closure.descendants(self.root)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """For each concept of the taxonomy, the nodes on the longest path from the root of τ(X); 0 outside it."""
        whole = self.taxonomy.depth
        if self.root == 0:
            return whole
        depth = np.zeros(len(whole), dtype=np.int32)
        if self.taxonomy.is_tree:
            depth[self.concepts] = whole[self.concepts] - whole[self.root] + 1
            return depth
        depth[self.root] = 1
        for concept in self.concepts[np.argsort(whole[self.concepts], kind="stable")].tolist()[1:]:
            depth[concept] = depth[self.taxonomy.parents_of(concept)].max() + 1
        return depth

    @property
    def deepest(self) -> int:
        """L: the depth, in the whole taxonomy, of the deepest value of the sample."""
        return int(self.taxonomy.depth[self.sample].max()) if len(self.sample) else 1


def least_common_subsumer(taxonomy: Taxonomy, positions: NDArray[np.int32]) -> int:
    """The deepest concept that is above (or is) all of these; of several the first in taxonomy order."""
    if not taxonomy.is_tree:
        return taxonomy.closure.least_common_subsumer(positions)
    low, high = int(positions.min()), int(positions.max())  # on a tree the first and the last decide
    while low != high:
        high = int(taxonomy.parents_of(high)[0])
        low, high = min(low, high), max(low, high)
    return low
