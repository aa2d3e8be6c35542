from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods.group_permutation import EqualChances
from taxomask.microdata.frames import Frame

from .conftest import SCHEMA, release_of, tables

QUASI = ["number", "grade", "plain", "concept"]
AGES = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])


@given(tables(least=4), st.integers(2, 4), st.sampled_from(["mdav", "refined"]), st.integers(0, 100))
@settings(max_examples=60)
def test_each_group_holds_what_was_in_it(table: pa.Table, k: int, algorithm: Any, seed: int) -> None:
    method = tm.GroupPermutation(k, algorithm=algorithm, steps=30)
    release = release_of(table, SCHEMA, method, seed=seed)
    if release is None:
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    assert release.groups is not None
    assert min(Counter(release.groups.tolist()).values()) >= k
    for name in QUASI:
        pairs = [
            Counter(zip(release.groups.tolist(), values[name].to_pylist(), strict=True))
            for values in (table, release.data)
        ]
        assert pairs[0] == pairs[1]  # missing cells too
    assert release.data["rest"].equals(table["rest"])


@given(tables(least=4), st.integers(2, 4))
@settings(max_examples=30)
def test_the_groups_are_those_of_microaggregation(table: pa.Table, k: int) -> None:
    data = tm.Microdata.from_frame(table, SCHEMA)
    found = tm.GroupPermutation(k).mask(data, np.random.default_rng(1)).groups
    assert found is not None
    assert np.array_equal(found.numbers, tm.Microaggregation(k).groups(data, np.random.default_rng(2)).numbers)


def test_every_order_is_as_likely_as_every_other_and_columns_are_permuted_apart() -> None:
    """Two groups of three: of 6 · 6 pairs of orders in the first group each comes about as often."""
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in "ab"])
    data = tm.Microdata.from_frame(pa.table({"a": [1, 2, 3, 90, 91, 92], "b": [1, 2, 3, 90, 91, 92]}), schema)
    method, seen = tm.GroupPermutation(3), Counter[Any]()
    runs = 3600
    for seed in range(runs):
        masked = method.mask(data, np.random.default_rng(seed)).data
        a, b = (masked.columns[name].numbers() for name in "ab")
        assert sorted(a[:3]) == [1, 2, 3]
        seen[(*a[:3].tolist(), *b[:3].tolist())] += 1
    assert len(seen) == 36
    chi_square = sum((count - runs / 36) ** 2 / (runs / 36) for count in seen.values())
    assert chi_square < 66.6  # the 99.9 % point for 35 degrees of freedom


def test_missing_cells_take_part() -> None:
    table = pa.table({"age": [1.0, 2.0, None, 4.0]})
    places = set()
    for seed in range(40):
        data = tm.protect(table, AGES, tm.GroupPermutation(4), seed=seed).data
        places.add(data["age"].to_pylist().index(None))
    assert places == {0, 1, 2, 3}


def test_what_is_not_permuted_is_named(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    release = tm.protect(discharges, discharge_schema, tm.GroupPermutation(5, attributes=["age", "dx01"]), seed=1)
    last = release.promise[-1]
    assert last.holds
    assert last.promise == (
        "each released cell of age, dx01 belongs to each record of its group with equal probability, at most "
        "1/k = 1/5; sex, race, region, n_beds, care_days, pc01 stand with their row and are not covered"
    )
    assert any(note.startswith("Released as they are, though quasi-identifiers: sex") for note in release.notes)
    whole = tm.protect(discharges, discharge_schema, tm.GroupPermutation(5), seed=1)
    assert whole.promise[-1].promise.endswith("; race, pc01 stand with their row and are not covered")
    for name in discharge_schema.quasi_identifiers:
        assert sorted(whole.data[name].to_pylist()) == sorted(discharges[name].to_pylist())
    assert any(note.startswith("sex: all values are equal in ") for note in whole.notes)


def test_a_description_goes_with_its_code() -> None:
    schema = tm.Schema(
        [
            tm.Attribute("dx", role="quasi_identifier", kind="nominal"),
            tm.Attribute("text", role="other", follows="dx"),
        ]
    )
    table = pa.table({"dx": ["a", "b", "c", "d"], "text": ["A", "B", "C", "D"]})
    release = tm.protect(table, schema, tm.GroupPermutation(4), seed=2)
    assert [one.upper() for one in release.data["dx"].to_pylist()] == release.data["text"].to_pylist()
    assert "not covered" not in release.promise[-1].promise


def test_a_group_of_equal_values_is_told_and_needs_no_change() -> None:
    release = tm.protect(pa.table({"age": [1, 1, 5, 5]}), AGES, tm.GroupPermutation(2), seed=1)
    assert release.data["age"].to_pylist() == [1, 1, 5, 5]
    assert "age: all values are equal in 2 of 2 groups, where their order hides nothing." in release.notes


def test_the_check_can_fail() -> None:
    data = tm.Microdata.from_frame(pa.table({"age": [1.0, 2, 3, 11, 12, 13]}), AGES)
    masked = tm.GroupPermutation(3).mask(data, np.random.default_rng(0))
    promise = EqualChances(3, ("age",))
    assert promise.check(data, Frame(masked.data.to_frame()), masked).holds
    across = promise.check(data, Frame(pa.table({"age": [1.0, 2, 11, 3, 12, 13]})), masked)
    assert not across.holds
    assert "other values in groups: age" in across.found
    as_it_was = promise.check(data, Frame(pa.table({"age": [1.0, 2, 3, 11, 12, 13]})), masked)  # no order drawn for it
    assert not as_it_was.holds
    assert "moved afterwards: 1 columns" in as_it_was.found
    assert not promise.check(data, Frame(pa.table({"age": [1.0, 2, 3]})), masked).holds
    larger = replace(promise, k=4).check(data, Frame(masked.data.to_frame()), masked)
    assert not larger.holds
    assert "the smallest of 2 groups has 3 records" in larger.found


def test_a_fault_of_the_method_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.methods import group_permutation

    monkeypatch.setattr(group_permutation, "random_order", lambda keys, rng: rng.permutation(len(keys)))
    with pytest.raises(tm.PromiseError, match="DOES NOT HOLD: each released cell of age"):
        tm.protect(pa.table({"age": list(range(40))}), AGES, tm.GroupPermutation(3), seed=1)


def test_a_later_step_that_moves_values_ends_the_claim() -> None:
    table = pa.table({"age": [31, 35, 36, 62, 70, 71]})
    release = tm.protect(table, AGES, tm.Pipeline([tm.GroupPermutation(6), tm.RandomSwapping()]), seed=3)
    assert any("No longer claimed" in note and "each released cell of age" in note for note in release.notes)
    assert not any("each released cell" in check.promise for check in release.promise)


def test_bad_parameters_are_errors() -> None:
    for method, message in (
        (tm.GroupPermutation(1), "k must be an integer of at least 2; got 1."),
        (tm.GroupPermutation(5, block_size=19), "block_size must be an integer of at least 20; got 19."),
        (tm.GroupPermutation(5, algorithm="best"), "algorithm must be 'auto', 'mdav' or 'refined'; got 'best'."),  # type: ignore[arg-type]
    ):
        with pytest.raises(tm.PlanError, match=message):
            tm.protect(pa.table({"age": [1, 2, 3, 4]}), AGES, method)
    with pytest.raises(tm.DataError, match="too few for a group of k = 5"):
        tm.protect(pa.table({"age": [1, 2, 3, 4]}), AGES, tm.GroupPermutation(5))


def test_people_who_own_several_records_of_a_group() -> None:
    schema = tm.Schema([tm.Attribute("who", role="identifier"), *AGES.values()], person="who")
    ages = [1.0, 2, 3, 4, 50, 51, 52]
    data = tm.Microdata.from_frame(pa.table({"who": list("aabccde"), "age": ages}), schema)
    masked = tm.GroupPermutation(3, algorithm="mdav").mask(data, np.random.default_rng(1))
    assert masked.groups is not None
    masked = replace(masked, groups=replace(masked.groups, numbers=np.zeros(7, dtype=np.int32)))
    released = Frame(masked.data.to_frame())
    found = EqualChances(3, ("age",)).check(data, released, masked)
    assert found.holds
    assert found.promise.endswith("nobody owns more than 1/k = 1/3 of the records of a group, counted in people")
    more = EqualChances(4, ("age",)).check(data, released, masked)
    assert more.holds
    assert "nobody owns more than 28.6 % of the records" in more.promise
    assert not EqualChances(6, ("age",)).check(data, released, masked).holds
