# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""A kd-tree over points that are removed one by one: 8 children per node, boxes that shrink with what is left in them.

tree = (shape, boxes, code_boxes, norm, gone, numbers, codes, count, point, place, middle, short)

shape[4]
    Leaves, inner nodes, children of the root, points left.
boxes[inner, p, 2, 8], code_boxes[inner, q, 2, 8]
    The boxes of the children of each inner node: the lower and the upper end of each number (infinite and empty if
    none is present) and of each code. Eight neighbours in memory: a bound is computed for all children at once.
norm, gone[inner, 8]
    The largest squared distance of the child's points from ``middle``, over the numbers that are never missing, or -1
    if no point is left; and a bit for each number that is missing somewhere in the child.
numbers[2·leaves, p, 8], codes[leaves, q, 16], count[leaves], point[leaves, 16]
    The points of each leaf, the first ``count`` places are in use. Numbers lie in eights, two of them for a leaf.
place[points]
    16·leaf + position of each point.
middle[p]
    The averages of the numbers that are never missing, 0 for others.
short[2·leaves, p, 8]
    ``numbers`` less ``middle`` in 32 bits: tells at half the cost that no point of a leaf matters. Empty where there
    are few numbers.

Inner nodes are numbered level by level, leaves follow: the first child of node g is 8g + r - 7, where the root has r
children (and its first child is 1). A box may be larger than what is left in it until it is refreshed.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._centre_kernels import SPACE
from ._points_kernels import POINTS
from ._vectors import add_squares, filled, kept, least, load, most

TREE = (
    "Tuple((i8[::1], f4[:, :, :, ::1], i4[:, :, :, ::1], f4[:, ::1], i8[:, ::1], "
    "f8[:, :, ::1], i4[:, :, ::1], i4[::1], i4[:, ::1], i4[::1], f8[::1], f4[:, :, ::1]))"
)
WIDE = 8
LEAF = 16
LARGEST = 3.4028234663852886e38  # of 32-bit numbers


@inlined
def below(value):
    """A 32-bit number not above the value, and next to it."""
    near = np.float32(value)
    if near > value:
        wide = min(np.float64(near), LARGEST)
        near = np.float32(wide - abs(wide) * 2.0**-23 - 2e-45)
    return near


@inlined
def above(value):
    """A 32-bit number not below the value, and next to it."""
    return -below(-value)


@inlined
def parent(shape, node):
    """The inner node above a node."""
    return np.int64(0) if node <= shape[2] else (node - shape[2] + 7) >> 3


@inlined
def first_child(shape, node):
    """The first child of an inner node."""
    return np.int64(1) if node == 0 else 8 * node + shape[2] - 7


@inlined
def _set(ends, j, changed, low, high):
    if ends[0, j] != low or ends[1, j] != high:
        ends[0, j] = low
        ends[1, j] = high
        return True
    return changed


@inlined
def _set_others(tree, g, j, changed, norm, gone):
    if tree[3][g, j] != norm or tree[4][g, j] != gone:
        tree[3][g, j] = norm
        tree[4][g, j] = gone
        return True
    return changed


@inlined
def refresh_leaf(tree, gaps, leaf):
    """Fit the box of a leaf to what is left in it; True if it changed."""
    shape, boxes, code_boxes, numbers, codes, middle = tree[0], tree[1], tree[2], tree[5], tree[6], tree[10]
    p, count = numbers.shape[1], np.int64(tree[7][leaf])
    node = leaf + shape[1]
    g = parent(shape, node)
    j = node - first_child(shape, g)
    changed = False
    gone = np.int64(0)
    one, two = filled(0.0), filled(0.0)
    for a in range(p):
        low, high = np.inf, -np.inf
        if gaps[a]:
            for i in range(count):
                value = numbers[2 * leaf + i // WIDE, a, i % WIDE]
                if value < low:
                    low = value
                if value > high:
                    high = value
                if value != value:
                    gone |= np.int64(1) << a
        else:
            at = (2 * leaf * p + a) * WIDE
            row = load(numbers, at)
            low, high = least(kept(row, count, np.inf)), most(kept(row, count, -np.inf))
            one = add_squares(one, numbers, at, middle[a])
            if count > WIDE:
                at += p * WIDE
                row = load(numbers, at)
                low = min(low, least(kept(row, count - WIDE, np.inf)))
                high = max(high, most(kept(row, count - WIDE, -np.inf)))
                two = add_squares(two, numbers, at, middle[a])
        changed = _set(boxes[g, a], j, changed, below(low), above(high))
    for b in range(codes.shape[1]):
        row = codes[leaf, b]
        first, last = np.int32(0x7FFFFFFF), np.int32(-1)
        for i in range(count):
            first = min(first, row[i])
            last = max(last, row[i])
        changed = _set(code_boxes[g, b], j, changed, first, last)
    norm = most(kept(one, count, -1.0))
    if count > WIDE:
        norm = max(norm, most(kept(two, count - WIDE, -1.0)))
    return _set_others(tree, g, j, changed, above(norm), gone)


@inlined
def refresh_node(tree, node):
    """Fit the box of an inner node to those of its children; True if it changed."""
    shape, boxes, code_boxes = tree[0], tree[1], tree[2]
    p = boxes.shape[1]
    g = parent(shape, node)
    j = node - first_child(shape, g)
    changed = False
    for a in range(p):
        at = (node * p + a) * 2 * WIDE
        changed = _set(boxes[g, a], j, changed, least(load(boxes, at)), most(load(boxes, at + WIDE)))
    for b in range(code_boxes.shape[1]):
        lows, highs = code_boxes[node, b, 0], code_boxes[node, b, 1]
        low, high = lows[0], highs[0]
        for i in range(1, WIDE):
            low = min(low, lows[i])
            high = max(high, highs[i])
        changed = _set(code_boxes[g, b], j, changed, low, high)
    gone = np.int64(0)
    for i in range(WIDE):
        gone |= tree[4][node, i]
    return _set_others(tree, g, j, changed, most(load(tree[3], node * WIDE)), gone)


@inlined
def refresh(tree, gaps, leaf):
    """Fit the boxes above a leaf to what is left, as far up as they change."""
    shape = tree[0]
    if refresh_leaf(tree, gaps, leaf):
        node = parent(shape, leaf + shape[1])
        while node > 0 and refresh_node(tree, node):
            node = parent(shape, node)


@inlined
def remove(tree, t):
    """Remove a point from its leaf and return the leaf; its box stays as it is."""
    numbers, codes, count, point, place, short = tree[5], tree[6], tree[7], tree[8], tree[9], tree[11]
    leaf, i = np.int64(place[t]) // LEAF, np.int64(place[t]) % LEAF
    last = np.int64(count[leaf]) - 1
    to, of = 2 * leaf + i // WIDE, 2 * leaf + last // WIDE
    for a in range(numbers.shape[1]):
        numbers[to, a, i % WIDE] = numbers[of, a, last % WIDE]
        if len(short) > 0:
            short[to, a, i % WIDE] = short[of, a, last % WIDE]
    for b in range(codes.shape[1]):
        codes[leaf, b, i] = codes[leaf, b, last]
    point[leaf, i] = point[leaf, last]
    place[point[leaf, i]] = leaf * LEAF + i
    count[leaf] = last
    tree[0][3] -= 1
    return leaf


@makes_no_array(f"void({SPACE}, b1[::1], {POINTS}, i4[::1], {TREE})")
def fill(space, gaps, points, order, tree):
    """Fill the tree with the points of ``order``, leaf by leaf; ``shape`` and ``middle`` are there already."""
    shape, numbers, codes, count, point, place, middle, short = (
        tree[0], tree[5], tree[6], tree[7], tree[8], tree[9], tree[10], tree[11]
    )  # fmt: skip
    head, records = points[0], points[2]
    leaves, m, p, q = shape[0], len(order), numbers.shape[1], codes.shape[1]
    for leaf in range(leaves):
        first, stop = leaf * m // leaves, (leaf + 1) * m // leaves
        count[leaf] = stop - first
        for i in range(LEAF):
            t = order[first + i if first + i < stop else first]  # places not in use hold something, too
            record, row = records[head[t]], 2 * leaf + i // WIDE
            for a in range(p):
                numbers[row, a, i % WIDE] = space[0][record, a]
                if len(short) > 0:
                    short[row, a, i % WIDE] = np.float32(space[0][record, a] - middle[a])
            for b in range(q):
                codes[leaf, b, i] = space[2][record, b]
            if first + i < stop:
                point[leaf, i] = t
                place[t] = leaf * LEAF + i
    for j in range(WIDE):  # the root may have fewer children
        for a in range(p):
            tree[1][0, a, 0, j], tree[1][0, a, 1, j] = np.inf, -np.inf
        for b in range(q):
            tree[2][0, b, 0, j], tree[2][0, b, 1, j] = 0x7FFFFFFF, -1
        tree[3][0, j], tree[4][0, j] = -1.0, 0
    for leaf in range(leaves):
        refresh_leaf(tree, gaps, leaf)
    for node in range(shape[1] - 1, 0, -1):
        refresh_node(tree, node)
