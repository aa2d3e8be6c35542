"""``--engine``: the same release and the same measures from files as from memory, and folders in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import ATTRIBUTES, Run, write_plan
from taxomask.engines import Engine
from taxomask.methods.base import Check
from taxomask.methods.promises import KAnonymity
from taxomask.microdata.files import MANIFEST, read_table, write_table

# As it is, unprotected, it would go one to one with the identifier.
WITHOUT_AGE = ATTRIBUTES.replace(
    "{name: age, role: quasi_identifier, kind: continuous}", "{name: age, role: identifier}"
)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def files(folder: Path) -> Path:
    """The same table as a folder of CSV files."""
    table = read_table(folder / "table.csv", text=True)
    (folder / "data").mkdir()
    for start in (0, 5, 10):
        write_table(table.slice(start, 5), folder / "data" / f"{start:02}.csv", safe_cells=False)
    return folder


def test_the_same_bytes_on_every_engine(run: Run, files: Path) -> None:
    command = ("protect", "--plan", files / "plan.yaml", "--practice", "--seed", "5", "--quiet", "-o")
    assert run(*command, files / "memory.csv") == (0, "", "")
    assert run(*command, files / "local.csv", "--engine", "local", "--workers", "2") == (0, "", "")
    assert run(*command, files / "folder.csv", f"{files}/data/", "--engine", "local") == (0, "", "")
    assert run(*command, files / "both.csv", f"{files}/data") == (0, "", "")  # a folder read into memory
    memory = (files / "memory.csv").read_bytes()
    assert {(files / name).read_bytes() for name in ("local.csv", "folder.csv", "both.csv")} == {memory}
    assert (files / "memory.note.md").read_text() == (files / "local.note.md").read_text()
    memory, local = (json.loads((files / f"{name}.audit.json").read_text()) for name in ("memory", "local"))
    same = ("method", "parameters", "seed", "checks", "notes", "rows", "records", "linked", "versions", "sha256")
    assert [memory[key] for key in same] == [local[key] for key in same]
    assert set(memory["file_sha256"].values()) == set(local["file_sha256"].values())


@pytest.mark.parametrize("target", ["out/", "out.csv/"])
def test_the_same_folder_on_every_engine(run: Run, files: Path, target: str) -> None:
    found = []
    for engine in ("memory", "local"):
        where = files / engine
        where.mkdir()
        options = ("--practice", "--seed", "5", "--quiet", "--engine", engine)
        assert run("protect", "--plan", files / "plan.yaml", "-o", f"{where}/{target}", *options) == (0, "", "")
        assert names(where) == {target.strip("/"), "out.audit.json", "out.note.md"}
        found.append({path.name: path.read_bytes() for path in (where / target).iterdir()})
    assert found[0] == found[1]
    assert MANIFEST in found[0]


def test_several_tables_on_every_engine(run: Run, files: Path) -> None:
    write_plan(files, method="{name: imputation, attributes: [age], given: [dx], copies: 2}")
    command = ("protect", "--plan", files / "plan.yaml", "--practice", "--seed", "5", "--quiet", "-o")
    assert run(*command, files / "memory.csv") == (0, "", "")
    assert run(*command, files / "local.csv", "--engine", "local") == (0, "", "")
    for number in (1, 2):
        assert (files / f"memory-{number}.csv").read_bytes() == (files / f"local-{number}.csv").read_bytes()
    assert (files / "memory-1.csv").read_bytes() != (files / "memory-2.csv").read_bytes()


@pytest.mark.parametrize("target", ["out.csv", "out.csv/"])
def test_each_of_several_tables_is_known_by_the_audit(run: Run, files: Path, target: str) -> None:
    write_plan(files, method="{name: imputation, attributes: [age], given: [dx], copies: 2}")
    command = ("protect", "--plan", files / "plan.yaml", "--quiet", "-o", f"{files}/{target}")
    assert run(*command) == (0, "", "")
    measure = ("evaluate", "--plan", files / "plan.yaml", "--audit", files / "out.audit.json", files / "table.csv")
    for number in (1, 2):
        assert run(*measure, files / f"out-{number}.csv")[0] == 0
    table = files / "out-2.csv"
    if target.endswith("/"):
        (table / MANIFEST).unlink()  # which would tell as well
        table = table / "part-00000.csv"
    table.write_text(table.read_text().replace("0380", "4019"))
    assert "is the audit of another table" in run(*measure, files / "out-2.csv")[2]


def test_a_report_shows_what_was_compared_before_on_every_engine(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taxomask.comparison.stored.cache_folder", lambda name: files / "cache" / name)
    write_plan(files, f"{ATTRIBUTES}seed: {2**70}\ncompare: [{{name: microaggregation, vary: {{k: [2, 3]}}}}]\n")
    assert run("compare", "--plan", files / "plan.yaml", "--quiet")[0] == 0
    pages = []
    for engine in ("memory", "local"):
        (files / engine).mkdir()  # side by side, each would be told of the other
        out = ("-o", files / engine / "out.csv", "--report", files / engine / "page.html")
        assert run("protect", "--plan", files / "plan.yaml", "--quiet", "--engine", engine, *out) == (0, "", "")
        pages.append((files / engine / "page.html").read_text())
    assert pages[0] == pages[1]
    assert pages[0].count('class="point') == 2


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_table_that_came_out_unchanged_is_not_written(run: Run, files: Path, engine: str) -> None:
    write_plan(files, WITHOUT_AGE, "{name: pram, keep: 1}")
    before = names(files)
    command = ("protect", "--plan", files / "plan.yaml", "-o", files / "out.csv", "--engine", engine, "--quiet")
    code, out, message = run(*command)
    assert (code, out) == (1, "")
    assert (
        "DOES NOT HOLD: not all cells of the protected columns are as they were (no cell of grade, dx changed)"
        in message
    )
    assert "bug" not in message
    assert names(files) == before


def test_a_column_that_came_out_unchanged_is_told_of_on_every_engine(run: Run, files: Path) -> None:
    attributes = WITHOUT_AGE.replace(
        "{name: remark, role: other}", "{name: remark, role: quasi_identifier, kind: nominal}"
    )
    write_plan(files, attributes, "{name: pram, keep: 0.2}")
    command = ("protect", "--plan", files / "plan.yaml", "--practice", "--seed", "5", "--quiet", "-o")
    assert run(*command, files / "memory.csv") == (0, "", "")
    assert run(*command, files / "local.csv", "--engine", "local") == (0, "", "")
    for name in ("memory", "local"):
        notes = json.loads((files / f"{name}.audit.json").read_text())["notes"]
        assert notes[-1] == "The method was applied to remark too, but no value changed there."


def test_a_folder_is_written_told_of_and_measured(run: Run, files: Path) -> None:
    report = files / "report.html"
    target = f"{files}/out.csv/"
    code, out, _ = run(
        "protect", "--plan", files / "plan.yaml", "-o", target, "--engine", "local", "--report", report, "--json"
    )
    found = json.loads(out)
    assert (code, found["tables"]) == (0, [target])
    assert all(check["holds"] for check in found["checks"])
    assert report.read_text().startswith("<!doctype html>")
    assert names(files / "out.csv") == {MANIFEST, "part-00000.csv"}
    measure = ("evaluate", files / "table.csv", target, "--plan", files / "plan.yaml", "--json")
    code, out, _ = run(*measure)
    assert (code, json.loads(out)["headline"]) == (0, found["numbers"])
    part = files / "out.csv" / "part-00000.csv"
    part.rename(files / "out.csv" / "part-00001.csv")
    (files / "out.csv" / MANIFEST).unlink()
    code, _, message = run(*measure)
    assert code == 2
    assert "out.audit.json is the audit of another table" in message


def test_the_plan_may_say_all_of_it(run: Run, files: Path) -> None:
    (files / "scratch").mkdir()
    write_plan(
        files,
        ATTRIBUTES
        + "engine: {name: local, workers: 2, scratch: scratch}\noutput: {path: safe/}\npractice: true\nseed: 1\n",
    )
    with (files / "plan.yaml").open("a") as file:
        file.write("# data is a folder, too\n")
    (files / "plan.yaml").write_text((files / "plan.yaml").read_text().replace("data: table.csv", "data: data/"))
    assert run("protect", "--plan", files / "plan.yaml", "--quiet") == (0, "", "")
    assert read_table(files / "safe").num_rows == 12
    assert names(files / "scratch") == set()
    (files / "scratch").rmdir()
    code, _, message = run("protect", "--plan", files / "plan.yaml", "--quiet", "--force")
    assert code == 2
    assert "scratch cannot hold the intermediate files: No such file or directory.\nChoose another folder" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "out.xlsx/", "--engine", "local"), "out.xlsx/: a folder holds Parquet or CSV files."),
        (("-o", "out.foo/", "--engine", "local"), "out.foo: the suffix does not say in which format to write."),
        (("-o", "data/", "--engine", "local"), "data is the table itself."),
        (("-o", "old/", "--engine", "local"), "old exists already."),
        (("-o", "no/out/", "--engine", "local"), "there is no such folder.\nMake the folder first."),
        (("-o", "out/", "--engine", "spark"), "input should be 'memory', 'local' or 'dask'; got 'spark'."),
        (("-o", "out/", "--engine", "local", "--workers", "0"), "Invalid value for '--workers'"),
        (("-o", "out/", "--scheduler", "tcp://127.0.0.1:1"), "no worker answers at tcp://127.0.0.1:1: "),
    ],
)
def test_what_is_refused(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setattr("taxomask.engines.dask._WAIT", 1.0)
    (files / "old").mkdir()
    before = names(files)
    code, out, told = run("protect", "--plan", "plan.yaml", "data/", *options)
    assert (code, out) == (2, "")
    assert message in told
    assert "Traceback" not in told
    assert names(files) == before


@pytest.mark.parametrize("target", ["out/", "out.csv", "out.parquet"])
def test_a_broken_promise_or_limit_is_exit_code_1(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    before = names(files)
    command = ("protect", "--plan", files / "plan.yaml", "-o", f"{files}/{target}", "--engine", "local")
    write_plan(files, ATTRIBUTES + "limits: {risk: 0.01}\n")
    code, _, message = run(*command)
    assert (code, names(files)) == (1, before)
    assert "DOES NOT HOLD: a risk of at most 0.01" in message

    def broken(self: KAnonymity, *arguments: Any) -> Check:
        return Check("k-anonymity", False, "a class has 1 record")

    write_plan(files)
    monkeypatch.setattr(KAnonymity, "check", broken)
    code, _, message = run(*command)
    assert (code, names(files)) == (1, before)
    assert "the release was stopped:\n  DOES NOT HOLD: k-anonymity" in message


def test_what_is_wrong_with_the_table_is_told_as_ever(run: Run, files: Path) -> None:
    content = (files / "data" / "05.csv").read_text()
    (files / "data" / "05.csv").write_text(content.replace("25001", "25009", 1))
    command = ("protect", "--plan", files / "plan.yaml", f"{files}/data/", "-o", files / "out.csv")
    told = [run(*command, "--engine", engine) for engine in ("memory", "local")]
    assert told[0] == told[1]
    assert told[0][0] == 2
    assert "data: column 'dx': 1 cell (1 distinct value) not in icd9cm:\n  '25009'" in told[0][2]
    (files / "data" / "05.csv").write_text("id,age,grade,dx\n")
    told = [run(*command, "--engine", engine) for engine in ("memory", "local")]
    assert told[0] == told[1]
    assert "05.csv: column 'remark' is not in all files of the folder." in told[0][2]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "/"])
@pytest.mark.parametrize("chunk", [4, 1 << 20])
def test_the_same_measures_on_every_engine(
    run: Run, files: Path, suffix: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rows in another order, which the audit knows, and from several chunks as from one."""
    monkeypatch.setattr(Engine, "chunk", chunk)
    out = f"{files}/out{suffix}"
    command = ("--plan", files / "plan.yaml")
    made = run("protect", *command, f"{files}/data/", "--practice", "--seed", "5", "--quiet", "-o", out)
    assert made == (0, "", "")
    before = names(files)
    found = []
    for engine in ("memory", "local"):
        page = files / f"{engine}.html"
        code, text, said = run("evaluate", f"{files}/data/", out, *command, "--json", "--engine", engine, "-o", page)
        assert code == 0, said
        found.append((text, page.read_text().partition("<body")[2]))
    assert found[0] == found[1]
    assert names(files) == before | {"memory.html", "local.html"}
    assert json.loads(found[0][0])["headline"]["risk"] < 1
    assert found[0][0] == run("evaluate", files / "table.csv", out, *command, "--json")[1]


def test_what_is_wrong_with_a_table_to_measure_is_told_with_its_name(run: Run, files: Path) -> None:
    table = read_table(files / "table.csv", text=True)
    write_table(table.drop_columns(["age"]), files / "short.csv")
    for engine in ("memory", "local"):
        code, _, said = run(
            "evaluate", files / "table.csv", files / "short.csv", "--plan", files / "plan.yaml", "--same-order",
            "--engine", engine,
        )  # fmt: skip
        assert code == 2
        assert "short.csv: the protected table has no column 'age'" in said.replace("\n", " ")
