"""``taxomask verify-record``: what a person sees of their own record in a released table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import DataError
from .options import Json
from .show import print_json

__all__ = ["verify_record"]


def verify_record(
    release: Annotated[str, typer.Option("--release", metavar="TABLE", help="The released table.")],
    record: Annotated[
        Path, typer.Option("--record", metavar="FILE", help='Your own record, as JSON: {"age": 41, "dx": "25001"}.')
    ],
    note: Annotated[
        Path | None, typer.Option(help="The public note of the table; by default the one that lies beside it.")
    ] = None,
    taxonomy: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=FILE", help="The taxonomy of a column, if it is not shipped with taxomask."),
    ] = None,
    json: Json = False,
) -> None:
    """See how far the records of a released table are from your own. The original table is not needed."""
    from dataclasses import asdict

    from ..microdata.files import open_table
    from ..release.places import beside
    from ..release.subject import PublicTable
    from ..release.subject import verify_record as verify
    from ..taxonomy import Taxonomy

    where = note or beside(release, ".note.md")
    public = PublicTable.of_note(
        _read(where, "The note that was published with the table is needed: --note FILE."), str(where)
    )
    mine = _record(record)
    taxonomies = {}
    for one in taxonomy or []:
        column, equals, file = one.partition("=")
        if not equals:
            raise DataError(f"--taxonomy takes COLUMN=FILE; got {one!r}.", hint="Write, for example, dx=icd.csv.")
        taxonomies[column] = Taxonomy.read(file)
    numbers = {"notation", "open_ends"}
    texts = [one for one, said in public.columns.items() if said.get("kind") != "continuous" or numbers & said.keys()]
    known = open_table(release).names
    table = open_table(release, text=[name for name in texts if name in known], safe_cells=True).read()
    found = verify(table, mine, public, taxonomies)
    if json:
        return print_json(asdict(found))
    print(found)
    return None


def _record(path: Path) -> dict[str, object]:
    import json

    try:
        found = json.loads(_read(path, "Write your record to a file, and name it."))
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise DataError(
            f"{path} is no record.", hint='Write your values by column, as JSON: {"age": 41, "dx": "25001"}.'
        )
    return found


def _read(path: Path, hint: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read.", hint=hint) from None
