"""The records of both tables that an analysis looks at, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import Column, Microdata, Role
from ..measure import Tables
from .condition import parse
from .side import Side, one_of

__all__ = ["Records", "Sides", "sides"]

Float = NDArray[np.float64]
T = TypeVar("T")
_WHAT = "analysing"


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table that an analysis looks at, chunk by chunk and wherever they lie: as a `Side` of each."""

    engine: Engine
    columns: Mapping[str, Column]
    weights: Float | None
    types: Mapping[str, Any]
    where: str | None = None

    def __getitem__(self, name: str) -> Column:
        """A column without records: what it may hold."""
        return one_of(self.columns, name).part(0, 0)

    def of(self, names: tuple[str, ...], where: str | None) -> Records:
        """Some columns only, and the records that meet a condition."""
        columns = {name: one_of(self.columns, name) for name in names}
        types = {name: self.types.get(name) for name in names}
        return replace(self, columns=columns, types=types, where=where)

    def fold(self, function: Callable[..., T], combine: Callable[[T, T], T], *common: Any) -> T:
        """What a function finds in the records of each chunk that count, combined from the first to the last."""
        return self.engine.fold(_found, combine, *self._asked(function, common), what=_WHAT)

    def each(self, function: Callable[..., Any], *common: Any) -> Any:
        """What a function makes of each chunk, put together: it is told which of all records count."""
        return self.engine.each(_made, *self._asked(function, common), what=_WHAT)

    @property
    def unknown(self) -> int:
        """Of how many records it is not known whether they count."""
        if self.weights is None and self.where is None:
            return 0
        return int(sum(self.engine.map(_unknown, self.engine.cut(*self._asked(_unknown, ())), _WHAT)))

    def _asked(self, function: Callable[..., Any], common: tuple[Any, ...]) -> Any:
        rows = [*self.columns.values(), *([] if self.weights is None else [self.weights])]
        given = tuple(self.columns), self.weights is not None, dict(self.types), self.where
        return rows, *given, function, common


def _side(given: tuple[Any, ...]) -> tuple[Side, str | None, Callable[..., Any], tuple[Any, ...]]:
    """The records of a chunk, the condition, and the function that looks at them with what is common."""
    *rows, names, weighted, types, where, function, common = given
    columns = dict(zip(names, rows, strict=False))
    return Side(columns, len(rows[0]), rows[-1] if weighted else None, types), where, function, common


def _chosen(side: Side, where: str | None) -> tuple[NDArray[np.bool_], int]:
    """The records that count, and of how many it is not known whether they do."""
    unknown = 0
    rows = np.ones(side.n, dtype=bool)
    if side.weights is not None:
        rows &= np.isfinite(side.weights) & (side.weights > 0)
        unknown += int((~rows).sum())
    if where is not None:
        truth = parse(where).on(side)
        unknown += int((rows & ~truth.known).sum())
        rows = rows & truth.true
    return rows, unknown


def _found(*given: Any) -> Any:
    side, where, function, common = _side(given)
    return function(side.take(_chosen(side, where)[0]), *common)


def _made(*given: Any) -> Any:
    side, where, function, common = _side(given)
    return function(side, _chosen(side, where)[0], *common)


def _unknown(*given: Any) -> int:
    side, where, _, _ = _side(given)
    return _chosen(side, where)[1]


Sides = tuple[Records, Records]  # the original and the released table


def sides(tables: Tables, engine: Engine) -> Sides:
    """Both tables; an analyst of the released one has the weights that are released, if any are."""
    before = {name: x for name, (x, _) in tables.columns.items()}
    after = {name: y for name, (_, y) in tables.columns.items()}
    types = {name: tables.original.frame.arrow_type(name) for name in before}
    return (
        Records(engine, before, tables.original.weights, types),
        Records(engine, after, _released_weights(engine, tables.original, tables.released, after), types),
    )


def _released_weights(
    engine: Engine, original: Microdata, released: Microdata, columns: Mapping[str, Column]
) -> Float | None:
    name = original.schema.sampling_weight
    if name is None or original.schema[name].role == Role.IDENTIFIER:
        return None
    if name in columns:
        weights: Float = engine.each(_numbers, [columns[name]], what=_WHAT)
        return weights
    return released.weights


def _numbers(column: Column) -> Float:
    return column.numbers()
