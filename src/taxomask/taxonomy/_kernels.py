# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Compiled loops over the ancestors of concepts. What they compute is said in closure.py and distances/families.py.

The ancestors of concept v are ``ancestor[start[v]:start[v + 1]]``, v itself first; ``hops`` is the number of links
on the shortest path to each. ``below_start, below`` list, for each concept, the columns that have it as an ancestor.

Arrays are copied cell by cell: a whole one would bring along numba's check of its shape and the text of its error,
which take longer to compile than the rest.
"""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel


@kernel()
def _twice(values):
    longer = np.empty(2 * len(values), values.dtype)
    for at in range(len(values)):
        longer[at] = values[at]
    return longer


@kernel("Tuple((i8[::1], i4[::1], i2[::1]))(i8[::1], i4[::1], i8)")
def ancestors_of_all(parent_start, parent_index, capacity):
    n = len(parent_start) - 1
    start = np.zeros(n + 1, np.int64)
    ancestor = np.empty(capacity, np.int32)
    hops = np.empty(capacity, np.int16)
    seen = np.full(n, -1, np.int32)
    end = 0
    for v in range(n):
        only = parent_index[parent_start[v]] if parent_start[v + 1] - parent_start[v] == 1 else -1
        while end + (1 if only < 0 else 1 + start[only + 1] - start[only]) > len(ancestor):
            ancestor, hops = _twice(ancestor), _twice(hops)
        at = end
        ancestor[end] = v
        hops[end] = 0
        end += 1
        if only >= 0:  # the only parent comes before v, so its ancestors are known
            for e in range(start[only], start[only + 1]):
                ancestor[end] = ancestor[e]
                hops[end] = hops[e] + 1
                end += 1
            at = end
        while at < end:
            u = ancestor[at]
            for e in range(parent_start[u], parent_start[u + 1]):
                p = parent_index[e]
                if seen[p] != v:
                    seen[p] = v
                    if end == len(ancestor):
                        ancestor, hops = _twice(ancestor), _twice(hops)
                    ancestor[end] = p
                    hops[end] = hops[at] + 1
                    end += 1
            at += 1
        start[v + 1] = end
    return start, ancestor[:end], hops[:end]


@kernel("i8[::1](i8[::1], i4[::1], i4[::1])")
def counts_below(start, ancestor, columns):
    """For each concept, how many of the columns are at or below it."""
    counts = np.zeros(len(start) - 1, np.int64)
    for column in columns:
        for e in range(start[column], start[column + 1]):
            counts[ancestor[e]] += 1
    return counts


@kernel("Tuple((i8[::1], i4[::1], i2[::1]))(i8[::1], i4[::1], i2[::1], i4[::1])")
def columns_below(start, ancestor, hops, columns):
    """For each concept the columns at or below it, in order, with the links between them."""
    n = len(start) - 1
    below_start = np.zeros(n + 1, np.int64)
    for column in columns:
        for e in range(start[column], start[column + 1]):
            below_start[ancestor[e] + 1] += 1
    for v in range(n):
        below_start[v + 1] += below_start[v]
    fill = np.empty(n, np.int64)
    for v in range(n):
        fill[v] = below_start[v]
    below = np.empty(below_start[n], np.int32)
    below_hops = np.empty(below_start[n], np.int16)
    for j in range(len(columns)):
        for e in range(start[columns[j]], start[columns[j] + 1]):
            a = ancestor[e]
            below[fill[a]] = j
            below_hops[fill[a]] = hops[e]
            fill[a] += 1
    return below_start, below, below_hops


@kernel("void(i8[::1], i4[::1], i4[::1], i8[::1], i4[::1], i4[:, ::1])")
def count_common(start, ancestor, rows, below_start, below, out):
    """out[i, j] = |T(row i) ∩ T(column j)|. A row starts from the row before it: neighbours share most ancestors."""
    inside = np.zeros(len(start) - 1, np.int64)
    common = np.zeros(out.shape[1], np.int32)
    for i in range(len(rows)):
        row = rows[i]
        for e in range(start[row], start[row + 1]):
            inside[ancestor[e]] += 2
        if i > 0:
            before = rows[i - 1]
            for e in range(start[before], start[before + 1]):
                a = ancestor[e]
                if inside[a] == 1:
                    for f in range(below_start[a], below_start[a + 1]):
                        common[below[f]] -= 1
                    inside[a] = 0
        for e in range(start[row], start[row + 1]):
            a = ancestor[e]
            if inside[a] == 2:
                for f in range(below_start[a], below_start[a + 1]):
                    common[below[f]] += 1
            inside[a] = 1
        for j in range(len(common)):
            out[i, j] = common[j]


@kernel("void(i8[::1], i4[::1], i2[::1], i4[::1], i4[::1], i4[::1], i4[:, ::1], i4[:, ::1])")
def deepest_common(start, ancestor, hops, depth, rows, columns, deepest, path):
    """The depth of the deepest common subsumer, and the links of the shortest way through one that deep."""
    links = np.zeros(len(start) - 1, np.int32)  # 1 + links from the row; 0: not an ancestor of it
    for i in range(len(rows)):
        row = rows[i]
        for e in range(start[row], start[row + 1]):
            links[ancestor[e]] = 1 + hops[e]
        for j in range(len(columns)):
            column = columns[j]
            best = -1
            way = 0
            for e in range(start[column], start[column + 1]):
                a = ancestor[e]
                if links[a] > 0 and depth[a] >= best:
                    through = links[a] - 1 + hops[e]
                    if depth[a] > best or through < way:
                        best = depth[a]
                        way = through
            deepest[i, j] = best
            path[i, j] = way
        for e in range(start[row], start[row + 1]):
            links[ancestor[e]] = 0


@kernel("void(i8[::1], i4[::1], f8[::1], i4[::1], i4[::1], f8[:, ::1])")
def largest_common(start, ancestor, weight, rows, columns, out):
    """out[i, j] = the largest weight among the common subsumers."""
    above = np.zeros(len(start) - 1, np.bool_)
    for i in range(len(rows)):
        row = rows[i]
        for e in range(start[row], start[row + 1]):
            above[ancestor[e]] = True
        for j in range(len(columns)):
            column = columns[j]
            best = -np.inf
            for e in range(start[column], start[column + 1]):
                a = ancestor[e]
                if above[a] and weight[a] > best:
                    best = weight[a]
            out[i, j] = best
        for e in range(start[row], start[row + 1]):
            above[ancestor[e]] = False


@kernel("void(i8[::1], i4[::1], i4[::1], i8[::1], f8[:, :, ::1], f8[::1])")
def sums_on_tree(parent_start, parent_index, depth, weight, step, out):
    """out[x] = Σ_y weight_y · value[depth_x, depth_y, depth of their least common subsumer], on a tree.

    step[D, d, i] is value[D, d, i] - value[D, d, i - 1]. From the leaves up, the weight below each concept is counted
    by depth; then, from the root down, each concept adds what pairs gain by sharing it, for every depth D below it.
    """
    n = len(depth)
    height = np.zeros(n, np.int32)
    for v in range(n - 1, 0, -1):  # a parent comes before its children
        p = parent_index[parent_start[v]]
        height[p] = max(height[p], height[v] + 1)
    start = np.zeros(n + 1, np.int64)
    for v in range(n):
        start[v + 1] = start[v] + height[v] + 1
    below = np.zeros(start[n], np.int64)
    for v in range(n - 1, -1, -1):
        below[start[v]] += weight[v]
        if v > 0:
            up = start[parent_index[parent_start[v]]] + 1
            for h in range(height[v] + 1):
                below[up + h] += below[start[v] + h]
    sums = np.zeros(start[n])
    for v in range(n):
        i = depth[v]
        for h in range(height[v] + 1):
            total = sums[start[parent_index[parent_start[v]]] + 1 + h] if v > 0 else 0.0
            for other in range(height[v] + 1):
                if below[start[v] + other] != 0:
                    total += below[start[v] + other] * step[i + h, i + other, i]
            sums[start[v] + h] = total
        out[v] = sums[start[v]]


@kernel("Tuple((i8[::1], i4[::1], i2[::1]))(i8[::1], i4[::1], i2[::1], i4[::1], i4[::1])")
def widest_first(start, ancestor, hops, rows, rank):
    """The ancestors of each row sorted by rank, without those of rank -1."""
    total = 0
    for row in rows:
        total += start[row + 1] - start[row]
    path_start = np.zeros(len(rows) + 1, np.int64)
    path = np.empty(total, np.int32)
    path_hops = np.empty(total, np.int16)
    end = 0
    for i in range(len(rows)):
        first = end
        for e in range(start[rows[i] + 1] - 1, start[rows[i]] - 1, -1):  # the root is last: nearly sorted already
            a = ancestor[e]
            if rank[a] >= 0:
                at = end
                while at > first and rank[path[at - 1]] > rank[a]:
                    path[at] = path[at - 1]
                    path_hops[at] = path_hops[at - 1]
                    at -= 1
                path[at] = a
                path_hops[at] = hops[e]
                end += 1
        path_start[i + 1] = end
    return path_start, path[:end], path_hops[:end]


@kernel("void(i4[::1], i8[::1], i4[::1], i8[::1], i4[::1], i8[::1], i4[::1], i8[::1], f8[:, :, ::1], f8[::1])")
def sums_by_count(order, path_start, path, below_start, below, weight, level, size, value, out):
    """out[i] = Σ_j weight_j · value[level_i, level_j, |T_i ∩ T_j|].

    Rows are visited so that neighbours share the ancestors with the most columns below them. A row takes back the
    ancestors that the row before did not share and adds its own; the weight of all columns of each level with each
    number of common ancestors is kept up to date, in integers.
    """
    width = value.shape[2]
    cell = np.empty(len(weight), np.int32)  # level · width + common ancestors
    total = np.zeros(value.shape[1] * width, np.int64)
    for j in range(len(weight)):
        cell[j] = level[j] * width
        total[cell[j]] += weight[j]
    before = path[:0]
    for i in order:
        here = path[path_start[i] : path_start[i + 1]]
        shared = 0
        while shared < min(len(here), len(before)) and here[shared] == before[shared]:
            shared += 1
        for a in before[shared:]:
            for j in below[below_start[a] : below_start[a + 1]]:
                total[cell[j]] -= weight[j]
                cell[j] -= 1
                total[cell[j]] += weight[j]
        for a in here[shared:]:
            for j in below[below_start[a] : below_start[a + 1]]:
                total[cell[j]] -= weight[j]
                cell[j] += 1
                total[cell[j]] += weight[j]
        before = here
        result = 0.0
        for s in range(value.shape[1]):
            totals = total[s * width : (s + 1) * width]
            values = value[level[i], s]
            for c in range(1, min(len(here), size[s]) + 1):
                if totals[c] != 0:
                    result += totals[c] * values[c]
        out[i] = result


@kernel("void(i4[::1], i8[::1], i4[::1], i2[::1], i4[::1], i8[::1], i4[::1], i2[::1], i8[::1], f8[:, ::1], f8[::1])")
def sums_by_deepest(order, path_start, path, path_hops, depth, below_start, below, below_hops, weight, value, out):
    """out[i] = Σ_j weight_j · value[depth of the deepest common subsumer, links through it].

    As `sums_by_count`; what a row takes back is undone from a log.
    """
    links = value.shape[1]
    best = np.full(
        len(weight), -1, np.int32
    )  # depth · links + (links - 1 - the links of the way), the larger the better
    total = np.zeros(value.size, np.int64)
    who = np.empty(len(weight) + 16, np.int32)
    was = np.empty(len(who), np.int32)
    logged = 0
    marks = np.zeros(len(depth) + 1, np.int64)  # the length of the log before each ancestor was added
    before, before_hops = path[:0], path_hops[:0]
    for i in order:
        here = path[path_start[i] : path_start[i + 1]]
        here_hops = path_hops[path_start[i] : path_start[i + 1]]
        shared = 0
        while (
            shared < min(len(here), len(before))
            and here[shared] == before[shared]
            and here_hops[shared] == before_hops[shared]
        ):
            shared += 1
        if shared < len(before):
            while logged > marks[shared]:
                logged -= 1
                j = who[logged]
                total[best[j]] -= weight[j]
                best[j] = was[logged]
                if best[j] >= 0:
                    total[best[j]] += weight[j]
        for p in range(shared, len(here)):
            marks[p] = logged
            a = here[p]
            key = (depth[a] + 1) * links - 1 - here_hops[p]
            while logged + below_start[a + 1] - below_start[a] > len(who):
                who, was = _twice(who), _twice(was)
            for f in range(below_start[a], below_start[a + 1]):
                j = below[f]
                if key - below_hops[f] > best[j]:
                    who[logged] = j
                    was[logged] = best[j]
                    logged += 1
                    if best[j] >= 0:
                        total[best[j]] -= weight[j]
                    best[j] = key - below_hops[f]
                    total[best[j]] += weight[j]
        before, before_hops = here, here_hops
        result = 0.0
        for deep in range(value.shape[0]):
            for way in range(links):
                if total[(deep + 1) * links - 1 - way] != 0:
                    result += total[(deep + 1) * links - 1 - way] * value[deep, way]
        out[i] = result
