"""``taxomask protect``: what it writes, prints and returns."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import ATTRIBUTES, TABLE, Run, write_plan
from taxomask.methods.base import Check
from taxomask.methods.promises import KAnonymity
from taxomask.microdata.files import read_table, write_table


def protect(folder: Path, *options: str | Path) -> tuple[str | Path, ...]:
    return ("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv", *options)


def test_the_table_of_the_plan_is_protected(run: Run, folder: Path) -> None:
    code, out, message = run(*protect(folder))
    assert (code, message) == (0, "")
    assert out.startswith("Written, after it was read back and checked:")
    for name in ("out.csv", "out.audit.json", "out.note.md"):
        assert str(folder / name) in out
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert "holds: at least k = 3 records share every combination of age, grade, dx" in out
    table = read_table(folder / "out.csv", text=True)
    assert table.column_names == ["age", "grade", "dx", "remark"]
    assert min(table.group_by(["age", "grade", "dx"]).aggregate([([], "count_all")])["count_all"].to_pylist()) >= 3
    assert "person" not in (folder / "out.csv").read_text()


def test_quiet_says_nothing_and_json_everything(run: Run, folder: Path) -> None:
    assert run(*protect(folder, "--quiet")) == (0, "", "")
    code, out, _ = run(*protect(folder, "--json", "--force", "--report", folder / "report.html"))
    found = json.loads(out)
    assert code == 0
    assert found["tables"] == [str(folder / "out.csv")]
    assert all(check["holds"] for check in found["checks"])
    assert 0 <= found["numbers"]["risk"] <= 1
    assert Path(found["report"]).read_text().startswith("<!doctype html>")


def test_the_bar_says_what_is_being_done(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out, report = folder / "out.csv", folder / "report.html"
    code, _, shown = run("protect", "--plan", folder / "plan.yaml", "-o", out, "--report", report)
    assert code == 0
    assert "Writing" in shown  # masking and measuring twelve records are over before they are drawn


def test_nothing_is_overwritten_without_force(run: Run, folder: Path) -> None:
    assert run(*protect(folder))[0] == 0
    before = (folder / "out.csv").read_bytes()
    code, _, message = run(*protect(folder))
    assert (code, (folder / "out.csv").read_bytes()) == (2, before)
    assert "out.csv exists already.\nChoose another name, or overwrite it with --force." in message
    assert run(*protect(folder, "--force"))[0] == 0


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(run: Run, folder: Path) -> None:
    write_plan(folder, method="{name: micro_hybrid, k: 4}")

    def content(seed: int) -> str:
        assert run(*protect(folder, "--force", "--quiet", "--practice", "--seed", str(seed)))[0] == 0
        return hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()

    assert content(7) == content(7) != content(8)


def test_without_a_seed_every_release_has_its_own(run: Run, folder: Path) -> None:
    seeds = set()
    for _ in range(2):
        assert run(*protect(folder, "--force", "--quiet"))[0] == 0
        seeds.add(json.loads((folder / "out.audit.json").read_text())["seed"])
    assert len(seeds) == 2


def test_a_broken_promise_is_exit_code_1(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: KAnonymity, *arguments: Any) -> Check:
        return Check("k-anonymity", False, "a class has 1 record")

    monkeypatch.setattr(KAnonymity, "check", broken)
    code, out, message = run(*protect(folder))
    assert (code, out) == (1, "")
    assert "the release was stopped:\n  DOES NOT HOLD: k-anonymity (a class has 1 record)" in message
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(("limit", "name"), [("risk: 0.01", "a risk of at most 0.01"), ("loss: 0.001", "a loss")])
def test_limits_that_are_not_met_are_exit_code_1(run: Run, folder: Path, limit: str, name: str) -> None:
    write_plan(folder, ATTRIBUTES + f"limits: {{{limit}}}\n")
    code, _, message = run(*protect(folder))
    assert code == 1
    assert f"DOES NOT HOLD: {name}" in message
    assert sorted(path.name for path in folder.iterdir()) == ["plan.yaml", "table.csv"]


def test_limits_show_who_reaches_them_and_the_interval(run: Run, folder: Path) -> None:
    rows = TABLE.splitlines()
    paid = [f"{row},{number // 4}" for number, row in enumerate(rows[1:])]
    (folder / "table.csv").write_text("\n".join([rows[0] + ",pay", *paid]) + "\n")
    more = "  - {name: pay, role: confidential, kind: nominal}\nlimits: {risk: 0, disclosure: 0}\n"
    write_plan(folder, ATTRIBUTES + more + "accept: [{columns: [pay], reason: to see the limits}]\n")
    code, _, message = run(*protect(folder))
    assert code == 1
    interval = r", that of '\w+', from [\d.]+ to [\d.]+ with 95 % confidence"
    for limit in ("a risk", "a disclosure"):
        assert re.search(rf"DOES NOT HOLD: {limit} of at most 0 \(it is [\d.]+{interval}\)", " ".join(message.split()))


def test_an_identifier_under_another_name_is_exit_code_1(run: Run, folder: Path) -> None:
    rows = TABLE.splitlines()
    copies = [f"{row},{number}" for number, row in enumerate(rows[1:])]
    (folder / "table.csv").write_text("\n".join([rows[0] + ",bed", *copies]) + "\n")
    write_plan(folder, ATTRIBUTES + "  - {name: bed, role: other}\n")
    code, _, message = run(*protect(folder))
    assert code == 1
    assert "id stands in bed in 100.0 % of the records" in message
    assert not (folder / "out.csv").exists()


def test_outputs_of_the_plan_are_found_from_its_folder(run: Run, folder: Path) -> None:
    write_plan(folder, ATTRIBUTES + "output: {path: safe.parquet, report: page.html}\nseed: 18446744073709551619\n")
    assert run("protect", "--plan", folder / "plan.yaml", "--quiet")[0] == 0
    assert read_table(folder / "safe.parquet").num_rows == 12
    assert (folder / "page.html").exists()


def test_databases(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    write_table(read_table("table.csv", text=True), "sqlite:///register.db?table=stays")
    target = "sqlite:///register.db?table=safe"
    assert run("protect", "--plan", "plan.yaml", "sqlite:///register.db?table=stays", "-o", target, "--quiet")[0] == 0
    assert (Path("safe.audit.json").exists(), Path("safe.note.md").exists()) == (True, True)
    code, _, message = run("protect", "--plan", "plan.yaml", "-o", target, "--quiet")
    assert code == 2
    assert "exists already" in message
    write_plan(folder, method="{name: imputation, attributes: [age], given: [grade], copies: 2}")
    target = "sqlite:///register.db?table=made"
    assert run("protect", "--plan", "plan.yaml", "-o", target, "--quiet")[0] == 0
    assert read_table(f"{target}_1").num_rows == read_table(f"{target}_2").num_rows == 12
    audit = ("--audit", "made.audit.json")
    assert run("evaluate", "table.csv", f"{target}_1", "--plan", "plan.yaml", "--quiet", *audit) == (0, "", "")


def test_options_and_completion(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert all(name in out for name in ("inspect", "protect", "evaluate", "compare", "taxonomy", "demo", "schema"))
    assert "--install-completion" in out
    with monkeypatch.context() as shell:  # what the shell asks for, whichever shell runs the tests
        shell.setenv("_TAXOMASK_COMPLETE", "source_bash")
        code, out, _ = run()
    assert code == 0
    assert "complete" in out
    assert run("protect")[0] == 2
    assert run("protect", "--nonsense")[0] == 2
