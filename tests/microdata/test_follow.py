"""Columns that follow another one, worked by hand."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from taxomask.microdata import CategoricalColumn, ContinuousColumn, Microdata

PLACES = tm.Taxonomy.from_edges(
    [("north", "land"), ("south", "land"), ("Ax", "north"), ("Bo", "north"), ("Cy", "south"), ("Du", "south")],
    labels={"Ax": "Axton", "Bo": "Boville", "north": "The North", "south": "The South", "land": "The Land"},
)


def schema(*follows: tm.Attribute, kind: str = "nominal", **options: Any) -> tm.Schema:
    return tm.Schema([tm.Attribute("code", role="quasi_identifier", kind=kind, **options), *follows])


def text(name: str = "text", follows: str = "code") -> tm.Attribute:
    return tm.Attribute(name, role="other", follows=follows)


def released(table: Any, described: tm.Schema, codes: list[Any]) -> Any:
    """The table with other codes, given by their values."""
    data = Microdata.from_frame(table, described)
    column = data.columns["code"]
    if isinstance(column, ContinuousColumn):
        return data.replace(code=column.with_values(codes))
    assert isinstance(column, CategoricalColumn)
    if described["code"].taxonomy is not None:
        column = column.including([PLACES.position(one) for one in codes if one is not None])  # type: ignore[attr-defined]
    place = {category: number for number, category in enumerate(column.categories)}
    return data.replace(code=column.with_codes([-1 if one is None else place[one] for one in codes]))


@pytest.mark.parametrize("make", [lambda table: table, pa.Table.to_pandas, pl.from_arrow])
def test_the_text_belongs_to_the_released_code(make: Any) -> None:
    """The commonest of several; of equally common ones the first in spelling; none beside a missing code."""
    table = pa.table({"code": ["a", "a", "a", "b", "b", None], "text": ["A", "A", "x", "z", "B", "lost"]})
    found = released(make(table), schema(text()), ["b", "a", None, "a", "a", "b"]).to_frame()
    assert type(found) is type(make(table))
    texts = found["text"].to_pylist() if isinstance(found, pa.Table) else list(found["text"])
    assert [None if pd.isna(one) else one for one in texts] == ["B", "A", None, "A", "A", "B"]


def test_a_column_that_follows_what_did_not_change_stays() -> None:
    table = pa.table({"code": ["a", "a"], "text": ["A", "x"]})
    assert Microdata.from_frame(table, schema(text())).to_frame().equals(table)


def test_numbers_and_dates() -> None:
    """What belongs to a released number or day; one that does not occur has nothing."""
    table = pa.table({"code": [1, 2, 4], "text": [10, 20, 40]})
    masked = released(table, schema(text(), kind="continuous"), [2.0, 3.0, 4.0])
    assert masked.to_frame()["text"].to_pylist() == [20, None, 40]
    assert (masked.followed("text").labelled, masked.followed("text").emptied) == (0, 1)
    days = [dt.date(2020, 5, 1), dt.date(2021, 5, 1), dt.date(2021, 5, 3)]
    table = pa.table({"code": days, "text": [2020, 2021, 2021]})
    numbers = [(one - dt.date(1970, 1, 1)).days for one in days]
    masked = released(table, schema(text(), kind="continuous"), [numbers[2] + 0.2, numbers[0] * 1.0, numbers[1] + 1.0])
    assert masked.to_frame()["text"].to_pylist() == [2021, 2020, None]


def test_an_ordinal_code() -> None:
    table = pa.table({"code": ["low", "high", "high"], "text": [1, 3, 3]})
    described = schema(text(), kind="ordinal", order=["low", "mid", "high"])
    assert released(table, described, ["high", "mid", "low"]).to_frame()["text"].to_pylist() == [3, None, 1]


def test_a_concept_that_does_not_occur_takes_its_label() -> None:
    """Du has none."""
    table = pa.table({"code": ["Ax", "Cy", "Cy", "Cy"], "text": ["the town of Ax", "Cyville", "Cyville", None]})
    masked = released(table, schema(text(), kind="taxonomic", taxonomy=PLACES), ["Bo", "north", "Du", "Cy"])
    assert masked.to_frame()["text"].to_pylist() == ["Boville", "The North", None, "Cyville"]
    assert (masked.followed("text").labelled, masked.followed("text").emptied) == (2, 1)


def test_a_level_above_takes_the_ancestor_there_and_one_below_nothing() -> None:
    """Districts of towns: that of a town that does not occur, of a district itself, and of the whole land."""
    table = pa.table({"code": ["Ax", "Ax", "Cy", "Cy"], "text": ["north", "north", "south", "south"]})
    described = schema(text(), kind="taxonomic", taxonomy=PLACES)
    masked = released(table, described, ["Bo", "south", "land", "Cy"])
    assert masked.to_frame()["text"].to_pylist() == ["north", "south", None, "south"]
    labels = table.set_column(1, "text", [["The North", "The North", "The South", "The South"]])
    found = released(labels, described, ["Bo", "Ax", "land", "Cy"]).to_frame()
    assert found["text"].to_pylist() == ["The North", "The North", None, "The South"]


def test_numbers_that_follow_a_concept_are_not_made_up() -> None:
    table = pa.table({"code": ["Ax", "Cy"], "text": [1.5, 2.5]})
    masked = released(table, schema(text(), kind="taxonomic", taxonomy=PLACES), ["Bo", "Cy"])
    assert masked.to_frame()["text"].to_pylist() == [None, 2.5]


def test_chains() -> None:
    table = pa.table({"code": ["a", "b", "c"], "text": ["A", "B", "B"], "group": [1, 2, 2]})
    described = tm.Schema([text("group", "text"), text(), *schema().values()])
    assert described.following(["code"]) == ("group", "text")
    found = released(table, described, ["c", "a", "a"]).to_frame()
    assert found["text"].to_pylist() == ["B", "A", "A"]
    assert found["group"].to_pylist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([text(follows="cod")], "attribute 'text' follows 'cod', which is not described"),
        ([text("a", "b"), text("b", "a")], "attribute 'a' follows itself, by way of 'b'"),
        ([tm.Attribute("who", role="identifier"), text(follows="who")], "an identifier, which is never released"),
    ],
)
def test_what_cannot_be_followed(attributes: list[tm.Attribute], message: str) -> None:
    with pytest.raises(tm.SchemaError, match=message):
        schema(*attributes)


def test_what_cannot_follow() -> None:
    for wrong in ({"role": "confidential", "kind": "nominal"}, {"role": "other", "kind": "nominal"}, {"role": None}):
        with pytest.raises(tm.SchemaError, match="has the role 'other' and no kind"):
            tm.Attribute("text", follows="code", **wrong)  # type: ignore[arg-type]
    with pytest.raises(tm.SchemaError, match="follows must be the name of another column"):
        tm.Attribute("text", role="other", follows="text")


PLAN = """\
data: in.parquet
attributes:
  - {name: dx, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: words, role: other, follows: dx}
method: {name: METHOD}
seed: 5
practice: true
"""


@pytest.mark.parametrize(
    "method", ["microaggregation, k: 5", "recoding, level: {dx: 3}", "imputation, synthesis: full"]
)
def test_on_every_engine(tmp_path: Path, method: str) -> None:
    """The same table in memory and from files, no leak, and no loss, class or attacker that counts it."""
    from taxomask import examples
    from taxomask.microdata import read_table

    icd = tm.Taxonomy.builtin("icd9cm")
    table = read_table(examples.path(), ["dx01", "age"], text=["dx01"]).slice(0, 600)
    codes = table["dx01"].to_pylist()
    table = pa.table({"dx": codes, "age": table["age"], "words": [f"it is {icd[one].label}" for one in codes]})
    pq.write_table(table, tmp_path / "in.parquet")
    found = []
    for engine in ("memory", "local"):
        plan = tmp_path / f"{engine}.yaml"
        plan.write_text(PLAN.replace("METHOD", method) + f"engine: {engine}\noutput: {{keep_order: true}}\n")
        found.append(tm.run(plan, output=str(tmp_path / f"{engine}.parquet")))
    first, second = (read_table(tmp_path / f"{engine}.parquet") for engine in ("memory", "local"))
    assert first.equals(second)
    assert found[0].release.promise == found[1].release.promise
    assert found[0].release.notes == found[1].release.notes
    release = found[0].release
    assert release.following == ("words",)
    assert "words holds what belongs to the released dx" in [one.promise for one in release.promise]
    assert "words" not in release.untouched
    assert "words" not in release.evaluate().to_dict()["utility"]["overall"]["each"] if release.linked else True
    for code, words in zip(first["dx"].to_pylist(), first["words"].to_pylist(), strict=True):
        assert words in (f"it is {icd[code].label}", icd[code].label)
    assert (
        "Columns that hold what belongs to a protected one: words (that of dx).\n"
        in found[0].publication.note.read_text()
    )


def test_texts_of_single_records_are_spoken_of() -> None:
    codes = [f"D{place % 5}" for place in range(100)]
    attributes = [
        tm.Attribute("dx", role="quasi_identifier", kind="nominal"),
        tm.Attribute("text", role="other", follows="dx"),
    ]
    for texts, said in (([f"{code} of Ann {place}" for place, code in enumerate(codes)], 1), (codes, 0)):
        release = tm.protect(pa.table({"dx": codes, "text": texts}), tm.Schema(attributes), tm.Pram(0.5), seed=1)
        found = [note for note in release.notes if "5 of its released values stood in one record only" in note]
        assert len(found) == said
