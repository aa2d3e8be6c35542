"""Whose row it is: people, households and sampling weights of a table."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from taxomask.engines import Files, Scratch, Threads, read_coded
from taxomask.errors import DataError, SchemaError
from taxomask.microdata import Attribute, Microdata, Schema
from taxomask.microdata.people import class_owners, in_order_of_appearance, row_shares

AGE = Attribute("age", role="quasi_identifier", kind="continuous")
WHO = Attribute("who", role="identifier")
HOME = Attribute("home", role="identifier")
WEIGHT = Attribute("weight", role="other", kind="continuous")


def coded(schema: Schema, **columns: list[Any]) -> Microdata:
    n = len(next(iter(columns.values())))
    return Microdata.from_frame(pa.table({**columns, "age": list(range(n))}), schema)


def numbers(found: Any) -> list[int]:
    assert found.dtype == np.int64
    return list(found.tolist())


def test_without_a_person_there_are_records_only() -> None:
    data = Microdata.from_frame(pa.table({"age": [1, 2]}), Schema([AGE]))
    assert data.people is None
    assert data.households is None
    assert data.units is None
    assert data.weights is None
    assert data.unit == "records"


def test_people_are_numbered_in_order_of_first_appearance() -> None:
    data = coded(Schema([WHO, AGE], person="who"), who=["z", "a", "z", "m", "a"])
    assert numbers(data.people) == [0, 1, 0, 2, 1]
    assert data.units is data.people
    assert data.unit == "people"


@pytest.mark.parametrize(
    "values",
    [
        ["p1", " P1 ", "p2"],
        [1, 1, 2],
        [1.0, 1.0, 2.5],
        ["ｐ1", "p1", "p2"],
        ["STRASSE", "straße", "weg"],
    ],
)
def test_spellings_of_a_name_are_one_person(values: list[Any]) -> None:
    assert numbers(coded(Schema([WHO, AGE], person="who"), who=values).people) == [0, 0, 1]


def test_leading_zeros_tell_people_apart() -> None:
    assert numbers(coded(Schema([WHO, AGE], person="who"), who=["07", "7", "007"]).people) == [0, 1, 2]


def test_rows_without_a_person_are_together_one_unless_told_otherwise() -> None:
    who = [None, "a", "", "?", "a", None]
    marked = Attribute("who", role="identifier", missing=("", "?"))
    together = coded(Schema([marked, AGE], person="who"), who=who)
    assert numbers(together.people) == [0, 1, 0, 0, 1, 0]
    each = coded(Schema([marked, AGE], person="who", missing_person="each"), who=who)
    assert numbers(each.people) == [0, 1, 2, 3, 1, 4]


def test_a_number_that_means_missing_is_nobody() -> None:
    marked = Attribute("who", role="identifier", missing=(-9,))
    assert numbers(coded(Schema([marked, AGE], person="who"), who=[-9, 4, -9, 5]).people) == [0, 1, 0, 2]


def test_k_counts_households_where_they_are_named() -> None:
    data = coded(Schema([HOME, AGE], household="home"), home=[7, 8, 7])
    assert numbers(data.households) == [0, 1, 0]
    assert data.people is None
    assert data.units is data.households
    assert data.unit == "households"


def test_households_that_share_a_person_are_one() -> None:
    schema = Schema([WHO, HOME, AGE], person="who", household="home")
    who = ["ann", "bob", "ann", "cid", None, "dan", "dan", None]
    home = ["x", "x", "y", "z", "z", "y", None, None]
    data = coded(schema, who=who, home=home)
    assert numbers(data.people) == [0, 1, 0, 2, 3, 4, 4, 3]
    # ann ties x and y; dan's row without a household is of y; the last row belongs to nobody
    assert numbers(data.households) == [0, 0, 0, 1, 1, 0, 0, 2]


def test_people_go_wherever_the_table_goes() -> None:
    schema = Schema([WHO, WEIGHT, AGE], person="who", sampling_weight="weight")
    data = coded(schema, who=["b", "a", "b", "c"], weight=[1.5, 2, 3, 4])
    part = data.take([3, 0, 2])
    assert numbers(part.people) == [2, 0, 0]
    assert part.weights is not None
    assert part.weights.tolist() == [4, 1.5, 3]
    masked = data.replace(age=data.continuous("age").with_values([1, 1, 2, 2]))
    assert masked.people is data.people
    assert numbers(pickle.loads(pickle.dumps(data)).people) == [0, 1, 0, 2]
    with pytest.raises(DataError, match="3 records"):
        part.owned_as(data)


def test_dropped_records_have_no_owners() -> None:
    code = Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm", unmapped="drop")
    table = pa.table({"who": ["b", "a", "b"], "dx": ["nonsense", "25001", "4019"]})
    data = Microdata.from_frame(table, Schema([WHO, code], person="who"))
    assert numbers(data.people) == [0, 1]


def test_files_have_the_same_people(tmp_path: Path) -> None:
    schema = Schema(
        [WHO, HOME, WEIGHT, AGE], person="who", household="home", sampling_weight="weight", population_size=99
    )
    path = tmp_path / "table.csv"
    path.write_text("who,home,weight,age\nb,1,2,30\na,,2.5,31\n,1,1,32\nB ,2,1,33\n")
    with Threads(2) as workers, Scratch.temporary(tmp_path / "scratch") as folder:
        data = read_coded(str(path), schema, Files(workers, folder), text=["who", "home"])
        assert numbers(data.people) == [0, 1, 2, 0]
        assert numbers(data.households) == [0, 1, 0, 0]
        assert data.weights is not None
        assert data.weights.tolist() == [2, 2.5, 1, 1]


@pytest.mark.parametrize("weights", [[1, None], [1, 0], [1, -2]])
def test_weights_must_be_there_and_above_zero(weights: list[Any]) -> None:
    schema = Schema([WEIGHT, AGE], sampling_weight="weight")
    with pytest.raises(DataError, match="'weight': 1 sampling weights are missing or not above 0, the first in row 2"):
        coded(schema, weight=weights)


def test_a_population_is_not_smaller_than_the_table() -> None:
    table = {"who": ["a", "a", "b"]}
    assert coded(Schema([WHO, AGE], person="who", population_size=2), **table).n == 3
    with pytest.raises(DataError, match="population_size is 1, but the table has 2 people"):
        coded(Schema([WHO, AGE], person="who", population_size=1), **table)
    with pytest.raises(DataError, match="population_size is 2, but the table has 3 rows"):
        coded(Schema([WHO, AGE], population_size=2), **table)


def test_numbers_and_counts() -> None:
    assert in_order_of_appearance(np.array([], dtype=np.int64)).tolist() == []
    assert in_order_of_appearance(np.array([3, 3, 0, 9, 0])).tolist() == [0, 0, 1, 2, 1]
    classes, owners = np.array([1, 0, 1, 1, 0]), np.array([2, 2, 2, 0, 2])
    assert class_owners(classes, None).tolist() == [2, 3]
    assert class_owners(classes, owners).tolist() == [1, 2]
    assert row_shares(owners).tolist() == [0.25, 0.25, 0.25, 1.0, 0.25]


# --------------------------------------------------------------------------------------- schemas


def test_a_schema_keeps_what_it_says_of_people() -> None:
    said = {"person": "who", "household": "home", "sampling_weight": "weight", "population_size": 500}
    schema = Schema([WHO, HOME, WEIGHT, AGE], **said, missing_person="each")  # type: ignore[arg-type]
    said |= {"missing_person": "each"}
    assert schema.about_people() == said
    assert schema.replace("age", role="confidential").about_people() == said
    assert schema.decide({"age": "other"}).about_people() == said
    assert Schema.from_entries(**_entries(schema)).about_people() == said
    assert {key: schema.to_dict()[key] for key in said} == said
    for key in said:
        assert f"{key} {said[key]}" in repr(schema)
    plain = Schema(schema.values())
    assert plain.about_people() == {}
    assert plain != schema
    assert plain.fingerprint() != schema.fingerprint()
    assert schema.of(schema.values()) == schema
    assert schema.of([WHO, AGE]).about_people() == {"person": "who", "population_size": 500, "missing_person": "each"}
    assert schema.of(schema.values(), person=None, population_size=7).person is None


def _entries(schema: Schema) -> dict[str, Any]:
    content = schema.to_dict()
    return {"entries": content.pop("attributes"), **content}


def test_people_are_read_from_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("person: who\npopulation_size: 10\nattributes:\n  - {name: who, role: identifier}\n")
    assert Schema.read(path).about_people() == {"person": "who", "population_size": 10}


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ({"person": "whom"}, "person must be the name of a column; got 'whom'", "who"),
        ({"person": 7}, "person must be the name of a column; got 7", ""),
        ({"person": "age"}, "the person is column 'age', whose role is quasi_identifier", "role 'identifier'"),
        ({"household": "weight"}, "the household is column 'weight', whose role is other", "tie the rows"),
        ({"person": "who", "household": "who"}, "person and household are the same column", "household alone"),
        ({"sampling_weight": "who"}, "not described as a number", "continuous"),
        ({"population_size": 0}, "population_size must be a whole number of at least 1; got 0", "population"),
        ({"population_size": True}, "population_size must be a whole number", "population"),
        ({"population_size": 3.5}, "population_size must be a whole number", "population"),
        ({"missing_person": "apart"}, "missing_person must be one of 'together', 'each'; got 'apart'", ""),
    ],
)
def test_what_is_wrong_is_said(said: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema([WHO, HOME, WEIGHT, AGE], **said)
    assert message in caught.value.message
    assert hint in caught.value.hint
