"""Values back to the type that their column had."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from .distinct import Distinct

__all__ = ["Values", "fit", "grain", "held", "is_temporal", "number_in", "take", "value_range", "widest"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

Array: TypeAlias = Any  # pyarrow.Array
DataType: TypeAlias = Any  # pyarrow.DataType
Values: TypeAlias = Array | NDArray[Any] | Distinct


def is_temporal(dtype: DataType) -> bool:
    """Dates, timestamps, times and durations."""
    import pyarrow.types as types

    return bool(types.is_temporal(dtype)) and not types.is_interval(dtype)


def held(value: float, dtype: DataType) -> float:
    """A number as a column of a type holds it: 0.1 is a little more in one of 32-bit floats."""
    import pyarrow.types as types

    return float(dtype.to_pandas_dtype()(value)) if dtype is not None and types.is_floating(dtype) else value


def grain(dtype: DataType | None) -> float:
    """What all numbers in a column of a type are multiples of, however they are computed; 0 if they can be any.

    >>> import pyarrow as pa
    >>> grain(pa.date32()), grain(pa.decimal128(10, 2)), grain(pa.int64())
    (1.0, 0.01, 0.0)
    """
    import pyarrow.types as types

    if dtype is None or types.is_dictionary(dtype):
        return 0.0 if dtype is None else grain(dtype.value_type)
    if is_temporal(dtype):
        return 1.0
    return 10.0**-dtype.scale if types.is_decimal(dtype) else 0.0


def number_in(value: object, dtype: DataType | None) -> float:
    """What somebody wrote for a column of numbers or, as text, of dates or times, as a number; NaN if it is none.

    >>> import pyarrow as pa
    >>> number_in("12.5", pa.float64()), number_in("1970-01-31", pa.date32()), number_in("old", pa.int64())
    (12.5, 30.0, nan)
    """
    import pyarrow as pa

    try:
        if dtype is not None and is_temporal(dtype):
            return float(pa.scalar(spell(value)).cast(dtype).value)
        return np.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, pa.ArrowException):
        return np.nan


def value_range(dtype: DataType | None) -> tuple[float, float]:
    """The smallest and the largest number that a column of a type, or of a wider type of its kind, can hold.

    >>> import pyarrow as pa
    >>> value_range(pa.date32()), value_range(pa.time32("s"))
    ((-2147483648.0, 2147483647.0), (0.0, 86399.0))
    """
    import pyarrow.types as types

    if dtype is not None and types.is_time(dtype):
        return 0.0, 86_400.0 * _PER_SECOND[dtype.unit] - 1
    if dtype is not None and is_temporal(dtype):
        most = 2.0 ** (dtype.bit_width - 1)
        return -most, float(np.nextafter(most, 0)) if dtype.bit_width == 64 else most - 1
    return float(np.finfo(np.float64).min), float(np.finfo(np.float64).max)


def fit(values: Values, dtype: DataType) -> Array:
    """Values as a pyarrow array of a type, or of the next wider type that holds them.

    Values come as pyarrow, as numpy (NaN for missing) or as distinct values with codes. Whole numbers stay
    integers; an integer type that is given fractions becomes float64; dates and times are rounded to their
    unit; what fits no other way becomes text.

    >>> import numpy as np, pyarrow as pa
    >>> fit(np.array([1.0, np.nan]), pa.int8()).type, fit(np.array([1.5]), pa.int8()).type
    (DataType(int8), DataType(double))
    """
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(dtype, pa.BaseExtensionType):
        inner = fit(values, dtype.storage_type)
        return dtype.wrap_array(inner) if inner.type == dtype.storage_type else inner
    if types.is_dictionary(dtype):
        return fit(values, dtype.value_type)
    if isinstance(values, Distinct):
        return _spread(values, dtype)
    if isinstance(values, np.ndarray):
        values = pa.array(values, from_pandas=True)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if types.is_floating(values.type) and values.type != dtype:
        return _fit_floats(values.cast(pa.float64()), dtype)
    return _cast_or_keep(values, dtype)


def widest(kinds: Iterable[DataType]) -> DataType | None:
    """The type that holds what several parts of a column became; None if all are of the same type.

    What does not fit becomes a wider integer, a number of any kind, or text: see `fit`.

    >>> import pyarrow as pa
    >>> widest([pa.int8(), pa.float64(), pa.int64()]), widest([pa.int8(), pa.int8()])
    (DataType(double), None)
    """
    import pyarrow as pa

    known = list(dict.fromkeys(kinds))
    if len(known) == 1:
        return None
    return next(kind for kind in (pa.large_string(), pa.float64(), pa.int64()) if kind in known)


def _spread(values: Distinct, dtype: DataType) -> Array:
    """Distinct values, each in the rows that have it."""
    import pyarrow as pa

    try:
        array = pa.array(values.values, type=dtype)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        array = pa.array(values.spellings, type=pa.large_string())
    return take(array, pa.array(values.codes, mask=values.codes < 0))


def take(array: Array, indices: Array) -> Array:
    """As ``array.take``, also for types that pyarrow has no kernel for (views)."""
    import pyarrow as pa

    try:
        return array.take(indices)
    except pa.ArrowNotImplementedError:
        values = array.to_pylist()
        taken = [None if i is None else values[i] for i in indices.to_pylist()]
        return pa.array(taken, type=array.type)


def _fit_floats(values: Array, dtype: DataType) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_integer(dtype):
        return _whole(values, dtype)
    if is_temporal(dtype):
        ticks = pa.int64() if dtype.bit_width == 64 else pa.int32()
        return pc.round(values).cast(ticks).view(dtype)
    if types.is_floating(dtype):
        narrow = values.cast(dtype, safe=False)
        overflow = np.isinf(narrow.drop_null().cast(pa.float64()).to_numpy()).any()
        return values if overflow else narrow
    return _cast_or_keep(values, dtype)


def _whole(values: Array, dtype: DataType) -> Array:
    import pyarrow as pa

    for integer in (dtype, pa.int64()):
        try:
            return values.cast(integer, safe=True)
        except pa.ArrowInvalid:
            continue
    return values


def _cast_or_keep(values: Array, dtype: DataType) -> Array:
    import pyarrow as pa

    try:
        return values.cast(dtype)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return values
