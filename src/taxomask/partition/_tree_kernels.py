# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
"""A kd-tree over points that are removed one by one: 8 children per node, boxes that shrink with what is left in them.

tree = (shape, low, high, code_low, code_high, norm, gone, numbers, codes, count, point, place, middle, short)

shape[4]
    Leaves, inner nodes, children of the root, points left.
low, high[inner, p, 8], code_low, code_high[inner, q, 8]
    The boxes of the children of each inner node: the range of each number (infinite and empty if none is present) and
    of each code. Eight neighbours in memory: a bound is computed for all children at once.
norm, gone[inner, 8]
    The largest squared distance of the child's points from ``middle``, over the numbers that are never missing, or -1
    if no point is left; and a bit for each number that is missing somewhere in the child.
numbers[leaves, p, 16], codes[leaves, q, 16], count[leaves], point[leaves, 16]
    The points of each leaf; the first ``count`` places are in use.
place[points]
    16·leaf + position of each point.
middle[p]
    The averages of the numbers that are never missing, 0 for others.
short[leaves, 2, p, 8]
    ``numbers`` less ``middle`` in 32 bits: tells at half the cost that no point of a leaf matters. Empty where there
    are few numbers.

Inner nodes are numbered level by level, leaves follow: the first child of node g is 8g + r - 7, where the root has r
children (and its first child is 1). A box may be larger than what is left in it until it is refreshed.
"""

from __future__ import annotations

import numpy as np

from ._centre_kernels import SPACE
from ._lean import inlined, lean
from ._points_kernels import POINTS

TREE = (
    "Tuple((i8[::1], f4[:, :, ::1], f4[:, :, ::1], i4[:, :, ::1], i4[:, :, ::1], f8[:, ::1], i8[:, ::1], "
    "f8[:, :, ::1], i4[:, :, ::1], i4[::1], i4[:, ::1], i4[::1], f8[::1], f4[:, :, :, ::1]))"
)
ROOM = "Tuple((f8[:, ::1], i4[:, ::1], i8[::1], f8[::1], i8[:, ::1]))"
WIDE = 8
LEAF = 16
PAIRS = 32
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


@lean()
def parent(shape, node):
    """The inner node above a node."""
    return np.int64(0) if node <= shape[2] else (node - shape[2] + 7) >> 3


@lean()
def first_child(shape, node):
    """The first child of an inner node."""
    return np.int64(1) if node == 0 else 8 * node + shape[2] - 7


@lean()
def _set(tree, g, j, changed, a, low, high):
    if tree[1][g, a, j] != low or tree[2][g, a, j] != high:
        tree[1][g, a, j] = low
        tree[2][g, a, j] = high
        return True
    return changed


@lean()
def refresh_leaf(tree, gaps, leaf):
    """Fit the box of a leaf to what is left in it; True if it changed."""
    shape, numbers, codes, middle = tree[0], tree[7], tree[8], tree[12]
    count = tree[9][leaf]
    node = leaf + shape[1]
    g = parent(shape, node)
    j = node - first_child(shape, g)
    changed = False
    gone = np.int64(0)
    for a in range(numbers.shape[1]):
        row = numbers[leaf, a]
        low, high = np.inf, -np.inf
        for i in range(count):
            value = row[i]
            if value < low:
                low = value
            if value > high:
                high = value
            if value != value:
                gone |= np.int64(1) << a
        changed = _set(tree, g, j, changed, a, below(low), above(high))
    for b in range(codes.shape[1]):
        row = codes[leaf, b]
        low, high = np.int32(0x7FFFFFFF), np.int32(-1)
        for i in range(count):
            low = min(low, row[i])
            high = max(high, row[i])
        if tree[3][g, b, j] != low or tree[4][g, b, j] != high:
            tree[3][g, b, j] = low
            tree[4][g, b, j] = high
            changed = True
    norm = -1.0
    for i in range(count):
        total = 0.0
        for a in range(numbers.shape[1]):
            if not gaps[a]:
                gap = numbers[leaf, a, i] - middle[a]
                total += gap * gap
        norm = max(norm, total)
    if tree[5][g, j] != norm or tree[6][g, j] != gone:
        tree[5][g, j] = norm
        tree[6][g, j] = gone
        changed = True
    return changed


@lean()
def refresh_node(tree, node):
    """Fit the box of an inner node to those of its children; True if it changed."""
    shape = tree[0]
    g = parent(shape, node)
    j = node - first_child(shape, g)
    changed = False
    for a in range(tree[1].shape[1]):
        lows, highs = tree[1][node, a], tree[2][node, a]
        low, high = lows[0], highs[0]
        for i in range(1, WIDE):
            low = lows[i] if lows[i] < low else low
            high = highs[i] if highs[i] > high else high
        changed = _set(tree, g, j, changed, a, low, high)
    for b in range(tree[3].shape[1]):
        lows, highs = tree[3][node, b], tree[4][node, b]
        low, high = lows[0], highs[0]
        for i in range(1, WIDE):
            low = min(low, lows[i])
            high = max(high, highs[i])
        if tree[3][g, b, j] != low or tree[4][g, b, j] != high:
            tree[3][g, b, j] = low
            tree[4][g, b, j] = high
            changed = True
    norm, gone = -1.0, np.int64(0)
    for i in range(WIDE):
        norm = max(norm, tree[5][node, i])
        gone |= tree[6][node, i]
    if tree[5][g, j] != norm or tree[6][g, j] != gone:
        tree[5][g, j] = norm
        tree[6][g, j] = gone
        changed = True
    return changed


@lean()
def refresh(tree, gaps, leaf):
    """Fit the boxes above a leaf to what is left, as far up as they change."""
    shape = tree[0]
    if refresh_leaf(tree, gaps, leaf):
        node = parent(shape, leaf + shape[1])
        while node > 0 and refresh_node(tree, node):
            node = parent(shape, node)


@lean()
def remove(tree, t):
    """Remove a point from its leaf and return the leaf; its box stays as it is."""
    numbers, codes, count, point, place, short = tree[7], tree[8], tree[9], tree[10], tree[11], tree[13]
    leaf, i = np.int64(place[t]) // LEAF, np.int64(place[t]) % LEAF
    last = np.int64(count[leaf]) - 1
    for a in range(numbers.shape[1]):
        numbers[leaf, a, i] = numbers[leaf, a, last]
        if len(short) > 0:
            short[leaf, i // WIDE, a, i % WIDE] = short[leaf, last // WIDE, a, last % WIDE]
    for b in range(codes.shape[1]):
        codes[leaf, b, i] = codes[leaf, b, last]
    point[leaf, i] = point[leaf, last]
    place[point[leaf, i]] = leaf * LEAF + i
    count[leaf] = last
    tree[0][3] -= 1
    return leaf


@lean()
def _term(space, rows, code_rows, a, i, j):
    """The term of attribute a (numbers first, then codes) in the distance of two rows."""
    far, tables, start, size, unequal = space[1], space[3], space[4], space[5], space[6]
    p = rows.shape[1]
    if a < p:
        x, y = rows[i, a], rows[j, a]
        gap = x - y
        return gap * gap if gap == gap else (far[a] if x == x or y == y else 0.0)
    b = a - p
    x, y = code_rows[i, b], code_rows[j, b]
    if size[b] > 0:
        return tables[start[b] + x * size[b] + y]
    return unequal[b] if x != y else 0.0


@lean()
def _widest(space, rows, code_rows, order, first, stop):
    """The attribute in which pairs of rows differ most on average."""
    half = (stop - first) // 2
    pairs = min(half, PAIRS)
    best, most = np.int64(0), -1.0
    for a in range(rows.shape[1] + code_rows.shape[1]):
        total = 0.0
        for t in range(pairs):
            i = first + t * half // pairs
            total += _term(space, rows, code_rows, a, order[i], order[i + half])
        if total > most:
            best, most = a, total
    return best


@lean()
def _select(keys, order, first, stop, middle):
    """Reorder keys and order so that what belongs before ``middle`` is before it (Hoare's quickselect)."""
    low, high = first, stop - 1
    while high > low:
        x, y, z = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(x, y), min(max(x, y), z))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@lean()
def _sort(space, rows, code_rows, order, keys, stack, leaves):
    """Order rows so that each leaf holds neighbours: halved again and again in the attribute that varies most."""
    m, p = len(order), rows.shape[1]
    stack[0, 0], stack[0, 1] = 0, leaves
    depth = 1
    while depth > 0:
        depth -= 1
        leaf, wide = stack[depth, 0], stack[depth, 1]
        if wide == 1:
            continue
        first, stop = leaf * m // leaves, (leaf + wide) * m // leaves
        a = _widest(space, rows, code_rows, order, first, stop)
        if a < p:
            for i in range(first, stop):
                value = rows[order[i], a]
                keys[i] = value if value == value else np.inf
        else:
            for i in range(first, stop):
                keys[i] = code_rows[order[i], a - p]
        _select(keys, order, first, stop, (leaf + wide // 2) * m // leaves)
        for side in range(2):
            stack[depth, 0], stack[depth, 1] = leaf + side * (wide // 2), wide // 2
            depth += 1


@lean(f"void({SPACE}, b1[::1], {POINTS}, i4[::1], {TREE}, {ROOM})")
def build(space, gaps, points, alive, tree, room):
    """Build the tree of the points ``alive``; its arrays are given, with the first three of ``shape``."""
    shape, numbers, codes, count, point, place, middle, short = (
        tree[0], tree[7], tree[8], tree[9], tree[10], tree[11], tree[12], tree[13]
    )  # fmt: skip
    head, records = points[0], points[2]
    m, p, q = len(alive), numbers.shape[1], codes.shape[1]
    rows, code_rows, order, keys, stack = room
    for i in range(m):
        record = records[head[alive[i]]]
        order[i] = i
        for a in range(p):
            rows[i, a] = space[0][record, a]
        for b in range(q):
            code_rows[i, b] = space[2][record, b]
    for a in range(p):
        total = 0.0
        for i in range(m):
            total += 0.0 if gaps[a] else rows[i, a]
        middle[a] = total / m
    leaves = shape[0]
    _sort(space, rows, code_rows, order, keys, stack, leaves)
    shape[3] = m
    for leaf in range(leaves):
        first, stop = leaf * m // leaves, (leaf + 1) * m // leaves
        count[leaf] = stop - first
        for i in range(LEAF):
            at = order[first + i] if first + i < stop else order[first]
            for a in range(p):
                numbers[leaf, a, i] = rows[at, a]
                if len(short) > 0:
                    short[leaf, i // WIDE, a, i % WIDE] = np.float32(rows[at, a] - middle[a])
            for b in range(q):
                codes[leaf, b, i] = code_rows[at, b]
            if first + i < stop:
                point[leaf, i] = alive[at]
                place[alive[at]] = leaf * LEAF + i
    for j in range(WIDE):  # the root may have fewer children
        for a in range(p):
            tree[1][0, a, j], tree[2][0, a, j] = np.inf, -np.inf
        for b in range(q):
            tree[3][0, b, j], tree[4][0, b, j] = 0x7FFFFFFF, -1
        tree[5][0, j], tree[6][0, j] = -1.0, 0
    for leaf in range(leaves):
        refresh_leaf(tree, gaps, leaf)
    for node in range(shape[1] - 1, 0, -1):
        refresh_node(tree, node)
