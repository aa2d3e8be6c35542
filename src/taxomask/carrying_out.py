"""A plan carried out: read, protect, measure, verify, write, report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .comparison import compared_before
from .errors import DataError, PlanError, PromiseError, SchemaError
from .evaluation import Evaluation, evaluate_release
from .methodology import methodology
from .methods import Check, Progress
from .microdata import Kind
from .microdata.files import Source, format_of, is_address, open_table
from .plan import Limits, Plan
from .publishing import Publication, publish
from .release import Release, protect

__all__ = ["Outcome", "carry_out", "naming", "read_for"]


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
    progress: Progress | None = None,
) -> Outcome:
    """Protect a table as a plan says, and write it.

    Parameters
    ----------
    plan
        The plan.
    data, output, report
        The table, where to write, and where to write the report; by default what the plan says.
    force
        Overwrite what exists.
    progress
        Called with the fraction of the masking that is done.
    """
    target = output or (plan.output.path and plan.located(plan.output.path))
    page = report or (plan.output.report and plan.located(plan.output.report))
    if plan.method is None:
        raise PlanError("the plan names no method.", hint="Write 'method: {name: microaggregation, k: 5}'.")
    if not target:
        raise PlanError("there is no place to write to.", hint="Pass --output FILE, or write 'output: {path: …}'.")
    format_of(target)
    for path in (target, page):
        if path and not is_address(path):
            _check_place(Path(path), data or (plan.data and plan.located(plan.data)), force=force)
    source, table = read_for(plan, data)
    with naming(source):
        release = protect(table, plan.attributes, plan.method, seed=plan.seed, progress=progress)
        _stop_if_void(release)
    limits = plan.limits
    measured = page or limits.risk is not None or limits.loss is not None
    evaluation = evaluate_release(release) if measured else None
    if evaluation is not None:
        _stop_if_beyond(limits, evaluation)
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
        shown = found.page(limits.risk) if found.points else None
        evaluation.to_html(page, release=release, method=plan.method, compared=shown)
    return Outcome(release, publication, evaluation, Path(page) if page else None)


def read_for(plan: Plan, data: str | None = None, *, safe_cells: bool = False) -> tuple[Source, Any]:
    """The table of a plan, with codes and categories as text, so that leading zeros survive."""
    where = data or (plan.data and plan.located(plan.data))
    if not where:
        raise PlanError("there is no table to protect.", hint="Name one, or write 'data: …' in the plan.")
    known = open_table(where).names
    texts = [name for name, one in plan.attributes.items() if one.kind != Kind.CONTINUOUS and name in known]
    source = open_table(where, text=texts, safe_cells=safe_cells)
    return source, source.read()


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
    checks = [
        Check(f"{name} of at most {limit:g}", value <= limit, f"it is {value:.4g}")
        for name, limit, value in (
            ("a risk", limits.risk, evaluation.headline["risk"]),
            ("a loss", limits.loss, evaluation.headline["loss"]),
        )
        if limit is not None
    ]
    broken = [check for check in checks if not check.holds]
    if broken:
        raise PromiseError(
            "the limits of the plan are not met:\n" + "\n".join(f"  {check}" for check in broken),
            hint="Nothing was written. Change the method or its parameters; `taxomask compare` shows what is possible.",
        )
