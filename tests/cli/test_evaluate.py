"""``taxomask evaluate``: a protected file against the original one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import taxomask as tm
from cli.conftest import ATTRIBUTES, Run, write_plan


@pytest.fixture
def released(run: Run, folder: Path) -> Path:
    assert (
        run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "-q", "--practice", "--seed", "5")[0]
        == 0
    )
    return folder


def command(folder: Path, *options: str | Path) -> tuple[str | Path, ...]:
    return ("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml", *options)


@pytest.mark.parametrize("method", ["{name: microaggregation, k: 3}", "{name: micro_hybrid, k: 3}"])
def test_a_file_is_measured_like_the_release_in_memory(run: Run, folder: Path, method: str) -> None:
    write_plan(folder, ATTRIBUTES + "seed: 18446744073709551625\n", method)
    outcome = tm.run(folder / "plan.yaml", output=str(folder / "out.csv"))
    code, out, _ = run(*command(folder, "--json"))
    assert code == 0
    found, expected = json.loads(out), outcome.release.evaluate().to_dict()
    assert found["headline"] == pytest.approx(expected["headline"])
    assert found["risk"]["linkage"] == expected["risk"]["linkage"]
    assert found["utility"]["overall"]["each"] == pytest.approx(expected["utility"]["overall"]["each"])


def test_without_the_order_of_rows_the_numbers_differ(run: Run, released: Path) -> None:
    right = json.loads(run(*command(released, "--json"))[1])["headline"]
    wrong = json.loads(run(*command(released, "--json", "--same-order"))[1])["headline"]
    assert right["loss"] < wrong["loss"]


def test_a_report_for_people(run: Run, released: Path) -> None:
    code, out, _ = run(*command(released, "-o", released / "report.html"))
    assert code == 0
    assert "share of records linked rightly" in out
    assert (released / "report.html").read_text().startswith("<!doctype html>")
    code, _, message = run(*command(released, "-o", released / "report.html"))
    assert code == 2
    assert "report.html exists already" in message
    assert run(*command(released, "-o", released / "report.html", "--force"))[0] == 0


def test_the_audit_of_another_release_is_refused(run: Run, released: Path) -> None:
    other = released / "other.csv"
    assert run("protect", "--plan", released / "plan.yaml", "-o", other, "-q", "--practice", "--seed", "6")[0] == 0
    code, out, message = run(*command(released, "--audit", released / "other.audit.json"))
    assert (code, out) == (2, "")
    assert "other.audit.json is the audit of another table than" in message


def test_a_table_that_was_changed_since_is_refused(run: Run, released: Path) -> None:
    lines = (released / "out.csv").read_text().splitlines()
    (released / "out.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    code, _, message = run(*command(released))
    assert code == 2
    assert "or the table was changed since" in message


def test_missing_and_broken_audits(run: Run, released: Path) -> None:
    shutil.copy(released / "out.csv", released / "moved.csv")
    arguments = ("evaluate", released / "table.csv", released / "moved.csv", "--plan", released / "plan.yaml")
    code, _, message = run(*arguments)
    assert code == 2
    assert "moved.audit.json: the private audit of the release is not there" in message
    assert run(*arguments, "--audit", released / "out.audit.json")[0] == 0
    (released / "moved.audit.json").write_text("[]")
    code, _, message = run(*arguments)
    assert code == 2
    assert "moved.audit.json is not an audit of taxomask." in message


def test_synthetic_tables_are_not_compared_record_by_record(run: Run, folder: Path) -> None:
    modelled = ATTRIBUTES.replace("role: other", "role: other, kind: nominal")
    write_plan(folder, modelled, "{name: imputation, synthesis: full}")
    assert (
        run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "-q", "--practice", "--seed", "5")[0]
        == 0
    )
    code, out, _ = run(*command(folder, "--json"))
    assert code == 0
    assert json.loads(out)["headline"]["risk"] is None


def test_tables_of_different_length_need_a_word(run: Run, released: Path) -> None:
    lines = (released / "out.csv").read_text().splitlines()
    (released / "out.csv").write_text("\n".join(lines[:-2]) + "\n")
    code, out, message = run(*command(released, "--same-order"))
    assert (code, out) == (2, "")
    n = len(lines) - 1
    assert f"the original table has {n} records and the protected one {n - 2}," in message
    assert "--unlinked" in message
    code, out, _ = run(*command(released, "--unlinked", "--json"))
    assert code == 0
    assert json.loads(out)["headline"]["risk"] is None


def test_a_column_that_is_gone(run: Run, released: Path) -> None:
    (released / "out.csv").write_text("age,grade,remark\n20,low,a\n")
    code, _, message = run(*command(released, "--unlinked"))
    assert code == 2
    assert "out.csv: the protected table has no column 'dx'." in message


def test_a_bar_tells_how_far_it_is(run: Run, released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Measuring" not in run(*command(released))[2]  # no terminal
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "Measuring" in run(*command(released))[2]
    assert run(*command(released, "--quiet"))[1:] == ("", "")
    assert "Measuring" not in run(*command(released, "--json"))[2]


def test_records_at_risk_are_written_for_the_custodian(run: Run, folder: Path) -> None:
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "protected.csv")[0] == 0
    both = (folder / "table.csv", folder / "protected.csv", "--plan", folder / "plan.yaml")
    code, out, _ = run("evaluate", *both, "--records", folder / "risk.private.csv")
    assert code == 0
    assert "for you alone" in out
    head, *rows = (folder / "risk.private.csv").read_text().splitlines()
    assert head == "row,before,after,attacker,columns,columns_before"
    assert sorted(int(row.split(",")[0]) for row in rows) == list(range(1, 13))
    assert all(row.split(",")[1] == "1.0" for row in rows)
    assert (folder / "risk.private.csv").stat().st_mode & 0o077 == 0
    assert run("evaluate", *both, "--records", folder / "risk.private.csv")[0] == 2  # it exists
    code, _, err = run("evaluate", *both, "--unlinked", "--force", "--records", folder / "risk.private.csv")
    assert (code, "not linked" in err) == (2, True)


def test_analyses_in_report_json_and_limits(run: Run, folder: Path) -> None:
    attributes = ATTRIBUTES + "analyses:\n  - {name: grades by age, kind: mean, of: age, by: [grade]}\n"
    write_plan(folder, attributes + "limits: {analyses: 0.2}\n")
    code, _, message = run(
        "protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--report", folder / "report.html"
    )
    assert (code, message) == (0, "")
    page = (folder / "report.html").read_text()
    assert "Your analysis: grades by age" in page
    assert "Mean of age by grade." in page
    code, out, _ = run("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml", "--json")
    found = json.loads(out)
    assert set(found["analyses"]["grades by age"]["each"]) == {"grade = low", "grade = mid", "grade = high"}
    assert (
        "grades by age: Mean of age by grade."
        in run("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml")[1]
    )
    write_plan(folder, attributes + "limits: {analyses: 0.9999}\n")
    code, _, message = run("protect", "--plan", folder / "plan.yaml", "-o", folder / "again.csv")
    assert code == 1
    assert "an overlap of the intervals of each analysis of at least 0.9999 (it is " in message
    assert "that of 'grades by age'" in message
    assert not (folder / "again.csv").exists()


def test_an_analysis_that_tells_nothing_stops_a_release_with_a_limit(run: Run, folder: Path) -> None:
    alone = "analyses:\n  - {name: alone, kind: mean, of: age, where: age < 21}\n"
    write_plan(folder, ATTRIBUTES + alone + "limits: {analyses: 0.1}\n")
    code, _, message = run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv")
    assert code == 1
    assert "not known to be met" in message
