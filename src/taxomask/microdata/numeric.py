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
from .distinct import encode
from .frames import Frame
from .resolution import Resolution

__all__ = [
    "NUMBER", "Gaps", "Numbers", "is_text", "numbers_of", "present_values", "read_numbers", "trimmed", "write_numbers",
]  # fmt: skip

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
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
    values = numbers_of(_without(array, marked), attribute.name, first)
    _refuse_infinities(values, attribute.name, first)
    raw = array.filter(pa.array(marked)).to_pylist()
    return Numbers(values, Gaps(int(empty.sum()), tuple(Counter(raw).items())))


def present_values(frame: Frame, attribute: Attribute) -> Array:
    """The column as it stands in the table, in one piece; null where a value means missing."""
    array = _decoded(frame, attribute.name)
    return _without(array, _marked(array, attribute.missing))


def numbers_of(array: Array, name: str, first: int = 0) -> NDArray[np.float64]:
    """The numbers of a column that holds them, or texts of them; NaN where it is null."""
    return _from_text(array, name, first) if is_text(array.type) else _from_numbers(array, name)


def trimmed(array: Array) -> Array:
    """Texts without the space around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_trim_whitespace(array.cast(pa.large_string()))  # views have no kernels of their own


def write_numbers(values: NDArray[np.float64], original: Array) -> Array:
    """Numbers as text; one that occurs in the original column is written as it is most often written there.

    >>> import pyarrow as pa
    >>> write_numbers(np.array([19.0, 20.0, np.nan]), pa.array(["19.0", "?"])).to_pylist()
    ['19.0', '20', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, dictionary = encode(original)
    texts = pc.utf8_trim_whitespace(dictionary.cast(pa.large_string()))
    usual = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(texts)), kind="stable")
    texts = texts.take(usual)
    texts = texts.filter(pc.match_substring_regex(texts, NUMBER).fill_null(False))
    known, first = np.unique(texts.cast(pa.float64()).to_numpy(zero_copy_only=False), return_index=True)
    written = pa.array(values, from_pandas=True).cast(pa.large_string())
    if not len(known):
        return written
    place = np.searchsorted(known, values).clip(max=len(known) - 1)
    found = texts.take(pa.array(first[place], mask=known[place] != values))
    return pc.coalesce(found, written)


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


def _from_numbers(array: Array, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.types as types

    dtype = array.type
    if is_temporal(dtype):
        array = array.view(pa.int64() if dtype.bit_width == 64 else pa.int32())
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
        comma = pc.match_substring_regex(texts[row : row + 1], _COMMA)[0].as_py()
        hint = "List it in missing if it means that there is no value; change the kind if these are categories."
        if comma:
            hint = "Write decimals with a point."
        raise DataError(f"column {name!r}, row {first + row + 1:,}: {text!r} is not a number.", hint=hint)
    return np.array(texts.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)


def _refuse_infinities(values: NDArray[np.float64], name: str, first: int) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"column {name!r}, row {first + row + 1:,}: {values[row]} is not a finite number.",
            hint="Put a number in its place, or list it in missing.",
        )
