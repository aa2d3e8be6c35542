"""``taxomask evaluate``: what a protected table costs and risks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError
from .files import check_free
from .options import (
    Attackers,
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
    Workers,
    named,
)
from .show import attack_rows, print_analysis, print_figures, print_private_json, print_table, progress_bar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..evaluation import Evaluation
    from ..methods import Method

__all__ = ["evaluate"]


def evaluate(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The table before protection.")],
    protected: Annotated[str, typer.Argument(metavar="PROTECTED", help="The protected table.")],
    plan: PlanFile,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a report (HTML).")] = None,
    audit: Annotated[
        Path | None, typer.Option(help="The private audit, which knows the order of rows; by default beside PROTECTED.")
    ] = None,
    same_order: Annotated[
        bool, typer.Option("--same-order", help="There is no audit: the rows of both tables are in the same order.")
    ] = False,
    unlinked: Annotated[
        bool, typer.Option("--unlinked", help="The rows do not correspond, as those of fully synthetic tables.")
    ] = False,
    attackers: Attackers = None,
    person: Person = None,
    household: Household = None,
    sampling_weight: SamplingWeight = None,
    population_size: PopulationSize = None,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Write the chance of each record to be found, and the columns that single it out, to this CSV file; "
            "for the custodian alone (call it risk.private.csv)."
        ),
    ] = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    everything: Annotated[bool, typer.Option("--all", help="Print every measure, not only what sums it up.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the report.")] = False,
    outside: Outside = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure the utility and the risk of a protected table against the original one."""
    from ..evaluation import Known, check_analyses, check_attackers, evaluate_on
    from ..plan import Plan
    from ..plan.run import naming, two_tables
    from ..release.in_place import find_audit
    from ..release.places import audit_path

    for path in (output, records):
        if path is not None:
            check_free(path, force=force)
    read = Plan.read(plan, outside=outside).counting(
        person=person, household=household, sampling_weight=sampling_weight, population_size=population_size
    )
    read = read.on(engine, scheduler=scheduler, workers=workers)
    trying = check_attackers(named(attackers) or read.attackers)
    with two_tables(read, original, protected) as (where, before, after, target):
        order, linked, method = None, not unlinked, None
        if not same_order and not unlinked:
            order, linked, method = _from_audit(
                protected, audit or find_audit(audit_path(protected), protected), after.frame.n
            )
        with naming(target), progress_bar("Measuring", quiet=quiet or json) as progress:
            asked = check_analyses(read.analyses, before.schema)
            known = Known(linked, method=method, attackers=trying, analyses=asked)
            found = evaluate_on(where.telling(progress), before, after, known, order)
        if output is not None:
            found.to_html(output)
        if records is not None:
            _write_records(records, found)
        if json:
            return print_private_json(found.to_dict())
    if not quiet:
        print(f"{protected} against {original}")
        _print(found, everything=everything)
        if output is not None:
            print(f"The report is in {output}.")
        if records is not None:
            print(f"The records at risk are in {records}, for you alone.")
    return None


def _print(found: Evaluation, *, everything: bool) -> None:
    """What sums it up, every attacker and analysis, and all measures if that is asked for."""
    from ..report.figures import number

    print_figures(found.headline)
    print_table(["attacker", "share", "from", "to", "random guess", "how"], attack_rows(found))
    for name, one in found.analyses.items():
        print_analysis(name, one)
    if everything:
        rows = [(title, number(value, 4), one.paper, one.about) for _, title, one, value in found.figures()]
        print_table(["measure", "value", "in the papers", "what it means"], rows)
    if everything and found.sampled:
        rows = [
            (title, number(value, 4), number(low, 4), number(high, 4))
            for title, value, low, high, _ in found.sampled_figures()
        ]
        taken = next(iter(found.sampled.values()))
        print(f"Taken on a random {taken.records:,} of {taken.of:,} records, with 95 % intervals:")
        print_table(["measure", "value", "from", "to"], rows)
    elif found.sampled:
        taken = next(iter(found.sampled.values()))
        print(f"Some measures were taken on a random {taken.records:,} of {taken.of:,} records: see --all.")
    print(f"Protected columns: {', '.join(found.protected) or 'none'}.")


def _write_records(path: Path, found: Evaluation) -> None:
    """Every record, the one that is found most easily first; no values, but rows of the original table."""
    import csv
    import io

    from .._support.temporary import write_whole

    risky = found.records_at_risk
    if risky is None:
        raise DataError(
            "the records are not linked, so that none of them can be found.", hint="Leave out --records or --unlinked."
        )
    rows = risky.worst(None)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(rows[0] if rows else ["row"])
    for one in rows:
        writer.writerow(["; ".join(cell) if isinstance(cell, list) else cell for cell in one.values()])
    write_whole(path, text.getvalue())


def _from_audit(protected: str, path: Path, rows: int) -> tuple[NDArray[Any] | None, bool, Method]:
    """What the private audit knows: the order in which rows were written, whether they correspond, and the method."""
    import json

    from ..microdata.files import is_address
    from ..plan import make_method
    from ..release.in_place import belongs
    from ..release.released import row_order
    from ..release.write import IN_CHUNKS, SHUFFLED

    if not path.exists():
        raise DataError(
            f"{path}: the private audit of the release is not there, so that the order of its rows is not known.",
            hint="Name it with --audit; or say --same-order or --unlinked.",
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        own = record["records"] == rows
        own = own and (is_address(protected) or belongs(record, Path(protected)))
        kept, in_chunks = record["rows"] == "kept", {SHUFFLED: False, IN_CHUNKS: True}
        order = None if kept else row_order(record["draws"], rows, in_chunks=in_chunks[record["rows"]])
        linked = bool(record["linked"])
        method = make_method({"name": record["method"], **record["parameters"]})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path} is not an audit of taxomask.", hint="Name the one written with the table.") from None
    if not own:
        raise DataError(
            f"{path} is the audit of another table than {protected}, or the table was changed since.",
            hint="Name its own audit with --audit; or say --same-order or --unlinked.",
        )
    return order if linked else None, linked, method
