"""The order of a column's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive import edges_of, taxonomies
from taxomask.errors import DataError
from taxomask.microdata import CategoricalColumn
from taxomask.semantics import ordering
from taxomask.semantics.ordering import category_ranks, rank_keys


def column(values: list[Any], **attribute: Any) -> Any:
    schema = tm.Schema([tm.Attribute("v", role="confidential", **attribute)])
    return tm.Microdata.from_frame(pa.table({"v": values}), schema).columns["v"]


def test_numbers_are_their_own_keys() -> None:
    keys = rank_keys(column([3.5, None, -1.0], kind="continuous"))
    np.testing.assert_array_equal(keys, [3.5, np.nan, -1.0])


def test_ordered_categories_keep_their_scale() -> None:
    grades = column(["high", "low", None, "high"], kind="ordinal", order=["low", "mid", "high"])
    assert rank_keys(grades).tolist() == [2, 0, -1, 2]


def test_plain_categories_come_by_frequency_then_sorted() -> None:
    assert rank_keys(column(["b", "c", "c", "a", None], kind="nominal")).tolist() == [2, 0, 0, 1, -1]


def test_concepts_come_by_marginality_then_in_taxonomy_order() -> None:
    tree = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b")])
    # edge weights 2, 2, 1: m(a) = 13, m(b) = 5, m(c) = 7 for the sample a, b, b, c
    values = column(["a", "b", "b", "c"], kind="taxonomic", taxonomy=tree, distance="edge_weight")
    assert rank_keys(values).tolist() == [2, 0, 0, 1]
    # all equally far from each other: the order of the taxonomy, and still distinct
    flat = tm.Taxonomy.from_edges([("z", "r"), ("x", "r"), ("y", "r")])
    places = rank_keys(column(["x", "y", "z"], kind="taxonomic", taxonomy=flat)).tolist()
    assert places == np.argsort(np.argsort([list(flat).index(one) for one in "xyz"])).tolist()


def test_rounding_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.array([0.1 + 0.2 + 0.3, 0.3, 0.3 + 0.2 + 0.1])  # the last is smaller, by rounding only
    assert sums[2] < sums[0]
    monkeypatch.setattr(ordering, "category_marginality", lambda column: sums)
    assert category_ranks(column(["x", "y", "z"], kind="nominal")).tolist() == [1, 0, 2]


DEEP = tm.Taxonomy.from_edges([("s", "r"), ("t", "r"), ("a", "s"), ("b", "s"), ("a1", "a"), ("a2", "a"), ("b1", "b")])


@pytest.mark.parametrize("distance", ["ancestors", "wu_palmer", "edge_weight"])
def test_a_masked_concept_is_placed_by_its_marginality_in_the_original(distance: str) -> None:
    """All values lie below s; r and t do not, but a method that generalises may release them."""
    kind: dict[str, Any] = {"kind": "taxonomic", "taxonomy": DEEP, "distance": distance}
    original, masked = column(["a1", "a1", "a2", "b1"], **kind), column(["a", "r", "t", "b1"], **kind)
    keys = rank_keys(masked, original)
    # edge weights 4, 2 and 1: m(a) = 8, m(b1) = 18, m(r) = 28, m(t) = 44; ancestors: m(a) = 1.64, m(b1) = 2.21,
    # m(r) = 3.23, m(t) = 3.39; Wu-Palmer: m(a) = 1.2, m(b1) = 2, and 4 outside of τ(X), in taxonomy order
    assert [["a", "r", "t", "b1"][i] for i in np.argsort(keys)] == ["a", "b1", "r", "t"]
    assert rank_keys(original, original).tolist() == rank_keys(original).tolist()


def test_masked_values_without_a_place_in_the_order() -> None:
    numbers, words = column([1, 2], kind="continuous"), column(["a", "b"], kind="nominal")
    with pytest.raises(DataError, match="'v': numbers were masked as categories"):
        rank_keys(words, numbers)
    with pytest.raises(DataError, match="'v': categories were masked as numbers"):
        rank_keys(numbers, words)
    scale = column(["low", "high"], kind="ordinal", order=["low", "high"])
    wide = CategoricalColumn(scale.attribute, np.array([0, 2]), ("low", "high", "top"))
    with pytest.raises(DataError, match="'top' is not on its scale"):
        rank_keys(wide, scale)


@settings(max_examples=40)
@given(data=st.data())
def test_the_order_is_that_of_marginality(data: st.DataObject) -> None:
    taxonomy = tm.Taxonomy.from_edges(edges_of(data.draw(taxonomies())))
    values = data.draw(st.lists(st.sampled_from(sorted(taxonomy)), min_size=1, max_size=12))
    coded = column(values, kind="taxonomic", taxonomy=taxonomy)
    keys, sums = rank_keys(coded), tm.marginality(values, taxonomy)
    for i in range(len(values)):
        for j in range(len(values)):
            assert (keys[i] == keys[j]) == (values[i] == values[j])
            if keys[i] < keys[j]:
                assert sums[i] <= sums[j] * (1 + 1e-9)
    assert sorted(category_ranks(coded)) == list(range(len(coded.categories)))
