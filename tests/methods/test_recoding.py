from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import recoding
from taxomask.taxonomy import Taxonomy

from .conftest import SCHEMA, TREE, released, tables

DX = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])


@given(tables(), st.integers(1, 5))
@settings(max_examples=40)
def test_every_code_becomes_its_ancestor_at_the_level(table: pa.Table, level: int) -> None:
    result = released(table, SCHEMA, tm.Recoding({"concept": level}))
    for old, new in zip(table["concept"].to_pylist(), result["concept"].to_pylist(), strict=True):
        path = None if old is None else TREE.ancestors(old)  # on a tree in order from the root
        assert new == (None if path is None else path[min(level, len(path)) - 1])


def test_real_codes_by_hand(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    icd = Taxonomy.builtin("icd9cm")
    table = pa.table({"dx": ["25001", "4019", "V3001", "250", None]})
    for concept in ("250", "401"):
        assert icd[concept].depth == icd["V30"].depth
    release = tm.protect(table, DX, tm.Recoding(icd["250"].depth))
    assert release.data["dx"].to_pylist() == ["250", "401", "V30", "250", None]
    assert "dx: 4 different codes became 3." in release.notes
    chapters = tm.protect(discharges, discharge_schema, tm.Recoding(2)).data["dx01"].to_pylist()
    assert chapters == [icd.ancestors(code)[1] for code in discharges["dx01"].to_pylist()]
    assert set(tm.protect(discharges, discharge_schema, tm.Recoding(1)).data["dx01"].to_pylist()) == {icd.root}


def test_a_dag_goes_up_by_the_first_parent() -> None:
    """The depth of x is 4 by its longest way, over c2, but the first of its parents is a, at depth 2."""
    dag = Taxonomy.from_edges(
        [("a", "r"), ("b", "r"), ("c", "r"), ("x", "a"), ("x", "b"), ("c2", "c"), ("x", "c2"), ("y", "x")]
    )
    assert dag["x"].depth == 4
    schema = tm.Schema([tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=dag)])
    for level, expected in ((5, ["x", "y"]), (4, ["x", "x"]), (3, ["a", "a"]), (2, ["a", "a"]), (1, ["r", "r"])):
        assert released(pa.table({"v": ["x", "y"]}), schema, tm.Recoding(level))["v"].to_pylist() == expected


def test_labels_and_several_top_concepts() -> None:
    labels = {"p": "Plants", "q": "Animals", "q1": "Cats", "q2": "Dogs", "p1": "Ferns"}
    tree = Taxonomy.from_edges([("p1", "p"), ("q1", "q"), ("q2", "q")], labels=labels)
    schema = tm.Schema([tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=tree, match="label")])
    table = pa.table({"v": ["Cats", "Dogs", "Ferns"]})
    assert tm.protect(table, schema, tm.Recoding(2)).data["v"].to_pylist() == ["Animals", "Animals", "Plants"]


def test_several_taxonomies() -> None:
    other = Taxonomy.from_edges([("a1", "one"), ("a2", "one"), ("new", "two"), ("one", "top"), ("two", "top")])
    schema = tm.Schema([tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=[TREE, other])])
    assert tm.protect(pa.table({"v": ["a1", "b11"]}), schema, tm.Recoding(2)).data["v"].to_pylist() == ["a", "b"]
    with pytest.raises(tm.DataError, match="1 values, such as 'new', are not in taxonomy, the first"):
        tm.protect(pa.table({"v": ["a1", "new"]}), schema, tm.Recoding(2))


def test_too_deep_a_code_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"dx": ["25001", "4019"]})
    monkeypatch.setattr(recoding, "cut", lambda taxonomy, positions, level: positions)
    with pytest.raises(tm.PromiseError, match="2 different codes deeper, 0 not above"):
        tm.protect(table, DX, tm.Recoding(3))
    monkeypatch.setattr(
        recoding, "cut", lambda taxonomy, positions, level: positions * 0 + taxonomy.position("290-299")
    )
    with pytest.raises(tm.PromiseError, match="0 different codes deeper, 2 not above"):
        tm.protect(table, DX, tm.Recoding(3))


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method: Any
    for method, message in (
        (tm.Recoding(0), "level must be an integer of at least 1, or a mapping from attributes; got 0"),
        (tm.Recoding({"dx01": "three"}), "level: dx01 must be an integer of at least 1; got 'three'"),  # type: ignore[dict-item]
        (tm.Recoding({"age": 2}), "recoding cannot treat 'age', which is continuous"),
        (tm.Recoding({"dx1": 2}), "there is no coded column 'dx1' to protect"),
        (tm.Recoding({}), "the table has no taxonomic quasi-identifier to protect"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    empty = pa.table({"dx": pa.array([None, None], pa.string())})
    assert tm.protect(empty, DX, tm.Recoding(2)).data["dx"].null_count == 2
