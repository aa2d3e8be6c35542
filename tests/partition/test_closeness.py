"""t-closeness and l-diversity in the partition: merging as defined, exchanges, strata, searches among what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods._closeness import Limits, different
from taxomask.microdata import Microdata
from taxomask.partition import Groups, enough_strata, exchange, from_strata, mdav, merge_until
from taxomask.partition.sweep import Left, middle_records
from taxomask.records import RecordDistance
from taxomask.semantics import earth_mover

TREE = tm.Taxonomy.from_edges(
    [("a", "r"), ("b", "r"), ("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("b11", "b1")]
)
DAG = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("a1", "a"), ("a1", "b"), ("a2", "a"), ("b1", "b"), ("b2", "b")])
CONFIDENTIAL: dict[str, dict[str, Any]] = {
    "number": {"kind": "continuous"},
    "grade": {"kind": "ordinal", "order": ["low", "mid", "high"]},
    "plain": {"kind": "nominal"},
    "tree": {"kind": "taxonomic", "taxonomy": TREE},
    "dag": {"kind": "taxonomic", "taxonomy": DAG},
}


def schema_of(*confidential: str, person: str | None = None) -> tm.Schema:
    attributes = [
        tm.Attribute("who", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    ]
    for name, more in CONFIDENTIAL.items():
        attributes.append(tm.Attribute(name, role="confidential" if name in confidential else "other", **more))
    return tm.Schema(attributes, person=person)


@st.composite
def tables(draw: st.DrawFn, least: int = 8, most: int = 40) -> pa.Table:
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in rng.integers(0, len(values), n)]

    return pa.table(
        {
            "who": some([f"p{i}" for i in range(n)]),
            "age": some([None, *range(12)]) if draw(st.booleans()) else rng.normal(size=n),
            "sex": some(["f", "m", None]),
            "number": pa.array(some([None, 1, 2, 2, 5, 9]), pa.float64()),
            "grade": some(["low", "mid", "high", None]),
            "plain": some(["x", "x", "y", "z"]),
            "tree": some(["a1", "a2", "b", "b11", "b2", None]),
            "dag": some(["a1", "a2", "b1", "b2"]),
        }
    )


def naive_merge(space: RecordDistance, groups: Groups, violation: Any) -> np.ndarray:
    """Merge as it is defined: the worst group, with the one whose middle record is nearest, all looked at each time."""
    members = {group: set(groups.members(group).tolist()) for group in range(len(groups.sizes))}

    def middle(rows: set[int]) -> int:
        sums = {i: sum(space.squared(i, j) for j in sorted(rows)) for i in sorted(rows)}
        least = min(sums.values()) * (1 + 1e-12)
        return next(i for i, total in sums.items() if total <= least)

    centres = {group: middle(rows) for group, rows in members.items()}
    while len(members) > 1:
        amounts = {group: violation(np.array(sorted(rows))) for group, rows in members.items()}
        worst = max(amounts.values())
        if worst <= 0:
            break
        group = next(one for one, amount in amounts.items() if amount == worst)
        away = {one: space.squared(centres[group], centres[one]) for one in members if one != group}
        other = min(away, key=lambda one: (away[one], one))
        keep, gone = (group, other) if len(members[group]) >= len(members[other]) else (other, group)
        members[keep] |= members.pop(gone)
    numbers = np.empty(space.n, dtype=int)
    for number, group in enumerate(sorted(members)):
        numbers[sorted(members[group])] = number
    return numbers


# ------------------------------------------------------------------------------------- searches


@given(tables(), st.data())
@settings(max_examples=30, deadline=None)
def test_the_nearest_of_those_left(table: pa.Table, choose: Any) -> None:
    space = RecordDistance(Microdata.from_frame(table, schema_of("plain")))
    stratum = np.array(choose.draw(st.lists(st.integers(0, 2), min_size=space.n, max_size=space.n)))
    left, here = Left(space, [np.flatnonzero(stratum == one) for one in range(3)]), set(range(space.n))
    for _ in range(12):
        row = choose.draw(st.integers(0, space.n - 1))
        within, several = choose.draw(st.integers(0, 2)), choose.draw(st.integers(1, 5))
        others = [j for j in sorted(here) if j != row and stratum[j] == within]
        others.sort(key=lambda j, row=row: (space.squared(row, j), j))
        assert left.nearest(row, several, within).tolist() == others[:several]
        assert left.has(row, within) == (row in here and stratum[row] == within)
        gone = choose.draw(st.sampled_from(sorted(here)))
        left.take_out(gone)
        here.remove(gone)
        assert left.rows().tolist() == sorted(here)
        if not here:
            break


@given(tables())
@settings(max_examples=20, deadline=None)
def test_distances_of_many_groups_at_once(table: pa.Table) -> None:
    """As one by one, with everybody counted once, too; and from counts."""
    for person in (None, "who"):
        data = Microdata.from_frame(table, schema_of(*CONFIDENTIAL, person=person))
        groups = Groups(np.random.default_rng(data.n).permutation(np.arange(data.n) // 3).astype(np.int32))
        for name in CONFIDENTIAL:
            mover = earth_mover(data.columns[name], data.people)
            each = [mover(groups.members(group)) for group in range(len(groups.sizes))]
            np.testing.assert_allclose(mover.of_groups(groups.order, groups.start), each, atol=1e-9)
            assert (mover.at_most(groups.order, groups.start) >= np.array(each) - 1e-9).all()
            assert mover.largest(groups.order, groups.start) == pytest.approx(max(each), abs=1e-9)
            if person is None:
                counted = [np.unique(mover.codes[groups.members(i)], return_counts=True) for i in range(len(each))]
                np.testing.assert_allclose([mover.of_counts(*one) for one in counted], each, atol=1e-9)


# ------------------------------------------------------------------------------------- merging


@given(tables(), st.floats(0.05, 0.6), st.sampled_from([None, 2]), st.sampled_from(list(CONFIDENTIAL)), st.booleans())
@settings(max_examples=40, deadline=None)
def test_merging_is_as_defined(table: pa.Table, t: float, l: int | None, name: str, people: bool) -> None:  # noqa: E741
    data = Microdata.from_frame(table, schema_of(name, "plain", person="who" if people else None))
    columns = [data.columns[one] for one in dict.fromkeys((name, "plain"))]
    if any(len(np.unique(column.numbered()[0])) < (l or 0) for column in columns):
        return
    space = RecordDistance(data)
    limits = Limits(columns, t, l, data.people, None, 3)
    groups = Groups(mdav(space, 3))
    merged = merge_until(space, groups, limits)
    np.testing.assert_array_equal(merged, naive_merge(space, groups, limits))
    found = Groups(merged)
    assert limits.of_groups(found.order, found.start).max() <= 1e-9 or len(found.sizes) == 1


def test_a_table_with_too_few_values() -> None:
    data = Microdata.from_frame(
        pa.table({"plain": ["x", "y"] * 5}), tm.Schema([tm.Attribute("plain", role="confidential", kind="nominal")])
    )
    with pytest.raises(tm.DataError, match="only 2 different values, fewer than l = 3"):
        Limits([data.columns["plain"]], None, 3, None, None, 2)


def test_different_values_of_groups() -> None:
    assert different(np.array([0, 1, 1, 2, 2, 2]), np.array([0, 3, 6])).tolist() == [2, 1]


# ------------------------------------------------------------------------------------- exchanges and strata


def test_an_exchange_by_hand() -> None:
    """Two groups, all x and all y: one exchange of the nearest pair brings both to one half."""
    table = pa.table({"age": [0.0, 1.0, 10.0, 11.0], "ill": ["x", "x", "y", "y"]})
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("ill", role="confidential", kind="nominal"),
        ]
    )
    release = tm.protect(table, schema, tm.Microaggregation(2, t=0.1, closeness="swap"), seed=1)
    assert len(set(release.groups.tolist())) == 2
    merged = tm.protect(table, schema, tm.Microaggregation(2, t=0.1), seed=1)
    assert len(set(merged.groups.tolist())) == 1
    first = tm.protect(table, schema, tm.Microaggregation(2, t=0.26, closeness="first"), seed=1)
    assert sorted(np.bincount(first.groups).tolist()) == [2, 2]


@given(tables(most=60), st.floats(0.05, 0.5), st.sampled_from(list(CONFIDENTIAL)), st.booleans())
@settings(max_examples=15, deadline=None)
def test_exchanges_keep_sizes_and_people_and_never_harm_a_group_that_is_done(
    table: pa.Table, t: float, name: str, people: bool
) -> None:
    data = Microdata.from_frame(table, schema_of(name, person="who" if people else None))
    space, k = RecordDistance(data), 2
    if people and len(np.unique(data.people)) < k:
        return
    limits = Limits([data.columns[name]], t, None, data.people, None, k)
    before = Groups(mdav(space, k, people=data.units))
    after = exchange(space, before, limits, np.argsort(data.columns[name].numbered()[0], kind="stable"), k, data.units)
    assert after.sizes.tolist() == before.sizes.tolist()
    if people:
        assert min(len(np.unique(data.people[after.members(i)])) for i in range(len(after.sizes))) >= k
    first = limits.at_most(before.order, before.start)[0], limits.at_most(after.order, after.start)[0]
    assert first[1] <= max(first[0], 0) + 1e-9


@given(st.integers(2, 400), st.integers(2, 20), st.floats(0.01, 1))
@settings(max_examples=200)
def test_enough_strata(n: int, k: int, t: float) -> None:
    if n < k:
        return
    several = enough_strata(n, k, t)
    assert several >= k
    assert n % several <= n // several
    assert (n - several) / (2 * (n - 1) * several) <= t + 1e-12


@given(st.integers(2, 12), st.integers(2, 8), st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_a_record_of_each_stratum_is_within_the_bound(strata: int, each: int, seed: int) -> None:
    """(n - k*) / (2(n - 1)k*), for different ranks and n a multiple of k*."""
    rng = np.random.default_rng(seed)
    n = strata * each
    table = pa.table({"age": rng.normal(size=n), "pay": rng.permutation(n).astype(float)})
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("pay", role="confidential", kind="continuous"),
        ]
    )
    data = Microdata.from_frame(table, schema)
    order = np.argsort(data.columns["pay"].numbers(), kind="stable")
    groups = from_strata(RecordDistance(data), order, strata)
    assert groups.sizes.tolist() == [strata] * each
    stratum = np.empty(n, dtype=int)
    stratum[order] = np.arange(n) // each
    assert all(sorted(stratum[groups.members(i)]) == list(range(strata)) for i in range(each))
    largest = earth_mover(data.columns["pay"]).largest(groups.order, groups.start)
    assert largest <= (n - strata) / (2 * (n - 1) * strata) + 1e-9


@given(
    tables(most=60), st.sampled_from(["merge", "swap", "first"]), st.floats(0.1, 0.6), st.booleans(), st.integers(0, 9)
)
@settings(max_examples=20, deadline=None)
def test_whatever_the_way_the_promises_hold(table: pa.Table, way: Any, t: float, people: bool, seed: int) -> None:
    schema = schema_of("tree", "number", "plain", person="who" if people else None)
    data = Microdata.from_frame(table, schema)
    if people and len(np.unique(data.people)) < 3:
        return
    method = tm.Microaggregation(3, t=t, closeness=way)
    release = tm.protect(table, schema, method, seed=seed)
    assert all(check.holds for check in release.promise)
    assert sum("is within t" in check.promise for check in release.promise) == 3
    again = tm.protect(table, schema, method, seed=seed)
    assert release.data.equals(again.data)


def test_middles_are_the_first_of_equally_good_ones() -> None:
    space = RecordDistance(
        Microdata.from_frame(
            pa.table({"age": [0.0, 2.0, 4.0, 7.0, 7.0]}),
            tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")]),
        )
    )
    assert middle_records(space, Groups(np.array([0, 0, 0, 1, 1], dtype=np.int32))).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"closeness": "swap"}, "needs t or l"),
        ({"closeness": "first", "l": 2}, "needs t"),
        ({"closeness": "first", "t": 0.3, "block_size": 100}, "whole table"),
        ({"closeness": "first", "t": 0.3, "algorithm": "refined"}, "whole table"),
        ({"closeness": "last", "t": 0.3}, "closeness must be 'merge', 'swap' or 'first'"),
    ],
)
def test_wrong_use(more: dict[str, Any], told: str) -> None:
    with pytest.raises(tm.PlanError, match=told):
        tm.Microaggregation(3, **more).check_parameters()
