from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask import examples
from taxomask.errors import DataError
from taxomask.microdata.files import delimited, open_table, read_table, write_table
from taxomask.microdata.files.dialect import Dialect


def rewritten(path: Path, **options: Any) -> bytes:
    """What is written for a file that was read and not changed."""
    target = path.with_name("again-" + path.name)
    source = open_table(path)
    write_table(source.read(), target, like=source, **options)
    return target.read_bytes()


@pytest.mark.parametrize(
    ("content", "dialect"),
    [
        (b"a,b\n1,x\n", Dialect()),
        (b"a;b\r\n1,5;x\r\n2,0;y\r\n", Dialect(";", decimal=",", line_end="\r\n")),
        (b"a\tb\r1\tx\r", Dialect("\t", line_end="\r")),
        (b"a|b\n1|\n", Dialect("|")),
        (codecs.BOM_UTF8 + "a,b\n1,ä\n".encode(), Dialect(encoding="utf-8-sig")),
        (codecs.BOM_UTF16_LE + "a;b\r\n1;äλ\r\n".encode("utf-16-le"), Dialect(";", "utf-16-le", line_end="\r\n")),
        (codecs.BOM_UTF16_BE + "a,b\n1,ä\n".encode("utf-16-be"), Dialect(encoding="utf-16-be")),
        ("a,b\n1,Müller €\n".encode("cp1252"), Dialect(encoding="cp1252")),
        (b'"a","b"\n"1","x"\n', Dialect(quoting="all")),
        (b'"a","b"\n1,"x"\n2,""\n', Dialect(quoting="text")),
        (b'a,b\n1,"x, ""y""\nz"\n2,w\n', Dialect()),
        (b"a,b\n2020-01-02T03:04:05,2020-01-02\n", Dialect(time_sign="T")),
        (b"a,b\n2020-01-02 03:04:05,01:02:03\n", Dialect()),
        (b"a,b\nTRUE,true\nFALSE,false\n", Dialect()),
        (b"a,b\n1.0,-2.5\n3.0,1e+20\n", Dialect()),
        (b"a\n1\n\n3\n", Dialect()),
        (b" a, b\n x, y\n", Dialect()),
    ],
)
def test_written_back_in_the_same_dialect(tmp_path: Path, content: bytes, dialect: Dialect) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    assert open_table(path).dialect == dialect
    assert rewritten(path) == content


def test_gzip_is_written_by_the_suffix_with_the_same_bytes_every_time(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,x\n"))
    packed = rewritten(path)
    assert gzip.decompress(packed) == b"a,b\n1,x\n"
    (tmp_path / "again-data.csv.gz").unlink()
    assert rewritten(path) == packed


def test_the_name_decides_on_the_format_of_a_temporary_file(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "b": ["x"]})
    write_table(table, tmp_path / "temporary", name="data.TSV.gz")
    assert gzip.decompress((tmp_path / "temporary").read_bytes()) == b"a\tb\n1\tx\n"


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('name;weight\n"a";3,14\n"b";-2\n"c";\n')
    assert open_table(path).read().to_pydict() == {"name": ["a", "b", "c"], "weight": [3.14, -2.0, None]}
    assert rewritten(path) == b'"name";"weight"\n"a";3,14\n"b";-2,0\n"c";\n'


def test_commas_between_digits_are_no_decimals_when_they_delimit(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,5\n2,7\n")
    assert open_table(path).dialect.decimal == "."


def test_the_shipped_example_comes_back_byte_by_byte(tmp_path: Path) -> None:
    path = tmp_path / "discharges.csv"
    path.write_bytes(gzip.decompress(Path(examples.path()).read_bytes()))
    source = open_table(path, text=True)
    write_table(source.read(), tmp_path / "again.csv", like=source)
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_all_types_come_back(tmp_path: Path) -> None:
    table = pa.table(
        {
            "float": [1.0, None, 0.1],
            "int": pa.array([1, None, -3], pa.int16()),
            "text": pa.array(["x", None, "038"]).dictionary_encode(),
            "date": pa.array([0, 1, None], pa.date32()),
            "stamp": pa.array([0, 1, None], pa.timestamp("s")),
            "zoned": pa.array([0, 1, None], pa.timestamp("s", "UTC")),
        }
    )
    write_table(table, tmp_path / "a.csv")
    again = read_table(tmp_path / "a.csv", text=["text"])
    assert again.to_pydict() == table.to_pydict()
    assert again.schema.types == [
        pa.float64(), pa.int64(), pa.string(), pa.date32(), pa.timestamp("s"), pa.timestamp("s", "UTC"),
    ]  # fmt: skip


def test_a_type_that_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"column 'a' holds list<.*>, which a text file cannot hold"):
        write_table(pa.table({"a": [[1, 2]]}), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_letter_that_the_encoding_lacks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\nMüller,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="'λ' cannot be written in cp1252"):
        write_table(pa.table({"a": ["λ"]}), tmp_path / "b.csv", like=open_table(path))


# --------------------------------------------------------------------------------------- formulas

CELLS = ["=1+1", "+A1", "-A1", "@sum", "-1", "+3,5", "-", "x=1", "'=1", "''@x", "'", None, "-1e5", "--1", "\tx"]


def test_formulas_are_disarmed_and_numbers_left(tmp_path: Path) -> None:
    table = pa.table({"=name": CELLS, "number": pa.array(range(-7, 8))})
    write_table(table, tmp_path / "a.csv")
    found = read_table(tmp_path / "a.csv", text=True)
    assert found.column_names == ["'=name", "number"]
    assert found["'=name"].to_pylist() == [
        "'=1+1", "'+A1", "'-A1", "'@sum", "-1", "+3,5", "-", "x=1", "''=1", "'''@x", "'", None, "-1e5", "'--1", "'\tx",
    ]  # fmt: skip
    assert found["number"][0].as_py() == "-7"
    assert open_table(tmp_path / "a.csv", text=["=name"], safe_cells=True).read().equals(table)


def test_formulas_as_they_are_on_demand(tmp_path: Path) -> None:
    write_table(pa.table({"a": ["=1"]}), tmp_path / "a.csv", safe_cells=False)
    assert (tmp_path / "a.csv").read_text() == "a\n=1\n"


@given(st.lists(st.text(alphabet="=+-@'\"\t\r\n,;x1ä ", min_size=1), min_size=1, max_size=8), st.booleans())
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, cells: list[str], safe: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    table = pa.table({"a": cells, "b": cells[::-1]})
    write_table(table, path, safe_cells=safe, force=True)
    assert open_table(path, text=True, safe_cells=safe).read().to_pydict() == table.to_pydict()
    for line in read_table(path, text=True)["a"].to_pylist() if safe else []:
        assert line[0] not in "=@\t\r"


# --------------------------------------------------------------------------------------- streams


def test_a_column_that_turns_to_text_in_the_last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", 1 << 16)
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        file.write("code,empty,size,day\n")
        file.writelines(f"{number},,{number},2020-01-01\n" for number in range(20_000))
        file.write("V57,x,0.5,2020-01-01 10:00:00\n")
    assert path.stat().st_size > 5 << 16  # several blocks
    source = open_table(path)
    pieces = list(source.batches(1_000))
    assert max(piece.num_rows for piece in pieces) <= 1_000
    table = pa.Table.from_batches(pieces)
    assert table.schema.types == [pa.string(), pa.string(), pa.float64(), pa.timestamp("s")]
    assert table.slice(20_000).to_pylist()[0]["code"] == "V57"
    assert table["code"][7].as_py() == "7"
    assert open_table(path).read().equals(table)
    assert open_table(path).read(["size"]).equals(table.select(["size"]))


def test_a_stream_from_file_to_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "1,5;x\n" * 1000)
    source = open_table(path)
    write_table(source.batches(100), tmp_path / "b.csv", like=source)
    assert (tmp_path / "b.csv").read_bytes() == path.read_bytes()


# --------------------------------------------------------------------------------------- bad input


def test_control_characters_may_stand_in_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n\x1b[2J,ä\n".encode())
    assert open_table(path).read().to_pydict() == {"a": ["\x1b[2J"], "b": ["ä"]}
    assert rewritten(path) == path.read_bytes()


def test_an_inch_is_no_open_quote(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n5" pipe,1\nx,2\n')
    assert open_table(path).read()["a"].to_pylist() == ['5" pipe', "x"]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"a,b\n1,2\n3\n", "bad.csv, line 3: row 2 has 1 cells, the header has 2.", "as many cells as the header"),
        (b'a,b\n1,"x\ny"\n\n1,2,3\n', "bad.csv, line 5: row 3 has 3 cells, the header has 2.", "as many cells"),
        (b"a,b\n" + b"1,2\n" * 1_100_000 + b"3\n", "line 1100002: row 1100001 has 1 cells", "as many cells"),
        (b'a,b\n1,2\n1,"x\n' + b"1,2\n" * 1_100_000, "line 3: in row 2 a quote is opened and not closed", "Close it"),
        (b'a,b\n1,2\n1,"x\n3,4\n', "line 3: in row 2 a quote is opened and not closed", "Close it"),
        (b'a,b\n"1,' + b"x" * 200_000, "the first rows cannot be read", "A quote may not be closed"),
        ("a,b\nä,ö\nü,ß\n".encode() + b"1,\xe4\n", "line 4: byte 0xe4 is not text in UTF-8.", "iconv"),
        (b"a,b\n1,\xe4\n2,\x81\n", "line 2: byte 0xe4 is not text in UTF-8.", "iconv"),
        (codecs.BOM_UTF8 + b"a,b\n1,\xe4\n", "line 2: byte 0xe4 is not text in UTF-8-SIG.", "iconv"),
        (codecs.BOM_UTF16_LE + "a,b\n1,2\n".encode("utf-16-le") + b"\x00", "is not text in UTF-16-LE", "UTF-8"),
        (bytes(range(256)) * 10, "is not a table: it holds bytes that no text holds.", "Parquet"),
        (bytes(range(1, 256)) * 10, "is not a table", "Parquet"),
        (
            bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600),
            "is an old Excel workbook (.xls), or one with a password",
            ".xlsx",
        ),
        (gzip.compress(bytes(range(256)), mtime=0), "is not a table", "Parquet"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str, hint: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_table(path, text=True).read()
    assert message in caught.value.message
    assert hint in caught.value.hint
