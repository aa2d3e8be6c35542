# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Exact searches for near combinations of values, in a binary tree over the different combinations.

What ``space``, ``tree``, ``boxes`` and ``query`` hold is told in ``_record_query_kernels.py``.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel, makes_no_array
from ._record_query_kernels import BOXES, SPACE, TREE, bound_of, leaf_distances

_PAIRS = 32


# --------------------------------------------------------------------------------------- building


@makes_no_array()
def _term(space, a, i, j):
    numbers, far, codes, tables, start, size, unequal = space
    p = numbers.shape[1]
    if a < p:
        gap = numbers[i, a] - numbers[j, a]
        return gap * gap if gap == gap else far[a]
    b = a - p
    if size[b] > 0:
        return tables[start[b] + codes[i, b] * size[b] + codes[j, b]]
    return unequal[b] if codes[i, b] != codes[j, b] else 0.0


@kernel(f"void({SPACE}, {TREE}, i8)")
def build(space, tree, leaves):
    """Order the combinations: halved again and again in the attribute in which pairs differ most."""
    numbers, codes = space[0], space[2]
    order, leaf_of, ordered_numbers, ordered_codes = tree
    u, p = len(order), numbers.shape[1]
    keys = np.empty(u)
    todo = np.empty((64, 2), dtype=np.int64)
    todo[0, 0], todo[0, 1] = 0, leaves
    depth = 1
    while depth > 0:
        depth -= 1
        leaf, wide = todo[depth, 0], todo[depth, 1]
        first, stop = leaf * u // leaves, (leaf + wide) * u // leaves
        if wide == 1:
            for i in range(first, stop):
                leaf_of[order[i]] = np.int32(leaf)
            continue
        half = (stop - first) // 2
        best, most = np.int64(0), -1.0
        for a in range(p + codes.shape[1]):
            total = 0.0
            for t in range(min(half, _PAIRS)):
                i = first + t * half // min(half, _PAIRS)
                total += _term(space, a, order[i], order[i + half])
            if total > most:
                best, most = np.int64(a), total
        for i in range(first, stop):
            value = numbers[order[i], best] if best < p else float(codes[order[i], best - p])
            keys[i] = value if value == value else np.inf
        sequence = np.argsort(keys[first:stop])
        order[first:stop] = order[first:stop][sequence]
        for side in range(2):
            todo[depth, 0], todo[depth, 1] = leaf + side * (wide // 2), wide // 2
            depth += 1
    for i in range(u):
        ordered_numbers[:, i] = numbers[order[i]]
        ordered_codes[:, i] = codes[order[i]]


@makes_no_array()
def _fit_leaf(tree, boxes, weights, node, leaves):
    """Fit the box of a leaf to its combinations that have a weight."""
    order, _, numbers, codes = tree
    low, high, code_low, code_high, gone, count = boxes
    low[node] = np.inf
    high[node] = -np.inf
    code_low[node] = np.int32(0x7FFFFFFF)
    code_high[node] = np.int32(-1)
    gone[node] = 0
    count[node] = 0
    leaf, u = node - leaves, len(order)
    for i in range(leaf * u // leaves, (leaf + 1) * u // leaves):
        if weights[order[i]] == 0:
            continue
        count[node] += 1
        for a in range(len(numbers)):
            value = numbers[a, i]
            if value != value:
                gone[node] |= np.int64(1) << a
            else:
                low[node, a] = min(low[node, a], value)
                high[node, a] = max(high[node, a], value)
        for b in range(len(codes)):
            code_low[node, b] = min(code_low[node, b], codes[b, i])
            code_high[node, b] = max(code_high[node, b], codes[b, i])


@makes_no_array()
def _fit_node(boxes, node):
    """Fit the box of a node to those of its children."""
    low, high, code_low, code_high, gone, count = boxes
    x, y = 2 * node, 2 * node + 1
    for a in range(low.shape[1]):
        low[node, a] = min(low[x, a], low[y, a])
        high[node, a] = max(high[x, a], high[y, a])
    for b in range(code_low.shape[1]):
        code_low[node, b] = min(code_low[x, b], code_low[y, b])
        code_high[node, b] = max(code_high[x, b], code_high[y, b])
    gone[node] = gone[x] | gone[y]
    count[node] = count[x] + count[y]


@makes_no_array(f"void({TREE}, {BOXES}, i8[::1])")
def fit(tree, boxes, weights):
    """Fit all boxes to the combinations that have a weight."""
    leaves = len(boxes[5]) // 2
    for node in range(leaves, 2 * leaves):
        _fit_leaf(tree, boxes, weights, node, leaves)
    for node in range(leaves - 1, 0, -1):
        _fit_node(boxes, node)


@makes_no_array()
def refit(tree, boxes, weights, u):
    """Fit the boxes around a combination that has lost its weight."""
    leaves = len(boxes[5]) // 2
    node = np.int64(tree[1][u]) + leaves
    _fit_leaf(tree, boxes, weights, node, leaves)
    node >>= 1
    while node > 0:
        _fit_node(boxes, node)
        node >>= 1


# --------------------------------------------------------------------------------------- searching


@makes_no_array()
def _push(heap, weight, count, distance, heavy):
    """Add to a heap with the largest distance on top."""
    i = count
    while i > 0 and heap[(i - 1) // 2] < distance:
        heap[i], weight[i] = heap[(i - 1) // 2], weight[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i], weight[i] = distance, heavy


@makes_no_array()
def _sink(heap, weight, count, distance, heavy):
    """Put something no larger in place of the top of a heap."""
    i = np.int64(0)
    while True:
        child = 2 * i + 1
        if child >= count:
            break
        if child + 1 < count:
            child += np.int64(heap[child + 1] > heap[child])
        if heap[child] <= distance:
            break
        heap[i], weight[i] = heap[child], weight[child]
        i = child
    heap[i], weight[i] = distance, heavy


@makes_no_array()
def closest(space, tree, boxes, query, weights, want, room):
    """Collect the combinations within the smallest distance that holds at least this weight; there must be as much.

    The ranges of the query are those of minima. room = (heap, its weights, combinations found, their distances,
    distances in a leaf). Returns the distance and how many were found.
    """
    order, bound, node = tree[0], query[5], query[6]
    heap, heavy, found, distances, leaf = room
    leaves, u = len(boxes[5]) // 2, len(order)
    size, total, limit, count = np.int64(0), np.int64(0), np.inf, np.int64(0)
    bound[0], node[0], depth = 0.0, 1, np.int64(1)
    while depth > 0:
        depth -= 1
        if bound[depth] > limit:
            continue
        g = node[depth]
        if g < leaves:
            x, y = 2 * g, 2 * g + 1
            near_x = bound_of(space, boxes, query, x, False) if boxes[5][x] > 0 else np.inf
            near_y = bound_of(space, boxes, query, y, False) if boxes[5][y] > 0 else np.inf
            if near_x < near_y:
                x, y, near_x, near_y = y, x, near_y, near_x
            if near_x <= limit and boxes[5][x] > 0:
                bound[depth], node[depth] = near_x, x
                depth += 1
            if near_y <= limit and boxes[5][y] > 0:
                bound[depth], node[depth] = near_y, y
                depth += 1
            continue
        first, stop = (g - leaves) * u // leaves, (g - leaves + 1) * u // leaves
        leaf_distances(space, tree, query, first, stop, leaf)
        for i in range(stop - first):
            distance, one = leaf[i], order[first + i]
            if distance > limit or weights[one] == 0:
                continue
            found[count], distances[count] = one, distance
            count += 1
            if distance == limit:
                continue
            total += weights[one]
            if limit < np.inf and total - heavy[0] >= want:
                total -= heavy[0]
                _sink(heap, heavy, size, distance, weights[one])
            else:
                _push(heap, heavy, size, distance, weights[one])
                size += 1
            while total - heavy[0] >= want:
                total -= heavy[0]
                size -= 1
                _sink(heap, heavy, size, heap[size], heavy[size])
            if total >= want:
                limit = heap[0]
    kept = np.int64(0)
    for i in range(count):
        if distances[i] <= limit:
            found[kept], distances[kept] = found[i], distances[i]
            kept += 1
    return limit, kept
