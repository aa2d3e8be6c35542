"""``taxomask inspect``: a first look at a table, and a plan to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import DataError
from .files import check_free, write_text
from .protect import Household, Person, Quiet
from .show import print_private_json, print_table, print_text

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
    person: Person = None,
    household: Household = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the plan.")] = False,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a table and draft a plan: roles, kinds, taxonomies, missing codes, and what you have to decide."""
    from ..microdata import Role
    from ..microdata.clues import SPELLED
    from ..microdata.files import is_address, open_table
    from ..plan.draft import draft_plan, draft_schema

    if output is not None:
        check_free(output, force=force)
    source = open_table(data, text=True)
    table: Any = source if source.columnar else source.read()
    beside = None if is_address(data) else Path(data)
    people = {"person": person, "household": household}
    schema = draft_schema(table, beside=beside, roles=_roles(role or []), people=people)
    rows = source.n if source.columnar else table.num_rows
    if output is not None:
        write_text(output, draft_plan(schema, data, output.parent))
    if json:
        return print_private_json({"rows": rows, "undecided": list(schema.undecided), **schema.to_dict()})
    if quiet:
        return None
    print_text(f"{source.where}: {rows:,} rows, {len(schema)} columns")
    print_table(
        ["column", "proposed role", "kind", "evidence"],
        [(name, str(one.role), str(one.kind or "–"), one.note) for name, one in schema.items()],
    )
    counted = {"person": "people", "household": "households"}
    for key, unit in counted.items():
        name, given = getattr(schema, key), people[key]
        if name is not None:
            how = "as you said" if given else "proposed, as its values stand in several rows"
            print_text(f"The {key} of a row is {name} ({how}): k counts different {unit}.")
    if schema.undecided:
        print_text(f"For you to decide, {len(schema.undecided)} of {len(schema)}: {', '.join(schema.undecided)}.")
    else:
        print_text("No column is undecided.")
    as_they_are = schema.by_role(Role.OTHER)
    if as_they_are:
        print_text(f"Released as they are, as you decided: {', '.join(as_they_are)}.")
    spelled = [name for name, one in schema.items() if SPELLED in one.note and one.role != Role.IDENTIFIER]
    if spelled:
        print_text(f"Some values are spelled in several ways; write them alike: {', '.join(spelled)}.")
    if output is None:
        print(f"Draft a plan with:  taxomask inspect {data} -o plan.yaml")
    else:
        first = "Decide what is undecided, and check" if schema.undecided else "Check"
        print_text(f"The plan is in {output}. {first} every role; then")
        print(f"  taxomask compare --plan {output} -o map.html")
        print(f"  taxomask protect --plan {output} -o protected.csv --report report.html")
    return None


def _roles(given: list[str]) -> dict[str, str]:
    pairs = [one.rpartition("=") for one in given]
    for one, (name, _, role) in zip(given, pairs, strict=True):
        if not name or not role:
            raise DataError(f"--role {one}: write it as COLUMN=ROLE.", hint="Such as --role age=quasi_identifier.")
    return {name: role for name, _, role in pairs}
