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
    with pytest.raises(tm.PromiseError, match=r"column \((name stands in file|file is name with the same number)"):
        tm.protect(table(file=copy), schema(file=None), tm.Microaggregation(3))


def test_measurements_and_repeated_values_pass() -> None:
    columns = {"charge": [7.5 * (5 * i % N) + 200.25 for i in range(N)], "ward": ["a", "b"] * (N // 2)}
    release = tm.protect(table(**columns), schema(charge="continuous", ward=None), tm.Microaggregation(3))
    assert all(check.holds for check in release.promise)


def test_a_repeated_identifier_is_recognised() -> None:
    names = [f"person {i // 2}" for i in range(24)]
    data = pa.table({"name": names, "age": list(range(24)), "file": [f"f{i // 2}" for i in range(24)]})
    with pytest.raises(tm.PromiseError, match=r"name stands in file in 100\.0 % of the records"):
        tm.protect(data, schema(file=None), tm.Microaggregation(3))


def test_a_value_of_an_identifier_in_another_column_stops_the_release() -> None:
    release = tm.protect(table(ward=["a"] * N), schema(ward=None), tm.Microaggregation(3))
    changed = release.data.set_column(1, "ward", pa.array(["a"] * (N - 1) + ["person 3"]))
    with pytest.raises(tm.PromiseError, match=r"another column \(1 of the values of name stand in ward, and did"):
        release.verify(changed)


def test_a_value_that_was_there_before_may_stay() -> None:
    release = tm.protect(table(ward=["a", "person 3"] * (N // 2)), schema(ward=None), tm.Microaggregation(3))
    assert release.verify(release.data) == release.promise


def test_a_recoded_identifier_goes_one_to_one_with_it() -> None:
    """A text that hardly repeats, or whole numbers that were given out; an amount of money may do so by chance."""
    n = 300
    names, file = [f"name{i:x}x" for i in range(n)], [f"{hash((i, 7)) % 10**9:x}q" for i in range(n)]
    given, money = [(i * 77) % 307 for i in range(n)], [(i * 7919) % 1_000_003 for i in range(n)]
    ages = [20 + i % 60 for i in range(n)]
    for values in (file, [*file[:-1], file[0]], [*file[:-1], None], given, [*given[:-1], given[0]]):
        data = pa.table({"name": names, "age": ages, "file": values})
        with pytest.raises(tm.PromiseError, match="file goes one to one with name"):
            tm.protect(data, schema(file=None), tm.Microaggregation(3), seed=1)
    assert tm.protect(
        pa.table({"name": names, "age": ages, "file": money}), schema(file=None), tm.Microaggregation(3), seed=1
    )
