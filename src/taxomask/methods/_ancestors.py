"""Concepts replaced by what is above them in the taxonomy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import TaxonomicColumn
from ..taxonomy import Taxonomy

__all__ = ["cut", "with_concepts"]

Int = NDArray[np.int32]


def cut(taxonomy: Taxonomy, positions: NDArray[np.integer[Any]], level: int, depth: Int | None = None) -> Int:
    """Each concept, or what is above it at this depth; -1 stays.

    A concept deeper than the level is replaced by its parent until it is not. With several parents the way goes to the
    first one listed, below which the concept stands in the taxonomy order; since depth is counted along the longest
    path, it may end above the level then. ``depth`` is that of the whole taxonomy unless another is given, such as that
    of τ(X), with 0 for concepts outside, which the way avoids.
    """
    depth = taxonomy.depth if depth is None else depth
    above = _first_parents(taxonomy, depth)
    out = np.array(positions, dtype=np.int32)
    while len(deep := np.flatnonzero((out >= 0) & (depth[out] > max(level, 1)))):
        out[deep] = above[out[deep]]
    return out


def _first_parents(taxonomy: Taxonomy, depth: Int) -> Int:
    child = np.repeat(np.arange(len(depth)), np.diff(taxonomy.parent_start))
    inside = np.flatnonzero(depth[taxonomy.parent_index] > 0)
    children, first = np.unique(child[inside], return_index=True)
    above = np.zeros(len(depth), dtype=np.int32)
    above[children] = taxonomy.parent_index[inside[first]]
    return above


def with_concepts(column: TaxonomicColumn, concepts: Int) -> TaxonomicColumn:
    """The column with every category replaced by a concept of the first taxonomy; those with -1 stay as they are."""
    wide = column.including(concepts[concepts >= 0])
    number = {position: i for i, position in reversed(list(enumerate(wide.positions.tolist())))}
    # Where several taxonomies tell apart what the first does not, the first of them stands for all.
    kept = {category: i for i, category in enumerate(wide.categories)}
    pairs = zip(concepts.tolist(), column.categories, strict=True)
    recode = [number[concept] if concept >= 0 else kept[category] for concept, category in pairs]
    return wide.with_codes(np.array([*recode, -1], dtype=np.int32)[column.codes])
