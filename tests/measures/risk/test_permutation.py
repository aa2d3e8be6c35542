from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

import taxomask as tm
from taxomask.measures.risk import permutation_distance, permutation_distances, ranks_moved

SCHEMA = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("a", "b")])


def coded(**columns: list[float | None]) -> tm.Microdata:
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in columns])
    return tm.Microdata.from_frame(
        pa.table({name: pa.array(one, pa.float64()) for name, one in columns.items()}), schema
    )


def orders(values: list[float]) -> list[list[int]]:
    """The ranks of the values, in every order of equal ones."""
    return [
        [order.index(i) for i in range(len(values))]
        for order in permutations(range(len(values)))
        if all(values[x] <= values[y] for x, y in pairwise(order))
    ]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_expected_and_smallest_over_all_orders_of_ties(pairs: list[tuple[int, int]]) -> None:
    """From the definition: z_i = x_(rank of y_i), every order of ties in x and in y as likely as every other."""
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    n = len(x)
    both = list(product(orders(x), orders(y)))
    moved = np.array([[abs(a[i] - b[i]) for i in range(n)] for a, b in both]) / (n - 1)
    expected, smallest = permutation_distances(coded(a=x), coded(a=y))["a"]
    np.testing.assert_allclose(expected, moved.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(smallest, moved.min(axis=0), atol=1e-12)


@given(st.permutations(list(range(8))))
def test_without_ties_it_is_the_change_in_rank_as_a_share(order: list[int]) -> None:
    before, after = coded(a=list(map(float, range(8)))), coded(a=list(map(float, order)))
    expected, smallest = permutation_distances(before, after)["a"]
    np.testing.assert_allclose(expected, ranks_moved(before, after)["a"] / 7)
    assert np.array_equal(expected, smallest)


def test_long_columns_lose_no_digits() -> None:
    n = 200_001
    values = np.arange(n, dtype=float)
    expected, smallest = permutation_distances(coded(a=list(values)), coded(a=list(values[::-1])))["a"]
    np.testing.assert_allclose(expected, np.abs(2 * values - (n - 1)) / (n - 1), rtol=1e-13, atol=1e-16)
    assert np.array_equal(expected, smallest)
    same, least = permutation_distances(coded(a=[1.0] * n), coded(a=[2.0] * n))["a"]
    np.testing.assert_allclose(same, (n + 1) / (3 * n), rtol=1e-9)  # any order is as likely as any other
    assert not least.any()


def test_what_is_summed_up() -> None:
    before = coded(a=[1, 2, 3, 4, 5], b=[1, 2, 3, 4, None])
    after = coded(a=[5, 2, 3, 4, 1], b=[2, 1, 3, 4, 9])
    found = permutation_distance(before, after)
    a, b = found.attributes["a"], found.attributes["b"]
    assert (a.n, a.mean, a.smallest, a.unmoved, a.baseline) == (5, 0.4, 0.4, 0.6, 0.4)
    assert a.quantiles["50 %"] == 0
    assert a.counts["0"] == 3
    assert a.counts["up to 100 %"] == 2
    assert (b.n, b.mean) == (4, pytest.approx(1 / 6))
    each = np.array([(1 + 1 / 3) / 2, (0 + 1 / 3) / 2, 0, 0, 1])  # the last record has one attribute only
    assert found.records_mean.mean == pytest.approx(each.mean())
    assert found.records_largest.mean == pytest.approx(np.mean([1, 1 / 3, 0, 0, 1]))
    assert sum(found.records_mean.counts.values()) == 5


def test_the_maximum_knowledge_intruder() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    before = coded(a=list(a), b=list(b))
    same = permutation_distance(before, before).intruder
    assert same is not None
    assert same.links.value == 1
    assert same.nearest == 0 < same.nearest_at_random
    mixed = permutation_distance(before, coded(a=list(rng.permutation(a)), b=list(rng.permutation(b)))).intruder
    assert mixed is not None
    assert mixed.links.value < 0.02
    assert mixed.nearest == pytest.approx(mixed.nearest_at_random, rel=0.15)
    constant = permutation_distance(before, coded(a=[0.0] * 300, b=[0.0] * 300)).intruder
    assert constant is not None
    assert constant.links.value == pytest.approx(1 / 300)  # all released records are alike
    assert permutation_distance(coded(a=[1]), coded(a=[2])).intruder is None


def test_groups_of_k_bound_what_it_finds() -> None:
    """Its nearest record is right with 1/k at most where all columns are permuted inside groups."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=1500)
    before = coded(a=list(a), b=list(a + rng.normal(size=1500)))
    shares = []
    for seed in range(5):
        masked = tm.GroupPermutation(4).mask(before, np.random.default_rng(seed)).data
        found = permutation_distance(before, masked).intruder
        assert found is not None
        shares.append(found.links.value)
    assert np.mean(shares) < 0.25


def test_every_evaluation_has_it_and_tables_without_links_do_not() -> None:
    table = pa.table({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1]})
    other = pa.table({"a": [2.0, 1, 3, 4], "b": [4.0, 3, 2, 1]})
    found = tm.evaluate(table, other, SCHEMA)
    assert found.risk.permutation.attributes["a"].mean == pytest.approx(1 / 6)
    plain = found.to_dict()["risk"]["permutation"]
    assert plain["attributes"]["a"]["counts"]["up to 50 %"] == 2
    assert plain["intruder"]["links"]["n"] == 4
    assert found.to_dict() == tm.evaluate(table, other, SCHEMA).to_dict()
    assert tm.evaluate(table, other, SCHEMA, linked=False).risk.permutation is None


@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("columns", [2, 11, 30])
def test_the_intruder_finds_what_all_distances_say(columns: int, levels: int | None) -> None:
    rng = np.random.default_rng(columns)
    before = rng.integers(0, levels, (200, columns)) if levels else rng.normal(size=(200, columns))
    after = np.where(rng.random(before.shape) < 0.1, before[rng.permutation(200)], before)
    tables = [coded(**{f"c{j}": table[:, j].tolist() for j in range(columns)}) for table in (before, after)]
    found = permutation_distance(*tables).intruder
    x, y = (np.apply_along_axis(lambda one: rankdata(one) - 1, 0, table) / 199 for table in (before, after))
    away = np.sqrt(np.square(x[:, None] - y).sum(axis=2))
    nearest = away <= away.min(axis=1, keepdims=True) + 1e-9
    assert found is not None
    if columns > 2 or not levels:  # a tree tells eight released records as far away apart
        assert found.links.value == pytest.approx((np.diag(nearest) / nearest.sum(axis=1)).mean())
    assert found.nearest == pytest.approx(away.min(axis=1).mean() / np.sqrt(columns))
