from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm

TREE = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("a1", "a"), ("a2", "a"), ("b1", "b")])
GRADES = ["low", "mid", "high"]
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=GRADES),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy=TREE, distance="edge_weight"),
        tm.Attribute("remark", role="other"),
    ]
)
NAMES = ["age", "grade", "sex", "dx"]
TYPES = {"age": pa.float64(), "grade": pa.string(), "sex": pa.string(), "dx": pa.string()}


def table(**columns: list[Any]) -> pa.Table:
    n = len(columns["age"])
    coded = {name: pa.array(columns[name], TYPES[name]) for name in NAMES}
    return pa.table({"name": [f"p{i}" for i in range(n)], **coded, "remark": ["-"] * n})


BY_HAND = table(
    age=[20.0, 30, 40, 50], grade=["low", "low", "mid", "high"], sex=["f", "f", "f", "m"], dx=["a1", "a1", "a2", "b1"]
)


def test_by_hand() -> None:
    """Edges of the upper level weigh 2, of the lower one 1: d(a1, a2) = 2, d(a1, b1) = d(a2, b1) = 6.

    Marginalities: f 1, m 3; a1 2 + 6 = 8, a2 2 + 2 + 6 = 10, b1 6 + 6 + 6 = 18. Positions of grades: 0, 0, 1, 2 with
    the mean 0.75; age less its mean: -15, -5, 5, 15.
    """
    found = tm.covariance_matrix(BY_HAND, SCHEMA)
    assert found.column_names == ["attribute", *NAMES]
    assert found["attribute"].to_pylist() == NAMES
    rows = {row["attribute"]: row for row in found.to_pylist()}
    assert rows["age"]["age"] == pytest.approx((225 + 25 + 25 + 225) / 3)
    assert rows["grade"]["grade"] == pytest.approx((2 * 0.75**2 + 0.25**2 + 1.25**2) / 3)
    assert rows["age"]["grade"] == pytest.approx((-15 * -0.75 - 5 * -0.75 + 5 * 0.25 + 15 * 1.25) / 3)
    assert rows["sex"]["sex"] == pytest.approx((1 + 1 + 1 + 3) / 4)
    assert rows["dx"]["dx"] == pytest.approx((8 + 8 + 10 + 18) / 4)
    assert rows["sex"]["dx"] == pytest.approx((8**0.5 + 8**0.5 + 10**0.5 + (3 * 18) ** 0.5) / 4)


def test_there_is_no_covariance_of_a_number_and_a_category() -> None:
    """The PSD paper of 2012 says in section 4 that it has no definition; the journal paper defines none either."""
    rows = {row["attribute"]: row for row in tm.covariance_matrix(BY_HAND, SCHEMA).to_pylist()}
    for number in ("age", "grade"):
        for category in ("sex", "dx"):
            assert rows[number][category] is None
            assert rows[category][number] is None


def test_the_same_kind_of_table_comes_back() -> None:
    expected = [[row[name] for name in NAMES] for row in tm.covariance_matrix(BY_HAND, SCHEMA).to_pylist()]
    in_pandas = tm.covariance_matrix(BY_HAND.to_pandas(), SCHEMA)
    assert isinstance(in_pandas, pd.DataFrame)
    assert list(in_pandas.index) == list(in_pandas.columns) == NAMES
    assert in_pandas.loc["sex", "dx"] == expected[2][3]
    np.testing.assert_array_equal(in_pandas.to_numpy(), np.array(expected, dtype=float))
    numbers = BY_HAND.to_pandas()[["age"]].assign(more=[1, 5, 2, 2])
    schema = tm.Schema(tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in numbers)
    pd.testing.assert_frame_equal(tm.covariance_matrix(numbers, schema), numbers.cov(), check_names=False)
    in_polars = tm.covariance_matrix(pl.from_arrow(BY_HAND), SCHEMA)
    assert isinstance(in_polars, pl.DataFrame)
    assert in_polars["attribute"].to_list() == NAMES
    assert in_polars.drop("attribute").rows() == [tuple(row) for row in expected]


def test_a_column_that_is_called_attribute() -> None:
    schema = tm.Schema([tm.Attribute("attribute", role="quasi_identifier", kind="continuous")])
    found = tm.covariance_matrix(pa.table({"attribute": [1, 3]}), schema)
    assert found.to_pydict() == {"attribute_": ["attribute"], "attribute": [2.0]}


def test_too_few_values_have_no_variance() -> None:
    one = tm.covariance_matrix(table(age=[3.0], grade=["mid"], sex=["f"], dx=["a"]), SCHEMA).to_pylist()
    assert [row[row["attribute"]] for row in one] == [None, None, 0.0, 0.0]
    none = tm.covariance_matrix(table(age=[None], grade=[None], sex=[None], dx=[None]), SCHEMA).to_pylist()
    assert all(row[name] is None for row in none for name in NAMES)


CELLS = {
    "age": st.integers(-3, 3).map(float),
    "grade": st.sampled_from(GRADES),
    "sex": st.sampled_from("fmx"),
    "dx": st.sampled_from(sorted(TREE)),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n = draw(st.integers(1, 12))
    cells = {name: st.one_of(st.none(), *[one] * 4) for name, one in CELLS.items()}
    return table(**{name: draw(st.lists(one, min_size=n, max_size=n)) for name, one in cells.items()})


@given(tables())
@settings(max_examples=60)
def test_naive(frame: pa.Table) -> None:
    columns = {name: frame[name].to_pylist() for name in NAMES}
    rows = {row["attribute"]: row for row in tm.covariance_matrix(frame, SCHEMA).to_pylist()}
    for a in NAMES:
        for b in NAMES:
            expected = naive(columns, a, b)
            assert rows[a][b] == (None if expected is None else pytest.approx(expected, abs=1e-9))
            assert rows[a][b] == rows[b][a]


def naive(columns: dict[str, list[Any]], a: str, b: str) -> float | None:
    """From the definitions, over the records with both values."""
    both = [i for i, (x, y) in enumerate(zip(columns[a], columns[b], strict=True)) if x is not None and y is not None]
    n = len(both)
    numbers = [name in ("age", "grade") for name in (a, b)]
    if numbers == [True, True] and n > 1:
        x, y = ([position(name, columns[name][i]) for i in both] for name in (a, b))
        middle_x, middle_y = sum(x) / n, sum(y) / n
        return sum((u - middle_x) * (v - middle_y) for u, v in zip(x, y, strict=True)) / (n - 1)
    if numbers == [False, False] and n > 0:
        m_x, m_y = (marginalities(columns[name], both, name) for name in (a, b))
        return sum((u * v) ** 0.5 for u, v in zip(m_x, m_y, strict=True)) / n
    return None


def position(name: str, value: Any) -> float:
    return float(GRADES.index(value)) if name == "grade" else value


def marginalities(values: list[Any], rows: list[int], name: str) -> list[float]:
    """Among these records; the weights of the edges come from the whole column."""
    whole = [value for value in values if value is not None]
    some = [values[i] for i in rows]
    if name == "sex":
        return [float(sum(value != other for other in some)) for value in some]
    return TREE.distance_matrix(some, distance="edge_weight", sample=whole).sum(axis=1).tolist()


def test_the_entries_are_those_of_the_single_functions() -> None:
    rows = {row["attribute"]: row for row in tm.covariance_matrix(BY_HAND, SCHEMA).to_pylist()}
    dx, sex = BY_HAND["dx"].to_pylist(), BY_HAND["sex"].to_pylist()
    assert rows["dx"]["dx"] == pytest.approx(tm.nominal_variance(dx, TREE, distance="edge_weight"))
    assert rows["dx"]["sex"] == pytest.approx(tm.nominal_covariance(dx, sex, TREE, distance="edge_weight"))
