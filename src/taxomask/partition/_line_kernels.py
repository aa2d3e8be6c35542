# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The best groups of k to 2k - 1 neighbours on a line, of all that there are."""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel


@kernel("i4[::1](f8[::1], i8)")
def line_groups(x, k):
    """The group of each of n ≥ k sorted numbers; the squared differences from the means of groups add up to the least.

    least[j], that sum for the first j numbers, is the smallest least[i] + sse(i, j) over the starts i of the last
    group, j - 2k < i ≤ j - k. The best start never goes back as j grows, so that in a block of k ends j, whose starts
    all lie before it, the best start of the middle one bounds those on both sides: k log k steps for a block.

    sse(i, j) comes from sums over x[i:j] of the differences from a number inside it, x[b] with b a multiple of k, which
    every group has: they are small where the numbers are close together, wherever these lie.
    """
    n = len(x)
    least = np.full(n + 1, np.inf)
    begin = np.zeros(n + 1, np.int32)
    before = np.zeros((n + 1, 2))  # sums over x[i:b] of x[b] - x[t] and its square, b the multiple of k at or after i
    first = np.zeros((k, 2))  # over x[b:j], b the last multiple of k before j
    second = np.zeros((k, 2))  # and b the one before that
    stack = np.empty((130, 4), np.int64)
    least[0] = 0.0
    for base in range(0, n, k):
        earlier = base - k
        if base > 0:
            total, square = 0.0, 0.0
            for t in range(base - 1, earlier, -1):
                away = x[base] - x[t]
                total += away
                square += away * away
                before[t, 0] = total
                before[t, 1] = square
            total, square = 0.0, 0.0
            for t in range(earlier, base):
                away = x[t] - x[earlier]
                total += away
                square += away * away
        ends = min(k, n - base)
        sum0, square0 = 0.0, 0.0
        for t in range(ends):
            away = x[base + t] - x[base]
            sum0 += away
            square0 += away * away
            first[t, 0] = sum0
            first[t, 1] = square0
            if base > 0:
                away = x[base + t] - x[earlier]
                total += away
                square += away * away
                second[t, 0] = total
                second[t, 1] = square
        if base == 0:  # the first k numbers can only be a group
            if ends == k:
                least[k] = max(first[k - 1, 1] - first[k - 1, 0] * first[k - 1, 0] / k, 0.0)
            continue
        stack[0] = (base + 1, base + ends, max(base + 2 - 2 * k, 0), base)
        depth = 1
        while depth:
            depth -= 1
            low, high, left, right = stack[depth]
            j = (low + high) // 2
            best, where = np.inf, left
            for i in range(max(left, j - 2 * k + 1), min(right, j - k) + 1):
                if i > earlier:
                    away = first[j - 1 - base, 0] - before[i, 0]
                    sse = first[j - 1 - base, 1] + before[i, 1] - away * away / (j - i)
                else:
                    away = second[j - 1 - base, 0] - before[i, 0]
                    sse = second[j - 1 - base, 1] + before[i, 1] - away * away / (j - i)
                loss = least[i] + max(sse, 0.0)
                if loss < best:
                    best, where = loss, i
            least[j] = best
            begin[j] = where
            if low < j:
                stack[depth] = (low, j - 1, left, where)
                depth += 1
            if j < high:
                stack[depth] = (j + 1, high, where, right)
                depth += 1
    numbers = np.empty(n, np.int32)
    groups, end = 0, n
    while end > 0:
        groups += 1
        end = begin[end]
    end = n
    while end > 0:
        groups -= 1
        for t in range(begin[end], end):
            numbers[t] = groups
        end = begin[end]
    return numbers
