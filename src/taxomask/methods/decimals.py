"""What a method made, rounded to as many decimals as it is released with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import ContinuousColumn, Kind, Microdata
from ..microdata.decimals import resolution
from ..microdata.open_ends import snapped
from .base import Masked, Method, Promise

__all__ = ["rounded"]


def rounded(engine: Engine, data: Microdata, masked: Masked, method: Method, promises: tuple[Promise, ...]) -> Masked:
    """A masked table with its numbers as they are released; everything after this speaks about these.

    Every column of numbers that the method changed is rounded, once for all methods and engines, as `resolution` says.
    A number that would be carried past what is promised is rounded inward, and numbers whose very values are promised
    stay as they are.
    """
    settled = {name for promise in promises for name in promise.settled(masked)}
    names = [
        name
        for name in masked.data.changed_from(data)
        if data.schema[name].kind == Kind.CONTINUOUS and (name not in settled or data.schema[name].ends)
    ]
    if not names:
        return masked
    exact = method.keeps_moments(data)
    tables = []
    for table in masked.copies or (masked.data,):
        one = replace(masked, data=table, copies=())
        found = engine.map(_rounded, [(data, one, promises, name, name in exact) for name in names], "rounding")
        changed = {name: column for name, column in zip(names, found, strict=True) if column is not None}
        tables.append(table.replace(changed) if changed else table)
    return replace(masked, data=tables[0], copies=tuple(tables) if masked.copies else ())


def _rounded(
    data: Microdata, masked: Masked, promises: tuple[Promise, ...], name: str, exact: bool
) -> ContinuousColumn | None:
    """A column as it is released; None if it is so already."""
    column = masked.data.continuous(name)
    low: float | NDArray[np.float64] = -np.inf
    high: float | NDArray[np.float64] = np.inf
    for promise in promises:
        least, most = promise.limits(data, masked, name)
        low, high = np.maximum(low, least), np.minimum(high, most)
    if any(name in promise.settled(masked) for promise in promises):
        values = column.values
    else:
        values = resolution(data.frame, data.schema[name], exact=exact).rounded(column.values, low, high)
    values = snapped(values, data.schema[name].ends)  # beyond a limit only the limit is told
    return None if np.array_equal(values, column.values, equal_nan=True) else column.with_values(values)
