"""Explicit normalisations, for values that are spelled differently from the concepts they mean.

=============  ==================================================================================
``"spaces"``   strip spaces around a value
``"case"``     ignore upper and lower case
``"zeros:N"``  restore lost leading zeros: pad the digits before the dot to N (``38.9`` → ``038.9``)
``"dots"``     ignore dots (``038.9`` and ``0389`` are the same)
=============  ==================================================================================

They apply in the order given. ``zeros`` before ``dots`` reads ICD-9-CM codes as spreadsheets leave them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..errors import TaxonomyError, did_you_mean

__all__ = ["check_normalize", "normalizer"]

Rewrite = Callable[[str], str]


def _pad(width: int, value: str) -> str:
    digits, dot, rest = value.partition(".")
    return digits.zfill(width) + dot + rest if digits.isdigit() else value


def _drop_dots(value: str) -> str:
    return value.replace(".", "")


_PLAIN: dict[str, Rewrite] = {"spaces": str.strip, "case": str.casefold, "dots": _drop_dots}


def check_normalize(names: Iterable[str] | str) -> tuple[str, ...]:
    """The normalisations as a tuple, or an error that names the one that does not exist."""
    given: Any = names
    if not isinstance(given, Iterable):
        raise TaxonomyError(f"normalize must be a list; got {given!r}.", hint="Write ['zeros:3', 'dots'].")
    given = (given,) if isinstance(given, str) else tuple(given)
    for name in given:
        kind, _, width = str(name).partition(":")
        if kind == "zeros" and len(width) < 3 and width.isdecimal() and 1 <= int(width) <= 20:
            continue
        if not isinstance(name, str) or name not in _PLAIN:
            raise TaxonomyError(
                f"normalize must name 'spaces', 'case', 'dots' or 'zeros:N' (such as 'zeros:3'); got {name!r}.",
                hint=did_you_mean(str(name), [*_PLAIN, "zeros:3"]),
            )
    return given


def normalizer(names: Iterable[str], *, of_values: bool) -> Rewrite:
    """One function that applies the named normalisations to a value, or to the spelling of a concept.

    Lost zeros are restored in values only: the taxonomy itself has not lost any.

    >>> normalizer(["zeros:3", "dots"], of_values=True)("8.5")
    '0085'
    """
    steps: list[Rewrite] = []
    for name in check_normalize(names):
        if name in _PLAIN:
            steps.append(_PLAIN[name])
        elif of_values:
            steps.append(partial(_pad, int(name.partition(":")[2])))

    def apply(value: str) -> str:
        for step in steps:
            value = step(value)
        return value

    return apply
