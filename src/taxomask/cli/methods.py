"""``taxomask methods``: what can be done, as the methods declare it."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import PlanError, did_you_mean
from .show import print_json, print_table

if TYPE_CHECKING:
    from ..methods import Method

__all__ = ["markdown", "methods", "schema"]


def methods(
    name: Annotated[str | None, typer.Argument(metavar="METHOD", help="Tell about this method only.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the protection methods, or tell all about one of them."""
    from ..methods import METHODS

    if name is None:
        if json:
            return print_json([_facts(method) for method in METHODS.values()])
        return print_table(
            ["method", "what it does", "parameters"],
            [(key, method.about, ", ".join(_signature(method))) for key, method in METHODS.items()],
        )
    if name not in METHODS:
        raise PlanError(f"there is no method {name!r}.", hint=did_you_mean(name, METHODS))
    method = METHODS[name]
    if json:
        return print_json(_facts(method))
    print(f"{name}({', '.join(_signature(method))})\n\n{inspect.getdoc(method)}")


def schema() -> None:
    """Print the JSON schema of a plan, with which editors complete and check it."""
    from ..plan import plan_json_schema

    print_json(plan_json_schema())


def markdown() -> str:
    """The table of methods for the docs."""
    from ..methods import METHODS

    rows = [f"| `{method.__name__}` | {method.about} | {method.reference} |" for method in METHODS.values()]
    return "\n".join(["| method | what it does | paper |", "|---|---|---|", *rows]) + "\n"


def _facts(method: type[Method]) -> dict[str, Any]:
    return {
        "name": method.name,
        "class": method.__name__,
        "about": method.about,
        "reference": method.reference,
        "parameters": _signature(method),
    }


def _signature(method: type[Method]) -> list[str]:
    """The parameters, as they are written in Python."""
    return [
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default!r}"
        for field in dataclasses.fields(method)
    ]
