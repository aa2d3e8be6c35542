"""A column as the leak check looks at it: numbers of values, and the numbers and texts that the values are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import is_nan, spell
from ..errors import DataError
from ..microdata.casting import is_temporal
from ..microdata.distinct import Distinct
from ..microdata.frames import Frame
from ..microdata.notation import NUMBER, find_notation, notation, tidy
from ..microdata.numeric import is_text, ticks
from ..microdata.open_ends import open_end
from .apart import numbers_apart
from .days import days_in
from .forms import forms_of_numbers, forms_of_texts, forms_of_times, gaps_of, spelled_out
from .telling import few, ranked
from .values import numbers_of
from .words import Words, words_of

__all__ = [
    "Seen",
    "digit_runs",
    "distinct_in",
    "plain_letters",
    "seen",
    "split_runs",
    "texts_in",
    "texts_of",
    "value_numbers",
    "values_in",
]

_MOST = 0.9  # of the texts of a column that must be numbers: others mean that there is none
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_REPEATS = 8  # records with the same value on average, below which numbers inside of values are looked at
_INSIDE = 7  # such numbers
_DIGITS = 18  # of numbers whose digits are looked at
_DIGIT = re.compile(r"(?![0-9])\d")  # of other alphabets
_ALIKE = ("АВЕКМНОРСТУХЅІЈаеорсухѕіјһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονıɑɡ", "ABEKMHOPCTYXSIJaeopcyxsijhdqwABEZHIKMNOPTYXoviag")
_LATIN = str.maketrans(*_ALIKE)  # letters of other alphabets that look like ours
Array = Any  # pyarrow.Array


@dataclass(frozen=True, eq=False)
class Seen:
    """A column: the number of the value in each record (-1: none), from 0 without gaps.

    ``numbers`` are those of the records if almost all values are numbers, dates or texts of such (NaN: none).
    ``measured`` says that some have a fraction, or that they are dates: nobody numbers people like that. ``inside`` are
    numbers that stand in values of which most differ: the day, month and year of 12.03.45, the age in a remark;
    ``forms`` tell how such values are written, and ``words`` are those of them. ``gaps`` are the kinds of what stands
    where there is no value (0: there is one). ``days`` are those of dates that are written in some other way, ``apart``
    numbers that stand in one value, each as a column.
    """

    name: str
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64] | None = None
    measured: bool = False
    inside: tuple[NDArray[np.float64], ...] = ()
    forms: tuple[NDArray[np.int32], ...] = ()
    words: Words | None = None
    gaps: NDArray[np.int32] | None = None
    days: NDArray[np.float64] | None = None
    apart: tuple[Seen, ...] = ()

    @property
    def amounts(self) -> NDArray[np.float64] | None:
        """What can be added and multiplied: days rather than the numbers that they are written as."""
        return self.numbers if self.days is None else self.days

    @cached_property
    def size(self) -> int:
        """How many different values there are."""
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def parts(self) -> tuple[NDArray[np.int32], ...]:
        """What stands in values of which most differ, and how they are written: a number in each record."""
        return (*(ranked(numbers).codes for numbers in self.inside), *self.forms)

    def take(self, rows: NDArray[np.int64]) -> Seen:
        """Some records only, by their values."""
        codes = _compact(self.codes[rows])
        numbers, days = (None if one is None else one[rows] for one in (self.numbers, self.days))
        return Seen(self.name, codes, numbers, self.measured, days=days)


def seen(frame: Frame, name: str) -> Seen:
    """A column of a table; an empty text is no value."""
    distinct = distinct_in(frame, name)
    found = _numbers(_array(distinct))
    numbers, measured = None, False
    if found is not None:
        known, dated = found
        numbers = np.append(known, np.nan)[distinct.codes]
        present = known[~np.isnan(known)]
        measured = dated or bool((present != np.floor(present)).any())
    empty = np.append(_empty(distinct), False)[distinct.codes]
    codes = _compact(np.where(empty, np.int32(-1), distinct.codes))
    gaps = gaps_of(frame, name, distinct.codes, empty)
    days = None if measured else _days(distinct)
    if int((codes >= 0).sum()) >= _REPEATS * (int(codes.max(initial=-1)) + 1):
        return Seen(name, codes, numbers, measured, gaps=gaps, days=days)
    inside: list[NDArray[np.float64]] = []
    if numbers is not None and not measured:
        inside = _parts(numbers)
    elif numbers is None or is_text(_array(distinct).type):
        inside = _numbers_inside(distinct)
    words = _words(distinct) if numbers is None else None
    inside += [_in_order(distinct)] if numbers is None else []
    forms = _forms(frame, name, distinct, measured)
    apart = _apart(distinct, name) if numbers is None else ()
    return Seen(name, codes, numbers, measured, tuple(inside), forms, words, gaps, days, apart)


def _apart(distinct: Distinct, name: str) -> tuple[Seen, ...]:
    """The numbers in texts as columns of their own."""
    found = [np.append(one, np.nan)[distinct.codes] for one in numbers_apart(texts_in(distinct)[1])]
    return tuple(Seen(name, _numbered(one), one, measured=True) for one in found)


def _numbered(numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    """The number of each value; -1 for none."""
    codes = np.full(len(numbers), -1, dtype=np.int32)
    there = ~np.isnan(numbers)
    codes[there] = np.unique(numbers[there], return_inverse=True)[1]
    return codes


def _in_order(distinct: Distinct) -> NDArray[np.float64]:
    """Where the value of each record stands in the order of the texts: some begin with when they were made."""
    import pyarrow.compute as pc

    codes, texts, _ = texts_in(distinct)
    places = np.full(len(texts) + 1, np.nan)
    places[pc.sort_indices(texts).to_numpy()] = np.arange(len(texts))
    return places[codes]


def _days(distinct: Distinct) -> NDArray[np.float64] | None:
    """The days of dates that are written as texts or whole numbers which `_numbers` does not take for dates."""
    values = _array(distinct)
    if isinstance(values, list):
        return None
    _, texts, whole = texts_in(distinct)
    found = days_in(texts) if whole or is_text(values.type) else None
    return None if found is None else np.append(found, np.nan)[distinct.codes]


def _forms(frame: Frame, name: str, distinct: Distinct, measured: bool) -> tuple[NDArray[np.int32], ...]:
    """How the values of a column are written, in each record."""
    import pyarrow.types as types

    values = _array(distinct)
    kind = None if isinstance(values, list) else values.type
    if kind is not None and is_temporal(kind):
        found = forms_of_times(values)
    elif kind is not None and types.is_integer(kind):
        return ()
    elif (whole := frame.arrow_type(name)) is not None and types.is_nested(whole):
        distinct = spelled_out(frame, name)
        found = forms_of_texts(texts_in(distinct)[1])
    else:
        _, texts, _ = texts_in(distinct)
        found = forms_of_texts(texts) if kind is None or is_text(kind) else []
        found += forms_of_numbers(texts) if measured else []
    return tuple(np.append(one, np.int32(-1))[distinct.codes] for one in found)


def _numbers_inside(distinct: Distinct) -> list[NDArray[np.float64]]:
    """The first numbers in texts, if half of them have one: in each record, NaN where there is none."""
    _, texts, _ = texts_in(distinct)
    runs = split_runs(digit_runs(texts))
    found = []
    for place in range(_INSIDE):
        numbers = np.full(len(texts) + 1, np.nan)
        there = np.flatnonzero(runs.lengths > place)
        if 2 * len(there) < len(texts):
            break
        numbers[there] = runs.single.take(runs.first[there] + place).cast("double").to_numpy(zero_copy_only=False)
        found += [one[distinct.codes] for one in (numbers, *_parts(numbers))]
    return found


def _parts(numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Digits of whole numbers that may be dates without their points, or hold one: all but the last four, the last
    four, and any two that follow each other. 12031945 is 1203, 1945, 45, 94, 19, 31, 3, 20 and 12."""
    most = int(np.nanmax(numbers)) if np.isfinite(numbers).any() else 0
    if most < 10_000 or np.nanmin(numbers) < 0 or most >= 10**_DIGITS:
        return []
    pairs = [numbers // 10**place % 100 for place in range(len(str(most)) - 1)]
    return [numbers // 10_000, numbers % 10_000, *pairs]


def _words(distinct: Distinct) -> Words | None:
    """The words of the texts, in some of the records."""
    import pyarrow as pa

    codes, texts, _ = texts_in(distinct)
    looked = few(len(codes))
    some = codes[looked]
    return words_of(texts.take(pa.array(some, mask=some < 0)).to_pylist(), looked, len(codes))


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of digits of some texts, one after the other, and where those of each text begin and how many there are."""

    single: Array
    first: NDArray[np.intp]
    lengths: NDArray[np.intp]


def split_runs(runs: Array) -> Runs:
    """Texts as `digit_runs` makes them, taken apart."""
    import pyarrow.compute as pc

    lists = pc.split_pattern(pc.utf8_trim_whitespace(runs), "  ")
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.intp)
    return Runs(pc.list_flatten(lists), np.cumsum(lengths) - lengths, lengths)


def digit_runs(texts: Array) -> Array:
    """The runs of digits of texts without their leading zeros, a space around each; none if there is none."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(texts, r"[^0-9]+", "  ")
    found = pc.replace_substring_regex(found, r"^ *(.*?) *$", r" \1 ", max_replacements=1)
    found = pc.replace_substring_regex(found, r" 0+([0-9])", r" \1")
    return pc.if_else(pc.match_substring_regex(found, "[0-9]"), found, None)


def value_numbers(distinct: Distinct, *, blank: bool = False) -> NDArray[np.uint64]:
    """A number of the value of each record (see `numbers_of`); an empty text is no value, unless ``blank`` says so."""
    empty = np.zeros(distinct.size, dtype=np.bool_) if blank else _empty(distinct)
    return numbers_of(distinct, _array(distinct), empty)


def texts_of(frame: Frame, name: str) -> tuple[NDArray[np.int32], Array, bool]:
    """The number of the value in each record, and the values as texts; lists and structures as what they hold.

    The last says whether the values are whole numbers, so that nothing but digits and a sign is in the texts.
    """
    return texts_in(distinct_in(frame, name))


def texts_in(distinct: Distinct) -> tuple[NDArray[np.int32], Array, bool]:
    """The same, given the distinct values."""
    import pyarrow as pa

    values = _array(distinct)
    try:
        if not isinstance(values, list) and not pa.types.is_binary(values.type):
            return distinct.codes, values.cast(pa.large_string()), pa.types.is_integer(values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    return distinct.codes, pa.array(distinct.spellings, pa.large_string()), False


def values_in(frame: Frame, name: str, *, unused: bool = False) -> Array:
    """The different values of a column as texts, of lists and structures all that they hold; ``unused`` ones too."""
    import pyarrow as pa

    try:
        frame.distinct(name)
    except DataError:
        return pa.array(sorted({text for value in frame.objects(name) for text in _leaves(value)}), pa.large_string())
    codes, texts, _ = texts_of(frame, name)
    return texts if unused else texts.take(pa.array(np.unique(codes[codes >= 0])))


# --------------------------------------------------------------------------------------- values


def distinct_in(frame: Frame, name: str) -> Distinct:
    """The distinct values of a column; of lists and structures, the texts of what they hold."""
    import pyarrow as pa

    try:
        return frame.distinct(name)
    except DataError:
        texts = [" ".join(_leaves(value)) or None for value in frame.objects(name)]
        return Distinct.from_arrow(pa.array(texts, pa.large_string()))


def _leaves(value: Any) -> Iterator[str]:
    """What stands in a list or a structure, however deep."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        for one in value:
            yield from _leaves(one)
    elif value is not None and not is_nan(value):
        yield spell(value)


def _array(distinct: Distinct) -> Any:
    """The distinct values as pyarrow, or as a list where they are of several types."""
    import pyarrow as pa

    values = distinct._values
    if not isinstance(values, list):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return values


def _numbers(values: Any) -> tuple[NDArray[np.float64], bool] | None:
    """The numbers that values are (NaN: none), and whether they are dates; None if they are something else."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if isinstance(values, list):
        return None
    kind = values.type
    if types.is_dictionary(kind):
        return _numbers(values.dictionary_decode())
    if is_temporal(kind):
        return _floats(ticks(values)), not types.is_duration(kind)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return _floats(values), False
    if not is_text(kind):
        return None
    texts = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    filled = texts.filter(pc.and_kleene(texts.is_valid(), pc.not_equal(texts, "")))
    if not len(filled):
        return None
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    for pattern, kind in ((NUMBER, pa.float64()), (_DATE, pa.date32())):
        if pc.mean(pc.match_substring_regex(filled[:100], pattern)).as_py() < _MOST:
            continue  # a first look
        fit = pc.match_substring_regex(texts, pattern).fill_null(False)
        if pc.sum(fit).as_py() >= _MOST * len(filled):
            try:
                found = pc.if_else(fit, texts, None).cast(kind)
            except pa.ArrowInvalid:  # such as the 31st of June
                return None
            return _floats(found.view(pa.int32()) if pattern == _DATE else found), pattern == _DATE
    return _in_notation(texts, filled)


def _in_notation(texts: Array, filled: Array) -> tuple[NDArray[np.float64], bool] | None:
    """The same of numbers and dates that are not written as a computer would: "1.234,50 €", "31.1.2010"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = filled[:100].to_pylist()
    numbers = [text for text in sample if open_end(text) is None]
    how, ambiguous = find_notation(numbers, plain=False) if len(numbers) >= _MOST * len(sample) else (None, False)
    if how is None and ambiguous:  # one order of day and month is as good as the other to tell dates apart
        how = next((one for one in map(notation, ("d/m/Y", "d.m.Y", "d-m-Y")) if one and one.reads(numbers[0])), None)
    if how is None:
        return None
    plain = how.plain(tidy(texts))
    if how.dates:
        found = ticks(plain)
    else:
        fit = pc.match_substring_regex(plain, NUMBER).fill_null(False)
        found = pc.if_else(fit, plain, None).cast(pa.float64())
    few = len(found) - found.null_count < _MOST * len(filled)
    return None if few else (_floats(found), how.dates)


def _floats(values: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    found = values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(found), found, np.nan)


def _empty(distinct: Distinct) -> NDArray[np.bool_]:
    """Which of the values are an empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _array(distinct)
    if isinstance(values, list):
        return np.array([value == "" if isinstance(value, str) else False for value in values], dtype=bool)
    if not is_text(values.type):
        return np.zeros(len(values), dtype=bool)
    return np.asarray(pc.equal(values.cast(pa.large_string()), "").fill_null(False).to_numpy(zero_copy_only=False))


def _compact(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Without the numbers that do not occur."""
    used = np.bincount(codes[codes >= 0]) > 0 if len(codes) else np.empty(0, bool)
    if used.all():
        return codes
    recode = np.full(len(used) + 1, -1, dtype=np.int32)
    recode[:-1][used] = np.arange(int(used.sum()), dtype=np.int32)
    return recode[codes]


def plain_letters(texts: Array) -> Array:
    """Texts without accents and characters that nobody sees, and with the letters and digits of other widths and
    alphabets that look like common ones as these.

    >>> import pyarrow as pa
    >>> plain_letters(pa.array(["Müller", "５２", "٥٢", "\u0410n\u200bna", None], pa.large_string())).to_pylist()
    ['Muller', '52', '52', 'Anna', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
        return texts
    texts = pc.replace_substring_regex(pc.utf8_normalize(texts, form="NFKD"), r"[\pM\p{Cf}]+", "")
    others = pc.match_substring_regex(pc.replace_substring_regex(texts, "[0-9]+", ""), rf"[\p{{Nd}}{_ALIKE[0]}]")
    if not pc.any(others, min_count=0).as_py():
        return texts
    return pa.array([None if text is None else _plain(text) for text in texts.to_pylist()], texts.type)


def _plain(text: str) -> str:
    return _DIGIT.sub(lambda found: str(unicodedata.digit(found[0])), text.translate(_LATIN))


def word_characters(lower: Array) -> str:
    """The characters of a pattern that are letters or digits of texts in lower case."""
    import pyarrow.compute as pc

    plain = pc.all(pc.string_is_ascii(lower), min_count=0).as_py()
    return "a-z0-9" if plain else r"\pL\pN"  # the classes of all alphabets take 10 ms to compile, each time
