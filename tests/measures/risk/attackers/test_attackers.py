"""Attackers on tables that can be solved by hand, and what holds for all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import taxomask as tm
from measures.risk.conftest import pairs, table
from taxomask.measures.risk import ATTACKERS, Rate, partial_linkage
from taxomask.measures.risk.attackers import linking
from taxomask.measures.risk.attackers.attacker import own_pairs
from taxomask.measures.risk.linkage import spaces


def numbers(**columns: list[Any]) -> tuple[pa.Table, tm.Schema]:
    """A table of numbers; those whose name begins with "secret" are confidential."""
    roles = {name: "confidential" if name.startswith("secret") else "quasi_identifier" for name in columns}
    schema = tm.Schema([tm.Attribute(name, role=role, kind="continuous") for name, role in roles.items()])
    return pa.table({name: pa.array(cells, pa.float64()) for name, cells in columns.items()}), schema


def attacked(before: dict[str, list[Any]], after: dict[str, list[Any]], **options: Any) -> tm.Evaluation:
    original, schema = numbers(**before)
    return tm.evaluate(original, numbers(**after)[0], schema, **options)


def test_nearest() -> None:
    found = attacked({"a": [20, 30, 30, 70]}, {"a": [22, 30, 45, 60]})
    one = found.attackers.nearest
    assert one.chances.tolist() == [1, 0.5, 0.5, 1]
    assert (one.share.value, one.share.baseline, one.targets) == (0.75, 0.25, 4)
    assert found.headline["nearest"] == 0.75


def test_one_to_one_untangles_what_the_nearest_confuses() -> None:
    """Both released records are nearest to the original 10; only one of them can be it."""
    found = attacked({"a": [0, 10]}, {"a": [6, 11]})
    assert found.attackers.nearest.chances.tolist() == [0, 1]
    assert found.attackers.one_to_one.chances.tolist() == [1, 1]
    assert (found.headline["risk"], found.headline["attacker"]) == (1.0, "one_to_one")


def test_one_to_one_shares_links_among_records_that_look_alike() -> None:
    found = attacked({"a": [0, 2, 10, 12]}, {"a": [1, 1, 11, 11]})
    assert found.attackers.one_to_one.chances.tolist() == [0.5] * 4
    same = attacked({"a": [5, 5, 5, 9]}, {"a": [5, 5, 5, 9]})
    assert same.attackers.one_to_one.chances == pytest.approx([1 / 3] * 3 + [1])


def test_partial_finds_the_columns_that_tell_most() -> None:
    """b is released as it is and a is noise that leads astray."""
    before = {"a": [0, 1000, 2000, 3000], "b": [1, 2, 3, 4]}
    found = attacked(before, {"a": [3000, 2000, 1000, 0], "b": [1, 2, 3, 4]})
    one = found.attackers.partial
    assert one.share.value == 1.0
    assert one.how == "By b, the worst of 3 sets of at most three columns."
    assert one.share == Rate.of(4, 4, 1 / 4).largest_of(3)
    assert (found.headline["risk"], found.headline["attacker"]) == (1.0, "partial")
    assert found.headline["unchanged"] == "b"
    assert found.headline["nearest"] < 1


def test_sets_of_columns_have_a_cap_and_an_order() -> None:
    rng = np.random.default_rng(3)
    names = [f"c{place}" for place in range(6)]
    x = rng.normal(size=(40, 6))
    data, noisy = table_of(names, x), table_of(names, x + rng.normal(size=(40, 6)))
    every = {one.attributes: one.expected.value for one in partial_linkage(data, noisy, most=3)}
    assert len(every) == 6 + 15 + 20
    some = [one.attributes for one in partial_linkage(data, noisy, most=3, sets=25)]
    assert len(some) == 25
    assert sum(len(one) < 3 for one in some) == 21  # all of one and two; four of three, whose pairs link most
    twos = {one: value for one, value in every.items() if len(one) == 2}
    threes = [one for one in every if len(one) == 3]
    parts = {one: sum(value for pair, value in twos.items() if set(pair) < set(one)) for one in threes}
    assert {one for one in some if len(one) == 3} == set(sorted(parts, key=lambda one: -parts[one])[:4])


def table_of(names: list[str], values: np.ndarray[Any, Any]) -> tm.Microdata:
    frame, schema = numbers(**{name: values[:, place].tolist() for place, name in enumerate(names)})
    return tm.Microdata.from_frame(frame, schema)


def test_pattern() -> None:
    """The first record alone has a gap in a, and the next two in b; the last lost a value that it had."""
    before = {"a": [None, 2, 3, 4, 5], "b": [1, None, None, 4, 5]}
    found = attacked(before, {"a": [None, 9, 9, 9, 9], "b": [7, None, None, 7, None]})
    one = found.attackers.pattern
    assert one.chances.tolist() == [1, 0.5, 0.5, 0.5, 0]
    assert one.share.value == pytest.approx(0.5)
    assert one.how == "By which of 2 columns are missing: 3 patterns."
    assert attacked({"a": [1, 2]}, {"a": [1, 2]}).attackers.pattern is None


def test_inference_takes_the_most_telling_guess() -> None:
    before = {"a": [0, 1, 10, 11], "secret": [1, 1, 3, 3], "secret_other": [1, 2, 3, 4]}
    found = attacked(before, before | {"a": [0.5, 0.5, 10.5, 10.5]})
    one = found.attackers.inference
    assert one.how.startswith("secret (value)")
    assert (one.share.value, one.share.baseline) == (1.0, 0.5)
    assert one.chances.tolist() == [1, 1, 1, 1]
    assert found.headline["disclosure"] == 1.0


def test_what_is_guessed_of_people_outside_is_no_disclosure() -> None:
    before = {"a": [0.0, 1.0, 10.0, 11.0], "secret": [1.0, 1.0, 3.0, 3.0]}
    original, schema = numbers(**before)
    found = tm.evaluate(original, original, schema, control=original)
    assert found.attackers.inference.share.baseline == 1.0
    assert found.attackers.inference.share.excess == 0.0


def test_homogeneity() -> None:
    """Classes {0, 1}, {2, 3}, {4}: the first has one value; the second two; the third is a record by itself."""
    before = {"a": [0, 1, 10, 11, 20], "secret": [5, 5, 6, 7, 8]}
    found = attacked(before, before | {"a": [0, 0, 10, 10, 20]})
    one = found.attackers.homogeneity
    assert one.chances.tolist() == [1, 1, 0, 0, 0]
    # dealt at random: a pair of records with the chance that both are the two fives
    assert one.share.baseline == pytest.approx(2 * 2 * (2 / 5 * 1 / 4) / 5)
    moved = attacked(before, {"a": [0, 0, 10, 10, 20], "secret": [6, 6, 5, 7, 5]})
    assert moved.attackers.homogeneity.chances.tolist() == [0, 0, 0, 0, 0]  # a class of one value, which is not theirs


def test_extremes() -> None:
    """The richest keeps the largest value and the poorest does not; both are found by the quasi-identifier."""
    before = {"a": [1, 2, 3, 4, 5], "secret": [10, 20, 30, 40, 500]}
    found = attacked(before, {"a": [1, 2, 3, 4, 5], "secret": [20, 10, 30, 40, 500]})
    one = found.attackers.extremes
    assert (one.share.value, one.share.n, one.share.baseline) == (0.5, 2, 0.2)
    assert np.nan_to_num(one.chances, nan=-1).tolist() == [0, -1, -1, -1, 1]
    grouped = attacked(before, before | {"a": [1.5, 1.5, 4, 4, 4]})
    assert grouped.attackers.extremes.chances[[0, 4]] == pytest.approx([1 / 2, 1 / 3])  # one of those in the group


def test_a_value_that_many_share_is_no_extreme() -> None:
    before = {"a": [1, 2, 3, 4, 5, 6], "secret": [0, 0, 0, 0, 7, 9]}
    one = attacked(before, before).attackers.extremes
    assert one.share.n == 1
    assert np.flatnonzero(~np.isnan(one.chances)).tolist() == [5]


def test_disclosure_is_what_shuffling_is_chosen_by() -> None:
    """Its quasi-identifiers are released as they are, which the headline says, and the disclosure still tells."""
    rng = np.random.default_rng(5)
    original, schema = numbers(a=rng.normal(size=60).tolist(), secret=rng.normal(size=60).tolist())
    release = tm.protect(original, schema, tm.Shuffling(), seed=2)
    head = release.evaluate().headline
    assert (head["risk"], head["unchanged"]) == (1.0, "a")
    assert head["disclosure"] < 0.3
    assert tm.evaluate(original, original, schema).headline["disclosure"] == 1.0


# ----------------------------------------------------------------------------------- choosing


def test_attackers_are_chosen_by_name() -> None:
    original, schema = numbers(a=[1, 2, 3, 4])
    found = tm.evaluate(original, original, schema, attackers=["nearest"])
    assert found.headline["attacker"] == "nearest"
    assert found.attackers.one_to_one is None
    assert math.isnan(found.headline["disclosure"])
    with pytest.raises(tm.PlanError, match="there is no attacker 'nerest'") as error:
        tm.evaluate(original, original, schema, attackers=["nerest"])
    assert error.value.hint == "Did you mean 'nearest'?"
    with pytest.raises(tm.PlanError, match="a list of names"):
        tm.evaluate(original, original, schema, attackers="nearest")
    with pytest.raises(tm.PlanError, match="no attacker to try"):
        tm.evaluate(original, original, schema, attackers=[])


def test_unlinked_tables_have_no_risk() -> None:
    original, schema = numbers(a=[1, 2, 3, 4], secret=[1, 2, 3, 4])
    found = tm.evaluate(original, original.slice(0, 2), schema, linked=False)
    assert math.isnan(found.headline["risk"])
    assert found.headline["attacker"] is None
    assert found.attackers.inference is not None


def test_the_map_chooses_by_disclosure_and_promise() -> None:
    rng = np.random.default_rng(5)
    original, schema = numbers(a=rng.normal(size=30).tolist(), secret=rng.normal(size=30).tolist())
    methods = [tm.Microaggregation(2), tm.Microaggregation(6), tm.Noise(0.1)]
    found = tm.compare(original, schema, methods, cache=False)
    small = found.points[1].disclosure
    assert found.best(max_disclosure=small).point.label == "microaggregation(k=6)"
    assert "and a disclosure of" in found.best(max_disclosure=small).reason
    assert found.best(max_risk=1.0, promise="k = 2").point.label == "microaggregation(k=2)"
    with pytest.raises(tm.PlanError, match="no method promises 'k = 9'"):
        found.best(max_risk=1.0, promise="k = 9")
    with pytest.raises(tm.PlanError, match="no limit to choose by"):
        found.best()
    without = tm.compare(original.select(["a"]), tm.Schema([schema["a"]]), methods[:1], cache=False)
    with pytest.raises(tm.PlanError, match="no disclosure to choose by"):
        without.best(max_disclosure=0.5)


# ----------------------------------------------------------------------------------- properties


@settings(max_examples=25, deadline=None)
@given(pairs(most=9))
def test_shares_are_shares_and_the_risk_is_the_largest(both: tuple[tm.Microdata, tm.Microdata]) -> None:
    original, released = both
    found = tm.evaluate(original.to_frame(), released.to_frame(), original.schema)
    for name, one in found.attackers.items():
        if one is None:
            continue
        assert 0 <= one.share.low <= one.share.value <= one.share.high <= 1, name
        assert 0 <= one.share.baseline <= 1
        known = one.chances[~np.isnan(one.chances)]
        assert ((known >= 0) & (known <= 1 + 1e-12)).all()
        assert len(one.chances) == original.n
    tried = {name: one for name, one in found.attackers.items() if one is not None}
    people = {name: one.share.value for name, one in tried.items() if ATTACKERS[name].after == "identity"}
    assert found.headline["risk"] == max(people.values()) >= found.headline["nearest"] == people["nearest"]
    assert 0 <= found.headline["disclosure"] <= 1


@settings(max_examples=40, deadline=None)
@given(pairs(most=9), st.integers(0, 3))
def test_links_are_those_of_all_pairs(both: tuple[tm.Microdata, tm.Microdata], seed: int) -> None:
    original, released = both
    names = original.schema.quasi_identifiers
    here, there = spaces(original, released, names)
    rng, rows, units = np.random.default_rng(seed), np.arange(released.n), np.arange(original.n)
    links = linking.linked(linking.by_distance(here, there), rows, units, rng)
    cost = np.array([here.squared_from(there.coordinates[0][i], there.coordinates[1][i]) for i in rows])
    np.testing.assert_allclose(-links.values, np.sort(cost, axis=1), atol=1e-9)
    near = cost <= cost.min(axis=1, keepdims=True) + 1e-9
    np.testing.assert_allclose(links.chances, near[rows, rows] / near.sum(axis=1))
    chances = linking.one_to_one(links, units, rows, rng)
    least = cost[linear_sum_assignment(cost)].sum()
    assert chances.sum() <= original.n + 1e-9
    if np.isclose(cost[rows, rows].sum(), least) and _only_one(cost, least):
        assert chances == pytest.approx(np.ones(original.n))


def _only_one(cost: np.ndarray[Any, Any], least: float) -> bool:
    """Whether no assignment that leaves out a pair of the identity is as good."""
    for i in range(len(cost)):
        without = cost.copy()
        without[i, i] = 1e9
        if without[linear_sum_assignment(without)].sum() <= least + 1e-6:
            return False
    return True


def test_the_sparse_assignment_is_the_full_one_where_lists_are_long_enough() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(90, 2))
    original, released = table_of(["a", "b"], x), table_of(["a", "b"], x + rng.normal(size=(90, 2)))
    here, there = spaces(original, released, ("a", "b"))
    evidence, rows = linking.by_distance(here, there), np.arange(90)
    full, sparse = (linking.linked(evidence, rows, rows, np.random.default_rng(2), near=near) for near in (90, 80))
    assert full.values.shape[1] == 90 > sparse.values.shape[1]
    first, second = (linking.one_to_one(one, rows, rows, np.random.default_rng(3)) for one in (full, sparse))
    np.testing.assert_array_equal(first, second)
    assert 0 < first.mean() < 1


def test_links_with_any_record_of_a_person_are_right() -> None:
    original, released = table(number=[0, 10, 20, 30]), table(number=[9, 1, 21, 29])
    here, there = spaces(original, released, ("number",))
    rows, people = np.arange(4), np.array([0, 0, 1, 2])
    links = linking.linked(linking.by_distance(here, there), rows, people, np.random.default_rng(1))
    assert links.chances.tolist() == [1, 1, 1, 1]
    assert linking.one_to_one(links, people, rows, np.random.default_rng(1)).tolist() == [1, 1, 1, 1]
    assert [one.tolist() for one in own_pairs(people, np.array([1, 3]))] == [[0, 0, 1], [0, 1, 3]]


def test_long_tables_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.measures.risk import sampling

    monkeypatch.setattr(sampling.targets, "__defaults__", (20,))
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    found = attacked({"a": x.tolist()}, {"a": (x + rng.normal(size=50) / 50).tolist()}, seed=4)
    assert found.attackers.nearest.targets == 50
    for name in ("partial", "one_to_one"):
        one = found.attackers[name]
        assert one.targets == one.share.n == 20 == (~np.isnan(one.chances)).sum()
        assert one.how.endswith("A random 20 of 50 records were looked for.")
    again = attacked({"a": x.tolist()}, {"a": found.released.columns["a"].numbers().tolist()}, seed=4)
    assert again.to_dict() == found.to_dict()


# ----------------------------------------------------------------------------------- people and households


def of_people(person: list[str], home: list[str] | None = None) -> tuple[pa.Table, pa.Table, tm.Schema]:
    """Four records; those of the first person change places, and the last goes astray."""
    columns = {"who": person, **({} if home is None else {"home": home}), "a": [0.0, 10.0, 20.0, 30.0]}
    attributes = [
        *(tm.Attribute(name, role="identifier") for name in columns if name != "a"),
        tm.Attribute("a", role="quasi_identifier", kind="continuous"),
    ]
    schema = tm.Schema(attributes, person="who", household=None if home is None else "home")
    return pa.table(columns), pa.table({"a": [9.0, 1.0, 21.0, 11.0]}), schema


def test_a_link_with_any_record_of_a_person_is_right_and_people_are_counted() -> None:
    before, after, schema = of_people(["p", "p", "q", "r"])
    found = tm.evaluate(before, after, schema)
    for name in ("nearest", "partial"):
        one = found.attackers[name]
        assert one.chances.tolist() == [1, 1, 1, 0]
        assert (one.share.value, one.share.n) == (pytest.approx(2 / 3), 3)  # of three people
        assert one.share.baseline == pytest.approx(1 / 3)
    assert found.headline["nearest"] == pytest.approx(2 / 3)
    assert found.attackers.partial.how.startswith("By a, the worst of 1 sets")


def test_a_person_is_found_by_the_record_that_is_found_most_easily() -> None:
    before, after, schema = of_people(["p", "q", "r", "r"])
    one = tm.evaluate(before, after, schema).attackers.nearest
    assert one.chances.tolist() == [0, 0, 1, 0]
    assert one.share.value == pytest.approx(1 / 3)
    assert one.households is None


def test_households() -> None:
    """p and q are one household: with chances 0 and 0 nobody of it is found; r is another, and is found."""
    before, after, schema = of_people(["p", "q", "r", "r"], ["h", "h", "g", "g"])
    one = tm.evaluate(before, after, schema).attackers.nearest
    assert one.households == pytest.approx(1 / 2)
    mixed = tm.evaluate(before, pa.table({"a": [5.0, 5.0, 20.0, 30.0]}), schema).attackers.nearest
    assert mixed.chances.tolist() == [0.5, 0.5, 1, 1]
    assert mixed.households == pytest.approx((1 - 0.5 * 0.5 + 1) / 2)


def test_of_a_person_all_records_are_looked_for_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.measures.risk import sampling

    monkeypatch.setattr(sampling.targets, "__defaults__", (20,))
    people = [f"p{place // 3}" for place in range(60)]
    schema = tm.Schema(
        [tm.Attribute("who", role="identifier"), tm.Attribute("a", role="quasi_identifier", kind="continuous")],
        person="who",
    )
    before = pa.table({"who": people, "a": [float(place) for place in range(60)]})
    one = tm.evaluate(before, before.select(["a"]), schema).attackers.one_to_one
    known = ~np.isnan(one.chances)
    assert known.sum() == 18
    assert set(known.reshape(20, 3).sum(axis=1)) == {0, 3}
    assert one.share.n == 6
