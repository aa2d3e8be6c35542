"""How finely a column of a table is released: with two decimals more than its original values have."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from .attribute import MOST_DECIMALS, Attribute
from .casting import is_temporal
from .frames import Frame
from .numeric import is_text, numbers_of, present_values, trimmed
from .resolution import Resolution, decimals_of

__all__ = ["resolution"]

_MORE = 2  # decimals than the original values: what an average tells beyond them
_TEXT = r"^[+-]?[0-9]*\.?(?P<fraction>[0-9]*)(?:[eE](?P<exponent>[+-]?[0-9]+))?$"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def resolution(frame: Frame, attribute: Attribute, *, exact: bool = False) -> Resolution:
    """How finely a continuous column of a table is released.

    As `Attribute.decimals` says. By default, as many decimals as the values of the column have and two more; a day, an
    hour, a minute or a second where all dates and times are whole ones. What a type cannot hold is never asked for: a
    column of decimals (such as numeric(10, 2) in a database) keeps its own.

    Parameters
    ----------
    exact
        Only what the type asks for, unless the attribute says how many decimals.

    Examples
    --------
    >>> import pyarrow as pa
    >>> age = Attribute("age", role="quasi_identifier", kind="continuous")
    >>> resolution(Frame(pa.table({"age": [20, 31]})), age)
    Resolution(decimals=2, unit=1, held='float64')
    >>> resolution(Frame(pa.table({"age": ["20.50", "31"]})), age).decimals
    4
    """
    import pyarrow.types as types

    array = present_values(frame, attribute)
    kind, asked = array.type, attribute.decimals
    exact = asked == "exact" or (exact and asked is None)
    whole = asked is None and not exact  # years and ages are what dates were made coarser to
    if attribute.coarser is not None and (whole or attribute.coarser.unit == "month"):
        return Resolution(unit=1, decimals=0)
    if is_temporal(kind):
        if isinstance(asked, int):
            raise DataError(
                f"column {attribute.name!r} holds {kind}, which has no decimals.",
                hint="Leave decimals out: dates and times keep their resolution.",
            )
        return Resolution(unit=1 if exact else _ticks(array))
    held = str(kind.to_pandas_dtype().__name__) if types.is_floating(kind) else "float64"
    decimals = asked if isinstance(asked, int) else None if exact else _decimals(array, attribute.name, held)
    if types.is_decimal(kind):
        if kind.scale < 0:
            return Resolution(unit=10**-kind.scale)
        most = min(kind.scale, MOST_DECIMALS + _MORE)
        decimals = most if decimals is None else min(decimals, most)
    return Resolution(decimals, held=held)


def _decimals(array: Any, name: str, held: str) -> int | None:
    """Two more than the values have; None where they use all that a number can hold."""
    import pyarrow.types as types

    if types.is_integer(array.type) or types.is_null(array.type):
        found: int | None = 0
    else:
        found = _text_decimals(array) if is_text(array.type) else decimals_of(numbers_of(array, name), held)
    return None if found is None or found > MOST_DECIMALS else found + _MORE


def _text_decimals(array: Any) -> int:
    """The decimals of numbers as they are written: "12.50" has two, "1.5e-3" has four."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(trimmed(array).unique().drop_null(), _TEXT)
    fraction, exponent = parts.field("fraction"), parts.field("exponent")
    power = pc.if_else(pc.equal(exponent, ""), "0", exponent).cast(pa.int64())
    return max(pc.max(pc.subtract(pc.utf8_length(fraction), power)).as_py() or 0, 0)


def _ticks(array: Any) -> int:
    """How many ticks the day, hour, minute, second or part of one has of which all values are multiples."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_date32(array.type):
        return 1
    per_second = 1000 if types.is_date64(array.type) else _PER_SECOND[array.type.unit]
    whole = array.drop_null().view(pa.int64() if array.type.bit_width == 64 else pa.int32()).to_numpy()
    sizes = [seconds * per_second for seconds in (86_400, 3_600, 60, 1)]
    sizes += [size for size in (1_000_000, 1_000) if size < per_second]
    return next((size for size in sizes if not (whole % size).any()), 1)
