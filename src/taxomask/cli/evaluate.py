"""``taxomask evaluate``: what a protected table costs and risks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError
from .protect import PlanFile
from .show import print_facts, print_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the utility and the risk of a protected table against the original one."""
    from ..carrying_out import read_for
    from ..evaluation import evaluate as measure
    from ..plan import Plan

    read = Plan.read(plan)
    _, before = read_for(read, original)
    _, after = read_for(read, protected, safe_cells=read.output.escape_cells)
    order = None if same_order or unlinked else _order(protected, audit, after.num_rows)
    found = measure(before, after, read.attributes, order=order, linked=False if unlinked else None)
    if output is not None:
        found.to_html(output)
    if json:
        return print_json(found.to_dict())
    names = {"risk": "share of records linked rightly", "loss": "loss (0 none, 1 all replaced by the mean)"}
    print_facts(
        f"{protected} against {original}",
        [(names.get(name, name.replace("_", " ")), f"{value:.4g}") for name, value in found.headline.items()],
    )
    if output is not None:
        print(f"The report is in {output}.")
    return None


def _order(protected: str, audit: Path | None, rows: int) -> NDArray[Any] | None:
    """The order in which rows were written, from the private audit; None if it was kept."""
    import json

    from ..publishing import audit_path, row_order

    path = audit or audit_path(protected)
    if not path.exists():
        raise DataError(
            f"{path}: the private audit of the release is not there, so that the order of its rows is not known.",
            hint="Name it with --audit; or say --same-order or --unlinked.",
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["rows"] == "kept":
            return None
        if record["records"] != rows:
            raise DataError(
                f"{path} tells of {record['records']:,} records; {protected} has {rows:,}.", hint="Name its own audit."
            )
        return row_order(record["seed"], rows)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not an audit of taxomask.", hint="Name the one written with the table.") from None
