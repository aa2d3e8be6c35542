"""``taxomask inspect``: a first look at a table, and a plan to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import DataError
from .files import check_free, write_text
from .protect import Quiet
from .show import print_json, print_table

__all__ = ["inspect"]


def inspect(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A table: a file, or the address of a database table.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a plan to edit to this file.")] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="A role that you know already, as COLUMN=ROLE; repeat for several.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the plan.")] = False,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a table and draft a plan: kinds, candidate identifiers, matching taxonomies, missing codes."""
    from ..microdata import Role
    from ..microdata.clues import SPELLED
    from ..microdata.files import is_address, open_table
    from ..plan.draft import draft_plan, draft_schema

    if output is not None:
        check_free(output, force=force)
    source = open_table(data, text=True)
    table: Any = source if source.columnar else source.read()
    beside = None if is_address(data) else Path(data)
    schema = draft_schema(table, beside=beside, roles=_roles(role or []))
    rows = source.n if source.columnar else table.num_rows
    if output is not None:
        write_text(output, draft_plan(schema, data, output.parent))
    if json:
        return print_json({"rows": rows, **schema.to_dict()})
    if quiet:
        return None
    print(f"{source.where}: {rows:,} rows, {len(schema)} columns")
    print_table(
        ["column", "proposed role", "kind", "evidence"],
        [(name, str(one.role), str(one.kind or "–"), one.note) for name, one in schema.items()],
    )
    as_they_are = schema.by_role("other")
    if as_they_are:
        print(f"Released as they are, unless you give them another role: {', '.join(as_they_are)}.")
    spelled = [name for name, one in schema.items() if SPELLED in one.note and one.role != Role.IDENTIFIER]
    if spelled:
        print(f"Some values are spelled in several ways; write them alike: {', '.join(spelled)}.")
    if output is None:
        print(f"Draft a plan with:  taxomask inspect {data} -o plan.yaml")
    else:
        print(f"The plan is in {output}. Check every role; then")
        print(f"  taxomask compare --plan {output} -o map.html")
        print(f"  taxomask protect --plan {output} -o protected.csv --report report.html")
    return None


def _roles(given: list[str]) -> dict[str, str]:
    pairs = [one.rpartition("=") for one in given]
    for one, (name, _, role) in zip(given, pairs, strict=True):
        if not name or not role:
            raise DataError(f"--role {one}: write it as COLUMN=ROLE.", hint="Such as --role age=quasi_identifier.")
    return {name: role for name, _, role in pairs}
