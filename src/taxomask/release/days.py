"""Days that are not written as a table would hold them: 4 Jan 2018, 04.01.18, 2018-004, 2018-W01-4, 20180104.

Read only to see what can be computed from them, such as the days between two; so the order of day and month that reads
them first will do, and so will the nearest century.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["days_in"]

Array = Any  # pyarrow.Array
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MOST = 0.9  # of the values that must be days
_LOOK = 100  # values that are looked at first
_MONTHS = (
    "jan ene gen", "feb fev fév", "mar mär mrz", "apr avr abr", "may mai mag", "jun juin giu",
    "jul juil lug", "aug aoû aou ago", "sep set", "oct okt ott out", "nov", "dec dez déc dic",
)  # fmt: skip
_NAMES = {name: month for month, names in enumerate(_MONTHS, start=1) for name in names.split()}
_D, _M, _B = r"(?P<d>[0-9]{1,2})", r"(?P<m>[0-9]{1,2})", r"(?P<b>\pL{3,})"
_FULL, _SHORT, _BETWEEN = r"(?P<Y>[0-9]{4})", r"(?P<Y>[0-9]{2})", r"[-./ ,]+"
_WAYS = (
    rf"{_D}\.?[-/ ]?{_B}\.?[-/ ,]?(?P<Y>[0-9]{{4}}|[0-9]{{2}})",
    rf"{_B}\.? {_D}(?:st|nd|rd|th)?{_BETWEEN}{_FULL}",
    rf"{_FULL}{_BETWEEN}{_B}{_BETWEEN}{_D}",
    rf"{_FULL}[- ]?[Ww](?P<w>[0-9]{{1,2}})(?:-?(?P<u>[1-7]))?",
    rf"{_FULL}[-./ ]?(?P<j>[0-9]{{3}})",
    *(_BETWEEN.join(parts) for parts in ((_D, _M, _SHORT), (_M, _D, _SHORT), (_SHORT, _M, _D))),
    *(_BETWEEN.join(parts) for parts in ((_FULL, _M, _D), (_D, _M, _FULL), (_M, _D, _FULL))),
    r"(?P<Y>(?:18|19|20)[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    r"(?P<Y>[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    r"(?P<d>[0-9]{2})(?P<m>[0-9]{2})(?P<Y>[0-9]{2})",
)
_BEFORE, _AFTER = r"^(?:\pL+[.,]* +)?", r"(?:[T ,].*)?$"  # the day of the week, and a time


def days_in(texts: Array) -> Floats | None:
    """The days that texts are, counted from 1970 (NaN: none); None if they are not.

    >>> import pyarrow as pa
    >>> [days_in(pa.array([one])).item() for one in ("4 Jan 1970", "04.01.70", "1970-004", "Sun, 4. Januar 1970 7:30")]
    [3.0, 3.0, 3.0, 3.0]
    >>> [days_in(pa.array([one])).item() for one in ("1970-W01-7", "19700104")], days_in(pa.array(["19709904"]))
    ([3.0, 3.0], None)
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    filled = texts.filter(pc.and_kleene(texts.is_valid(), pc.not_equal(texts, "")))
    for way in _WAYS:
        first = _read(filled[:_LOOK], way)
        if len(first) and np.isfinite(first).mean() >= _MOST:
            found = _read(texts, way)
            if np.isfinite(found).sum() >= _MOST * len(filled):
                return found
    return None


def _read(texts: Array, way: str) -> Floats:
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, f"{_BEFORE}{way}{_AFTER}")
    named = {one: pc.struct_field(parts, one) for one in "Ymdbjwu" if f"(?P<{one}>" in way}
    numbers = {one: _numbers(values) for one, values in named.items() if one != "b"}
    if "b" in named:
        numbers["m"] = _months(named["b"])
    year = numbers.pop("Y")
    return _days(year + np.where((year >= 0) & (year < 100), np.where(year < 50, 2000, 1900), 0), numbers)


def _days(year: Whole, parts: dict[str, Whole]) -> Floats:
    """From the year and the month and day, the day of the year, or the week and its day; NaN where there is none."""
    if "m" in parts:
        good = (parts["m"] >= 1) & (parts["m"] <= 12) & (parts["d"] >= 1)
        months = (year - 1970) * 12 + np.where(good, parts["m"], 1) - 1
        begin, after = (_first(one, "M") for one in (months, months + 1))
        days = begin + parts["d"] - 1
        good &= days < after
    elif "j" in parts:
        begin, after = (_first(one, "Y") for one in (year - 1970, year - 1969))
        days = begin + parts["j"] - 1
        good = (parts["j"] >= 1) & (days < after)
    else:
        fourth = _first(year - 1970, "Y") + 3  # of January, which is in the first week
        days = fourth - (fourth + 3) % 7 + 7 * (parts["w"] - 1) + np.maximum(parts["u"], 1) - 1
        good = (parts["w"] >= 1) & (parts["w"] <= 53)
    return np.where(good & (year > 0), days, np.nan)


def _first(since: Whole, unit: str) -> Whole:
    """The first day of a month or a year, counted from 1970."""
    return np.asarray(since.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.int64))


def _numbers(texts: Array) -> Whole:
    """Digits as numbers; -1 where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(texts, ""), "-1", texts).fill_null("-1")
    return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _months(names: Array) -> Whole:
    """The months of their names or what these begin with, in five languages; 0 for others."""
    encoded = names.dictionary_encode()
    known = [_month(str(name).lower()) for name in encoded.dictionary.to_pylist()]
    places = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.array([*known, 0], dtype=np.int64)[places]


def _month(name: str) -> int:
    return _NAMES.get(name[:4]) or _NAMES.get(name[:3]) or 0
