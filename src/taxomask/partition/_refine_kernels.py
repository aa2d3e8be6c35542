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

from .._support.compiling import inlined, makes_no_array
from ._refine_loss_kernels import EXTRA, PARTS, one_loss, plain_loss, settle, tell
from ._refine_near_kernels import below, uniform

CLOSE = "Tuple((i4[:, ::1], i4[::1], i4[::1]))"
ANNEAL = f"f8[:, ::1], {EXTRA}, {PARTS}, {CLOSE}, i8, f8, i8, i8[::1], u8[::1], i8[::1], f8[:, ::1]"


@inlined
def accept(change, temperature, state):
    """Whether a change of the loss is accepted; one for the better always is.

    (1 + x/64)^-64 stands for exp(-x): products have the same bits on every machine.
    """
    if change < 0.0 or not temperature > 0.0:
        return change < 0.0
    return not refused(change, temperature, uniform(state))


@inlined
def refused(change, temperature, ticket):
    """Whether a change for the worse is not accepted with this number from 0 to 1; then neither is a worse one."""
    if not temperature > 0.0:
        return True
    power = 1.0 + change / temperature / 64.0
    for _ in range(6):
        power *= power
    return ticket * power >= 1.0


@inlined
def neighbour(near, point, head, state, i):
    """A random record of a random near point."""
    t = near[point[i], below(state, near.shape[1])]
    many = head[t + 1] - head[t]
    return np.int64(head[t]) if many == 1 else head[t] + below(state, many)


@makes_no_array()
def shift(codes, attributes, whole, group, slot, members, count, away, i, b):
    """Record i goes to group b."""
    a = np.int64(group[i])
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


@makes_no_array()
def _learn(extra, parts, each, scratch, g):
    """What each attribute of group g loses."""
    codes, values, attributes, far, whole, tables = extra
    m = parts[3][g]
    for c in range(codes.shape[1]):
        each[g, c] = one_loss(
            codes, values, attributes, far, whole, tables, parts[2], parts[5], scratch, m, g, -1, -1, c
        )


@inlined
def _alike(codes, attributes, i, other, c):
    """Whether two records have the same value of an attribute; not said of means (rule 0), whose codes are all one."""
    if other < 0 or codes[i, c] != codes[other, c]:
        return False
    return attributes[c, 0] != 0 or np.int64(codes[i, c]) == attributes[c, 3]


@inlined
def _extra_change(extra, parts, each, scratch, fresh, a, i, b, other, change, temperature, state):
    """The change of the loss with all attributes, infinite once it is known to be refused.

    ``change`` is that with the plain ones, less all that the others lost before; what they lose comes to it, first
    where it stays because the two records have the same code. ``each`` is what each attribute of a group loses (NaN:
    not known), ``fresh`` what it will.
    """
    codes, values, attributes, far, whole, tables = extra
    members, count, away = parts[2], parts[3], parts[5]
    several, ticket = codes.shape[1], -1.0
    if each[a, 0] != each[a, 0]:
        _learn(extra, parts, each, scratch, a)
    if each[b, 0] != each[b, 0]:
        _learn(extra, parts, each, scratch, b)
    for c in range(several):
        if _alike(codes, attributes, i, other, c):
            fresh[0, c], fresh[1, c] = each[a, c], each[b, c]
            change += fresh[0, c] + fresh[1, c]
    for c in range(several):
        if _alike(codes, attributes, i, other, c):
            continue
        for side in range(2):
            if change >= 0.0:
                if ticket < 0.0:
                    ticket = uniform(state) if temperature > 0.0 else 1.0
                if refused(change, temperature, ticket):
                    return np.inf
            g, out, new = (a, i, other) if side == 0 else (b, other, i)
            fresh[side, c] = one_loss(
                codes, values, attributes, far, whole, tables, members, away, scratch, count[g], g, out, new, c
            )
            change += fresh[side, c]
    if change >= 0.0:
        if ticket < 0.0:
            ticket = uniform(state) if temperature > 0.0 else 1.0
        if refused(change, temperature, ticket):
            return np.inf
    return change


@makes_no_array(f"i8({ANNEAL})")
def exchange(numbers, extra, parts, close, k, heat, steps, place, state, scratch, each):
    """Try moves and exchanges, record after record from where the last call stopped (``place``); how many were made.

    ``each`` is what each attribute of a group loses (NaN: not known), with two rows more to work in.
    """
    codes, _, attributes, _, whole, _ = extra
    group, slot, members, count, sums, away, _ = parts
    near, point, head = close
    n, last, mixed = len(group), sums.shape[1] - 1, codes.shape[1] > 0
    fresh = each[len(each) - 2 :]
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
        before = sums[a, last] + sums[b, last]
        change, temperature = loss_a + loss_b - before, heat * before / (count[a] + count[b])
        if mixed:
            change = _extra_change(extra, parts, each, scratch, fresh, a, i, b, other, change, temperature, state)
        if change < np.inf if mixed else accept(change, temperature, state):
            made += 1
            for c in range(codes.shape[1]):
                each[a, c], each[b, c] = fresh[0, c], fresh[1, c]
                loss_a, loss_b = loss_a + fresh[0, c], loss_b + fresh[1, c]
            shift(codes, attributes, whole, group, slot, members, count, away, i, b)
            if other >= 0:
                shift(codes, attributes, whole, group, slot, members, count, away, other, a)
            settle(numbers, members, sums, count[a], a, loss_a)
            settle(numbers, members, sums, count[b], b, loss_b)
    place[0] = i
    return made
