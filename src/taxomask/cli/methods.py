"""``taxomask methods``: what can be done, as the methods declare it."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._support.parameters import Parameter, declared
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
    print(f"{name}({', '.join(_signature(method))})\n\n{_told(method)}")


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
        "parameters": [
            {
                "name": one.name,
                "takes": one.takes,
                "required": one.required,
                "default": None if one.required else one.default,
                "about": one.about,
            }
            for one in declared(method)
        ],
    }


def _signature(method: type[Method]) -> list[str]:
    """The parameters, as they are written in Python."""
    return [one.name if one.required else f"{one.name}={one.default!r}" for one in declared(method)]


def _told(method: type[Method]) -> str:
    """The docstring, with what each parameter takes."""
    text = inspect.getdoc(method) or ""
    parameters = "".join(map(_about, declared(method)))
    return re.sub(r"(?<=^Parameters\n----------\n).*?(?=\n\w+\n---|\Z)", lambda _: parameters, text, flags=re.M | re.S)


def _about(one: Parameter) -> str:
    default = "required" if one.required else "optional" if one.default is None else f"by default {one.default!r}"
    return f"{one.name}: {one.takes}; {default}\n{textwrap.indent(textwrap.fill(one.about, 116), '    ')}\n"
