"""``taxomask compare``: many methods on one table, on a risk-utility map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import PlanError
from .files import check_free
from .protect import PlanFile, Quiet
from .show import print_json, print_table, progress_bar

__all__ = ["compare"]


def compare(
    plan: PlanFile,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="The table; by default the one that the plan names.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the map as an HTML page.")] = None,
    max_risk: Annotated[
        float | None, typer.Option(help="The largest acceptable risk; by default that of the plan's limits.")
    ] = None,
    common_marginals: Annotated[
        bool, typer.Option("--common-marginals", help="Reverse-map every table first, for equal marginals.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="How many methods run at once.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute everything anew.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page.")] = False,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the methods under the plan's `compare:` and show risk against loss. Nothing is released."""
    from ..carrying_out import naming, read_for
    from ..comparison import compare as run
    from ..microdata import Microdata
    from ..plan import Plan

    if output is not None:
        check_free(output, force=force)
    read = Plan.read(plan)
    source, table = read_for(read, data)
    with naming(source):
        Microdata.from_frame(table, read.attributes)  # what is wrong with the table is no fault of any method
    methods = read.compare or ((read.method,) if read.method is not None else ())
    limit = max_risk if max_risk is not None else read.limits.risk
    with progress_bar("Comparing", quiet=quiet or json) as progress:
        found = run(
            table,
            read.attributes,
            methods,
            common_marginals=common_marginals,
            workers=workers,
            cache=not no_cache,
            progress=progress,
        )
    if not found.points:
        reasons = "".join(f"\n  {label}: {reason}" for label, reason in found.failed)
        raise PlanError(f"none of the methods could be run:{reasons}", hint="Change the plan's 'compare:'.")
    if output is not None:
        found.to_html(output, max_risk=limit)
    best = found.best(limit) if limit is not None else None
    if json:
        choice = {"method": best.point.label, "reason": best.reason} if best else None
        return print_json({**found.to_dict(), "best": choice})
    if quiet:
        return None
    columns = list(dict.fromkeys(name for point in found.points for name in point.numbers))
    rows = [
        (point.label, *(_shown(point.numbers.get(name)) for name in columns), "*" if point.front else "")
        for point in found.points
    ]
    print_table(["method", *columns, "front"], rows)
    for label, reason in found.failed:
        print(f"Could not be run: {label}: {reason}")
    if best:
        print(f"Best: {best.point.label}. {best.reason}")
    if output is not None:
        print(f"The map is in {output}.")
    return None


def _shown(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:.4g}"
