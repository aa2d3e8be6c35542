from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.methods import Masked, Method, Promise
from taxomask.methods.promises import KAnonymity

TABLE = pa.table({"name": ["Ann", "Bob", "Cem", "Dee"], "age": [20, 21, 70, 72], "rest": ["p", "q", None, "s"]})
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("rest", role="other"),
    ]
)


class Nothing(Method):
    """Promises k-anonymity and does nothing."""

    name, about, reference = "nothing", "Nothing.", "none"

    def mask(self, data: tm.Microdata, rng: object, progress: object = None) -> Masked:
        return Masked(data)

    def promises(self, data: tm.Microdata) -> tuple[Promise, ...]:
        return (KAnonymity(2, ("age",)),)


def test_a_release_by_hand() -> None:
    release = tm.protect(TABLE, SCHEMA, tm.Microaggregation(2), seed=7)
    assert release.data.to_pydict() == {"age": [20.5, 20.5, 71.0, 71.0], "rest": ["p", "q", None, "s"]}
    assert all(check.holds for check in release.promise)
    assert release.audit["seed"] == 7
    assert release.audit["parameters"]["k"] == 2
    assert release.audit["sha256"]["original"] != release.audit["sha256"]["released"]


def test_a_promise_that_does_not_hold_stops_the_release() -> None:
    with pytest.raises(
        tm.PromiseError, match=r"DOES NOT HOLD: at least k = 2 records .* \(the smallest of 4 classes has 1"
    ):
        tm.protect(TABLE, SCHEMA, Nothing())


def test_seeds() -> None:
    first, second = (tm.protect(TABLE, SCHEMA, tm.Microaggregation(2)).audit["seed"] for _ in range(2))
    assert first != second
    with pytest.raises(tm.PlanError, match="seed must be an integer of at least 0; got -1"):
        tm.protect(TABLE, SCHEMA, tm.Microaggregation(2), seed=-1)


def test_undecided_roles_stop_the_release() -> None:
    schema = tm.Schema([*list(SCHEMA.values())[:2], tm.Attribute("rest")])
    with pytest.raises(tm.SchemaError, match=r"the role of 1 column is undecided: 'rest'\.\nDecide for each"):
        tm.protect(TABLE, schema, tm.Microaggregation(2))
    with pytest.raises(tm.SchemaError, match=r"the role of 1 column is undecided: 'rest'\.\nDecide for each"):
        tm.compare(TABLE, schema, [tm.Microaggregation(2)], cache=False)


def test_missing_is_a_category_of_its_own() -> None:
    """Two records with a missing age are not hidden among those with another age."""
    table = pa.table({"age": pa.array([20, 20, None], pa.float64())})
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])

    class Untouched(Nothing):
        pass

    with pytest.raises(tm.PromiseError, match="the smallest of 2 classes has 1 record"):
        tm.protect(table, schema, Untouched())


def test_progress_runs_from_0_to_1() -> None:
    table = pa.table({"age": list(range(400))})
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    for method in (
        tm.Microaggregation(3),
        tm.Microaggregation(3, algorithm="refined", steps=200_000),
        tm.Microaggregation(3, algorithm="refined", block_size=100, steps=50_000),
        tm.MicroHybrid(3, algorithm="refined", block_size=100),
    ):
        seen: list[float] = []
        tm.protect(table, schema, method, progress=seen.append)
        assert seen == sorted(seen)
        assert seen[0] >= 0
        assert seen[-1] == pytest.approx(1)


@pytest.mark.parametrize("make", [lambda table: table, pa.Table.to_pandas])
def test_columns_that_pass_through_may_hold_anything(make: Any) -> None:
    lists = [["a"], ["b"], [], None]
    schema = tm.Schema(
        [tm.Attribute("age", role="quasi_identifier", kind="continuous"), tm.Attribute("tags", role="other")]
    )
    frame = make(pa.table({"age": [20, 21, 70, 72], "tags": lists}))
    release = tm.protect(frame, schema, tm.Microaggregation(2))
    assert [None if tags is None else list(tags) for tags in list(release.data["tags"].to_numpy())] == lists
    hashes = release.audit["sha256"]
    assert hashes["original"] != hashes["released"]
    assert tm.protect(frame, schema, tm.Microaggregation(2)).audit["sha256"] == hashes


def test_objects_without_a_type_pass_through() -> None:
    things = [object(), 1, "x", (2, 3)]
    frame = pd.DataFrame({"age": [20, 21, 70, 72], "thing": pd.Series(things, dtype=object)})
    schema = tm.Schema(
        [tm.Attribute("age", role="quasi_identifier", kind="continuous"), tm.Attribute("thing", role="other")]
    )
    assert tm.protect(frame, schema, tm.Microaggregation(2)).data["thing"].tolist() == things


def test_quasi_identifiers_that_are_left_alone_are_named() -> None:
    table = pa.table({"age": [20, 21, 70, 72], "days": [1, 2, 3, 4]})
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("age", "days")])
    assert tm.protect(table, schema, tm.Microaggregation(2)).notes == ()
    (note,) = tm.protect(table, schema, tm.Microaggregation(2, attributes=["age"])).notes
    assert note == "Released as they are, though quasi-identifiers: days. No promise covers them."


MIXED = pa.table(
    {"age": [20, 21, 70, 72], "sex": ["f", "m", "f", "m"], "day": [dt.date(2020, 1, i) for i in (1, 2, 9, 9)]}
)
MIXED_SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("day", role="other", kind="continuous"),
    ]
)
NOTHING_CHANGES = [
    tm.Pram(keep=1),
    tm.Rounding(1),
    tm.Noise(1e-300),
    tm.Noise(1e-9, attributes=["day"]),  # written as whole days
    tm.TopBottomCoding(100),
    tm.ReverseMapping(tm.Noise(1e-300)),
    tm.Pipeline([tm.Noise(1e-4), tm.Rounding(1)]),
]


@pytest.mark.parametrize("method", NOTHING_CHANGES, ids=str)
def test_the_original_table_is_no_release(method: Method) -> None:
    with pytest.raises(tm.PromiseError, match=r"no cell of \w+ changed\)\nNothing was released\. .*stronger") as error:
        tm.protect(MIXED, MIXED_SCHEMA, method, seed=1)
    assert "bug" not in str(error.value)


def test_swaps_of_equal_codes_change_nothing() -> None:
    table = pa.table({"sex": ["f"] * 50 + ["m"] * 50})
    schema = tm.Schema([tm.Attribute("sex", role="quasi_identifier", kind="nominal")])
    with pytest.raises(tm.PromiseError, match=r"no cell of sex changed"):
        tm.protect(table, schema, tm.RankSwapping(k=1), seed=1)


def test_what_is_k_anonymous_already_needs_no_change() -> None:
    table = pa.table({"age": [20, 20, 70, 70], "sex": ["f", "f", "m", "m"]})
    schema = tm.Schema(list(MIXED_SCHEMA.values())[:2])
    for method in (
        tm.Microaggregation(2),
        tm.Generalisation(2),
        tm.Suppression(2),
        tm.ReverseMapping(tm.Microaggregation(2)),
        tm.Pipeline([tm.Microaggregation(2), tm.Rounding(1)]),
    ):
        release = tm.protect(table, schema, method, seed=1)
        assert release.data.equals(table)
        assert "holds: age, sex need no change (what is promised of them does not depend on whether a value changes)" in map(str, release.promise)  # fmt: skip  # noqa: E501
    with pytest.raises(tm.PromiseError, match="no cell of age, sex changed"):  # k-anonymity of age says nothing of sex
        tm.protect(table, schema, tm.Pipeline([tm.Microaggregation(2, attributes=["age"]), tm.Pram(1)]), seed=1)


def test_columns_that_came_out_as_they_were_are_named() -> None:
    release = tm.protect(MIXED, MIXED_SCHEMA, tm.Rounding({"age": 50, "day": 1}), seed=1)
    assert release.data["age"].to_pylist() == [0, 0, 50, 50]
    assert release.notes[-1] == "The method was applied to day too, but no value changed there."
    changed = next(
        check for check in release.promise if check.promise == "not all cells of the protected columns are as they were"
    )
    assert changed.found == "4 cells of age changed"


def test_a_table_without_a_value_has_nothing_to_change() -> None:
    for values in ([None, None], []):
        table = pa.table({"age": pa.array(values, pa.float64())})
        schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
        assert tm.protect(table, schema, tm.Noise(0.1)).data.equals(table)


def test_a_table_read_back_is_checked_for_changes_too() -> None:
    release = tm.protect(MIXED, MIXED_SCHEMA, tm.Rounding({"age": 50}), seed=1)
    with pytest.raises(tm.PromiseError, match="no cell of age changed"):
        release.verify(MIXED)
