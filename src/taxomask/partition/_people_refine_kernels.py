# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Moves of records between groups that keep k people each; see ``_refine_kernels.py`` for the arguments.

``owner`` is the person of each record, and ``have`` how many people each group has.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._refine_kernels import CLOSE, accept, neighbour, shift
from ._refine_loss_kernels import EXTRA, PARTS, extra_loss, plain_loss, settle
from ._refine_near_kernels import below


@inlined
def _there(owner, members, m, g, who, but):
    """1 if some record of group g other than ``but`` is of a person, else 0."""
    for t in range(m):
        j = members[g, t]
        if j != but and owner[j] == who:
            return 1
    return 0


@makes_no_array(f"i8(f8[:, ::1], {EXTRA}, {PARTS}, {CLOSE}, i4[::1], i8[::1], i8, f8, i8, i8[::1], u8[::1], i8[::1])")
def exchange(numbers, extra, parts, close, owner, have, k, heat, steps, place, state, scratch):
    """Try moves and exchanges, record after record from where the last call stopped (``place``); how many were made."""
    codes, values, attributes, far, whole, tables = extra
    group, slot, members, count, sums, away, _ = parts
    near, point, head = close
    n, last, mixed = len(group), sums.shape[1] - 1, codes.shape[1] > 0
    room = members.shape[1] - 1  # in an exchange one more is there for a moment
    i, made = place[0], 0
    for _ in range(steps):
        i = i + 1 if i + 1 < n else 0
        j = neighbour(near, point, head, state, i)
        a, b = np.int64(group[i]), np.int64(group[j])
        if a == b:
            continue
        have_a = have[a] - 1 + _there(owner, members, count[a], a, owner[i], i)
        other = np.int64(-1)
        if have_a < k or have[b] >= 2 * k - 1 or count[b] == room or below(state, 2) == 0:
            t = below(state, count[b])
            if members[b, t] == j:
                t = t + 1 if t + 1 < count[b] else 0
            other = np.int64(members[b, t])
        have_b = have[b] + 1 - _there(owner, members, count[b], b, owner[i], other)
        if other >= 0:
            have_a += 1 - _there(owner, members, count[a], a, owner[other], i)
            have_b += _there(owner, members, count[b], b, owner[other], other) - 1
        if have_a < k or have_b < k:
            continue
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
            have[a], have[b] = have_a, have_b
            settle(numbers, members, sums, count[a], a, loss_a)
            settle(numbers, members, sums, count[b], b, loss_b)
    place[0] = i
    return made
