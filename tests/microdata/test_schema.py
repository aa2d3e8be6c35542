from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from taxomask.errors import SchemaError
from taxomask.microdata import Attribute, Kind, Role, Schema
from taxomask.taxonomy import Taxonomy

PLAN = """
method: {name: whatever}          # other parts of a plan are not read here
attributes:
  - {name: patient, role: identifier}
  - name: age
    role: quasi_identifier
    kind: continuous
    missing: [-9, "?"]
  - name: beds
    role: quasi_identifier
    kind: ordinal
    order: [6-99, 100-199, 500+]
    weight: 2
  - name: dx
    role: confidential
    kind: taxonomic
    taxonomy: trees/tree.csv
    distance: wu_palmer
    normalize: ["zeros:3", dots]
    unmapped: as_missing
    note: main diagnosis
  - {name: remarks, role: }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "tree.csv").write_text("code,parent\nroot,\na,root\nb,root\n")
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def draft() -> Schema:
    return Schema(
        [
            Attribute("patient", role="identifier"),
            Attribute("age", role="quasi_identifier", kind="continuous"),
            Attribute("sex", role="quasi_identifier", kind="nominal"),
            Attribute("pay", role="confidential", kind="continuous"),
            Attribute("remarks"),
        ]
    )


def test_a_schema_is_a_mapping_in_order() -> None:
    schema = draft()
    assert list(schema) == ["patient", "age", "sex", "pay", "remarks"]
    assert len(schema) == 5
    assert schema["age"].kind is Kind.CONTINUOUS
    assert "pay" in schema
    assert "quasi_identifier age" in repr(schema)
    assert "'age': quasi_identifier, continuous" in repr(schema["age"])


def test_names_by_role() -> None:
    schema = draft()
    assert schema.identifiers == ("patient",)
    assert schema.quasi_identifiers == ("age", "sex")
    assert schema.confidential == ("pay",)
    assert schema.by_role("other") == ()
    assert schema.undecided == schema.by_role("undecided") == ("remarks",)
    with pytest.raises(SchemaError, match=r"role must be one of .*; got 'quasi'"):
        schema.by_role("quasi")


def test_replace_makes_a_new_schema() -> None:
    schema = draft()
    changed = schema.replace("remarks", role="other", name="notes")
    assert list(changed) == ["patient", "age", "sex", "pay", "notes"]
    assert changed["notes"].role is Role.OTHER
    assert schema["remarks"].role is Role.UNDECIDED


def test_roles_are_decided_by_name_and_by_pattern() -> None:
    names = ("id", "dx1", "dx2", "x[1]", "ward")
    schema = Schema([Attribute("age", role="quasi_identifier", kind="continuous"), *map(Attribute, names)])

    def roles(given: dict[str, str]) -> str:
        return " ".join(str(one.role)[0] for one in schema.decide(given).values())

    assert roles({}) == "q u u u u u"
    assert roles({"*": "other"}) == "q o o o o o"  # all that is undecided, and nothing else
    assert roles({"*": "other", "dx*": "identifier"}) == "q o i i o o"
    assert roles({"dx2": "identifier", "dx*": "other"}) == "q u o i u u"  # a name in full counts more
    assert roles({"dx*": "other", "*1": "identifier"}) == "q u i o u u"  # of patterns the last
    assert roles({"a*": "other"}) == "o u u u u u"
    assert roles({"x[1]": "other"}) == "q u u u o u"
    with pytest.raises(SchemaError, match=r"there is no column 'dy1'.\nDid you mean 'dx1'\?"):
        schema.decide({"dy1": "other"})
    with pytest.raises(SchemaError, match=r"there is no column 'z\*'"):
        schema.decide({"z*": "other"})
    with pytest.raises(SchemaError, match="role must be one of"):
        schema.decide({"*": "others"})
    star = Schema([Attribute("*"), Attribute("b")])
    assert star.decide({"*": "other"}).undecided == ("b",)  # there is a column of this name


def test_what_is_undecided_is_named_in_full() -> None:
    names = [f"column {number}" for number in range(12)]
    with pytest.raises(SchemaError) as error:
        Schema(map(Attribute, names)).check_decided()
    assert error.value.message == f"the roles of 12 columns are undecided: {', '.join(map(repr, names))}."
    assert "--role '*=other'" in error.value.hint
    Schema([Attribute("a", role="other")]).check_decided()


def test_a_change_of_kind_leaves_out_what_belonged_to_the_former_kind(codes: Taxonomy) -> None:
    dx = Attribute("dx", kind="taxonomic", taxonomy=codes, normalize=["dots"], missing=["?"])
    plain = Schema([dx]).replace("dx", kind="nominal")["dx"]
    assert (plain.taxonomy, plain.normalize, plain.missing) == (None, (), ("?",))
    scale = Schema([plain]).replace("dx", kind="ordinal", order=["a", "b"])
    assert scale.replace("dx", kind="ordinal", weight=2)["dx"].order == ("a", "b")


def test_replace_refuses_what_is_not_there() -> None:
    with pytest.raises(SchemaError, match=r"there is no attribute 'agee'.\nDid you mean 'age'\?"):
        draft().replace("agee", role="other")
    with pytest.raises(SchemaError, match=r"attribute 'age': 'rolle' is not known.\nDid you mean 'role'\?"):
        draft().replace("age", rolle="other")
    with pytest.raises(SchemaError, match="attribute 'age' is described twice"):
        draft().replace("sex", name="age")


def test_a_schema_holds_attributes_only_and_each_once() -> None:
    with pytest.raises(SchemaError, match="'age' is described twice"):
        Schema([Attribute("age"), Attribute("age", role="other")])
    with pytest.raises(SchemaError, match="a schema is a list of attributes; got 'age'"):
        Schema(["age"])  # type: ignore[list-item]


def test_read(plan: Path) -> None:
    schema = Schema.read(plan)
    assert list(schema) == ["patient", "age", "beds", "dx", "remarks"]
    assert schema["age"].missing == (-9, "?")
    assert schema["beds"].order == ("6-99", "100-199", "500+")
    assert schema["beds"].weight == 2.0
    dx = schema["dx"]
    assert list(dx.taxonomies[0][0]) == ["root", "a", "b"]
    assert (dx.distance, dx.normalize, dx.unmapped) == ("wu_palmer", ("zeros:3", "dots"), "as_missing")
    assert dx.note == "main diagnosis"
    assert schema["remarks"].role is Role.UNDECIDED


def test_what_is_read_can_be_written_and_read_again(plan: Path) -> None:
    written = Schema.read(plan).to_dict(plan.parent)
    assert written["attributes"][0] == {"name": "patient", "role": "identifier"}
    assert written["attributes"][3]["taxonomy"] == "trees/tree.csv"
    again = plan.with_name("again.yaml")
    again.write_text(yaml.safe_dump(written, sort_keys=False))
    assert Schema.read(again) == Schema.read(plan)
    assert Schema.read(plan).to_dict(plan.parent / "trees")["attributes"][3]["taxonomy"] != "trees/tree.csv"


def test_attributes_as_a_mapping_and_several_taxonomies(plan: Path) -> None:
    plan.write_text(
        "attributes:\n"
        "  patient: {role: identifier}\n"
        "  remarks:\n"
        "  dx:\n"
        "    role: confidential\n"
        "    kind: taxonomic\n"
        "    taxonomy: [icd9cm, {taxonomy: trees/tree.csv, weight: 2}]\n"
    )
    schema = Schema.read(plan)
    assert list(schema) == ["patient", "remarks", "dx"]
    assert [weight for _, weight in schema["dx"].sources] == [1.0, 2.0]
    assert schema.to_dict(plan.parent)["attributes"][2]["taxonomy"] == [
        "icd9cm",
        {"taxonomy": "trees/tree.csv", "weight": 2.0},
    ]


def test_only_a_named_taxonomy_can_be_written(codes: Taxonomy) -> None:
    schema = Schema([Attribute("dx", kind="taxonomic", taxonomy=codes)])
    with pytest.raises(SchemaError, match="the taxonomy 'small icd' is in memory only"):
        schema.to_dict()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "attributes:\n  - name: a\n    x: !!python/name:os.system\n",
            "plan.yaml, line 3: ",
            "plain values only",
        ),
        ("attributes: [\n  - name: a\n", "plan.yaml, line 2: ", "plain values only"),
        (
            "attributes:\n  a: {role: identifier}\n  a: {role: other}\n",
            "line 3: 'a' stands twice.",
            "plain values",
        ),
        ("attributes:\n  - {name: a, rolle: identifier}\n", "'rolle' is not known.", "Did you mean 'role'?"),
        ("attributes:\n  - {name: a, 3: identifier}\n", "3 is not known.", "Choose one of"),
        (
            "attributes:\n  - {name: a, role: identifer}\n",
            "role must be one of",
            "Did you mean 'identifier'?",
        ),
        ("attributes:\n  - {role: other}\n", "attribute number 1 has no name", "- name: …"),
        ("attributes:\n  - age\n", "attribute number 1 has no name; got 'age'.", "- name: …"),
        ("attributes: 3\n", "attributes must be a list; got 3.", "- name: …"),
        ("attributes:\n  age: continuous\n", "attribute 'age' must have keys; got 'continuous'.", "role: …"),
        ("attributes:\n  - {name: 2010}\n", "name must be text; got 2010.", "in quotes"),
        ("attributes:\n  - {name: a}\n  - {name: a}\n", "attribute 'a' is described twice.", "once"),
        ("columns: []\n", "plan.yaml: there are no attributes.", "attributes:"),
        ("just text", "plan.yaml: there are no attributes.", "attributes:"),
        ("", "plan.yaml: there are no attributes.", "attributes:"),
        ("attributes: " + "[" * 5000, "plan.yaml", ""),
        (
            "attributes:\n  - {name: a, kind: taxonomic, taxonomy: icd9}\n",
            "icd9' is neither a shipped taxonomy nor a file.",
            "Did you mean 'icd9cm'?",
        ),
        (
            "attributes:\n  - {name: a, kind: taxonomic, taxonomy: [{file: x}]}\n",
            "taxonomy names a file and, of its columns, concept, parent, label or code.",
            "taxonomy: {file: own.csv",
        ),
    ],
)
def test_bad_plans(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.read(path)
    assert message in caught.value.message
    assert "plan.yaml" in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00a"])
def test_unreadable_plans(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "plan.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"plan\.yaml"):
        Schema.read(path)
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.read(tmp_path)


def test_order_and_missing_of_dates_are_written_as_text() -> None:
    import datetime

    order: list[Any] = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]
    written = Schema([Attribute("year", kind="ordinal", order=order)]).to_dict()
    assert written["attributes"][0]["order"] == ["2020-01-01", "2021-01-01"]
