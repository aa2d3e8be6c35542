"""Everything that can go wrong, in one tree.

Every message says what is wrong (file, column, row, value) and ends in a hint: what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

__all__ = [
    "DataError",
    "EngineError",
    "PlanError",
    "PromiseError",
    "SchemaError",
    "TaxomaskError",
    "TaxonomyError",
    "UnknownConceptError",
    "did_you_mean",
]


class TaxomaskError(Exception):
    """The base of all errors that taxomask raises on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message}\n{hint}" if hint else message)

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0])


class SchemaError(TaxomaskError, ValueError):
    """The description of the columns is wrong or does not fit the table."""


class TaxonomyError(TaxomaskError, ValueError):
    """A taxonomy cannot be read or used as asked."""


class UnknownConceptError(TaxonomyError, KeyError):
    """A concept is not in the taxonomy."""


class DataError(TaxomaskError, ValueError):
    """The table holds values that cannot be treated as the schema says."""


class EngineError(TaxomaskError, RuntimeError):
    """The machines or files that the work was spread over failed; nothing was written."""


class PlanError(TaxomaskError, ValueError):
    """A parameter or a plan is wrong."""


class PromiseError(TaxomaskError, RuntimeError):
    """A promise does not hold on the data about to be released; nothing was written.

    Attributes
    ----------
    leaks
        What the leak check found and nobody accepted: for each finding the columns, the column that they tell
        (``of``) and what was found, in words.
    """

    leaks: tuple[Mapping[str, Any], ...] = ()


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A hint that names the closest choice, or lists them.

    >>> did_you_mean("dx1", ["dx01", "age"])
    "Did you mean 'dx01'?"
    >>> did_you_mean("mass", ["age", "sex"])
    "Choose one of 'age', 'sex'."
    """
    choices = list(choices)
    close = get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    shown = ", ".join(repr(choice) for choice in choices[:12])
    return f"Choose one of {shown}{', …' if len(choices) > 12 else ''}."
