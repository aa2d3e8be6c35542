"""Tables that come and go as files, folders and tables of databases."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, all_sorts, on_engine, outcome
from taxomask.engines import DaskCluster, Threads, Workers
from taxomask.microdata.files import MANIFEST, open_table, read_table, shown, write_table
from taxomask.release import written as way_out
from taxomask.release.places import audit_path, beside
from taxomask.release.released import row_order
from taxomask.release.written import PART

TEXT = ("id", "weight", "sex", "grade", "region", "dx", "job", "remark")
METHOD = tm.Pipeline((tm.Microaggregation(4, block_size=60, attributes=("age", "income", "dx", "sex")), tm.Shuffling()))
SOURCES = ["table.parquet", "table.csv", "folder of parquet", "folder of csv", "sqlite", "postgresql"]
ALIKE = ("method", "parameters", "versions", "sha256", "checks", "notes", "linked")
TARGETS = ["out.parquet", "out.csv", "out.csv.gz", "out/", "out.csv/", "out.csv.gz/", "sqlite", "postgresql"]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """From the name of a place and of a table to where it is."""
    monkeypatch.chdir(tmp_path)  # audits of databases lie here

    def located(name: str, table: str) -> str:
        if name == "sqlite":
            return f"sqlite:///{tmp_path}/{table}.db?table={table}"
        if name == "postgresql":
            return f"{request.getfixturevalue('postgresql')}&table={table}_{os.getpid()}_{tmp_path.name[-3:]}"
        return f"{tmp_path}/{name}"

    return located


def written(where: str) -> None:
    """The table of all sorts, as far as the place has room for them: no dictionaries, and in SQLite no dates."""
    table = all_sorts()
    for place, name in enumerate(table.column_names):
        if pa.types.is_dictionary(table[name].type):
            table = table.set_column(place, name, table[name].cast(pa.string()))
        if pa.types.is_date(table[name].type) and where.startswith("sqlite"):
            table = table.set_column(place, name, table[name].cast(pa.int32()))
    if "folder of" not in where:
        write_table(table, where)
        return
    Path(where).mkdir()
    for number, start in enumerate(range(0, table.num_rows, 100)):
        write_table(table.slice(start, 100), Path(where) / f"{number}.{where.rpartition(' ')[2]}")


def in_memory(source: str) -> tm.Release:
    return tm.protect(read_table(source, text=TEXT), SCHEMA, METHOD, seed=SEED)


@pytest.mark.parametrize("source", SOURCES)
def test_sources(local: Threads, place: Callable[[str, str], str], source: str) -> None:
    where = place(source, "source")
    written(where)
    found = on_engine(local, where, METHOD, place("out/", ""), text=TEXT)
    expected = in_memory(where)
    assert found.table.equals(expected.data.take(row_order(expected.audit["draws"], 237)))
    assert set(expected.promise) <= set(found.release.promise)  # a file is looked at in more ways than a table
    assert found.release.notes == expected.notes
    assert found.release.audit["sha256"] == expected.audit["sha256"]


@pytest.mark.parametrize("target", TARGETS)
def test_targets(local: Threads, place: Callable[[str, str], str], target: str) -> None:
    where, source = place(target, "target"), place("folder of csv", "")
    written(source)
    check_target(local, source, where, place(target.replace("out", "memory"), "memory"))


@pytest.mark.parametrize("target", ["out.csv", "out/", "sqlite"])
def test_nothing_is_overwritten_without_force(
    parquet: Path, local: Threads, place: Callable[[str, str], str], target: str
) -> None:
    where = place(target, "target")
    on_engine(local, parquet, tm.Rounding(5), where)
    before = read_table(where)
    with pytest.raises(tm.DataError, match="exists already"):
        on_engine(local, parquet, tm.Rounding(7), where)
    assert read_table(where).equals(before)
    on_engine(local, parquet, tm.Rounding(7), where, force=True)
    assert not read_table(where).equals(before)
    assert not list(Path().glob(".*"))


def check_target(workers: Workers, source: str, target: str, memory: str) -> None:
    """What is written is what is written from memory."""
    like = open_table(source, text=TEXT)
    found = on_engine(workers, source, METHOD, target, text=TEXT, like=like, plan={"a": 1})
    here = outcome(in_memory(source), memory, like=like, plan={"a": 1})
    assert read_table(target, text=TEXT[1:]).equals(read_table(memory, text=TEXT[1:]))
    assert list(found.files.values()) == list(here.files.values())
    assert found.release.promise == here.release.promise
    assert len(found.release.promise) > 4
    audit, other = (json.loads(audit_path(one).read_text()) for one in (target, memory))
    assert (audit["records"], audit["seed"], audit["rows"], audit["files"]) == (237, SEED, "shuffled", [shown(target)])
    assert audit["plan"] == {"a": 1}
    other["notes"] = [note for note in other["notes"] if "was released before" not in note]  # it lies beside the first
    assert [audit[name] for name in ALIKE] == [other[name] for name in ALIKE]
    assert list(audit["file_sha256"].values()) == list(other["file_sha256"].values())
    notes = audit_path(target), beside(target, ".note.md")
    for path in (*notes, *([Path(target)] if "://" not in target else [])):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert not list(Path().glob(".*"))


@pytest.mark.parametrize(
    ("source", "target", "memory"),
    [
        ("postgresql", "postgresql", "postgresql"),
        ("folder of csv", "out.csv/", "memory.csv/"),
        ("sqlite", "out.csv", "memory.csv"),
    ],
)
def test_on_a_cluster(
    two_workers: DaskCluster, place: Callable[[str, str], str], source: str, target: str, memory: str
) -> None:
    written(place(source, "source"))
    check_target(two_workers, place(source, "source"), place(target, "target"), place(memory, "memory"))


# --------------------------------------------------------------------------------------- folders that are written


def test_a_folder_holds_its_parts_and_a_manifest(parquet: Path, local: Threads, tmp_path: Path) -> None:
    out = on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out.v1.parquet/").where
    assert sorted(path.name for path in out.iterdir()) == [MANIFEST, "part-00000.v1.parquet"]
    manifest = json.loads((out / MANIFEST).read_text())
    audit = json.loads((tmp_path / "out.audit.json").read_text())
    (part,) = manifest["files"]
    assert manifest["records"] == 237
    assert part["bytes"] == (out / part["name"]).stat().st_size
    assert audit["file_sha256"] == {f"out.v1.parquet/{part['name']}": part["sha256"]}
    (out / part["name"]).write_bytes((out / part["name"]).read_bytes() + b"!")
    with pytest.raises(tm.DataError, match=f"does not hold the files of its {MANIFEST}"):
        open_table(out)


@pytest.mark.parametrize("keep_order", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_many_parts(two_workers: DaskCluster, local: Threads, tmp_path: Path, keep_order: bool) -> None:
    n = PART + 1000
    table = pa.table({"a": pa.array(range(n), pa.int32()), "b": pa.array([None, 1, 2, 3] * (n // 4), pa.int8())})
    schema = tm.Schema([tm.Attribute("a", role="quasi_identifier", kind="continuous"), tm.Attribute("b", role="other")])
    (tmp_path / "data").mkdir()
    for number, start in enumerate(range(0, n, 300_007)):
        pq.write_table(table.slice(start, 300_007), tmp_path / "data" / f"{number}.parquet")
    options = {"schema": schema, "keep_order": keep_order}
    first, second = (
        on_engine(engine, tmp_path / "data", tm.Rounding(10), f"{tmp_path}/{number}/", **options)
        for number, engine in enumerate((local, two_workers))
    )
    assert first.files == second.files
    assert sorted(first.files) == [MANIFEST, "part-00000.parquet", "part-00001.parquet"]
    assert open_table(first.where / "part-00000.parquet").n == PART
    expected = tm.protect(table, schema, tm.Rounding(10), seed=SEED)
    order = range(n) if keep_order else row_order(expected.audit["draws"], n)
    assert first.table.equals(expected.data.take(pa.array(order)))


def test_what_is_overwritten_stays_until_the_new_one_is_whole(
    parquet: Path, local: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out/")
    before = {path.name: path.read_bytes() for path in out.where.iterdir()}
    monkeypatch.setattr(way_out, "stop_if_broken", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        on_engine(local, parquet, tm.Rounding(7), f"{tmp_path}/out/", force=True)
    assert {path.name: path.read_bytes() for path in out.where.iterdir()} == before
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_appears_meanwhile_is_not_overwritten(
    parquet: Path, local: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = way_out.stop_if_broken

    def late(*given: Any) -> None:
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "precious").touch()
        stop(*given)

    monkeypatch.setattr(way_out, "stop_if_broken", late)
    with pytest.raises(tm.DataError, match="out exists already"):
        on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out/")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def damaged_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk keeps another number than the one written."""
    write = way_out.write_table

    def damaged(batches: pa.RecordBatchReader, *arguments: object, **options: object) -> None:
        table = batches.read_all()
        place = table.column_names.index("age")
        ages = [(age or 0) + 1 for age in table["age"].to_pylist()]
        write(table.set_column(place, "age", pa.array(ages)), *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(way_out, "write_table", damaged)


@pytest.mark.usefixtures("damaged_on_the_way")
@pytest.mark.parametrize("target", ["out/", "out.csv/", "out.parquet", "out.csv"])
def test_damage_on_the_way_to_disk_stops_the_release(
    parquet: Path, local: Threads, tmp_path: Path, target: str
) -> None:
    with pytest.raises(
        tm.PromiseError, match=r"what was read back from disk differs from what was written: column 'age'"
    ):
        on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/{target}")
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------- several tables


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("out.csv.gz", ["out-1.csv.gz", "out-2.csv.gz"]),
        ("out.csv/", ["out-1.csv/", "out-2.csv/"]),
        ("sqlite", ["target.db?table=target_1", "target.db?table=target_2"]),
    ],
)
def test_several_copies(
    local: Threads, parquet: Path, place: Callable[[str, str], str], target: str, names: list[str]
) -> None:
    method = tm.Imputation(attributes=("age",), given=("sex",), copies=2)
    found = on_engine(local, parquet, method, place(target, "target"))
    assert [
        table.removeprefix(place("", "")).removeprefix(f"sqlite:///{Path().resolve()}/") for table in found.tables
    ] == names
    expected = tm.protect(read_table(parquet), SCHEMA, method, seed=SEED)
    order, copies = row_order(expected.audit["draws"], 237), expected.copies
    ages = [read_table(table)["age"].cast(pa.float64()) for table in found.tables]
    assert ages == [copy["age"].take(order).cast(pa.float64()) for copy in copies]
    assert ages[0] != ages[1]
    assert not list(Path().glob(".*"))
    with pytest.raises(tm.DataError, match="exists already"):
        on_engine(local, parquet, method, place(target, "target"))


# --------------------------------------------------------------------------------------- tables with nothing in them


def test_a_text_that_is_empty_in_several_files(local: Threads, tmp_path: Path) -> None:
    schema = tm.Schema(
        [
            tm.Attribute("id", role="identifier"),
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("rest", role="other"),
        ]
    )
    table = pa.table({"id": [f"p{place}" for place in range(16)], "age": range(16), "rest": [None] * 15 + [""]})
    (tmp_path / "data").mkdir()
    for start in (0, 8):
        pq.write_table(table.slice(start, 8), tmp_path / "data" / f"{start}.parquet", row_group_size=1)
    found = on_engine(local, tmp_path / "data", tm.Microaggregation(2), f"{tmp_path}/out/", schema=schema)
    assert sorted(found.table["rest"].to_pylist(), key=str) == ["", *[None] * 15]


def test_a_table_without_rows_and_one_whose_records_are_all_dropped(local: Threads, tmp_path: Path) -> None:
    pq.write_table(all_sorts().slice(0, 0), tmp_path / "in.parquet")
    with pytest.raises(tm.DataError, match=r"in\.parquet has columns but no rows"):
        on_engine(local, tmp_path / "in.parquet", tm.Microaggregation(3), f"{tmp_path}/out/")
    table = all_sorts(30)
    place = table.column_names.index("dx")
    pq.write_table(table.set_column(place, "dx", pa.array(["no code"] * 30)), tmp_path / "in.parquet")
    with pytest.raises(tm.DataError) as error:
        on_engine(local, tmp_path / "in.parquet", tm.Microaggregation(3), f"{tmp_path}/out/")
    with pytest.raises(tm.DataError) as same:
        tm.protect(read_table(tmp_path / "in.parquet"), SCHEMA, tm.Microaggregation(3))
    assert str(error.value) == str(same.value)
