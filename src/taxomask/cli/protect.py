"""``taxomask protect``: from a table and a plan to a verified release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    EngineName,
    Household,
    Json,
    Outside,
    Person,
    PlanFile,
    PopulationSize,
    Quiet,
    SamplingWeight,
    Scheduler,
    TableOfPlan,
    Workers,
)
from .show import print_facts, print_private_json, progress_bar

if TYPE_CHECKING:
    from ..plan.run import Outcome

__all__ = ["protect"]


def protect(
    plan: PlanFile,
    data: TableOfPlan = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where to write; the suffix says the format, a slash at the end a folder."),
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write a report (HTML) for the custodian.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeat a release (`taxomask seed` makes one); by default a new one.")
    ] = None,
    person: Person = None,
    household: Household = None,
    sampling_weight: SamplingWeight = None,
    population_size: PopulationSize = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what exists.")] = False,
    practice: Annotated[
        bool, typer.Option("--practice", help="Not for release: a seed that can be guessed is accepted, and marked.")
    ] = False,
    outside: Outside = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Protect a table as a plan says. Nothing is written unless every promise holds on what was read back from disk."""
    from ..plan import Plan
    from ..plan.run import run

    read = Plan.read(plan, outside=outside).counting(
        person=person, household=household, sampling_weight=sampling_weight, population_size=population_size
    )
    if seed is not None:
        read = read.model_copy(update={"seed": seed})
    read = read.on(engine, scheduler=scheduler, workers=workers)
    with progress_bar("Protecting", quiet=quiet or json) as progress:
        outcome = run(read, data=data, output=output, report=report, force=force, practice=practice, progress=progress)
    written = outcome.publication
    if json:
        return print_private_json(
            {
                "tables": list(written.tables),
                "audit": str(written.audit),
                "note": str(written.note),
                "report": str(outcome.report) if outcome.report else None,
                "checks": [vars(check) for check in written.checks],
                "accepted": [one.to_dict() for one in outcome.release.accepted],
                "notes": list(outcome.release.notes),
                "numbers": outcome.evaluation.to_dict()["headline"] if outcome.evaluation else None,
                "cover": outcome.cover(),
            }
        )
    if not quiet:
        _print(outcome)
    return None


def _print(outcome: Outcome) -> None:
    """Where everything is, and what was checked."""
    written = outcome.publication
    facts = [("protected", name) for name in written.tables]
    facts += [("for the custodian only", f"{written.audit} (how it was made; it can undo the protection)")]
    facts += [("to publish with it", str(written.note))]
    facts += [("report", str(outcome.report))] if outcome.report else []
    if "practice" in outcome.release.audit:
        print(f"{outcome.release.audit['practice'].capitalize()}.")
    print_facts("Written, after it was read back and checked:", facts)
    if outcome.release.accepted:
        print_facts("\nAccepted, though it may tell more", [("", str(one)) for one in outcome.release.accepted])
    print_facts("\nPromises", [("", str(check)) for check in written.checks])
    notes = outcome.release.to_know()
    if notes:
        print_facts("\nTo know", [("", note) for note in notes])
