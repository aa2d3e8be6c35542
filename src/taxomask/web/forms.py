"""What the page asks for each method, from the methods themselves: their fields, defaults and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from ..methods import METHODS, Method
from ..plan import plan_json_schema

__all__ = ["methods"]

# Where a slider begins and ends, its step, and where it stands for a parameter without a default. What a method
# accepts is for the method to say: these are the values that people try.
SLIDERS: dict[str, tuple[float, float, float, float]] = {
    "k": (2, 50, 1, 5),
    "p": (0.5, 50, 0.5, 5),
    "t": (0.01, 1, 0.01, 0.3),
    "l": (2, 10, 1, 3),
    "amount": (0.01, 1, 0.01, 0.1),
    "keep": (0, 1, 0.01, 0.8),
    "reach": (0.01, 1, 0.01, 0.5),
    "suppression": (0, 0.2, 0.005, 0.05),
    "level": (1, 6, 1, 2),
    "base": (1, 100, 1, 5),
    "copies": (1, 20, 1, 5),
    "block_size": (1000, 100_000, 1000, 20_000),
}
_SHOWN = ("k", "p", "amount", "keep", "level", "base", "suppression", "copies", "inner", "methods", "top", "bottom")


def methods() -> list[dict[str, Any]]:
    """All methods with what they do and their parameters."""
    schemas = plan_json_schema()["$defs"]
    return [_method(kind, schemas[name]["properties"]) for name, kind in METHODS.items()]


def _method(kind: type[Method], properties: dict[str, Any]) -> dict[str, Any]:
    words = _help(inspect.getdoc(kind) or "")
    return {
        "name": kind.name,
        "about": kind.about,
        "reference": kind.reference,
        "parameters": [_parameter(field, properties[field.name], words) for field in dataclasses.fields(kind)],
    }


def _parameter(field: Any, schema: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    options = schema.get("anyOf", [schema])
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    number = next(
        (one["type"] for one in options if one.get("type") in ("integer", "number") and "enum" not in one), None
    )
    slider = SLIDERS.get(field.name) if number is not None else None
    default = None if required else field.default
    return {
        "name": field.name,
        "help": words.get(field.name, ""),
        "control": _control(options, number),
        "whole": number == "integer",
        "choices": next((one["enum"] for one in options if "enum" in one), []),
        "optional": any(one.get("type") == "null" for one in options),
        "required": required,
        "default": list(default) if isinstance(default, tuple) else default,
        "slider": None if slider is None else dict(zip(("min", "max", "step", "start"), slider, strict=True)),
        "main": required or field.name in _SHOWN,
    }


def _control(options: list[dict[str, Any]], number: str | None) -> str:
    if any("enum" in one for one in options):
        return "choice"
    if any(one.get("type") == "boolean" for one in options):
        return "switch"
    if number is not None:
        return "number"
    if any("$ref" in one for one in options):
        return "method"
    if any("$ref" in one.get("items", {}) for one in options):
        return "methods"
    return "columns" if any(one.get("type") == "array" for one in options) else "none"


def _help(text: str) -> dict[str, str]:
    """The words about each parameter in a docstring.

    >>> _help("Idea.\\n\\nParameters\\n----------\\nk, p\\n    The ``width``.\\n\\nReferences\\n----------\\nNone.")
    {'k': 'The width.', 'p': 'The width.'}
    """
    found = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\w[\w, ]*)\n((?:^(?:    .*|)\n?)+)", found[1] if found else "", re.MULTILINE)
    return {
        name.strip(): re.sub(r"\s+", " ", words).replace("`", "").replace('"', "").strip()
        for names, words in entries
        for name in names.split(",")
    }
