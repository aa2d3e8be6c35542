# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The least cost of moving weight from few places to many, by shortest augmenting paths."""

from __future__ import annotations

import numpy as np

from .._support.compiling import kernel

_NOTHING = 1e-14  # of the whole weight
_ROUNDING = 1e-12  # of costs of at most about 1: no way goes round in a circle for less


@kernel("f8(f8[:, ::1], f8[::1], f8[::1])")
def least_cost(costs, supplies, demands):
    """The transport problem of supplies and demands with the same sum; ``costs`` has a row for each demand.

    Demand by demand: what is left of it comes from the source with anything left that is cheapest to reach, where a
    source that has nothing left may give what it sends elsewhere to another one: between[i, k] is the least that it
    costs per weight to have k serve what i serves, and handed[i, k] whose demand that is. After each step no change is
    cheaper, so that the last one is the answer.
    """
    demanding, sources = costs.shape
    left = supplies.copy()
    flow = np.zeros((demanding, sources))
    between = np.full((sources, sources), np.inf)
    handed = np.zeros((sources, sources), np.int64)
    away, before = np.empty(sources), np.empty(sources, np.int64)
    for demand in range(demanding):
        need = demands[demand]
        while need > _NOTHING:
            for i in range(sources):
                away[i] = costs[demand, i]
                before[i] = -1
            for _ in range(sources):  # Bellman-Ford
                nearer = False
                for i in range(sources):
                    if left[i] > _NOTHING:  # a way may end here: none through here is shorter
                        continue
                    for k in range(sources):
                        if away[i] + between[i, k] < away[k] - _ROUNDING:
                            away[k] = away[i] + between[i, k]
                            before[k] = i
                            nearer = True
                if not nearer:
                    break
            best = -1
            for i in range(sources):
                if left[i] > _NOTHING and (best < 0 or away[i] < away[best]):
                    best = i
            if best < 0:  # what is needed yet is rounding
                break
            amount, k = min(need, left[best]), best
            while before[k] >= 0:
                amount = min(amount, flow[handed[before[k], k], before[k]])
                k = before[k]
            left[best] -= amount
            need -= amount
            k = best
            while before[k] >= 0:
                i, whose = before[k], handed[before[k], k]
                flow[whose, k] += amount
                flow[whose, i] -= amount
                if flow[whose, i] < _NOTHING:
                    flow[whose, i] = 0.0
                k = i
            flow[demand, k] += amount
            k = best
            while k >= 0:
                between[k] = np.inf
                for whose in range(demand + 1):
                    if flow[whose, k] > 0.0:
                        for i in range(sources):
                            if costs[whose, i] - costs[whose, k] < between[k, i]:
                                between[k, i] = costs[whose, i] - costs[whose, k]
                                handed[k, i] = whose
                k = before[k]
    total = 0.0
    for demand in range(demanding):
        for i in range(sources):
            total += flow[demand, i] * costs[demand, i]
    return total
