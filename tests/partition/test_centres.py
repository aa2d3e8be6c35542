from __future__ import annotations

from statistics import median_low

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_centres import Centre, ConvexMedian, MarginalMean, Mean, Median, Mode, convex_median

TABLE = np.array([[0, 1, 4], [1, 0, 2], [4, 2, 0.0]])


def test_printed_convex_medians() -> None:
    assert ConvexMedian(8).extend([1, 2, 7]).value() == 4
    assert ConvexMedian(8).extend([1, 2, 2, 5, 6]).value() == 3
    assert Median(8).extend([1, 2, 7]).value() == 2


def test_ties_by_hand() -> None:
    assert Median(5).extend([0, 1, 3, 4]).value() == 1
    assert Mode(5).extend([3, 3, 1, 1]).value() == 1
    assert MarginalMean(TABLE).extend([0, 1]).value() == 0
    assert MarginalMean(TABLE).extend([0, 2]).value() == 0  # 1 would be nearer to both, but is not in the group
    assert MarginalMean(TABLE).extend([0, 1, 2]).value() == 1


def test_an_average_is_missing_if_more_than_half_are() -> None:
    assert Mean().extend([1.0, None]).value() == 1
    assert Mean().extend([1.0, None, None]).value() is None
    assert Mode(3).value() is None


@given(st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=12), st.data())
def test_joining_and_leaving_in_any_order_gives_the_same_bits(values: list[int | None], data: st.DataObject) -> None:
    makers = [
        lambda: Mean(30),
        lambda: Median(3),
        lambda: ConvexMedian(3),
        lambda: Mode(3),
        lambda: MarginalMean(TABLE),
    ]
    extra = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=12))
    for make in makers:
        plain: Centre = make().extend(values)
        detour: Centre = make().extend(extra).extend(data.draw(st.permutations(values)))
        for value in data.draw(st.permutations(extra)):
            detour.remove(value)
        assert detour.value() == plain.value()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_medians_against_the_definitions(values: list[int]) -> None:
    assert Median(7).extend(values).value() == median_low(values)
    counts = np.bincount(values, minlength=7)
    convex = [min(counts[: c + 1].max(), counts[c:].max()) for c in range(7)]
    assert convex_median(counts) == median_low(np.repeat(np.arange(7), convex).tolist())


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=50))
def test_the_mean_is_the_mean(values: list[float]) -> None:
    assert Mean(40).extend(values).value() == pytest.approx(np.mean(values), abs=1e-9)
