"""A plan carried out: read, protect, measure, verify, write, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .comparison import compared_before
from .engines import DaskEngine, Engine, LocalEngine, Report, Store
from .engines.coding import open_stored
from .engines.stored import StoredSite
from .errors import DataError, PlanError, PromiseError, SchemaError
from .evaluation import Evaluation, evaluate_release
from .methodology import methodology
from .methods import Check, Progress
from .microdata import Kind
from .microdata.files import Source, format_of, is_address, open_table
from .plan import EngineChoice, Limits, Plan
from .publishing import Publication, publish
from .release import Release, protect
from .spreading import is_folder, protect_stored, publish_stored

__all__ = ["Outcome", "carry_out", "naming", "open_engine", "read_for"]

Stages = Callable[[float, str], None]


@dataclass(frozen=True)
class Outcome:
    """A release, where it was written, and what it costs and risks (measured if a report or limits ask for it)."""

    release: Release
    publication: Publication
    evaluation: Evaluation | None
    report: Path | None


def carry_out(
    plan: Plan,
    *,
    data: str | None = None,
    output: str | None = None,
    report: str | None = None,
    force: bool = False,
    progress: Stages | None = None,
    steps: Report | None = None,
) -> Outcome:
    """Protect a table as a plan says, and write it.

    Parameters
    ----------
    plan
        The plan.
    data, output, report
        The table, where to write, and where to write the report; by default what the plan says. A table or an output
        that is a folder (its name ends in a slash) needs the engine ``local`` or ``dask``.
    force
        Overwrite what exists.
    progress
        Called with the fraction that is done of a stage, and which one (masking, measuring, writing); by the engine
        ``memory``.
    steps
        Called with what is being done, how many jobs of it are done and how many there are; by other engines.
    """
    target = output or (plan.output.path and plan.located(plan.output.path))
    page = report or (plan.output.report and plan.located(plan.output.report))
    if plan.method is None:
        raise PlanError("the plan names no method.", hint="Write 'method: {name: microaggregation, k: 5}'.")
    if not target:
        raise PlanError("there is no place to write to.", hint="Pass --output FILE, or write 'output: {path: …}'.")
    _check_format(target, plan.engine)
    for path in (target, page):
        if path and not is_address(path):
            _check_place(Path(path), data or (plan.data and plan.located(plan.data)), force=force)
    if plan.engine.name == "memory":
        return _in_memory(plan, data, target, page, force=force, progress=progress)
    return _on_engine(plan, data, target, page, force=force, steps=steps)


def _in_memory(
    plan: Plan, data: str | None, target: str, page: str | None, *, force: bool, progress: Stages | None
) -> Outcome:
    assert plan.method is not None
    source, table = read_for(plan, data)
    with naming(source):
        release = protect(table, plan.attributes, plan.method, seed=plan.seed, progress=_of(progress, "masking"))
        _stop_if_void(release)
    evaluation = _measured(plan, release, page, progress=_of(progress, "measuring"))
    if progress is not None:
        progress(0.0, "writing")
    publication = publish(
        release,
        target,
        like=source,
        plan=plan.to_dict(),
        note=methodology(release, plan.method),
        force=force,
        keep_order=plan.output.keep_order,
        escape_cells=plan.output.escape_cells,
    )
    if page and evaluation is not None:
        found = compared_before(table, plan.attributes, plan.compare)
        shown = found.page(plan.limits.risk) if found.points else None
        evaluation.to_html(page, release=release, method=plan.method, compared=shown)
    return Outcome(release, publication, evaluation, Path(page) if page else None)


def _on_engine(
    plan: Plan, data: str | None, target: str, page: str | None, *, force: bool, steps: Report | None
) -> Outcome:
    method = plan.method
    assert method is not None
    where, texts = _located(plan, data)
    source = open_table(where, text=texts)
    scratch = plan.engine.scratch and plan.located(plan.engine.scratch)
    beside = Path(scratch or ("." if is_address(target) else Path(target).parent)) / "taxomask"
    with open_engine(plan.engine) as engine, Store.temporary(beside) as store:
        with naming(source):
            site = open_stored(where, plan.attributes, store, engine, text=texts, report=steps)
            release = protect_stored(site, method, seed=plan.seed)
            _stop_if_void(release)
        evaluation = _measured(plan, release, page, site=site)
        release, publication = publish_stored(
            site,
            release,
            target,
            like=source,
            plan=plan.to_dict(),
            note=lambda checked: methodology(checked, method),
            force=force,
            keep_order=plan.output.keep_order,
            escape_cells=plan.output.escape_cells,
        )
        if page and evaluation is not None:
            evaluation.to_html(page, release=release, method=method)
    return Outcome(release, publication, evaluation, Path(page) if page else None)


def open_engine(choice: EngineChoice) -> Engine:
    """The engine that a plan names."""
    if choice.name == "dask":
        return DaskEngine(choice.scheduler, choice.workers)
    return LocalEngine(choice.workers)


def _of(progress: Stages | None, stage: str) -> Progress | None:
    """The progress of one stage."""
    if progress is None:
        return None
    told = progress
    return lambda done: told(done, stage)


def _measured(
    plan: Plan,
    release: Release,
    page: str | None,
    *,
    progress: Progress | None = None,
    site: StoredSite | None = None,
) -> Evaluation | None:
    """What a release costs and risks, if a report or the limits ask for it; an error if it is beyond the limits."""
    if not page and plan.limits == Limits(risk=None, loss=None, worst_loss=None):
        return None
    evaluation = evaluate_release(release, progress=progress, site=site)
    _stop_if_beyond(plan.limits, evaluation)
    return evaluation


def read_for(plan: Plan, data: str | None = None, *, safe_cells: bool = False) -> tuple[Source, Any]:
    """The table of a plan, with codes and categories as text, so that leading zeros survive."""
    where, texts = _located(plan, data)
    source = open_table(where, text=texts, safe_cells=safe_cells)
    return source, source.read()


def _located(plan: Plan, data: str | None) -> tuple[str, list[str]]:
    """Where the table of a plan is, and which of its columns are text."""
    where = data or (plan.data and plan.located(plan.data))
    if not where:
        raise PlanError("there is no table to protect.", hint="Name one, or write 'data: …' in the plan.")
    known = open_table(where).names
    return where, [name for name, one in plan.attributes.items() if one.kind != Kind.CONTINUOUS and name in known]


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """What is wrong with a table is told with the name of its file."""
    try:
        yield
    except (DataError, SchemaError) as error:
        raise type(error)(f"{source.where}: {error.message}", hint=error.hint) from None


def _stop_if_void(release: Release) -> None:
    """A table without a single value to protect is the wrong table, or its missing values are listed wrongly."""
    data = release.original
    names = (*data.schema.quasi_identifiers, *data.schema.confidential)
    if names and all(data.columns[name].missing.all() for name in names):
        raise DataError(
            f"no row has a value in {', '.join(map(repr, names))}: there is nothing to protect.",
            hint="Check the file, and what the plan lists as missing.",
        )


def _check_format(target: str, engine: EngineChoice) -> None:
    """The suffix must say a format that can be written; a folder holds Parquet or CSV files."""
    if not is_folder(target):
        format_of(target)
        return
    if engine.name == "memory":
        raise PlanError(f"{target} is a folder.", hint="Name a file, or write 'engine: local' or 'engine: dask'.")
    if Path(target).suffix and format_of(target).name not in ("parquet", "csv"):
        raise PlanError(f"{target}: a folder holds Parquet or CSV files.", hint="Name it, for example, release.csv/")


def _check_place(path: Path, data: str | None, *, force: bool) -> None:
    """Find out now what would otherwise be found out after the work."""
    if data and path.resolve() == Path(data).resolve():
        raise PlanError(f"{path} is the table itself.", hint="Write the protected table to another file.")
    if path.exists() and not force:
        raise PlanError(f"{path} exists already.", hint="Choose another name, or overwrite it with --force.")
    if not path.parent.is_dir():
        raise PlanError(f"{path} cannot be written: there is no such folder.", hint="Make the folder first.")
    if not os.access(path.parent, os.W_OK):
        raise PlanError(f"{path} cannot be written: you may not write to the folder.", hint="Choose another folder.")


def _stop_if_beyond(limits: Limits, evaluation: Evaluation) -> None:
    """The limits of the plan are a promise as well."""
    head = evaluation.headline
    worst = "" if head["worst_column"] is None else f", that of {head['worst_column']}"
    checks = [
        Check(f"{name} of at most {limit:g}", value <= limit, f"it is {value:.4g}{more}")
        for name, limit, value, more in (
            ("a risk", limits.risk, head["risk"], ""),
            ("a loss", limits.loss, head["loss"], ""),
            ("a loss of the worst column", limits.worst_loss, head["worst_loss"], worst),
        )
        if limit is not None
    ]
    broken = [check for check in checks if not check.holds]
    if broken:
        raise PromiseError(
            "the limits of the plan are not met:\n" + "\n".join(f"  {check}" for check in broken),
            hint="Nothing was written. Change the method or its parameters; `taxomask compare` shows what is possible.",
        )
