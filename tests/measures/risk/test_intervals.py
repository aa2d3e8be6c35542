from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import taxomask as tm
from taxomask.measures.risk import interval_disclosure, rank_correlation

from .conftest import GRADES, NAMES, TREE, cells, pairs, table

# P4 Table 2: the original values and four reverse-mapped versions of them
X = """
1110 1122 912 1015 1096 1018 889 974 1073 1177 963 1070 1003 906 921 1144 934 908 979 819 780 1035
1032 1065 1091
"""
Z = {
    0.860: """
        1073 1096 934 921 1070 1018 819 1015 1144 1177 1032 1122 963 889 908 1091 979 906 1035 912 780 1110
        974 1065 1003
    """,
    0.577: """
        1177 921 1018 974 1091 889 934 908 1070 1110 1096 1003 963 1035 1015 1073 780 906 1065 912 819 979
        1032 1144 1122
    """,
    0.952: """
        1122 1144 963 1032 1177 1018 819 912 1091 1096 974 1073 1003 889 921 1110 934 780 979 906 908 1070
        1015 1035 1065
    """,
    0.892: """
        1073 1096 974 1065 1122 979 921 912 1110 1091 934 1032 1035 819 889 1144 963 780 1018 906 908 1003
        1070 1015 1177
    """,
}


@pytest.mark.parametrize("printed", Z)
def test_printed_rank_correlations(printed: float) -> None:
    """P4 Table 3."""
    original = table(number=[int(value) for value in X.split()])
    released = table(number=[int(value) for value in Z[printed].split()])
    found = rank_correlation(original, released)["number"]
    assert found.value == pytest.approx(printed, abs=5e-4)
    assert found.low < printed < found.high
    assert (found.baseline, found.n) == (0, 25)


def distance(name: str, x: Any, z: Any) -> float:
    if name == "number":
        return abs(x - z)
    if name == "grade":
        return abs(GRADES.index(x) - GRADES.index(z))
    return TREE.distance(x, z) if name == "concept" else float(x != z)


def naive_disclosure(name: str, before: list[Any], after: list[Any], percent: float) -> tuple[float, float]:
    both = [(x, z) for x, z in zip(before, after, strict=True) if x is not None and z is not None]
    n = len(both)
    if not n:
        return 0.0, 0.0
    reach = int(percent * n / 100)
    key = GRADES.index if name == "grade" else float
    released = sorted(key(z) for _, z in both) if name in ("number", "grade") else []

    def inside(x: Any, z: Any) -> bool:
        if released:
            ranks = [i for i, value in enumerate(released) if value == key(z)]
            low, high = max(ranks[0] - reach, 0), min(ranks[-1] + reach, n - 1)
            return bool(released[low] <= key(x) <= released[high])
        gaps = [distance(name, other, z) for _, other in both]
        radius = max([gap for gap in gaps if sum(one <= gap for one in gaps) <= reach], default=0.0)
        return distance(name, x, z) <= radius

    hits = sum(inside(x, z) for x, z in both)
    chance = sum(inside(x, z) for _, z in both for x, _ in both)
    return hits / n, chance / n**2


@given(pairs(), st.sampled_from([1.0, 10.0, 25.0, 60.0, 100.0]))
@settings(max_examples=30)
def test_naive_disclosure(both: tuple[tm.Microdata, tm.Microdata], percent: float) -> None:
    original, released = both
    found = interval_disclosure(original, released, percent=percent)
    for name in NAMES:
        value, chance = naive_disclosure(name, cells(original, name), cells(released, name), percent)
        assert found.attributes[name].value == pytest.approx(value)
        assert found.attributes[name].baseline == pytest.approx(chance)
    assert found.mean == pytest.approx(np.mean([found.attributes[name].value for name in NAMES]))


def test_intervals_by_hand() -> None:
    original = table(number=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    shifted = table(number=[3, 4, 5, 6, 7, 8, 9, 10, 11, 12])  # by two values: two ranks
    assert interval_disclosure(original, shifted, percent=10).mean == 0
    assert interval_disclosure(original, shifted, percent=20).mean == 8 / 10
    assert interval_disclosure(original, original, percent=1).mean == 1
    assert interval_disclosure(original, original, percent=1).baseline == 1 / 10


def naive_places(name: str, data: tm.Microdata) -> dict[Any, tuple[float, int]]:
    """What ranks a category: its marginality, then the order of the categories."""
    column: Any = data.columns[name]
    values = [value for value in cells(data, name) if value is not None]
    order = sorted(TREE, key=TREE.position) if name == "concept" else sorted({*"xyz"} | set(column.categories))
    return {c: (round(sum(distance(name, c, other) for other in values), 9), i) for i, c in enumerate(order)}


@given(pairs())
@settings(max_examples=30)
def test_naive_rank_correlation(both: tuple[tm.Microdata, tm.Microdata]) -> None:
    original, released = both
    found = rank_correlation(original, released)
    for name in NAMES:
        rows = list(zip(cells(original, name), cells(released, name), strict=True))
        rows = [(x, z) for x, z in rows if x is not None and z is not None]
        if name == "plain":  # categories that only the release has come last in their order
            continue
        if name == "concept":
            keys = naive_places(name, original)
            places = {c: i for i, c in enumerate(sorted(keys, key=keys.__getitem__))}
            rows = [(places[x], places[z]) for x, z in rows]
        elif name == "grade":
            rows = [(GRADES.index(x), GRADES.index(z)) for x, z in rows]
        first, second = [x for x, _ in rows], [z for _, z in rows]
        constant = len(set(first)) < 2 or len(set(second)) < 2
        expected = 0.0 if constant else float(spearmanr(first, second).statistic)
        assert found[name].value == pytest.approx(expected)
        assert found[name].low <= found[name].value <= found[name].high


def test_identical_constant_and_missing_columns() -> None:
    data = table(number=[1, 2, 3, 4, 5], plain=["x", "x", "y", "y", "y"], concept=["a", "b", "b1", "b1", "b2"])
    assert [one.value for one in rank_correlation(data, data).values()] == pytest.approx([1, 1, 1])
    same = table(number=[4, 4, 4], plain=["x", "x", "x"], grade=[None, None, None])
    assert [one.value for one in rank_correlation(same, same).values()] == [0, 0, 0]
    rates = interval_disclosure(same, same).attributes
    assert (rates["number"].value, rates["number"].baseline) == (1, 1)
    assert (rates["grade"].value, rates["grade"].n) == (0, 0)
    one = table(number=[3], concept=["a"])
    assert rank_correlation(one, one)["concept"].value == 0
    assert interval_disclosure(one, one).mean == 1


def test_records_must_be_linked() -> None:
    for measure in (interval_disclosure, rank_correlation):
        with pytest.raises(tm.DataError, match="cannot be measured where records are not linked"):
            measure(table(number=[1, 2]), table(number=[1, 2, 3]))
