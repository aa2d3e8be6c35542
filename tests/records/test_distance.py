from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive import edges_of, taxonomies
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm

TREE = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b"), ("d", "b")])
ROLE = {"role": "quasi_identifier"}


def microdata(
    distance: str = "ancestors", weight: float = 1.0, taxonomy: tm.Taxonomy = TREE, **columns: Any
) -> tm.Microdata:
    attributes = {
        "number": tm.Attribute("number", kind="continuous", weight=weight, **ROLE),
        "grade": tm.Attribute("grade", kind="ordinal", order=["low", "mid", "high", "top"], weight=weight, **ROLE),
        "plain": tm.Attribute("plain", kind="nominal", weight=weight, **ROLE),
        "concept": tm.Attribute(
            "concept", kind="taxonomic", taxonomy=taxonomy, distance=distance, weight=weight, **ROLE
        ),
    }
    types = {"number": pa.float64(), "grade": pa.string(), "plain": pa.string(), "concept": pa.string()}
    table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    return tm.Microdata.from_frame(table, tm.Schema([attributes[name] for name in columns]))


def test_continuous_by_hand() -> None:
    data = microdata(number=[1, 2, 4])
    variance = np.var([1, 2, 4], ddof=1)
    assert RecordDistance(data).squared(0, 2) == pytest.approx(9 / (2 * variance))
    assert RecordDistance(data, distance="generic").squared(0, 2) == pytest.approx(9 / variance)


def test_ordinal_by_hand() -> None:
    data = microdata(grade=["low", "high", "high"])
    variance = np.var([0, 2, 2], ddof=1)
    assert RecordDistance(data).squared(0, 1) == pytest.approx(4 / (2 * variance))
    # d_ORD = |position(a) - position(b)| / number of categories; "low" and "high" of four: 2/4
    assert RecordDistance(data, distance="generic").between(0, 1) == pytest.approx(0.5)


def test_nominal_by_hand() -> None:
    data = microdata(plain=["x", "y", "x"])
    marginalities = 1 + 2 + 1
    assert RecordDistance(data).squared(0, 1) == pytest.approx(3 * 2 / marginalities)
    assert RecordDistance(data, scale="paper").squared(0, 1) == pytest.approx(3 / marginalities)
    assert RecordDistance(data, distance="generic").squared(0, 1) == 1
    assert RecordDistance(data).squared(0, 2) == 0


def test_taxonomic_by_hand() -> None:
    values = ["a", "c", "d", "c"]
    data = microdata(concept=values)
    total = tm.marginality(values, TREE).sum()
    d = TREE.distance("a", "c")
    assert RecordDistance(data).squared(0, 1) == pytest.approx(d * 4 * 3 / total)
    assert RecordDistance(data, scale="paper").squared(0, 1) == pytest.approx(d * 4 / total)
    assert RecordDistance(data, distance="generic").squared(0, 1) == pytest.approx(d**2)


def test_balanced_terms_average_1_between_two_records() -> None:
    """Why the scale is called balanced: every attribute weighs the same in the mean pair of records."""
    data = microdata(number=[1, 5, 2, 9], grade=["low", "top", "mid", "mid"], plain=[*"xyxz"], concept=[*"acda"])
    for name in data.columns:
        distance = RecordDistance(data, [name])
        squares = [distance.squared(i, j) for i in range(4) for j in range(4) if i != j]
        assert np.mean(squares) == pytest.approx(1)


def test_weights_multiply_the_term() -> None:
    columns = {"number": [1, 2, 4], "concept": ["a", "b", "c"], "plain": ["x", "y", "x"]}
    one, three = RecordDistance(microdata(**columns)), RecordDistance(microdata(weight=3.0, **columns))
    np.testing.assert_allclose(three.squared_to_all(0), 3 * one.squared_to_all(0), rtol=1e-14)


def test_missing_values() -> None:
    data = microdata(number=[1, None, None, 5], plain=["x", None, None, "y"], concept=["a", None, None, "c"])
    distance = RecordDistance(data)
    assert distance.squared(1, 2) == 0
    # one that is missing is as far as the two farthest values: here records 0 and 3 in all attributes
    assert distance.squared(0, 1) == pytest.approx(distance.squared(0, 3))
    assert distance.squared(3, 2) == pytest.approx(distance.squared(0, 3))


def test_a_missing_value_is_as_far_as_the_farthest_to_the_last_bit() -> None:
    value = 0.42672114373024106
    assert value**2 != value * value  # a power is rounded otherwise than a product, which kernels compute
    term = NumberTerm("number", np.array([0.0, value, np.nan]), 0.0, 1.0)
    assert term.between(0.0, term.coordinates).tolist() == [0.0, value * value, value * value]


@pytest.mark.parametrize("formula", ["s", "generic"])
def test_attributes_that_do_not_vary_add_nothing(formula: Any) -> None:
    data = microdata(number=[7, 7, None], grade=["mid", "mid", "mid"], plain=["x", "x", "x"], concept=["a", "a", "a"])
    np.testing.assert_array_equal(RecordDistance(data, distance=formula).to_all(0), [0, 0, 0])
    data = microdata(number=[None, None, None], concept=[None, None, None], plain=[None, None, None])
    np.testing.assert_array_equal(RecordDistance(data, distance=formula).to_all(0), [0, 0, 0])


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20))
def test_an_offset_changes_no_bit(values: list[int]) -> None:
    near, far = microdata(number=values), microdata(number=[v + 10**9 for v in values])
    np.testing.assert_array_equal(RecordDistance(near).to_all(0), RecordDistance(far).to_all(0))


@st.composite
def tables(draw: st.DrawFn, distance: str) -> tm.Microdata:
    n = draw(st.integers(2, 9))
    parents = draw(taxonomies(trees=distance == "edge_weight", largest=8))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(st.one_of(st.none(), values), min_size=n, max_size=n))

    return microdata(
        distance=distance,
        weight=draw(st.sampled_from([0.25, 1.0, 3.0])),
        taxonomy=tm.Taxonomy.from_edges(edges_of(parents)),
        number=column(st.integers(-5, 5)),
        grade=column(st.sampled_from(["low", "mid", "high", "top"])),
        plain=column(st.sampled_from("xyz")),
        concept=column(st.sampled_from(sorted(parents))),
    )


@pytest.mark.parametrize("distance", ["ancestors", "edge_weight", "equality", "wu_palmer"])
@given(data=st.data())
@settings(max_examples=50)
def test_kernels_and_terms_agree(distance: str, data: st.DataObject) -> None:
    table = data.draw(tables(distance))
    formula: Any = data.draw(st.sampled_from(["s", "generic"]))
    space = RecordDistance(table, distance=formula)
    for i in range(table.n):
        total = np.zeros(table.n)
        for kind in (NumberTerm, (TableTerm, EqualityTerm)):  # the order in which kernels add
            for term in space.terms:
                if isinstance(term, kind):
                    total += term.between(term.coordinates[i], term.coordinates)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(space.squared_to_all(i), total)
    for term in space.terms:
        present = term.coordinates[~np.isnan(term.coordinates)]
        for query in present.tolist():
            assert (term.between(query, present) <= term.farthest).all()


@pytest.mark.parametrize("distance", ["ancestors", "edge_weight", "equality"])
@given(data=st.data())
@settings(max_examples=50)
def test_s_distance_is_a_metric_on_complete_records(distance: str, data: st.DataObject) -> None:
    table = data.draw(tables(distance))
    complete = ~np.logical_or.reduce([column.missing for column in table.columns.values()])
    if complete.sum() < 2:
        return
    space = RecordDistance(table.take(complete))
    matrix = np.array([space.to_all(i) for i in range(int(complete.sum()))])
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 0).all()
    through = (matrix[:, :, None] + matrix[None, :, :]).min(axis=1)
    assert (matrix <= through + 1e-9).all()


def test_bad_parameters_are_errors() -> None:
    data = microdata(number=[1, 2])
    with pytest.raises(tm.PlanError, match="distance must be 's' or 'generic'; got 'euclid'"):
        RecordDistance(data, distance="euclid")  # type: ignore[arg-type]
    with pytest.raises(tm.PlanError, match="scale must be 'balanced' or 'paper'; got 'none'"):
        RecordDistance(data, scale="none")  # type: ignore[arg-type]
    with pytest.raises(tm.SchemaError, match=r"no coded column 'numbr' to measure by\.\nDid you mean 'number'"):
        RecordDistance(data, ["numbr"])
    with pytest.raises(tm.SchemaError, match="no attribute is named"):
        RecordDistance(data, [])
