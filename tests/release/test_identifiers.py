"""Identifiers must not shine through a release: worked by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

import taxomask as tm

N = 12
NAMES = [f"person {i}" for i in range(N)]


def schema(**kinds: str | None) -> tm.Schema:
    others = [tm.Attribute(name, role="other", kind=kind) for name, kind in kinds.items()]
    first = [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ]
    return tm.Schema([*first, *others])


def table(**columns: object) -> pa.Table:
    return pa.table({"name": NAMES, "age": list(range(N)), **columns})


@pytest.mark.parametrize(
    "copy", [[f"p{i}" for i in range(N)], [100 + i for i in range(N)], [float(i) for i in range(N)]]
)
def test_an_identifier_under_another_name_stops_the_release(copy: list[object]) -> None:
    with pytest.raises(tm.PromiseError, match=r"under another name \(file goes one to one with name"):
        tm.protect(table(file=copy), schema(file=None), tm.Microaggregation(3))


def test_measurements_and_repeated_values_pass() -> None:
    columns = {"charge": [i + 0.5 for i in range(N)], "ward": ["a", "b"] * (N // 2)}
    release = tm.protect(table(**columns), schema(charge="continuous", ward=None), tm.Microaggregation(3))
    assert all(check.holds for check in release.promise)


def test_a_repeated_identifier_is_recognised() -> None:
    names = [f"person {i // 2}" for i in range(24)]
    data = pa.table({"name": names, "age": list(range(24)), "file": [f"f{i // 2}" for i in range(24)]})
    with pytest.raises(tm.PromiseError, match="file goes one to one with name"):
        tm.protect(data, schema(file=None), tm.Microaggregation(3))


def test_a_value_of_an_identifier_in_another_column_stops_the_release() -> None:
    release = tm.protect(table(ward=["a"] * N), schema(ward=None), tm.Microaggregation(3))
    changed = release.data.set_column(1, "ward", pa.array(["a"] * (N - 1) + ["person 3"]))
    with pytest.raises(tm.PromiseError, match=r"turns up in another column \(1 of name in ward"):
        release.verify(changed)


def test_a_value_that_was_there_before_may_stay() -> None:
    release = tm.protect(table(ward=["a", "person 3"] * (N // 2)), schema(ward=None), tm.Microaggregation(3))
    assert release.verify(release.data) == release.promise
