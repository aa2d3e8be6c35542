# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Moves of records between groups, accepted by simulated annealing.

For the arguments ``numbers``, ``extra`` and ``parts`` see ``_refine_loss_kernels.py``.

close = (near[points, c], point[n], head[points + 1])
    The nearest points of each point, the point of each record, and where the records of each point start.

The temperature of a move is a multiple of the present loss per record of the groups concerned: an outlier among
outliers may be as restless as a record in the crowd, which one temperature for all would not allow.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel
from ._refine_loss_kernels import EXTRA, PARTS, extra_loss, plain_loss, settle, tell
from ._refine_near_kernels import below, uniform

CLOSE = "Tuple((i4[:, ::1], i4[::1], i4[::1]))"
ANNEAL = f"f8[:, ::1], {EXTRA}, {PARTS}, {CLOSE}, i8, f8, i8, i8[::1], u8[::1], i8[::1]"


@kernel()
def accept(change, temperature, state):
    """Whether a change of the loss is accepted; one for the better always is.

    (1 + x/64)^-64 stands for exp(-x): products have the same bits on every machine.
    """
    if change < 0.0:
        return True
    if not temperature > 0.0:
        return False
    power = 1.0 + change / temperature / 64.0
    for _ in range(6):
        power *= power
    return uniform(state) * power < 1.0


@kernel()
def neighbour(near, point, head, state, i):
    """A random record of a random near point."""
    t = near[point[i], below(state, near.shape[1])]
    many = head[t + 1] - head[t]
    return np.int64(head[t]) if many == 1 else head[t] + below(state, many)


@kernel()
def shift(codes, attributes, whole, group, slot, members, count, away, i, b):
    """Record i goes to group b."""
    a = group[i]
    count[a] -= 1
    last = members[a, count[a]]
    members[a, slot[i]] = last
    slot[last] = slot[i]
    if codes.shape[1] > 0:
        tell(codes, attributes, whole, members, away, count[a], i, a, -1)
        tell(codes, attributes, whole, members, away, count[b], i, b, 1)
    group[i] = b
    slot[i] = count[b]
    members[b, count[b]] = i
    count[b] += 1


@kernel(f"i8({ANNEAL})")
def exchange(numbers, extra, parts, close, k, heat, steps, place, state, scratch):
    """Try moves and exchanges, record after record from where the last call stopped (``place``); how many were made."""
    codes, values, attributes, far, whole, tables = extra
    group, slot, members, count, sums, away, _ = parts
    near, point, head = close
    n, last, mixed = len(group), sums.shape[1] - 1, codes.shape[1] > 0
    i, made = place[0], 0
    for _ in range(steps):
        i = i + 1 if i + 1 < n else 0
        j = neighbour(near, point, head, state, i)
        a, b = np.int64(group[i]), np.int64(group[j])
        if a == b:
            continue
        other = np.int64(-1)
        if count[a] == k or count[b] >= 2 * k - 1 or below(state, 2) == 0:
            t = below(state, count[b])
            if members[b, t] == j:
                t = t + 1 if t + 1 < count[b] else 0
            other = np.int64(members[b, t])
        loss_a = plain_loss(numbers, sums, count[a], a, i, other)
        loss_b = plain_loss(numbers, sums, count[b], b, other, i)
        if mixed:
            loss_a += extra_loss(
                codes, values, attributes, far, whole, tables, members, away, scratch, count[a], a, i, other
            )
            loss_b += extra_loss(
                codes, values, attributes, far, whole, tables, members, away, scratch, count[b], b, other, i
            )
        before = sums[a, last] + sums[b, last]
        if accept(loss_a + loss_b - before, heat * before / (count[a] + count[b]), state):
            made += 1
            shift(codes, attributes, whole, group, slot, members, count, away, i, b)
            if other >= 0:
                shift(codes, attributes, whole, group, slot, members, count, away, other, a)
            settle(numbers, members, sums, count[a], a, loss_a)
            settle(numbers, members, sums, count[b], b, loss_b)
    place[0] = i
    return made
