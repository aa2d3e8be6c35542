"""Numbers out of a column: numbers proper, dates and times, and numbers written as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from ..errors import DataError
from .attribute import Attribute
from .casting import is_temporal
from .coarsening import days_of
from .distinct import encode
from .frames import Frame
from .notation import NUMBER, find_notation, tidy
from .open_ends import find_open_ends, snapped
from .resolution import Resolution

__all__ = [
    "NUMBER", "Gaps", "Numbers", "in_plain", "is_text", "numbers_of", "present_values", "read_numbers",
    "trimmed", "value_type", "write_numbers",
]  # fmt: skip

Array: TypeAlias = Any  # pyarrow.Array
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Gaps:
    """How many cells are empty, and how often each value stands that means missing, in the order of appearance."""

    empty: int
    markers: tuple[tuple[Any, int], ...]

    def then(self, other: Gaps) -> Gaps:
        """Those of these cells and of others that follow them."""
        markers = Counter(dict(self.markers)) + Counter(dict(other.markers))
        return Gaps(self.empty + other.empty, tuple(markers.items()))


@dataclass(frozen=True, eq=False)
class Numbers:
    """The values of a column (NaN where missing), and why some are missing."""

    values: NDArray[np.float64]
    gaps: Gaps


def read_numbers(frame: Frame, attribute: Attribute, first: int = 0) -> Numbers:
    """The numbers of a continuous column; values that mean missing become NaN. Rows are counted from ``first`` on."""
    import pyarrow as pa

    array = _decoded(frame, attribute.name)
    empty = array.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    marked = _marked(array, attribute.missing) & ~empty
    values = numbers_of(in_plain(_without(array, marked), attribute, first), attribute.name, first)
    _refuse_infinities(values, attribute.name, first)
    _refuse_beyond(values, attribute, first)
    raw = array.filter(pa.array(marked)).to_pylist()
    return Numbers(values, Gaps(int(empty.sum()), tuple(Counter(raw).items())))


def present_values(frame: Frame, attribute: Attribute) -> Array:
    """The column in one piece, in plain numbers or dates if it is text; null where a value means missing."""
    array = _decoded(frame, attribute.name)
    return in_plain(_without(array, _marked(array, attribute.missing)), attribute)


def value_type(frame: Frame, attribute: Attribute) -> Any:
    """The pyarrow type of what the cells of a column mean: that of the column, or of days if its texts are such."""
    import pyarrow as pa

    dtype = frame.arrow_type(attribute.name)
    if attribute.coarser is not None:
        return pa.int64()
    how = attribute.written
    if how is None or not how.dates or not (dtype is None or is_text(dtype)):
        return dtype
    return pa.timestamp("s") if how.times else pa.date32()


def in_plain(array: Array, attribute: Attribute, first: int = 0) -> Array:
    """Texts in the notation of an attribute as texts of plain numbers or as days; dates as what they are coarsened to.

    An error names the first text that is no date. Other columns stay as they are.
    """
    import pyarrow as pa

    text = is_text(array.type)
    if text and (attribute.written is not None or attribute.ends or attribute.coarser is not None):
        codes, dictionary = encode(array)
        plain = _plain_texts(dictionary, attribute)
        if not is_text(plain.type):
            wrong = np.append(plain.is_null().to_numpy(zero_copy_only=False), False)[codes]
            if wrong.any():
                row = int(wrong.argmax())
                how = f"written as {attribute.notation}" if attribute.notation else "of the form 2020-12-31"
                raise DataError(
                    f"column {attribute.name!r}, row {first + row + 1:,}: {array[row].as_py()!r} is not a date {how}.",
                    hint="List it in missing if it means that there is no value; change the notation if it differs.",
                )
        return plain.take(pa.array(codes, mask=codes < 0))
    if not text and attribute.coarser is not None and (days := days_of(array)) is not None:
        return pa.array(attribute.coarser.of_days(days), from_pandas=True)
    return array


def _plain_texts(texts: Array, attribute: Attribute) -> Array:
    """Different texts as texts of plain numbers, or as days or what they are coarsened to, null where they are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tidied, how = tidy(texts), attribute.written
    if attribute.coarser is not None:
        days = days_of(how.plain(tidied) if how is not None and how.dates else _iso(tidied))
        made = attribute.coarser.of_written(tidied)
        return pc.coalesce(made, pa.array(attribute.coarser.of_days(days), from_pandas=True))
    plain = tidied if how is None else how.plain(tidied)
    for end in attribute.ends:
        plain = pc.if_else(pc.equal(tidied, tidy(pa.array([end.text]))[0]), spell(end.number), plain)
    return plain


def _iso(texts: Array) -> Array:
    from .notation import notation

    iso = notation("Y-m-d")
    assert iso is not None
    return iso.plain(texts)


def numbers_of(array: Array, name: str, first: int = 0) -> NDArray[np.float64]:
    """The numbers of a column that holds them, or texts of them; NaN where it is null."""
    return _from_text(array, name, first) if is_text(array.type) else _from_numbers(array, name)


def trimmed(array: Array) -> Array:
    """Texts without the space around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_trim_whitespace(array.cast(pa.large_string()))  # views have no kernels of their own


def write_numbers(values: NDArray[np.float64], original: Array, attribute: Attribute) -> Array:
    """Numbers as text; one that occurs in the original column is written as it is most often written there.

    >>> import pyarrow as pa
    >>> age = Attribute("age", kind="continuous")
    >>> write_numbers(np.array([19.0, 20.0, np.nan]), pa.array(["19.0", "?"]), age).to_pylist()
    ['19.0', '20', None]
    >>> cost = Attribute("cost", kind="continuous", notation="1.234,50 €", open_ends={"<5 €": 4})
    >>> write_numbers(np.array([1234.5, 0.5]), pa.array(["7,00 €"]), cost).to_pylist()
    ['1.234,50 €', '<5 €']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if attribute.coarser is not None:
        return attribute.coarser.write(values)
    codes, dictionary = encode(original)
    texts = pc.utf8_trim_whitespace(dictionary.cast(pa.large_string()))
    usual = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(texts)), kind="stable")
    texts = texts.take(usual)
    plain = _plain_texts(texts, attribute)
    good = pc.match_substring_regex(plain, NUMBER).fill_null(False) if is_text(plain.type) else plain.is_valid()
    texts, plain = texts.filter(good), plain.filter(good)
    numbers = plain.cast(pa.float64()) if is_text(plain.type) else ticks(plain)
    known, first = np.unique(numbers.to_numpy(zero_copy_only=False), return_index=True)
    values = snapped(values, attribute.ends)
    place = np.searchsorted(known, values).clip(max=max(len(known) - 1, 0))
    new = known[place] != values if len(known) else np.ones(len(values), dtype=bool)
    written = _written(values, new, texts, attribute)
    if len(known):
        written = pc.coalesce(texts.take(pa.array(first[place], mask=new)), written)
    for end in attribute.ends:
        written = pc.if_else(pa.array(end.beyond(values)), end.text, written)
    return written


def _written(values: NDArray[np.float64], new: Mask, texts: Array, attribute: Attribute) -> Array:
    """Numbers that the column does not have yet as text, in its notation."""
    import pyarrow as pa

    values = np.where(new, values, np.nan)
    if attribute.written is None:
        return pa.array(values, from_pandas=True).cast(pa.large_string())
    different, place = np.unique(values, return_inverse=True)
    made = pa.array(attribute.written.write(different, texts), pa.large_string())
    return made.take(pa.array(place, mask=np.isnan(values)))


def is_text(dtype: Any) -> bool:
    """Whether a column holds text, also as categories."""
    import pyarrow.types as types

    dtype = getattr(dtype, "value_type", dtype)  # of categories
    return bool(types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype))


def _decoded(frame: Frame, name: str) -> Array:
    """A column in one piece, without a dictionary."""
    import pyarrow as pa
    import pyarrow.types as types

    array = frame.arrow(name)
    if array is None:
        array = _texts(frame, name)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def _texts(frame: Frame, name: str) -> Array:
    """Objects of several types, as text."""
    import pyarrow as pa

    distinct = frame.distinct(name)
    texts = pa.array(distinct.spellings, type=pa.large_string())
    return texts.take(pa.array(distinct.codes, mask=distinct.codes < 0))


def _without(array: Array, marked: Mask) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pa.array(marked), pa.scalar(None, array.type), array) if marked.any() else array


def _marked(array: Array, markers: Any) -> Mask:
    """Where a value means missing: it is spelled like a marker, or is the same number or date."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = getattr(array.type, "tz", None)
    if zone is not None:  # markers are written in local time
        array = pc.local_timestamp(array)
    found = np.zeros(len(array), dtype=bool)
    for marker in markers:
        try:
            wanted = pa.scalar(spell(marker)).cast(array.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue  # a text cannot occur among numbers
        found |= pc.equal(array, wanted).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def ticks(dates: Array) -> Array:
    """Dates, times and durations as numbers: how many of their units."""
    import pyarrow as pa

    return dates.view(pa.int64() if dates.type.bit_width == 64 else pa.int32()).cast(pa.float64())


def _from_numbers(array: Array, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.types as types

    dtype = array.type
    if is_temporal(dtype):
        array = ticks(array)
    elif not (types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype) or types.is_null(dtype)):
        kind = "nominal" if types.is_boolean(dtype) else "other"
        hint = "Make its kind 'nominal'." if kind == "nominal" else "Give it the role 'other' without a kind."
        raise DataError(f"column {name!r} holds {dtype}, which cannot be continuous.", hint=hint)
    floats = array.cast(pa.float64(), safe=False).fill_null(np.nan)
    values = np.array(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
    if types.is_decimal(dtype) and dtype.scale > 0:  # the cast makes 0.30000000000000004 of 0.3
        return Resolution(min(dtype.scale, 22)).rounded(values)
    return values


def _from_text(array: Array, name: str, first: int) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = trimmed(array)
    good = pc.match_substring_regex(texts, NUMBER).fill_null(True).to_numpy(zero_copy_only=False)
    if not good.all():
        row = int(np.argmin(good))
        text = array[row].as_py()
        hint = "List it in missing if it means that there is no value; change the kind if these are categories."
        found = [one for one in texts.unique()[:1000].to_pylist() if one]
        how, _ = find_notation(found)
        if how is None and (ends := find_open_ends(found)):
            hint = (
                f"Say what {' and '.join(map(repr, ends))} counts as: open_ends: {{{next(iter(ends))!r}: …}}. " + hint
            )
        if how is not None:
            hint = f"All values are written alike: say notation: {how.text!r}."
        raise DataError(f"column {name!r}, row {first + row + 1:,}: {text!r} is not a number.", hint=hint)
    return np.array(texts.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)


def _refuse_beyond(values: NDArray[np.float64], attribute: Attribute, first: int) -> None:
    """A number that an open end stands for cannot be known beside it: it would be written as the open end."""
    for end in attribute.ends:
        wrong = end.beyond(values) & (values != end.number)
        if wrong.any():
            row, where = int(wrong.argmax()), f"column {attribute.name!r}"
            raise DataError(
                f"{where}, row {first + row + 1:,}: {values[row]:g} lies beyond the open end {end.text!r}.",
                hint=f"Take {end.text!r} out of open_ends and list it in missing, or code such numbers as it first.",
            )


def _refuse_infinities(values: NDArray[np.float64], name: str, first: int) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"column {name!r}, row {first + row + 1:,}: {values[row]} is not a finite number.",
            hint="Put a number in its place, or list it in missing.",
        )
