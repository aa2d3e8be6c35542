"""Who has only their own record and what was published sees how far the record was moved at least."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.cli import main
from taxomask.measures.risk import permutation_distances
from taxomask.release.note import methodology
from taxomask.release.subject import PublicTable, verify_record

CODES = ["0380", "25001", "25002", "4019"]
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "high"]),
        tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        tm.Attribute("ward", role="other"),
    ]
)


def people(rng: np.random.Generator, n: int = 24) -> pa.Table:
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "grade": rng.choice(["low", "mid", "high"], n).tolist(),
            "dx": rng.choice(CODES, n).tolist(),
            "ward": rng.choice(["a", "b"], n).tolist(),
        }
    )


def seen(table: pa.Table, release: tm.Release, row: int, **changes: Any) -> Any:
    record = {name: table[name][row].as_py() for name in table.column_names if name != "name"} | changes
    public = PublicTable.of_note(methodology(release), "note")
    return verify_record(release.data, {name: one for name, one in record.items() if one != ...}, public, {})


@given(st.integers(0, 10_000), st.sampled_from([tm.GroupPermutation(3), tm.RandomSwapping(), tm.RankSwapping(k=5)]))
@settings(max_examples=12, deadline=None)
def test_the_bound_holds_for_everybody(seed: int, method: tm.methods.Method) -> None:
    """The record was moved, in the column where it was moved most, at least as far as its owner can see."""
    table = people(np.random.default_rng(seed))
    release = tm.protect(table, SCHEMA, method, seed=seed)
    moved = permutation_distances(release.original, release.released)
    for row in range(0, 24, 5):
        found = seen(table, release, row)
        assert found.bound
        assert all(one.bound for one in found.columns)
        largest = max(smallest[row] for _, smallest in moved.values())
        assert found.nearest <= largest + 1e-12
        for one in found.columns:
            assert one.nearest <= moved[one.name][1][row] + 1e-12
        alike = [ward == table["ward"][row].as_py() for ward in table["ward"].to_pylist()]
        assert found.candidates == sum(alike)


def test_by_hand() -> None:
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("a", "b")])
    table = pa.table({"a": [1, 2, 3, 4, 5], "b": [10, 20, 30, 40, 50]})
    release = tm.protect(table, schema, tm.RandomSwapping(), seed=1)
    public = PublicTable.of_note(methodology(release), "note")
    crossed = pa.table({"a": [2, 1, 5, 3, 4], "b": [50, 30, 10, 20, 40]})
    found = verify_record(crossed, {"a": 1, "b": 10}, public, {})
    # Ranks from (1, 1): (1, 4), (0, 2), (4, 0), (2, 1), (3, 3) of 4; the largest of each: 4, 2, 4, 2, 3.
    assert (found.nearest, found.at_nearest, found.near, found.bound) == (0.5, 2, 0, True)
    assert [(one.name, one.nearest, one.equal, one.near) for one in found.columns] == [("a", 0, 1, 1), ("b", 0, 1, 1)]
    assert "A bound: if your record is in the table, it was moved by at least 50 % of the ranks" in str(found)
    absent = verify_record(crossed, {"a": 2.5}, public, {})
    assert not absent.bound  # a permutation would hold the value
    assert absent.nearest == 0.125  # half a rank of 4


def test_other_methods_give_an_approximation_and_columns_may_be_left_out() -> None:
    table = people(np.random.default_rng(1))
    release = tm.protect(table, SCHEMA, tm.Microaggregation(3), seed=1)
    found = seen(table, release, 3, ward=...)
    assert not found.bound
    assert found.candidates == found.records == 24
    assert "An approximation" in str(found)
    assert list(seen(table, release, 3, dx="no code").left_out) == ["dx"]
    with pytest.raises(tm.DataError, match="no record of the table has your values in ward"):
        seen(table, release, 3, ward="z")
    with pytest.raises(tm.DataError, match="the record has a column 'agee', which the table does not have"):
        seen(table, release, 3, agee=3)


def test_only_columns_that_were_compared_are_spoken_of() -> None:
    table = people(np.random.default_rng(1))
    release = tm.protect(table, SCHEMA, tm.GroupPermutation(3), seed=1)
    some = str(seen(table, release, 0, grade=..., dx="99999x", ward=...))
    assert "No bound: a record of the table is like yours in the columns that were compared," in some
    assert "Over the columns that were compared together the nearest differs by 0 % of the ranks" in some
    assert "Not compared: " in some


def test_what_a_person_is_told_of_values_that_the_table_does_not_know() -> None:
    """A column that was permuted holds everybody's value: who does not find theirs is not in it, or spells it so."""
    table = people(np.random.default_rng(4))
    schema = tm.Schema([*list(SCHEMA.values())[:-1], tm.Attribute("ward", role="quasi_identifier", kind="nominal")])
    release = tm.protect(table, schema, tm.GroupPermutation(4), seed=4)
    found = seen(table, release, 1, ward="A ward")
    assert (found.absent, found.bound, dict(found.left_out)) == (
        ("ward",),
        False,
        {"ward": "no record of the table has 'A ward'"},
    )
    assert "ward: the table holds exactly the values that were collected, and not yours." in str(found)
    found = seen(table, release, 1, age=20.5)
    assert (found.absent, found.bound) == (("age",), False)
    assert not found.columns[0].bound
    found = seen(table, release, 1, dx="2500l", grade=None)
    assert (found.absent, found.bound) == ((), True)
    assert found.left_out["grade"] == "you gave no value"
    assert found.left_out["dx"].startswith("'2500l' is not in icd9cm; near it are '2500'")
    for wrong, told, way in (
        (
            {"age": "forty"},
            "your value of 'age', 'forty', is not written as in the table",
            "as the table does, such as",
        ),
        ({"grade": "best"}, "your value of 'grade', 'best', is not on its scale", "It is one of low, mid, high"),
    ):
        with pytest.raises(tm.DataError, match=told) as error:
            seen(table, release, 1, **wrong)
        assert way in error.value.hint


def test_numbers_and_days_are_read_as_the_table_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = tm.Schema(
        [
            tm.Attribute("pay", role="quasi_identifier", kind="continuous", notation="1.234,50 €"),
            tm.Attribute("born", role="quasi_identifier", kind="continuous", notation="d.m.Y"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous", open_ends={"90+": 90}),
        ]
    )
    table = pa.table(
        {
            "pay": [f"{i}.000,25 €" for i in range(1, 10)],
            "born": [f"0{i}.12.1950" for i in range(1, 10)],
            "age": ["20", "30", "40", "50", "60", "70", "80", "90+", "90+"],
        }
    )
    tm.protect(table, schema, tm.GroupPermutation(9), seed=2**70).write(tmp_path / "protected.csv")
    arguments = ["verify-record", "--release", str(tmp_path / "protected.csv"), "--record", str(tmp_path / "mine.json")]
    for mine, equal in (
        ({"pay": "4.000,25 €", "born": "04.12.1950", "age": "90+"}, [1, 1, 2]),
        ({"pay": 4000.25, "age": 50}, [1, 1]),
    ):
        (tmp_path / "mine.json").write_text(json.dumps(mine))
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--json"])
        assert not end.value.code
        assert [one["equal"] for one in json.loads(capsys.readouterr().out)["columns"]] == equal
    (tmp_path / "mine.json").write_text('{"born": "1950-12-04"}')
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert ".12.1950'" in capsys.readouterr().err


def test_a_taxonomy_that_is_not_shipped_must_be_given_and_be_the_same() -> None:
    tree = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b"), ("d", "b")], name="wards")
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=tree)])
    table = pa.table({"x": ["a", "b", "c", "d", "c", "a"]})
    release = tm.protect(table, schema, tm.GroupPermutation(6), seed=4)
    public = PublicTable.of_note(methodology(release), "note")
    with pytest.raises(tm.DataError, match="the taxonomy 'wards' is not shipped") as error:
        verify_record(release.data, {"x": "c"}, public, {})
    assert "--taxonomy x=FILE" in error.value.hint
    other = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "a"), ("d", "b")], name="wards")
    with pytest.raises(tm.DataError, match="this is not the taxonomy 'wards'"):
        verify_record(release.data, {"x": "c"}, public, {"x": other})
    assert verify_record(release.data, {"x": "c"}, public, {"x": tree}).columns[0].equal == 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = people(np.random.default_rng(2))
    release = tm.protect(table, SCHEMA, tm.GroupPermutation(4), seed=2**70)
    release.write(tmp_path / "protected.csv")
    mine = {name: table[name][5].as_py() for name in ("age", "grade", "dx", "ward")}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    arguments = ["verify-record", "--release", str(tmp_path / "protected.csv"), "--record", str(tmp_path / "mine.json")]
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--json"])
    assert not end.value.code
    found = json.loads(capsys.readouterr().out)
    assert found["bound"] is True
    assert found["records"] == 24
    assert [one["name"] for one in found["columns"]] == ["age", "grade", "dx"]
    with pytest.raises(SystemExit):
        main(arguments)
    assert "A bound: if your record is in the table" in capsys.readouterr().out
    (tmp_path / "protected.note.md").write_text("nothing")
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "does not say what the columns of the table are" in capsys.readouterr().err
    release.write(tmp_path / "protected.csv", force=True)
    (tmp_path / "mine.json").write_text("[1]")
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "mine.json is no record" in capsys.readouterr().err
