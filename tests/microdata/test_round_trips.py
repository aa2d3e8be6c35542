"""Random tables go in and come back: untouched, and with every column replaced by itself."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxomask.microdata import Attribute, Microdata, Schema, infer

WORDS = st.sampled_from(["a", "b", "ä c", "", '"', "0", "nan", "None", "?"])
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any], str]] = {
    "int8": (pa.int8(), st.integers(-128, 127), "continuous"),
    "int64": (pa.int64(), st.integers(-(2**53), 2**53), "continuous"),
    "uint32": (pa.uint32(), st.integers(0, 2**32 - 1), "continuous"),
    "float": (pa.float64(), st.floats(allow_nan=False, allow_infinity=False), "continuous"),
    "float32": (pa.float32(), st.floats(width=32, allow_nan=False, allow_infinity=False), "continuous"),
    "day": (pa.date32(), st.dates(), "continuous"),
    "moment": (
        pa.timestamp("us"),
        st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)),
        "continuous",
    ),
    "span": (
        pa.duration("ms"),
        st.integers(0, 10**9).map(lambda ms: dt.timedelta(milliseconds=ms)),
        "continuous",
    ),
    "bool": (pa.bool_(), st.booleans(), "nominal"),
    "text": (pa.string(), WORDS, "nominal"),
    "number as category": (pa.int16(), st.integers(0, 3), "nominal"),
    "category": (pa.dictionary(pa.int32(), pa.string()), WORDS, "nominal"),
}
NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(),
}
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, Schema]:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    n = draw(st.integers(0, 6))
    columns, attributes = {}, []
    for name in names:
        dtype, values, kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        cells = draw(st.lists(st.none() | values, min_size=n, max_size=n))
        columns[name] = pa.array(cells, type=dtype)
        role = draw(st.sampled_from(["identifier", "quasi_identifier", "confidential", "other"]))
        attributes.append(Attribute(name, role=role, kind=kind, missing=[]))
    return pa.table(columns), Schema(attributes)


def native(table: pa.Table, backend: str) -> Any:
    match backend:
        case "pyarrow":
            return table
        case "polars":
            return pl.DataFrame({name: pl.from_arrow(table[name]) for name in table.column_names})
        case "pandas":
            return table.to_pandas()
        case "pandas of arrow":
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        case _:
            return table.to_pandas(types_mapper=NULLABLE.get)


def assert_same(a: Any, b: Any) -> None:
    """Same values, types and names; categories in the same order."""
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True, check_column_type=False)
    elif isinstance(a, pl.DataFrame):
        assert a.schema == b.schema
        assert a.equals(b)
    else:
        assert a.schema.equals(b.schema, check_metadata=True)
        assert a.to_pydict() == b.to_pydict()


def without(frame: Any, names: tuple[str, ...]) -> Any:
    if isinstance(frame, pd.DataFrame):
        return frame.drop(columns=list(names))
    if isinstance(frame, pl.DataFrame):
        return pl.DataFrame({name: frame[name] for name in frame.columns if name not in names})
    return frame.drop_columns(list(names))


@pytest.mark.parametrize("backend", ["pyarrow", "polars", "pandas", "pandas of arrow", "pandas nullable"])
@settings(max_examples=60)
@given(tables())
def test_tables_come_back_as_they_were(backend: str, drawn: tuple[pa.Table, Schema]) -> None:
    table, schema = drawn
    source = native(table, backend)
    data = Microdata.from_frame(source, schema)
    expected = without(source, schema.identifiers)
    assert_same(data.to_frame(), expected)
    assert_same(data.replace(data.columns).to_frame(), expected)
    for name, column in data.columns.items():
        empty = table[name].is_null().to_numpy()
        np.testing.assert_array_equal(column.missing, empty)


@pytest.mark.parametrize("backend", ["pyarrow", "polars", "pandas"])
@settings(max_examples=30)
@given(tables(), st.randoms(use_true_random=False))
def test_records_in_another_order(backend: str, drawn: tuple[pa.Table, Schema], random: Any) -> None:
    table, schema = drawn
    order = list(range(table.num_rows))
    random.shuffle(order)
    data = Microdata.from_frame(native(table, backend), schema)
    expected = without(native(table.take(pa.array(order, pa.int64())), backend), schema.identifiers)
    moved = data.take(np.array(order, dtype=int))
    if table.num_rows:
        assert moved.rows.tolist() == order
        dictionaries = any(pa.types.is_dictionary(field.type) for field in table.schema)
        if backend != "pandas" or not dictionaries:  # pandas drops no categories here, to_pandas does
            assert_same(moved.to_frame(), expected)
            assert_same(moved.replace(moved.columns).to_frame(), expected)


@pytest.mark.parametrize("backend", ["pyarrow", "polars", "pandas"])
@settings(max_examples=60)
@given(tables())
def test_a_draft_fits_its_table(backend: str, drawn: tuple[pa.Table, Schema]) -> None:
    source = native(drawn[0], backend)
    draft = infer(source)
    decided = Schema(replace(attribute, role="other") for attribute in draft.values())
    data = Microdata.from_frame(source, decided)
    assert list(data.columns) == drawn[0].column_names
    assert_same(data.to_frame(), source)
