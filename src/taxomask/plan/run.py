"""A plan carried out: read, protect, measure, verify, write, report."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import add
from os import PathLike
from pathlib import Path
from typing import Any

from .._support.spelling import listing
from ..comparison import compared_before
from ..engines import DaskCluster, Engine, Files, Memory, Scratch, Threads, Told, Workers, read_coded
from ..errors import DataError, PlanError, PromiseError, SchemaError
from ..evaluation import Evaluation, check_analyses, learns_most, released_schema
from ..methods import Check, Method
from ..methods.missing_permutation import with_missing_cells
from ..microdata import Column, Microdata
from ..microdata.files import Source, format_of, is_address, open_table, shown, split_sheet
from ..release import Publication, Release, protect_on
from ..release.leaks import Terms
from ..release.places import check_place, is_folder
from ..release.randomness import check_secret
from ..release.write import Options, write
from .as_written import as_written
from .plan import EngineChoice, Limits, Plan

__all__ = ["Outcome", "naming", "open_for", "open_workers", "read_for", "run", "two_tables"]


@dataclass(frozen=True)
class Outcome:
    """A release, where it was written, and what it costs and risks (measured if a report or limits ask for it)."""

    publication: Publication
    evaluation: Evaluation | None
    about: Mapping[str, str] = field(default_factory=dict)

    def cover(self) -> dict[str, Any] | None:
        """The facts of the first page of the report, in plain values; None if nothing was measured."""
        return None if self.evaluation is None else self.evaluation.cover(self.release, self.about)

    @property
    def release(self) -> Release:
        return self.publication.release

    @property
    def report(self) -> Path | None:
        return self.publication.report


def run(
    plan: Plan | str | PathLike[str],
    *,
    data: str | None = None,
    output: str | None = None,
    report: str | None = None,
    force: bool = False,
    practice: bool = False,
    outside: bool = False,
    progress: Told | None = None,
) -> Outcome:
    """Carry out a plan: protect its table, measure it if that is asked for, and write it.

    Parameters
    ----------
    plan
        The plan, or the YAML file that holds it.
    data, output, report
        The table, where to write, and where to write the report; by default what the plan says. An output whose name
        ends in a slash is a folder of files.
    force
        Overwrite what exists.
    practice
        This is not for release: a seed that can be guessed is accepted, and audit, note and report say so.
    outside
        Let a plan that is read from a file name files outside its folder, databases and clusters.
    progress
        Called with the fraction that is done of a stage, and which one it is.
    """
    plan = plan if isinstance(plan, Plan) else Plan.read(plan, outside=outside)
    plan.attributes.check_decided()
    target = output or (plan.output.path and plan.located(plan.output.path))
    page = report or (plan.output.report and plan.located(plan.output.report))
    if plan.method is None:
        raise PlanError("the plan names no method.", hint="Write 'method: {name: microaggregation, k: 5}'.")
    if not target:
        raise PlanError("there is no place to write to.", hint="Pass --output FILE, or write 'output: {path: …}'.")
    practice = practice or plan.practice
    check_secret(plan.seed, practice=practice)
    _check_format(target)
    for path in (target, page):
        if path and not is_address(path):
            _check_place(Path(path), data or (plan.data and plan.located(plan.data)), force=force)
    chosen, plan = plan.method, as_written(plan, data)
    with table_of(plan, data, target, progress) as (source, engine, table):
        with naming(source):
            terms = Terms(plan.accept, plan.limits.singled_out)
            method = with_missing_cells(chosen, table, plan.missing_cells)
            check_analyses(plan.analyses, table.schema, table)
            release = _protected(engine, table, method, plan.seed, terms).noting(tuple(source.told))
        evaluation = _measured(plan, release, page, progress)
        if progress is not None:
            progress(0.0, "writing")
        about = _about(plan, source) if evaluation is not None else {}
        options = Options(
            source,
            _told(plan),
            force,
            keep_order=plan.output.keep_order,
            escape_cells=plan.output.escape_cells,
            practice=practice,
            report=Path(page) if page else None,
            page=None if evaluation is None else partial(_page, plan, evaluation, about),
        )
        publication = write(release, target, options)
    return Outcome(publication, evaluation, about)


def _told(plan: Plan) -> dict[str, Any]:
    """The plan for the audit, without passwords."""
    content = plan.to_dict()
    if plan.data:
        content["data"] = shown(plan.data)
    if plan.output.path:
        content["output"] = {**content["output"], "path": shown(plan.output.path)}
    return content


def _about(plan: Plan, source: Source) -> dict[str, str]:
    """What the first page of a report has besides what a release knows: the file, and what the plan says of its use."""
    where = str(source.where)
    path, sheet = split_sheet(where)
    found = {"file": shown(where) if is_address(where) else path.name}
    if not is_address(where) and path.is_file():
        with path.open("rb") as file:
            found["file_hash"] = hashlib.file_digest(file, "sha256").hexdigest()
    around = listing([*getattr(source, "above", ()), *getattr(source, "below", ())])
    hidden = " ".join(source.told)
    said = {"sheet": sheet, "around": around, "hidden": hidden, "purpose": plan.purpose, "recipient": plan.recipient}
    return found | {key: text for key, text in said.items() if text}


def _page(plan: Plan, evaluation: Evaluation, about: Mapping[str, str], release: Release) -> str:
    """The report, with the methods that were compared on the same table."""
    found = compared_before(
        release.audit["sha256"]["original"],
        plan.attributes,
        plan.compare,
        attackers=plan.attackers,
        analyses=plan.analyses,
    )
    limits = plan.limits
    compared = found.page(limits.risk, limits.disclosure) if found.points else None
    return evaluation.page(release, compared, about)


@contextmanager
def table_of(
    plan: Plan, data: str | None, target: str, progress: Told | None
) -> Iterator[tuple[Source, Engine, Microdata]]:
    """The table of a plan, coded, on the engine that the plan names."""
    if plan.engine.name == "memory":
        source, table = read_for(plan, data)
        told = None if progress is None else lambda done, what: progress(done, "masking")
        with naming(source):
            coded = Microdata.from_frame(table, plan.attributes)
        yield source, Memory(told), coded
        return
    where, texts = _located(plan, data)
    source = open_table(where, text=texts)
    scratch = plan.engine.scratch and plan.located(plan.engine.scratch)
    beside = Path(scratch or ("." if is_address(target) else Path(target).parent)) / "taxomask"
    with open_workers(plan.engine) as workers, Scratch.temporary(beside) as folder:
        engine = Files(workers, folder, progress)
        with naming(source):
            coded = read_coded(where, plan.attributes, engine, text=texts)
        yield source, engine, coded


@contextmanager
def two_tables(plan: Plan, original: str, protected: str) -> Iterator[tuple[Engine, Microdata, Microdata, Source]]:
    """The table of a plan and the protected one, coded, on the engine that the plan names; and where the second is."""
    if plan.engine.name == "memory":
        source, table = read_for(plan, original)
        target, other = read_for(plan, protected, safe_cells=plan.output.escape_cells)
        with naming(source):
            before = Microdata.from_frame(table, plan.attributes)
        with naming(target):
            after = Microdata.from_frame(other, released_schema(before.schema, target.names))
        yield Memory(), before, after, target
        return
    source, target = open_for(plan, original), open_for(plan, protected, safe_cells=plan.output.escape_cells)
    scratch = plan.engine.scratch and plan.located(plan.engine.scratch)
    beside = Path(scratch or ("." if is_address(protected) else Path(protected).parent)) / "taxomask"
    with open_workers(plan.engine) as workers, Scratch.temporary(beside) as folder:
        engine = Files(workers, folder)
        with naming(source):
            where, texts = _located(plan, original)
            before = read_coded(where, plan.attributes, engine, text=texts)
        with naming(target):
            schema = released_schema(before.schema, target.names)
            where, texts = _located(plan, protected)
            safe = plan.output.escape_cells
            after = read_coded(where, schema, engine, text=texts, safe_cells=safe, beside=True)
        yield engine, before, after, target


def open_workers(choice: EngineChoice) -> Workers:
    """Who does the work of an engine that a plan names."""
    return DaskCluster(choice.scheduler, choice.workers) if choice.name == "dask" else Threads(choice.workers)


def _protected(engine: Engine, data: Microdata, method: Method, seed: int | None, terms: Terms) -> Release:
    """The release; an error if there is not a single value to protect.

    Such a table is the wrong one, or what means missing is listed wrongly.
    """
    names = (*data.schema.quasi_identifiers, *data.schema.confidential)
    if names and not any(engine.fold(_values, add, [data.columns[name]], what="checking") for name in names):
        raise DataError(
            f"no row has a value in {', '.join(map(repr, names))}: there is nothing to protect.",
            hint="Check the file, and what the plan lists as missing.",
        )
    return protect_on(engine, data, method, seed=seed, terms=terms)


def _values(column: Column) -> int:
    return int((~column.missing).sum())


def _measured(plan: Plan, release: Release, page: str | None, progress: Told | None) -> Evaluation | None:
    """What a release costs and risks, if a report or the limits ask for it; an error if it is beyond the limits."""
    limits = plan.limits
    asked = (limits.risk, limits.disclosure, limits.loss, limits.worst_loss, limits.analyses)
    if not page and all(limit is None for limit in asked):
        return None
    told = None if progress is None else lambda done: progress(done, "measuring")
    evaluation = release.evaluate(attackers=plan.attackers, analyses=plan.analyses, progress=told)
    _stop_if_beyond(plan.limits, evaluation)
    return evaluation


def read_for(plan: Plan, data: str | None = None, *, safe_cells: bool = False) -> tuple[Source, Any]:
    """The table of a plan, with codes and categories as text, so that leading zeros survive."""
    source = open_for(plan, data, safe_cells=safe_cells)
    return source, source.read()


def open_for(plan: Plan, data: str | None = None, *, safe_cells: bool = False) -> Source:
    """The same, to be read."""
    where, texts = _located(plan, data)
    return open_table(where, text=texts, safe_cells=safe_cells)


def _located(plan: Plan, data: str | None) -> tuple[str, list[str]]:
    """Where the table of a plan is, and which of its columns are text."""
    where = data or (plan.data and plan.located(plan.data))
    if not where:
        raise PlanError("there is no table to protect.", hint="Name one, or write 'data: …' in the plan.")
    known = open_table(where).names
    return where, [name for name, one in plan.attributes.items() if one.as_text and name in known]


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """What is wrong with a table is told with the name of its file."""
    try:
        yield
    except (DataError, SchemaError) as error:
        raise type(error)(f"{source.where}: {error.message}", hint=error.hint) from None


def _check_format(target: str) -> None:
    """The suffix must say a format that can be written; a folder holds Parquet or CSV files."""
    if not is_folder(target):
        format_of(target)
    elif Path(target).suffix and format_of(target).name not in ("parquet", "csv"):
        raise PlanError(f"{target}: a folder holds Parquet or CSV files.", hint="Name it, for example, release.csv/")


def _check_place(path: Path, data: str | None, *, force: bool) -> None:
    if data and path.resolve() == split_sheet(data)[0].resolve():
        raise PlanError(f"{path} is the table itself.", hint="Write the protected table to another file.")
    check_place(path, force=force)


def _reached(evaluation: Evaluation, attacker: str | None) -> str:
    """Who reaches the risk, and the interval of what was found."""
    if attacker is None:
        return ""
    share = evaluation.attackers[attacker].share
    return f", that of {attacker!r}, from {share.low:.4g} to {share.high:.4g} with 95 % confidence"


def _learnt(evaluation: Evaluation) -> str:
    """Who reaches the disclosure, and the interval of what was found."""
    attacker = learns_most(evaluation.attackers)
    if attacker is None:
        return ""
    low, high = evaluation.attackers[attacker].share.excess_interval
    return f", that of {attacker!r}, from {low:.4g} to {high:.4g} with 95 % confidence"


def _stop_if_beyond(limits: Limits, evaluation: Evaluation) -> None:
    """The limits of the plan are a promise as well."""
    head = evaluation.headline
    if limits.risk is not None and head["attacker"] is None:
        raise PromiseError(
            "a risk cannot be told, so that the limits of the plan are not known to be met.",
            hint="Nothing was written. Records of this release are not linked to original ones, or no attacker that "
            "was chosen looks for people: leave the limit of the risk out, or name others under 'attackers:'.",
        )
    if limits.disclosure is not None and math.isnan(head["disclosure"]):
        raise PromiseError(
            "a disclosure cannot be told, so that the limits of the plan are not known to be met.",
            hint="Nothing was written. The table has no confidential column, or no attacker that was chosen looks for "
            "their values: leave the limit of the disclosure out, or name others under 'attackers:'.",
        )
    if limits.analyses is not None and math.isnan(head["analyses"]):
        raise PromiseError(
            f"analysis {head['worst_analysis']!r} tells no number of the original table, so that the limits of the "
            "plan are not known to be met.",
            hint="Nothing was written. Change the analysis, or leave the limit of the analyses out.",
        )
    worst = "" if head["worst_column"] is None else f", that of {head['worst_column']}"
    checks = [
        Check(f"{name} of at most {limit:g}", value <= limit, f"it is {value:.4g}{more}")
        for name, limit, value, more in (
            ("a risk", limits.risk, head["risk"], _reached(evaluation, head["attacker"])),
            ("a disclosure", limits.disclosure, head["disclosure"], _learnt(evaluation)),
            ("a loss", limits.loss, head["loss"], ""),
            ("a loss of the worst column", limits.worst_loss, head["worst_loss"], worst),
        )
        if limit is not None
    ]
    if limits.analyses is not None:
        found = f"it is {head['analyses']:.4g}, that of {head['worst_analysis']!r}"
        promise = f"an overlap of the intervals of each analysis of at least {limits.analyses:g}"
        checks.append(Check(promise, head["analyses"] >= limits.analyses, found))
    broken = [check for check in checks if not check.holds]
    if broken:
        raise PromiseError(
            "the limits of the plan are not met:\n" + "\n".join(f"  {check}" for check in broken),
            hint="Nothing was written. Change the method or its parameters; `taxomask compare` shows what is possible.",
        )
