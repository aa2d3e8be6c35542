"""Bad input: exit code 2, a message that says what is wrong where and what to do, and nothing is written."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.conftest import ATTRIBUTES, TABLE, Run, write_plan
from taxomask.microdata.files import read_table, write_table


def refusal(run: Run, folder: Path, *options: str | Path, data: str = "table.csv") -> str:
    """What `protect` says; it must have written nothing."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    output = () if "-o" in options else ("-o", folder / "out.csv")
    code, out, message = run("protect", "--plan", folder / "plan.yaml", folder / data, *output, *options)
    assert code == 2
    assert not out
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert message.startswith("taxomask: ")
    assert len(message.splitlines()) > 1  # a hint
    assert "Traceback" not in message
    return message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "table.csv is empty."),
        (bytes(range(256)), "table.csv is not a table: it holds bytes that no text holds."),
        (b"id,age,grade,dx,remark\n", "table.csv has columns ('id', 'age', 'grade', 'dx', 'remark') but no rows."),
        (TABLE.encode() + b"person,30\n", "table.csv, line 14: row 13 has 2 cells, the header has 5."),
        (TABLE.encode() + b"J\xff\x81rg,1,low,0380,\n", "table.csv, line 14: byte 0xff is not text in UTF-8."),
        (TABLE.replace("grade", "age").encode(), "table.csv: column 'age' stands more than once."),
        (
            TABLE.replace("25001", "25009", 1).encode(),
            "table.csv: column 'dx': 1 cell (1 distinct value) not in icd9cm:\n"
            "  '25009': 1 time, first in row 2; nearest: '2500'",
        ),
        (
            TABLE.replace("mid", "middle", 1).encode(),
            "table.csv: column 'grade' has values that are not in its order ('low', 'mid', 'high'):\n"
            "  'middle': 1 time, first in row 2",
        ),
        (TABLE.replace(",25,", ",old,").encode(), "table.csv: column 'age', row 6: 'old' is not a number."),
        (
            b"id,age,grade,dx,remark\n" + b"".join(b"person %d,,,,\n" % i for i in range(9)),
            "table.csv: no row has a value in 'age', 'grade', 'dx': there is nothing to protect.",
        ),
    ],
)
def test_tables(run: Run, folder: Path, content: bytes, message: str) -> None:
    (folder / "table.csv").write_bytes(content)
    assert message in refusal(run, folder)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_row_that_is_too_short(run: Run, folder: Path, engine: str) -> None:
    write_plan(folder, "attributes: [{name: a, role: quasi_identifier, kind: nominal}, {name: b, role: other}]\n")
    (folder / "table.csv").write_text("a,b\n" + "x,y\n" * 20 + "z\n")  # text only: no type is wrong
    message = refusal(run, folder, "--engine", engine)
    assert "table.csv, line 22: row 21 has 1 cells, the header has 2.\nEvery row must have" in message


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "sav", "dta", "xpt", "xlsx"])
def test_files_with_wrong_bytes(run: Run, folder: Path, suffix: str, engine: str) -> None:
    path = folder / f"table.{suffix}"
    write_table(read_table(folder / "table.csv", text=True), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\xff" * 40 + content[len(content) // 2 + 40 :])
    message = refusal(run, folder, "--engine", engine, data=path.name)
    assert f"{path.name}: " in message or f"{path.name} is not a whole " in message


def test_missing_files_and_folders(run: Run, folder: Path) -> None:
    assert "tabel.csv: there is no such file.\nDid you mean 'table.csv'?" in refusal(run, folder, data="tabel.csv")
    (folder / "sub").mkdir()
    assert "sub is a folder without tables.\nName a file, or" in refusal(run, folder, data="sub")
    assert run("protect", "--plan", folder / "no.yaml", "-o", folder / "out.csv")[0] == 2


def test_empty_and_truncated_parquet(run: Run, folder: Path) -> None:
    path = folder / "table.parquet"
    path.write_bytes(b"")
    assert "table.parquet is empty." in refusal(run, folder, data=path.name)
    pq.write_table(pa.table({"id": ["a", "b"]}), path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "table.parquet is not a whole Parquet file" in refusal(run, folder, data=path.name)


def test_a_table_that_is_not_in_the_database(run: Run, folder: Path) -> None:
    address = f"sqlite:///{folder / 'register.db'}?table="
    write_table(read_table(folder / "table.csv", text=True), f"{address}stays")
    command = ("protect", "--plan", folder / "plan.yaml", "-o", folder / "out.csv")
    code, _, message = run(*command, f"{address}stay")
    assert code == 2
    assert "table=stay: there is no such table.\nDid you mean 'stays'?" in message
    assert not (folder / "out.csv").exists()
    assert run(*command, f"{address}stays")[0] == 0


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            ATTRIBUTES.replace("grade", "grdae"),
            "table.csv: the schema describes 'grdae', which the table does not have.\nDid you mean 'grade'?",
        ),
        (ATTRIBUTES.replace("  - {name: remark, role: other}\n", ""), "does not describe 1 of the columns: 'remark'."),
        (
            ATTRIBUTES.replace("taxonomy:", "taxonmy:"),
            "plan.yaml: attribute 'dx': 'taxonmy' is not known.\nDid you mean 'taxonomy'?",
        ),
        (ATTRIBUTES + "methd: {}\n", "plan.yaml: 'methd' is not a key of a plan.\nDid you mean 'method'?"),
        (ATTRIBUTES.replace("icd9cm", "tree.csv"), "tree.csv"),
        (ATTRIBUTES.replace("icd9cm", "../tree.csv"), "'../tree.csv' is outside the folder of the plan."),
        ("attributes: !!python/object/apply:os.mkdir [ran]\n", "could not determine a constructor for the tag"),
        ("attributes: [\n", "plan.yaml, line "),
    ],
)
def test_plans(run: Run, folder: Path, attributes: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    write_plan(folder, attributes)
    assert message in refusal(run, folder)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("{name: microaggregation, k: 1}", "k must be an integer of at least 2; got 1."),
        ("{name: microaggregation, k: five}", "k must be an integer of at least 2; got 'five'."),
        (
            "{name: microaggregation, k: 13}",
            "table.csv: the table has 12 records, too few for a group of k = 13.\nLower k or add records.",
        ),
        ("{name: microagregation, k: 3}", "there is no method 'microagregation'.\nDid you mean 'microaggregation'?"),
        ("", "the plan names no method."),
        ("{name: shuffling}", "no confidential attribute"),
    ],
)
def test_methods(run: Run, folder: Path, method: str, message: str) -> None:
    write_plan(folder, method=method)
    assert message in refusal(run, folder)


def test_a_plan_reaches_outside_its_folder_only_if_somebody_says_so(run: Run, folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    text = (folder / "plan.yaml").read_text().replace("table.csv", "../table.csv")
    (inner / "plan.yaml").write_text(text)
    command = ("protect", "--plan", inner / "plan.yaml", "-o", inner / "out.csv", "--quiet")
    code, _, message = run(*command)
    assert (code, (inner / "out.csv").exists()) == (2, False)
    assert "plan.yaml: data: '../table.csv' is outside the folder of the plan." in message
    assert "say --outside on the command line" in message
    assert run(*command, "--outside")[0] == 0
    (inner / "plan.yaml").write_text(text + "outside: true\n")
    code, _, message = run(*command, "--outside", "--force")
    assert (code, "a plan cannot allow itself to reach outside its folder" in message) == (2, True)


def test_places_to_write(run: Run, folder: Path) -> None:
    assert "out.foo: the suffix does not say" in refusal(run, folder, "-o", folder / "out.foo")
    assert "there is no such folder.\nMake" in refusal(run, folder, "-o", folder / "no" / "out.csv")
    report = refusal(run, folder, "--report", folder / "no" / "report.html")
    assert "report.html cannot be written: there is no such folder." in report
    assert "table.csv is the table itself." in refusal(run, folder, "-o", folder / "table.csv", "--force")
    (folder / "old.csv").write_text("precious")
    assert "old.csv exists already." in refusal(run, folder, "-o", folder / "old.csv")


def test_formula_cells_are_written_safely_unless_asked_otherwise(run: Run, folder: Path) -> None:
    command = ("protect", "--plan", folder / "plan.yaml", "--quiet", "-o")
    assert run(*command, folder / "safe.csv")[0] == 0
    assert (folder / "safe.csv").read_text().count(",'=1+1\n") == 12
    with (folder / "plan.yaml").open("a") as file:
        file.write("output: {escape_cells: false}\n")
    assert run(*command, folder / "raw.csv")[0] == 0
    assert (folder / "raw.csv").read_text().count(",=1+1\n") == 12


def test_a_folder_that_may_not_be_read_or_written() -> None:
    """In a process that gives up being root, to whom no folder is closed, after it has loaded what it needs."""
    code = """
import contextlib, os, sys
from taxomask.cli import main
with contextlib.suppress(SystemExit):
    main(["protect", "--plan", sys.argv[3], "-o", os.path.dirname(sys.argv[3]) + "/warm.csv", "--quiet", "--force"])
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
main(sys.argv[1:])
"""
    with tempfile.TemporaryDirectory() as name:  # those of pytest are closed themselves
        folder, closed = Path(name), Path(name) / "closed"
        folder.chmod(0o777)
        closed.mkdir()
        for one in (folder, closed):
            (one / "table.csv").write_text(TABLE)
        write_plan(folder)

        def attempt(mode: int, data: Path, output: Path) -> str:
            closed.chmod(mode)
            command = ["protect", "--plan", str(folder / "plan.yaml"), str(data), "-o", str(output)]
            done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True)
            closed.chmod(0o755)
            assert done.returncode == 2, done.stderr
            return done.stderr

        read = attempt(0, closed / "table.csv", folder / "out.csv")
        assert f"{closed / 'table.csv'} cannot be read: Permission denied.\nCheck who may read the file." in read
        write = attempt(0o555, folder / "table.csv", closed / "out.csv")
        assert f"{closed / 'out.csv'} cannot be written: you may not write to the folder." in write
        assert not list(closed.glob("out.csv*"))
