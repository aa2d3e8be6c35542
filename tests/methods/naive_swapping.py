"""Rank swapping from its definition, on n×n distances: a swapper, the chances of its swaps, and a judge of swaps."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Logs = tuple[tuple[tuple[int, int], ...], ...]  # for each attribute its swaps in order
State = tuple[tuple[bool, ...], ...]  # for each attribute which values are not yet swapped


def interval(distance: Float, i: int, k: int, rng: np.random.Generator) -> list[int]:
    """The k records closest to i in the whole table; which of those tied at its border is drawn."""
    tickets = rng.random(len(distance))
    return [int(j) for j in np.lexsort((tickets, distance[i])) if j != i][:k]


def inside_and_border(distance: Float, i: int, k: int) -> tuple[set[int], set[int]]:
    """The records closer to i than the k-th closest, and those as far away as it."""
    others = [j for j in range(len(distance)) if j != i]
    radius = sorted(distance[i, others])[k - 1]
    return {j for j in others if distance[i, j] < radius}, {j for j in others if distance[i, j] == radius}


def open_interval(distance: Float, i: int, k: int, free: NDArray[np.bool_]) -> list[int]:
    """The closest whole tie classes with at least k free records, i left out."""
    others = [int(j) for j in np.flatnonzero(free) if j != i]
    if len(others) <= k:
        return others
    radius = sorted(distance[i, others])[k - 1]
    return [j for j in others if distance[i, j] <= radius]


def farthest(distance: Float, i: int, free: NDArray[np.bool_]) -> Int:
    """All free records that are farthest from i."""
    among = np.flatnonzero(free)
    return among[distance[i, among] == distance[i, among].max()]


def outermost(distance: Float) -> Int:
    """All records with the largest sum of distances."""
    sums = distance.sum(axis=1)
    return np.flatnonzero(sums >= sums.max() * (1 - 1e-9))


def swap(distance: Float, present: NDArray[np.bool_], k: int, kind: str, rng: np.random.Generator) -> list[Int]:
    """Algorithm 3 (and, for one attribute, Algorithm 2): the swaps of each attribute; ``present[a, i]``.

    All attributes of a reference are swapped within the same interval.
    """
    free = present.copy()
    log: list[list[tuple[int, int]]] = [[] for _ in present]
    i = int(rng.choice(np.intersect1d(outermost(distance), np.flatnonzero(free.any(axis=0)))))
    while True:
        near = interval(distance, i, k, rng)
        for a in np.flatnonzero(free[:, i]):
            free[a, i] = False
            candidates = [j for j in near if free[a, j]]
            if kind == "open":
                candidates = open_interval(distance, i, k, free[a])
            j = int(rng.choice(candidates)) if candidates else i
            free[a, j] = False
            log[a].append((i, j))
        if not free.any():
            return [np.array(pairs).reshape(-1, 2) for pairs in log]
        i = int(rng.choice(farthest(distance, i, free.any(axis=0))))


def law(distance: Float, present: NDArray[np.bool_], k: int, kind: str) -> dict[Logs, Fraction]:
    """The chance of every outcome of `swap`, exactly: all that can be drawn is tried. For a handful of records."""
    chances: dict[Logs, Fraction] = {}
    first = np.intersect1d(outermost(distance), np.flatnonzero(present.any(axis=0))).tolist()
    state: State = tuple(map(tuple, present.tolist()))
    waiting = [(i, state, tuple(() for _ in present), Fraction(1, len(first))) for i in first]
    while waiting:
        i, state, logs, chance = waiting.pop()
        for after, longer, share in _one_step(distance, i, k, kind, state, logs):
            free = np.array(after)
            if not free.any():
                chances[longer] = chances.get(longer, Fraction(0)) + chance * share
                continue
            following = farthest(distance, i, free.any(axis=0)).tolist()
            waiting += [(j, after, longer, chance * share / len(following)) for j in following]
    return chances


def _one_step(
    distance: Float, i: int, k: int, kind: str, state: State, logs: Logs
) -> Iterator[tuple[State, Logs, Fraction]]:
    """All that can become of reference i, each with its chance."""
    inside, border = inside_and_border(distance, i, k)
    intervals = [inside | set(some) for some in combinations(sorted(border), k - len(inside))]
    for near in intervals if kind == "paper" else intervals[:1]:
        share = Fraction(1, len(intervals)) if kind == "paper" else Fraction(1)
        ways: list[tuple[State, Logs, Fraction]] = [(state, logs, share)]
        for a in range(len(state)):
            if state[a][i]:
                ways = [
                    longer
                    for before, so_far, p in ways
                    for longer in _swaps(distance, i, k, kind, near, a, before, so_far, p)
                ]
        yield from ways


def _swaps(
    distance: Float, i: int, k: int, kind: str, near: set[int], a: int, state: State, logs: Logs, chance: Fraction
) -> Iterator[tuple[State, Logs, Fraction]]:
    """All swaps of one attribute of a reference."""
    free = np.array(state)
    free[a, i] = False
    candidates = open_interval(distance, i, k, free[a]) if kind == "open" else [j for j in sorted(near) if free[a, j]]
    for j in candidates or [i]:
        now = free.copy()
        now[a, j] = False
        longer = tuple((*log, (i, j)) if b == a else log for b, log in enumerate(logs))
        yield tuple(map(tuple, now.tolist())), longer, chance / max(len(candidates), 1)


def judge(distance: Float, present: NDArray[np.bool_], logs: list[Int], k: int, kind: str) -> None:
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
            fault = _fault(distance, free, at, i, logs, k, kind)
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


def _fault(distance: Float, free: NDArray[np.bool_], at: list[int], i: int, logs: list[Int], k: int, kind: str) -> str:
    """Why no interval of reference i allows its swaps; nothing if one does."""
    inside, border = inside_and_border(distance, i, k)
    taken, left_out = set(), set()  # what the interval must and must not take of its border
    for a in np.flatnonzero(free[:, i]):
        now = free[a].copy()
        now[i] = False
        j = int(logs[a][at[a], 1])
        candidates = set(open_interval(distance, i, k, now))
        if kind == "paper":
            candidates = {x for x in inside | border if now[x]}
        if j != i and j not in candidates:
            return f"{i} was swapped with {j} in attribute {a}, not one of {candidates}"
        if j == i and candidates - (border if kind == "paper" else set()):
            return f"{i} stayed in attribute {a} but had {candidates}"
        taken |= {j} & border
        left_out |= candidates if j == i else set()
    if kind == "paper" and (
        taken & left_out or len(taken) > k - len(inside) or len(border - left_out) < k - len(inside)
    ):
        return f"no {k - len(inside)} of {border} hold {taken} and none of {left_out}, around {i}"
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
