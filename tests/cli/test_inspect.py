"""``taxomask inspect``: what it sees in a table, and the plan that it drafts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from cli.conftest import Run
from taxomask import examples
from taxomask.plan import Plan

ADULT = Path(__file__).parents[1] / "data" / "adult-arx"


@pytest.fixture
def discharges(tmp_path: Path) -> Path:
    return Path(shutil.copy(examples.path(), tmp_path))


def test_a_first_look(run: Run, discharges: Path) -> None:
    code, out, _ = run("inspect", discharges)
    assert code == 0
    assert "2,000 rows, 9 columns" in out
    for line in ("id identifier", "age quasi_identifier continuous", "dx01 confidential taxonomic icd9cm: 100.0 %"):
        assert line in " ".join(out.split())
    assert "No column is undecided." in out
    assert f"taxomask inspect {discharges} -o plan.yaml" in out


def test_spellings_are_told_of(run: Run, tmp_path: Path) -> None:
    rows = ["hiv"] * 5 + ["HIV"] * 2 + ["hiv "] + ["flu"] * 4 + ["FLU"] + ["gout"] * 9
    (tmp_path / "table.csv").write_text(
        "sex,disease\n" + "".join(f"{'fm'[i % 2]},{one}\n" for i, one in enumerate(rows))
    )
    code, out, _ = run("inspect", tmp_path / "table.csv", "-o", tmp_path / "plan.yaml")
    told = " ".join(out.split())
    assert code == 0
    note = (
        "2 values are spelled in several ways, such as 'hiv' (5 cells), 'HIV' (2 cells), 'hiv ' (1 cell), which differ"
    )
    assert note in told
    assert "Some values are spelled in several ways; write them alike: disease." in told
    plan = " ".join((tmp_path / "plan.yaml").read_text().replace("#", " ").split())
    assert note in plan
    code, out, _ = run("inspect", tmp_path / "table.csv", "--json")
    assert note in json.loads(out)["attributes"][1]["note"]


def test_json(run: Run, discharges: Path) -> None:
    code, out, _ = run("inspect", discharges, "--json")
    found = json.loads(out)
    assert (code, found["rows"], len(found["attributes"])) == (0, 2000, 9)
    assert found["attributes"][5]["order"] == ["6-99", "100-199", "200-299", "300-499", "500+"]


def test_the_draft_is_a_plan_that_can_be_carried_out(run: Run, discharges: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    assert run("inspect", discharges, "-o", plan)[0] == 0
    assert "unique in every row: an identifier?" in plan.read_text()
    read = Plan.read(plan)
    assert read.data == "discharges.csv.gz"
    assert read.attributes.identifiers == ("id",)
    assert read.attributes["race"].missing == ("", "not_stated")
    assert len(read.compare) == 12
    assert run("protect", "--plan", plan, "-o", tmp_path / "out.csv", "--quiet") == (0, "", "")


def test_nothing_is_overwritten_without_force(run: Run, discharges: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("mine")
    code, out, message = run("inspect", discharges, "-o", plan)
    assert (code, out, plan.read_text()) == (2, "", "mine")
    assert f"{plan} exists already.\nChoose another name, or overwrite it with --force." in message
    assert run("inspect", discharges, "-o", plan, "--force")[0] == 0
    assert plan.read_text() != "mine"


def test_a_plan_in_another_folder_names_the_table_in_full(run: Run, discharges: Path, tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    assert run("inspect", discharges, "-o", tmp_path / "plans" / "plan.yaml")[0] == 0
    text = (tmp_path / "plans" / "plan.yaml").read_text()
    assert yaml.safe_load(text)["data"] == str(discharges)
    assert "not in the folder of this plan: use it with --outside" in text


def test_roles_that_are_known_already(run: Run, discharges: Path, tmp_path: Path) -> None:
    roles = ("--role", "dx01=quasi_identifier", "--role", "age=other")
    assert run("inspect", discharges, "-o", tmp_path / "plan.yaml", *roles)[0] == 0
    read = Plan.read(tmp_path / "plan.yaml")
    assert (read.attributes["dx01"].role, read.attributes["age"].role) == ("quasi_identifier", "other")


@pytest.mark.parametrize(
    ("role", "message"),
    [
        ("dx1=other", "there is no column 'dx1'.\nDid you mean 'dx01'?"),
        (
            "age=quasi",
            "role must be one of 'identifier', 'quasi_identifier', 'confidential', 'other', 'undecided'; got 'quasi'.",
        ),
        ("age", "--role age: write it as COLUMN=ROLE."),
    ],
)
def test_wrong_roles(run: Run, discharges: Path, tmp_path: Path, role: str, message: str) -> None:
    code, _, error = run("inspect", discharges, "-o", tmp_path / "plan.yaml", "--role", role)
    assert code == 2
    assert message in error
    assert not (tmp_path / "plan.yaml").exists()


def test_hierarchies_that_lie_beside_the_table(run: Run, tmp_path: Path) -> None:
    for name in ("education", "race", "marital-status"):
        shutil.copy(ADULT / f"adult_hierarchy_{name}.csv", tmp_path)
    rows = [("Bachelors", "White", "Divorced", 1), ("9th", "Black", "Never-married", 2), ("11th", "Other", "alone", 3)]
    lines = ["education;race;marital-status;admission_type_id", *(";".join(map(str, row)) for row in rows * 10)]
    (tmp_path / "adult.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = run("inspect", tmp_path / "adult.csv", "-o", tmp_path / "plan.yaml")
    attributes = Plan.read(tmp_path / "plan.yaml").attributes
    assert code == 0
    assert "all values are in adult_hierarchy_education.csv" in out
    assert attributes["education"].kind == "taxonomic"
    assert "*" in attributes["education"].taxonomies[0][0]
    assert attributes["race"].kind == "nominal"  # its hierarchy only says that races differ
    assert attributes["marital-status"].kind == "nominal"  # one value is not in its hierarchy
    assert attributes["admission_type_id"].kind == "nominal"


UNDECIDED = "age,x,zz\n" + "".join(f"{20 + i},{i % 3},{i % 2}\n" for i in range(12))


def test_what_is_undecided_comes_first_and_stops_what_follows(run: Run, tmp_path: Path) -> None:
    table, plan = tmp_path / "table.csv", tmp_path / "plan.yaml"
    table.write_text(UNDECIDED)
    code, out, _ = run("inspect", table, "-o", plan)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if "continuous" in line or "nominal" in line] == [
        "x",
        "zz",
        "age",
    ]
    assert "For you to decide, 2 of 3: x, zz." in out
    assert "Decide what is undecided, and check every role; then" in " ".join(out.split())
    assert list(Plan.read(plan).attributes) == ["x", "zz", "age"]
    for command in (("protect", "-o", tmp_path / "out.csv"), ("compare",)):
        code, out, error = run(command[0], "--plan", plan, *command[1:])
        assert (code, out) == (2, "")
        assert "the roles of 2 columns are undecided: 'x', 'zz'.\nDecide for each whether" in error
    assert not (tmp_path / "out.csv").exists()
    found = json.loads(run("inspect", table, "--json")[1])
    assert found["undecided"] == ["x", "zz"]
    assert found["attributes"][0]["role"] == "undecided"


def test_all_that_is_undecided_can_be_decided_at_once(run: Run, tmp_path: Path) -> None:
    table, plan = tmp_path / "table.csv", tmp_path / "plan.yaml"
    table.write_text(UNDECIDED)
    code, out, _ = run("inspect", table, "-o", plan, "--role", "z*=confidential", "--role", "*=other")
    assert code == 0
    assert "Released as they are, as you decided: x." in out
    assert {name: str(one.role) for name, one in Plan.read(plan).attributes.items()} == {
        "age": "quasi_identifier",
        "x": "other",
        "zz": "confidential",
    }
    assert run("protect", "--plan", plan, "-o", tmp_path / "out.csv", "-q") == (0, "", "")


def test_a_narrow_terminal(run: Run, discharges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = run("inspect", discharges, "--role", "*=undecided")
    assert code == 0
    plain = re.sub(r"\x1b\[\d+m", "", out)  # a heading is bold
    shown = [line for line in plain.splitlines() if "-o plan.yaml" not in line]  # a command stays in one line
    assert max(map(len, shown)) <= 60
    assert "…" not in plain  # nothing is cut off


SURVEY = Path(__file__).parents[1] / "data" / "household_survey" / "testdata.csv.gz"
SURVEY_PLAN = (
    """\
attributes:
  - {name: ori_hid, role: identifier}
  - {name: sampling_weight, role: other, kind: continuous}
"""
    + "".join(
        f"  - {{name: {name}, role: quasi_identifier, kind: nominal}}\n"
        for name in ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    )
    + "".join(
        f"  - {{name: {name}, role: other}}\n"
        for name in ("age", "hhcivil", "expend", "income", "savings", "household_weights")
    )
    + """\
household: ori_hid
sampling_weight: sampling_weight
method: {name: suppression, k: 3}
"""
)


def test_what_must_be_protected(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(SURVEY_PLAN)
    code, out, err = run("inspect", SURVEY, "--risk", "--plan", tmp_path / "plan.yaml")
    told = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "for the custodian alone" in told
    assert "458,000 people, 1 % of them in the table" in told
    assert "expected re-identifications 10.78" in told
    assert "smallest class 1 household records that no other household equals" in told
    assert "negative_binomial" in told
    code, out, _ = run("inspect", SURVEY, "--risk", "--plan", tmp_path / "plan.yaml", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["individual"]["household"]["expected"] == pytest.approx(51.7996, abs=1e-3)
    assert set(found["population_uniques"]["models"]) == {"zayatz", "pitman", "negative_binomial"}
    assert len(found["worst"]) == 10
    assert found["worst"][0]["columns"]


def test_what_must_be_protected_in_a_draft(run: Run, discharges: Path) -> None:
    code, out, _ = run("inspect", discharges, "--risk")
    told = " ".join(out.split())
    assert code == 0
    assert "Who stands out" in told
    assert "say so in a plan (sampling_weight, population_size)" in told
    assert "smallest class 1 record records that no other record equals" in told
    code, out, _ = run("inspect", discharges, "--risk", "--json")
    assert json.loads(out)["classes"]["original_uniques"] > 0
    code, _, err = run("inspect", discharges, "--plan", "plan.yaml")
    assert (code, "--plan goes with --risk alone" in err) == (2, True)


def test_weights_and_the_population_on_the_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("sex,job,weight\nf,cook,10\nf,nurse,12.5\nm,cook,10\nm,cook,8\n")
    roles = [f"--role={name}=quasi_identifier" for name in ("sex", "job")]
    table = [tmp_path / "table.csv", "--risk", "--json", *roles, "--role=weight=other"]
    found = json.loads(run("inspect", *table, "--sampling-weight", "weight")[1])
    assert found["population_uniques"]["population"] == 40  # 40.5 rounded
    found = json.loads(run("inspect", *table, "--population-size", "400")[1])
    assert found["population_uniques"]["fraction"] == 0.01
    assert found["individual"]["expected"] < 1
    code, _, err = run("inspect", *table, "--sampling-weight", "sex")
    assert (code, "sampling_weight" in err) == (2, True)


def test_nothing_to_stand_out_by(run: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("remark\na\nb\n")
    code, _, err = run("inspect", tmp_path / "table.csv", "--risk", "--role", "remark=other")
    assert code == 2
    assert "no column is drafted as a quasi-identifier" in err


def test_people_are_proposed_named_and_counted(run: Run, tmp_path: Path) -> None:
    """Twelve people with five equal rows each: k counts them from the first look to what was written."""
    table, plan, out = tmp_path / "visits.csv", tmp_path / "plan.yaml", tmp_path / "out.csv"
    rows = [f"v{row},p{row // 5},{30 + row // 5}" for row in range(60)]
    table.write_text("\n".join(["visit_id,patient_id,age", *rows]))
    code, text, _ = run("inspect", table, "-o", plan, "--role", "visit_id=identifier")
    told = " ".join(text.split())
    assert code == 0
    assert "The person of a row is patient_id (proposed, as its values stand in several rows): k, l and t count" in told
    both = " ".join(run("inspect", table, "--person", "visit_id", "--household", "patient_id")[1].split())
    assert "The person of a row is visit_id (as you said): l and t count different people." in both
    assert "The household of a row is patient_id (as you said): k counts different households." in both
    assert Plan.read(plan).attributes.person == "patient_id"
    given = json.loads(run("inspect", table, "--person", "visit_id", "--json")[1])
    assert (given["person"], given["rows"]) == ("visit_id", 60)
    code, text, _ = run("protect", "--plan", plan, "-o", out)
    assert code == 0
    assert "holds: at least k = 5 different people share every combination of age" in " ".join(text.split())
    counted = json.loads(run("evaluate", table, out, "--plan", plan, "--json")[1])
    assert counted["risk"]["classes"]["unit"] == "people"
    assert counted["headline"]["k"] >= 5
    code, _, errors = run("protect", "--plan", plan, "-o", out, "--force", "--household", "age")
    assert code == 2
    assert "the household is column 'age', whose role is quasi_identifier" in " ".join(errors.split())
    code, text, _ = run(
        "protect", "--plan", plan, "-o", out, "--force", "--household", "patient_id", "--person", "visit_id"
    )
    assert code == 0
    assert "holds: at least k = 5 different households" in " ".join(text.split())
