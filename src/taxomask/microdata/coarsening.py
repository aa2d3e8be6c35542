"""Dates read as something coarser: the year, the month, or the age of a person at a date."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .casting import is_temporal

__all__ = ["COARSER", "Coarser", "coarser", "days_of"]

Array: TypeAlias = Any  # pyarrow.Array
Float: TypeAlias = NDArray[np.float64]
COARSER = ("year", "month", "age at 2020-12-31")
_MONTH = r"^(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])$"


@dataclass(frozen=True)
class Coarser:
    """What a date is read as; ``at`` is the day at which an age is counted."""

    unit: str
    at: dt.date | None = None

    def of_days(self, days: Array) -> Float:
        """Dates (pyarrow, date32) as years, months since 1970, or whole years of age; NaN where there is none."""
        import pyarrow as pa

        number = days.cast(pa.int32()).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        day = number.astype("datetime64[D]")
        months = day.astype("datetime64[M]").astype(np.int64)
        if self.unit == "month":
            found = months
        elif self.at is None:
            found = months // 12 + 1970
        else:
            of_month = number - day.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
            now = (self.at.year - 1970) * 12 + self.at.month - 1
            passed = (months % 12 < now % 12) | ((months % 12 == now % 12) & (of_month < self.at.day))
            found = self.at.year - (months // 12 + 1970) - np.where(passed, 0, 1)
        return np.where(days.is_null().to_numpy(zero_copy_only=False), np.nan, found.astype(np.float64))

    def of_written(self, texts: Array) -> Array:
        """Texts that `write` made, as numbers; null where a text is something else."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.unit != "month":
            number = pc.match_substring_regex(texts, r"^-?[0-9]{1,4}(\.[0-9]+)?$")
            return pc.if_else(number, texts, None).cast(pa.float64())
        parts = pc.extract_regex(texts, _MONTH)
        year, month = (pc.struct_field(parts, one).cast(pa.float64()) for one in ("year", "month"))
        return pc.add(pc.multiply(pc.subtract(year, 1970.0), 12.0), pc.subtract(month, 1.0))

    def write(self, values: Float) -> Array:
        """Numbers as texts: 1983, 1983-05, 41."""
        import pyarrow as pa

        if self.unit != "month":
            return pa.array(values, from_pandas=True).cast(pa.large_string())
        whole = np.rint(np.where(np.isnan(values), 0, values)).astype(np.int64)
        texts = whole.astype("datetime64[M]").astype(str)
        return pa.array(texts.tolist(), pa.large_string(), mask=np.isnan(values))


def coarser(text: str) -> Coarser | None:
    """``"year"``, ``"month"`` or ``"age at 2020-12-31"``; None if it is none of them.

    >>> coarser("age at 2020-12-31").at.year, coarser("week")
    (2020, None)
    """
    if text in ("year", "month"):
        return Coarser(text)
    found = re.fullmatch(r"age at (\d{4}-\d{2}-\d{2})", text)
    try:
        return Coarser("age", dt.date.fromisoformat(found[1])) if found else None
    except ValueError:  # such as the 31st of June
        return None


def days_of(array: Array) -> Array:
    """Dates and times as days; None if an array holds something else."""
    import pyarrow as pa
    import pyarrow.types as types

    if not is_temporal(array.type) or types.is_time(array.type) or types.is_duration(array.type):
        return None
    return array.cast(pa.date32(), safe=False)
