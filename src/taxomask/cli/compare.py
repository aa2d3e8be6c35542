"""``taxomask compare``: many methods on one table, on a risk-utility map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import PlanError, did_you_mean
from .files import check_free
from .options import (
    Attackers,
    EngineName,
    Household,
    Json,
    Outside,
    Person,
    PlanFile,
    Quiet,
    Scheduler,
    TableOfPlan,
    named,
)
from .show import print_meanings, print_private_json, print_table, progress_bar

if TYPE_CHECKING:
    from ..comparison import Choice, RUMap, Weighted
    from ..engines import Engine
    from ..microdata import Microdata
    from ..plan import Plan

__all__ = ["compare"]


def compare(
    plan: PlanFile,
    data: TableOfPlan = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the map as an HTML page.")] = None,
    max_risk: Annotated[
        float | None, typer.Option(help="The largest acceptable risk; by default that of the plan's limits.")
    ] = None,
    max_disclosure: Annotated[
        float | None, typer.Option(help="The largest acceptable disclosure; by default that of the plan's limits.")
    ] = None,
    promise: Annotated[
        str | None, typer.Option(help="Choose among methods that promise this, such as k_anonymity or permutation.")
    ] = None,
    analysis: Annotated[
        str | None, typer.Option(help="Choose by what is kept of this analysis of the plan, not by the loss.")
    ] = None,
    attackers: Attackers = None,
    common_marginals: Annotated[
        bool, typer.Option("--common-marginals", help="Reverse-map every table first, for equal marginals.")
    ] = False,
    person: Person = None,
    household: Household = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many methods run at once in memory, or jobs (local, dask).")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=0, help="With a limit of risk: how long to search for the smallest k that meets it; 0: not at all."
        ),
    ] = 60.0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute everything anew.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page.")] = False,
    outside: Outside = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the methods under the plan's `compare:`, or its method and a few that fit, and show risk against loss.

    Nothing is released.
    """
    from ..comparison import search_weights
    from ..plan import Plan
    from ..plan.as_written import as_written
    from ..plan.run import table_of

    if output is not None:
        check_free(output, force=force)
    read = as_written(Plan.read(plan, outside=outside).counting(person=person, household=household), data)
    _check_analysis(analysis, read)
    risk = max_risk if max_risk is not None else read.limits.risk
    disclosure = max_disclosure if max_disclosure is not None else read.limits.disclosure
    how: dict[str, Any] = {
        "common_marginals": common_marginals,
        "attackers": named(attackers) or read.attackers,
        "workers": workers,
        "cache": not no_cache,
        "max_risk": risk,
        "max_disclosure": disclosure,
        "promise": promise,
    }
    read.attributes.check_decided()  # what is wrong with the table is no fault of any method
    read = read.on(engine, scheduler=scheduler)
    if read.engine.name != "memory":
        read = read.on(workers=workers)
    with table_of(read, data, str(output or "map.html"), None) as (_, where, table):
        with progress_bar("Comparing", quiet=quiet or json) as progress:
            found = _run(read, where, table, analyses=read.analyses, progress=progress, seconds=seconds, **how)
        if output is not None:
            found.to_html(output, max_risk=risk, max_disclosure=disclosure, promise=promise, analysis=analysis)
        chosen = risk is not None or disclosure is not None or promise is not None or analysis is not None
        best = found.best(risk, disclosure, promise, analysis=analysis) if chosen else None
        weighted = None
        in_memory = read.engine.name == "memory"
        if best is not None and analysis is not None and seconds > 0 and not common_marginals and in_memory:
            asked = next(one for one in read.analyses if one.name == analysis)
            native = table.frame.native
            weighted = search_weights(native, read.attributes, best.point, asked, **{**how, "seconds": 0})
    if json:
        choice = {"method": best.point.label, "reason": best.reason} if best else None
        weights = {} if weighted is None else {"weights": dict(weighted.weights)}
        print_private_json({**found.to_dict(), "best": choice, **weights})
    elif not quiet:
        _print(found, best, weighted, output)


def _check_analysis(name: str | None, plan: Plan) -> None:
    names = [one.name for one in plan.analyses]
    if name is not None and name not in names:
        hint = did_you_mean(name, names) if names else "Write 'analyses:' in the plan."
        raise PlanError(f"the plan has no analysis {name!r}.", hint=hint)


def _run(plan: Plan, engine: Engine, table: Microdata, **how: Any) -> RUMap:
    """The map of the plan's methods; an error if none of them could be run."""
    from ..comparison import compare as compare_methods
    from ..comparison import default_methods

    own = (plan.method,) if plan.method is not None else ()
    methods = plan.compare or (*own, *(one for one in default_methods(plan.attributes) if one not in own))
    found = compare_methods(table, table.schema, methods, engine=engine, **how)
    if not found.points:
        reasons = "".join(f"\n  {label}: {reason}" for label, reason in found.failed)
        raise PlanError(f"none of the methods could be run:{reasons}", hint="Change the plan's 'compare:'.")
    return found


_WIDE = ("interval_disclosure", "unchanged")  # a line has no room for them; the page and JSON have them


def _print(found: RUMap, best: Choice | None, weighted: Weighted | None, page: Path | None) -> None:
    from ..evaluation import OVERLAP, headline_figure
    from ..report.figures import number

    names = list(dict.fromkeys(name for point in found.points for name in point.numbers))
    overlaps = [name for name in names if name.startswith(OVERLAP)]
    columns = [name for name in names if name not in (*_WIDE, *overlaps)]
    rows = [
        (point.label, *(number(point.numbers.get(name), 4) for name in columns), "*" if point.front else "")
        for point in found.points
    ]
    print_table(["method", *(headline_figure(name).title for name in columns), "front"], rows)
    if overlaps:
        print("Analyses: how far their confidence intervals overlap with those of the original")
        shown = [(one.label, *(number(one.numbers.get(name), 4) for name in overlaps)) for one in found.points]
        print_table(["method", *(name.removeprefix(OVERLAP) for name in overlaps)], shown)
    print_meanings([name for name in names if name not in overlaps], found.protected)
    for label, reason in found.failed:
        print(f"Could not be run: {label}: {reason}")
    if found.searched:
        print("The smallest k, searched:")
        for words in found.searched:
            print(f"  {words}")
    if best:
        print(f"Best: {best.point.label}. {best.reason}")
    if weighted is not None:
        print(weighted)
        if weighted.weights:
            print("Write `weight:` for these columns in the plan.")
    if page is not None:
        print(f"The map is in {page}.")
