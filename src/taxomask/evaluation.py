"""What a release costs and what it risks, measured on both tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .engines import Keeper, open_site
from .engines.stored import StoredSite
from .errors import DataError, SchemaError
from .measures import Utility, measure_utility, overall_loss
from .measures.meaning import HEADLINE, MEASURES, value_at
from .measures.plain import plain
from .measures.risk import (
    ClassSizes,
    IntervalDisclosure,
    Linkage,
    class_sizes,
    interval_disclosure,
    record_linkage,
)
from .measures.risk.evaluation import Risk, measure_risk, risk_measures, risk_seconds
from .measures.risk.linkage_in_blocks import linkage_in_blocks
from .measures.side_by_side import side_by_side
from .measures.turns import Turn, in_turn
from .measures.utility._moments import same_values
from .measures.utility.evaluation import utility_measures, utility_seconds
from .measures.utility.result import mean_of
from .methods import Method, Progress
from .microdata import ContinuousColumn, Microdata, Role, Schema
from .microdata.frames import Frame, of_kind
from .one_thread import one_thread
from .release import Release
from .report.figures import number
from .showing import few, line, view

__all__ = ["Evaluation", "Risk", "Summary", "evaluate", "evaluate_release", "measure_risk", "summary"]

LARGEST = 1e70


@dataclass(frozen=True)
class Summary:
    """What the headline of a release is made of: the loss of every column (None if unlinked), and the risk."""

    losses: Mapping[str, float] | None
    protected: tuple[str, ...]
    risk: float
    interval_disclosure: float
    k: int
    uniques: int

    def headline(self, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """The figures that sum it up; the loss is over these columns, by default over the protected ones.

        Score = (IL + DR) / 2 with IL = 100·loss and DR = 100·mean(right links, interval disclosure).
        """
        loss, worst_column, worst_loss = _loss_over(self.losses, self.protected if columns is None else columns)
        return {
            "risk": self.risk,
            "loss": loss,
            "worst_column": worst_column,
            "worst_loss": worst_loss,
            "score": (100 * loss + _disclosure_risk(self.risk, self.interval_disclosure)) / 2,
            "interval_disclosure": self.interval_disclosure,
            "k": self.k,
            "uniques": self.uniques,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Utility and risk of a release, with a few figures that sum it up.

    ``headline`` has ``risk`` (the expected share of right links; NaN for unlinked tables), ``loss`` (the mean over the
    ``protected`` columns: 0 is none, 1 is every value replaced by the average), ``worst_column`` and ``worst_loss``
    (the protected column that lost most; None if there is none), ``score`` (half of 100·loss, a quarter each of
    100·risk and 100·interval disclosure) and what else fits on a line.
    """

    original: Microdata
    released: Microdata
    protected: tuple[str, ...]
    utility: Utility
    risk: Risk
    headline: Mapping[str, Any]

    def __repr__(self) -> str:
        shown = (f"{HEADLINE[name].title} {number(value)}" for name, value in self.headline.items())
        return line(f"<Evaluation of {self.released.n:,} records: {', '.join(shown)}>")

    def _repr_html_(self) -> str:
        rows = [(HEADLINE[name].title, number(value, 4), HEADLINE[name].about) for name, value in self.headline.items()]
        about = f"Protected: {few(self.protected, 30) or 'none'}. A report is written by .to_html(path)."
        header = ("figure", "value", "what it means")
        return view(f"Evaluation of {self.released.n:,} records", about, header=header, rows=rows, numeric=(1,))

    def to_dict(self) -> dict[str, Any]:
        """All numbers in plain values, for JSON; ``papers`` has those with a name in the papers once more, by it."""
        values = self._values()
        return {**values, "papers": _in_papers(values)}

    def to_frame(self) -> Any:
        """All numbers as a table with one row each: where it stands, and its value; the kind of table evaluated."""
        import pyarrow as pa

        rows = list(_flat(self._values()))
        values = pa.array([value for _, value in rows], pa.float64())
        return of_kind(self.original.frame.kind, {"measure": [name for name, _ in rows], "value": values})

    def _values(self) -> dict[str, Any]:
        return {
            "headline": plain(self.headline),
            "utility": self.utility.to_dict(),
            "risk": self.risk.to_dict(),
        }

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        release: Release | None = None,
        method: Method | None = None,
        compared: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a report for the custodian as one HTML page; with the release, its promises too.

        ``compared`` is the ``page()`` of a risk-utility map to be shown with it.
        """
        from .evaluation_page import page
        from .report import write_page

        write_page(path, "evaluation.html", compared=compared, **page(self, release, method))


def evaluate(
    original: Any,
    protected: Any,
    schema: Schema,
    method: Method | None = None,
    *,
    order: ArrayLike | None = None,
    linked: bool = True,
    control: Any = None,
    weights: ArrayLike | str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a protected table against the original one.

    Parameters
    ----------
    original, protected
        The tables (pandas, polars or pyarrow).
    schema
        What the columns are.
    method
        How it was protected: the loss is over the columns that the method protects. Without it, over those that differ.
    order
        Row i of the protected table is row ``order[i]`` of the original; by default both are in the same order.
    linked
        Whether the rows correspond, which those of fully synthetic tables do not: without it, risk and loss by record
        are not defined and left out. Linked tables must have as many records.
    control
        A table of people who are not in the original: what is guessed about them is no disclosure.
    weights
        How many people of the population each protected record stands for, or the name of the column that says it, for
        the individual risk of a survey.
    seed
        For the subsamples of some measures.
    progress
        Called from time to time with the fraction that is done.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72]})
    >>> schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    >>> release = tm.protect(table, schema, tm.Microaggregation(k=2))
    >>> found = tm.evaluate(table, release.data, schema)
    >>> round(found.headline["loss"], 4), found.headline["risk"], found.headline["k"]
    (0.001, 0.5, 2)
    """
    before = Microdata.from_frame(original, schema)
    after = Microdata.from_frame(protected, _released(schema, Frame(protected)))
    if order is not None:
        after = _in_order(after, np.asarray(order, dtype=np.int64))
    others = None if control is None else Microdata.from_frame(control, _released(schema, Frame(control)))
    if linked and before.n != after.n:
        raise DataError(
            f"the original table has {before.n:,} records and the protected one {after.n:,}, so that they cannot be "
            "compared one by one.",
            hint="Give tables whose rows correspond; if they do not, as in fully synthetic tables, say linked=False "
            "(on the command line: --unlinked).",
        )
    names = method.protects(before) if method is not None else _differing(before, after) if linked else ()
    return _measured(before, after, names, linked=linked, control=others, weights=weights, seed=seed, progress=progress)


def evaluate_release(
    release: Release, *, seed: int = 0, progress: Progress | None = None, site: StoredSite | None = None
) -> Evaluation:
    """Measure what `protect` returned.

    Parameters
    ----------
    release
        The release.
    seed
        For the subsamples of some measures.
    progress
        Called from time to time with the fraction that is done.
    site
        Where the release lies if it is not in memory: every measure is a job then, and record linkage many.
    """
    both = release.original, release.released
    if site is None:
        return _measured(*both, release.protected, linked=release.linked, seed=seed, progress=progress)
    prefix, seconds = site.prefix("measures"), risk_seconds(*both)
    site.map(_look, [site.dump(both, prefix)], "looking at the numbers")
    of = [(kind, field.name) for kind in (Risk, Utility) for field in dataclasses.fields(kind)]
    of.remove((Risk, "linkage"))
    of.sort(key=lambda one: -seconds.get(one[1], 0.0))  # what takes longest begins first
    jobs = [site.dump((*both, release.linked, seed, kind is Risk, name), prefix) for kind, name in of]
    found = dict(zip(of, site.map(_measure, jobs, "measuring"), strict=True))
    found[Risk, "linkage"] = linkage_in_blocks(site, *both) if release.linked else None
    utility, risk = ({name: value for (kind, name), value in found.items() if kind is one} for one in (Utility, Risk))
    return _summed_up(*both, release.protected, Utility(**utility), Risk(**risk))


def _look(store: Keeper, dumped: Any) -> None:
    """The job that looks for numbers that cannot be measured."""
    _check_sizes(*open_site(store).load(dumped))


def _measure(store: Keeper, dumped: Any) -> Any:
    """The job of one measure."""
    original, released, linked, seed, of_risk, name = open_site(store).load(dumped)
    if of_risk:
        return risk_measures(original, released, linked=linked)[name](None)
    columns = side_by_side(original, released, linked=linked)
    rng = np.random.default_rng(seed)
    return utility_measures(original, released, columns, rng=rng, linked=linked)[name](None)


@one_thread()
def _measured(
    original: Microdata,
    released: Microdata,
    protected: tuple[str, ...],
    *,
    linked: bool,
    control: Microdata | None = None,
    weights: ArrayLike | str | None = None,
    seed: int,
    progress: Progress | None = None,
) -> Evaluation:
    _check_sizes(original, released)
    both, rng = (original, released), np.random.default_rng(seed)
    of_utility = sum(utility_seconds(original, side_by_side(*both)).values())
    turns = (
        Turn("utility", of_utility, lambda told: measure_utility(*both, rng=rng, linked=linked, progress=told)),
        Turn(
            "risk",
            sum(risk_seconds(original, released).values()),
            lambda told: measure_risk(*both, linked=linked, control=control, weights=weights, progress=told),
        ),
    )
    found = in_turn(turns, progress)
    return _summed_up(original, released, protected, found["utility"], found["risk"])


def _summed_up(
    original: Microdata, released: Microdata, protected: tuple[str, ...], utility: Utility, risk: Risk
) -> Evaluation:
    losses = utility.overall
    found = _summary(None if losses is None else losses.each, protected, risk.linkage, risk.intervals, risk.classes)
    headline = found.headline()
    if losses is not None:  # the overall loss of an evaluation is that of its headline
        utility = replace(utility, overall=replace(losses, overall=headline["loss"]))
    return Evaluation(original, released, protected, utility, risk, headline)


@one_thread()
def summary(release: Release, *, progress: Progress | None = None) -> Summary:
    """What sums up a release, without the slower measures."""
    if not release.linked:
        raise DataError(
            "records of the release are not linked to original ones, so that risk and loss by record are not defined.",
            hint="Look at it with evaluate(…, linked=False).",
        )
    tables = release.original, release.released
    _check_sizes(*tables)
    seconds = risk_seconds(*tables)
    turns = (
        Turn("losses", seconds["intervals"], lambda _: overall_loss(*tables).each),
        Turn("linkage", seconds["linkage"], lambda _: record_linkage(*tables)),
        Turn("intervals", seconds["intervals"], lambda _: interval_disclosure(*tables)),
        Turn("classes", seconds["classes"], lambda _: class_sizes(*tables)),
    )
    return _summary(protected=release.protected, **in_turn(turns, progress))


def _summary(
    losses: Mapping[str, float] | None,
    protected: tuple[str, ...],
    linkage: Linkage | None,
    intervals: IntervalDisclosure | None,
    classes: ClassSizes,
) -> Summary:
    risk = linkage.expected.value if linkage is not None else math.nan
    interval = intervals.mean if intervals is not None else math.nan
    return Summary(losses, protected, risk, interval, classes.k, classes.uniques)


# --------------------------------------------------------------------------------------- inside


def _loss_over(losses: Mapping[str, float] | None, columns: Iterable[str]) -> tuple[float, str | None, float]:
    """The mean loss of some columns, which of them lost most, and how much; undefined ones are left out."""
    if losses is None:
        return math.nan, None, math.nan
    chosen = {name: losses[name] for name in columns}
    loss = mean_of(chosen.values())
    defined = {name: value for name, value in chosen.items() if not math.isnan(value)}
    worst = max(defined, key=lambda name: defined[name], default=None)
    return loss, worst, loss if worst is None else defined[worst]


def _disclosure_risk(risk: float, interval_disclosure: float) -> float:
    """DR, in percent."""
    return 50 * (risk + interval_disclosure)


def _differing(original: Microdata, released: Microdata) -> tuple[str, ...]:
    """The columns in which some record has another value than before."""
    columns = side_by_side(original, released, linked=True)
    return tuple(name for name, pair in columns.items() if not same_values(*pair))


def _in_papers(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures that have a name in the papers: what it is here, its meaning and its value."""
    head = values["headline"]
    known = None not in (head["risk"], head["interval_disclosure"])
    found: dict[str, dict[str, Any]] = {
        "DR": {
            "here": "50 × (headline.risk + headline.interval_disclosure)",
            "meaning": "Disclosure risk in percent: the mean of right links and interval disclosure.",
            "value": _disclosure_risk(head["risk"], head["interval_disclosure"]) if known else None,
        }
    }
    for one in (HEADLINE["score"], *MEASURES):
        if one.paper:
            found[one.paper] = {"here": one.where, "meaning": one.about, "value": value_at(values, one.where)}
    return found


def _check_sizes(*tables: Microdata) -> None:
    """Fourth powers of numbers are computed, and must be finite."""
    for data in tables:
        for name in data.columns:
            column = data.columns[name]
            if isinstance(column, ContinuousColumn) and np.nanmax(np.abs(column.values), initial=0.0) > LARGEST:
                raise DataError(
                    f"column {name!r} holds numbers beyond {LARGEST:g}, which cannot be measured.",
                    hint="Divide the column by a large number in both tables.",
                )


def _released(schema: Schema, frame: Frame) -> Schema:
    """The schema of a table without identifiers."""
    absent = [name for name, one in schema.items() if one.role != Role.IDENTIFIER and name not in frame.names]
    if absent:
        raise SchemaError(
            f"the protected table has no column {', '.join(map(repr, absent))}.",
            hint="Compare a table with all columns that are not identifiers.",
        )
    return Schema(one for name, one in schema.items() if name in frame.names)


def _in_order(data: Microdata, order: NDArray[np.int64]) -> Microdata:
    if not np.array_equal(np.sort(order), np.arange(data.n)):
        raise DataError(f"order is not an order of the {data.n:,} rows.", hint="Pass each row number once, from 0.")
    inverse = np.empty(data.n, dtype=np.int64)
    inverse[order] = np.arange(data.n)
    return data.take(inverse)


def _flat(value: Any, place: str = "") -> Any:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{place}.{number}")
    elif value is None or isinstance(value, int | float):
        yield place, None if value is None else float(value)
