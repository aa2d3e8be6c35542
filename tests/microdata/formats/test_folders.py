"""Folders of Parquet or CSV files, read as one table."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from taxomask.errors import DataError
from taxomask.microdata.files import MANIFEST, open_table, read_table, write_table


def column(*values: Any, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"a": pa.array(values, kind), "b": [str(value) for value in values]})


def folder_of(path: Path, *tables: pa.Table | str) -> Path:
    folder = path / "folder"
    folder.mkdir()
    for number, table in enumerate(tables):
        if isinstance(table, str):
            (folder / f"{number}.csv").write_text(table)
        else:
            pq.write_table(table, folder / f"{number}.parquet")
    return folder


def test_files_come_in_the_order_of_their_names_and_some_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, value in (("part-10", 3), ("part-02", 2), ("Part-99", 1)):
        pq.write_table(column(value), folder / f"{name}.parquet")
    for name in ("_SUCCESS", ".part-00.crc", "_metadata"):
        (folder / name).write_text("nothing to read")
    source = open_table(folder)
    assert (source.format, source.names, source.n, source.where) == ("folder", ("a", "b"), 3, str(folder))
    assert source.read().to_pydict() == {"a": [1, 2, 3], "b": ["1", "2", "3"]}
    assert source.read(["b"]).to_pydict() == {"b": ["1", "2", "3"]}
    assert read_table(f"{folder}/").num_rows == 3
    with pytest.raises(DataError, match=r"there is no column 'c'"):
        source.read(["c"])


def test_pieces_are_read_one_after_the_other(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, column(1, 2, 3), column(4), column(5, 6))
    batches = open_table(folder).batches(2)
    assert [batch.num_rows for batch in batches] == [2, 1, 1, 2]
    write_table(open_table(folder).batches(2), tmp_path / "one.parquet")
    assert read_table(tmp_path / "one.parquet").equals(read_table(folder))


@pytest.mark.parametrize(
    ("tables", "kind", "values"),
    [
        ([column(1), column(2, kind=pa.int8())], pa.int64(), [1, 2]),
        ([column(1), column(2.5)], pa.float64(), [1.0, 2.5]),
        ([column(None, kind=pa.null()), column("x")], pa.string(), [None, "x"]),
        ([column("x", kind=pa.large_string()), column("y")], pa.large_string(), ["x", "y"]),
        ([column(kind=pa.int64()), column(2)], pa.int64(), [2]),
        (["a,b\n1,x\n", "a,b\n2.5,y\n"], pa.float64(), [1.0, 2.5]),
        (["a,b\n038,x\n", "a,b\nE10,y\n"], pa.string(), ["038", "E10"]),
        (["a,b\n,x\n", "a,b\n3,y\n"], pa.int64(), [None, 3]),
        (["a,b\n1,x\n", "a,b\n2001-02-03,y\n"], pa.string(), ["1", "2001-02-03"]),
        (["a;b\n1,5;x\n", "a,b\n2.5,y\n"], pa.float64(), [1.5, 2.5]),  # each in its own dialect
        (["a,b\n1,x\n", "b,a\ny,2\n"], pa.int64(), [1, 2]),
        (["a,b\n", "a,b\n1,x\n"], pa.int64(), [1]),
    ],
)
def test_types_that_go_together(tmp_path: Path, tables: list[Any], kind: pa.DataType, values: list[Any]) -> None:
    source = open_table(folder_of(tmp_path, *tables))
    table = source.read()
    assert (table["a"].type, table["a"].to_pylist()) == (kind, values)
    assert source.batches(1).read_all().equals(table)


def test_dictionaries_of_different_files(tmp_path: Path) -> None:
    one, other = (
        pa.table({"a": pa.array(values).dictionary_encode().cast(pa.dictionary(index, pa.string()))})
        for values, index in ((["x", "y"], pa.int8()), (["z", "x"], pa.int32()))
    )
    table = read_table(folder_of(tmp_path, one, other))
    assert pa.types.is_dictionary(table["a"].type)
    assert table["a"].to_pylist() == ["x", "y", "z", "x"]


@pytest.mark.parametrize(
    "tables",
    [
        [column(1), column("x")],
        [column(True), column(1)],
        [column(dt.date(2000, 1, 1)), column(1)],
        [column("x"), pa.table({"a": pa.array(["x"]).dictionary_encode(), "b": ["x"]})],
    ],
)
def test_types_that_do_not_go_together(tmp_path: Path, tables: list[pa.Table]) -> None:
    source = open_table(folder_of(tmp_path, *tables))
    with pytest.raises(
        DataError, match=r"folder: column 'a' has types that do not go together.*\nWrite the files again"
    ):
        source.read()


@pytest.mark.parametrize("pieces", [False, True])
def test_a_number_that_the_common_type_cannot_hold(tmp_path: Path, pieces: bool) -> None:
    source = open_table(folder_of(tmp_path, column(0.5), column(2**60 + 1)))
    with pytest.raises(DataError, match=r"1\.parquet: in the other files 'a' is double.*1152921504606846977"):
        source.batches(2).read_all() if pieces else source.read()


def test_columns_that_are_not_in_all_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, column(1), column(1).rename_columns(["a", "c"]))
    with pytest.raises(DataError, match=r"1\.parquet: column 'b', 'c' is not in all files of the folder.\nAll files"):
        open_table(folder)


def test_what_a_folder_must_not_hold(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, column(1), "a,b\n1,x\n")
    with pytest.raises(DataError, match=r"folder holds tables of the format csv and parquet.\nMake it a folder of"):
        open_table(folder)
    (folder / "1.csv").unlink()
    (folder / "year=2020").mkdir()
    with pytest.raises(DataError, match=r"folder has folders in it: 'year=2020'.\nPut all files"):
        open_table(folder)
    (folder / "year=2020").rename(folder / "_year")
    assert open_table(folder).n == 1
    (folder / "0.parquet").rename(folder / "_0.parquet")
    with pytest.raises(DataError, match=r"folder is a folder without tables.\nName a file, or a folder of Parquet"):
        open_table(folder)
    write_table(column(1), folder / "0.xlsx")
    with pytest.raises(DataError, match="tables of the format excel"):
        open_table(folder)


def test_a_file_that_is_not_whole_is_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, column(*range(1000)), column(*range(1000)))
    content = (folder / "1.parquet").read_bytes()
    for damaged in (content[:-9], content[:100]):
        (folder / "1.parquet").write_bytes(damaged)
        with pytest.raises(DataError, match=r"1\.parquet is not a whole Parquet file"):
            open_table(folder)
    (folder / "1.parquet").write_bytes(content[:50] + bytes(500) + content[550:])
    with pytest.raises(DataError, match=r"1\.parquet is not a whole Parquet file"):
        open_table(folder).read()


def test_a_cell_too_many_is_found_where_it_is(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "a,b\n1,x\n", "a,b\n1,x\n2,y,z\n")
    with pytest.raises(DataError, match=r"1\.csv, line 3: row 2 has 3 cells"):
        open_table(folder).read()


@pytest.mark.parametrize("fault", ["gone", "more", "cut", "no manifest", "half a manifest"])
def test_a_manifest_must_be_kept_to(tmp_path: Path, fault: str) -> None:
    folder = folder_of(tmp_path, column(1), column(2))
    files = [{"name": path.name, "bytes": path.stat().st_size} for path in folder.iterdir()]
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    assert read_table(folder)["a"].to_pylist() == [1, 2]
    if fault == "gone":
        (folder / "0.parquet").unlink()
    elif fault == "more":
        pq.write_table(column(3), folder / "2.parquet")
    elif fault == "cut":
        (folder / "1.parquet").write_bytes((folder / "1.parquet").read_bytes()[:-1])
    elif fault == "half a manifest":
        (folder / MANIFEST).write_text((folder / MANIFEST).read_text()[:20])
    else:
        (folder / MANIFEST).unlink()
        assert read_table(folder).num_rows == 2
        return
    with pytest.raises(
        DataError, match=rf"folder does not hold the files of its {MANIFEST}.\nCopy or write the folder"
    ):
        open_table(folder)


@pytest.mark.usefixtures("nobody")
def test_a_folder_that_may_not_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    import tempfile

    folder = Path(tempfile.mkdtemp())
    folder.chmod(0)
    try:
        with pytest.raises(DataError, match=r"cannot be read: Permission denied.\nCheck who may read the folder"):
            open_table(folder)
    finally:
        folder.rmdir()
