from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from taxomask.errors import DataError, SchemaError
from taxomask.microdata.distinct import Distinct
from taxomask.microdata.frames import Frame

Make = Callable[[dict[str, Any]], Any]
Lists = Callable[[Any], dict[str, list[Any]]]

HOSTILE = [
    "",
    " ",
    "a b",
    'quo"te',
    "*",
    "it's",
    "^.*$",
    "index",
    "größe",
    "a-b",
    "__index_level_0__",
    "a\nb",
]


def test_hostile_names(table: Make, lists: Lists) -> None:
    frame = Frame(table({name: [place, place + 1] for place, name in enumerate(HOSTILE)}))
    assert list(frame.names) == HOSTILE
    new = {name: np.array([0.5, -place]) for place, name in enumerate(HOSTILE) if place % 2 == 0}
    out = frame.rebuild(new, drop=["it's", "index"])
    assert type(out) is type(frame.native)
    assert lists(out) == {
        name: [0.5, -place] if place % 2 == 0 else [place, place + 1]
        for place, name in enumerate(HOSTILE)
        if name not in ("it's", "index")
    }


def test_rows_are_chosen_and_put_in_order(table: Make, lists: Lists) -> None:
    frame = Frame(table({"a": [1, 2, 3], "b": ["x", None, "z"]}))
    out = frame.rebuild({"a": np.array([30.0, 10.0])}, rows=np.array([2, 1]))
    assert lists(out) == {"a": [30, 10], "b": ["z", None]}


def test_an_untouched_table_comes_back_as_it_was(table: Make) -> None:
    source = table({"a": [1, None, 3], "b": ["x", None, "z"]})
    out = Frame(source).rebuild()
    assert out.equals(source)


@pytest.mark.parametrize("values", [np.array([1.0]), np.array([1.0, 2.0, 3.0])])
def test_a_column_of_another_length_is_refused(table: Make, values: np.ndarray[Any, Any]) -> None:
    frame = Frame(table({"a": [1, 2]}))
    with pytest.raises(DataError, match=rf"cannot put {len(values)} values into column 'a' of a table of 2 rows"):
        frame.rebuild({"a": values})
    with pytest.raises(DataError, match="cannot put 2 values into column 'b'"):
        frame.rebuild({"b": np.array([1.0, 2.0])})


@pytest.mark.parametrize("source", [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])])
def test_a_name_that_stands_twice_is_refused(source: Any) -> None:
    with pytest.raises(SchemaError, match="column names must differ; 'a' stands more than once"):
        Frame(source)


def test_names_that_are_no_text_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"column names must be text; got 0, 1.\n.*columns.map\(str\)"):
        Frame(pd.DataFrame([[1, 2]]))
    with pytest.raises(SchemaError, match="column names must be text"):
        Frame(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (pl.LazyFrame({"a": [1]}), r"a table must be in memory; got polars LazyFrame.\nCollect it first"),
        ([{"a": 1}], "a table must be a pandas, polars or pyarrow table; got builtins list"),
        (pd.Series([1]), "a table must be a pandas, polars or pyarrow table; got pandas Series"),
        (None, "got builtins NoneType"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Frame(source)


# --------------------------------------------------------------------------------------- types in pandas


DAY = dt.date(2020, 2, 29)
PANDAS = {
    "int64": pd.Series([1, 2, 3]),
    "uint8": pd.Series([1, 2, 3], dtype="uint8"),
    "Int64": pd.Series([1, None, 3], dtype="Int64"),
    "float32": pd.Series([1.5, None, 3], dtype="float32"),
    "Float64": pd.Series([1.5, None, 3], dtype="Float64"),
    "arrow int": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
    "arrow decimal": pd.Series([Decimal("1.10"), None, Decimal("2.20")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "datetime": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-06-01"])),
    "datetime s": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-06-01"])).astype("datetime64[s]"),
    "datetime tz": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-06-01"])).dt.tz_localize("Europe/Madrid"),
    "timedelta": pd.Series(pd.to_timedelta([1, None, 3], unit="h")),
    "objects of dates": pd.Series([DAY, None, DAY], dtype=object),
    "objects of integers": pd.Series([1, None, 3], dtype=object),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 3])),
}
CATEGORIES = {
    "str": pd.Series(["a", None, "b"]),
    "string": pd.Series(["a", None, "b"], dtype="string"),
    "object": pd.Series(["a", None, "b"], dtype=object),
    "object with nan": pd.Series(["a", float("nan"), "b"], dtype=object),
    "mixed objects": pd.Series(["a", None, 1], dtype=object),
    "arrow string": pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
    "arrow dictionary": pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "category": pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "a"])),
    "ordered": pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "a"], ordered=True)),
    "category of numbers": pd.Series(pd.Categorical([7, None, 5], categories=[7, 5])),
    "category of ranges": pd.cut(pd.Series([1.0, None, 9.0]), [0, 5, 10]),
    "period": pd.Series(pd.PeriodIndex(["2020-01", "2020-02", None], freq="M")),
    "interval": pd.Series(pd.interval_range(0, 3)),
    "time": pd.Series([dt.time(1), None, dt.time(2)]),
}


def pandas_frame(columns: dict[str, pd.Series]) -> pd.DataFrame:
    source = pd.DataFrame(columns)
    source.index = pd.Index(["Ann", "Bob", "Eve"], name="patient")
    source.attrs = {"survey": "2010"}
    return source


def test_pandas_columns_pass_through_as_they_are() -> None:
    source = pandas_frame(PANDAS | CATEGORIES)
    out = Frame(source).rebuild(rows=np.array([0, 2]), drop=["int64"])
    expected = source.drop(columns="int64").iloc[[0, 2]].reset_index(drop=True)
    pd.testing.assert_frame_equal(out, expected)
    assert isinstance(out.index, pd.RangeIndex)
    assert out.attrs == {}  # it may tell what must not be released
    assert source.index.name == "patient"


@pytest.mark.parametrize("name", CATEGORIES)
def test_pandas_categories_come_back_in_their_type(name: str) -> None:
    source = pandas_frame(CATEGORIES)
    frame = Frame(source)
    out = frame.rebuild({name: frame.distinct(name)})
    pd.testing.assert_series_equal(out[name], source[name].reset_index(drop=True))


@pytest.mark.parametrize("name", [name for name in PANDAS if name != "sparse"])
def test_pandas_numbers_come_back_in_their_type(name: str) -> None:
    from taxomask.microdata import Attribute
    from taxomask.microdata.numeric import read_numbers

    source = pandas_frame(PANDAS)
    frame = Frame(source)
    numbers = read_numbers(frame, Attribute(name, kind="continuous"))
    out = frame.rebuild({name: numbers.values})
    pd.testing.assert_series_equal(out[name], source[name].reset_index(drop=True))


@pytest.mark.parametrize(
    ("dtype", "values", "wider"),
    [
        ("int64", [1.5, 2.0], "float64"),
        ("int64", [1.0, np.nan], "float64"),
        ("Int64", [1.5, np.nan], "Float64"),
        ("Int64", [1.0, np.nan], "Int64"),
        ("Int8", [1000.0, 1.0], "Int64"),
        ("uint8", [-1.0, 1.0], "int64"),
        ("int64[pyarrow]", [1.5, np.nan], "double[pyarrow]"),
        ("float32", [1e300, 1.0], "float64"),
        ("float32", [0.1, 1.0], "float32"),
    ],
)
def test_pandas_numbers_that_do_not_fit_get_the_next_wider_type(dtype: str, values: list[float], wider: str) -> None:
    out = Frame(pd.DataFrame({"x": pd.Series([1, 2], dtype=dtype)})).rebuild({"x": np.array(values)})
    assert str(out["x"].dtype) == wider
    np.testing.assert_allclose(out["x"].to_numpy(dtype=float, na_value=np.nan), values, rtol=1e-6)


def test_dates_are_rounded_to_their_unit(table: Make, lists: Lists) -> None:
    frame = Frame(table({"x": [dt.date(1970, 1, 1), dt.date(1970, 1, 2)]}))
    out = frame.rebuild({"x": np.array([10.6, np.nan])})
    assert lists(out)["x"] == [dt.date(1970, 1, 12), None]


def test_a_new_category_is_added_at_the_end_and_one_that_is_gone_leaves(lists: Lists) -> None:
    new = Distinct.from_objects(["c", "a", None])
    ordered = pd.Categorical(["a", "b", "a"], categories=["b", "a"], ordered=True)
    column = Frame(pd.DataFrame({"x": ordered})).rebuild({"x": new})["x"]
    assert column.cat.categories.tolist() == ["a", "c"]
    assert column.cat.ordered
    enum = pl.Series(["a", "b", "a"], dtype=pl.Enum(["b", "a"]))
    series = Frame(pl.DataFrame({"x": enum})).rebuild({"x": new})["x"]
    assert series.dtype == pl.Enum(["a", "c"])
    assert series.to_list() == ["c", "a", None]
    dictionary = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int8()), ["b", "a"], ordered=True)
    chunked = Frame(pa.table({"x": dictionary})).rebuild({"x": new})["x"]
    assert chunked.type == dictionary.type
    assert chunked.chunk(0).dictionary.to_pylist() == ["a", "c"]
    assert chunked.to_pylist() == ["c", "a", None]


def test_text_among_integers_makes_text_of_all(table: Make, lists: Lists) -> None:
    frame = Frame(table({"x": [250, 38]}))
    assert lists(frame.rebuild({"x": Distinct.from_objects([250, "ICD"])}))["x"] == ["250", "ICD"]


# --------------------------------------------------------------------------------------- types in polars


POLARS = pl.DataFrame(
    {
        "cat": pl.Series(["b", None, "a"], dtype=pl.Categorical),
        "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a"])),
        "str": ["b", None, "a"],
        "bool": [True, None, False],
        "u8": pl.Series([1, None, 3], dtype=pl.UInt8),
        "f32": pl.Series([1.5, None, 3], dtype=pl.Float32),
        "decimal": pl.Series([Decimal("1.10"), None, Decimal("2.20")], dtype=pl.Decimal(10, 2)),
        "date": [DAY, None, DAY],
        "time": [dt.time(1), None, dt.time(2)],
        "datetime": pl.Series([dt.datetime(2020, 1, 1), None, dt.datetime(2021, 1, 1)], dtype=pl.Datetime("ms")),
        "zone": pl.Series([dt.datetime(2020, 1, 1)] * 3, dtype=pl.Datetime("us", "UTC")),
        "duration": [dt.timedelta(hours=1), None, dt.timedelta(days=2)],
        "list": [[1], None, [2, 3]],
        "struct": [{"a": 1}, {"a": 2}, {"a": 3}],
    }
)


def test_polars_columns_pass_through_as_they_are() -> None:
    out = Frame(POLARS).rebuild(rows=np.array([2, 0]))
    assert out.schema == POLARS.schema
    assert out.equals(POLARS[[2, 0]])


@pytest.mark.parametrize("name", ["cat", "enum", "str", "bool", "u8", "date", "decimal", "time", "zone"])
def test_polars_categories_come_back_in_their_type(name: str) -> None:
    frame = Frame(POLARS)
    out = frame.rebuild({name: frame.distinct(name)})
    assert out.schema == POLARS.schema
    assert out.equals(POLARS)


@pytest.mark.parametrize("name", ["u8", "f32", "decimal", "date", "time", "datetime", "zone", "duration"])
def test_polars_numbers_come_back_in_their_type(name: str) -> None:
    from taxomask.microdata import Attribute
    from taxomask.microdata.numeric import read_numbers

    frame = Frame(POLARS)
    numbers = read_numbers(frame, Attribute(name, kind="continuous"))
    out = frame.rebuild({name: numbers.values})
    assert out.schema == POLARS.schema
    assert out.equals(POLARS)


def test_polars_integers_that_receive_fractions() -> None:
    out = Frame(POLARS).rebuild({"u8": np.array([1.5, np.nan, 2.0])})
    assert out["u8"].dtype == pl.Float64
    assert out["u8"].to_list() == [1.5, None, 2.0]


def test_polars_objects() -> None:
    source = pl.DataFrame({"x": pl.Series([1, "a", None], dtype=pl.Object)})
    frame = Frame(source)
    out = frame.rebuild({"x": frame.distinct("x")})
    assert out["x"].to_list() == [1, "a", None]


# --------------------------------------------------------------------------------------- types in pyarrow


def arrow_table() -> pa.Table:
    fields = [
        pa.field("id", pa.int64(), metadata={"label": "number"}),
        pa.field("sex", pa.dictionary(pa.int8(), pa.string()), metadata={"label": "sex of the patient"}),
        pa.field("age", pa.int16(), nullable=False, metadata={"label": "age in years"}),
        pa.field("text", pa.string_view()),
        pa.field("flag", pa.bool8()) if hasattr(pa, "bool8") else pa.field("flag", pa.int8()),
    ]
    sex = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), ["m", "f", "unused"])
    columns = [
        pa.array([1, 2, 3]),
        sex,
        pa.array([30, 40, 50], pa.int16()),
        pa.array(["a", None, "b"], pa.string_view()),
        pa.array([1, None, 0], pa.int8()).cast(fields[-1].type),
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"survey": "2010"}))


def bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in schema])


def test_arrow_metadata_and_unused_values_do_not_leave_the_house() -> None:
    source = arrow_table()
    frame = Frame(source)
    out = frame.rebuild({"sex": frame.distinct("sex"), "age": np.array([35.0, 35.0, 50.0])}, drop=["id"])
    assert out.schema.equals(bare(source.drop_columns("id").schema), check_metadata=True)
    assert out.column("sex").chunk(0).dictionary.to_pylist() == ["m", "f"]
    assert out.to_pydict() == source.drop_columns("id").to_pydict() | {"age": [35, 35, 50]}


def test_arrow_extension_types_and_views_come_back() -> None:
    source = arrow_table()
    frame = Frame(source)
    out = frame.rebuild({name: frame.distinct(name) for name in ("text", "flag")})
    assert out.schema.equals(bare(source.schema), check_metadata=True)
    assert out.to_pydict() == source.to_pydict()
    part = frame.rebuild(rows=np.array([2, 1]))
    assert part.schema.equals(bare(source.schema), check_metadata=True)
    assert part.to_pydict() == {name: [v[2], v[1]] for name, v in source.to_pydict().items()}


def test_arrow_column_that_receives_missing_values_becomes_nullable() -> None:
    out = Frame(arrow_table()).rebuild({"age": np.array([35.0, np.nan, 50.0])})
    assert out.schema.field("age") == pa.field("age", pa.int16(), nullable=True)


def test_arrow_dictionary_grows_beyond_its_index_type() -> None:
    texts = [f"v{number}" for number in range(300)]
    small = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 150, pa.int8()), ["a", "b"])
    out = Frame(pa.table({"x": small})).rebuild({"x": Distinct.from_objects(texts)})
    assert out["x"].to_pylist() == texts
    assert out["x"].type == pa.dictionary(pa.int32(), pa.string())


def test_arrow_chunks_with_different_dictionaries() -> None:
    chunks = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()])
    frame = Frame(pa.table({"x": chunks}))
    distinct = frame.distinct("x")
    assert [distinct.values[code] for code in distinct.codes] == ["a", "b", "c", "a"]
    assert frame.rebuild({"x": distinct})["x"].to_pylist() == ["a", "b", "c", "a"]


def test_pandas_metadata_of_an_arrow_table_names_no_lost_index() -> None:
    source = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index(["Ann", "Bob"], name="who")))
    out = Frame(source).rebuild(drop=["who"])
    assert out.to_pandas().to_dict("list") == {"a": [1, 2]}


def test_no_rows_and_no_columns(table: Make, lists: Lists) -> None:
    frame = Frame(table({"a": [1, 2]}))
    assert lists(frame.rebuild({"a": np.array([])}, rows=np.array([], dtype=int))) == {"a": []}
    assert lists(frame.rebuild(drop=["a"])) == {}
    empty = Frame(table({}))
    assert empty.names == ()
    assert lists(empty.rebuild()) == {}


def test_values_that_cannot_be_compared_are_refused(table: Make) -> None:
    with pytest.raises(DataError, match=r"column 'x' holds .*, which cannot be compared as single values"):
        Frame(table({"x": [[1], [2, 3]]})).distinct("x")


def test_a_column_that_cannot_be_read_is_an_error_and_not_one_without_a_type() -> None:
    def read(name: str, rows: range) -> pa.Table:
        raise DataError(f"the process that read {name} was killed.")

    with pytest.raises(DataError, match="was killed"):
        Frame.lazy(["age"], 3, read).arrow_type("age")


@pytest.mark.parametrize("coded", [False, True])
def test_values_of_several_arrays_are_numbered_as_those_of_one(coded: bool) -> None:
    """The later arrays have values that the first does not have, which all of them share a list of."""
    values = ["b", None, "a", "b", "c", "a", None, "d", "b"]
    parts = [pa.array(values[start : start + 3]) for start in range(0, 9, 3)]
    array = pa.chunked_array([part.dictionary_encode() if coded else part for part in parts])
    found = Distinct.from_arrow(array)
    assert found.values == ["b", "a", "c", "d"]
    assert found.codes.tolist() == [0, -1, 1, 0, 2, 1, -1, 3, 0]
