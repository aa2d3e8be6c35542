"""What a release costs and what it risks, measured on both tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.one_thread import one_thread
from .._support.showing import few, line, view
from .._support.temporary import write_whole
from ..engines import Engine, Memory
from ..errors import DataError, PlanError, SchemaError, did_you_mean
from ..measures import Attackers, Figure, Risk, Tables, Utility
from ..measures.analyses import Analysed, Analysis
from ..measures.measure import value_at
from ..measures.measured import all_figures, measure_all, measure_some, needed_by
from ..measures.plain import plain
from ..measures.risk import ATTACKERS
from ..measures.sampled import Sampled, is_long
from ..measures.side_by_side import same_values_on, side_by_side_on, varies_on
from ..methods import Method, Progress
from ..microdata import Column, ContinuousColumn, Microdata, Role, Schema
from ..microdata.frames import Frame, of_kind
from ..report.figures import number
from .headline import HEADLINE, Summary, disclosure_risk, summed_up
from .long import Drawn, LookedFor, drawn_on, looked_for_on
from .records_at_risk import RecordsAtRisk, records_at_risk

__all__ = [
    "Evaluation", "Known", "Risk", "Summary", "check_analyses", "check_attackers", "evaluate", "evaluate_on",
    "measured", "released_schema", "summary",
]  # fmt: skip

LARGEST = 1e70
COMPARED = "Risk and utility of the methods that were compared"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Utility and risk of a release, with a few figures that sum it up.

    ``headline`` has ``risk`` (the expected share of right links of the best attacker, ``attacker``; NaN for unlinked
    tables), ``nearest`` (that of linking each record with the nearest), ``disclosure`` (how much of what a guess leaves
    open is learnt of confidential values), ``loss`` (the mean over the
    ``protected`` columns: 0 is none, 1 is every value replaced by the average), ``worst_column`` and ``worst_loss``
    (the protected column that lost most; None if there is none), ``score`` (half of 100·loss, a quarter each of
    100·risk and 100·interval disclosure) and what else fits on a line. ``analyses`` has what became of the analyses
    that were asked for, by their names. ``failed`` names measures that could not be computed, with the error.
    ``sampled`` has those of long tables that were measured on a random sample, with their intervals; ``drawn`` what
    charts show of such tables, and ``looked_for`` the records that attackers looked for.
    """

    original: Microdata
    released: Microdata
    protected: tuple[str, ...]
    utility: Utility
    risk: Risk
    attackers: Attackers
    headline: Mapping[str, Any]
    failed: Mapping[str, str] = field(default_factory=dict)
    analyses: Mapping[str, Analysed] = field(default_factory=dict)
    sampled: Mapping[str, Sampled] = field(default_factory=dict)
    drawn: Mapping[str, Drawn] = field(default_factory=dict)
    looked_for: LookedFor | None = None

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
        risky = {} if self.records_at_risk is None else {"records_at_risk": self.records_at_risk.to_dict()}
        failed = {"failed": dict(self.failed)} if self.failed else {}
        return {**values, **risky, "papers": _in_papers(values), **failed}

    @cached_property
    def records_at_risk(self) -> RecordsAtRisk | None:
        """The chance to find each record, before and after, and what makes it so; None if records are not linked."""
        return records_at_risk(self)

    def figures(self) -> Iterator[tuple[str, str, Figure, float | None]]:
        """Every figure, those of single columns one by one: where it stands, its title, its words and its value."""
        values = self._values()
        for where, figure in all_figures().items():
            value = value_at(values, where)
            if isinstance(value, int | float):
                yield where, figure.title, figure, value
            elif isinstance(value, Mapping) and "*" in where:
                yield from ((where, f"{figure.title}: {name}", figure, one) for name, one in value.items())

    def sampled_figures(self) -> Iterator[tuple[str, float, float, float, Sampled]]:
        """The figures of long tables that were measured on a sample: title, value, and the ends of the interval."""
        for where, title, one, value in self.figures():
            kind, name, *rest = where.split(".")
            taken = self.sampled.get(f"{kind}.{name}")
            place = ".".join(rest).replace("*", title.removeprefix(f"{one.title}: "), 1)
            if taken is not None and value is not None and place in taken.intervals:
                yield title, value, *taken.intervals[place], taken

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
            "attackers": self.attackers.to_dict(),
            **({"analyses": plain(self.analyses)} if self.analyses else {}),
            **({"sampled": plain(self.sampled)} if self.sampled else {}),
        }

    def to_html(
        self,
        path: str | PathLike[str],
        *,
        release: Described | None = None,
        compared: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Write a report for the custodian as one HTML page; with the release, what was done and its promises too.

        ``compared`` is the ``page()`` of a risk-utility map to be shown with it, ``about`` says what the first page
        has besides: ``file``, ``file_hash``, ``around``, ``hidden``, ``purpose``, ``recipient``.
        """
        write_whole(Path(path), self.page(release, compared, about))

    def page(
        self,
        release: Described | None = None,
        compared: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> str:
        """The report of `to_html` as text."""
        from ..report import render
        from .page import page

        done = None if release is None else {**release.facts(), **(about or {})}
        values = page(self, done)
        if compared is not None:
            values["contents"].insert(-len(values["sections"]), COMPARED)
        return render("evaluation.html", compared=compared, **values)

    def cover(self, release: Described, about: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The facts of the first page of a report, in plain values."""
        from .cover import cover

        return cover(self, {**release.facts(), **(about or {})})


class Described(Protocol):
    """What a report says about a release."""

    def facts(self) -> dict[str, Any]: ...


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
    attackers: Iterable[str] | None = None,
    analyses: Iterable[Analysis] = (),
    seed: int | None = None,
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
        How it was protected: the loss is over the columns that the method protects. Without it, over those that differ,
        and attackers who know the method have nothing to go by.
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
    attackers
        The names of those who try; by default all who have something to work on.
    analyses
        What is computed from both tables and compared, such as ``tm.Mean("stay", of="days", by=["region"])``.
    seed
        For the subsamples of some measures and what attackers draw; without it, the same each time.
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
    schema = before.schema  # a taxonomy that is made from the table is made from the original one
    after = Microdata.from_frame(protected, released_schema(schema, Frame(protected).names))
    others = None if control is None else Microdata.from_frame(control, released_schema(schema, Frame(control).names))
    asked = check_analyses(analyses, schema)
    known = Known(linked, others, weights, method, check_attackers(attackers), seed or 0, asked)
    rows = None if order is None else np.asarray(order, dtype=np.int64)
    return evaluate_on(Memory().telling(progress), before, after, known, rows)


def evaluate_on(
    engine: Engine, before: Microdata, after: Microdata, known: Known, order: NDArray[np.int64] | None = None
) -> Evaluation:
    """The same of coded tables, wherever they lie."""
    linked, method = known.linked, known.method
    if order is not None:
        after = _in_order(engine, after, order)
    if linked and before.n != after.n:
        raise DataError(
            f"the original table has {before.n:,} records and the protected one {after.n:,}, so that they cannot be "
            "compared one by one.",
            hint="Give tables whose rows correspond; if they do not, as in fully synthetic tables, say linked=False "
            "(on the command line: --unlinked).",
        )
    if linked:
        after = after.owned_as(before)
    names = method.protects(before) if method is not None else _differing(engine, before, after) if linked else ()
    return measured(before, after, names, known, engine=engine)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about two tables besides what is in them; see `evaluate`."""

    linked: bool = True
    control: Microdata | None = None
    weights: ArrayLike | str | None = None
    method: Method | None = None
    attackers: tuple[str, ...] | None = None
    seed: int = 0
    analyses: tuple[Analysis, ...] = ()


@one_thread()
def measured(
    original: Microdata, released: Microdata, protected: tuple[str, ...], known: Known, *, engine: Engine
) -> Evaluation:
    """Measure coded tables, wherever they lie."""
    if not known.linked:  # nobody owns a record that comes from no other
        released = released.owned_as(None)
    _check_sizes(engine, original, released)
    columns = side_by_side_on(engine, original, released)
    known_by = [name for name in original.schema.quasi_identifiers if name in columns] if known.linked else []
    unchanged = _as_they_were(engine, known_by, columns)
    tables = _tables(original, released, columns, known)
    analyses = _analysed(engine, tables, known.analyses)
    found, failed, sampled = measure_all(engine, tables)
    utility, risk, attackers = Utility(found["utility"]), Risk(found["risk"]), Attackers(found["attackers"])
    every = {(kind, name): one for kind, some in found.items() for name, one in some.items()}
    headline = summed_up(protected, unchanged, every, analyses).headline()
    if utility.overall is not None:  # the overall loss of an evaluation is that of its headline
        utility = Utility({**utility, "overall": replace(utility.overall, overall=headline["loss"])})
    evaluation = Evaluation(
        original, released, protected, utility, risk, attackers, headline, failed, analyses, sampled
    )
    if not is_long(engine, tables):
        return evaluation
    looked_for = looked_for_on(engine, tables, attackers)
    return replace(evaluation, drawn=drawn_on(engine, tables), looked_for=looked_for)


@one_thread()
def summary(
    original: Microdata,
    released: Microdata,
    protected: tuple[str, ...],
    known: Known | None = None,
    *,
    engine: Engine | None = None,
) -> Summary:
    """What sums up a release whose records are linked to the original ones, without the slower measures."""
    engine = engine or Memory()
    _check_sizes(engine, original, released)
    tables = _tables(original, released, side_by_side_on(engine, original, released), known or Known())
    trying = [name for name, one in ATTACKERS.items() if one.can_be_measured(tables)]
    parts = [("utility", "overall"), ("risk", "linkage"), ("risk", "intervals"), ("risk", "classes")]
    keys = list(dict.fromkeys([*parts, *needed_by(trying), *(("attackers", name) for name in trying)]))
    unchanged = _as_they_were(engine, original.schema.quasi_identifiers, tables.columns)
    analyses = _analysed(engine, tables, (known or Known()).analyses)
    found = measure_some(engine, tables, keys).values
    return summed_up(protected, unchanged, found, analyses)


def _as_they_were(
    engine: Engine, names: Iterable[str], columns: Mapping[str, tuple[Column, Column]]
) -> tuple[str, ...]:
    """The columns in which nothing changed, and by which records differ: one value tells nobody apart."""
    same = (name for name in names if same_values_on(engine, *columns[name]))
    return tuple(name for name in same if varies_on(engine, columns[name][0]))


def check_attackers(names: Iterable[str] | None) -> tuple[str, ...] | None:
    """The attackers that were chosen, if there are such; None means all."""
    if names is None:
        return None
    if isinstance(names, str):
        raise PlanError(f"attackers is a list of names; got {names!r}.", hint=f"Write [{names}].")
    chosen = tuple(names)
    for name in chosen:
        if name not in ATTACKERS:
            raise PlanError(f"there is no attacker {name!r}.", hint=did_you_mean(str(name), ATTACKERS))
    if not chosen:
        raise PlanError("there is no attacker to try.", hint=f"Choose from {', '.join(ATTACKERS)}.")
    return chosen


def check_analyses(analyses: Iterable[Analysis], schema: Schema, data: Microdata | None = None) -> tuple[Analysis, ...]:
    """The analyses that were asked for, if they can be made of such a table, and have names of their own.

    With the table itself they are tried: a misspelt value is told before any work is done.
    """
    asked = tuple(analyses)
    for one in asked:
        if not isinstance(one, Analysis):
            raise PlanError(f"{one!r} is no analysis.", hint="Pass such as tm.Mean('stay', of='days', by=['region']).")
        one.check_parameters()
        one.check_schema(schema)
        if sum(other.name == one.name for other in asked) > 1:
            raise PlanError(f"there are several analyses {one.name!r}.", hint="Give each a name of its own.")
    if data is not None and asked:
        columns: dict[str, tuple[Column, Column]] = {name: (one, one) for name, one in data.columns.items()}
        tables = Tables(data, data, columns)
        for one in asked:
            one.compare(tables)
    return asked


# --------------------------------------------------------------------------------------- inside


def _analysed(engine: Engine, tables: Tables, analyses: tuple[Analysis, ...]) -> dict[str, Analysed]:
    if is_long(engine, tables):
        return {one.name: one.compare(tables, engine) for one in analyses}
    found = engine.map(_compared, [(one, tables) for one in analyses], "analysing")
    return {one.name: each for one, each in zip(analyses, found, strict=True)}


def _compared(analysis: Analysis, tables: Tables) -> Analysed:
    return analysis.compare(tables)


def _tables(
    original: Microdata, released: Microdata, columns: Mapping[str, tuple[Column, Column]], known: Known
) -> Tables:
    return Tables(
        original,
        released,
        columns,
        known.linked,
        known.control,
        known.weights,
        known.seed,
        method=known.method,
        attackers=known.attackers,
    )


def _differing(engine: Engine, original: Microdata, released: Microdata) -> tuple[str, ...]:
    """The columns in which some record has another value than before."""
    columns = side_by_side_on(engine, original, released)
    return tuple(name for name, pair in columns.items() if not same_values_on(engine, *pair))


def _in_papers(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures that have a name in the papers: what it is here, its meaning and its value."""
    head = values["headline"]
    known = None not in (head["risk"], head["interval_disclosure"])
    found: dict[str, dict[str, Any]] = {
        "DR": {
            "here": "50 × (headline.risk + headline.interval_disclosure)",
            "meaning": "Disclosure risk in percent: the mean of right links and interval disclosure.",
            "value": disclosure_risk(head["risk"], head["interval_disclosure"]) if known else None,
        }
    }
    for where, one in {"headline.score": HEADLINE["score"], **all_figures()}.items():
        if one.paper:
            found[one.paper] = {"here": where, "meaning": one.about, "value": value_at(values, where)}
    return found


def _check_sizes(engine: Engine, original: Microdata, released: Microdata) -> None:
    """Fourth powers of numbers are computed, and must be finite."""
    columns = [column for data in (original, released) for column in data.columns.values()]
    if columns:
        engine.fold(_check_size, _checked, columns, what="measuring")


def _check_size(*columns: Column) -> None:
    for column in columns:
        _check_size_of(column)


def _check_size_of(column: Column) -> None:
    if isinstance(column, ContinuousColumn) and np.nanmax(np.abs(column.values), initial=0.0) > LARGEST:
        raise DataError(
            f"column {column.attribute.name!r} holds numbers beyond {LARGEST:g}, which cannot be measured.",
            hint="Divide the column by a large number in both tables.",
        )


def _checked(first: None, second: None) -> None:
    """Chunks of which each was looked at."""


def released_schema(schema: Schema, columns: Sequence[str]) -> Schema:
    """The schema of a table with these columns, which may be without identifiers."""
    absent = [name for name, one in schema.items() if one.role != Role.IDENTIFIER and name not in columns]
    if absent:
        raise SchemaError(
            f"the protected table has no column {', '.join(map(repr, absent))}.",
            hint="Compare a table with all columns that are not identifiers.",
        )
    return schema.of(one for name, one in schema.items() if name in columns)


def _in_order(engine: Engine, data: Microdata, order: NDArray[np.int64]) -> Microdata:
    """A table whose row i is moved to row order[i]. Nobody is said to own its records."""
    inside = len(order) == data.n and (not data.n or (order.min() >= 0 and order.max() < data.n))
    if not inside or (np.bincount(order, minlength=data.n) != 1).any():
        raise DataError(f"order is not an order of the {data.n:,} rows.", hint="Pass each row number once, from 0.")
    columns = {name: engine.move(column, order, what="comparing") for name, column in data.columns.items()}
    return replace(data.owned_as(None), columns=columns, rows=engine.move(data.rows, order, what="comparing"))


def _flat(value: Any, place: str = "") -> Any:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{place}.{number}")
    elif value is None or isinstance(value, int | float):
        yield place, None if value is None else float(value)
