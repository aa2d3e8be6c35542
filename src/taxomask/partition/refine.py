"""Lower the loss of a partition: records change groups, groups are dissolved and created, by simulated annealing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .._support.parameters import check_choice, check_integer, check_number
from ..errors import PlanError
from ..microdata.people import class_owners
from ..records import RecordDistance
from .mdav import several
from .points import Arrays, OrdinalAverage, Points

__all__ = ["Refinement", "default_steps", "refine"]

Groups = NDArray[np.int32]
Stopped = Literal["steps", "time", "local optimum"]

_STEPS, _MOST = 5_000_000, 6000  # at most, and for each record; twice as many where steps are quick
_FEWEST = 30  # per record
_NEAR = 10  # how many near points each point knows
_TREES, _LEAF, _SMALL = 4, 48, 2048  # to find them; up to so many points are all compared
_RARE = 100  # one attempt in so many is to dissolve or to create a group
_HOT, _COLD = 0.8, 0.1  # the temperature falls from one to the other; multiples of the loss per record
_AGAIN = 0.3, 0.3, 0.5, 0.8  # a long search goes on from the best so far, at these temperatures in turn
_RESTLESS = 0.03  # it falls at once if more of the attempts are accepted, in a search with few steps per record
_QUENCH = 0.05  # in this last part of the search nothing for the worse is accepted
_ROOM = 2**28  # members of groups, if all were as large as the largest


@dataclass(frozen=True, eq=False)
class Refinement:
    """A partition and what it took.

    Attributes
    ----------
    groups
        The group of each record, numbered from 0 in the order of their first records.
    loss_before, loss_after
        Σ over the records of δ² to the released values of their group.
    stopped
        What ended the search: the budget in ``"steps"``, the ``"time"`` limit, or ``"local optimum"`` if nothing is
        left to gain.
    """

    groups: Groups
    loss_before: float
    loss_after: float
    stopped: Stopped


def refine(
    space: RecordDistance,
    groups: Groups,
    k: int,
    *,
    rng: np.random.Generator,
    people: NDArray[np.int64] | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    ordinal: OrdinalAverage = "median",
    objective: RecordDistance | None = None,
    progress: Callable[[float], None] | None = None,
) -> Refinement:
    """Lower the loss of groups of at least k records, which stay groups of at least k records.

    The loss is Σ over the records of δ² between a record and the released values of its group: means, medians, modes,
    and categories of the smallest marginality, missing where more than half of the group is. The search exchanges
    records between groups that are near each other, moves single ones, dissolves groups and creates new ones. It
    accepts a change for the worse with a probability that falls to zero (simulated annealing), and returns the best
    partition that it met, never one worse than the given one. With twice the default steps or more it does so again
    and again, from the best so far. Groups have fewer than 2k records.

    Where ``people`` are given, who may have several records, groups of at least k different people stay such: records
    are moved and exchanged where both groups keep k people, and no group is dissolved or created.

    The same generator and steps give the same groups on every machine; a time limit may end the search early.

    Parameters
    ----------
    space
        The distance that made the groups; it also chooses the released category of a taxonomic attribute.
    groups
        The group of each record, such as `mdav` gives.
    k
        The smallest number of records of a group.
    rng
        Where the random choices come from.
    people
        The number of the person (or household) of each record; without, each record is a person.
    steps
        How many moves to try; by default 5 million, but 30 to 6000 per record, and twice as many if all attributes are
        numbers that are never missing and averaged by their mean (about half a second).
    seconds
        Stop after this time, whatever the steps.
    ordinal
        How ordinal attributes are released.
    objective
        The distance that measures the loss, of the same attributes, if it is not ``space``.
        ``RecordDistance(data, distance="generic")`` counts squared semantic distances.
    progress
        Called from time to time with the fraction of the steps that is done.

    References
    ----------
    Kirkpatrick, Gelatt, Vecchi (1983), Optimization by simulated annealing, doi 10.1126/science.220.4598.671; on
    dissolving groups: Thaeter, Reischuk (2021), Scalable k-anonymous microaggregation, SECRYPT.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [0, 1, 2, 3, 20, 22, 50, 40]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> space = tm.RecordDistance(tm.Microdata.from_frame(table, schema))
    >>> start = np.array([0, 1, 0, 1, 2, 3, 2, 3], dtype=np.int32)
    >>> better = refine(space, start, 2, rng=np.random.default_rng(1))
    >>> better.groups.tolist(), round(better.loss_before, 3), round(better.loss_after, 3)
    ([0, 0, 1, 1, 2, 2, 3, 3], 0.824, 0.071)
    """
    begin = perf_counter()
    check_integer("k", k, at_least=2)
    check_choice("ordinal", ordinal, get_args(OrdinalAverage))
    if steps is not None:
        check_integer("steps", steps, at_least=0)
    end = inf if seconds is None else begin + check_number("seconds", seconds, above=0)
    owners = several(people)
    _check(space, groups, k, objective, owners)
    search = _Search(space, objective or space, np.asarray(groups, dtype=np.int32), int(k), ordinal, rng, owners)
    if steps is None:
        steps = default_steps(space.n, numbers=not search.others)
    stopped = search.run(int(steps), end, progress or (lambda _: None))
    return search.outcome(stopped)


def default_steps(n: int, *, numbers: bool = False) -> int:
    """How many moves are tried in a table of n records if nothing else is said: more of numbers, which are quick.

    >>> [default_steps(n) for n in (100, 10_000, 1_000_000)]
    [600000, 5000000, 30000000]
    """
    return max(min(_STEPS, _MOST * n) * (2 if numbers else 1), _FEWEST * n)


def _check(
    space: RecordDistance,
    groups: Groups,
    k: int,
    objective: RecordDistance | None,
    people: NDArray[np.int32] | None,
) -> None:
    if len(groups) != space.n or not space.n:
        raise PlanError(
            f"groups has {len(groups)} records, the table {space.n}.", hint="Give the group of each record."
        )
    sizes = np.unique(groups, return_counts=True)[1]
    if sizes.min() < k:
        raise PlanError(
            f"the smallest group has {sizes.min()} records; k is {k}.", hint="Start from groups of at least k."
        )
    if people is not None and (least := class_owners(_renumbered(groups), people).min()) < k:
        raise PlanError(
            f"the smallest group has records of {least} people; k is {k}.", hint="Start from groups of at least k."
        )
    if sizes.max() >= 2 * k and sizes.max() * (space.n // k) > _ROOM:
        raise PlanError(f"a group of {sizes.max()} records is too large to start from.", hint="Start from mdav.")
    if objective is not None and (objective.names != space.names or objective.n != space.n):
        raise PlanError("the objective measures other records or attributes.", hint="Build both from the same table.")


class _Search:
    """Records in an order in which neighbours stand together, their groups, and the best groups so far."""

    def __init__(
        self,
        space: RecordDistance,
        objective: RecordDistance,
        groups: Groups,
        k: int,
        ordinal: OrdinalAverage,
        rng: Any,
        people: NDArray[np.int32] | None = None,
    ) -> None:
        self.k = k
        self.given = groups
        self.place = np.zeros(1, dtype=np.int64)  # the record whose turn it is
        self.limit = _HOT  # of the temperature
        points = Points.of(objective, ordinal)
        self.state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        self.close, self.order = _neighbourhood(points, self.state)
        chooser = points if objective is space else Points.of(space, ordinal)
        self.data = _data(points, chooser, self.order)
        self.others = self.data[1][0].shape[
            1
        ]  # attributes that are not averaged by their mean, or are missing at times
        self.start = _renumbered(groups[self.order])
        most = max(int(np.bincount(self.start).max()), 2 * k, 2 * int(points.rules[4].max(initial=0)))
        self.owner = None if people is None else people[self.order]
        if self.owner is not None:
            most += k + 1  # groups may grow
        self.scratch = np.zeros(most + 1, dtype=np.int64)
        self.log = np.zeros((3, 2 * k), dtype=np.int64), np.zeros((2, 2 * k))

    def run(self, steps: int, end: float, progress: Callable[[float], None]) -> Stopped:
        """Search from the given groups; what ended it."""
        begin = perf_counter()
        n = len(self.start)
        self.best, self.loss_before = self.start, self._loss(self.start)
        if self.loss_before == 0 or n < 2 * self.k:
            return "local optimum"
        self.best = self.start if self.owner is not None else _cut(self.start, self.k)
        parts, lowest = self._from_best()
        self.restless = max(_RESTLESS, steps / n / _MOST)
        length = self._turn(steps)
        chunk, done, turn = max(min(length // 400, 500_000), 100), 0, 0
        while done < steps:
            if done >= (turn + 1) * length:
                turn, (parts, _) = done // length, self._from_best()
            cooling = min(20 * n, steps - done)  # what it takes to end well, if time runs out
            hot = _AGAIN[(turn - 1) % len(_AGAIN)] if turn else _HOT
            now = perf_counter()
            late = now > end or (cooling < steps - done and now + (now - begin) * cooling / max(done, n) > end)
            heat = 0.0 if late else min(_heat(done / length - turn, hot), self.limit)
            done += self._anneal(parts, heat, cooling if late else min(chunk, steps - done))
            loss = float(parts[4][: parts[6][0], -1].sum())
            if loss < lowest:
                lowest, self.best = loss, parts[0].copy()
            if late:
                return "time"
            progress(min(done / steps, 1.0))
        return "steps"

    def _turn(self, steps: int) -> int:
        """How many steps it takes from hot to cold: all, or the best so far is heated again after so many."""
        return -(-steps // max(steps // default_steps(len(self.start), numbers=not self.others), 1))

    def _from_best(self) -> tuple[Arrays, float]:
        """The groups of the best partition so far, to go on from, and its loss."""
        from ._refine_loss_kernels import enter

        parts = self._parts(self.best)
        self.have = class_owners(self.best, self.owner)
        self.each = np.full((len(parts[3]) + 2, self.others), np.nan)
        return parts, float(enter(*self.data, parts, self.best, self.scratch))

    def _anneal(self, parts: Arrays, heat: float, steps: int) -> int:
        """Regroup and exchange; how many moves were looked at."""
        rest = self.k, heat, steps, self.place, self.state, self.scratch
        if self.owner is not None:
            from ._people_refine_kernels import exchange as exchange_people

            tried = 0
            made = exchange_people(*self.data, parts, self.close, self.owner, self.have, *rest)
        else:
            from ._refine_kernels import exchange
            from ._refine_regroup_kernels import regroup

            fixed = (*self.data, parts, self.close, self.k, heat)
            tried = regroup(*fixed, -(-steps // _RARE), self.place, self.state, self.scratch, self.each, *self.log)
            made = exchange(*self.data, parts, self.close, *rest, self.each)
        if made > self.restless * steps:
            self.limit = min(self.limit, 0.9 * heat)
        return steps + int(tried)

    def outcome(self, stopped: Stopped) -> Refinement:
        """The best groups, in the order of the table; the given ones if they are no worse."""
        loss_after = self.loss_before if self.best is self.start else self._loss(self.best)
        if loss_after >= self.loss_before:
            return Refinement(_renumbered(self.given), self.loss_before, self.loss_before, stopped)
        groups = np.empty_like(self.best)
        groups[self.order] = self.best
        return Refinement(_renumbered(groups), self.loss_before, loss_after, stopped)

    def _loss(self, groups: Groups) -> float:
        from ._refine_loss_kernels import enter

        return float(enter(*self.data, self._parts(groups), groups, self.scratch))

    def _parts(self, groups: Groups) -> Arrays:
        """Empty groups, as many as there can be."""
        n, width, attributes = len(groups), self.data[0].shape[1], self.data[1][0].shape[1]
        most = n // self.k + 1
        room = max(int(np.bincount(groups).max()), 2 * self.k)
        if self.owner is not None:
            most, room = int(groups.max()) + 1, room + self.k + 1
        return (
            np.full(n, -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros((most, room), np.int32),
            np.zeros(most, np.int64),
            np.zeros((most, width + 1)),
            np.zeros((n, attributes), np.int64),
            np.zeros(1, np.int64),
        )


def _heat(done: float, hot: float) -> float:
    """The temperature, a multiple of the loss per record: falls geometrically, and is zero at last."""
    if done >= 1 - _QUENCH:
        return 0.0
    return round(hot * (_COLD / hot) ** (done / (1 - _QUENCH)), 9)  # the same on every machine


def _renumbered(groups: NDArray[Any]) -> Groups:
    """The same groups, numbered in the order of their first records."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]


def _cut(groups: Groups, k: int) -> Groups:
    """Cut groups of 2k records or more, in the order of their records (in which neighbours stand together)."""
    sizes = np.bincount(groups)
    if sizes.max() < 2 * k:
        return groups
    order = np.argsort(groups, kind="stable")
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    piece = np.minimum(rank // k, sizes[groups] // k - 1)
    return _renumbered(groups.astype(np.int64) * len(groups) + piece)


def _neighbourhood(points: Points, state: NDArray[np.uint64]) -> tuple[Arrays, NDArray[np.int64]]:
    """An order of the records in which neighbours stand together, and in that order the near points of each point."""
    from ._refine_near_kernels import near_points

    many = len(points.head)
    first = points.records[points.head]
    near = np.zeros((many, max(min(_NEAR, many - 1), 1)), dtype=np.int32)
    order = np.zeros(many, dtype=np.int32)
    if many > 1:
        trees, leaf = (1, _SMALL) if many <= _SMALL else (_TREES, _LEAF)
        near_points(points.space, first, trees, leaf, state, near, order)
    times = points.end - points.head
    near[times > 1, -1] = np.flatnonzero(times > 1)  # its own other records are near, too
    rank = np.empty(many, dtype=np.int32)
    rank[order] = np.arange(many, dtype=np.int32)
    times = times[order]
    head = np.zeros(many + 1, dtype=np.int32)
    np.cumsum(times, out=head[1:])
    starts = np.repeat(points.head[order] - head[:-1], times)
    records = points.records[starts + np.arange(len(starts))]
    return (rank[near[order]], np.repeat(np.arange(many, dtype=np.int32), times), head), records.astype(np.int64)


def _data(points: Points, chooser: Points, order: NDArray[np.int64]) -> tuple[NDArray[np.float64], Arrays]:
    """The records for the kernels: ``numbers`` and ``extra`` of ``_refine_loss_kernels.py``.

    Released categories are those of the ``chooser``.
    """
    numbers, far, codes, tables, start, size, unequal = points.space
    rule, _, level_column, level_start, level_count, levels, coordinates, *_ = points.rules
    whole, rounding = chooser.rules[7:]
    simple = (rule == 0) & ~points.gaps
    plain = np.zeros((len(order), -(-int(simple.sum()) // 4) * 4 + 1))
    plain[:, : simple.sum()] = numbers[order][:, simple] - numbers[:, simple].mean(axis=0)
    plain[:, -1] = np.square(plain).sum(axis=1)
    missing = np.diff(points.sums[4]) - 1
    attributes = [
        *(
            (rule[a], len(tables) + level_start[a], level_count[a], max(level_count[a], 1), 0)
            for a in np.flatnonzero(~simple)
        ),
        *((3 if size[b] else 4, start[b], size[b], missing[b], rounding[b]) for b in range(len(size))),
    ]
    values = np.ascontiguousarray(numbers[order][:, ~simple])
    grades = [levels[order, level_column[a]] if rule[a] else 0 for a in np.flatnonzero(~simple)]
    extra = np.zeros((len(order), len(attributes)), dtype=np.int32)
    for place, grade in enumerate(grades):
        extra[:, place] = np.where(np.isnan(values[:, place]), attributes[place][3], grade)
    extra[:, len(grades) :] = codes[order]
    return plain, (
        extra,
        values,
        np.array(attributes, dtype=np.int64).reshape(-1, 5),
        np.concatenate([far[~simple], np.where(size > 0, _units(points, chooser), unequal)]),
        whole,
        np.concatenate([tables, coordinates]) if len(coordinates) else tables,  # tables may be large
    )


def _units(points: Points, chooser: Points) -> NDArray[np.float64]:
    """What a unit of the whole numbers that choose a category loses; 0 if what is lost is no multiple of them."""
    *_, tables, start, size, _ = points.space
    units = np.zeros(len(size))
    for b in np.flatnonzero(size):
        place = slice(start[b], start[b] + size[b] ** 2)
        lost, whole = (one[place].reshape(size[b], -1)[:-1, :-1] for one in (tables, chooser.rules[7]))
        most = float(lost.max(initial=0.0))
        unit = most / max(float(whole.max(initial=0)), 1.0)
        if most > 0 and all(
            (np.abs(row - unit * of) <= 1e-9 * most).all() for row, of in zip(lost, whole, strict=True)
        ):
            units[b] = unit
    return units
