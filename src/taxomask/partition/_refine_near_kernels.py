# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Near points of every point by a forest of random trees, for any mix of attributes; and a small random generator."""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, kernel

SPACE = "Tuple((f8[:, ::1], f8[::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]))"


@inlined
def bits(state):
    """64 random bits (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@inlined
def below(state, m):
    """A random whole number from 0 to m - 1."""
    return np.int64(((bits(state) >> np.uint64(32)) * np.uint64(m)) >> np.uint64(32))


@inlined
def uniform(state):
    """A random number in [0, 1)."""
    return np.float64(bits(state) >> np.uint64(11)) * 2.0**-53


@kernel()
def _apart(numbers, far, codes, tables, start, size, unequal, i, j):
    """δ² of two records."""
    total = 0.0
    for a in range(numbers.shape[1]):
        gap = numbers[i, a] - numbers[j, a]
        if gap == gap:
            total += gap * gap
        elif numbers[i, a] == numbers[i, a] or numbers[j, a] == numbers[j, a]:
            total += far[a]
    for b in range(codes.shape[1]):
        x, y = codes[i, b], codes[j, b]
        if x != y:
            total += tables[start[b] + x * size[b] + y] if size[b] > 0 else unequal[b]
    return total


@kernel()
def _offer(near, distance, t, point, apart):
    """Enter a point into the list of those near to point t."""
    last = near.shape[1] - 1
    if apart >= distance[t, last]:
        return
    at = last
    while at > 0 and distance[t, at - 1] > apart:
        at -= 1
    for u in range(at - 1, -1, -1):  # met before, in another tree
        if distance[t, u] < apart:
            break
        if near[t, u] == point:
            return
    for u in range(last, at, -1):
        near[t, u] = near[t, u - 1]
        distance[t, u] = distance[t, u - 1]
    near[t, at] = point
    distance[t, at] = apart


@kernel()
def _halve(order, key, low, high, middle):
    """Reorder so that the keys before the middle are not above those after it."""
    while low < high:
        pivot = key[order[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while key[order[i]] < pivot:
                i += 1
            while key[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel(f"void({SPACE}, i4[::1], i8, i8, u8[::1], i4[:, ::1], i4[::1])")
def near_points(space, first, trees, leaf, state, near, order):
    """For each point (a record of each is given) those nearest to it, as far as they meet in a leaf of some tree.

    A tree cuts a set of points in half by which of two random points is nearer, until ``leaf`` are left; those are
    compared with each other. ``order`` becomes the order of the leaves of the last tree: neighbours stand together.
    """
    numbers, far, codes, tables, start, size, unequal = space
    m = len(first)
    distance = np.full(near.shape, np.inf)
    near[:] = -1
    key = np.empty(m)
    low, high = np.empty(128, np.int64), np.empty(128, np.int64)
    for t in range(m):
        order[t] = t
    for _ in range(trees):
        low[0], high[0], depth = 0, m, 1
        while depth > 0:
            depth -= 1
            at, end = low[depth], high[depth]
            if end - at <= leaf:
                for u in range(at, end):
                    x = order[u]
                    for v in range(at, u):
                        y = order[v]
                        apart = _apart(numbers, far, codes, tables, start, size, unequal, first[x], first[y])
                        _offer(near, distance, x, y, apart)
                        _offer(near, distance, y, x, apart)
                continue
            a, b = first[order[at + below(state, end - at)]], first[order[at + below(state, end - at)]]
            for u in range(at, end):
                i = first[order[u]]
                key[order[u]] = _apart(numbers, far, codes, tables, start, size, unequal, a, i)
                key[order[u]] -= _apart(numbers, far, codes, tables, start, size, unequal, b, i)
            middle = (at + end) // 2
            _halve(order, key, at, end - 1, middle)
            low[depth], high[depth] = middle, end
            low[depth + 1], high[depth + 1] = at, middle
            depth += 2
