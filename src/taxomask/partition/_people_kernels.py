# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""MDAV where people count and may have several records: the loops of ``_mdav_kernels.py`` and ``_scan_kernels.py``.

people = (owner[n], rows[persons], seen[2, persons], left[1])
    The person of each record, how many records of each person are left, the last group of each turn that has a record
    of the person, and how many people have records left.

A group takes the nearest records until it has k people. That many are asked for as people are missing: each of them
belongs to the group, whoever it is of, and if some are of people that it has already, more are asked for.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import inlined, makes_no_array
from ._bound_kernels import QUERY
from ._centre_kernels import RULES, SPACE, SUMS, average
from ._mdav_kernels import SHELL, become, grab, outermost
from ._points_kernels import NEAR, POINTS, offer, take
from ._scan_kernels import LIVE, WORK, drop, grab_point, look, set_query
from ._search_kernels import farthest, nearest
from ._tree_kernels import LEAF, TREE, refresh

PEOPLE = "Tuple((i4[::1], i8[::1], i8[:, ::1], i8[::1]))"


@inlined
def _count(people, record, turn, group):
    """A record joins the group of a turn: 1 if nobody there has its person, else 0."""
    owner, rows, seen, left = people
    who = owner[record]
    rows[who] -= 1
    if rows[who] == 0:
        left[0] -= 1
    if seen[turn, who] == group:
        return 0
    seen[turn, who] = group
    return 1


@inlined
def _refresh(tree, gaps, dirty):
    for i in range(dirty[0]):
        refresh(tree, gaps, dirty[1 + i])
    dirty[0] = 0


@makes_no_array(
    f"i8({SPACE}, b1[::1], {RULES}, {SUMS}, {POINTS}, {TREE}, {SHELL}, {QUERY}, {NEAR}, i8[::1], i8[::1], {PEOPLE}, "
    "i8, i8, i8)"
)
def search(space, gaps, rules, sums, points, tree, shell, query, near, scratch, dirty, people, k, group, stop):
    """Until fewer than 3k people or ``stop`` points are left, or the query needs a new list; the next group number."""
    p, q = space[0].shape[1], space[2].shape[1]
    head, records = points[0], points[2]
    while people[3][0] >= 3 * k and tree[0][3] >= stop:
        average(space, rules, sums, scratch, query[0], query[1])
        r = outermost(space, gaps, tree, points, query, shell)
        if r < 0:
            return group
        leaf = become(space, points, tree, query, r)
        _count(people, records[head[r]], 0, group)
        grab(space, rules, sums, tree, points, dirty, r, group)
        s = farthest(space, gaps, tree, points, query)
        last = records[head[s]]
        home = np.int64(tree[9][s]) // LEAF
        _count(people, last, 1, group + 1)
        grab(space, rules, sums, tree, points, dirty, s, group + 1)
        for turn in range(2):
            missing = k - 1
            while missing > 0:
                some = missing
                nearest(space, gaps, tree, points, query, near, some, leaf)
                for i in range(some):
                    t = near[2][i]
                    missing -= _count(people, records[head[t]], turn, group + turn)
                    grab(space, rules, sums, tree, points, dirty, t, group + turn)
                if missing > 0:
                    _refresh(tree, gaps, dirty)
            leaf = home
            for a in range(p):
                query[0][a] = space[0][last, a]
            for b in range(q):
                query[1][b] = space[2][last, b]
        _refresh(tree, gaps, dirty)
        group += 2
    return group


@makes_no_array()
def _fill(space, gaps, rules, sums, points, live, work, people, apart, missing, here, turn, group):
    """Let the records nearest to the query, which is point ``here``, join the group until nobody is missing."""
    number, code, _, buffer, whole, near = work
    head, end, records = points[0], points[1], points[2]
    while missing > 0:
        some = missing
        own = here if head[here] < end[here] else np.int64(-1)
        if own >= 0 and apart and end[own] - head[own] >= some:
            offer(points, near, np.int64(0), some, own, 0.0)
        else:
            look(space, gaps, points, live, number, code, buffer, whole, near, some, own, apart)
        for i in range(some):
            t = near[2][i]
            missing -= _count(people, records[head[t]], turn, group)
            grab_point(space, rules, sums, points, live, t, group)


@makes_no_array(f"i8({SPACE}, b1[::1], {RULES}, {SUMS}, {POINTS}, {LIVE}, {WORK}, {PEOPLE}, b1, i8, i8)")
def scan(space, gaps, rules, sums, points, live, work, people, apart, k, group):
    """On the points of ``live``, groups numbered from ``group``; returns the next number.

    Records of fewer than k people may be left at the end, without a group.
    """
    number, code, scratch, buffer, whole, near = work
    head, end, records = points[0], points[1], points[2]
    rows, left = sums[0], people[3]
    while left[0] >= 2 * k or (left[0] >= k and rows[0] >= 2 * k):
        both = left[0] >= 3 * k
        average(space, rules, sums, scratch, number, code)
        r = look(space, gaps, points, live, number, code, buffer, whole, near, np.int64(0), np.int64(-1), apart)
        set_query(space, records[head[r]], number, code)
        _count(people, records[head[r]], 0, group)
        grab_point(space, rules, sums, points, live, r, group)
        if not both:
            _fill(space, gaps, rules, sums, points, live, work, people, apart, k - 1, r, 0, group)
            group += 1
            continue
        # One more than needed: if x_s is among the nearest of x_r (many equal records), it is left out.
        own = r if head[r] < end[r] else np.int64(-1)
        s = look(space, gaps, points, live, number, code, buffer, whole, near, k, own, apart)
        last = records[head[s]]
        _count(people, last, 1, group + 1)
        grab_point(space, rules, sums, points, live, s, group + 1)
        missing, taken = k - 1, 0
        for i in range(k):
            if taken < k - 1 and near[1][i] != last:
                t = near[2][i]
                missing -= _count(people, records[head[t]], 0, group)
                grab_point(space, rules, sums, points, live, t, group)
                taken += 1
        _fill(space, gaps, rules, sums, points, live, work, people, apart, missing, r, 0, group)
        set_query(space, last, number, code)
        _fill(space, gaps, rules, sums, points, live, work, people, apart, k - 1, s, 1, group + 1)
        group += 2
    if left[0] < k:
        return group
    while live[4][0] > 0:
        t = np.int64(live[2][0])
        while head[t] < end[t]:
            take(space, rules, sums, points, t, group)
        drop(live, t)
    return group + 1
