"""Tables that come and go as files, folders and tables of databases."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from taxomask.engines.coding import open_stored
from taxomask.publishing import publish, row_order
from taxomask.spreading import protect_stored, publish_stored

import taxomask as tm
from engines.conftest import SCHEMA, SEED, all_sorts, on_engine
from taxomask import spreading
from taxomask.engines import DaskEngine, Engine, LocalEngine, Store
from taxomask.microdata.files import MANIFEST, open_table, read_table, write_table

TEXT = ("id", "weight", "sex", "grade", "region", "dx", "job", "remark")
METHOD = tm.Pipeline((tm.Microaggregation(4, block_size=60, attributes=("age", "income", "dx", "sex")), tm.Shuffling()))
SOURCES = ["table.parquet", "table.csv", "folder of parquet", "folder of csv", "sqlite", "postgresql"]
TARGETS = ["out.parquet", "out.csv", "out.csv.gz", "out/", "out.csv/", "out.csv.gz/", "sqlite", "postgresql"]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """From the name of a place and of a table to where it is."""
    monkeypatch.chdir(tmp_path)  # audits of databases lie here

    def located(name: str, table: str) -> str:
        if name == "sqlite":
            return f"sqlite:///{tmp_path}/register.db?table={table}"
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
def test_sources(local: LocalEngine, place: Callable[[str, str], str], source: str) -> None:
    where = place(source, "source")
    written(where)
    found = on_engine(local, where, METHOD, place("out/", ""), text=TEXT)
    expected = in_memory(where)
    assert found.table.equals(expected.data.take(row_order(SEED, 237)))
    assert (found.release.promise, found.release.notes) == (expected.promise, expected.notes)


@pytest.mark.parametrize("target", TARGETS)
def test_targets(local: LocalEngine, place: Callable[[str, str], str], target: str) -> None:
    where, source = place(target, "target"), place("folder of csv", "")
    written(source)
    check_target(local, source, where, place(target.rstrip("/").replace("out", "memory"), "memory"))


@pytest.mark.parametrize("target", ["out.csv", "out/", "sqlite"])
def test_nothing_is_overwritten_without_force(
    parquet: Path, local: LocalEngine, place: Callable[[str, str], str], target: str
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


def check_target(engine: Engine, source: str, target: str, memory: str, **options: bool) -> None:
    """What is written is what is written from memory, to a file if the target is a folder."""
    release, done = protected(engine, source, target, **options)
    if Path(memory).suffix == "":
        memory += ".parquet" * ("://" not in memory)
    publish(in_memory(source), memory, like=open_table(source, text=TEXT), force=True)
    found, expected = (read_table(one, text=TEXT[1:]) for one in (target, memory))
    assert found.equals(expected)
    if target.endswith(".csv"):
        assert Path(target).read_bytes() == Path(memory).read_bytes()
    assert all(check.holds for check in release.promise)
    assert len(release.promise) > 4
    audit = json.loads(done.audit.read_text())
    assert (audit["records"], audit["seed"], audit["rows"], audit["files"]) == (237, SEED, "shuffled", [target])
    for path in (done.audit, done.note, *([Path(target)] if "://" not in target else [])):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert not list(Path().glob(".*"))


@pytest.mark.parametrize(
    ("source", "target", "memory"),
    [
        ("postgresql", "postgresql", "postgresql"),
        ("folder of csv", "out.csv/", "memory.csv"),
        ("sqlite", "out.csv", "memory.csv"),
    ],
)
def test_on_a_cluster(
    two_workers: DaskEngine, place: Callable[[str, str], str], source: str, target: str, memory: str
) -> None:
    written(place(source, "source"))
    check_target(two_workers, place(source, "source"), place(target, "target"), place(memory, "memory"))


def protected(engine: Engine, source: str, target: str, **options: bool) -> tuple[tm.Release, spreading.Publication]:
    like = open_table(source, text=TEXT)
    with Store.temporary(Path("taxomask")) as store:
        site = open_stored(source, SCHEMA, store, engine, text=TEXT)
        release = protect_stored(site, METHOD, seed=SEED)
        return publish_stored(site, release, target, like=like, note=lambda checked: "A note.", **options)


# --------------------------------------------------------------------------------------- folders that are written


def test_a_folder_holds_its_parts_and_a_manifest(parquet: Path, local: LocalEngine, tmp_path: Path) -> None:
    out = on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out.v1.parquet/").where
    assert sorted(path.name for path in out.iterdir()) == [MANIFEST, "part-00000.v1.parquet"]
    manifest = json.loads((out / MANIFEST).read_text())
    audit = json.loads((tmp_path / "out.audit.json").read_text())
    (part,) = manifest["files"]
    assert manifest["records"] == 237
    assert part["bytes"] == (out / part["name"]).stat().st_size
    assert audit["file_sha256"] == {part["name"]: part["sha256"]}
    (out / part["name"]).write_bytes((out / part["name"]).read_bytes() + b"!")
    with pytest.raises(tm.DataError, match=f"does not hold the files of its {MANIFEST}"):
        open_table(out)


@pytest.mark.parametrize("keep_order", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_many_parts(two_workers: DaskEngine, local: LocalEngine, tmp_path: Path, keep_order: bool) -> None:
    n = spreading.PART + 1000
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
    assert open_table(first.where / "part-00000.parquet").n == spreading.PART
    expected = tm.protect(table, schema, tm.Rounding(10), seed=SEED).data
    order = range(n) if keep_order else row_order(SEED, n)
    assert first.table.equals(expected.take(pa.array(order)))


def test_what_is_overwritten_stays_until_the_new_one_is_whole(
    parquet: Path, local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out/")
    before = {path.name: path.read_bytes() for path in out.where.iterdir()}
    monkeypatch.setattr(spreading, "stop_if_broken", lambda checks: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        on_engine(local, parquet, tm.Rounding(7), f"{tmp_path}/out/", force=True)
    assert {path.name: path.read_bytes() for path in out.where.iterdir()} == before
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_appears_meanwhile_is_not_overwritten(
    parquet: Path, local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = spreading.stop_if_broken

    def late(checks: tuple[object, ...]) -> None:
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "precious").touch()
        stop(checks)

    monkeypatch.setattr(spreading, "stop_if_broken", late)
    with pytest.raises(tm.DataError, match="out exists already"):
        on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/out/")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def damaged_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk keeps another number than the one written."""
    write = spreading.write_table

    def damaged(batches: pa.RecordBatchReader, *arguments: object, **options: object) -> None:
        table = batches.read_all()
        place = table.column_names.index("age")
        ages = [(age or 0) + 1 for age in table["age"].to_pylist()]
        write(table.set_column(place, "age", pa.array(ages)), *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(spreading, "write_table", damaged)


@pytest.mark.usefixtures("damaged_on_the_way")
@pytest.mark.parametrize("target", ["out/", "out.csv/", "out.parquet", "out.csv"])
def test_damage_on_the_way_to_disk_stops_the_release(
    parquet: Path, local: LocalEngine, tmp_path: Path, target: str
) -> None:
    with pytest.raises(
        tm.PromiseError, match=r"what was read back from disk differs from what was written: column 'age'"
    ):
        on_engine(local, parquet, tm.Rounding(5), f"{tmp_path}/{target}")
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------- what cannot be spread


@pytest.mark.parametrize(
    "method",
    [
        tm.Imputation(attributes=("age",), given=("sex",), copies=2),
        tm.Pipeline((tm.Rounding(5), tm.Imputation(attributes=("age",), given=("sex",), copies=2))),
        tm.Imputation(synthesis="full"),
    ],
    ids=["copies", "pipeline", "full"],
)
def test_several_tables_and_new_records_need_memory(
    parquet: Path, local: LocalEngine, tmp_path: Path, method: tm.Imputation
) -> None:
    schema = tm.Schema(
        [tm.Attribute("remark", role="identifier") if name == "remark" else one for name, one in SCHEMA.items()]
    )
    with pytest.raises(tm.PlanError, match=r"makes several tables, or records of its own.*\nWrite 'engine: memory'"):
        on_engine(local, parquet, method, f"{tmp_path}/out/", schema=schema)
    assert not list(tmp_path.iterdir())


def test_a_table_without_rows_and_one_whose_records_are_all_dropped(local: LocalEngine, tmp_path: Path) -> None:
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
