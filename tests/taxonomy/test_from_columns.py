"""Taxonomies from the columns of a table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import taxomask as tm
from taxomask.cli.app import app
from taxomask.errors import SchemaError, TaxonomyError
from taxomask.plan import Plan

ROWS = {
    "code": ["a1", "a2", "b1", "b2", "b1"],
    "group": ["A", "A", "B", "B", "B"],
    "chapter": ["I", "I", "I", "II", "I"],
}


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_table_solved_by_hand(make: type) -> None:
    found = tm.Taxonomy.from_columns(make(ROWS), ["code", "group", "chapter"])
    assert found.parents("a1") == ("A",)
    assert found.parents("A") == ("I",)
    assert found.parents("B") == ("I", "II")  # the usual one first
    assert found.roots == ("I", "II")
    assert not found.is_tree
    assert set(found) == {"a1", "a2", "b1", "b2", "A", "B", "I", "II"}


def test_equal_names_on_two_levels_are_two_things() -> None:
    found = tm.Taxonomy.from_columns(
        pa.table({"drg": [1, 4], "mdc": [4, 4], "part": ["4", "1"]}), ["drg", "mdc", "part"]
    )
    assert found.parents("1") == ("mdc: 4",)
    assert set(found.parents("mdc: 4")) == {"part: 4", "part: 1"}
    assert found["mdc: 4"].label == "4"


def test_an_empty_cell_is_skipped() -> None:
    table = pa.table({"code": ["a", "b", None], "group": [None, "G", "H"], "chapter": ["I", "I", "I"]})
    found = tm.Taxonomy.from_columns(table, ["code", "group", "chapter"])
    assert found.parents("a") == ("I",)
    assert found.parents("b") == ("G",)
    assert found.parents("H") == ("I",)


def test_a_single_row_against_many_is_a_likely_slip() -> None:
    table = pa.table({"code": ["a"] * 21 + ["b"] * 3, "group": ["G"] * 20 + ["H"] + ["G", "H", "H"]})
    found = tm.Taxonomy.from_columns(table, ["code", "group"])
    assert found.slips == ("'a' stands once below 'H', and 20 times below 'G': a slip?",)
    assert found.parents("a") == ("G", "H")


def test_labels_are_the_commonest_texts() -> None:
    table = pa.table({"c": ["x", "x", "x", "y"], "g": ["G"] * 4, "t": ["one", "two", "two", None]})
    found = tm.Taxonomy.from_columns(table, ["c", "g"], labels={"c": "t"})
    assert [found[one].label for one in ("x", "y", "G")] == ["two", "y", "G"]


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        (["code"], None, "two or more different columns"),
        (["code", "code"], None, "two or more different columns"),
        (["code", "nowhere"], None, "no column 'nowhere'"),
        (["code", "group"], {"chapter": "group"}, "labels describe 'chapter'"),
    ],
)
def test_what_cannot_be_made_is_told(columns: list[str], labels: dict[str, str] | None, message: str) -> None:
    with pytest.raises(TaxonomyError, match=message):
        tm.Taxonomy.from_columns(pa.table(ROWS), columns, labels=labels)


TEXTS = st.sampled_from(["a", "b", "c", "1", "2", None])


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=12))
def test_every_row_is_a_path_and_files_hold_it_all(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, ...]]
) -> None:
    if all(row[0] is None for row in rows):
        return
    names = ["x", "y", "z"]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})
    found = tm.Taxonomy.from_columns(table, names)
    for row in rows:
        if row[0] is not None:
            labels = {found[one].label for one in found.ancestors(row[0])}
            assert {value for value in row if value is not None} <= labels
    path = tmp_path_factory.mktemp("taxonomy") / "made.csv.gz"
    found.write(path)
    again = tm.Taxonomy.read(path)
    assert list(again) == list(found)
    assert [again.parents(one) for one in again] == [found.parents(one) for one in found]
    assert again.labels == found.labels


# --------------------------------------------------------------------------------------- in a plan


def discharges(rows: int = 60) -> pa.Table:
    drg = [f"{d}" for d in range(10)]
    return pa.table(
        {
            "age": [20 + 7 * i % 60 for i in range(rows)],
            "drg": [drg[i % 10] for i in range(rows)],
            "mdc": [f"M{i % 10 // 3}" for i in range(rows)],
            "text": [f"group {i % 10}" for i in range(rows)],
        }
    )


PLAN = {
    "attributes": [
        {"name": "age", "role": "quasi_identifier", "kind": "continuous"},
        {
            "name": "drg",
            "role": "quasi_identifier",
            "kind": "taxonomic",
            "taxonomy": {"from": ["drg", "mdc"], "labels": {"drg": "text"}},
        },
        {"name": "mdc"},
        {"name": "text"},
    ],
    "method": {"name": "microaggregation", "k": 3},
}


def test_a_plan_names_the_columns_and_the_others_follow() -> None:
    plan = Plan.from_dict(PLAN)
    schema = plan.attributes
    assert (schema["mdc"].follows, schema["text"].follows) == ("drg", "drg")
    assert schema.undecided == ()
    assert Plan.from_dict({**PLAN, **schema.to_dict()}).attributes.to_dict() == schema.to_dict()
    release = tm.protect(discharges(), schema, tm.Microaggregation(k=8), seed=1)
    of = {drg: (f"M{int(drg) // 3}", f"group {drg}") for drg in map(str, range(10))}
    rows = release.data.to_pylist()
    assert all((row["mdc"], row["text"]) == of[row["drg"]] for row in rows)
    before = discharges()["drg"].to_pylist()
    moved = [(a, row["drg"]) for a, row in zip(before, rows, strict=True) if a != row["drg"]]
    assert moved
    assert sum(int(a) // 3 == int(b) // 3 for a, b in moved) > len(moved) / 3  # by chance 2 of 9 would
    assert release.evaluate().headline["loss"] < 1


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_every_engine_makes_the_same_taxonomy(tmp_path: Path, engine: str) -> None:
    import yaml

    discharges().to_pandas().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**PLAN, "engine": engine, "seed": 7, "practice": True}))
    tm.run(tmp_path / "plan.yaml", data=str(tmp_path / "table.csv"), output=str(tmp_path / "out.csv"))
    expected = tm.protect(
        tm.microdata.read_table(tmp_path / "table.csv", text=["drg"]),
        Plan.from_dict(PLAN).attributes,
        tm.Microaggregation(k=3),
        seed=7,
    )
    written = sorted((tmp_path / "out.csv").read_text().splitlines()[1:])
    assert len(written) == 60
    assert sorted(line.split(",")[1] for line in written) == sorted(expected.data["drg"].to_pylist())


def test_noise_with_a_proof_needs_a_taxonomy_that_does_not_depend_on_the_table() -> None:
    age, drg, *others = PLAN["attributes"]
    schema = tm.Schema.from_entries([age, drg, *({**one, "role": "identifier"} for one in others)])
    with pytest.raises(SchemaError, match="made from the table"):
        tm.protect(discharges(), schema, tm.SemanticNoise(8, attributes=["drg"]), seed=1)


def test_mistakes_in_a_plan_are_told() -> None:
    def described(taxonomy: object) -> tm.Schema:
        return tm.Schema.from_entries([{**PLAN["attributes"][1], "taxonomy": taxonomy}, {"name": "mdc"}])  # type: ignore[index]

    for taxonomy, message in [
        ({"from": ["mdc", "drg"]}, "made from 'mdc' first"),
        ({"from": "drg"}, "a name, a file, or columns"),
        ({"frm": ["drg", "mdc"]}, "a name, a file, or columns"),
        ({"from": ["drg", "chapter"]}, "'chapter', which is not described"),
    ]:
        with pytest.raises(SchemaError, match=message):
            described(taxonomy)


def test_the_command_writes_a_file_that_can_be_read(tmp_path: Path) -> None:
    discharges().to_pandas().to_csv(tmp_path / "table.csv", index=False)
    file = tmp_path / "drg.csv"
    command = [
        "taxonomy",
        "from-columns",
        str(tmp_path / "table.csv"),
        "drg",
        "mdc",
        "-o",
        str(file),
        "--label",
        "drg=text",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "14 concepts, tree of depth" in done.output.replace("\n", " ")
    found = tm.Taxonomy.read(file)
    assert found.parents("9") == ("M3",)
    assert found["9"].label == "group 9"
    with pytest.raises(Exception, match="exists"):
        CliRunner().invoke(app, command, catch_exceptions=False)
