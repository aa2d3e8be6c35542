"""``taxomask demo``: from a first look to a report, on the shipped table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.conftest import Run
from taxomask.microdata import read_table
from taxomask.plan import Plan

FILES = {"discharges.csv.gz", "map.html", "plan.yaml", "protected.csv", "report.html"}
AUDIT = {"protected.audit.json", "protected.note.md"}
PROTECTED = ["age", "sex", "race", "region", "n_beds", "care_days", "dx01"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def test_the_whole_job(run: Run) -> None:
    code, out, message = run("demo", "--k", "4")
    assert (code, message) == (0, "")
    assert names("taxomask-demo") == FILES | AUDIT
    assert re.search(r"codes in the taxonomy +2,000 \(100\.0 %\)", out)
    assert re.search(r"the middle of the data +V270 \(Outcome of delivery", out)
    assert f"holds: at least k = 4 records share every combination of {', '.join(PROTECTED)}" in out
    losses = dict(re.findall(r"^  (\w+) +([\d.]+)$", out.partition("The loss of each protected column")[2], re.M))
    assert [name for name, loss in losses.items() if float(loss) > 0] == PROTECTED
    assert all(f"taxomask-demo/{name}" in out for name in FILES - {"discharges.csv.gz"})
    table = read_table("taxomask-demo/protected.csv", text=True)
    classes = table.group_by(PROTECTED).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert (table.num_rows, min(classes) >= 4) == (2000, True)
    again = re.search(r"taxomask (protect --plan .*)$", out, re.M)
    assert again is not None
    assert run(*again[1].split())[0] == 0  # what it says to run next does run


@pytest.mark.slow
def test_a_second_demo_has_a_folder_of_its_own(run: Run) -> None:
    Path("taxomask-demo").mkdir()
    assert run("demo", "--refined")[0] == 0
    assert (names("taxomask-demo"), names("taxomask-demo-2")) == (set(), FILES | AUDIT)
    assert Plan.read("taxomask-demo-2/plan.yaml").method.algorithm == "refined"  # type: ignore[union-attr]


def test_a_folder_with_content_is_left_alone_without_force(run: Run) -> None:
    Path("mine").mkdir()
    Path("mine/plan.yaml").write_text("precious")
    code, out, message = run("demo", "--folder", "mine")
    assert (code, out) == (2, "")
    assert "mine is not empty.\nChoose another one, or overwrite an earlier demo with --force." in message
    assert Path("mine/plan.yaml").read_text() == "precious"


def test_a_bad_k_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    code, _, message = run("demo", "--k", "1")
    assert code == 2
    assert "k must be an integer of at least 2; got 1." in message
    assert not list(tmp_path.iterdir())
