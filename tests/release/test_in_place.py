"""Table, audit, note and report belong together, whatever happens and whoever else writes to the same place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.errors import DataError
from taxomask.release import in_place
from taxomask.release.in_place import belongs, find_audit

SCHEMA = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
TABLE = pa.table({"age": [21, 26, 33, 41, 47, 58, 66, 79]})
EVERYTHING = {"out.csv", "out.audit.json", "out.note.md", "report.html"}


def release(k: int = 2) -> tm.Release:
    return tm.protect(TABLE, SCHEMA, tm.Microaggregation(k), seed=2**64 + k)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def record(audit: Path) -> dict[str, Any]:
    return dict(json.loads(audit.read_text()))


def test_all_of_a_release_and_nothing_else(tmp_path: Path) -> None:
    done = release().write(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert names(tmp_path) == EVERYTHING
    assert done.report == tmp_path / "report.html"
    assert "microaggregation" in done.report.read_text()
    assert belongs(record(done.audit), tmp_path / "out.csv")


@pytest.mark.parametrize("names_", [("out.csv", "out.csv/"), ("out.csv/", "out.csv")], ids=["by a folder", "by a file"])
def test_what_is_overwritten_by_another_kind_of_thing_leaves_nothing(tmp_path: Path, names_: tuple[str, str]) -> None:
    for k, name in enumerate(names_, start=2):
        release(k).write(f"{tmp_path}/{name}", force=True)
        assert names(tmp_path) == EVERYTHING - {"report.html"}
        assert belongs(record(tmp_path / "out.audit.json"), tmp_path / "out.csv")


def test_a_report_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.evaluation import Evaluation

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Evaluation, "page", full)
    with pytest.raises(OSError, match="No space"):
        release().write(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert names(tmp_path) == set()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet/"])
@pytest.mark.parametrize("exchange", [True, False])
def test_an_error_while_tables_get_their_names_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, exchange: bool
) -> None:
    table = tmp_path / name.rstrip("/")
    release(2).write(f"{tmp_path}/{name}", report=tmp_path / "report.html")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    if not exchange:
        monkeypatch.setattr(in_place, "_exchanged", lambda *_: False)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as change:
        change.setattr(in_place, "_name_table", refuse)
        with pytest.raises(DataError, match=r"cannot be written: Permission denied"):
            release(3).write(f"{tmp_path}/{name}", report=tmp_path / "report.html", force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    release(3).write(f"{tmp_path}/{name}", report=tmp_path / "report.html", force=True)
    assert record(tmp_path / "out.audit.json")["parameters"]["k"] == 3
    assert belongs(record(tmp_path / "out.audit.json"), table)
    assert len(names(tmp_path)) == 4


def test_what_a_killed_run_left_is_found_and_settled(tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir()
    other.mkdir()
    release(2).write(place / "out.csv")
    release(4).write(other / "out.csv")
    own, next_one = place / "out.audit.json", place / "out.audit.next-0a1b2c3d.json"
    new = {**record(other / "out.audit.json"), "files": [str(place / "out.csv")]}
    next_one.write_text(json.dumps(new))
    (place / "out.note.next-0a1b2c3d.md").write_text("the new note")
    assert find_audit(own, str(place / "out.csv")) == own  # the table has not come yet
    (place / "out.csv").write_bytes((other / "out.csv").read_bytes())
    assert find_audit(own, str(place / "out.csv")) == next_one
    with in_place.taking_turns(own):
        assert names(place) == {"out.csv", "out.audit.json", "out.note.md", ".out.audit.json.lock"}
    assert record(own)["parameters"]["k"] == 4
    assert (place / "out.note.md").read_text() == "the new note"
    next_one.write_text(json.dumps({**new, "file_sha256": {"out.csv": "0" * 64}}))  # of a table that never came
    with in_place.taking_turns(own):
        pass
    assert names(place) == {"out.csv", "out.audit.json", "out.note.md"}
    assert record(own)["parameters"]["k"] == 4


def test_a_folder_that_was_moved_out_of_the_way_is_put_back(tmp_path: Path) -> None:
    release(2).write(f"{tmp_path}/out.csv/")
    own = tmp_path / "out.audit.json"
    (tmp_path / "out.csv").rename(tmp_path / ".out.csv.1-00000000-00000000.former")
    (tmp_path / "out.audit.next-0a1b2c3d.json").write_text(
        json.dumps({**record(own), "file_sha256": {"out.csv/part-00000.csv": "0" * 64}})
    )
    with in_place.taking_turns(own):
        pass
    assert names(tmp_path) == {"out.csv", "out.audit.json", "out.note.md"}
    assert belongs(record(own), tmp_path / "out.csv")


def test_runs_to_one_place_take_turns(tmp_path: Path) -> None:
    program = """
import sys, pyarrow as pa, taxomask as tm
schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
table = pa.table({"age": [21, 26, 33, 41, 47, 58, 66, 79]})
release = tm.protect(table, schema, tm.Microaggregation(int(sys.argv[2])), seed=2**64)
print("ready", flush=True)
sys.stdin.read(1)
for _ in range(30):
    release.write(sys.argv[1], force=True)
"""
    target = tmp_path / "out.csv"
    command = [sys.executable, "-c", program, str(target)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen([*command, str(k)], **pipes) for k in (2, 3, 4)]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:  # all at once
        assert run.stdin is not None
        run.stdin.write("x")
        run.stdin.flush()
    for run in runs:
        run.communicate()
        assert run.returncode == 0
    assert names(tmp_path) == {"out.csv", "out.audit.json", "out.note.md"}
    assert belongs(record(tmp_path / "out.audit.json"), target)


def test_the_audit_of_a_table_in_a_database_is_there_before_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"sqlite:///{tmp_path}/made.db?table=out"
    seen: list[set[str]] = []
    flushed = in_place.flush

    def look(path: Path) -> None:
        seen.append(names(tmp_path))
        flushed(path)

    monkeypatch.setattr("taxomask.release.write.flush", look)
    release().write(address)
    assert any(".next-" in name for some in seen for name in some)
    assert names(tmp_path) == {"made.db", "out.audit.json", "out.note.md"}
