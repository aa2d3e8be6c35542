"""Mean_M, wherever it is taken: of several values with the smallest marginality the first in taxonomy order.

Marginalities that are equal by definition are sums of different distances, and differ by rounding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

import taxomask as tm
from naive import NaiveTaxonomy, edges_of, marginal_mean, taxonomies
from naive_centres import MarginalMean
from taxomask.measures.utility.sse import mean_category
from taxomask.partition.aggregate import Groups, aggregate
from taxomask.partition.points import Points
from taxomask.partition.whole_distances import whole_distances
from taxomask.records import RecordDistance


def coded(taxonomy: tm.Taxonomy, values: list[str], distance: str) -> tm.Microdata:
    attribute = tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=taxonomy, distance=distance)
    return tm.Microdata.from_frame(pa.table({"x": values}), tm.Schema([attribute]))


@cache
def average() -> Any:
    """The kernel, callable from Python."""
    from taxomask.partition import _centre_kernels

    return njit(_centre_kernels.average.py_func)


def of_all_records(space: RecordDistance) -> int:
    """The code of the average record, as MDAV computes it from sums that records join and leave."""
    points = Points.of(space, "median")
    number, code = np.empty(0), np.empty(1, dtype=np.int32)
    average()(points.space, points.rules, points.sums, np.empty(1, dtype=np.int64), number, code)
    return int(code[0])


def test_by_hand() -> None:
    """Edges weigh 2 and, from i to b, 1; in the group m(a) = 2 + 3 and m(b) = 2·2 + 1."""
    taxonomy = tm.Taxonomy.from_edges([("b", "a"), ("i", "b"), ("h", "a")])
    group = ["a", "b", "i", "a"]
    column: Any = coded(taxonomy, [*group, "h"], "edge_weight").columns["x"]
    released: Any = aggregate(column, Groups(np.array([0, 0, 0, 0, 1], dtype=np.int32)))
    assert [column.categories[code] for code in released.codes] == ["a", "a", "a", "a", "h"]
    assert tm.nominal_mean(group, taxonomy, distance="edge_weight") == "a"


def test_microaggregation_by_hand() -> None:
    """The same group, made by MDAV: three records far away are the other one."""
    taxonomy = tm.Taxonomy.from_edges([("b", "a"), ("i", "b"), ("h", "a")])
    schema = tm.Schema(
        [
            tm.Attribute("y", role="quasi_identifier", kind="continuous"),
            tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=taxonomy, distance="edge_weight"),
        ]
    )
    table = pa.table({"y": [0, 0, 0, 0, 99, 99, 99, 99], "x": ["a", "b", "i", "a", "h", "h", "h", "h"]})
    assert tm.protect(table, schema, tm.Microaggregation(4)).data["x"].to_pylist() == ["a"] * 4 + ["h"] * 4


TREES = ["edge_weight", "ancestors", "wu_palmer", "lin", "jiang_conrath", "equality"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Any, list[str], list[int]]:
    distance = draw(st.sampled_from(TREES))
    parents = draw(taxonomies(trees=distance == "edge_weight", largest=10))
    values = draw(st.lists(st.sampled_from(sorted(parents)), min_size=2, max_size=14))
    return distance, parents, values, draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))


@given(cases())
@settings(max_examples=200)
@example(("edge_weight", {"a": [], "b": ["a"], "i": ["b"], "h": ["a"]}, ["a", "b", "i", "a", "h"], [0, 0, 0, 0, 1]))
def test_against_exact_arithmetic(case: tuple[str, Any, list[str], list[int]]) -> None:
    distance, parents, values, numbers = case
    taxonomy, naive = tm.Taxonomy.from_edges(edges_of(parents)), NaiveTaxonomy(parents)
    order = list(taxonomy)
    data = coded(taxonomy, values, distance)
    column: Any = data.columns["x"]

    def exact(some: list[str]) -> str:
        return marginal_mean(distance, naive, some, sorted(set(some), key=order.index), values, order)

    groups = Groups(np.unique(numbers, return_inverse=True)[1].astype(np.int32))
    released: Any = aggregate(column, groups)
    for group in range(len(groups.sizes)):
        rows = groups.members(group)
        mean = exact([values[i] for i in rows])
        assert {column.categories[code] for code in released.codes[rows]} == {mean}
        assert column.categories[MarginalMean(column.table).extend(column.codes[rows].tolist()).value()] == mean
        for formula in ("s", "generic"):
            space = RecordDistance(data, distance=formula)  # type: ignore[arg-type]
            assert column.categories[of_all_records(space.take(rows))] == mean
    mean = exact(values)
    assert tm.nominal_mean(values, taxonomy, distance=distance) == mean
    assert column.categories[mean_category(column)] == mean
    if len(set(values)) > 1:
        below = [c for c in order if naive.lcs(values, order) in naive.ancestors(c)]
        nearest = marginal_mean(distance, naive, values, below, values, order)
        assert tm.semantic_mean(values, taxonomy, distance=distance) == nearest


@pytest.mark.parametrize("records", [100, 2**20, 50_000_000])
def test_whole_distances(records: int) -> None:
    """Multiples of a power of two are exact, whatever the largest; no sum overflows; others are off by half a unit."""
    for deepest in (3, 15):
        table = np.array([[0, 2.0**deepest + 3, 1], [2.0**deepest + 3, 0, 2], [1, 2, 0]])
        whole, rounding = whole_distances(table, records)
        assert rounding == 0
        np.testing.assert_array_equal(whole * table[0, 2], table * whole[0, 2])
        assert records * int(whole.max()) < 2**62
        scaled, rounding = whole_distances(table * 0.3 / 0.3, records)
        np.testing.assert_array_equal(scaled, whole)
        assert rounding == 0
    table = np.array([[0, 1 / 3, 2 / 3], [1 / 3, 0, 0.3], [2 / 3, 0.3, 0]])
    whole, rounding = whole_distances(table, records)
    assert abs(int(whole[0, 2]) - 2 * int(whole[0, 1])) <= rounding == 2
    assert np.abs(whole / whole[0, 2] * (2 / 3) - table).max() < 1e-10
