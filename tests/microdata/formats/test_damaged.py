"""Files with wrong bytes in them: the message names the file and says what to do, and this process goes on."""

from __future__ import annotations

import contextlib
import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.files import TABLE as PEOPLE
from fuzz.files import crashing, labelled
from taxomask._support import apart
from taxomask.errors import DataError
from taxomask.microdata import infer
from taxomask.microdata.files import open_table, write_table
from taxomask.microdata.files.dialect import _cells

TABLE = pa.table(
    {"age": [30, None, 41], "dx": ["038", "250", "é"], "sex": pa.array(["f", "m", "f"]).dictionary_encode()}
)


def refusal(path: Path, text: bool = False) -> str:
    """What is said of a file that is opened, read and looked at."""
    with pytest.raises(DataError) as error:
        infer(open_table(path, text=text).read())
    assert str(path) in error.value.message
    assert error.value.hint
    return error.value.message


# --------------------------------------------------------------------------------------- text files


@pytest.mark.parametrize("quotes", [40_000, 40_001, 120_000, 250_000])
@pytest.mark.parametrize("text", ["a,b\n1,{}\n2,x\n", "a,b\n1,x{}y\n2,x\n", "{},b\n1,x\n"])
def test_a_run_of_quotes_takes_no_time(tmp_path: Path, quotes: int, text: str) -> None:
    (tmp_path / "a.csv").write_text(text.format('"' * quotes))
    with contextlib.suppress(DataError):  # it was begun anew at every quote, which took minutes
        open_table(tmp_path / "a.csv", text=True).read()


def test_cells_as_they_are_written() -> None:
    text = 'name;age;note\r\n"a ""b""";12;\r\n"two\nlines";"3,5";x"y"\r\n;"";"z"\r\n"open'
    found = ['"a ""b"""', "12", '"two\nlines"', '"3,5"', 'x"y"', '""', '"z"', '"open']
    assert list(_cells(text, ";")) == found
    assert list(_cells('a,b\n"x"y,1\n', ",")) == ["1"]  # broken ones are passed over


def test_two_byte_order_marks(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    for content in (mark * 2 + b"a,b\n1,2\n", mark * 3 + b"a,b\n1,2\n"):
        (tmp_path / "a.csv").write_bytes(content)
        assert "begins with two byte order marks" in refusal(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe" + "\ufeffa,b\n1,2\n".encode("utf-16-le"))
    assert "begins with two byte order marks" in refusal(tmp_path / "a.csv")


def test_a_header_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n" * 30 + "a,b\n1,2\n")
    assert "the first line is empty" in refusal(tmp_path / "a.csv")


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_that_is_too_short_is_found_in_pieces_too(tmp_path: Path, packed: bool) -> None:
    content = b"a,b\n" + b"x,y\n" * 1000 + b"z\n"
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=r"a\.csv, line 1002: row 1001 has 1 cells, the header has 2"):
        open_table(path, text=True).batches(100).read_all()
    assert "line 1002" in refusal(path, text=True)


def test_names_that_no_file_has(tmp_path: Path) -> None:
    for name in ("a\0b.csv", "a\ud800.csv"):
        with pytest.raises(DataError, match=r"is not the name of a file\.\nCheck the path"):
            open_table(tmp_path / name)


# --------------------------------------------------------------------------------------- values that cannot be


def broken_text() -> Any:
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])


def broken_category() -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([5], pa.int32()), pa.array(["a"]), safe=False)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("trusted", ["0", "1"])
def test_values_are_validated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, trusted: str) -> None:
    monkeypatch.setenv("TAXOMASK_TRUST_FILES", trusted)
    path = tmp_path / f"a.{suffix}"
    write_table(pa.table({"a": broken_text()}), path)
    assert "is not a whole" in refusal(path)
    if suffix != "parquet":  # which cannot be written so
        write_table(pa.table({"a": broken_category()}), path, force=True)
        assert "is not a whole Arrow file" in refusal(path)


def test_rows_that_are_announced_and_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [7] * 1000}), path)
    content = path.read_bytes()
    at = content.rindex(b"\xd0\x0f\x19")  # 1000, before the list of row groups
    path.write_bytes(content[:at] + b"\xd2\x0f\x19" + content[at + 3 :])
    assert "is not a whole Parquet file" in refusal(path)


# --------------------------------------------------------------------------------------- the child


@pytest.mark.parametrize("suffix", ["sav", "dta", "xpt", "parquet", "arrow", "xlsx"])
def test_a_child_reads_unless_the_file_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    write_table(TABLE, path)
    expected = open_table(path).read()
    monkeypatch.setattr(apart, "_idle", [])
    monkeypatch.setattr(apart.sys, "executable", "/bin/false")
    with pytest.raises(apart.EngineError, match="could not work"):
        open_table(path)
    assert open_table(path, trusted=True).read().equals(expected)
    monkeypatch.setenv("TAXOMASK_TRUST_FILES", "1")
    assert open_table(path).read().equals(expected)


def test_bytes_that_make_libraries_crash(tmp_path: Path) -> None:
    for suffix, changes in (
        ("sav", [(180, 255)]),  # the width of the first column
        ("sav", [(1576, 255)]),
        ("parquet", [(628, 3)]),  # the types of the columns
        ("parquet", [(626, 0), (730, 127)]),
    ):
        path = tmp_path / f"a.{suffix}"
        write_table(PEOPLE.slice(0, 6), path, force=True)
        content = bytearray(labelled(path) if suffix == "sav" else path.read_bytes())
        for place, value in changes:
            content[place] = value
        path.write_bytes(content)
        with contextlib.suppress(DataError):  # it differs between versions of the libraries
            infer(open_table(path).read())
    crashing(tmp_path / "a.sav")
    message = refusal(tmp_path / "a.sav")
    assert "a.sav: the file is damaged: the library that reads it broke down on it (Segmentation fault)" in message
    labelled(tmp_path / "a.sav")
    assert open_table(tmp_path / "a.sav").read().num_rows == 24


def test_the_command_line_names_a_file_that_makes_its_library_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    crashing(path)
    command = [sys.executable, "-m", "taxomask", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"taxomask: {path}: the file is damaged: the library that reads it broke down on it (Segmentation fault).\n"
        "Copy or download it again, or save it again with the program that wrote it.\n"
    )
    assert list(tmp_path.iterdir()) == [path]


def test_names_of_files_are_those_that_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("one", "two"):  # the child goes where this process goes
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        write_table(pa.table({folder: [1]}), "a.parquet")
        assert open_table("a.parquet").names == (folder,)
    Path("a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"^a\.parquet is not a whole Parquet file"):
        open_table("a.parquet")


def test_a_file_that_is_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": range(1_000_000)}), path, row_group_size=1000)
    pieces = open_table(path).batches(10)
    assert next(iter(pieces)).num_rows == 10
    del pieces
    assert open_table(path).read().num_rows == 1_000_000
