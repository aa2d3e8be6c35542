"""What the page asks for each method, from what the methods declare about their parameters."""

from __future__ import annotations

import dataclasses
from math import floor
from typing import Any, Literal, get_args

from .._support.parameters import Option, Parameter, declared
from ..comparison import default_grid
from ..measures.analyses import ANALYSES, Analysis
from ..measures.risk import ATTACKERS
from ..methods import METHODS, Method
from ..methods.explained import explained
from ..microdata import Attribute, Kind, Role, Schema

__all__ = ["analyses", "attackers", "compared", "methods"]


def methods() -> list[dict[str, Any]]:
    """All methods with what they do and their parameters."""
    return [
        {
            "name": kind.name,
            "about": kind.about,
            "reference": kind.reference,
            "parameters": [_parameter(one) for one in explained(kind)],
        }
        for kind in METHODS.values()
    ]


def compared() -> dict[str, list[dict[str, Any]]]:
    """What is compared first where a table has columns of a role, as in the draft of a plan."""
    roles = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    return {role: default_grid(Schema([Attribute("any", role=role, kind=Kind.CONTINUOUS)])) for role in roles}


def analyses() -> list[dict[str, Any]]:
    """All kinds of analyses with what they compute and what they need; the name is the user's."""
    words = {one.name: one.about for one in declared(Analysis)}
    return [
        {
            "kind": kind.kind,
            "about": kind.about,
            "parameters": [
                {**_parameter(one), "help": one.about or words.get(one.name, ""), "control": _of_analysis(one)}
                for one in declared(kind)
                if one.name != "name"
            ],
        }
        for kind in ANALYSES.values()
    ]


def attackers() -> list[dict[str, str]]:
    """Those who may try to find people, or what is confidential about them."""
    return [{"name": one.name, "title": one.title, "about": one.about} for one in ATTACKERS.values()]


def _of_analysis(one: Parameter) -> str:
    """A column is chosen from a list; conditions are written, and so are terms, which may be conditions.

    Levels of codes and references are given column by column.
    """
    first = one.options[0]
    if one.name in ("of", "by"):
        return "columns" if first.is_list else "column"
    if one.name in ("levels", "reference"):
        return one.name
    if first.is_list:
        return "terms"
    return "text" if first.type is str else "number" if first.type is float else "none"


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
        "tries": _tries(one),
        "main": one.required or one.slider is not None,
    }


def _tries(one: Parameter) -> list[float]:
    """The values that a comparison begins with: half, once, twice and four times the usual one, where the slider goes.

    >>> from taxomask import Microaggregation
    >>> [_tries(one) for one in declared(Microaggregation) if one.name == "k"]
    [[3, 5, 10, 20]]
    """
    slider = one.slider
    usual = None if slider is None else slider.start if slider.start is not None or one.required else one.default
    if slider is None or usual is None:
        return []
    steps = {floor(usual * times / slider.step + 0.5) for times in (0.5, 1, 2, 4)}
    values = [round(step * slider.step, 10) for step in sorted(steps)]
    return [value for value in values if slider.low <= value <= slider.high]


def _control(option: Option) -> str:
    if option.origin is Literal:
        return "choice"
    if option.is_list:
        return "methods" if option.inside is Method else "columns"
    return {bool: "switch", int: "number", float: "number", Method: "method"}.get(option.type, "none")
