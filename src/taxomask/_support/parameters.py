"""Parameters are checked here, so that all errors read alike."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from ..errors import PlanError, did_you_mean

__all__ = ["check_choice", "check_integer", "check_number"]


def check_integer(name: str, value: object, *, at_least: int, hint: str = "") -> int:
    """An integer that is large enough.

    >>> check_integer("k", 1, at_least=2)
    Traceback (most recent call last):
    taxomask.errors.PlanError: k must be an integer of at least 2; got 1.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise PlanError(f"{name} must be an integer of at least {at_least}; got {value!r}.", hint=hint)
    return int(value)


def check_number(name: str, value: object, *, above: float, at_most: float = float("inf"), hint: str = "") -> float:
    """A number in (above, at_most]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value <= at_most:
        limit = f" and at most {at_most:g}" if at_most < float("inf") else ""
        raise PlanError(f"{name} must be a number above {above:g}{limit}; got {value!r}.", hint=hint)
    return float(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """One of a few words.

    >>> check_choice("scale", "ballanced", ["balanced", "paper"])
    Traceback (most recent call last):
    taxomask.errors.PlanError: scale must be 'balanced' or 'paper'; got 'ballanced'.
    Did you mean 'balanced'?
    """
    choices = list(choices)
    if value not in choices:
        *most, last = map(repr, choices)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise PlanError(f"{name} must be {listed}; got {value!r}.", hint=did_you_mean(str(value), choices))
    return str(value)
