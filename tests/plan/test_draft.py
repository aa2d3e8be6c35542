"""Drafts of plans: what is proposed, and that it can be read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

import taxomask as tm
from taxomask import examples
from taxomask.microdata.files import open_table, read_table, write_table
from taxomask.microdata.recognition import whose
from taxomask.plan import Plan
from taxomask.plan.draft import draft_plan, draft_schema

ODD = "name: with 'quotes', #and colons"


def texts(**columns: list[str]) -> pa.Table:
    return pa.table(columns)


def test_roles_follow_from_names_values_and_kinds() -> None:
    table = texts(
        ssn=["1", "2", "1"] * 10,
        zip=["10115", "10117", "10119"] * 10,
        dx=["25001", "4019", "0380"] * 10,
        ward_id=["1", "2", "3"] * 10,
        DRG=["470", "871", "9"] * 10,
        days=["3", "4", "5"] * 10,
    )
    schema = draft_schema(table, roles={"dx": "quasi_identifier"})
    assert [(name, str(one.role)) for name, one in schema.items()] == [
        ("days", "undecided"),  # comes first
        ("ssn", "identifier"),
        ("zip", "quasi_identifier"),
        ("dx", "quasi_identifier"),
        ("ward_id", "quasi_identifier"),
        ("DRG", "confidential"),
    ]
    assert draft_schema(table, roles={"*": "other"}).by_role("other") == ("days",)
    kinds = {name: str(schema[name].kind) for name in ("ward_id", "DRG", "days")}
    assert kinds == {"ward_id": "nominal", "DRG": "nominal", "days": "continuous"}
    assert "written as text" not in "".join(one.note for one in schema.values())


@pytest.mark.parametrize("name", ["no", "id", "yes", "1e3", "null", ODD, "größe", "- a", "a\nb"])
def test_odd_names_and_values_survive_yaml(name: str, tmp_path: Path) -> None:
    schema = draft_schema(texts(**{name: ["no", "?", "1: 2", "n/a"], "other": ["a", "b", "c", "d"]}))
    assert not schema.by_role("other")  # nothing is ever drafted so
    (tmp_path / "plan.yaml").write_text(draft_plan(schema, str(tmp_path / "table.csv"), tmp_path), encoding="utf-8")
    assert list(Plan.read(tmp_path / "plan.yaml").attributes) == [name, "other"]


def test_columns_that_only_an_inner_word_names_are_numbers() -> None:
    schema = draft_schema(texts(idle=["1", "2", "4"], number_of_codes=["1", "2", "4"], unit_code=["1", "2", "4"]))
    assert [str(one.kind) for one in schema.values()] == ["continuous", "continuous", "nominal"]


def test_a_table_without_quasi_identifiers_gets_a_plan_that_says_so(tmp_path: Path) -> None:
    text = draft_plan(draft_schema(texts(days=["1", "2", "3"])), "table.csv")
    assert "  - name: days\n    role: undecided\n" in text
    assert "method: # name a quasi_identifier" in text
    assert yaml.safe_load(text)["method"] is None


def test_the_method_may_be_known() -> None:
    text = draft_plan(draft_schema(texts(age=["1", "2", "3"])), "t.csv", method=tm.Microaggregation(2, t=0.5))
    assert yaml.safe_load(text)["method"] == {"name": "microaggregation", "k": 2, "t": 0.5}


def test_the_address_of_a_database_stays() -> None:
    text = draft_plan(draft_schema(texts(age=["1", "2", "3"])), "sqlite:///a.db?table=t", Path("elsewhere"))
    assert yaml.safe_load(text)["data"] == "sqlite:///a.db?table=t"
    assert "use it with --outside" in text


def test_a_table_is_no_taxonomy_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "people_region.csv"
    path.write_text("n1;n;*\nn2;n;*\ns1;s;*\n")
    table = texts(region=["n1", "n2", "s1"])
    assert draft_schema(table, beside=path)["region"].kind == "nominal"
    assert draft_schema(table, beside=tmp_path / "other.csv")["region"].kind == "taxonomic"


def test_a_file_is_read_column_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_table(examples.path(), text=True)
    path = tmp_path / "table.parquet"
    write_table(table, path)
    asked: list[Any] = []
    source = open_table(path, text=True, trusted=True)
    read = source.batches
    monkeypatch.setattr(source, "batches", lambda rows, columns: asked.append(list(columns)) or read(rows, columns))
    assert draft_schema(source).to_dict() == draft_schema(table).to_dict()
    first, *others = table.column_names
    assert asked == [[first], table.column_names, *([name] for name in others)]  # the types once, and each column


def test_a_description_is_told_of_once() -> None:
    table = texts(icd=["I10", "E11", "J45"] * 10, icd_text=["high pressure", "diabetes", "asthma"] * 10)
    schema = draft_schema(table)
    assert (schema["icd_text"].role, schema["icd"].role) == ("other", "confidential")
    assert schema["icd_text"].follows == "icd"
    assert schema["icd_text"].note.count("seems to describe 'icd'") == 1


def belonging() -> pa.Table:
    rng = np.random.default_rng(4)
    icd, city, day = rng.integers(0, 12, 400), rng.integers(0, 20, 400), rng.integers(0, 90, 400)
    return texts(
        age=[str(one) for one in rng.integers(20, 60, 400)],
        icd=[f"I{10 + one}" for one in icd],
        icd_text=[f"disease {one}" for one in icd],
        city=[f"city {one}" for one in city],
        district=[f"district {one // 4}" for one in city],
        region=[f"region {one // 8}" for one in city],
        admission_date=[f"{1 + one % 28}.{1 + one % 12}.{2001 + one % 5}" for one in day],
        admission_year=[str(2001 + one % 5) for one in day],
        drug_code=[f"D{one}" for one in icd],
        drug_name=[f"drug {one}" for one in rng.permutation(icd)],  # its name, but not in this table
    )


def test_what_belongs_to_another_column_follows_it_if_the_table_says_so(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    write_table(belonging(), path)
    schema = draft_schema(open_table(path, text=True), beside=path)
    assert {name: one.follows for name, one in schema.items() if one.follows} == {
        "icd_text": "icd", "district": "city", "region": "district",
    }  # fmt: skip
    assert schema["admission_date"].notation == "d.m.Y"  # a date, which does not lead; its year is protected beside it
    assert schema["admission_year"].role == "quasi_identifier"
    assert schema["drug_name"].role == "undecided"
    assert "goes with 'city' in 100 % of the records" in schema["district"].note
    (tmp_path / "plan.yaml").write_text(draft_plan(schema.decide({"*": "confidential"}), str(path), tmp_path))
    tm.run(tmp_path / "plan.yaml", output=str(tmp_path / "out.csv"))
    out = read_table(tmp_path / "out.csv", text=True)
    assert all(row["icd_text"] == f"disease {int(row['icd'][1:]) - 10}" for row in out.to_pylist())
    assert all(row["district"] == f"district {int(row['city'][5:]) // 4}" for row in out.to_pylist())


def test_what_a_person_decided_stays() -> None:
    schema = draft_schema(belonging(), roles={"icd_text": "confidential", "district": "other", "*": "other"})
    assert (schema["icd_text"].role, schema["icd_text"].follows) == ("confidential", None)
    assert (schema["district"].role, schema["district"].follows) == ("other", None)
    assert schema["region"].follows == "city"
    assert schema["drug_name"].role == "other"


def test_nothing_follows_an_identifier_or_a_number() -> None:
    n = 60
    table = texts(
        patient_id=[f"P{i // 4}" for i in range(n)], patient_id_text=[f"patient {i // 4}" for i in range(n)],
        code=[str(i % 7) for i in range(n)], code_text=["the same"] * n,
    )  # fmt: skip
    assert not any(one.follows for one in draft_schema(table).values())


def test_numbers_that_a_text_describes_are_codes_and_the_text_follows_them() -> None:
    n = 60
    diagnoses = ["4019", "25000", "41401", "486", "5990", "78650", "V3000", "5849", "4280", "42731", "3051", "2724"]
    table = texts(
        kind=[str(i % 4 + 1) for i in range(n)], kind_text=[f"kind {i % 4}" for i in range(n)],
        score=[str(i % 9) for i in range(n)], score_text=[f"text {i * i % 11}" for i in range(n)],
        Hauptdiagnose=diagnoses * 5, Diagnosetext=[f"text of {one}" for one in diagnoses] * 5,
    )  # fmt: skip
    schema = draft_schema(table)
    assert (str(schema["kind"].role), str(schema["kind"].kind)) == ("undecided", "nominal")
    assert "numbers that 'kind_text' describes: codes, not amounts" in schema["kind"].note
    assert {name: one.follows for name, one in schema.items() if one.follows} == {
        "kind_text": "kind", "Diagnosetext": "Hauptdiagnose",
    }  # fmt: skip
    assert str(schema["score"].kind) == "continuous"  # its text is not one for each number


def test_dates_of_a_file_are_numbers_if_it_is_read_with_types(tmp_path: Path) -> None:
    days = [f"2010-0{1 + i % 9}-{10 + i % 17}" for i in range(30)]
    path = tmp_path / "stays.csv"
    path.write_text("born,left\n" + "".join(f"{day},{day[8:]}.{day[5:7]}.{day[:4]}\n" for day in days))
    schema = draft_schema(read_table(path, text=True), beside=path)
    assert {name: (str(one.role), str(one.kind)) for name, one in schema.items()} == {
        "born": ("quasi_identifier", "continuous"),
        "left": ("quasi_identifier", "continuous"),  # in a way that only the notation tells
    }
    (tmp_path / "plan.yaml").write_text(draft_plan(schema, str(path), tmp_path))
    tm.run(tmp_path / "plan.yaml", output=str(tmp_path / "out.csv"))
    assert str(read_table(tmp_path / "out.csv")["born"].type) == "date32[day]"


def test_nothing_is_released_while_a_column_is_undecided(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,x,y\n" + "".join(f"{20 + i},{i % 3},{i % 2}\n" for i in range(12)))
    table = read_table(path, text=True)
    (tmp_path / "plan.yaml").write_text(draft_plan(draft_schema(table), str(path), tmp_path))
    with pytest.raises(tm.SchemaError, match="the roles of 2 columns are undecided: 'x', 'y'"):
        tm.run(tmp_path / "plan.yaml", output=str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()
    decided = draft_schema(table, roles={"x": "confidential", "*": "other"})
    (tmp_path / "plan.yaml").write_text(draft_plan(decided, str(path), tmp_path))
    tm.run(tmp_path / "plan.yaml", output=str(tmp_path / "out.csv"))


def test_whose_a_row_is_is_proposed(tmp_path: Path) -> None:
    table = texts(
        encounter_id=[f"e{row}" for row in range(40)],
        patient_nbr=[f"p{row // 3}" for row in range(40)],
        household_id=[f"h{row // 9}" for row in range(40)],
        age=[str(20 + row % 17) for row in range(40)],
    )
    schema = draft_schema(table)
    assert schema.about_people() == {"person": "patient_nbr", "household": "household_id"}
    (tmp_path / "plan.yaml").write_text(draft_plan(schema, str(tmp_path / "table.csv"), tmp_path), encoding="utf-8")
    assert Plan.read(tmp_path / "plan.yaml").attributes.about_people() == schema.about_people()
    assert draft_schema(table.drop_columns(["household_id"])).about_people() == {"person": "patient_nbr"}
    assert draft_schema(table.select(["encounter_id", "age"])).about_people() == {}
    told = draft_schema(table, people={"person": "encounter_id", "household": None})
    assert told.about_people() == {"person": "encounter_id", "household": "household_id"}


def test_who_is_told_becomes_an_identifier() -> None:
    table = texts(unit=["a", "b", "a"] * 10, age=[str(20 + row) for row in range(30)])
    assert str(draft_schema(table)["unit"].role) != "identifier"
    schema = draft_schema(table, people={"person": "unit"})
    assert schema.person == "unit"
    assert str(schema["unit"].role) == "identifier"
    with pytest.raises(tm.SchemaError, match="there is no column 'units'"):
        draft_schema(table, people={"person": "units"})


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["PatientID", "FallNr"], {"person": "PatientID"}),
        (["mrn", "name"], {"person": "mrn"}),
        (["hhid", "pid"], {"person": "pid", "household": "hhid"}),
        (["num_haushalt", "email"], {"household": "num_haushalt"}),
        (["visit_id", "account_no", "phone"], {}),
        (["id", "subject"], {"person": "subject"}),
        (["row_id", "id"], {"person": "id"}),
    ],
)
def test_whose(names: list[str], found: dict[str, str]) -> None:
    assert whose(names) == found


def test_a_description_that_says_no_more_follows_the_codes_before_it():
    codes = read_table(examples.path(), text=True)["dx01"].to_pylist()[:400] * 2
    words = [f"text of {code}" for code in codes]
    schema = draft_schema(pa.table({"CIE-9 principal": codes, "Descripción": words}))
    assert schema["Descripción"].follows == "CIE-9 principal"
    other = pa.table({"CIE-9 principal": codes, "Descripción": [f"{text} {i}" for i, text in enumerate(words)]})
    assert draft_schema(other)["Descripción"].follows is None  # free text
