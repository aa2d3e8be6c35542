"""Values that stand in other rows of the same person or household."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.errors import PromiseError

PEOPLE, VISITS = 150, 4
WHO = np.repeat(np.arange(PEOPLE), VISITS)
N = len(WHO)
RNG = np.random.default_rng(4)
FIRST = np.arange(N) % VISITS == 0
INCOME = RNG.integers(500, 9_000, N)  # another one every year
STAY = RNG.choice(90_000, N, replace=False) + 10_000


def before(values: Any) -> Any:
    """Of the row before, of the same person."""
    return pa.array(np.roll(values, 1), mask=FIRST)


def release(more: Any, method: Any = None, named: str = "person") -> tm.Release:
    order = np.random.default_rng(1).permutation(N)
    table = pa.table({"who": WHO, "stay": STAY, "income": INCOME, "more": more}).take(order)
    columns = [
        tm.Attribute("who", role="identifier"),
        tm.Attribute("stay", role="identifier"),
        tm.Attribute("income", role="quasi_identifier", kind="continuous"),
        tm.Attribute("more", role="other"),
    ]
    return tm.protect(table, tm.Schema(columns, **{named: "who"}), method or tm.RankSwapping(p=20), seed=1)


LEAKS = {
    "the income of the year before": before(INCOME),
    "as text": [None if one is None else f"{one}.0" for one in before(INCOME).to_pylist()],
    "that of the first of the household": INCOME[np.repeat(np.flatnonzero(FIRST), VISITS)],
    "the number of the stay before": before(STAY),
    "one of ten wrong": before(np.where(RNG.random(N) < 0.1, RNG.integers(500, 9_000, N), INCOME)),
}


@pytest.mark.parametrize("more", LEAKS.values(), ids=LEAKS.keys())
@pytest.mark.parametrize("named", ["person", "household"])
def test_a_value_in_another_row_of_the_same_stops_the_release(more: Any, named: str) -> None:
    with pytest.raises(PromiseError, match=f"more has (income|stay) of a row of the same {named} in"):
        release(more, named=named)


def test_values_of_others_and_those_that_many_have_say_nothing() -> None:
    checks = release(RNG.permutation(INCOME)).promise
    assert any("and in other rows of the same person" in str(one) for one in checks)
    assert release(RNG.integers(1, 7, N)).promise


def test_values_that_the_method_left_as_they_were_are_no_matter() -> None:
    kept = release(before(INCOME), tm.TopBottomCoding(top=98))
    assert kept.promise
