"""``taxomask compare``: many methods on one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import ATTRIBUTES, Run, write_plan

GRID = """compare:
  - {name: microaggregation, vary: {k: [2, 3, 6]}}
  - {name: shuffling}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the numbers are kept elsewhere; the kernels are compiled already."""
    import taxomask.comparison.stored as module

    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(module, "cache_folder", lambda name: folder / name)


@pytest.fixture
def planned(folder: Path) -> Path:
    write_plan(folder, ATTRIBUTES + GRID)
    return folder


def test_a_table_of_methods(run: Run, planned: Path) -> None:
    code, out, message = run("compare", "--plan", planned / "plan.yaml", "--max-risk", "0.34")
    assert (code, message) == (0, "")
    assert all(f"microaggregation(k={k})" in out for k in (2, 3, 6))
    assert "Could not be run: shuffling()" in out  # there is no confidential column
    assert "Best: microaggregation(k=3). Of the 3 methods 2 have a risk of at most 0.34" in out


def test_a_promise_alone_is_enough_to_choose_by(run: Run, planned: Path) -> None:
    noise = (
        (planned / "plan.yaml")
        .read_text()
        .replace("{name: shuffling}", "{name: noise, amount: 0.1, attributes: [age]}")
    )
    (planned / "plan.yaml").write_text(noise)
    page = planned / "map.html"
    code, out, message = run("compare", "--plan", planned / "plan.yaml", "--promise", "k_anonymity", "-o", page)
    assert (code, message) == (0, "")
    sentence = "Of the 4 methods 3 promise 'k_anonymity'; of these it has the smallest loss"
    assert f"Best: microaggregation(k=2). {sentence}" in " ".join(out.split())
    assert sentence in page.read_text().replace("&#39;", "'")
    code, _, message = run("compare", "--plan", planned / "plan.yaml", "--promise", "k_anonymitee")
    assert code == 2
    assert "no method promises 'k_anonymitee'" in message


def test_a_method_that_changes_nothing_is_no_point(run: Run, folder: Path) -> None:
    attributes = ATTRIBUTES.replace(
        "{name: age, role: quasi_identifier, kind: continuous}", "{name: age, role: identifier}"
    )
    write_plan(folder, attributes + "compare: [{name: pram, vary: {keep: [0.5, 1]}}]\n")
    code, out, _ = run("compare", "--plan", folder / "plan.yaml", "--json")
    found = json.loads(out)
    assert (code, [point["method"] for point in found["points"]]) == (0, ["pram(keep=0.5)"])
    ((method, reason),) = [(one["method"], one["reason"]) for one in found["failed"]]
    assert method == "pram(keep=1)"
    assert "no cell of grade, dx changed" in reason


def test_json_and_a_second_run_say_the_same(run: Run, planned: Path) -> None:
    first = run("compare", "--plan", planned / "plan.yaml", "--json")
    assert first == run("compare", "--plan", planned / "plan.yaml", "--json")
    assert first == run("compare", "--plan", planned / "plan.yaml", "--json", "--no-cache", "--workers", "1")
    found = json.loads(first[1])
    assert [point["method"] for point in found["points"]] == [f"microaggregation(k={k})" for k in (2, 3, 6)]
    assert found["best"] is None


def test_the_map_is_a_page(run: Run, planned: Path) -> None:
    page = planned / "map.html"
    assert run("compare", "--plan", planned / "plan.yaml", "-o", page, "--quiet") == (0, "", "")
    assert page.read_text().startswith("<!doctype html>")
    code, _, message = run("compare", "--plan", planned / "plan.yaml", "-o", page)
    assert code == 2
    assert "map.html exists already" in message
    code, _, message = run("compare", "--plan", planned / "plan.yaml", "-o", planned / "no" / "map.html")
    assert code == 2
    assert "map.html cannot be written" in message


def test_no_method_is_good_enough(run: Run, planned: Path) -> None:
    code, _, message = run("compare", "--plan", planned / "plan.yaml", "--max-risk", "0")
    assert code == 2
    assert "no method has a risk of at most 0" in message


def test_without_a_grid_the_method_of_the_plan_and_what_fits_are_compared(run: Run, planned: Path) -> None:
    write_plan(planned, method="{name: microaggregation, k: 4}")
    code, out, message = run("compare", "--plan", planned / "plan.yaml", "--json")
    assert (code, message) == (0, "")
    tried = [one["method"] for one in json.loads(out)["points"]] + [one["method"] for one in json.loads(out)["failed"]]
    assert tried[0] == "microaggregation(k=4)"
    for name in ("algorithm=refined", "micro_hybrid", "group_permutation", "generalisation", "rank_swapping"):
        assert any(name in one for one in tried), (name, tried)


def test_bad_tables_and_plans(run: Run, planned: Path) -> None:
    text = (planned / "table.csv").read_text()
    (planned / "table.csv").write_text(text.replace(",25,", ",old,"))
    code, _, message = run("compare", "--plan", planned / "plan.yaml")
    assert code == 2
    assert "table.csv: column 'age', row 6: 'old' is not a number." in message
    (planned / "table.csv").write_text(text)
    write_plan(planned, ATTRIBUTES + "compare: [{name: shuffling}]\n")
    code, _, message = run("compare", "--plan", planned / "plan.yaml")
    assert code == 2
    assert "none of the methods could be run:\n  shuffling(): " in message


ANALYSES = """analyses:
  - {name: ages, kind: mean, of: age, by: [grade]}
  - {name: hearts, kind: count, condition: age > 25 and dx under 390-459}
"""


def test_the_best_for_an_analysis(run: Run, planned: Path) -> None:
    write_plan(planned, ATTRIBUTES + ANALYSES + GRID)
    code, out, _ = run(
        "compare", "--plan", planned / "plan.yaml", "--max-risk", "0.6", "--analysis", "hearts", "--json"
    )
    assert code == 0
    found = json.loads(out)
    overlaps = {one["method"]: one["numbers"]["overlap of hearts"] for one in found["points"]}
    assert overlaps[found["best"]["method"]] == max(overlaps.values())
    assert "the largest overlap of 'hearts'" in found["best"]["reason"]
    assert set(found["weights"]) <= {"age", "dx"}
    code, out, _ = run("compare", "--plan", planned / "plan.yaml", "--analysis", "ages", "--max-risk", "0.6")
    assert code == 0
    assert "\nWeights: " in out
    code, out, _ = run("compare", "--plan", planned / "plan.yaml")
    assert code == 0
    assert "Analyses: how far their confidence intervals overlap" in out
    code, out, _ = run("compare", "--plan", planned / "plan.yaml", "--analysis", "ages")  # without a limit, too
    assert code == 0
    assert "it has the largest overlap of 'ages'" in " ".join(out.split())
    code, _, message = run("compare", "--plan", planned / "plan.yaml", "--analysis", "heart", "--max-risk", "0.6")
    assert code == 2
    assert "Did you mean 'hearts'?" in message


def test_a_misspelt_value_is_told_before_methods_run(run: Run, planned: Path) -> None:
    write_plan(planned, ATTRIBUTES + ANALYSES.replace("390-459", "390-460") + GRID)
    code, _, message = run("compare", "--plan", planned / "plan.yaml")
    assert code == 2
    assert "does not know '390-460'" in message
    assert "none of the methods" not in message


def test_the_smallest_k_is_searched(run: Run, planned: Path) -> None:
    write_plan(planned, ATTRIBUTES + "compare:\n  - {name: microaggregation, k: 6}\n")
    asked = ("compare", "--plan", planned / "plan.yaml", "--max-risk", "0.34")
    code, out, _ = run(*asked)
    assert code == 0
    assert "microaggregation(k=3) keeps to the limits, k = 2 does not." in out
    assert "Best: microaggregation(k=3)." in out
    assert "searched" not in json.loads(run(*asked, "--json", "--seconds", "0")[1])


def test_only_methods_that_promise_it(run: Run, planned: Path) -> None:
    write_plan(planned, ATTRIBUTES + "compare:\n  - {name: microaggregation, k: 3}\n  - {name: noise, amount: 0.01}\n")
    asked = ("compare", "--plan", planned / "plan.yaml", "--max-risk", "1", "--seconds", "0", "--json")
    assert json.loads(run(*asked, "--promise", "k_anonymity")[1])["best"]["method"] == "microaggregation(k=3)"
    code, _, message = run(*asked, "--promise", "teleportation")
    assert code == 2
    assert "no method promises 'teleportation'" in message
