"""What every measure returns, and how two tables are laid side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any

from ...errors import DataError, SchemaError, did_you_mean
from ...microdata import Column, Microdata
from ...microdata.sharing import alike

__all__ = ["Loss", "Result", "mean_of", "pairs", "side_by_side"]


class Result:
    """A frozen dataclass that can be written as plain values, for JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values: pairs of attributes are joined by " × ", and what is not defined is None."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Loss(Result):
    """What was lost, as one number and in parts.

    Parameters
    ----------
    overall
        One number for the table: the mean of the parts, unless the measure says otherwise. 0 if there are none.
    each
        The loss of each attribute or pair of attributes; NaN where it is not defined, which ``overall`` leaves out.
    before, after
        For measures that compare a statistic: its value in the original and in the released table.
    left_out
        How many records (or cells of a table) of each part could not be compared; only where there are any.
    """

    overall: float
    each: Mapping[Any, float]
    before: Mapping[Any, Any] = field(default_factory=dict)
    after: Mapping[Any, Any] = field(default_factory=dict)
    left_out: Mapping[Any, int] = field(default_factory=dict)


def side_by_side(
    original: Microdata, released: Microdata, attributes: Iterable[str] | None = None, *, linked: bool = False
) -> dict[str, tuple[Column, Column]]:
    """The columns of both tables with one numbering of their categories; by default all coded columns.

    ``linked`` measures need record i of the released table to come from record i of the original.
    """
    if linked and original.n != released.n:
        raise DataError(
            f"the original has {original.n:,} records and the release {released.n:,}, so they cannot be compared "
            "one by one.",
            hint="Compare tables whose records correspond, or use measures of whole columns.",
        )
    names = [name for name in original.columns if name in released.columns] if attributes is None else list(attributes)
    for name in names:
        for columns in (original.columns, released.columns):
            if name not in columns:
                raise SchemaError(f"there is no coded column {name!r} to compare.", hint=did_you_mean(name, columns))
    return {name: alike(original.columns[name], released.columns[name]) for name in names}


def pairs(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """All pairs of attributes, in the order of the table."""
    return combinations(names, 2)


def mean_of(values: Iterable[float]) -> float:
    """The mean of those that are defined; 0 if there is nothing to compare, NaN if nothing is defined."""
    every = list(values)
    defined = [value for value in every if not math.isnan(value)]
    if not defined:
        return math.nan if every else 0.0
    return math.fsum(defined) / len(defined)


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {_text(key): _plain(one) for key, one in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _text(key: Any) -> str:
    return " × ".join(map(str, key)) if isinstance(key, tuple) else str(key)
