"""What a file cannot tell apart is the same; everything else differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.microdata.files import read_table
from taxomask.release.read_back import without_empty_text

TEXTS = ["x", "", "y", None, "", "x"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("ordered", [None, False, True], ids=["plain", "categories", "ordered categories"])
def test_empty_text_is_nothing(kind: Any, ordered: bool | None) -> None:
    plain = [pa.array(TEXTS, kind), pa.array([""], kind), pa.array(["z", None], kind)]
    chunks = plain if ordered is None else [categories(one, ordered) for one in plain]
    found = without_empty_text(pa.chunked_array(chunks))
    assert found.type == chunks[0].type
    assert found.to_pylist() == ["x", None, "y", None, None, "x", None, "z", None]
    if ordered is not None:
        assert [one.dictionary.to_pylist() for one in found.chunks] == [["x", "y"], [], ["z"]]
        assert not found.unify_dictionaries().null_count - found.null_count


def categories(texts: Any, ordered: bool) -> Any:
    coded = texts.cast(pa.string()).dictionary_encode()
    codes = coded.indices.cast(pa.int8())
    return pa.DictionaryArray.from_arrays(codes, coded.dictionary.cast(texts.type), ordered=ordered)


def test_numbers_and_categories_without_empty_text_are_as_they_were() -> None:
    for array in (pa.array([1, None]), categories(pa.array(["a", None]), True)):
        assert without_empty_text(pa.chunked_array([array])).chunk(0).equals(array)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.csv/"])
def test_ordered_categories_of_pandas_and_empty_ones_are_written(tmp_path: Path, name: str) -> None:
    grades = ["low", "", "high", "low", "", "high"]
    table = pa.table({"age": [20, 21, 22, 70, 72, 73], "grade": grades}).to_pandas()
    table["grade"] = table["grade"].astype(pd.CategoricalDtype(["low", "", "high"], ordered=True))
    schema = tm.Schema(
        [tm.Attribute("age", role="quasi_identifier", kind="continuous"), tm.Attribute("grade", role="other")]
    )
    release = tm.protect(table, schema, tm.Microaggregation(3), seed=2**64)
    done = release.write(f"{tmp_path}/{name}")
    back = read_table(tmp_path / name, text=["grade"])["grade"].to_pylist()
    assert sorted(one or "" for one in back) == sorted(grades)
    assert all(check.holds for check in done.checks)
