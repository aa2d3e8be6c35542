"""What the page asks for each method, from what the methods declare about their parameters."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, get_args

from .._support.parameters import Option, Parameter, declared
from ..methods import METHODS, Method

__all__ = ["methods"]


def methods() -> list[dict[str, Any]]:
    """All methods with what they do and their parameters."""
    return [
        {
            "name": kind.name,
            "about": kind.about,
            "reference": kind.reference,
            "parameters": [_parameter(one) for one in declared(kind)],
        }
        for kind in METHODS.values()
    ]


def _parameter(one: Parameter) -> dict[str, Any]:
    """What is needed, and what has a slider, is shown first."""
    first = one.options[0]
    return {
        "name": one.name,
        "help": one.about,
        "takes": one.takes,
        "control": _control(first),
        "choices": get_args(first.type) if first.origin is Literal else (),
        "optional": one.optional,
        "required": one.required,
        "default": None if one.required else one.default,
        "slider": None if one.slider is None else dataclasses.asdict(one.slider),
        "main": one.required or one.slider is not None,
    }


def _control(option: Option) -> str:
    if option.origin is Literal:
        return "choice"
    if option.is_list:
        return "methods" if option.inside is Method else "columns"
    return {bool: "switch", int: "number", float: "number", Method: "method"}.get(option.type, "none")
