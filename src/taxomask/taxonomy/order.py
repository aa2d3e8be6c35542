"""From the listing of a file to checked arrays in taxonomy order.

Taxonomy order is the depth-first order of the file: a concept comes before everything below it, children
come in the order of the file, and a concept with several parents stands below the first one listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import TaxonomyError
from .listing import Listing

__all__ = ["Arrays", "arrange"]

Int = NDArray[np.int32]
Offsets = NDArray[np.int64]

VIRTUAL_ROOT = "*"


@dataclass(frozen=True)
class Arrays:
    """A rooted DAG in arrays; concept i is at position i of the taxonomy order, the root at 0."""

    ids: list[str]
    labels: list[str]
    codes: list[str]
    parent_start: Offsets
    parent_index: Int
    child_start: Offsets
    child_index: Int
    depth: Int
    virtual_root: bool
    aliases: dict[str, int]


def arrange(listing: Listing, root: str | None = None) -> Arrays:
    """Check a listing and put it in taxonomy order, below ``root`` if one is named."""
    index = _index(listing)
    child, parent = _edges(listing, index)
    keep = None
    if root is not None:
        root_index = index.get(root, index.get(listing.aliases.get(root, ""), -1))
        if root_index < 0:
            raise TaxonomyError(
                f"{listing.origin}: there is no concept {root!r} to take as the root.",
                hint="Name the root by its identifier, or leave it out to take the whole file.",
            )
        keep = _below(root_index, child, parent, len(index))
        inside = keep[child] & keep[parent]
        child, parent = child[inside], parent[inside]
    old = np.arange(len(index)) if keep is None else np.flatnonzero(keep)
    new = np.full(len(index), -1, dtype=np.int64)
    new[old] = np.arange(len(old))
    ids = [listing.ids[i] for i in old]
    labels = [listing.labels[i] for i in old]
    codes = [listing.codes[i] for i in old]
    child, parent = new[child], new[parent]

    tops = np.flatnonzero(np.bincount(child, minlength=len(ids)) == 0)
    virtual = len(tops) > 1
    if virtual:
        name = VIRTUAL_ROOT
        while name in index:
            name += VIRTUAL_ROOT
        ids.append(name)
        labels.append("")
        codes.append("")
        child = np.concatenate([child, tops])
        parent = np.concatenate([parent, np.full(len(tops), len(ids) - 1)])
    depth = _depths(child, parent, len(ids))
    if (depth == 0).any():
        _raise_cycle(listing, ids, child, parent, depth)
    position = _depth_first(child, parent, depth)

    order = np.argsort(position)
    parent_start, parent_index = _csr(position[child], position[parent], len(ids))
    by_child = np.argsort(position[child], kind="stable")  # children in taxonomy order
    child_start, child_index = _csr(position[parent][by_child], position[child][by_child], len(ids))
    aliases = {}
    for alias, target in listing.aliases.items():
        at = new[index[target]] if target in index else -1
        if at >= 0 and alias not in index:
            aliases[alias] = int(position[at])
    return Arrays(
        ids=[ids[i] for i in order],
        labels=[labels[i] for i in order],
        codes=[codes[i] for i in order],
        parent_start=parent_start,
        parent_index=parent_index,
        child_start=child_start,
        child_index=child_index,
        depth=depth[order],
        virtual_root=virtual,
        aliases=aliases,
    )


def _index(listing: Listing) -> dict[str, int]:
    if not listing.ids:
        raise TaxonomyError(
            f"{listing.origin}: no concept found.",
            hint="Check that the file is complete and that its format was recognised (pass format=…).",
        )
    index = {concept: i for i, concept in enumerate(listing.ids)}
    if len(index) < len(listing.ids):
        seen: dict[str, int] = {}
        for concept, line in zip(listing.ids, listing.lines, strict=True):
            if concept in seen:
                first = f" (first in line {seen[concept]})" if seen[concept] else ""
                raise TaxonomyError(
                    f"{listing.where(line)}: concept {concept!r} is declared twice{first}.",
                    hint="Keep one declaration; state further parents as further edges of it.",
                )
            seen[concept] = line
    if "" in index:
        raise TaxonomyError(
            f"{listing.where(listing.lines[index['']])}: a concept has an empty identifier.",
            hint="Give every concept an identifier.",
        )
    return index


def _edges(listing: Listing, index: dict[str, int]) -> tuple[Offsets, Offsets]:
    """The edges as indices, each pair once."""
    child = np.array([index.get(c, -1) for c in listing.children], dtype=np.int64)
    parent = np.array([index.get(p, -1) for p in listing.parents], dtype=np.int64)
    for ends, names, what in ((parent, listing.parents, "parent"), (child, listing.children, "child")):
        if (ends < 0).any():
            at = int(np.argmax(ends < 0))
            raise TaxonomyError(
                f"{listing.where(listing.edge_lines[at])}: the {what} {names[at]!r} of the edge "
                f"{listing.children[at]!r} → {listing.parents[at]!r} is not a concept of the file.",
                hint="Add the missing concept, or remove the edge.",
            )
    _, first = np.unique(child * len(index) + parent, return_index=True)
    first.sort()
    return child[first], parent[first]


def _below(root: int, child: Offsets, parent: Offsets, n: int) -> NDArray[np.bool_]:
    start, children = _csr(parent, child, n)
    keep = np.zeros(n, dtype=bool)
    keep[root] = True
    frontier = np.array([root])
    while len(frontier):
        reached = np.unique(_gather(start, children, frontier))
        frontier = reached[~keep[reached]]
        keep[frontier] = True
    return keep


def _csr(source: Offsets, target: Offsets, n: int) -> tuple[Offsets, Int]:
    """For each source its targets, in the order of the edges."""
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=start[1:])
    return start, target[np.argsort(source, kind="stable")].astype(np.int32)


def _gather(start: Offsets, index: Int, nodes: NDArray[np.integer]) -> Int:
    """The concatenated neighbours of several nodes."""
    counts = start[nodes + 1] - start[nodes]
    total = int(counts.sum())
    offset = np.repeat(start[nodes] - (np.cumsum(counts) - counts), counts)
    return index[offset + np.arange(total)]


def _depths(child: Offsets, parent: Offsets, n: int) -> Int:
    """Nodes on the longest path from the root; 0 for concepts on or below a cycle."""
    start, children = _csr(parent, child, n)
    waiting = np.bincount(child, minlength=n)
    depth = np.zeros(n, dtype=np.int32)
    frontier = np.flatnonzero(waiting == 0)
    level = 0
    while len(frontier):
        level += 1
        depth[frontier] = level
        below = _gather(start, children, frontier)
        reached, times = np.unique(below, return_counts=True)
        waiting[reached] -= times
        frontier = reached[waiting[reached] == 0]
    return depth


def _raise_cycle(listing: Listing, ids: list[str], child: Offsets, parent: Offsets, depth: Int) -> None:
    stuck = (depth[child] == 0) & (depth[parent] == 0)
    upward = dict(zip(child[stuck].tolist(), parent[stuck].tolist(), strict=True))
    at = next(iter(upward))
    seen: dict[int, int] = {}
    path: list[int] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(at)
        at = upward[at]
    loop = [*path[seen[at] :], at]
    names = " → ".join(repr(ids[i]) for i in loop)
    edge = (ids[loop[0]], ids[loop[1]])
    line = next(
        line for c, p, line in zip(listing.children, listing.parents, listing.edge_lines, strict=True) if (c, p) == edge
    )
    raise TaxonomyError(
        f"{listing.where(line)}: the edges form a cycle: {names}.",
        hint="A taxonomy has no cycle: remove one of these edges.",
    )


def _depth_first(child: Offsets, parent: Offsets, depth: Int) -> Offsets:
    """The depth-first position of every concept, each below the first parent listed."""
    n = len(depth)
    above = np.full(n, -1, dtype=np.int64)
    above[child[::-1]] = parent[::-1]  # the first edge of a child is written last
    levels = [np.flatnonzero(depth == level) for level in range(1, int(depth.max()) + 1)]
    size = np.ones(n, dtype=np.int64)
    for nodes in levels[:0:-1]:
        np.add.at(size, above[nodes], size[nodes])
    siblings = np.lexsort((np.arange(n), above))[1:]  # the root, above -1, comes first
    before = np.cumsum(size[siblings]) - size[siblings]
    first = np.concatenate([[True], np.diff(above[siblings]) != 0]) if n > 1 else np.zeros(0, bool)
    offset = np.zeros(n, dtype=np.int64)
    offset[siblings] = before - np.repeat(before[first], np.diff(np.append(np.flatnonzero(first), n - 1)))
    position = np.zeros(n, dtype=np.int64)
    for nodes in levels[1:]:
        position[nodes] = position[above[nodes]] + 1 + offset[nodes]
    return position
