"""Results in plain values, for JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._support.showing import line
from ..microdata import Column

__all__ = ["Result", "plain"]


class Result:
    """A frozen dataclass that can be written as plain values, for JSON, and shows its single figures only."""

    def __init_subclass__(cls) -> None:
        """The repr that a dataclass makes shows every record, column and pair of columns."""
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        shown = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            part = getattr(self, field.name)
            value = getattr(part, "overall", getattr(part, "value", part))
            if isinstance(value, int | float):
                shown.append(f"{field.name} {value:.4g}")
        return line(f"<{type(self).__name__}: {', '.join(shown)}>")

    def to_dict(self) -> dict[str, Any]:
        """Plain values: pairs of attributes are joined by " × ", and what is not defined is None."""
        values: dict[str, Any] = plain(self)
        return values


def plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and texts; what is not defined is None.

    Pairs of attributes are joined by " × ". Of a result, what there is one of per record is left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: plain(one) for name, one in pairs if not isinstance(one, np.ndarray | Column)}
    if isinstance(value, Mapping):
        return {_text(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(key: Any) -> str:
    return " × ".join(map(str, key)) if isinstance(key, tuple) else str(key)
