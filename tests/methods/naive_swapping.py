"""Rank swapping written from its definition, on n×n distances: a swapper, and a judge of swaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def interval(distance: Float, i: int, k: int, free: NDArray[np.bool_], draws: Int, kind: str) -> set[int]:
    """The records that value i may be swapped with."""
    if kind == "paper":
        nearest = [int(j) for j in np.lexsort((draws, distance[i])) if j != i][:k]
        return {j for j in nearest if free[j]}
    others = [int(j) for j in np.flatnonzero(free) if j != i]
    if len(others) <= k:
        return set(others)
    radius = sorted(distance[i, j] for j in others)[k - 1]
    return {j for j in others if distance[i, j] <= radius}


def farthest(distance: Float, i: int, free: NDArray[np.bool_]) -> Int:
    """All free records that are farthest from i."""
    among = np.flatnonzero(free)
    return among[distance[i, among] == distance[i, among].max()]


def outermost(distance: Float) -> Int:
    """All records with the largest sum of distances."""
    sums = distance.sum(axis=1)
    return np.flatnonzero(sums >= sums.max() * (1 - 1e-9))


def swap(distance: Float, present: NDArray[np.bool_], k: int, kind: str, rng: np.random.Generator) -> list[Int]:
    """Algorithm 3 (and, for one attribute, Algorithm 2): the swaps of each attribute; ``present[a, i]``."""
    n = len(distance)
    draws = rng.permutation(n)
    free = present.copy()
    log: list[list[tuple[int, int]]] = [[] for _ in present]
    i = int(rng.choice(np.intersect1d(outermost(distance), np.flatnonzero(free.any(axis=0)))))
    while True:
        for a in range(len(present)):
            if not free[a, i]:
                continue
            free[a, i] = False
            candidates = sorted(interval(distance, i, k, free[a], draws, kind))
            j = int(rng.choice(candidates)) if candidates else i
            free[a, j] = False
            log[a].append((i, j))
        if not free.any():
            return [np.array(pairs).reshape(-1, 2) for pairs in log]
        i = int(rng.choice(farthest(distance, i, free.any(axis=0))))


def judge(distance: Float, present: NDArray[np.bool_], logs: list[Int], k: int, kind: str, draws: Int) -> None:
    """Fail unless the swaps of Algorithm 2 or 3 are legal, every single one, in order.

    Logs are kept by attribute; which record came next is found from them. Where several could have, all are tried.
    """
    start = (present.copy(), [0] * len(logs), -1)
    waiting, reason = [start], ""
    while waiting:
        free, at, last = waiting.pop()
        while free.any():
            heads = {int(log[p, 0]) for log, p in zip(logs, at, strict=True) if p < len(log)}
            options = []
            for i in sorted(heads):
                mine = np.flatnonzero(free[:, i])
                if len(mine) and all(at[a] < len(logs[a]) and logs[a][at[a], 0] == i for a in mine):
                    among = outermost(distance) if last < 0 else farthest(distance, last, free.any(axis=0))
                    if i in among:
                        options.append(i)
            if not options:
                reason = f"none of {sorted(heads)} is farthest from {last}"
                break
            waiting += [_after(free, at, i, logs) for i in options[1:]]
            i = options[0]
            fault = _fault(distance, free, at, i, logs, k, kind, draws)
            if fault:
                reason = fault
                break
            free, at, last = _after(free, at, i, logs)
        else:
            assert all(p == len(log) for p, log in zip(at, logs, strict=True)), "swaps after the end"
            return
    raise AssertionError(reason)


def _after(free: NDArray[np.bool_], at: list[int], i: int, logs: list[Int]) -> tuple[NDArray[np.bool_], list[int], int]:
    free, at = free.copy(), list(at)
    for a in np.flatnonzero(free[:, i]):
        free[a, logs[a][at[a]]] = False
        at[a] += 1
    return free, at, i


def _fault(
    distance: Float, free: NDArray[np.bool_], at: list[int], i: int, logs: list[Int], k: int, kind: str, draws: Int
) -> str:
    for a in np.flatnonzero(free[:, i]):
        now = free[a].copy()
        now[i] = False
        candidates = interval(distance, i, k, now, draws, kind)
        j = int(logs[a][at[a], 1])
        if j == i and candidates:
            return f"{i} stayed in attribute {a} but had {candidates}"
        if j != i and j not in candidates:
            return f"{i} was swapped with {j} in attribute {a}, not one of {candidates}"
    return ""


def judge_ranking(ranks: Float, log: Int, k: int, kind: str, draws: Int) -> None:
    """Fail unless the swaps along a ranking are legal: with one of the next k."""
    order = np.lexsort((draws, ranks))
    free = np.ones(len(ranks), dtype=bool)
    steps = iter(log.tolist())
    for at, i in enumerate(order.tolist()):
        if not free[i]:
            continue
        first, second = next(steps)
        assert first == i
        free[i] = False
        following = order[at + 1 :]
        if kind == "paper":
            candidates = [j for j in following[:k].tolist() if free[j]]
        else:
            left = [j for j in following.tolist() if free[j]]
            candidates = [j for j in left if j in left[:k] or ranks[j] == ranks[left[:k][-1]]]
        if second == i:
            assert not candidates
        else:
            assert second in candidates
        free[second] = False
    assert next(steps, None) is None
