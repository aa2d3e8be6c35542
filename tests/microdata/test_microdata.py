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
from taxomask.microdata import (
    Attribute,
    CategoricalColumn,
    ContinuousColumn,
    Microdata,
    Schema,
    TaxonomicColumn,
)
from taxomask.taxonomy import Taxonomy

Make = Callable[[dict[str, Any]], Any]
Lists = Callable[[Any], dict[str, list[Any]]]
One = Callable[..., Schema]


def categorical(data: Microdata, name: str = "x") -> CategoricalColumn:
    column = data.columns[name]
    assert isinstance(column, CategoricalColumn)
    return column


def continuous(data: Microdata, name: str = "x") -> ContinuousColumn:
    column = data.columns[name]
    assert isinstance(column, ContinuousColumn)
    return column


def taxonomic(data: Microdata, name: str = "x") -> TaxonomicColumn:
    column = data.columns[name]
    assert isinstance(column, TaxonomicColumn)
    return column


PATIENTS = {
    "name": ["Ann", "Bob", "Eve", "Joe"],
    "age": [30, 41, None, 58],
    "beds": ["few", "many", "few", None],
    "sex": ["f", "m", "f", "m"],
    "dx": ["2501", "0380", "2501", "250"],
    "remarks": ["a", None, "b", "b"],
}


@pytest.fixture
def schema(codes: Taxonomy) -> Schema:
    return Schema(
        [
            Attribute("name", role="identifier"),
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("beds", role="quasi_identifier", kind="ordinal", order=["few", "some", "many"]),
            Attribute("sex", role="quasi_identifier", kind="nominal"),
            Attribute("dx", role="confidential", kind="taxonomic", taxonomy=codes),
            Attribute("remarks", role="other"),
        ]
    )


def test_columns_are_coded_by_kind(table: Make, schema: Schema, codes: Taxonomy) -> None:
    data = Microdata.from_frame(table(PATIENTS), schema)
    assert data.n == 4
    assert data.schema is schema
    assert list(data.columns) == ["age", "beds", "sex", "dx"]
    np.testing.assert_array_equal(continuous(data, "age").values, [30, 41, np.nan, 58])
    beds, sex, dx = categorical(data, "beds"), categorical(data, "sex"), taxonomic(data, "dx")
    assert (beds.codes.tolist(), beds.categories) == ([0, 2, 0, -1], ("few", "some", "many"))
    assert (sex.codes.tolist(), sex.categories) == ([0, 1, 0, 1], ("f", "m"))
    assert (dx.codes.tolist(), dx.categories) == ([2, 0, 2, 1], ("0380", "250", "2501"))
    assert dx.positions.tolist() == codes.lookup(["0380", "250", "2501"]).tolist()
    assert data.rows.tolist() == [0, 1, 2, 3]
    assert [str(note) for note in data.notes] == ["age: 1 cell had no value.", "beds: 1 cell had no value."]


def test_a_table_is_shown_without_its_values(table: Make, schema: Schema) -> None:
    data = Microdata.from_frame(table(PATIENTS), schema)
    assert repr(data) == "<Microdata of 4 records: age, beds, sex, dx>"
    assert repr(data.columns["dx"]) == "<TaxonomicColumn 'dx': 4 records>"


def test_identifiers_never_come_back_and_the_rest_as_it_was(table: Make, schema: Schema, lists: Lists) -> None:
    source = table(PATIENTS)
    out = Microdata.from_frame(source, schema).to_frame()
    assert type(out) is type(source)
    expected = lists(source)
    del expected["name"]
    assert lists(out) == expected


def test_replaced_columns_are_decoded(table: Make, schema: Schema, lists: Lists) -> None:
    data = Microdata.from_frame(table(PATIENTS), schema)
    dx, beds = taxonomic(data, "dx"), categorical(data, "beds")
    masked = data.replace({"dx": dx.with_codes([0, 0, 1, -1])}, beds=beds.with_codes([1, 1, -1, 2]))
    masked = masked.replace(age=continuous(data, "age").with_values([35.5, 35.5, np.nan, 58]))
    columns = lists(masked.to_frame())
    assert list(columns) == ["age", "beds", "sex", "dx", "remarks"]
    assert columns["age"] == [35.5, 35.5, None, 58.0]
    assert columns["beds"] == ["some", "some", None, "many"]
    assert columns["dx"] == ["0380", "0380", "250", None]
    assert columns["remarks"] == ["a", None, "b", "b"]
    assert lists(data.to_frame())["age"] == [30, 41, None, 58]


def test_take(table: Make, schema: Schema, lists: Lists) -> None:
    data = Microdata.from_frame(table(PATIENTS), schema)
    part = data.take([3, 0])
    assert part.n == 2
    assert part.rows.tolist() == [3, 0]
    assert taxonomic(part, "dx").table is taxonomic(data, "dx").table
    assert lists(part.to_frame())["sex"] == ["m", "f"]
    assert part.take([1]).rows.tolist() == [0]


def test_replace_refuses_what_does_not_fit(table: Make, schema: Schema) -> None:
    data = Microdata.from_frame(table(PATIENTS), schema)
    with pytest.raises(SchemaError, match=r"no coded column 'agee' to replace.\nDid you mean 'age'\?"):
        data.replace({"agee": data.columns["age"]})
    with pytest.raises(SchemaError, match="no coded column 'name' to replace"):
        data.replace({"name": data.columns["age"]})
    with pytest.raises(DataError, match="column 'age': 1 values for 4 records"):
        data.replace({"age": data.columns["age"].take([0])})


def test_nothing_leaves_before_every_role_is_decided(table: Make) -> None:
    data = Microdata.from_frame(table({"x": [1, 2]}), Schema([Attribute("x", kind="continuous")]))
    with pytest.raises(SchemaError, match=r"the role of 1 column is undecided: 'x'.\nDecide for each whether"):
        data.to_frame()


# --------------------------------------------------------------------------------------- schema and table


def test_columns_that_the_schema_does_not_describe(table: Make, one: One) -> None:
    frame = table({"x": [1], "y": [2], "z": [3]})
    with pytest.raises(SchemaError, match=r"does not describe 2 of the columns: 'y', 'z'.\nDescribe every column"):
        Microdata.from_frame(frame, one(kind="continuous"))


def test_attributes_that_the_table_does_not_have(table: Make) -> None:
    schema = Schema([Attribute("dx1", role="other")])
    message = r"the schema describes 'dx1', which the table does not have.\nDid you mean 'dx01'\?"
    with pytest.raises(SchemaError, match=message):
        Microdata.from_frame(table({"dx01": ["a"]}), schema)


def test_a_column_in_the_index_is_pointed_out(one: One) -> None:
    frame = pd.DataFrame({"x": [1], "y": [1]}).set_index("x")
    with pytest.raises(SchemaError, match=r"'x' is in the index: call frame.reset_index\(\) first"):
        Microdata.from_frame(frame, one(kind="continuous"))


# --------------------------------------------------------------------------------------- continuous


def test_numbers_written_as_text(table: Make, one: One, lists: Lists) -> None:
    frame = table({"x": ["1", " 2.5", "?", "+3e1", None]})
    data = Microdata.from_frame(frame, one(kind="continuous", missing=["?"]))
    np.testing.assert_array_equal(continuous(data).values, [1, 2.5, np.nan, 30, np.nan])
    masked = data.replace(x=continuous(data).with_values([30, 2, np.nan, 1.75, 2.5]))
    assert lists(masked.to_frame())["x"] == ["+3e1", "2", None, "1.75", "2.5"]


def test_numbers_written_as_text_keep_their_marker_and_spelling(table: Make, one: One, lists: Lists) -> None:
    values = ["19.0", "?", "20.50", "19.0", "19"]
    data = Microdata.from_frame(table({"x": values}), one(kind="continuous", missing=["?"]))
    assert lists(data.replace(data.columns).to_frame())["x"] == ["19.0", "?", "20.50", "19.0", "19.0"]


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        (["1", "many", "2"], "column 'x', row 2: 'many' is not a number.", "List it in missing"),
        (["1", "nan"], "column 'x', row 2: 'nan' is not a number.", "List it in missing"),
        (
            ["1,5", "2"],
            "column 'x', row 1: '1,5' is not a number.",
            "say notation: '1234,5'.",
        ),
        ([1.0, 2.0, float("-inf")], "column 'x', row 3: -inf is not a finite number.", "missing"),
        (["1e999"], "column 'x', row 1: inf is not a finite number.", "missing"),
        ([True, False], "column 'x' holds bool, which cannot be continuous.", "Make its kind 'nominal'."),
        ([[1], [2]], "which cannot be continuous.", "Give it the role 'other'"),
    ],
)
def test_what_is_no_number(table: Make, one: One, values: list[Any], message: str, hint: str) -> None:
    with pytest.raises(DataError) as caught:
        Microdata.from_frame(table({"x": values}), one(kind="continuous"))
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_mixed_objects_in_a_continuous_column(one: One) -> None:
    data = Microdata.from_frame(pd.DataFrame({"x": [1, "2", None, 3.5]}, dtype=object), one(kind="continuous"))
    np.testing.assert_array_equal(continuous(data).values, [1, 2, np.nan, 3.5])
    out = data.replace(x=continuous(data).with_values([1, 2, np.nan, 4])).to_frame()
    assert out["x"].tolist() == [1.0, 2.0, None, 4.0]
    with pytest.raises(DataError, match="column 'x', row 2: 'two' is not a number"):
        Microdata.from_frame(pd.DataFrame({"x": [1, "two"]}, dtype=object), one(kind="continuous"))


def test_values_that_mean_missing_among_numbers(table: Make, one: One, lists: Lists) -> None:
    data = Microdata.from_frame(table({"x": [30, -9, 99, -9]}), one(kind="continuous", missing=["-9", 99.0, "?"]))
    np.testing.assert_array_equal(continuous(data).values, [30, np.nan, np.nan, np.nan])
    (note,) = data.notes
    assert (note.event, note.cells, note.values) == ("missing", 3, (("-9", 2), ("99", 1)))
    masked = data.replace(x=continuous(data).with_values([np.nan, 31, np.nan, 32]))
    # One and the same marker: it must not tell records apart.
    assert lists(masked.to_frame())["x"] == [-9, 31, -9, 32]
    assert lists(data.to_frame())["x"] == [30, -9, 99, -9]


def test_where_a_column_has_empty_cells_missing_is_written_empty(table: Make, one: One, lists: Lists) -> None:
    data = Microdata.from_frame(table({"x": ["30", "?", None]}), one(kind="continuous", missing=["?"]))
    assert lists(data.replace(data.columns).to_frame())["x"] == ["30", None, None]


def test_dates_and_decimals_are_numbers(table: Make, one: One, lists: Lists) -> None:
    days = [dt.date(1970, 1, 3), None, dt.date(9999, 1, 1)]
    data = Microdata.from_frame(table({"x": days}), one(kind="continuous", missing=["9999-01-01"]))
    np.testing.assert_array_equal(continuous(data).values, [2, np.nan, np.nan])
    masked = data.replace(x=continuous(data).with_values([3.4, 4, np.nan]))
    assert lists(masked.to_frame())["x"] == [dt.date(1970, 1, 4), dt.date(1970, 1, 5), None]
    amounts = [Decimal("1.10"), Decimal("2.25"), Decimal("-9.00")]
    data = Microdata.from_frame(table({"x": amounts}), one(kind="continuous", missing=[-9]))
    np.testing.assert_allclose(continuous(data).values, [1.1, 2.25, np.nan])
    assert lists(data.replace(data.columns).to_frame())["x"] == amounts
    wider = data.replace(x=continuous(data).with_values([1e50, 2, np.nan]))  # more digits than the type holds
    assert lists(wider.to_frame())["x"] == [1e50, 2.0, -9.0]


def test_a_moment_that_means_missing(one: One) -> None:
    moments = pd.Series(pd.to_datetime(["2020-01-01 12:00", "2100-12-31 00:00"])).dt.tz_localize("Europe/Madrid")
    data = Microdata.from_frame(pd.DataFrame({"x": moments}), one(kind="continuous", missing=["2100-12-31"]))
    assert data.columns["x"].missing.tolist() == [False, True]
    pd.testing.assert_series_equal(data.replace(data.columns).to_frame()["x"], moments.rename("x"))


def test_numbers_held_as_categories(one: One, lists: Lists) -> None:
    ages = pd.DataFrame({"x": pd.Categorical([30, 41, None])})
    data = Microdata.from_frame(ages, one(kind="continuous"))
    np.testing.assert_array_equal(continuous(data).values, [30, 41, np.nan])
    out = data.replace(x=continuous(data).with_values([35.5, 35.5, 40])).to_frame()
    assert out["x"].dtype == np.float64
    assert out["x"].tolist() == [35.5, 35.5, 40.0]
    text = Microdata.from_frame(ages.astype({"x": "str"}).astype("category"), one(kind="continuous", missing=["nan"]))
    assert text.columns["x"].missing.tolist() == [False, False, True]


def test_nan_is_missing(one: One) -> None:
    data = Microdata.from_frame(pl.DataFrame({"x": [1.0, float("nan"), None]}), one(kind="continuous"))
    assert data.columns["x"].missing.tolist() == [False, True, True]
    data = Microdata.from_frame(pl.DataFrame({"x": [1.0, float("nan"), None]}), one(kind="nominal"))
    assert categorical(data).codes.tolist() == [0, -1, -1]


# --------------------------------------------------------------------------------------- ordinal


def test_the_whole_scale_in_the_type_of_the_column(table: Make, one: One, lists: Lists) -> None:
    data = Microdata.from_frame(table({"x": [3, 1, 3]}), one(kind="ordinal", order=["1", "2", "3"]))
    column = categorical(data)
    assert (column.codes.tolist(), column.categories) == ([2, 0, 2], (1, 2, 3))
    assert column.counts.tolist() == [1, 0, 2]
    assert lists(data.replace(x=column.with_codes([1, 1, 2])).to_frame())["x"] == [2, 2, 3]
    text = Microdata.from_frame(table({"x": ["3", "1"]}), one(kind="ordinal", order=[1, 2, 3]))
    assert categorical(text).categories == ("1", "2", "3")


def test_values_that_are_not_in_the_order(table: Make, one: One) -> None:
    schema = one(kind="ordinal", order=["low", "high"], missing=["?"])
    frame = table({"x": ["low", "medium", "?", "High", "medium"]})
    with pytest.raises(DataError) as caught:
        Microdata.from_frame(frame, schema)
    assert caught.value.message == (
        "column 'x' has values that are not in its order ('low', 'high'):\n"
        "  'medium': 2 times, first in row 2\n"
        "  'High': 1 time, first in row 4"
    )
    assert "Add them to the order, or to missing" in caught.value.hint


def test_yes_and_no_without_quotes_are_pointed_out(table: Make, one: One) -> None:
    with pytest.raises(DataError, match="put them in quotes"):
        Microdata.from_frame(table({"x": ["yes", "no"]}), one(kind="ordinal", order=[False, True]))


def test_ordered_categories_of_ranges(one: One) -> None:
    ranges = pd.cut(pd.Series([1.0, 9.0, None]), [0, 5, 10])
    order = [str(interval) for interval in ranges.cat.categories]
    data = Microdata.from_frame(pd.DataFrame({"x": ranges}), one(kind="ordinal", order=order))
    column = categorical(data)
    assert column.codes.tolist() == [0, 1, -1]
    out = data.replace(x=column.with_codes([1, 1, 0])).to_frame()
    assert out["x"].dtype == ranges.dtype
    assert out["x"].cat.codes.tolist() == [1, 1, 0]


# --------------------------------------------------------------------------------------- nominal


def test_nominal_categories_are_the_values_that_occur_in_sorted_order(table: Make, one: One) -> None:
    data = Microdata.from_frame(table({"x": ["b", "", None, "a", "b"]}), one(kind="nominal"))
    column = categorical(data)
    assert (column.codes.tolist(), column.categories) == ([1, -1, -1, 0, 1], ("a", "b"))
    assert [(note.event, note.cells) for note in data.notes] == [("empty", 1), ("missing", 1)]


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([True, False, True], (False, True)),
        ([38.0, 2.5, 38.0], (2.5, 38.0)),
        ([dt.date(2021, 1, 1), dt.date(2020, 1, 1)], (dt.date(2020, 1, 1), dt.date(2021, 1, 1))),
        ([10, 9, 10], (9, 10)),
        ([b"b", b"a"], (b"a", b"b")),
    ],
)
def test_nominal_values_of_any_type(
    table: Make, one: One, lists: Lists, values: list[Any], categories: tuple[Any, ...]
) -> None:
    data = Microdata.from_frame(table({"x": values}), one(kind="nominal"))
    assert categorical(data).categories == categories
    assert lists(data.replace(data.columns).to_frame())["x"] == values


def test_values_of_several_types_stay_apart(one: One) -> None:
    values = ["b", 1, True, None, "1", 2.5, "a"]
    data = Microdata.from_frame(pd.DataFrame({"x": pd.Series(values, dtype=object)}), one(kind="nominal"))
    column = categorical(data)
    assert column.categories == (1, 2.5, True, "1", "a", "b")
    assert column.codes.tolist() == [5, 0, 2, -1, 3, 1, 4]
    assert data.replace(data.columns).to_frame()["x"].tolist() == values


def test_unused_categories_are_no_values_and_do_not_leave_the_house(one: One) -> None:
    source = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["c", "b", "a"])})
    data = Microdata.from_frame(source, one(kind="nominal"))
    assert categorical(data).categories == ("a", "b")
    for out in (data.replace(data.columns).to_frame(), data.to_frame()):
        pd.testing.assert_frame_equal(out, source.assign(x=source["x"].cat.remove_unused_categories()))


def test_values_that_cannot_be_compared(table: Make, one: One) -> None:
    with pytest.raises(DataError, match=r"column 'x' holds .*cannot be compared as single values"):
        Microdata.from_frame(table({"x": [[1], [2]]}), one(kind="nominal"))


# --------------------------------------------------------------------------------------- taxonomic


def test_spellings_of_one_concept_are_one_category(table: Make, one: One, codes: Taxonomy, lists: Lists) -> None:
    schema = one(kind="taxonomic", taxonomy=codes, normalize=["zeros:3", "dots"])
    values = ["38.9", "250", "250.", "038.9", "2501", "250.1", "38.9", "250"]
    data = Microdata.from_frame(table({"x": values}), schema)
    column = taxonomic(data)
    # 38.9 is the more frequent spelling of 0389; 2501 and 250.1 occur once each: the first seen.
    assert column.categories == ("38.9", "250", "2501")
    assert column.codes.tolist() == [0, 1, 1, 0, 2, 2, 0, 1]
    assert column.positions.tolist() == codes.lookup(["0389", "250", "2501"]).tolist()
    assert lists(data.to_frame())["x"] == values
    assert lists(data.replace(data.columns).to_frame())["x"][3] == "38.9"


@pytest.mark.parametrize("values", [[250, 38, 250], [250.0, 38.0, 250.0], [Decimal(250), Decimal(38), Decimal(250)]])
def test_codes_held_as_numbers(table: Make, one: One, codes: Taxonomy, lists: Lists, values: list[Any]) -> None:
    schema = one(kind="taxonomic", taxonomy=codes, normalize=["zeros:3"])
    data = Microdata.from_frame(table({"x": values}), schema)
    column = taxonomic(data)
    assert column.categories == (values[1], values[0])
    assert column.codes.tolist() == [1, 0, 1]
    assert lists(data.replace(x=column.with_codes([0, 0, 1])).to_frame())["x"] == [
        values[1],
        values[1],
        values[0],
    ]


def test_values_outside_the_taxonomy(table: Make, one: One, codes: Taxonomy) -> None:
    frame = table({"x": ["250", "25O1", "38", "?", "?", None, ""]})
    with pytest.raises(DataError) as caught:
        Microdata.from_frame(frame, one(kind="taxonomic", taxonomy=codes))
    lines = caught.value.message.splitlines()
    assert lines[0] == "column 'x': 4 cells (3 distinct values) not in small icd:"
    assert lines[1].startswith("  '?': 2 times, first in row 4")
    assert lines[2].startswith("  '25O1': 1 time, first in row 2; nearest: '2501'")
    assert lines[3].startswith("  '38': 1 time, first in row 3")
    assert "Some would be found with normalize=['zeros:3']" in caught.value.hint
    for choice in ("'drop'", "'root'", "'as_missing'", "missing=["):
        assert choice in caught.value.hint


def test_at_most_ten_values_are_listed(table: Make, one: One, codes: Taxonomy) -> None:
    with pytest.raises(DataError) as caught:
        Microdata.from_frame(table({"x": list("abcdefghijkl")}), one(kind="taxonomic", taxonomy=codes))
    lines = caught.value.message.splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  … and 2 more"
    assert "normalize" not in caught.value.hint


UNMAPPED = {"x": ["2501", "?", "0380", "?", "!"], "y": ["a", "b", "b", "c", "c"]}


def unmapped(codes: Taxonomy, choice: str) -> Schema:
    return Schema(
        [
            Attribute("x", role="confidential", kind="taxonomic", taxonomy=codes, unmapped=choice),
            Attribute("y", role="quasi_identifier", kind="nominal"),
        ]
    )


def test_unmapped_as_missing(table: Make, codes: Taxonomy, lists: Lists) -> None:
    data = Microdata.from_frame(table(UNMAPPED), unmapped(codes, "as_missing"))
    assert taxonomic(data).codes.tolist() == [1, -1, 0, -1, -1]
    (note,) = data.notes
    assert (note.event, note.cells, note.values) == ("as_missing", 3, (("?", 2), ("!", 1)))
    assert str(note) == "x: 3 cells held a value outside the taxonomy and became missing."
    assert lists(data.replace(x=data.columns["x"]).to_frame())["x"] == ["2501", None, "0380", None, None]


def test_unmapped_to_the_root(table: Make, codes: Taxonomy, lists: Lists) -> None:
    data = Microdata.from_frame(table(UNMAPPED), unmapped(codes, "root"))
    column = taxonomic(data)
    assert column.categories == ("ICD", "0380", "2501")
    assert column.codes.tolist() == [2, 0, 1, 0, 0]
    assert (data.notes[0].event, data.notes[0].cells) == ("root", 3)
    assert lists(data.replace(x=column).to_frame())["x"] == ["2501", "ICD", "0380", "ICD", "ICD"]
    assert lists(data.to_frame())["x"] == UNMAPPED["x"]


def test_unmapped_records_are_dropped(table: Make, codes: Taxonomy, lists: Lists) -> None:
    data = Microdata.from_frame(table(UNMAPPED), unmapped(codes, "drop"))
    assert data.n == 2
    assert data.rows.tolist() == [0, 2]
    assert taxonomic(data).codes.tolist() == [1, 0]
    assert categorical(data, "y").categories == ("a", "b")  # nobody who is left has a c
    assert (data.notes[0].event, data.notes[0].cells) == ("drop", 3)
    assert lists(data.to_frame()) == {"x": ["2501", "0380"], "y": ["a", "b"]}
    masked = data.replace(x=taxonomic(data).with_codes([0, 0]))
    assert lists(masked.to_frame()) == {"x": ["0380", "0380"], "y": ["a", "b"]}


def test_unmapped_root_among_integers_becomes_text(table: Make, codes: Taxonomy, lists: Lists) -> None:
    schema = one_taxonomic(codes, unmapped="root")
    data = Microdata.from_frame(table({"x": [250, 7]}), schema)
    assert lists(data.replace(data.columns).to_frame())["x"] == ["250", "ICD"]


def one_taxonomic(taxonomy: Any, **options: Any) -> Schema:
    return Schema([Attribute("x", role="confidential", kind="taxonomic", taxonomy=taxonomy, **options)])


def test_unused_categories_need_not_be_in_the_taxonomy(codes: Taxonomy) -> None:
    values = pd.Categorical(["2501", "250"], categories=["unknown", "250", "2501"])
    data = Microdata.from_frame(pd.DataFrame({"x": values}), one_taxonomic(codes))
    assert taxonomic(data).categories == ("250", "2501")


def test_values_of_several_taxonomies(table: Make) -> None:
    first = Taxonomy.from_edges([("a", "r"), ("b", "r")], name="first")
    second = Taxonomy.from_edges([("d", "q"), ("c", "q"), ("a", "q")], name="second")
    frame = table({"x": ["c", "b", "d", "a", "c"]})
    data = Microdata.from_frame(frame, one_taxonomic([first, second]))
    column = taxonomic(data)
    # First what the first taxonomy knows, then the rest in the order of the second.
    assert column.categories == ("a", "b", "d", "c")
    assert column.positions.tolist() == [*first.lookup(["a", "b"]).tolist(), -1, -1]
    assert column.further is not None
    assert column.further.tolist() == [second.lookup(["a", "b", "d", "c"]).tolist()]
    assert column.table.shape == (4, 4)
    with pytest.raises(DataError, match=r"1 cell \(1 distinct value\) not in first or second"):
        Microdata.from_frame(table({"x": ["a", "e"]}), one_taxonomic([first, second]))


def test_a_label_of_several_concepts(table: Make) -> None:
    taxonomy = Taxonomy.from_edges([("1", "0"), ("2", "0")], labels={"1": "Coma", "2": "Coma"}, name="twins")
    with pytest.raises(DataError, match="column 'x': 'Coma' is the label of several concepts of twins"):
        Microdata.from_frame(table({"x": ["Coma"]}), one_taxonomic(taxonomy, match="label"))


def test_labels_as_values(table: Make) -> None:
    taxonomy = Taxonomy.from_edges([("1", "0"), ("2", "0")], labels={"1": "Coma", "2": "Neuropathy"})
    schema = one_taxonomic(taxonomy, match="label", normalize=["case"])
    data = Microdata.from_frame(table({"x": ["neuropathy", "COMA", "Coma", "Coma"]}), schema)
    assert taxonomic(data).categories == ("Coma", "neuropathy")
    assert taxonomic(data).codes.tolist() == [1, 0, 0, 0]


# --------------------------------------------------------------------------------------- edges


def test_tables_without_rows(schema: Schema, lists: Lists) -> None:
    empty = pa.table({name: pa.array([], pa.string()) for name in PATIENTS})
    data = Microdata.from_frame(empty, schema)
    assert data.n == 0
    assert all(len(column) == 0 for column in data.columns.values())
    assert lists(data.replace(data.columns).to_frame()) == {name: [] for name in PATIENTS if name != "name"}


def test_columns_without_values(table: Make, one: One, codes: Taxonomy, lists: Lists) -> None:
    frame = table({"x": [None, None]})
    for schema in (one(kind="continuous"), one(kind="nominal"), one_taxonomic(codes)):
        data = Microdata.from_frame(frame, schema)
        assert data.columns["x"].missing.all()
        assert lists(data.replace(data.columns).to_frame())["x"] == [None, None]


def test_categories_with_nulls_and_duplicates_in_their_dictionary(one: One) -> None:
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int8()), pa.array(["a", None, "b", "a"]))
    data = Microdata.from_frame(pa.table({"x": dictionary}), one(kind="nominal"))
    assert categorical(data).categories == ("a", "b")
    assert categorical(data).codes.tolist() == [0, -1, 1, 0]
    assert data.replace(data.columns).to_frame()["x"].to_pylist() == ["a", None, "b", "a"]


def test_microdata_can_be_sent_to_other_processes(table: Make, schema: Schema) -> None:
    import pickle

    data = Microdata.from_frame(table(PATIENTS), schema)
    again = pickle.loads(pickle.dumps(data))
    assert again.n == 4
    assert taxonomic(again, "dx").codes.tolist() == taxonomic(data, "dx").codes.tolist()
