"""``taxomask inspect``: a first look at a table, and a plan to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support.spelling import listing
from ..errors import DataError
from .files import check_free, write_text
from .options import Household, Json, Outside, Person, PopulationSize, Quiet, SamplingWeight
from .risk import show_risk
from .show import print_private_json, print_table, print_text

if TYPE_CHECKING:
    from ..microdata import Microdata, Schema
    from ..microdata.files import Source
    from ..plan import Plan

__all__ = ["inspect"]


def inspect(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A table: a file, or the address of a database table.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a plan to edit to this file.")] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="A role that you decide, as COLUMN=ROLE; repeat for several. COLUMN may be a pattern such as 'dx*'; "
            "'*=other' releases all that is undecided as it is."
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(help="The sheet of a workbook, if it has several; elsewhere it is named as book.xlsx#SHEET."),
    ] = None,
    person: Person = None,
    household: Household = None,
    sampling_weight: SamplingWeight = None,
    population_size: PopulationSize = None,
    risk: Annotated[
        bool,
        typer.Option("--risk", help="Show what must be protected: who stands out and by which columns, for you alone."),
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", "-p", help="With --risk: roles, people and weights are those of this plan."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the plan.")] = False,
    outside: Outside = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Look at a table and draft a plan: roles, kinds, taxonomies, missing codes, and what you have to decide."""
    from ..microdata.files import is_address, open_table
    from ..plan import Plan
    from ..plan.draft import draft_plan, draft_schema
    from ..plan.first_look import FirstLook

    data = data if sheet is None else f"{data}#{sheet}"
    if plan is not None:
        if not risk or output is not None or role:
            raise DataError("--plan goes with --risk alone.", hint="Say --risk, and leave out --output and --role.")
        said = {"person": person, "household": household, "sampling_weight": sampling_weight}
        read = Plan.read(plan, outside=outside).counting(**said, population_size=population_size)
        return show_risk(*_of_plan(data, read), quiet=quiet, json=json)
    if output is not None:
        check_free(output, force=force)
    source = open_table(data, text=True)
    look = FirstLook(source)
    beside = None if is_address(data) else Path(data)
    people = {"person": person, "household": household}
    schema = draft_schema(look, beside=beside, roles=_roles(role or []), people=people, source=source)
    sample = {"sampling_weight": sampling_weight, "population_size": population_size}
    schema = schema.of(schema.values(), **{key: value for key, value in sample.items() if value is not None})
    if output is not None:
        write_text(output, draft_plan(schema, data, output.parent))
    if json and risk:
        return show_risk(source.where, _coded(source, schema), quiet=quiet, json=True)
    if json:
        return print_private_json({"rows": look.n, "undecided": list(schema.undecided), **schema.to_dict()})
    if quiet:
        return None
    _print_columns(source, look.n, schema)
    _print_units(schema, people)
    _print_decisions(schema)
    if risk:
        show_risk(source.where, _coded(source, schema), quiet=quiet, json=False)
    _print_next(data, output, schema)
    return None


def _print_columns(source: Source, rows: int, schema: Schema) -> None:
    """The table as it was read, and what each column seems to be."""
    print_text(f"{source.where}: {rows:,} rows, {len(schema)} columns")
    if others := getattr(source, "others", ()):
        print_text(f"This is the sheet {source.sheet}; not looked at, and not released: {', '.join(others)}.")  # type: ignore[attr-defined]
    if above := getattr(source, "above", ()):
        row = source.header_row  # type: ignore[attr-defined]
        print_text(f"The names of the columns stand in row {row}; not looked at above them: {listing(above)}.")
    if below := getattr(source, "below", ()):
        print_text(f"Not a record, and not looked at, is what stands below the table: {listing(below)}.")
    for sentence in source.told:
        print_text(sentence)
    print_table(
        ["column", "proposed role", "kind", "evidence"],
        [(name, str(one.role), str(one.kind or "–"), one.note) for name, one in schema.items()],
    )


def _print_units(schema: Schema, said: dict[str, str | None]) -> None:
    """Whom k, l and t count."""
    alone = schema.household is None
    counted = {
        "person": f"{'k, l' if alone else 'l'} and t count different people",
        "household": "k counts different households",
    }
    for key, counts in counted.items():
        name = getattr(schema, key)
        if name is not None:
            how = "as you said" if said[key] else "proposed, as its values stand in several rows"
            print_text(f"The {key} of a row is {name} ({how}): {counts}.")


def _print_decisions(schema: Schema) -> None:
    """What is undecided, what is released as it is, and what should be mended in the table."""
    from ..microdata import Role
    from ..microdata.clues import SPELLED

    if schema.undecided:
        print_text(f"For you to decide, {len(schema.undecided)} of {len(schema)}: {', '.join(schema.undecided)}.")
    else:
        print_text("No column is undecided.")
    as_they_are = [name for name in schema.by_role(Role.OTHER) if schema[name].follows is None]
    following = [name for name in schema.by_role(Role.OTHER) if schema[name].follows is not None]
    if following:
        print_text(f"Released as they belong to what is released of another column: {', '.join(following)}.")
    if as_they_are:
        print_text(f"Released as they are, as you decided: {', '.join(as_they_are)}.")
    spelled = [name for name, one in schema.items() if SPELLED in one.note and one.role != Role.IDENTIFIER]
    if spelled:
        print_text(f"Some values are spelled in several ways; write them alike: {', '.join(spelled)}.")


def _print_next(data: str, plan: Path | None, schema: Schema) -> None:
    """The commands that come next."""
    if plan is None:
        print(f"Draft a plan with:  taxomask inspect {shlex.quote(data)} -o plan.yaml")
        return
    first = "Decide what is undecided, and check" if schema.undecided else "Check"
    print_text(f"The plan is in {plan}. {first} every role; then")
    named = shlex.quote(str(plan))
    print(f"  taxomask compare --plan {named} -o map.html")
    print(f"  taxomask protect --plan {named} -o protected.csv --report report.html")


def _of_plan(data: str, plan: Plan) -> tuple[str, Microdata]:
    from ..microdata import Microdata
    from ..plan.run import naming, read_for

    source, table = read_for(plan, data)
    with naming(source):
        return source.where, Microdata.from_frame(table, plan.attributes)


def _coded(source: Source, schema: Schema) -> Microdata:
    """The quasi-identifiers of a draft, as far as they can be coded without decisions."""
    from ..microdata import Microdata, Role

    wanted = [one for one in schema.values() if one.role == Role.QUASI_IDENTIFIER and one.kind is not None]
    if not wanted:
        raise DataError(
            "no column is drafted as a quasi-identifier, so that nobody stands out.",
            hint="Say which columns an intruder may know, such as --role age=quasi_identifier.",
        )
    named = [one for one in schema.values() if one.name in (schema.person, schema.household, schema.sampling_weight)]
    every = [*wanted, *(one for one in named if one not in wanted)]
    return Microdata.from_frame(source.read([one.name for one in every]), schema.of(every))


def _roles(given: list[str]) -> dict[str, str]:
    pairs = [one.rpartition("=") for one in given]
    for one, (name, _, role) in zip(given, pairs, strict=True):
        if not name or not role:
            raise DataError(f"--role {one}: write it as COLUMN=ROLE.", hint="Such as --role age=quasi_identifier.")
    return {name: role for name, _, role in pairs}
