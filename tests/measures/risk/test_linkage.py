from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive import equally_near, linked
from taxomask.engines import Engine, Memory
from taxomask.measures import Tables
from taxomask.measures.risk import Linkage, partial_linkage, record_linkage
from taxomask.measures.risk.linkage import LINKAGE, spaces
from taxomask.measures.side_by_side import side_by_side

from .conftest import KINDS, NAMES, pairs, table


def test_by_hand() -> None:
    """Masked 4 is as near to 3 as to 5; 9 is nearest to 5."""
    original, released = table(number=[3, 5, 8, 30]), table(number=[4, 4, 9, 9])
    found = record_linkage(original, released)
    assert found.right.tolist() == [True, True, True, False]
    assert found.ties.tolist() == [2, 2, 1, 1]
    assert found.among.value == 3 / 4
    assert found.among.baseline == 1.5 / 4
    assert found.unique.value == 1 / 4
    assert found.unique.baseline == 0.5 / 4
    assert found.expected.value == 2 / 4
    assert found.expected.baseline == 1 / 4


def naive(original: tm.Microdata, released: tm.Microdata, names: tuple[str, ...], scale: Any) -> Any:
    """From the distances of the released record to all original ones, one by one."""
    here, there = spaces(original, released, names, scale)
    right, ties = [], []
    for i, (numbers, codes) in enumerate(zip(*there.coordinates, strict=True)):
        near = equally_near(here.squared_from(numbers, codes), largest(original, names))
        right.append(near[i])
        ties.append(near.sum())
    return np.array(right), np.array(ties)


def largest(original: tm.Microdata, names: tuple[str, ...]) -> float:
    """M: the largest |x|/S, with the positions of ordered categories."""
    found = 0.0
    for name in names:
        column: Any = original.columns[name]
        if KINDS.get(name, {}).get("kind") in ("continuous", "ordinal") or not hasattr(column, "codes"):
            values = column.values if hasattr(column, "values") else np.where(column.missing, np.nan, column.codes)
            values = values[~np.isnan(values)]
            if len(values) > 1 and np.ptp(values) > 0:
                found = max(found, np.abs(values).max() / values.std(ddof=1))
    return float(found)


@given(pairs(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.sampled_from(["balanced", "paper"]))
@settings(max_examples=30)
def test_naive(both: tuple[tm.Microdata, tm.Microdata], names: list[str], scale: Any) -> None:
    original, released = both
    found = record_linkage(original, released, names, scale=scale)
    right, ties = naive(original, released, tuple(names), scale)
    np.testing.assert_array_equal(found.right, right)
    np.testing.assert_array_equal(found.ties, ties)
    assert found.expected.value == pytest.approx((right / ties).mean())


# --------------------------------------------------------------------------------------- ties


def averaged(columns: dict[str, list[str]], k: int) -> tuple[tm.Microdata, tm.Microdata, list[Any], list[Any]]:
    """Decimals microaggregated: both tables, and their records in exact arithmetic."""
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in columns])
    frame = pa.table({name: [float(value) for value in values] for name, values in columns.items()})
    original = tm.Microdata.from_frame(frame, schema)
    method, rng = tm.Microaggregation(k, algorithm="mdav"), np.random.default_rng(0)
    groups = method.groups(original, rng).numbers
    records = list(zip(*(map(Fraction, values) for values in columns.values()), strict=True))
    inside = [[one for one, group in zip(records, groups, strict=True) if group == number] for number in groups]
    exact = [tuple(sum(values, Fraction(0)) / len(values) for values in zip(*one, strict=True)) for one in inside]
    return original, method.mask(original, rng).data, records, exact


def test_an_average_of_two_is_as_far_from_both() -> None:
    """For groups of two every mean is halfway, however its distances are rounded."""
    ages = [21, 26, 33, 41, 47, 58, 66, 79]
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    release = tm.protect(pa.table({"age": ages}), schema, tm.Microaggregation(k=2), seed=1)
    found = record_linkage(release.original, release.released)
    assert found.ties.tolist() == [2] * 8
    assert (found.unique.value, found.among.value, found.expected.value) == (0, 1, 1 / 2)


def test_census() -> None:
    """13 columns of 1,080 people, in pairs: the nearest is never the only one; exact for every sixtieth record."""
    path = Path(__file__).parents[2] / "data" / "casc" / "CASCrefmicrodata.csv"
    names, *rows = [line.replace('"', "").split(",") for line in path.read_text().split()]
    original, released, records, exact = averaged(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), 2)
    found = record_linkage(original, released)
    assert found.unique.value == 0
    assert found.among.value == pytest.approx(0.9704, abs=5e-5)
    for i, (right, ties) in linked(records, {i: exact[i] for i in range(0, 1080, 60)}).items():
        assert (found.right[i], found.ties[i]) == (right, ties)


@pytest.mark.parametrize("offset", [0, 10_000_000])
@pytest.mark.parametrize("k", [2, 3])
def test_money(k: int, offset: int) -> None:
    """Skewed amounts with two decimals, whose rounding is large beside the distances between the small ones."""
    cents = np.rint(100 * np.random.default_rng(1).lognormal(7, 1.5, 200)).astype(int) + 100 * offset
    original, released, records, exact = averaged({"money": [f"{one // 100}.{one % 100:02}" for one in cents]}, k)
    found = record_linkage(original, released)
    expected = linked(records, dict(enumerate(exact)))
    assert list(zip(found.right.tolist(), found.ties.tolist(), strict=True)) == [expected[i] for i in range(200)]
    if k == 2:
        assert (found.unique.value, found.among.value) == (0, 1)


@given(
    st.lists(st.lists(st.integers(-50, 50), min_size=2, max_size=2), min_size=4, max_size=8),
    st.integers(1, 2),
    st.sampled_from([2, 3]),
)
@settings(max_examples=60)
def test_ties_are_those_of_exact_arithmetic(rows: list[list[int]], width: int, k: int) -> None:
    columns = {f"x{a}": [f"{'-' * (row[a] < 0)}0.{abs(row[a]):02}" for row in rows] for a in range(width)}
    original, released, records, exact = averaged(columns, k)
    found = record_linkage(original, released)
    expected = linked(records, dict(enumerate(exact)))
    assert list(zip(found.right.tolist(), found.ties.tolist(), strict=True)) == [expected[i] for i in range(len(rows))]


@given(
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 3)), min_size=2, max_size=30),
    st.integers(1, 31),
    st.randoms(use_true_random=False),
)
@settings(max_examples=100)
def test_ties_that_cease_to_be_ties(rows: list[tuple[int, int]], size: int, random: Any) -> None:
    """Of numbers a step of 2^-20 apart some 15 in a row are as near as the nearest, and are found one by one."""
    steps = [place + 1000 * far for place, far in rows]
    moved = [place + random.randint(-40, 40) for place in steps]
    original, released = (table(number=[1e9 + step / 2**20 for step in some]) for some in (steps, moved))
    found = record_linkage(original, released)
    right, ties = naive(original, released, ("number",), "balanced")
    for one in (found, in_chunks(original, released, size)):
        np.testing.assert_array_equal(one.right, right)
        np.testing.assert_array_equal(one.ties, ties)


def in_chunks(original: tm.Microdata, released: tm.Microdata, size: int) -> Linkage:
    """The linkage of a long table, whose chunks have so many records."""
    tables = Tables(original, released, side_by_side(original, released, linked=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "chunk", size)
        found: Linkage = LINKAGE.measure_on(Memory(), tables)
    return found


@given(pairs(), st.integers(1, 12))
@settings(max_examples=40)
def test_in_chunks_the_links_are_the_same(both: tuple[tm.Microdata, tm.Microdata], size: int) -> None:
    found, expected = in_chunks(*both, size), record_linkage(*both)
    np.testing.assert_array_equal(found.right, expected.right)
    np.testing.assert_array_equal(found.ties, expected.ties)
    assert found.expected == expected.expected


# --------------------------------------------------------------------------------------- cases


@given(pairs())
@settings(max_examples=25)
def test_identical_tables_are_linked_as_far_as_records_differ(both: tuple[tm.Microdata, tm.Microdata]) -> None:
    data, _ = both
    found = record_linkage(data, data)
    assert found.among.value == 1
    if (found.ties == 1).all():
        assert found.unique.value == found.expected.value == 1


@given(pairs(most=8))
@settings(max_examples=30)
def test_subsets_are_linkages_by_some_attributes(both: tuple[tm.Microdata, tm.Microdata]) -> None:
    original, released = both
    found = partial_linkage(original, released, most=3)
    wanted = {subset for size in (1, 2, 3) for subset in combinations(NAMES, size)}
    assert {one.attributes for one in found} == wanted
    assert [one.expected.value for one in found] == sorted((one.expected.value for one in found), reverse=True)
    for one in found:
        alone = record_linkage(original, released, one.attributes)
        np.testing.assert_array_equal(one.right, alone.right)
        np.testing.assert_array_equal(one.ties, alone.ties)


def test_constant_and_missing_columns_tell_nothing() -> None:
    for cells in ([7, 7, 7, 7], [None] * 4):
        data = table(number=cells)
        found = record_linkage(data, data)
        assert found.ties.tolist() == [4, 4, 4, 4]
        assert found.expected.value == found.expected.baseline == 1 / 4


def test_a_category_that_vanished_and_one_that_appeared() -> None:
    original = table(concept=["a1", "a2", "b11", "b12"], plain=["x", "y", "z", "z"])
    released = table(concept=["a", "a", "b1", "b1"], plain=["x", "w", "z", "z"])
    found = record_linkage(original, released)
    assert found.right.all()
    assert found.ties.tolist() == [1, 2, 2, 2]  # w is neither x nor y


def test_one_record() -> None:
    data = table(number=[3], concept=["a1"])
    assert record_linkage(data, data).expected.value == 1


def test_records_that_were_left_out() -> None:
    original, released = table(number=[1, 5, 9]), table(number=[8, 2])
    with pytest.raises(
        tm.DataError, match=r"record linkage compares records one by one, but there are 3 original and 2"
    ):
        record_linkage(original, released)
    found = record_linkage(original, released, truth=[2, 0])
    assert found.unique.value == 1
    assert found.expected.baseline == 1 / 3
    with pytest.raises(tm.DataError, match="truth must have a position from 0 to 2 for each of 2 released records"):
        record_linkage(original, released, truth=[3, 0])


def test_discharges(discharges: Any, discharge_schema: tm.Schema) -> None:
    """Real records of all kinds: as the scan, and microaggregation lowers the risk to at most 1/k."""
    release = tm.protect(discharges, discharge_schema, tm.Microaggregation(k=5), seed=1)
    names = discharge_schema.quasi_identifiers
    found = record_linkage(release.original, release.released)
    right, ties = naive(release.original, release.released, names, "balanced")
    np.testing.assert_array_equal(found.right, right)
    np.testing.assert_array_equal(found.ties, ties)
    assert found.expected.baseline < found.expected.value <= 1 / 5
    assert record_linkage(release.original, release.original).among.value == 1
