from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm

from .conftest import SCHEMA, released, tables

GRADES = ["low", "mid", "high", "top"]
AGE = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])


@given(tables(), st.floats(51, 100), st.floats(0.1, 49))
@settings(max_examples=40)
def test_values_between_the_limits_stay_and_others_are_set_to_them(table: pa.Table, top: float, bottom: float) -> None:
    result = released(table, SCHEMA, tm.TopBottomCoding(top, bottom))
    for name, order in (("number", float), ("grade", GRADES.index)):
        before, after = table[name].to_pylist(), result[name].to_pylist()
        present = sorted(order(x) for x in before if x is not None)
        n = len(present)
        # The definition: enough values at or below the upper limit, at or above the lower one.
        high = min((x for x in present if sum(y <= x for y in present) >= top / 100 * n), default=None)
        low = max((x for x in present if sum(y >= x for y in present) >= (1 - bottom / 100) * n - 1e-9), default=None)
        for old, new in zip(before, after, strict=True):
            assert (old is None) == (new is None)
            if old is not None:
                assert order(new) == min(max(order(old), low), high)


def test_values_and_percentiles_by_hand() -> None:
    table = pa.table({"age": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]})

    def ages(**limits: Any) -> list[int]:
        return tm.protect(table, AGE, tm.TopBottomCoding(**limits)).data["age"].to_pylist()

    assert ages(top={"age": 85}) == [10, 20, 30, 40, 50, 60, 70, 80, 85, 85]
    assert ages(bottom={"age": 25}) == [25, 25, 30, 40, 50, 60, 70, 80, 90, 100]
    assert ages(top=90) == [10, 20, 30, 40, 50, 60, 70, 80, 90, 90]
    assert ages(top=90, bottom=10) == [20, 20, 30, 40, 50, 60, 70, 80, 90, 90]
    assert ages(top=100, bottom={"age": 15}) == [15, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    release = tm.protect(table, AGE, tm.TopBottomCoding(top=90, bottom=10))
    assert release.notes[0] == "age: 1 values set to the upper limit, 1 to the lower one."
    assert release.promise[-1].promise == "every value of age is between two limits"  # which are values of people
    assert release.promise[-1].found == "0 outside 20 and 90"
    given = tm.protect(table, AGE, tm.TopBottomCoding(top={"age": 85}))
    assert given.promise[-1].promise == "every value of age is at most 85"


def test_categories_by_name(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method = tm.TopBottomCoding(top={"n_beds": "300-499", "age": 80})
    release = tm.protect(discharges, discharge_schema, method)
    assert "500+" in discharges["n_beds"].to_pylist()
    assert "500+" not in release.data["n_beds"].to_pylist()
    assert max(release.data["age"].to_pylist()) == 80
    assert release.data["care_days"].equals(discharges["care_days"])
    assert release.promise[-2].promise == "every value of n_beds is at most 300-499"


def test_a_value_outside_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(np, "clip", lambda values, *_: values)
    with pytest.raises(tm.PromiseError, match=r"every value of age is at most 50 \(1 outside\)"):
        tm.protect(pa.table({"age": [20, 60]}), AGE, tm.TopBottomCoding(top={"age": 50}))


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.TopBottomCoding(), "top or bottom must be given"),
        (tm.TopBottomCoding(top=0), "top must be a number above 0 and at most 100"),
        (tm.TopBottomCoding(bottom=120), "bottom must be a number above 0 and at most 100"),
        (tm.TopBottomCoding(top={"age": "old"}), "the top of 'age' must be a number; got 'old'"),
        (tm.TopBottomCoding(top={"age": 5}, bottom={"age": 6}), "the lower limit of 'age' is above the upper one"),
        (tm.TopBottomCoding(top={"n_beds": "600+"}), "'600\\+' is not a category of 'n_beds'"),
        (tm.TopBottomCoding(top={"sex": 1}), "top_bottom_coding cannot treat 'sex', which is nominal"),
        (tm.TopBottomCoding(top={}), "no continuous or ordinal quasi-identifier to protect"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    empty = pa.table({"age": pa.array([None, None], pa.int64())})
    assert tm.protect(empty, AGE, tm.TopBottomCoding(top=95, bottom=5)).data["age"].null_count == 2
    same = pa.table({"age": [7, 7, None]})
    assert released(same, AGE, tm.TopBottomCoding(top=95, bottom=5)).equals(same)
