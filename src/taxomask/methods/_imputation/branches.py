"""The categories of a column as the leaves of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...microdata import CategoricalColumn, TaxonomicColumn

__all__ = ["Branches", "branches"]

Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Branches:
    """Nested ranges of categories.

    Parameters
    ----------
    order
        The categories that occur, by code, in the order of the leaves.
    bounds
        For every branching, parents first, where the ranges of its branches begin in ``order``, and where the last
        one ends.
    """

    order: Int
    bounds: tuple[Int, ...]


def branches(column: CategoricalColumn) -> Branches:
    """The tree of the categories that occur.

    Plain categories hang from one root. For concepts it is their taxonomy: an inner concept that occurs itself is a
    leaf of its own ("stops here") before its children. In a DAG a concept hangs from the first of its parents in
    taxonomy order only. Concepts that the first of several taxonomies does not know hang from the root.
    """
    used = np.flatnonzero(column.counts)
    if isinstance(column, TaxonomicColumn):
        return _pruned(column, used)
    return Branches(used, (np.arange(len(used) + 1),) if len(used) > 1 else ())


def _pruned(column: TaxonomicColumn, used: NDArray[np.intp]) -> Branches:
    taxonomy, _ = column.attribute.taxonomies[0]
    places = column.positions[used].tolist()
    known = {place: code for place, code in zip(places, used.tolist(), strict=True) if place >= 0}
    unknown = [code for place, code in zip(places, used.tolist(), strict=True) if place < 0]
    children: dict[int, set[int]] = {0: set()}
    for place in known:
        node, above = place, place
        while above:  # up to a concept that was passed before
            above = int(taxonomy.parents_of(node).min())  # comes before the node: no cycle
            passed = above in children
            children.setdefault(above, set()).add(node)
            if passed:
                break
            node = above
    return _ranges(children, known, unknown)


def _ranges(children: dict[int, set[int]], known: dict[int, int], unknown: list[int]) -> Branches:
    """Go through the tree depth first, and note the range of leaves of every concept."""
    order: list[int] = []
    visited: list[int] = []
    start: dict[int, int] = {}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        start[node] = len(order)
        visited.append(node)
        if node in known:
            order.append(known[node])
        waiting += sorted(children.get(node, ()), reverse=True)
    stop: dict[int, int] = {}
    for node in reversed(visited):
        below = children.get(node, ())
        stop[node] = max((stop[child] for child in below), default=start[node] + (node in known))
    bounds = []
    for node in visited:
        begins = [start[child] for child in sorted(children.get(node, ()))]
        if node in known:
            begins.insert(0, start[node])
        ends = [stop[node]]
        if node == 0:
            ends = list(range(len(order), len(order) + len(unknown) + 1))
        if len(begins) + len(ends) > 2:
            bounds.append(np.array(begins + ends, dtype=np.int64))
    return Branches(np.array(order + unknown, dtype=np.int64), tuple(bounds))
