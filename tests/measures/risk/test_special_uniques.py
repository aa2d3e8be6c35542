"""SUDA2 and DIS: by hand, by sdcMicro's figures, and by the definition."""

from __future__ import annotations

from itertools import combinations
from math import factorial, prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.risk import special_uniques
from taxomask.measures.risk.special_uniques import most_columns

from .conftest import NAMES, cells, table, tables
from .survey import KEYS, francdat, survey


def test_eight_records_by_hand() -> None:
    """Key1 = 3 and 6, and Key4 = 4, stand alone: 3·2·1 each. Of pairs, (Key2, Key4) and (Key1, Key4): 2·1 each."""
    found = special_uniques(francdat())
    assert found.score.tolist() == [0, 0, 0, 6 + 2, 6, 2 + 2, 6 + 2, 0]
    assert found.uniques == found.singled_out == 4
    assert found.by_size == {1: 3, 2: 1, 3: 0, 4: 0}
    assert found.fewest.tolist() == [0, 0, 0, 1, 1, 2, 1, 0]
    assert [found.singles_out(i) for i in range(8)] == [
        (), (), (), ("Key1",), ("Key4",), ("Key1", "Key4"), ("Key1",), ()
    ]  # fmt: skip
    assert {name: one.sets for name, one in found.columns.items()} == {"Key1": 3, "Key2": 3, "Key3": 0, "Key4": 5}
    assert found.columns["Key4"].contribution == pytest.approx((2 + 6 + 2 + 2 + 2) / 26)
    assert found.worst == ((("Key2", "Key4"), 3), (("Key1",), 2), (("Key4",), 1), (("Key1", "Key4"), 1))


def test_eight_records_as_in_sdcmicro() -> None:
    """DIS = 0.01·4 / (0.01·4 + 0.99·4): four unique records and four in pairs."""
    found = special_uniques(francdat(), fraction=0.01)
    assert found.score.tolist() == [0, 0, 0, 8, 6, 4, 8, 0]
    np.testing.assert_array_equal(np.round(found.dis, 6), [0, 0, 0, 0.014213, 0.010106, 0.006237, 0.014213, 0])


def test_more_columns_give_the_scores_of_sdcmicro() -> None:
    """Of seven columns sdcMicro gives (7 - s)! to a set of any size s; sets of up to four have 3! / 2! of it each."""
    data = survey()
    every, four = special_uniques(data, most=7), special_uniques(data)
    assert every.uniques == four.uniques == 157
    assert every.beyond == 0
    assert four.singled_out + four.beyond == 157
    np.testing.assert_array_equal(every.fewest[four.fewest > 0], four.fewest[four.fewest > 0])
    assert four.score.max() == sum(prod(range(3, 7 - s + 1)) * c for s, c in _sizes(data, int(four.score.argmax()), 4))
    assert every.score.max() == sum(factorial(7 - s) * c for s, c in _sizes(data, int(every.score.argmax()), 7))


def _sizes(data: tm.Microdata, record: int, most: int) -> list[tuple[int, int]]:
    """How many minimal sets of each size single out a record, from the definition."""
    columns = [np.array(cells(data, name)) for name in KEYS]
    alike = [column == column[record] for column in columns]
    alone: list[set[int]] = []
    for size in range(1, most + 1):
        for one in combinations(range(len(columns)), size):
            if (
                not any(smaller <= set(one) for smaller in alone)
                and np.logical_and.reduce([alike[i] for i in one]).sum() == 1
            ):
                alone.append(set(one))
    return [(size, sum(len(one) == size for one in alone)) for size in range(1, most + 1)]


@given(tables(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.integers(1, 4), st.floats(0.001, 1))
@settings(max_examples=50)
def test_naive(data: tm.Microdata, names: list[str], most: int, fraction: float) -> None:
    found = special_uniques(data, names, most=most, fraction=fraction)
    rows = [tuple(cells(data, name)[i] for name in names) for i in range(data.n)]
    columns, most = len(names), min(most, len(names))

    def alone(i: int, one: tuple[int, ...]) -> bool:
        return sum(all(row[c] == rows[i][c] for c in one) for row in rows) == 1

    score = np.zeros(data.n)
    for i in range(data.n):
        for size in range(1, most + 1):
            for one in combinations(range(columns), size):
                smaller = (some for s in range(1, size) for some in combinations(one, s))
                if alone(i, one) and not any(alone(i, some) for some in smaller):
                    score[i] += prod(columns - step for step in range(size, min(most, columns - 1) + 1))
    np.testing.assert_array_equal(found.score, score)
    counts = [rows.count(row) for row in rows]
    unique, pairs = counts.count(1), counts.count(2)
    dis = fraction * unique / (fraction * unique + (1 - fraction) * pairs) if unique else 0.0
    power, scored = 1 + (8 - columns) / 20, score[score > 0]
    for i in range(data.n):
        expected = 0.0
        if score[i]:
            expected = 1 / (1 + len(scored) * (1 / dis - 1) / (score[i] ** power * (scored**-power).sum()))
        assert found.dis[i] == pytest.approx(expected, rel=1e-9)
    assert found.uniques == unique
    assert all(
        alone(i, tuple(names.index(name) for name in found.singles_out(i))) for i in np.flatnonzero(found.fewest)
    )


def test_missing_is_a_category_of_its_own() -> None:
    """sdcMicro leaves missing values out of all sets: there nothing would single out the first record."""
    found = special_uniques(table(plain=[None, "x", "x"], grade=["low", "low", "low"]))
    assert found.score.tolist() == [1, 0, 0]
    assert found.singles_out(0) == ("plain",)


def test_people_are_counted() -> None:
    schema = tm.Schema(
        [tm.Attribute("who", role="identifier"), tm.Attribute("job", role="quasi_identifier", kind="nominal")],
        person="who",
    )
    frame = pa.table({"who": ["a", "a", "b", "c"], "job": ["cook", "cook", "nurse", "nurse"]})
    found = special_uniques(tm.Microdata.from_frame(frame, schema))
    assert found.score.tolist() == [1, 1, 0, 0]
    assert found.uniques == 2


def test_bounds_of_the_parameters() -> None:
    data: Any = table(plain=["x", "y"])
    with pytest.raises(tm.PlanError, match="most must be an integer of at least 1"):
        special_uniques(data, most=0)
    with pytest.raises(tm.PlanError, match="fraction"):
        special_uniques(data, fraction=0.0)
    assert special_uniques(data, fraction=1.0).dis.tolist() == [1.0, 1.0]


def test_an_evaluation_looks_at_fewer_sets_of_many_columns() -> None:
    assert [most_columns(columns, 100_000) for columns in (1, 10, 20, 40, 200)] == [4, 4, 3, 2, 1]
    assert most_columns(500, 10_000_000) == 1
