# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Groups are dissolved and created, accepted by simulated annealing; see ``_refine_kernels.py`` for the arguments."""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._refine_kernels import ANNEAL, accept, neighbour, shift
from ._refine_loss_kernels import extra_loss, plain_loss, settle
from ._refine_near_kernels import below


@inlined
def _go(numbers, extra, parts, log, losses, at, i, a, b, loss_a, loss_b):
    """Record i goes from group a to b, whose new losses are known; the log says how to take that back."""
    codes, _, attributes, _, whole, _ = extra
    group, slot, members, count, sums, away, _ = parts
    last = sums.shape[1] - 1
    log[0, at], log[1, at], log[2, at] = i, a, b
    losses[0, at], losses[1, at] = sums[a, last], sums[b, last]
    shift(codes, attributes, whole, group, slot, members, count, away, i, b)
    settle(numbers, members, sums, count[a], a, loss_a)
    settle(numbers, members, sums, count[b], b, loss_b)


@inlined
def _dissolve(numbers, extra, parts, close, k, state, scratch, log, losses, g):
    """Send the records of group g to their best other groups nearby.

    How many went, how many moves were looked at, and the change of the loss.
    """
    codes, values, attributes, far, whole, tables = extra
    group, _, members, count, sums, away, _ = parts
    near, point, head = close
    last = sums.shape[1] - 1
    m = count[g]
    moved, tried, change = 0, 1, -sums[g, last]
    for t in range(m):
        i = np.int64(members[g, 0])
        best, target, gain = 0.0, np.int64(-1), np.inf
        for _ in range(near.shape[1]):
            b = np.int64(group[neighbour(near, point, head, state, i)])
            if b in (g, target) or count[b] >= 2 * k - 1:
                continue
            tried += 1
            loss = plain_loss(numbers, sums, count[b], b, -1, i)
            if codes.shape[1] > 0:
                loss += extra_loss(
                    codes, values, attributes, far, whole, tables, members, away, scratch, count[b], b, -1, i
                )
            if loss - sums[b, last] < gain:
                best, target, gain = loss, b, loss - sums[b, last]
        if target < 0:
            break
        _go(numbers, extra, parts, log, losses, t, i, g, target, sums[g, last], best)
        change += gain
        moved += 1
    return moved, tried, change


@inlined
def _create(numbers, extra, parts, close, k, state, scratch, log, losses, i):
    """Form a group near record i from groups that have more than k records; answers as `_dissolve` does."""
    codes, values, attributes, far, whole, tables = extra
    group, _, members, count, sums, away, used = parts
    near, point, head = close
    last = sums.shape[1] - 1
    g, centre = used[0], point[i]
    have, seen, change, tried = 0, -1, 0.0, 1
    if g == len(count):
        return have, tried, change
    settle(numbers, members, sums, 0, g, 0.0)
    while have < k and seen < have:
        for c in range(-1, near.shape[1]):
            t = centre if c < 0 else near[centre, c]
            for j in range(np.int64(head[t]), np.int64(min(head[t + 1], head[t] + 2 * k))):
                a = np.int64(group[j])
                if a == g or count[a] <= k or have == k or (have > 0 and below(state, 10) == 0):
                    continue
                tried += 1
                loss_a = plain_loss(numbers, sums, count[a], a, j, -1)
                loss_g = plain_loss(numbers, sums, have, g, -1, j)
                if codes.shape[1] > 0:
                    for side in range(2):
                        h, out, new = (a, j, np.int64(-1)) if side == 0 else (g, np.int64(-1), j)
                        loss = extra_loss(
                            codes, values, attributes, far, whole, tables, members, away, scratch, count[h], h, out, new
                        )
                        if side == 0:
                            loss_a += loss
                        else:
                            loss_g += loss
                change += loss_a + loss_g - sums[a, last] - sums[g, last]
                _go(numbers, extra, parts, log, losses, have, j, a, g, loss_a, loss_g)
                have += 1
        seen += 1
        if seen < have:  # from here on, also what is near those that joined
            centre = point[log[0, seen]]
    return have, tried, change


@makes_no_array(f"i8({ANNEAL}, i8[:, ::1], f8[:, ::1])")
def regroup(numbers, extra, parts, close, k, heat, attempts, place, state, scratch, each, log, losses):
    """Try to dissolve or create groups at random places; how many moves of records were looked at.

    ``log[3, 2k]`` and ``losses[2, 2k]`` are room to work in.
    """
    codes, _, attributes, _, whole, _ = extra
    group, slot, members, count, sums, away, used = parts
    last = sums.shape[1] - 1
    done = 0
    for _ in range(attempts):
        i = below(state, len(group))
        g = np.int64(group[i])
        new = below(state, 2) == 0
        if new:
            moved, tried, change = _create(numbers, extra, parts, close, k, state, scratch, log, losses, i)
            accepted = moved == k and accept(change, heat * sums[used[0], last] / k, state)
        else:
            m, old = count[g], sums[g, last]
            moved, tried, change = _dissolve(numbers, extra, parts, close, k, state, scratch, log, losses, g)
            accepted = moved == m and accept(change, heat * old / m, state)
        done += tried
        if accepted and codes.shape[1] > 0:  # what their attributes lose is not known one by one
            for t in range(moved):
                each[log[1, t], 0], each[log[2, t], 0] = np.nan, np.nan
        if accepted and new:
            used[0] += 1
        elif accepted:
            used[0] -= 1
            if g != used[0]:  # the last group takes the empty place
                for t in range(each.shape[1]):
                    each[g, t] = each[used[0], t]
                count[g], count[used[0]] = count[used[0]], 0
                for t in range(count[g]):
                    members[g, t] = members[used[0], t]
                    group[members[g, t]] = g
                settle(numbers, members, sums, count[g], g, sums[used[0], last])
        else:
            for t in range(moved - 1, -1, -1):
                i, a, b = log[0, t], log[1, t], log[2, t]
                shift(codes, attributes, whole, group, slot, members, count, away, i, a)
                settle(numbers, members, sums, count[a], a, losses[0, t])
                settle(numbers, members, sums, count[b], b, losses[1, t])
    return done
