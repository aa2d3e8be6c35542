"""What a method made, rounded to as many decimals as it is released with."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import Attribute, ContinuousColumn, Kind, Microdata
from ..microdata.decimals import resolution
from ..microdata.frames import Frame
from ..microdata.open_ends import snapped
from ..microdata.resolution import Resolution
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
        if engine.in_parts(data.n) and table.n == data.n and all(promise.limits_by_record for promise in promises):
            found = [_rounded_on(engine, data, one, promises, name, name in exact) for name in names]
        else:
            found = engine.map(_rounded, [(data, one, promises, name, name in exact) for name in names], "rounding")
        changed = {name: column for name, column in zip(names, found, strict=True) if column is not None}
        tables.append(table.replace(changed) if changed else table)
    return replace(masked, data=tables[0], copies=tuple(tables) if masked.copies else ())


def _rounded_on(
    engine: Engine, data: Microdata, masked: Masked, promises: tuple[Promise, ...], name: str, exact: bool
) -> ContinuousColumn | None:
    """The same as `_rounded`, in chunks."""
    frame, how = data.frame, None
    if not any(name in promise.settled(masked) for promise in promises):
        parts = [(frame.part(start, stop), data.schema[name], exact) for start, stop in engine.parts(frame.n)]
        how = reduce(Resolution.with_, engine.map(_resolution, parts, "rounding"))
    before = [data.part(start, stop, data.columns) for start, stop in engine.parts(data.n)]
    settled = replace(masked, groups=None, notes=(), swaps=None)
    rounded, same = engine.each(
        _rounded_part, [masked.data.continuous(name)], settled, promises, name, how, what="rounding", own=before
    )
    return None if all(same) else rounded


def _resolution(frame: Frame, attribute: Attribute, exact: bool) -> Resolution:
    return resolution(frame, attribute, exact=exact)


def _rounded_part(
    column: ContinuousColumn,
    masked: Masked,
    promises: tuple[Promise, ...],
    name: str,
    how: Resolution | None,
    data: Microdata,
) -> tuple[ContinuousColumn, bool]:
    values = _inside(column.values, data, masked, promises, name, how)
    return column.with_values(values), np.array_equal(values, column.values, equal_nan=True)


def _rounded(
    data: Microdata, masked: Masked, promises: tuple[Promise, ...], name: str, exact: bool
) -> ContinuousColumn | None:
    """A column as it is released; None if it is so already."""
    column, how = masked.data.continuous(name), None
    if not any(name in promise.settled(masked) for promise in promises):
        how = resolution(data.frame, data.schema[name], exact=exact)
    values = _inside(column.values, data, masked, promises, name, how)
    return None if np.array_equal(values, column.values, equal_nan=True) else column.with_values(values)


def _inside(
    values: NDArray[np.float64],
    data: Microdata,
    masked: Masked,
    promises: tuple[Promise, ...],
    name: str,
    how: Resolution | None,
) -> NDArray[np.float64]:
    """Numbers as they are released, within the limits of what is promised; None: they stay as they are."""
    low: float | NDArray[np.float64] = -np.inf
    high: float | NDArray[np.float64] = np.inf
    for promise in promises:
        least, most = promise.limits(data, masked, name)
        low, high = np.maximum(low, least), np.minimum(high, most)
    if how is not None:
        values = how.rounded(values, low, high)
    return snapped(values, data.schema[name].ends)  # beyond a limit only the limit is told
