"""What can be computed from two columns that are released as they are: days between two dates, totals, quotients."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.errors import PromiseError
from taxomask.methods import Method

N = 600
RNG = np.random.default_rng(5)
STAY = RNG.geometric(0.15, N)
DAY = np.datetime64("2010-01-01") + RNG.integers(0, 700, N).astype("timedelta64[D]")
LEFT = DAY + STAY.astype("timedelta64[D]")
PRICE = np.round(RNG.lognormal(6, 1, N), 2)
MINUTES = RNG.integers(8 * 60, 18 * 60, (2, N)).astype("timedelta64[m]")

PAIRS: dict[str, tuple[Any, Any]] = {
    "admission and discharge": (DAY, LEFT),
    "with the time of day": tuple((one + MINUTES[i]).astype("datetime64[s]") for i, one in enumerate((DAY, LEFT))),
    "total and price for a day": (np.round(STAY * PRICE, 2), PRICE),
    "total and price, rounded": (np.round(PRICE * 100), np.round(100 * PRICE / STAY, 1)),
    "parts of a total": (PRICE, STAY + PRICE),
    "a product": (np.round(STAY / PRICE, 7), PRICE),
    "one of ten wrong": (
        DAY,
        DAY + np.where(RNG.random(N) < 0.1, RNG.permutation(STAY), STAY).astype("timedelta64[D]"),
    ),
}


WRITTEN: dict[str, Callable[[date], Any]] = {
    "4-Jan-2018": lambda one: one.strftime("%d-%b-%Y"),
    "January 4, 2018": lambda one: one.strftime("%B %d, %Y"),
    "04.01.18": lambda one: one.strftime("%d.%m.%y"),
    "01/04/18": lambda one: one.strftime("%m/%d/%y"),
    "04.01.18 08:30": lambda one: one.strftime("%d.%m.%y 08:30"),
    "2018-004": lambda one: one.strftime("%Y-%j"),
    "2018-W01-4": lambda one: "{}-W{:02}-{}".format(*one.isocalendar()),
    "20180104, a number": lambda one: int(one.strftime("%Y%m%d")),
    "180104": lambda one: one.strftime("%y%m%d"),
    "a list": lambda one: [one.year, one.month, one.day],
}


def release(first: Any, second: Any, stay: Any = STAY, method: Method | None = None) -> tm.Release:
    table = pa.table({"stay": stay, "first": pa.array(first), "second": pa.array(second)})
    schema = tm.Schema(
        [
            tm.Attribute("stay", role="quasi_identifier", kind="continuous"),
            tm.Attribute("first", role="other"),
            tm.Attribute("second", role="other"),
        ]
    )
    return tm.protect(table, schema, method or tm.Microaggregation(k=5), seed=1)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_a_number_that_two_columns_give_together_stops_the_release(pair: tuple[Any, Any]) -> None:
    for first, second in (pair, pair[::-1]):
        with pytest.raises(PromiseError, match=r"first . second|second . first"):
            release(first, second)


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN.keys())
def test_days_that_are_written_in_another_way(write: Callable[[date], Any]) -> None:
    first, second = ([write(one) for one in days.tolist()] for days in (DAY, LEFT))
    with pytest.raises(PromiseError, match="first − second is stay"):
        release(first, second)
    with pytest.raises(PromiseError, match="first − second is stay"):
        release(first, LEFT)


def test_a_stay_of_few_different_days() -> None:
    days = np.random.default_rng(7).integers(1, 8, N)
    with pytest.raises(PromiseError, match=r"first . second|second . first"):
        release(DAY, DAY + days.astype("timedelta64[D]"), days, tm.Noise(0.5))


def test_columns_that_give_nothing_are_released_and_said_to_be_looked_at() -> None:
    checks = [
        str(one)
        for one in release(DAY, np.random.default_rng(9).permutation(PAIRS["admission and discharge"][1])).promise
    ]
    assert any("sums, differences, products and quotients of 1 pair" in one for one in checks)


def test_two_columns_that_go_with_a_number_do_not_give_it() -> None:
    """Each has a correlation of 0.8 with it, their sum one of 0.88: more than one tells, and less than computing."""
    rng = np.random.default_rng(3)
    wanted = rng.normal(size=N)
    a, b = (wanted + 0.75 * rng.normal(size=N) for _ in range(2))
    assert release(np.round(a, 3), np.round(b, 3), np.round(wanted, 3)).promise
