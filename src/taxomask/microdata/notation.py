"""How a column writes numbers and dates as text: thousands, decimal signs, currencies; days, months and years."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER", "DateNotation", "Notation", "NumberNotation", "find_notation", "notation", "tidy"]

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
Array: TypeAlias = Any  # pyarrow.Array
_SPACES = "\u00a0\u202f\u2009\u2007"
_EXAMPLE = re.compile(
    rf"(?P<before>[^0-9+\-\r\n]*)1(?P<thousands>[.,' ’{_SPACES}]?)234"
    r"(?:(?P<decimal>[.,])(?P<places>50*))?(?P<after>[^0-9\r\n]*)"
)
_DATE = re.compile(r"([dmY]([-./ ]?)[dmY]\2[dmY])(?:([ T])H:M(:S)?)?")
_SIGNS = r"[$€£¥₹]|[A-Z]{3}|R\$|Fr\.?|kr\.?|zł|Kč"
_BEFORE = re.compile(rf"({_SIGNS}) ?")
_AFTER = re.compile(rf" ?({_SIGNS}|%|kg|cm|mm|km|mg|ml)")
_DATES = ("Y-m-d", "d.m.Y", "d/m/Y", "m/d/Y", "d-m-Y", "m-d-Y", "Y/m/d", "Y.m.d", "Ymd")
_PARTS = {"d": r"(?P<d>[0-9]{1,2})", "m": r"(?P<m>[0-9]{1,2})", "Y": r"(?P<Y>[0-9]{4})"}
_TIME = r"(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2}))?"
_DAY = 86_400  # seconds


class Notation(ABC):
    """A way to write values as text; ``text`` is its name, as it stands in a plan."""

    text: str
    dates: bool
    times = False

    @property
    @abstractmethod
    def pattern(self) -> str:
        """What a text that is `tidy` must look like."""

    @abstractmethod
    def plain(self, texts: Array) -> Array:
        """Tidy texts as texts of plain numbers or as days, in pyarrow; others stay texts, or are no days."""

    @abstractmethod
    def write(self, values: NDArray[np.float64], like: Array) -> list[str]:
        """Numbers as texts; ``like`` are texts of the column that is written."""

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def reads(self, text: str) -> bool:
        """Whether a text is written like this."""
        return self._whole.match(_tidy(text)) is not None


def notation(text: str) -> Notation | None:
    """The notation of a name: ``"1.234,50 €"`` shows how 1234.5 is written, ``"d.m.Y"`` how a day is; None if neither.

    >>> notation("1.234,50 €").thousands, notation("d.m.Y").dates, notation("d.m.Y H:M").times, notation("numbers")
    ('.', True, True, None)
    """
    return _notation(text)


@lru_cache(maxsize=256)
def _notation(text: str) -> Notation | None:
    found = _DATE.fullmatch(text)
    if found and sorted(found[1].replace(found[2], "") if found[2] else found[1]) == ["Y", "d", "m"]:
        return DateNotation(text, found[1], found[3] or "")
    found = _EXAMPLE.fullmatch(text)
    if found is None or (found["decimal"] and found["decimal"] == found["thousands"]):
        return None
    thousands = found["thousands"]
    decimal = found["decimal"] or ("," if thousands == "." else ".")
    places = len(found["places"] or "") if (found["places"] or "").endswith("0") else 0
    return NumberNotation(text, found["before"], thousands, decimal, places, found["after"])


def tidy(texts: Array) -> Array:
    """Texts without the space around them, one kind of space and of minus in them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts.cast(pa.large_string()))  # views have no kernels of their own
    return pc.replace_substring(pc.replace_substring_regex(texts, f"[{_SPACES}]", " "), "−", "-")


def _tidy(text: str) -> str:
    return re.sub(f"[{_SPACES}]", " ", text.strip()).replace("−", "-")


# --------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class NumberNotation(Notation):
    """Numbers with signs between thousands, before decimals, and a currency before or after.

    >>> import pyarrow as pa
    >>> euros = notation("1.234,50 €")
    >>> euros.plain(pa.array(["12.345,60 €", "-7 €", "1234"])).to_pylist()
    ['12345.60', '-7', '1234']
    >>> euros.write(np.array([-12345.6, 0.125, np.nan]), pa.array(["7 €"]))
    ['-12.345,60 €', '0,125 €', '']
    """

    text: str
    before: str
    thousands: str
    decimal: str
    places: int
    after: str
    dates = False

    @cached_property
    def pattern(self) -> str:
        before, after = (re.escape(_tidy(one)) for one in (self.before, self.after))
        between, point = (re.escape(_tidy_sign(one)) for one in (self.thousands, self.decimal))
        digits = f"[0-9]{{1,3}}(?:{between}[0-9]{{3}})+|[0-9]+" if between else "[0-9]+"
        body = rf"(?:(?:{digits})(?:{point}[0-9]*)?|{point}[0-9]+)"
        return rf"^(?:[+\-]? *(?:{before})?|(?:{before}) *[+\-]?) *{body} *(?:{after})?$"

    def plain(self, texts: Array) -> Array:
        import pyarrow.compute as pc

        good = pc.match_substring_regex(texts, self.pattern).fill_null(False)
        bare = texts
        for one in (_tidy(self.before), _tidy(self.after), " ", _tidy_sign(self.thousands)):
            bare = pc.replace_substring(bare, one, "") if one else bare
        return pc.if_else(good, pc.replace_substring(bare, self.decimal, "."), texts)

    def write(self, values: NDArray[np.float64], like: Array) -> list[str]:
        return ["" if np.isnan(value) else self._written(value) for value in values.tolist()]

    def _written(self, value: float) -> str:
        whole, _, fraction = np.format_float_positional(abs(value), trim="-").partition(".")
        if self.thousands:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        fraction = fraction.ljust(self.places, "0")
        sign = "-" if value < 0 else ""
        return f"{sign}{self.before}{whole}{self.decimal if fraction else ''}{fraction}{self.after}"


def _tidy_sign(sign: str) -> str:
    return " " if sign and sign in _SPACES else sign


# --------------------------------------------------------------------------------------- dates


@dataclass(frozen=True)
class DateNotation(Notation):
    """Days: d, m and Y (four digits) in their order, with what stands between them; times, if H:M or H:M:S follow.

    Times are seconds since 1970, written without seconds where there are none and the name of the notation has none.

    >>> import pyarrow as pa
    >>> german = notation("d.m.Y")
    >>> german.plain(pa.array(["31.1.1970", "30.02.2001"])).to_pylist()
    [datetime.date(1970, 1, 31), None]
    >>> german.write(np.array([30.0]), pa.array(["05.03.1970"])), german.write(np.array([31.0]), pa.array(["5.3.1970"]))
    (['31.01.1970'], ['1.2.1970'])
    >>> notation("d/m/Y H:M").plain(pa.array(["31/1/1970 7:05", "31/01/1970 24:00", "31/01/1970"])).to_pylist()
    [datetime.datetime(1970, 1, 31, 7, 5), None, None]
    >>> notation("d/m/Y H:M").write(np.array([60.0, -1.0]), pa.array(["05/03/1970 17:00"]))
    ['01/01/1970 00:01', '31/12/1969 23:59:59']
    """

    text: str
    day: str
    before_time: str
    dates = True

    @property
    def times(self) -> bool:  # type: ignore[override]
        """Whether a time stands behind the day."""
        return bool(self.before_time)

    @cached_property
    def pattern(self) -> str:
        between = self._between
        parts = [_PARTS[one] if between else _PARTS[one].replace("{1,2}", "{2}") for one in self._order]
        return f"^{re.escape(between).join(parts)}{self.before_time}{_TIME if self.times else ''}$"

    @property
    def _between(self) -> str:
        return self.day[1] if len(self.day) == 5 else ""

    @property
    def _order(self) -> str:
        return self.day.replace(self._between, "")

    def plain(self, texts: Array) -> Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = pc.extract_regex(texts, self.pattern)
        year, month, day = (_numbers_in(pc.struct_field(parts, one)) for one in "Ymd")
        good = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1)
        months = (np.where(good, year, 1970) - 1970) * 12 + np.where(good, month, 1) - 1
        first, after = (
            one.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for one in (months, months + 1)
        )
        good &= day <= after - first
        days = first + day - 1
        if not self.times:
            return pa.array(days.astype(np.int32), mask=~good).view(pa.date32())
        hour, minute, second = (_numbers_in(pc.struct_field(parts, one)) for one in "HMS")
        good &= (hour < 24) & (minute < 60) & (second < 60)
        return pa.array(days * _DAY + hour * 3600 + minute * 60 + second, mask=~good).view(pa.timestamp("s"))

    def write(self, values: NDArray[np.float64], like: Array) -> list[str]:
        import pyarrow.compute as pc

        short = bool(self._between) and bool(
            pc.any(pc.match_substring_regex(like, r"(^|[^0-9:])[0-9]([^0-9:]|$)")).as_py()
        )
        width = 1 if short else 2
        whole = np.rint(np.where(np.isnan(values), 0, values)).astype(np.int64)
        days, seconds = np.divmod(whole, _DAY if self.times else 1)
        written = []
        for empty, date, time in zip(np.isnan(values).tolist(), days.astype("datetime64[D]"), seconds, strict=True):
            year, month, day = str(date).rsplit("-", 2)
            parts = {"Y": year, "m": f"{int(month):0{width}}", "d": f"{int(day):0{width}}"}
            text = self._between.join(parts[one] for one in self._order)
            written.append("" if empty else f"{text}{self.before_time}{self._clock(int(time))}")
        return written

    def _clock(self, seconds: int) -> str:
        if not self.times:
            return ""
        minutes, left = divmod(seconds, 60)
        text = f"{minutes // 60:02}:{minutes % 60:02}"
        return f"{text}:{left:02}" if left or self.text.endswith("S") else text


def _numbers_in(texts: Array) -> NDArray[np.int64]:
    """Digits as numbers; 0 where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(texts, ""), "0", texts).fill_null("0")
    return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False))


# --------------------------------------------------------------------------------------- recognition


def find_notation(texts: Sequence[str], *, plain: bool = True) -> tuple[Notation | None, bool]:
    """How texts that are all numbers or all dates are written, and whether they could be read in another way as well.

    None if they are not, or if they are plain numbers whose spelling nothing is lost of when they are read as such;
    ``plain=False`` does not ask how plain numbers are spelled.

    >>> find_notation(["12,345.60", "7.10"])[0].text, find_notation(["1234,50", "3,00"])[0].text
    ('1,234.50', '1234,50')
    >>> find_notation(["31.12.2010", "1.2.2011"])[0].text, find_notation(["1/2/2010", "3/4/2010"])
    ('d.m.Y', (None, True))
    >>> find_notation(["31/12/2010 08:15", "1/2/2011 17:40"])[0].text
    'd/m/Y H:M'
    """
    tidied = [_tidy(text) for text in texts]
    if not tidied:
        return None, False
    if all(re.match(NUMBER, text) for text in tidied):
        whole_days = len(tidied) > 2 and all(_is_day_number(text) for text in tidied)
        if whole_days and _reads_all("Ymd", tidied):
            return notation("Ymd"), False
        pointed = [text for text in tidied if "." in text]
        thousands = bool(pointed) and all(re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) for text in pointed)
        return (_fixed_decimals(tidied) if plain else None), thousands and len(pointed) < len(tidied)
    days = _dates_of(tidied)
    if days:
        return (notation(days[0]), False) if len(days) == 1 else (None, True)
    return _written_numbers(texts, tidied)


def _dates_of(texts: Sequence[str]) -> list[str]:
    """The notations of dates, or of dates with times, that read all texts."""
    time = re.search(r"[0-9]([ T])[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?$", texts[0])
    tail = f"{time[1]}H:M{':S' if time[2] else ''}" if time else ""
    return [f"{one}{tail}" for one in _DATES if one != "Ymd" and _reads_all(f"{one}{tail}", texts)]


def _reads_all(name: str, texts: Sequence[str]) -> bool:
    import pyarrow as pa

    one = notation(name)
    assert one is not None
    if not all(one._whole.match(text) for text in texts[:50]):
        return False
    return bool(one.plain(pa.array(texts, pa.large_string())).null_count == 0)


def _is_day_number(text: str) -> bool:
    return re.fullmatch(r"(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", text) is not None


def _fixed_decimals(texts: Sequence[str], point: str = ".") -> Notation | None:
    """The notation of numbers that all have the same decimals, zeros included: 12.50 is not 12.5 to who wrote it."""
    fractions = [text.partition(point)[2] for text in texts]
    widths = {len(one) for one in fractions}
    if len(widths) != 1 or not fractions[0] or any("e" in text.lower() for text in texts):
        return None
    zeros = any(one.endswith("0") for one in fractions)
    return notation(f"1234{point}{'5'.ljust(widths.pop(), '0')}") if zeros else None


def _written_numbers(texts: Sequence[str], tidied: Sequence[str]) -> tuple[Notation | None, bool]:
    """The notation of numbers with signs between thousands, decimal commas or currencies."""
    parts = [re.fullmatch(r"([+-]?)([^0-9+\-.,]*)([+-]?)([0-9.,' ’]*[0-9])([^0-9]*)", text) for text in tidied]
    if any(one is None for one in parts):
        return None, False
    before, after = ({one[place] for one in parts if one and one[place].strip()} for place in (2, 5))
    if len({one.strip() for one in before}) > 1 or len({one.strip() for one in after}) > 1:
        return None, False
    if not all(_BEFORE.fullmatch(one) for one in before) or not all(_AFTER.fullmatch(one) for one in after):
        return None, False
    bodies = [one[4] for one in parts if one]
    sign, point, ambiguous = _signs(bodies)
    if point is None:
        return None, False
    fractions = [body.partition(point)[2] for body in bodies if point in body]
    widths = {len(one) for one in fractions}
    fixed = len(widths) == 1 and len(fractions) == len(bodies) and any(one.endswith("0") for one in fractions)
    shown = "5".ljust(widths.pop(), "0") if fixed else "5"
    tail = f"{point}{shown}" if fractions else ""
    lead = max(before, key=len, default="")
    space = next((one for text in texts for one in text if one in _SPACES), " ") if sign == " " else sign
    return notation(f"{lead}1{space}234{tail}{max(after, key=len, default='')}"), ambiguous


def _signs(bodies: Sequence[str]) -> tuple[str, str | None, bool]:
    """The sign between thousands and the one before decimals, and whether they could be the other way round.

    "1,234" is read as a thousand and some, unless another number says that the comma stands before decimals.
    """
    fitting = []
    for sign, point in ((",", "."), (".", ","), (" ", ","), (" ", "."), ("'", "."), ("’", "."), ("", ","), ("", ".")):
        between = re.escape(sign)
        grouped = rf"[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+" if sign else "[0-9]+"
        small = "[0-9]{1,3}" if sign else "[0-9]+"
        body = re.compile(rf"(?:{grouped}|{small})(?:{re.escape(point)}[0-9]+)?")
        used = not sign or any(sign in one for one in bodies)
        if used and all(body.fullmatch(one) for one in bodies):
            fitting.append((sign, point))
    if not fitting:
        return "", None, False
    return *fitting[0], len(fitting) > 1 and any("," in one or "." in one for one in bodies)
