"""``taxomask methods``: what can be done, as the methods declare it."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._support.parameters import Parameter, Slider, declared
from ..errors import PlanError, did_you_mean
from .options import Json
from .show import print_json, print_table

if TYPE_CHECKING:
    from ..methods import Method

__all__ = ["markdown", "methods", "schema"]


def methods(
    name: Annotated[str | None, typer.Argument(metavar="METHOD", help="Tell about this method only.")] = None,
    json: Json = False,
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
    print(_told(method))


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
    """A method in words for who has a table to protect: what it does, how a plan names it, what can be set."""
    width = min(shutil.get_terminal_size((100, 20)).columns, 100)
    text = _plain(inspect.getdoc(method) or "")
    parts = re.split(r"\n\n(?=\w+\n-{4,}\n)", text)
    sections = {part.partition("\n")[0]: part.split("\n", 2)[-1] for part in parts[1:]}
    paragraphs = [" ".join(one.split()) for one in parts[0].split("\n\n")]
    lines = [f"{method.name}: {method.about}", "", *(textwrap.fill(one, width) + "\n" for one in paragraphs)]
    lines += ["In a plan", f"  method: {_example(method)}", ""]
    from ..methods.explained import explained

    if parameters := explained(method):
        lines += ["What can be set", *(_about(one, width) for one in parameters)]
    if paper := sections.get("References"):
        lines += ["Where it comes from", _indented(" ".join(paper.split()), width), ""]
    more = f"Formulas and an example in Python: docs/methods/{method.name}.md and tm.{method.__name__}."
    return "\n".join([*lines, textwrap.fill(more, width)])


def _plain(text: str) -> str:
    """A docstring without its marks."""
    return re.sub(r"`([^`]+)`", r"\1", re.sub(r"``([^`]+)``", r"\1", text))


def _example(method: type[Method]) -> str:
    """The method as a plan names it, with what must be set."""
    chosen = {one.name: _start(one) for one in declared(method) if one.required}
    left = [one for one in declared(method) if not one.required and _sliders(one)]
    while not chosen and left and not _complete(method, chosen):  # one of several is needed, such as top or bottom
        first = left.pop(0)
        chosen[first.name] = _start(first)
    return _yaml({"name": method.name, **chosen})


def _complete(method: type[Method], chosen: dict[str, Any]) -> bool:
    try:
        method(**chosen).check_parameters()
    except PlanError:
        return False
    return True


def _start(one: Parameter) -> Any:
    """What a parameter could be set to at first."""
    sliders = _sliders(one)
    if sliders:
        start = sliders[0].start if sliders[0].start is not None else min(max(5.0, sliders[0].low), sliders[0].high)
        return int(start) if float(start).is_integer() else start
    if one.options[0].is_list:
        return [{"name": "microaggregation", "k": 5}, {"name": "shuffling"}] if "method" in one.takes.lower() else ["…"]
    return {"name": "microaggregation", "k": 5} if "method" in one.takes.lower() else "…"


def _sliders(one: Parameter) -> list[Slider]:
    return [mark for option in one.options for mark in option.beside if isinstance(mark, Slider)]


def _yaml(value: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()


def _about(one: Parameter, width: int) -> str:
    default = (
        "must be set" if one.required else "may be left out" if one.default is None else f"{_value(one)} by default"
    )
    return f"  {one.name}: {one.takes}; {default}\n{_indented(_plain(one.about), width, 4)}\n"


def _value(one: Parameter) -> str:
    """The default as a plan would write it."""
    plain = isinstance(one.default, (str, bool, int, float))
    return _yaml(one.default) if plain else str(one.default)


def _indented(text: str, width: int, by: int = 2) -> str:
    return textwrap.indent(textwrap.fill(" ".join(text.split()), width - by), " " * by)
