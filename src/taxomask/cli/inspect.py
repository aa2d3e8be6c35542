"""``taxomask inspect``: a first look at a table, and a plan to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import DataError
from .show import print_json, print_table

__all__ = ["inspect"]


def inspect(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A table: a file, or the address of a database table.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a plan to edit to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the plan.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a table and draft a plan: kinds, candidate identifiers, matching taxonomies, missing codes."""
    from ..drafting import draft_plan, propose_roles
    from ..microdata import infer
    from ..microdata.files import open_table
    from ..publishing import is_address

    if output is not None and output.exists() and not force:
        raise DataError(f"{output} exists already.", hint="Choose another name, or overwrite it with --force.")
    source = open_table(data, text=True)
    table = source.read()
    if output is not None:
        named = data if is_address(data) else _seen_from(output.parent, Path(data))
        output.write_text(draft_plan(table, named), encoding="utf-8")
    schema = propose_roles(infer(table))
    if json:
        return print_json({"rows": table.num_rows, **schema.to_dict()})
    print(f"{source.where}: {table.num_rows:,} rows, {table.num_columns} columns")
    print_table(
        ["column", "proposed role", "kind", "evidence"],
        [(name, str(one.role), str(one.kind or "–"), one.note) for name, one in schema.items()],
    )
    if output is None:
        print(f"Draft a plan with:  taxomask inspect {data} -o plan.yaml")
    else:
        print(f"The plan is in {output}. Check every role, then:  taxomask protect --plan {output} -o protected.csv")


def _seen_from(folder: Path, path: Path) -> str:
    """A path as the plan in this folder should name it."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return str(path.resolve())
