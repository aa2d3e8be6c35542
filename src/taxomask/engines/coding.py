"""Columns of a table coded chunk by chunk, so that no function holds a whole one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..microdata import Attribute, ContinuousColumn, Kind
from ..microdata.coding import Coded, code, code_distinct, coded_numbers
from ..microdata.distinct import Distinct
from ..microdata.frames import Frame
from ..microdata.numeric import Gaps, read_numbers
from .base import Engine

__all__ = ["coded_on", "numbered_on"]


def coded_on(
    engine: Engine, frame: Frame, described: Sequence[Attribute], *, dictionaries: bool = False
) -> list[Coded]:
    """The coded columns: in chunks where the table is long and that can be done, else one job for each column.

    A column of dictionaries is coded as a whole, as it may have different ones in each part; unless ``dictionaries``
    says that these hold each of their values once.
    """
    apart = [one.name for one in described if engine.in_parts(frame.n) and _in_parts(frame, one.name, dictionaries)]
    whole = [(frame, one) for one in described if one.name not in apart]
    found = iter(engine.map(code, whole, "coding"))
    return [_coded_in_parts(engine, frame, one) if one.name in apart else next(found) for one in described]


def numbered_on(engine: Engine, frame: Frame, name: str) -> NDArray[np.int32]:
    """The number of each row's value of a column, equal for equal ones; -1: no value."""
    if not (engine.in_parts(frame.n) and _in_parts(frame, name, dictionaries=True)):
        codes: NDArray[np.int32] = engine.run(_codes, frame, name, what="numbering")
        return codes
    codes, outlines = engine.each(_outlined, [frame, range(frame.n)], name, what="numbering")
    _, numbers = Distinct.together(outlines)
    codes = engine.each(_recoded, [codes], what="numbering", own=[some.astype(np.int32) for some in numbers])
    return codes


def _in_parts(frame: Frame, name: str, dictionaries: bool) -> bool:
    import pyarrow.types as types

    dtype = frame.arrow_type(name)
    return dtype is not None and (dictionaries or not types.is_dictionary(dtype))


def _coded_in_parts(engine: Engine, frame: Frame, attribute: Attribute) -> Coded:
    rows, what = range(frame.n), "coding"
    if attribute.kind == Kind.CONTINUOUS:
        values, gaps = engine.each(_read_numbers, [frame, rows], attribute, what=what)
        return coded_numbers(ContinuousColumn(attribute, values), reduce(Gaps.then, gaps))
    codes, outlines = engine.each(_outlined, [frame, rows], attribute.name, what=what)
    whole, numbers = Distinct.together(outlines)
    coded = code_distinct(whole, attribute, frame.arrow_type(attribute.name))
    cells = engine.each(_recoded, [codes], what=what, own=[coded.column.cells[some] for some in numbers])
    dropped = coded.dropped
    if dropped is not None:
        dropped = engine.each(_flagged, [codes], what=what, own=[dropped[some] for some in numbers])
    return replace(coded, column=coded.column.with_cells(cells), dropped=dropped)


def _read_numbers(frame: Frame, rows: range, attribute: Attribute) -> tuple[NDArray[np.float64], Gaps]:
    found = read_numbers(frame, attribute, rows.start)
    return found.values, found.gaps


def _outlined(frame: Frame, rows: range, name: str) -> tuple[NDArray[np.int32], Distinct]:
    found = frame.distinct(name)
    return found.codes, found.outline(rows.start)


def _codes(frame: Frame, name: str) -> NDArray[np.int32]:
    return frame.distinct(name).codes


def _recoded(codes: NDArray[np.int32], number: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.append(number, np.int32(-1))[codes]


def _flagged(codes: NDArray[np.int32], flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.append(flags, False)[codes]
