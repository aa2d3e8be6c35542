"""Many methods on one table, each protected and measured."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

from .._support.one_thread import one_thread
from .._support.parameters import check_integer
from ..engines import Engine, Memory
from ..errors import DataError, PlanError, TaxomaskError
from ..evaluation import OVERLAP, Known, Summary, check_analyses, check_attackers, summary
from ..measures.analyses import Analysis
from ..methods import Method, Progress, ReverseMapping
from ..microdata import Microdata, Schema
from ..release import Release, protect_on
from ..release.protect import fingerprint
from .grid import default_methods
from .map import Point, RUMap, check_limits, is_among, with_front
from .search import Outcome, search
from .search import told as searched_words
from .stored import Stored

__all__ = ["compare", "compared_before"]

MASKING = 0.75  # of the time that a method takes; the rest goes into the few measures of the map


@one_thread()
def compare(
    frame: Any,
    schema: Schema,
    methods: Iterable[Method] | None = None,
    *,
    seed: int = 0,
    common_marginals: bool = False,
    attackers: Iterable[str] | None = None,
    analyses: Iterable[Analysis] = (),
    workers: int | None = None,
    cache: bool | str | PathLike[str] = True,
    progress: Progress | None = None,
    so_far: Callable[[RUMap], None] | None = None,
    max_risk: float | None = None,
    max_disclosure: float | None = None,
    promise: str | None = None,
    seconds: float = 60.0,
    engine: Engine | None = None,
) -> RUMap:
    """Run methods on a table and measure risk and utility of each.

    Nothing is released, so the seed need not be secret; to release the chosen one, call `protect`.

    Parameters
    ----------
    frame, schema
        The table (pandas, polars, pyarrow, or coded before) and what its columns are.
    methods
        The methods, each with its parameters; by default a few that fit: microaggregation, also refined, MicroHybrid,
        permutation in groups, generalisation, rank swapping, and shuffling.
    seed
        For the random choices of every method.
    common_marginals
        Reverse-map every masked table first, so that methods are compared at equal marginal distributions.
    attackers
        The names of those whose best makes the risk; by default all who have something to work on.
    analyses
        What is computed from the original and each masked table: how far the confidence intervals overlap stands on
        the map, and can be chosen by (`RUMap.best`).
    workers
        How many methods run at once; by default one per processor, at most four.
    cache
        Keep the numbers in the user's cache (or in this folder), so that a second run computes only what is new. Those
        of methods and distances that are not part of taxomask are computed each time.
    progress
        Called with the fraction of the work that is done, all methods taken together.
    so_far
        Called with the map of what is known each time that a method is done.
    max_risk, max_disclosure
        Limits as of `RUMap.best`. With ``max_risk``, further k of the methods that have one are then measured, to the
        smallest that keeps to the limits: by the nearest record first, which is cheap, then by all attackers.
    promise
        That search looks only among methods that made this promise, as of `RUMap.best`.
    seconds
        No step of this search begins after so many; 0 for no search.
    engine
        Where a coded table lies; by default in memory. Methods run at once in memory only: elsewhere jobs do.
    """
    schema.check_decided()
    seed = check_integer("seed", seed, at_least=0)
    data = Microdata.of(frame, schema)  # coded once for all, and each table of distances is made once
    schema, engine = data.schema, engine or Memory()
    chosen = list(default_methods(schema) if methods is None else methods)
    if not chosen:
        raise PlanError("there is no method to compare.", hint="Name at least one, or a column to protect.")
    if common_marginals:
        chosen = [one if isinstance(one, ReverseMapping) else ReverseMapping(one) for one in chosen]
    trying = check_attackers(attackers)
    asked = check_analyses(analyses, schema, data)
    check_limits(max_risk, max_disclosure)  # what is no limit is told before the work begins
    threads = min(os.cpu_count() or 1, 4) if workers is None else check_integer("workers", workers, at_least=1)
    if not isinstance(engine, Memory):
        threads = 1
    measuring = _Measuring(engine, data, seed, trying, asked, cache, threads)
    kind = data.frame.kind

    def known_by_now(outcomes: Mapping[int, Outcome]) -> None:
        if so_far is not None and len(outcomes) < len(chosen):
            so_far(_map(chosen, outcomes, kind))

    outcomes = measuring.all(chosen, progress, known_by_now)
    found = _map(chosen, outcomes, kind)
    if max_risk is not None and seconds > 0:
        known = [(method, one) for place, method in enumerate(chosen) if _keeps(one := outcomes[place], promise)]
        more, words = _searched(measuring, known, max_risk, max_disclosure, seconds)
        outcomes |= {len(chosen) + i: one for i, (_, one) in enumerate(more)}
        found = replace(_map([*chosen, *(method for method, _ in more)], outcomes, kind), searched=words)
    if so_far is not None:
        so_far(found)
    return found


class _Measuring:
    """A table, and what is measured of every method on it: by whom, where the numbers are kept, how many at once."""

    def __init__(
        self,
        engine: Engine,
        data: Microdata,
        seed: int,
        attackers: tuple[str, ...] | None,
        analyses: tuple[Analysis, ...],
        cache: bool | str | PathLike[str],
        threads: int,
    ) -> None:
        self._engine, self.data, self._seed, self.attackers = engine, data, seed, attackers
        self._cache, self._threads = cache, threads
        self._known = Known(attackers=attackers, analyses=analyses)
        self._store = Stored(cache, fingerprint(engine, data.frame), data.schema, seed, attackers, analyses)

    def by(self, attacker: str) -> _Measuring:
        """The same by one attacker, and no analyses."""
        return _Measuring(self._engine, self.data, self._seed, (attacker,), (), self._cache, self._threads)

    def all(
        self, methods: Sequence[Method], progress: Progress | None, so_far: Callable[[Mapping[int, Outcome]], None]
    ) -> dict[int, Outcome]:
        """What is known of each method by its place; told whenever one is done."""
        told, outcomes = _Together(progress, len(methods)), dict[int, Outcome]()
        with ThreadPoolExecutor(self._threads) as pool:
            waiting = {
                pool.submit(self._one, method, partial(told, place)): place for place, method in enumerate(methods)
            }
            for done in as_completed(waiting):
                outcomes[waiting[done]] = done.result()
                so_far(outcomes)
        return outcomes

    def each(self, methods: list[Method]) -> list[Outcome]:
        """The same in the order of the methods, told to nobody."""
        found = self.all(methods, None, lambda outcomes: None)
        return [found[place] for place in range(len(methods))]

    def _one(self, method: Method, progress: Progress) -> Outcome:
        found = self._store.read(method)
        if found is None:
            try:
                told = _part_of(progress, 0.0, MASKING)
                release = protect_on(self._engine.telling(told), self.data, method, seed=self._seed).as_seen()
                measuring = self._engine.telling(_part_of(progress, MASKING, 1 - MASKING))
                found = _summed_up(measuring, release, self._known)
            except TaxomaskError as error:  # the others may still run; the reason is shown on the map
                progress(1.0)
                return error
            self._store.write(method, found)
        progress(1.0)
        return found


def _keeps(one: Outcome, promise: str | None) -> bool:
    """Whether a method made a promise, if one is asked for."""
    return promise is None or (not isinstance(one, TaxomaskError) and is_among(promise, one.promises))


def _searched(
    measuring: _Measuring,
    known: list[tuple[Method, Outcome]],
    max_risk: float,
    max_disclosure: float | None,
    seconds: float,
) -> tuple[list[tuple[Method, Outcome]], tuple[str, ...]]:
    """What was measured to find the smallest k of each method, and what was found in words."""
    nearest = measuring.attackers is None or "nearest" in measuring.attackers
    more, families = search(
        known,
        lambda one: one.risk <= max_risk and (max_disclosure is None or one.disclosure <= max_disclosure),
        lambda one: one.risk <= max_risk,
        measuring.each,
        measuring.by("nearest").each if nearest else None,
        most=max(measuring.data.n // 2, 2),
        seconds=seconds,
    )
    return more, searched_words(families)


class _Together:
    """The progress of several jobs at once, told as one."""

    def __init__(self, progress: Progress | None, jobs: int) -> None:
        self._progress, self._done, self._lock = progress, [0.0] * jobs, threading.Lock()

    def __call__(self, place: int, done: float) -> None:
        with self._lock:
            self._done[place] = max(done, self._done[place])
            if self._progress is not None:
                self._progress(sum(self._done) / len(self._done))


def compared_before(
    table: str,
    schema: Schema,
    methods: Iterable[Method],
    *,
    seed: int = 0,
    attackers: Iterable[str] | None = None,
    analyses: Iterable[Analysis] = (),
) -> RUMap:
    """The map of what `compare` has measured before on the table with this fingerprint; nothing is run."""
    store = Stored(True, table, schema, seed, check_attackers(attackers), tuple(analyses))
    every = list(methods)
    found = {place: one for place, method in enumerate(every) if (one := store.read(method)) is not None}
    return _map(every, found, "pyarrow")


def _map(methods: Sequence[Method], outcomes: Mapping[int, Outcome], kind: str) -> RUMap:
    """What is known by now, in the order of the methods; every loss is over the columns that any that ran protects."""
    known = [(methods[place], outcomes[place]) for place in sorted(outcomes)]
    failed = tuple((str(method), one.message) for method, one in known if isinstance(one, TaxomaskError))
    ran = [(method, one) for method, one in known if not isinstance(one, TaxomaskError)]
    named = {name for _, one in ran for name in one.protected}
    protected = tuple(name for name in (ran[0][1].losses or () if ran else ()) if name in named)
    points = []
    for method, one in ran:
        numbers = one.headline(protected) | {f"{OVERLAP}{name}": value for name, value in one.overlaps.items()}
        points.append(Point(str(method), method, numbers["risk"], numbers["loss"], numbers, promises=one.promises))
    return RUMap(tuple(with_front(points)), failed, protected, kind)


def _part_of(progress: Progress, start: float, size: float) -> Progress:
    """The progress of a part of some work, told as that of the whole."""
    return lambda done: progress(min(start + size * done, 1.0))


def _summed_up(engine: Engine, release: Release, known: Known) -> Summary:
    if not release.linked:
        raise DataError(
            "records of the release are not linked to original ones, so that risk and loss by record are not defined.",
            hint="Look at it with evaluate(…, linked=False).",
        )
    told = replace(known, method=release.method)
    found = summary(release.original, release.released, release.protected, told, engine=engine)
    return replace(found, promises=release.promised())
