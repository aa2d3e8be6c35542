from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.partition import along_one_column, optimal_groups


def sse(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0


def loss(values: np.ndarray, groups: np.ndarray) -> float:
    return sum(sse(values[groups == group]) for group in np.unique(groups))


def all_partitions(rows: list[int], k: int) -> list[list[list[int]]]:
    """Every partition into groups of at least k, whether neighbours or not."""
    if not rows:
        return [[]]
    first, rest = rows[0], rows[1:]
    found = []
    for mask in range(2 ** len(rest)):
        group = [first, *(row for place, row in enumerate(rest) if mask >> place & 1)]
        if len(group) >= k:
            others = [row for row in rest if row not in group]
            found += [[group, *more] for more in all_partitions(others, k)]
    return found


def least_of_neighbours(values: np.ndarray, k: int) -> float:
    """The definition, with groups of any size: n² steps, each with sums of integers that know no rounding."""
    ordered = [Fraction(value) for value in np.sort(values).tolist()]
    unit = max(value.denominator for value in ordered)  # a power of two
    numbers = [int(value * unit) for value in ordered]
    sums = list(accumulate(numbers, initial=0))
    squares = list(accumulate((one * one for one in numbers), initial=0))
    best = {0: 0.0}
    for j in range(k, len(numbers) + 1):
        best[j] = min(
            best[i] + ((j - i) * (squares[j] - squares[i]) - (sums[j] - sums[i]) ** 2) / ((j - i) * unit * unit)
            for i in best
            if i <= j - k
        )
    return best[len(numbers)]


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_no_partition_at_all_is_better(numbers: list[int], k: int) -> None:
    values = np.array(numbers, dtype=float)
    if len(values) < k:
        return
    found = optimal_groups(values, k)
    least = min(sum(sse(values[group]) for group in one) for one in all_partitions(list(range(len(values))), k))
    assert loss(values, found) == pytest.approx(least, abs=1e-9)


@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=80),
    st.integers(2, 12),
    st.sampled_from([0.0, 1e9, -3e5]),
)
@settings(max_examples=150, deadline=None)
def test_the_best_of_all_groups_of_neighbours(numbers: list[float], k: int, offset: float) -> None:
    values = np.array(numbers) + offset
    if len(values) < k:
        return
    found = optimal_groups(values, k)
    sizes = np.bincount(found)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()  # neighbours, numbered along the line, ties as they stand
    rounding = len(values) * (4 * np.spacing(np.abs(values).max())) ** 2  # of `loss`, which knows it
    assert loss(values, found) <= least_of_neighbours(values, k) * (1 + 1e-9) + 1e-12 * np.ptp(values) ** 2 + rounding


@pytest.mark.parametrize("k", [2, 3, 7, 64, 250])
def test_long_columns(k: int) -> None:
    rng = np.random.default_rng(k)
    for values in (rng.lognormal(size=600), rng.integers(0, 40, 600).astype(float)):
        assert loss(values, optimal_groups(values, k)) == pytest.approx(least_of_neighbours(values, k), rel=1e-9)


def test_a_large_offset_or_scale_costs_no_digits() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.integers(0, 1000, 300), 2**45 + rng.integers(0, 1000, 300)]).astype(float)
    near = np.where(values > 2**40, values - 2**45 + 10**5, values)  # the same but for the gap in the middle
    for k in (2, 5, 11):
        assert np.array_equal(optimal_groups(values, k), optimal_groups(near, k))
        for power in (-1000, -400, 900):
            assert np.array_equal(optimal_groups(np.ldexp(near, power), k), optimal_groups(near, k))


def column(values: list[object], **about: object) -> tm.Microdata:
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", **about)])  # type: ignore[arg-type]
    return tm.Microdata.from_frame(pa.table({"x": values}), schema)


def test_missing_cells() -> None:
    def groups(values: list[object], k: int) -> list[int]:
        return along_one_column(column(values, kind="continuous").columns["x"], k).numbers.tolist()

    assert groups([1, None, 9, 2, None, 8], 2) == [0, 2, 1, 0, 2, 1]  # enough to be a group
    assert groups([1, None, 9, 2, 3, 8, 10], 2) == [0, 0, 1, 0, 0, 1, 1]  # the middle value is 3
    assert groups([1, None, 9, None, None], 3) == [0, 0, 0, 0, 0]  # too few present values
    with pytest.raises(tm.DataError, match="the table has 2 records, too few for a group of k = 3"):
        groups([1, 2], 3)


def test_people() -> None:
    data = column([1, 2, 3, 4, 5, 6], kind="continuous").columns["x"]
    assert along_one_column(data, 2).numbers.tolist() == [0, 0, 1, 1, 2, 2]
    units = np.array([0, 0, 1, 2, 3, 3])
    assert along_one_column(data, 2, units).numbers.tolist() == [0, 0, 0, 0, 0, 0]
    units = np.array([0, 0, 1, 2, 3, 4])
    assert along_one_column(data, 2, units).numbers.tolist() == [0, 0, 0, 0, 1, 1]
    with pytest.raises(tm.DataError, match=r"of 2 people \(or households\), too few"):
        along_one_column(data, 3, np.array([0, 0, 0, 1, 1, 1]))


def test_codes_stand_in_the_order_that_was_asked_for() -> None:
    codes = ["25001", "25002", "4010", "4019", "1740", "1749"]
    found = column([*codes, "4019", "4019"], kind="taxonomic", taxonomy="icd9cm").columns["x"]
    in_taxonomy = along_one_column(found, 2).numbers
    chapters = {code: in_taxonomy[place] for place, code in enumerate(codes)}
    assert chapters["1740"] == chapters["1749"]
    assert chapters["25001"] == chapters["25002"]
    by_marginality = along_one_column(found, 2, order="marginality").numbers
    keys = tm.semantics.ordering.rank_keys(found)  # type: ignore[attr-defined]
    assert all(a <= b for a, b in pairwise(by_marginality[np.argsort(keys, kind="stable")]))
