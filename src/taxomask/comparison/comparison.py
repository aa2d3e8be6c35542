"""Many methods on one table: the risk-utility map."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

from .._support.one_thread import one_thread
from .._support.parameters import check_integer, check_number
from .._support.showing import few, line
from ..engines import Memory
from ..errors import DataError, PlanError, TaxomaskError, did_you_mean
from ..evaluation import OVERLAP, Known, Summary, check_analyses, check_attackers, headline_figure, summary
from ..measures.analyses import Analysis
from ..measures.plain import plain
from ..methods import Method, Progress, ReverseMapping
from ..microdata import Microdata, Schema
from ..microdata.frames import of_kind
from ..release import Release, protect
from ..release.protect import fingerprint
from ..report.figures import number
from .search import search
from .search import told as searched_words
from .stored import Stored

__all__ = ["Choice", "Point", "RUMap", "compare", "compared_before"]

MASKING = 0.75  # of the time that a method takes; the rest goes into the few measures of the map


@dataclass(frozen=True, repr=False)
class Point:
    """One method with its parameters: its risk, its loss, and the numbers behind them."""

    label: str
    method: Method
    risk: float
    loss: float
    numbers: Mapping[str, Any]
    front: bool = False
    promises: tuple[str, ...] = ()

    @property
    def disclosure(self) -> float:
        """What is learnt of confidential values beyond a guess; NaN if there are none."""
        return float(self.numbers.get("disclosure", math.nan))

    def __repr__(self) -> str:
        return line(f"<Point {self.label}: risk {number(self.risk)}, loss {number(self.loss)}>")


@dataclass(frozen=True, repr=False)
class Choice:
    """A point of the map, and why it was chosen."""

    point: Point
    reason: str

    def __repr__(self) -> str:
        return line(f"<Choice {self.point.label}: {self.reason}>")

    @property
    def method(self) -> Method:
        return self.point.method


@dataclass(frozen=True, repr=False)
class RUMap:
    """Risk against utility, one point per method and parameters.

    Parameters
    ----------
    points
        One per method that ran, in the order given. ``front`` marks those that no other point beats in both.
    failed
        The methods that could not be run on this table, with the reason.
    protected
        The columns that any of the methods that ran protects: every loss is over these, so that losses compare.
    searched
        What the search for the smallest k found, a sentence for each method, where a limit was given.
    """

    points: tuple[Point, ...]
    failed: tuple[tuple[str, str], ...] = ()
    protected: tuple[str, ...] = ()
    _kind: str = "pyarrow"
    searched: tuple[str, ...] = ()

    def __repr__(self) -> str:
        front = [point.label for point in self.points if point.front]
        failed = f", {len(self.failed)} could not be run" if self.failed else ""
        return line(f"<RUMap of {len(self.points)} methods{failed}; on the front {few(front, 4) or 'none'}>")

    def _repr_html_(self) -> str:
        from ..report import map_view

        return map_view(self.page())

    def to_frame(self) -> Any:
        """The numbers as a table, one row per method; the same kind of table as was compared."""
        import pyarrow as pa

        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        columns = {name: pa.array([point.numbers.get(name) for point in self.points]) for name in names}
        return of_kind(
            self._kind,
            {
                "method": pa.array([point.label for point in self.points], pa.string()),
                **columns,
                "front": pa.array([point.front for point in self.points], pa.bool_()),
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The map in plain values."""
        points = [
            {"method": point.label, "numbers": plain(point.numbers), "front": point.front} for point in self.points
        ]
        failed = [{"method": label, "reason": reason} for label, reason in self.failed]
        searched = {"searched": list(self.searched)} if self.searched else {}
        return {"points": points, "failed": failed, "protected": list(self.protected), **searched}

    def best(
        self,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        *,
        analysis: str | None = None,
    ) -> Choice:
        """The method that keeps most among those that are acceptable, with the reason in words.

        Parameters
        ----------
        max_risk
            The largest acceptable share of records that the best attacker links rightly.
        max_disclosure
            The largest acceptable disclosure of confidential values, for tables that have some: the figure to choose by
            where the quasi-identifiers are released as they are.
        promise
            Only methods that made this promise, by its name (``"k_anonymity"``, which covers every quasi-identifier,
            ``"permutation"``, ``"t_closeness"``) or by words that it has in it, such as ``"k = 5"``.
        analysis
            What is kept is the overlap of the intervals of this analysis; by default as little loss as possible.
        """
        if not self.points:
            raise PlanError("no method could be run.", hint="; ".join(f"{a}: {b}" for a, b in self.failed))
        limits = _limits(max_risk, max_disclosure)
        if max_disclosure is not None and any(math.isnan(point.disclosure) for point in self.points):
            raise PlanError(
                "there is no disclosure to choose by: nobody looked for confidential values.",
                hint="Give columns the role confidential, and leave attackers out or name those who look for values.",
            )
        kept = _Kept(self.points, analysis)
        promised = [point for point in self.points if promise is None or _promises(point, promise)]
        if not promised:
            raise PlanError(
                f"no method promises {promise!r}.",
                hint="What was promised: "
                + few(sorted({one for point in self.points for one in point.promises}, key=len)),
            )
        allowed = [point for point in promised if all(value(point) <= limit for _, limit, value in limits)]
        if not allowed:
            least = min(promised, key=lambda point: tuple(max(value(point) - limit, 0) for _, limit, value in limits))
            found = " and ".join(f"{what} of {value(least):.4g}" for what, _, value in limits)
            raise PlanError(
                f"no method has {_said(limits)}; nearest to it is {least.label}, with a {found}.",
                hint="Try stronger parameters, such as a larger k, or accept more.",
            )
        chosen, *others = sorted(allowed, key=lambda point: (kept.order(point), point.loss, point.risk))
        what = f"{_said(limits)}{f' and promise {promise!r}' if promise else ''}"
        reason = (
            f"Of the {len(self.points)} methods {len(allowed)} have {what}; of these it has {kept.most}, "
            f"{kept.value(chosen):.4g}, at a risk of {chosen.risk:.4g}"
        )
        reason += f" and a disclosure of {chosen.disclosure:.4g}." if not math.isnan(chosen.disclosure) else "."
        if others:
            value = kept.value(others[0])
            more = f", {abs(value - kept.value(chosen)):.2g} {'more' if analysis is None else 'less'}"
            differs = not math.isnan(value) and value != kept.value(chosen)
            reason += f" The next best is {others[0].label} with {kept.words} of {value:.4g}{more if differs else ''}."
        return Choice(chosen, reason)

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        analysis: str | None = None,
    ) -> None:
        """Write the map as one HTML page: hover or choose a point to see its numbers."""
        from ..report import write_page

        write_page(path, "map.html", **self.page(max_risk, max_disclosure, promise, analysis=analysis))

    def page(
        self,
        max_risk: float | None = None,
        max_disclosure: float | None = None,
        promise: str | None = None,
        *,
        analysis: str | None = None,
    ) -> dict[str, Any]:
        """What the template of the map needs."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        points = [
            {
                "number": number,
                "label": point.label,
                "method": point.method.name,
                "risk": point.risk,
                "loss": point.loss,
                "front": point.front,
                "more": _worst(point.numbers),
                "numbers": {name: point.numbers.get(name) for name in names},
            }
            for number, point in enumerate(self.points)
        ]
        best = None
        limits = [] if max_risk is None and max_disclosure is None else _limits(max_risk, max_disclosure)
        promised = [point for point in self.points if promise is None or _promises(point, promise)]
        if limits and any(all(value(point) <= limit for _, limit, value in limits) for point in promised):
            choice = self.best(max_risk, max_disclosure, promise, analysis=analysis)
            best = {"label": choice.point.label, "reason": choice.reason}
        return {
            "points": points,
            "columns": [{"name": name, "meaning": headline_figure(name)} for name in names],
            "protected": self.protected,
            "failed": self.failed,
            "limit": max_risk,
            "best": best,
            "risk_name": "risk: share of records that the best attacker links rightly",
            "loss_name": "loss: 0 none, 1 every value replaced by the average",
        }


class _Kept:
    """What a choice keeps as much of as it can: the values themselves, or an analysis."""

    def __init__(self, points: Iterable[Point], analysis: str | None) -> None:
        self.key = None if analysis is None else f"{OVERLAP}{analysis}"
        self.most = "the smallest loss" if analysis is None else f"the largest overlap of {analysis!r}"
        self.words = "a loss" if analysis is None else "an overlap"
        known = {name.removeprefix(OVERLAP) for point in points for name in point.numbers if name.startswith(OVERLAP)}
        if analysis is not None and analysis not in known:
            hint = did_you_mean(analysis, sorted(known)) if known else "Name analyses in the plan, or analyses=[…]."
            raise PlanError(f"there is no analysis {analysis!r}.", hint=hint)

    def value(self, point: Point) -> float:
        found = point.loss if self.key is None else point.numbers.get(self.key)
        return math.nan if found is None else float(found)

    def order(self, point: Point) -> float:
        """Smaller is better; what cannot be told comes last."""
        value = self.value(point)
        return math.inf if math.isnan(value) else value if self.key is None else -value


def _promises(point: Point, promise: str) -> bool:
    """Whether a point has a promise of this name, or else with these words in it."""
    name = promise.lower().replace("-", "_").replace(" ", "_")
    return name in point.promises or any(promise in one for one in point.promises if " " in one)


def _limits(max_risk: float | None, max_disclosure: float | None) -> list[tuple[str, float, Callable[[Point], float]]]:
    """What must not be exceeded: a name, the limit, and the value of a point."""
    given: dict[str, tuple[float | None, Callable[[Point], float]]] = {
        "risk": (max_risk, lambda point: point.risk),
        "disclosure": (max_disclosure, lambda point: point.disclosure),
    }
    limits = [
        (name, check_number(f"max_{name}", limit, above=-1e-300, at_most=1.0), value)
        for name, (limit, value) in given.items()
        if limit is not None
    ]
    if not limits:
        raise PlanError("there is no limit to choose by.", hint="Give max_risk, max_disclosure or both.")
    return limits


def _said(limits: Iterable[tuple[str, float, Any]]) -> str:
    return " and ".join(f"a {name} of at most {limit:g}" for name, limit, _ in limits)


@one_thread()
def compare(
    frame: Any,
    schema: Schema,
    methods: Iterable[Method],
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
    seconds: float = 60.0,
) -> RUMap:
    """Run methods on a table and measure risk and utility of each.

    Nothing is released, so the seed need not be secret; to release the chosen one, call `protect`.

    Parameters
    ----------
    frame, schema
        The table (pandas, polars, pyarrow, or coded before) and what its columns are.
    methods
        The methods, each with its parameters.
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
    seconds
        No step of this search begins after so many; 0 for no search.
    """
    seed = check_integer("seed", seed, at_least=0)
    chosen = list(methods)
    if not chosen:
        raise PlanError("there is no method to compare.", hint="Name at least one, such as Microaggregation(k=5).")
    if common_marginals:
        chosen = [one if isinstance(one, ReverseMapping) else ReverseMapping(one) for one in chosen]
    schema.check_decided()
    data = Microdata.of(frame, schema)  # coded once for all, and each table of distances is made once
    trying = check_attackers(attackers)
    asked = check_analyses(analyses, schema, data)
    known = Known(attackers=trying, analyses=asked)
    store = Stored(cache, fingerprint(Memory(), data.frame), schema, seed, trying, asked)
    threads = min(os.cpu_count() or 1, 4) if workers is None else check_integer("workers", workers, at_least=1)
    if max_risk is not None or max_disclosure is not None:
        _limits(max_risk, max_disclosure)  # what is no limit is told before the work begins
    told = _Together(progress, len(chosen))
    outcomes: dict[int, Summary | TaxomaskError] = {}
    with ThreadPoolExecutor(threads) as pool:
        waiting = {
            pool.submit(_measured, data, method, seed, known, store, partial(told, place)): place
            for place, method in enumerate(chosen)
        }
        for done in as_completed(waiting):
            outcomes[waiting[done]] = done.result()
            if so_far is not None and len(outcomes) < len(chosen):
                so_far(_map(chosen, outcomes, data.frame.kind))
    found = _map(chosen, outcomes, data.frame.kind)
    if max_risk is not None and seconds > 0:

        def measure(some: list[Method], known: Known = known, store: Stored = store) -> list[Summary | TaxomaskError]:
            with ThreadPoolExecutor(threads) as pool:
                return list(pool.map(lambda one: _measured(data, one, seed, known, store, lambda done: None), some))

        quick = Known(attackers=("nearest",), analyses=())
        quick_store = Stored(cache, fingerprint(Memory(), data.frame), schema, seed, quick.attackers)
        more, families = search(
            [(method, outcomes[place]) for place, method in enumerate(chosen)],
            lambda one: one.risk <= max_risk and (max_disclosure is None or one.disclosure <= max_disclosure),
            lambda one: one.risk <= max_risk,
            measure,
            partial(measure, known=quick, store=quick_store) if trying is None or "nearest" in trying else None,
            most=max(data.n // 2, 2),
            seconds=seconds,
        )
        outcomes |= {len(chosen) + i: one for i, (_, one) in enumerate(more)}
        every = [*chosen, *(method for method, _ in more)]
        found = replace(_map(every, outcomes, data.frame.kind), searched=searched_words(families))
    if so_far is not None:
        so_far(found)
    return found


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


def _map(methods: Sequence[Method], outcomes: Mapping[int, Summary | TaxomaskError], kind: str) -> RUMap:
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
    return RUMap(tuple(_with_front(points)), failed, protected, kind)


def _worst(numbers: Mapping[str, Any]) -> str:
    if numbers.get("worst_column") is None:
        return ""
    return f"worst column {numbers['worst_column']}, loss {numbers['worst_loss']:.4f}"


def _measured(
    data: Microdata,
    method: Method,
    seed: int,
    known: Known,
    store: Stored,
    progress: Progress,
) -> Summary | TaxomaskError:
    found = store.read(method)
    if found is None:
        try:
            release = protect(data, data.schema, method, seed=seed, progress=_part_of(progress, 0.0, MASKING))
            found = _summed_up(release, known, _part_of(progress, MASKING, 1 - MASKING))
        except TaxomaskError as error:  # the others may still run; the reason is shown on the map
            progress(1.0)
            return error
        store.write(method, found)
    progress(1.0)
    return found


def _part_of(progress: Progress, start: float, size: float) -> Progress:
    """The progress of a part of some work, told as that of the whole."""
    return lambda done: progress(min(start + size * done, 1.0))


def _summed_up(release: Release, known: Known, progress: Progress | None) -> Summary:
    if not release.linked:
        raise DataError(
            "records of the release are not linked to original ones, so that risk and loss by record are not defined.",
            hint="Look at it with evaluate(…, linked=False).",
        )
    told = replace(known, method=release.method)
    found = summary(release.original, release.released, release.protected, told, progress=progress)
    return replace(found, promises=release.promised())


def _with_front(points: Sequence[Point]) -> Iterable[Point]:
    for point in points:
        beaten = any(
            other.risk <= point.risk
            and other.loss <= point.loss
            and (other.risk, other.loss) != (point.risk, point.loss)
            for other in points
        )
        yield replace(point, front=not beaten)
