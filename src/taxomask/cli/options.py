"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Attackers", "EngineName", "Household", "Json", "Outside", "Person", "PlanFile", "PopulationSize", "Quiet",
    "SamplingWeight", "Scheduler", "TableOfPlan", "Workers", "named",
]  # fmt: skip

PlanFile = Annotated[Path, typer.Option("--plan", "-p", help="The plan, a YAML file; `taxomask inspect` drafts one.")]
Person = Annotated[
    str | None,
    typer.Option(help="The column, an identifier, that names the person of a row: k, l and t count people, not rows."),
]
Household = Annotated[
    str | None, typer.Option(help="The column, an identifier, that names the household of a row: k counts households.")
]
SamplingWeight = Annotated[
    str | None,
    typer.Option(help="The column of numbers that says for how many people of the population a row stands."),
]
PopulationSize = Annotated[
    int | None, typer.Option(min=1, help="How many people the population has that the table is a sample of.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing unless something is wrong.")]

Attackers = Annotated[
    str | None,
    typer.Option(help="Who tries to find people, such as nearest,partial; by default those of the plan, or all."),
]
TableOfPlan = Annotated[
    str | None, typer.Argument(metavar="[DATA]", help="The table; by default the one that the plan names.")
]
Outside = Annotated[
    bool, typer.Option("--outside", help="The plan may name files outside its folder, databases and clusters.")
]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="Where the work is done: memory, local (from files) or dask (a cluster).")
]
Scheduler = Annotated[str | None, typer.Option(help="The address of a running Dask scheduler.")]
Workers = Annotated[int | None, typer.Option(min=1, help="How many jobs run at a time (local, dask).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def named(names: str | None) -> tuple[str, ...] | None:
    """The names in a list with commas."""
    return None if names is None else tuple(name.strip() for name in names.split(",") if name.strip())
