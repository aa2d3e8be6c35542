"""How finely a column of numbers is released: with two decimals more than its original values have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .attribute import MOST_DECIMALS, Attribute
from .casting import is_temporal
from .frames import Frame
from .numeric import is_text, numbers_of, present_values, trimmed

__all__ = ["Resolution", "decimals_of", "resolution"]

Float: TypeAlias = NDArray[np.float64]
_MORE = 2  # decimals than the original values: what an average tells beyond them
_CHUNK = 1 << 16
_SURE = 2.0**51  # up to here a product with a power of ten is near enough to the whole number that is meant
_WHOLE = 2.0**53  # from here on the numbers that a double can hold lie further apart than the decimals
_TEXT = r"^[+-]?[0-9]*\.?(?P<fraction>[0-9]*)(?:[eE](?P<exponent>[+-]?[0-9]+))?$"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Resolution:
    """The numbers that a column is released with.

    Parameters
    ----------
    decimals
        How many decimals they have at most; None: as many as they happen to have.
    unit
        What they are multiples of: so many ticks, for dates and times.
    held
        The type that the column holds them in.

    Examples
    --------
    >>> Resolution(decimals=2).rounded(np.array([67.66666666666667, 2.2600000000000002, -0.001]))
    array([67.67,  2.26,  0.  ])

    Inward, where the nearest number is beyond a limit:

    >>> Resolution(decimals=1).rounded(np.array([0.96]), high=0.98)
    array([0.9])
    """

    decimals: int | None = None
    unit: int = 1
    held: str = "float64"

    def rounded(self, values: Float, low: Float | float = -np.inf, high: Float | float = np.inf) -> Float:
        """Each number as the nearest one of these, or the nearest on its side of a limit, where this one lies beyond.

        The numbers themselves are within the limits. Where the limits leave no room for so few decimals, a number has
        as many more as it takes.
        """
        result = np.empty(len(values))
        for start in range(0, len(values), _CHUNK):
            part = slice(start, start + _CHUNK)
            result[part] = self._nearest(values[part])
        beyond = np.flatnonzero((result < low) | (result > high))
        if len(beyond):
            least, most = (np.broadcast_to(limit, len(values))[beyond] for limit in (low, high))
            result[beyond] = self._inward(values[beyond], least, most)
        return result

    def _nearest(self, values: Float, aside: Float | int = 0) -> Float:
        """The nearest numbers, or those that many steps aside; a number that is one of these stays, to the last bit."""
        if self.decimals is None and self.unit == 1:
            return self._as_held(values)
        per = 10.0 ** (self.decimals or 0)
        times = values * per / self.unit
        near = np.rint(times)
        large = np.flatnonzero(np.abs(times) >= _SURE)
        if len(large):
            for other in (near[large] - 1, near[large] + 1):
                near[large] = np.where(other * self.unit / per == values[large], other, near[large])
        result = (near + aside) * self.unit / per + 0.0  # no -0
        if len(large):
            apart = large[np.abs(times[large]) >= _WHOLE]
            result[apart] = values[apart]
        result = self._as_held(result)
        return np.where(result == values, values, result)

    def _inward(self, values: Float, low: Float, high: Float) -> Float:
        """The nearest numbers within the limits, with more decimals where so few do not reach."""
        result = self._as_held(values)
        left = np.arange(len(values))
        for finer in self._ever_finer():
            v, least, most = values[left], low[left], high[left]
            near = finer._nearest(v)
            near = finer._nearest(v, np.where(near > most, -1, np.where(near < least, 1, 0)))
            inside = (near >= least) & (near <= most)
            result[left[inside]] = near[inside]
            left = left[~inside]
            if not len(left):
                return result
        narrow = result[left].astype(self.held)  # what is left is next to a limit that this type cannot hold
        back = np.where(narrow > high[left], -np.inf, np.where(narrow < low[left], np.inf, narrow))
        result[left] = np.nextafter(narrow, back.astype(self.held))
        return result

    def _ever_finer(self) -> Iterator[Resolution]:
        if self.decimals is None:
            yield from (self, replace(self, unit=1)) if self.unit > 1 else ()
            return
        for decimals in range(self.decimals, MOST_DECIMALS + _MORE + 1):
            yield replace(self, decimals=decimals)

    def _as_held(self, values: Float) -> Float:
        return values if self.held == "float64" else values.astype(self.held).astype(np.float64)


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
        decimals = kind.scale if decimals is None else min(decimals, kind.scale)
    return Resolution(decimals, held=held)


def _decimals(array: Any, name: str, held: str) -> int | None:
    """Two more than the values have; None where they use all that a number can hold."""
    import pyarrow.types as types

    if types.is_integer(array.type) or types.is_null(array.type):
        found: int | None = 0
    else:
        found = _text_decimals(array) if is_text(array.type) else decimals_of(numbers_of(array, name), held)
    return None if found is None or found > MOST_DECIMALS else found + _MORE


def decimals_of(values: Float, held: str = "float64") -> int | None:
    """The decimals of the number that has the most of them, as the shortest text that gives the number back has them.

    None if they are more than 20.

    >>> decimals_of(np.array([2.26, 12.5, np.nan, 7])), decimals_of(np.array([0.1], dtype="float32").astype(float))
    (2, 17)
    """
    found = 0
    for start in range(0, len(values), _CHUNK):
        left = values[start : start + _CHUNK]
        left = left[~np.isnan(left)]
        while len(left := left[Resolution(found, held=held)._nearest(left) != left]):
            found += 1
            if found > MOST_DECIMALS:
                return None
    return found


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
