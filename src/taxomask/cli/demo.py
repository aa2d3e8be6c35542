"""``taxomask demo``: the whole job on a shipped table of real discharges."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._support.parameters import check_integer
from ..errors import DataError
from .show import print_facts, print_figures, print_meanings, print_table, progress_bar, share

if TYPE_CHECKING:
    from ..methods import Method
    from ..plan import Plan
    from ..plan.run import Outcome

__all__ = ["demo"]

FOLDER = Path("taxomask-demo")
KNOWN = {  # decided after the draft
    **dict.fromkeys(("age", "sex", "race", "region", "n_beds", "care_days", "dx01"), "quasi_identifier"),
    "id": "identifier",
    "pc01": "confidential",
}


def demo(
    k: Annotated[int, typer.Option(help="The smallest group of records that share all values.")] = 5,
    refined: Annotated[bool, typer.Option("--refined", help="Search for groups of lower loss.")] = False,
    folder: Annotated[
        Path | None, typer.Option(help=f"Where to put everything; by default {FOLDER}, or {FOLDER}-2 if that exists.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what an earlier demo wrote to the folder.")] = False,
) -> None:
    """Take 2,000 real hospital discharges from a first look to a protected table with a report."""
    from ..methods import Microaggregation
    from ..plan import Plan
    from ..plan.run import run

    check_integer("k", k, at_least=2, hint="Groups of one record protect nobody.")
    place = _new_folder(folder, force)
    _about_the_codes()
    _inspect(place, Microaggregation(k, algorithm="refined" if refined else "mdav"))
    plan = Plan.read(place / "plan.yaml")
    with progress_bar("Comparing methods") as progress:
        _compare(plan, place, progress)
    protected, report = place / "protected.csv", place / "report.html"
    with progress_bar("Protecting") as progress:
        outcome = run(plan, output=str(protected), report=str(report), force=force, progress=progress)
    _about_the_release(outcome)
    _before_and_after(outcome)
    print_facts(
        "Where to look",
        [
            (str(report), "what was done, what it promises, what it costs and what it risks"),
            (str(place / "map.html"), "risk against loss of all that was compared"),
            (str(protected), "the protected table"),
            (str(place / "plan.yaml"), "the plan; change it, and run"),
            ("", f"taxomask protect --plan {place / 'plan.yaml'} -o {protected} --report {report} --force"),
        ],
    )


def _new_folder(asked: Path | None, force: bool) -> Path:
    """A folder in which nothing is overwritten that is not meant to be."""
    folder = asked or FOLDER
    if asked is None and not force:
        numbered = (FOLDER.with_name(f"{FOLDER.name}-{number}") for number in count(2))
        folder = next(one for one in chain([FOLDER], numbered) if not one.exists())
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is not a folder.", hint="Choose another one with --folder.")
    if folder.exists() and not force and any(folder.iterdir()):
        raise DataError(
            f"{folder} is not empty.", hint="Choose another one, or overwrite an earlier demo with --force."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder} cannot be made: {error.strerror}.", hint="Choose another one with --folder."
        ) from None
    return folder


def _about_the_codes() -> None:
    from .. import examples
    from ..microdata import read_table
    from ..microdata.coverage import coverage
    from ..semantics import distance_correlation, marginality, nominal_mean
    from ..taxonomy import Taxonomy

    icd, procedures = Taxonomy.builtin("icd9cm"), Taxonomy.builtin("icd9cm_procedures")
    table = read_table(examples.path(), ["dx01", "pc01"], text=True)  # as text, so that leading zeros survive
    codes = table["dx01"]
    found, middle, m = coverage(codes, icd), nominal_mean(codes, icd), marginality(codes, icd)
    edge = codes[int(m.argmax())].as_py()
    correlation = distance_correlation(codes, table["pc01"], icd, procedures)
    print_facts(
        "2,000 real discharges of US hospitals in 2010 (NHDS public-use file), and their diagnoses in ICD-9-CM",
        [
            ("taxonomy", repr(icd)),
            ("codes in the taxonomy", share(found.mapped_cells, found.cells)),
            ("distinct codes", f"{found.values:,}, of these inner nodes {share(found.inner_values, found.values)}"),
            ("the middle of the data", f"{middle} ({icd[middle].label}), marginality {m.min():,.1f}"),
            ("the edge of the data", f"{edge} ({icd[edge].label}), marginality {m.max():,.1f}"),
            ("semantic correlation", f"{correlation:.3f} between diagnosis and procedure"),
        ],
    )
    print("  Marginality is the sum of the semantic distances of a code to the codes of all records. A semantic")
    print("  correlation is 0 for no connection and 1 for a complete one.")


def _inspect(place: Path, method: Method) -> None:
    """The table, looked at; the plan drafted, with what a custodian would decide."""
    from .. import examples
    from ..microdata import read_table
    from ..plan.draft import draft_plan, draft_schema

    data = place / examples.path().name
    shutil.copyfile(examples.path(), data)
    schema = draft_schema(read_table(data, text=True), roles=KNOWN)
    (place / "plan.yaml").write_text(draft_plan(schema, str(data), place, method), encoding="utf-8")
    print("\n1. Inspect: the roles are decided; an insurer knows the hospital, the days and the diagnosis")
    print_table(
        ["column", "role", "kind", "evidence"],
        [(name, str(one.role), str(one.kind), one.note) for name, one in schema.items()],
    )


def _compare(plan: Plan, place: Path, progress: Callable[[float], None]) -> None:
    from ..comparison import compare
    from ..plan.run import read_for

    _, table = read_for(plan)
    found = compare(table, plan.attributes, plan.compare, progress=progress)
    found.to_html(place / "map.html")
    print("2. Compare: what can be had. * marks what nothing else beats in risk and loss")
    rows = [
        (one.label, f"{one.risk:.3f}", f"{one.loss:.3f}", _worst(one.numbers), "*" if one.front else "")
        for one in found.points
    ]
    print_table(["method", "risk", "loss", "worst column", ""], rows)
    print_meanings(["risk", "loss", "worst_column"], found.protected)


def _worst(numbers: Mapping[str, Any]) -> str:
    return "–" if numbers["worst_column"] is None else f"{numbers['worst_column']} ({numbers['worst_loss']:.3f})"


def _about_the_release(outcome: Outcome) -> None:
    written = outcome.publication
    print_facts(
        f"3. Protect: {outcome.release.audit['method']}, checked on what was read back from disk",
        [("", str(check)) for check in written.checks],
    )
    if outcome.evaluation is None:
        return
    print("\n4. Report: what it cost and what it risks")
    print_figures(outcome.evaluation.headline)
    overall = outcome.evaluation.utility.overall
    if overall is not None:
        protected = [(name, f"{overall.each[name]:.4f}") for name in outcome.evaluation.protected]
        print_facts("The loss of each protected column", protected)


def _before_and_after(outcome: Outcome) -> None:
    from ..taxonomy import Taxonomy

    icd = Taxonomy.builtin("icd9cm")
    print("\nBefore and after, the first records")
    names = ["age", "sex", "region", "n_beds", "care_days", "dx01"]
    rows = []
    for when, frame in (("before", outcome.release.original.to_frame()), ("after", outcome.release.data)):
        for record in frame.select(names).slice(0, 3).to_pylist():
            shown = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in record.values()]
            rows.append((when, *shown, icd[record["dx01"]].label))
    print_table(["", *names, "label"], rows)
