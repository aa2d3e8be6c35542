"""What holds for all files that are written, and for what cannot be read."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from taxomask.errors import DataError
from taxomask.microdata.files import FORMATS, format_of, open_table, read_table, write_table

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})
NAMES = ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.arrow", "a.feather", "a.xlsx", "a.sav", "a.dta", "a.xpt"]


@pytest.mark.parametrize("name", NAMES)
def test_files_are_private_and_not_overwritten(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    old = os.umask(0)
    try:
        write_table(TABLE, path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_table(path).to_pydict() == TABLE.to_pydict()
    with pytest.raises(DataError, match=rf"{name} exists already.\nChoose another name"):
        write_table(TABLE.slice(1), path)
    path.chmod(0o644)
    write_table(TABLE.slice(1), path, force=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_table(path).to_pydict() == {"a": [2], "b": ["y"]}


@pytest.mark.parametrize("name", NAMES)
def test_every_format_from_every_other(tmp_path: Path, name: str) -> None:
    for other in NAMES:
        write_table(TABLE, tmp_path / f"in-{other}")
        source = open_table(tmp_path / f"in-{other}")
        write_table(source.read(), tmp_path / name, like=source, force=True)
        assert read_table(tmp_path / name).to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize("name", NAMES)
def test_half_a_file_is_removed(tmp_path: Path, name: str) -> None:
    def pieces() -> Iterator[Any]:
        yield TABLE.to_batches()[0]
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write_table(pa.RecordBatchReader.from_batches(TABLE.schema, pieces()), tmp_path / name)
    with pytest.raises(ZeroDivisionError):
        write_table(TABLE, tmp_path / name, check=lambda written: written.read().num_rows / 0)  # type: ignore[arg-type,return-value]
    assert not list(tmp_path.iterdir())


def test_a_check_reads_what_was_written(tmp_path: Path) -> None:
    seen: list[Any] = []
    table = pa.table({"code": ["038", "=1"], "n": [1, 2]})
    write_table(table, tmp_path / "a.csv", check=lambda written: seen.append(written.read()))
    kinds = [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    for kind in kinds:  # text, too
        other = table.set_column(0, "code", table["code"].cast(kind))
        write_table(other, tmp_path / "a.csv", force=True, check=lambda written: seen.append(written.read()))
    assert seen == [table] * 4


@pytest.mark.parametrize("name", NAMES)
def test_no_space_left_on_the_device(small_disk: Path, name: str) -> None:
    rng = random.Random(1)
    table = pa.table({"a": [rng.random() for _ in range(100_000)]})
    with pytest.raises(DataError, match=r"(?i)space left"):
        write_table(table, small_disk / name)
    assert not list(small_disk.iterdir())


def test_no_space_left_for_sqlite(small_disk: Path) -> None:
    where = f"sqlite:///{small_disk}/a.db?table=t"
    write_table(TABLE, where)
    with pytest.raises(DataError, match=r"disk is full.\nNothing was changed"):
        write_table(pa.table({"a": list(range(100_000))}), where, force=True)
    assert read_table(where).equals(TABLE)


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none/a\.csv: there is no such folder"):
        write_table(TABLE, tmp_path / "none" / "a.csv")
    with pytest.raises(DataError, match="is a folder without tables"):
        open_table(tmp_path)


@pytest.mark.usefixtures("nobody")
def test_folders_and_files_that_may_not_be_read() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "a.csv").write_text("a\n1\n")
        (folder / "a.csv").chmod(0)
        with pytest.raises(DataError, match=r"a\.csv cannot be read: Permission denied.\nCheck who may read"):
            open_table(folder / "a.csv")
        folder.chmod(0)
        with pytest.raises(DataError, match=r"b\.csv cannot be read: Permission denied"):
            open_table(folder / "b.csv")
        with pytest.raises(DataError, match=r"b\.csv cannot be written: Permission denied"):
            write_table(TABLE, folder / "b.csv")
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_names_that_say_no_format() -> None:
    with pytest.raises(
        DataError, match=r"a\.parket: the suffix does not say in which format.*\nDid you mean '\.parquet'"
    ):
        format_of("a.parket")
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("a.xlsx", "python_calamine", "formats"), ("a.sav", "pyreadstat", "formats"), ("a.dta", "pyreadstat", "formats")],
)
def test_a_package_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str, extra: str
) -> None:
    write_table(TABLE, tmp_path / name)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("TAXOMASK_TRUST_FILES", "1")  # in a child it would be there
    with pytest.raises(
        DataError, match=rf"needs the package {module}.*\nInstall it with: pip install 'taxomask\[{extra}\]'"
    ):
        open_table(tmp_path / name)


def test_postgresql_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(DataError, match=r"pip install 'taxomask\[sql\]'"):
        open_table("postgresql://localhost/db?table=t")
