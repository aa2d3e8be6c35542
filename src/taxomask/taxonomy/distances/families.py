"""Three families of distances. A member of a family is one formula; the family knows how to compute it fast."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..scope import Scope
from .base import Distance, Float, Positions

__all__ = ["ByCommonAncestors", "ByDeepestSubsumer", "ByInformation"]

Int = NDArray[np.int32]
Formula = Callable[[Float, Float, Float], Float]

_TABLE_CELLS = 20_000_000  # the largest table of a formula's values worth making
_SORTED_ANCESTORS = 10  # concepts are sorted by this many of their ancestors; the others have little below them


class ByCommonAncestors(Distance):
    """Distances that depend on |T1|, |T2| and |T1 ∩ T2|."""

    @abstractmethod
    def formula(self, scope: Scope, size1: Float, size2: Float, common: Float) -> Float:
        """The distance, from |T1|, |T2| and |T1 ∩ T2| (arrays that broadcast)."""

    def block(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        sizes = scope.taxonomy.closure.sizes.astype(float)
        return self.formula(scope, sizes[rows][:, None], sizes[columns], _common_counts(scope, rows, columns))

    def sums(self, scope: Scope, concepts: Positions, counts: NDArray[np.int64]) -> Float:
        self.check(scope)
        formula = partial(self.formula, scope)
        if scope.taxonomy.is_tree:
            return (
                _sums_on_tree(scope, concepts, counts, formula)
                if _small(scope)
                else super().sums(scope, concepts, counts)
            )
        sizes = scope.taxonomy.closure.sizes[concepts]
        if sizes.max(initial=0) ** 3 > _TABLE_CELLS:
            return super().sums(scope, concepts, counts)
        merged = _Merged(scope, concepts, counts)
        size = scope.taxonomy.closure.sizes[merged.concepts].astype(float)
        return merged.spread(_sums_by_count(scope, merged, formula), within=self.formula(scope, size, size, size - 1))


class ByDeepestSubsumer(Distance):
    """Distances that depend on the depth of the least common subsumer and on the path through it."""

    @abstractmethod
    def formula(self, depth: Float, path: Float) -> Float:
        """The distance, from the depth of the LCS (nodes, in τ(X)) and the links on the path through it."""

    def block(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        from .._kernels import deepest_common

        closure = scope.taxonomy.closure
        if scope.taxonomy.is_tree:
            sizes = closure.sizes.astype(float)
            return self._on_tree(scope)(sizes[rows][:, None], sizes[columns], _common_counts(scope, rows, columns))
        depth = np.empty((len(rows), len(columns)), dtype=np.int32)
        links = np.empty_like(depth)
        deepest_common(closure.start, closure.ancestor, closure.hops, scope.depth, rows, columns, depth, links)
        return self.formula(depth.astype(float), links.astype(float))

    def sums(self, scope: Scope, concepts: Positions, counts: NDArray[np.int64]) -> Float:
        self.check(scope)
        if scope.taxonomy.is_tree:
            if not _small(scope):
                return super().sums(scope, concepts, counts)
            return _sums_on_tree(scope, concepts, counts, self._on_tree(scope), int(scope.taxonomy.depth[scope.root]))
        merged = _Merged(scope, concepts, counts)
        depth = np.maximum(scope.depth[merged.parents].max(axis=0), 1)  # two that were merged meet in a parent
        within = self.formula(depth.astype(float), np.full(len(depth), 2.0))
        return merged.spread(self._sums_on_dag(scope, merged), within)

    def _on_tree(self, scope: Scope) -> Formula:
        """The formula from |T1|, |T2| and |T1 ∩ T2|, which are depths on a tree."""
        above = int(scope.taxonomy.depth[scope.root]) - 1
        return lambda size1, size2, common: self.formula(common - above, size1 + size2 - 2 * common)

    def _sums_on_dag(self, scope: Scope, merged: _Merged) -> Float:
        from .._kernels import sums_by_deepest

        visit = _Visit(scope, merged.concepts, scope.depth > 0)
        links = 2 * int(scope.taxonomy.closure.hops.max(initial=0)) + 1
        depths = np.arange(int(scope.depth.max()) + 1, dtype=float)
        with np.errstate(all="ignore"):  # depth 0 does not occur
            value = self.formula(*np.meshgrid(depths, np.arange(links, dtype=float), indexing="ij"))
        out = np.empty(len(merged.concepts))
        sums_by_deepest(visit.order, *visit.paths, scope.depth, *visit.below, merged.counts, value, out)
        return out


class ByInformation(Distance):
    """Distances that depend on the information content of both concepts and of what they have in common.

    The information content is intrinsic (Seco et al. 2004): IC(c) = 1 - log(concepts at or below c) / log(N), N the
    concepts of the taxonomy: 0 at the root, 1 at the leaves. On a DAG the common subsumer is the one that tells most.
    """

    @abstractmethod
    def formula(self, content1: Float, content2: Float, common: Float) -> Float:
        """The distance, from IC(c1), IC(c2) and the largest IC of a common subsumer."""

    def block(self, scope: Scope, rows: Positions, columns: Positions) -> Float:
        from .._kernels import largest_common

        closure = scope.taxonomy.closure
        content = self.information_content(scope)
        common = np.empty((len(rows), len(columns)))
        largest_common(closure.start, closure.ancestor, content, rows, columns, common)
        return self.formula(content[rows][:, None], content[columns], common)

    @staticmethod
    def information_content(scope: Scope) -> Float:
        n = len(scope.taxonomy.ids)
        if n == 1:
            return np.zeros(1)
        return 1 - np.log(scope.taxonomy.closure.counts_below(np.arange(n, dtype=np.int32))) / np.log(n)


def _common_counts(scope: Scope, rows: Positions, columns: Positions) -> Float:
    from .._kernels import columns_below, count_common

    closure = scope.taxonomy.closure
    below_start, below, _ = columns_below(closure.start, closure.ancestor, closure.hops, columns)
    out = np.empty((len(rows), len(columns)), dtype=np.int32)
    count_common(closure.start, closure.ancestor, rows, below_start, below, out)
    return out.astype(float)


def _small(scope: Scope) -> bool:
    """Whether a table over three depths of the tree is worth making."""
    return int(scope.taxonomy.depth.max()) ** 3 <= _TABLE_CELLS


def _sums_on_tree(
    scope: Scope, concepts: Positions, counts: NDArray[np.int64], formula: Formula, top: int = 1
) -> Float:
    """Sums on a tree, where |T| is the depth; nothing is shared above the depth ``top``."""
    from .._kernels import sums_on_tree

    taxonomy = scope.taxonomy
    depth = np.arange(int(taxonomy.depth.max()) + 1, dtype=float)
    with np.errstate(all="ignore"):  # more in common than there is does not occur
        value = np.array(np.broadcast_to(formula(depth[:, None, None], depth[:, None], depth), (len(depth),) * 3))
        value[:, :, :top] = 0.0
        step = np.diff(value, axis=2, prepend=0.0)
    weight = np.zeros(len(taxonomy.ids), dtype=np.int64)
    weight[concepts] = counts
    out = np.empty(len(weight))
    sums_on_tree(taxonomy.parent_start, taxonomy.parent_index, taxonomy.depth, weight, step, out)
    return out[concepts]


def _sums_by_count(scope: Scope, merged: _Merged, formula: Formula) -> Float:
    from .._kernels import sums_by_count

    sizes = scope.taxonomy.closure.sizes[merged.concepts]
    number = np.bincount(sizes)
    size = np.flatnonzero(number).astype(float)
    level = (np.cumsum(number > 0) - 1).astype(np.int32)[sizes]
    common = np.arange(len(number), dtype=float)
    with np.errstate(all="ignore"):  # more in common than there is does not occur
        value = np.array(
            np.broadcast_to(formula(size[:, None, None], size[:, None], common), (len(size), len(size), len(common)))
        )
    visit = _Visit(scope, merged.concepts)
    path_start, path, _ = visit.paths
    below_start, below, _ = visit.below
    out = np.empty(len(merged.concepts))
    sums_by_count(
        visit.order, path_start, path, below_start, below, merged.counts, level, np.flatnonzero(number), value, out
    )
    return out


class _Merged:
    """Concepts of a DAG with those merged that differ only in themselves: the same parents, and nothing below.

    ``parents`` are the one or two parents of each concept that may have been merged.
    """

    def __init__(self, scope: Scope, concepts: Positions, counts: NDArray[np.int64]) -> None:
        taxonomy = scope.taxonomy
        self._own = np.asarray(counts, dtype=np.int64)
        parents = np.zeros((2, len(concepts)), dtype=np.int64)
        start = taxonomy.parent_start[concepts]
        number = taxonomy.parent_start[concepts + 1] - start
        mergeable = (taxonomy.closure.counts_below(concepts)[concepts] == 1) & (number >= 1) & (number <= 2)
        parents[0, mergeable] = taxonomy.parent_index[start[mergeable]]
        parents[1, mergeable] = taxonomy.parent_index[start[mergeable] + number[mergeable] - 1]
        parents.sort(axis=0)
        key = parents[0] * len(taxonomy.ids) + parents[1]
        key[~mergeable] = -1 - np.flatnonzero(~mergeable)
        _, first, found = np.unique(key, return_index=True, return_inverse=True)
        order = np.argsort(first)  # keep the taxonomy order
        self._class = np.argsort(order)[found]
        self.concepts = concepts[first[order]]
        self.parents = parents[:, first[order]]
        self.counts = np.bincount(self._class, weights=self._own, minlength=len(first)).astype(np.int64)

    def spread(self, sums: Float, within: Float) -> Float:
        """The sums of every concept, from those of the merged ones and the distance between two that were merged."""
        others = self.counts[self._class] - self._own
        return sums[self._class] + np.where(others > 0, others * within[self._class], 0.0)


class _Visit:
    """An order of the concepts of a DAG in which neighbours share the ancestors that have most concepts below them.

    Concepts are sorted by their ancestors, the widest first (and by the links to them, if ``inside`` says which
    ancestors count).
    """

    def __init__(self, scope: Scope, concepts: Positions, inside: NDArray[np.bool_] | None = None) -> None:
        from .._kernels import columns_below, widest_first

        closure = scope.taxonomy.closure
        self.below = columns_below(closure.start, closure.ancestor, closure.hops, concepts)
        wide = np.diff(self.below[0]) * (1 if inside is None else inside)
        rank = np.empty(len(wide), dtype=np.int32)
        rank[np.argsort(-wide, kind="stable")] = np.arange(len(wide))
        rank[wide == 0] = -1
        self.paths = widest_first(closure.start, closure.ancestor, closure.hops, concepts, rank)
        self.order = self._sorted(rank, by_hops=inside is not None)

    def _sorted(self, rank: Int, by_hops: bool) -> Int:
        start, path, hops = self.paths
        keys = []
        for place in range(_SORTED_ANCESTORS):
            at = np.minimum(start[:-1] + place, len(path) - 1)
            key = rank[path[at]].astype(np.int64) * 2**15 + (hops[at] if by_hops else 0)
            keys.append(np.where(start[:-1] + place < start[1:], key, -1))
        return np.lexsort(keys[::-1]).astype(np.int32)
