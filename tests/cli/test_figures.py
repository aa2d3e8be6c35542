"""Figures on the command line: their limits, what they are over, and what they mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import ATTRIBUTES, Run, write_plan
from taxomask.evaluation import HEADLINE


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_limit_of_the_worst_column(run: Run, folder: Path, engine: str) -> None:
    command = ("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--engine", engine, "--json")
    write_plan(folder, ATTRIBUTES + "limits: {worst_loss: 0.01}\n")
    code, out, message = run(*command)
    assert (code, out) == (1, "")
    assert "DOES NOT HOLD: a loss of the worst column of at most 0.01 (it is " in message
    assert ", that of " in message
    assert not (folder / "out.csv").exists()
    write_plan(folder, ATTRIBUTES + "limits: {worst_loss: 1.5}\n")
    code, out, _ = run(*command)
    assert code == 0
    assert json.loads(out)["numbers"]["worst_loss"] <= 1.5


def test_a_file_is_measured_with_the_method_of_its_audit(run: Run, folder: Path) -> None:
    write_plan(folder, method="{name: rounding, base: {age: 10}}")
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--quiet")[0] == 0
    write_plan(folder)  # another method, with which the table was not made
    command = ("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml")
    code, out, _ = run(*command)
    assert code == 0
    assert "Protected columns: age." in out
    code, out, _ = run(*command, "--unlinked")
    assert code == 0
    assert "Protected columns: none." in out


def test_commands_say_what_their_figures_are(run: Run, folder: Path) -> None:
    asked = "analyses:\n  - {name: mean age, kind: mean, of: age}\n"
    write_plan(folder, f"{ATTRIBUTES}{asked}compare:\n  - {{name: microaggregation, vary: {{k: [2, 3]}}}}\n")
    code, out, _ = run("compare", "--plan", folder / "plan.yaml", "--no-cache")
    assert code == 0
    assert all(meaning.about in out for meaning in HEADLINE.values())
    assert "Every loss is over the columns that any of these methods protects: age, grade, dx." in out
    assert run("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", "--quiet")[0] == 0
    code, out, _ = run("evaluate", folder / "table.csv", folder / "out.csv", "--plan", folder / "plan.yaml")
    assert code == 0
    shown = " ".join(out.split())
    assert all(meaning.about in shown for meaning in HEADLINE.values())
