"""A release on disk: verified on what was read back, in place as a whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask._support.temporary import temporary_name
from taxomask.microdata.files import MANIFEST, read_table
from taxomask.release import Publication, read_back, written
from taxomask.release import write as writing
from taxomask.release.note import methodology
from taxomask.release.released import row_order
from taxomask.release.residue import NO_RESIDUE
from taxomask.release.write import Options

N = 40
TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(N)],
        "age": [20 + i % 7 for i in range(N)],
        "dx": ["0380", "25001", "4019", None] * (N // 4),
        "remark": [["=1+1", "", None, "ü"][i // 4 % 4] for i in range(N)],
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("name", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        tm.Attribute("remark", role="other"),
    ]
)


def publish(release: tm.Release, target: Path | str, **options: Any) -> Publication:
    return writing.write(release, str(target), Options(**options))


@pytest.fixture
def release() -> tm.Release:
    return tm.protect(TABLE, SCHEMA, tm.Microaggregation(4), seed=2**64 + 5)


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.parquet", "out.arrow", "out.xlsx"])
def test_what_is_on_disk_is_the_release_in_random_order(release: tm.Release, tmp_path: Path, name: str) -> None:
    done = publish(release, tmp_path / name)
    back = read_table(tmp_path / name, text=["dx", "remark"])
    order = row_order(release.audit["draws"], N)
    assert not np.array_equal(order, np.arange(N))
    assert back["age"].cast(pa.float64()).to_pylist() == release.data["age"].cast(pa.float64()).take(order).to_pylist()
    assert [one or None for one in back["dx"].to_pylist()] == release.data["dx"].take(order).to_pylist()
    assert all(check.holds for check in done.checks)
    assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "out.audit.json", "out.note.md"])


def test_the_audit_knows_the_seed_and_the_note_does_not(release: tm.Release, tmp_path: Path) -> None:
    done = publish(release, tmp_path / "out.csv", plan={"a": 1})
    audit = json.loads(done.audit.read_text())
    assert (audit["seed"], audit["plan"], audit["rows"], audit["records"]) == (2**64 + 5, {"a": 1}, "shuffled", N)
    assert set(audit["file_sha256"]) == {str(tmp_path / "out.csv")}
    assert audit["seed"] == release.audit["seed"]
    assert audit["sha256"] == release.audit["sha256"]
    *checks, residue = audit["checks"]
    assert checks == [vars(check) for check in release.promise]
    assert residue["promise"] == NO_RESIDUE
    assert done.note.read_text() == methodology(done.release)


def test_order_can_be_kept(release: tm.Release, tmp_path: Path) -> None:
    done = publish(release, tmp_path / "out.parquet", keep_order=True)
    assert done.release.notes[-1].startswith("Rows are in the order of the original table")
    assert read_table(tmp_path / "out.parquet")["age"].to_pylist() == release.data["age"].to_pylist()


def test_formulas_are_defused(release: tm.Release, tmp_path: Path) -> None:
    publish(release, tmp_path / "safe.csv")
    publish(release, tmp_path / "raw.csv", escape_cells=False)
    assert "'=1+1" in (tmp_path / "safe.csv").read_text()
    assert "'=1+1" not in (tmp_path / "raw.csv").read_text()


def test_nothing_is_overwritten_without_force(release: tm.Release, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("precious")
    with pytest.raises(tm.DataError, match=r"out\.csv exists already"):
        publish(release, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "precious"
    publish(release, tmp_path / "out.csv", force=True)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == N + 1


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    release: tm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = writing.flush

    def late(path: Path) -> None:
        (tmp_path / "out.csv").write_text("from elsewhere")
        flush(path)

    monkeypatch.setattr(writing, "flush", late)
    with pytest.raises(tm.DataError, match=r"out\.csv exists already"):
        publish(release, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "from elsewhere"
    assert not list(tmp_path.glob(".*"))


def test_damage_on_the_way_to_disk_stops_the_release(
    release: tm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = written.write_table

    def damaged(batches: Any, *arguments: Any, **options: Any) -> None:
        table = batches.read_all()
        place = table.column_names.index("age")
        ages = table["age"].to_pylist()
        write(table.set_column(place, "age", pa.array([ages[0] + 1, *ages[1:]])), *arguments, **options)

    monkeypatch.setattr(written, "write_table", damaged)
    for target in ("out.csv", "out.parquet", "out/", "out.csv/"):
        with pytest.raises(tm.PromiseError, match="differs from what was written: column 'age'"):
            publish(release, f"{tmp_path}/{target}")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out/", "out.csv/", "sqlite:///base.db?table=out"])
def test_a_column_too_many_on_disk_stops_the_release(
    release: tm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write = written.write_table

    def with_names(batches: Any, *arguments: Any, **options: Any) -> None:
        write(batches.read_all().append_column("name", TABLE["name"]), *arguments, **options)

    monkeypatch.setattr(written, "write_table", with_names)
    with pytest.raises(tm.PromiseError, match=r"it has the columns 'age', 'dx', 'remark', 'name'\."):
        publish(release, target)
    assert not {path.name for path in tmp_path.iterdir()} - {"base.db"}


def test_leftovers_of_a_killed_run_are_swept_and_those_of_a_running_one_are_not(
    release: tm.Release, tmp_path: Path
) -> None:
    own = temporary_name(tmp_path / "out.csv", "part")
    dead, alive = (own.with_name(own.name.replace(f".{os.getpid()}-", f".{pid}-")) for pid in (4194303, os.getppid()))
    dead.touch()
    alive.touch()
    publish(release, tmp_path / "out.csv")
    assert (dead.exists(), alive.exists()) == (False, True)


def test_a_folder_that_is_not_there(release: tm.Release, tmp_path: Path) -> None:
    with pytest.raises(tm.DataError, match=r"cannot be written: No such file or directory"):
        publish(release, tmp_path / "no" / "out.csv")


@pytest.mark.parametrize("target", ["out/", "out.csv/", "out.csv.gz/"])
def test_a_folder(release: tm.Release, tmp_path: Path, target: str) -> None:
    done = publish(release, f"{tmp_path}/{target}")
    folder = tmp_path / target
    part = f"part-00000{''.join(folder.suffixes) or '.parquet'}"
    assert sorted(path.name for path in folder.iterdir()) == [MANIFEST, part]
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["records"] == N
    assert json.loads(done.audit.read_text())["file_sha256"] == {
        f"{folder.name}/{part}": manifest["files"][0]["sha256"]
    }
    assert (
        read_table(folder)["age"].to_pylist()
        == release.data["age"].take(row_order(release.audit["draws"], N)).to_pylist()
    )
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, "out.audit.json", "out.note.md"}


def test_from_a_release_to_a_table_and_a_report(release: tm.Release, tmp_path: Path) -> None:
    done = release.write(tmp_path / "out.csv", report=tmp_path / "report.html")
    other = publish(release, tmp_path / "other.csv")
    assert Path(done.tables[0]).read_bytes() == Path(other.tables[0]).read_bytes()
    assert (done.checks, done.note.read_text()) == (other.checks, other.note.read_text())
    assert "at least k = 4 records share every combination" in (tmp_path / "report.html").read_text()
    for target, report in (("out.csv", "new.html"), ("new.csv", "report.html"), ("new.csv", "no/report.html")):
        with pytest.raises(tm.DataError, match=r"exists already|report.html cannot be written: there is no such fol"):
            release.write(tmp_path / target, report=tmp_path / report)
        assert not list(tmp_path.glob("new*"))
    release.write(str(tmp_path / "out.csv"), report=str(tmp_path / "report.html"), force=True)


@pytest.mark.parametrize("make", [pa.Table.to_pandas, pl.from_arrow], ids=["pandas", "polars"])
def test_tables_of_every_kind_give_the_same_file(release: tm.Release, tmp_path: Path, make: Any) -> None:
    other = tm.protect(make(TABLE), SCHEMA, tm.Microaggregation(4), seed=2**64 + 5)
    for one, name in ((release, "arrow.csv"), (other, "other.csv")):
        one.write(tmp_path / name)
    assert (tmp_path / "arrow.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_several_copies_are_several_files(tmp_path: Path) -> None:
    release = tm.protect(TABLE.drop_columns(["remark"]), tm.Schema(list(SCHEMA.values())[:3]), _twice(), seed=2**64)
    done = publish(release, tmp_path / "out.csv.gz")
    assert [Path(name).name for name in done.tables] == ["out-1.csv.gz", "out-2.csv.gz"]
    assert read_table(tmp_path / "out-1.csv.gz").num_rows == read_table(tmp_path / "out-2.csv.gz").num_rows == N


def _twice() -> tm.Imputation:
    return tm.Imputation(attributes=["age"], given=["dx"], copies=2)


def test_a_table_of_a_database(release: tm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = f"sqlite:///{tmp_path / 'base.db'}?table=protected"
    done = publish(release, target)
    assert sorted(read_table(target)["age"].to_pylist()) == sorted(release.data["age"].to_pylist())
    assert (done.audit.name, done.note.name) == ("protected.audit.json", "protected.note.md")
    with pytest.raises(tm.DataError, match="exists already"):
        publish(release, target)
    publish(release, target, force=True)


def test_damage_on_the_way_to_a_database_keeps_the_old_table(
    release: tm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = f"sqlite:///{tmp_path / 'base.db'}?table=protected"
    publish(release, target)
    before = read_table(target)
    monkeypatch.setattr(read_back, "_equal", lambda a, b: False)
    with pytest.raises(tm.PromiseError, match="differs from what was written"):
        publish(release, target, force=True)
    assert read_table(target).equals(before)
