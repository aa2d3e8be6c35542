from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.risk import partial_linkage, record_linkage
from taxomask.measures.risk.linkage import spaces

from .conftest import NAMES, pairs, table


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
        squared = here.squared_from(numbers, codes)
        right.append(squared[i] == squared.min())
        ties.append((squared == squared.min()).sum())
    return np.array(right), np.array(ties)


@given(pairs(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.sampled_from(["balanced", "paper"]))
@settings(max_examples=30)
def test_naive(both: tuple[tm.Microdata, tm.Microdata], names: list[str], scale: Any) -> None:
    original, released = both
    found = record_linkage(original, released, names, scale=scale)
    right, ties = naive(original, released, tuple(names), scale)
    np.testing.assert_array_equal(found.right, right)
    np.testing.assert_array_equal(found.ties, ties)
    assert found.expected.value == pytest.approx((right / ties).mean())


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
