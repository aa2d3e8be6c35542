from __future__ import annotations

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
    with pytest.raises(tm.SchemaError, match="no role is given for 'rest'"):
        tm.protect(TABLE, schema, tm.Microaggregation(2))


def test_missing_is_a_category_of_its_own() -> None:
    """Two records with a missing age are not hidden among those with another age."""
    table = pa.table({"age": pa.array([20, 20, None], pa.float64())})
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])

    class Untouched(Nothing):
        pass

    with pytest.raises(tm.PromiseError, match="the smallest of 2 classes has 1 records"):
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
