from __future__ import annotations

from math import inf

import pytest

import taxomask as tm
from taxomask.measures.combining import combine


def test_partly_synthetic_by_hand() -> None:
    """q̄ = 12, ū = 2, b = 4, m = 3."""
    found = combine([10, 12, 14], [1, 2, 3])
    assert found.estimate == pytest.approx(12)
    assert found.variance == pytest.approx(2 + 4 / 3)
    assert found.degrees_of_freedom == pytest.approx(2 * (1 + 2 / (4 / 3)) ** 2)


def test_fully_synthetic_by_hand() -> None:
    """(1 + 1/3)·4 - 2, and r = (16/3)/2."""
    found = combine([10, 12, 14], [1, 2, 3], "full")
    assert found.variance == pytest.approx(16 / 3 - 2)
    assert found.degrees_of_freedom == pytest.approx(2 * (1 - 2 / (16 / 3)) ** 2)


def test_a_fully_synthetic_variance_is_never_negative() -> None:
    found = combine([10, 12, 14], [6, 6, 6], "full", size=0.5)
    assert (found.variance, found.degrees_of_freedom) == (3, inf)
    assert combine([5, 5], [1, 1], "full").variance == 1


def test_equal_estimates_have_the_variance_of_one() -> None:
    found = combine([7, 7, 7], [1, 2, 3])
    assert (found.variance, found.degrees_of_freedom) == (2, inf)


def test_the_interval_is_that_of_a_t_distribution() -> None:
    """2.776445 and 4.604095 are the quantiles of t with 4 degrees of freedom, 1.959964 that of the normal one."""
    found = combine([1, 3], [1, 1])
    assert found.degrees_of_freedom == 4
    assert found.interval() == pytest.approx((2 - 2.776445 * 2**0.5, 2 + 2.776445 * 2**0.5))
    assert found.interval(0.99) == pytest.approx((2 - 4.604095 * 2**0.5, 2 + 4.604095 * 2**0.5))
    assert combine([7, 7], [4, 4]).interval() == pytest.approx((7 - 2 * 1.959964, 7 + 2 * 1.959964))


@pytest.mark.parametrize(
    ("estimates", "variances", "message"),
    [
        ([1], [1], "at least 2 copies; got 1 and 1"),
        ([1, 2], [1], "got 2 and 1"),
        ([1, float("nan")], [1, 1], "must be numbers"),
        ([1, 2], [1, -1], "not negative"),
    ],
)
def test_bad_numbers_are_errors(estimates: list[float], variances: list[float], message: str) -> None:
    with pytest.raises(tm.DataError, match=message):
        combine(estimates, variances)


def test_bad_parameters_are_errors() -> None:
    with pytest.raises(tm.PlanError, match="synthesis must be 'partial' or 'full'; got 'whole'"):
        combine([1, 2], [1, 1], "whole")  # type: ignore[arg-type]
    with pytest.raises(tm.PlanError, match="size must be a number above 0"):
        combine([1, 2], [1, 1], "full", size=0)
    with pytest.raises(tm.PlanError, match="level must be"):
        combine([1, 2], [1, 1]).interval(95)
