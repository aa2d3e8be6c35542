"""How many decimals numbers have, and what rounding to some of them does."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import taxomask as tm
from taxomask.microdata.decimals import resolution
from taxomask.microdata.frames import Frame
from taxomask.microdata.resolution import Resolution, decimals_of

FLOATS = st.one_of(
    st.floats(-1e18, 1e18, allow_nan=False), st.floats(allow_nan=False, allow_infinity=False), st.floats(-1000, 1000)
)


def written(text: str) -> int:
    """The decimals of a number as it is printed."""
    exponent = Decimal(text).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


def attribute(**more: Any) -> tm.Attribute:
    return tm.Attribute("x", role="quasi_identifier", kind="continuous", **more)


def of(values: Any, **more: Any) -> Resolution:
    return resolution(Frame(pa.table({"x": values})), attribute(**more))


# --------------------------------------------------------------------------------------- finding them


@given(st.lists(st.one_of(FLOATS, st.decimals(-10000, 10000, places=2).map(float)), max_size=5))
def test_decimals_are_those_of_the_shortest_text(values: list[float]) -> None:
    expected = max((written(repr(one)) for one in values), default=0)
    found = decimals_of(np.array([*values, np.nan]))
    assert found == (expected if expected <= 20 else None)


@given(st.lists(st.floats(width=32, allow_nan=False, min_value=-(2.0**20), max_value=2.0**20), max_size=5))
def test_decimals_of_single_precision(values: list[float]) -> None:
    narrow = np.array(values, dtype=np.float32)
    expected = max((written(str(one)) for one in narrow), default=0)
    assert decimals_of(narrow.astype(np.float64), "float32") == (expected if expected <= 20 else None)


def test_the_number_with_the_most_decimals_may_stand_anywhere() -> None:
    for place in (0, 70_000, 199_999):
        values = np.full(200_000, 12.5)
        values[place] = 0.125
        assert decimals_of(values) == 3


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        (pa.array([20, 31, None]), 2),
        (pa.array([12.5, 12.0]), 3),
        (pa.array([2.26, 1.5, None]), 4),
        (pa.array([0.1 + 0.2]), 19),  # seventeen digits: not rounded but in name
        (pa.array([1e-30]), None),
        (pa.array([0.1, 2.5], pa.float32()), 3),
        (pa.array([0.5, 2.25], pa.float16()), 4),
        (pa.array(["12.50", " 7 ", None]), 4),
        (pa.array(["12", "7"]), 2),
        (pa.array(["1.5e-3", "2E2", "+.5", "3."]), 6),
        (pa.array(["12.50", "7"]).dictionary_encode(), 4),
        (pa.array([Decimal("12.50"), Decimal("7.25")], pa.decimal128(10, 2)), 2),
        (pa.array([Decimal(12), Decimal(7)], pa.decimal128(38, 18)), 2),
        (pa.nulls(3), 2),
        (pa.array([], pa.float64()), 2),
    ],
)
def test_two_more_than_the_values_have(values: pa.Array, decimals: int | None) -> None:
    assert of(values).decimals == decimals


def test_values_that_mean_missing_do_not_count() -> None:
    assert of(["7", "-9.999"], missing=["-9.999"]).decimals == 2
    assert of([7.0, -9.999], missing=[-9.999]).decimals == 2


def test_decimals_that_are_asked_for() -> None:
    assert of([12.5, 7], decimals=0).decimals == 0
    assert of([12.5, 7], decimals="exact").decimals is None
    assert of(pa.array([Decimal("1.25")], pa.decimal128(9, 2)), decimals="exact").decimals == 2
    assert of(pa.array([Decimal("1.25")], pa.decimal128(9, 2)), decimals=5).decimals == 2
    assert of(pa.array([Decimal("1.25")], pa.decimal128(9, 2)), decimals=0).decimals == 0
    assert of(pa.array([Decimal("1.25")], pa.decimal128(38, 30)), decimals="exact").decimals == 22
    with pytest.raises(tm.DataError, match=r"column 'x' holds date32\[day\], which has no decimals"):
        of([dt.date(2020, 1, 1)], decimals=1)


DAY, SECOND = 86_400, 1


@pytest.mark.parametrize(
    ("values", "kind", "unit"),
    [
        ([dt.date(2020, 1, 1)], pa.date32(), 1),
        ([dt.date(2020, 1, 1)], pa.date64(), DAY * 1000),
        ([dt.datetime(2020, 1, 1), dt.datetime(1950, 3, 7)], pa.timestamp("ns"), DAY * 10**9),
        ([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 8)], pa.timestamp("us"), 3_600 * 10**6),
        ([dt.datetime(2020, 1, 1, 8, 15)], pa.timestamp("s"), 60),
        ([dt.datetime(2020, 1, 1, 8, 15, 1)], pa.timestamp("ms"), 1000),
        ([dt.datetime(2020, 1, 1, 8, 15, 1, 250_000)], pa.timestamp("us"), 1000),
        ([dt.datetime(2020, 1, 1, 8, 15, 1, 250_001)], pa.timestamp("us"), 1),
        ([dt.time(8, 30), dt.time(9, 0)], pa.time32("s"), 60),
        ([dt.timedelta(days=3)], pa.duration("ms"), DAY * 1000),
    ],
)
def test_dates_and_times_keep_their_resolution(values: list[Any], kind: pa.DataType, unit: int) -> None:
    assert of(pa.array([*values, None], kind)) == Resolution(unit=unit)
    assert of(pa.array(values, kind), decimals="exact") == Resolution()


# --------------------------------------------------------------------------------------- rounding to them


@given(FLOATS, st.integers(0, 22))
def test_rounding_leaves_no_more_decimals(value: float, decimals: int) -> None:
    (result,) = Resolution(decimals).rounded(np.array([value])).tolist()
    assert written(repr(result)) <= decimals
    assert abs(Decimal(result) - Decimal(value)) <= Decimal(10) ** -decimals * Decimal("0.5000001") + abs(
        Decimal(value)
    ) * Decimal("3e-16")
    assert Resolution(decimals).rounded(np.array([result])).tolist() == [result]
    assert not (result == 0 and value != 0 and np.signbit(result))


@given(st.integers(-(10**15), 10**15), st.integers(0, 18), st.integers(0, 4))
def test_a_number_with_so_few_decimals_stays_to_the_last_bit(whole: int, decimals: int, more: int) -> None:
    value = np.array([float(Decimal(whole).scaleb(-decimals)), -0.0])
    assert Resolution(decimals + more).rounded(value).tobytes() == value.tobytes()


@given(st.integers(-(2**23), 2**23), st.integers(0, 6), st.integers(0, 4))
def test_single_precision_stays_to_the_last_bit(whole: int, decimals: int, more: int) -> None:
    value = np.array([np.float32(Decimal(whole).scaleb(-decimals))]).astype(np.float64)
    assert Resolution(decimals + more, held="float32").rounded(value).tobytes() == value.tobytes()


@given(
    st.lists(st.tuples(FLOATS, FLOATS, FLOATS).map(sorted), min_size=1),
    st.one_of(st.none(), st.integers(0, 6)),
    st.sampled_from(["float64", "float32"]),
)
def test_what_is_rounded_stays_within_its_limits(triples: list[list[float]], decimals: int | None, held: str) -> None:
    low, value, high = np.array(triples).T
    assume(held == "float64" or np.abs(value).max() < 1e38)
    low, high = np.minimum(low, value * (1 - 1e-6 * np.sign(value))), np.maximum(high, value)
    result = Resolution(decimals, held=held).rounded(value, low, high)
    if held == "float32":
        assert (result.astype(np.float32).astype(np.float64) == result).all()
        room = (high - low) > np.maximum(1e-6 * np.abs(value), 3e-45)  # the smallest number is 1.4e-45
        result, low, high = result[room], low[room], high[room]
    assert ((low <= result) & (result <= high)).all()


def test_inward_by_hand() -> None:
    tenths = Resolution(1)
    assert tenths.rounded(np.array([0.96, 0.96, 0.14]), 0.12, 0.98).tolist() == [0.9, 0.9, 0.2]
    assert tenths.rounded(np.array([0.96]), 0.955, 0.97).tolist() == [0.96]  # no tenth is there
    days = Resolution(unit=24)
    assert days.rounded(np.array([37.0, 35.0, 40.0]), 30, 47).tolist() == [37, 35, 40]
    assert days.rounded(np.array([37.0, 35.0, 40.0]), 0, 47).tolist() == [24, 24, 24]
    huge = np.array([1e39])  # too large for the type: the column gets a wider one
    assert Resolution(held="float32").rounded(huge).tolist() == [1e39]
    third = np.array([1 / 3])
    assert Resolution(held="float32").rounded(third, 0, 1 / 3)[0] <= 1 / 3
