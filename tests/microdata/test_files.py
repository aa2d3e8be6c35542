from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from taxomask.errors import DataError
from taxomask.microdata import read_table
from taxomask.microdata.files import open_table

CSV = 'code,age,"na,me"\n038,30,Ann\n250,,"Bob\nBobson"\n"",41,NA\n'


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_csv(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.csv", CSV))
    assert table.to_pydict() == {
        "code": [38, 250, None],
        "age": [30, None, 41],
        "na,me": ["Ann", "Bob\nBobson", "NA"],
    }


def test_text_keeps_leading_zeros(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.csv", CSV), text=True)
    assert table["code"].to_pylist() == ["038", "250", None]
    assert table["age"].to_pylist() == ["30", None, "41"]


def test_some_columns_as_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", CSV)
    assert read_table(path, ["code", "age"], text=["code"]).to_pydict() == {
        "code": ["038", "250", None],
        "age": [30, None, 41],
    }
    with pytest.raises(DataError, match=r"there is no column 'coed'.\nDid you mean 'code'"):
        read_table(path, text=["coed"])


def test_columns_are_chosen_and_ordered(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", CSV)
    assert read_table(path, ["na,me", "age"]).column_names == ["na,me", "age"]
    with pytest.raises(DataError, match=r"a\.csv: there is no column 'agee'.\nDid you mean 'age'\?"):
        read_table(path, ["agee"])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimiter_and_gzip_are_recognised(tmp_path: Path, delimiter: str, packed: bool) -> None:
    text = f"\ufeffa{delimiter}b{delimiter}c\n1{delimiter}x y{delimiter}3\n"
    data = text.encode()
    path = write(tmp_path / "data.txt", gzip.compress(data) if packed else data)
    assert read_table(path).to_pydict() == {"a": [1], "b": ["x y"], "c": [3]}


def test_one_column_and_commas_in_quotes(tmp_path: Path) -> None:
    assert read_table(write(tmp_path / "a.csv", "a\n1\n2\n")).to_pydict() == {"a": [1, 2]}
    path = write(tmp_path / "b.csv", 'a;b\n"1,2,3";"x,y"\n"4,5,6";z\n')
    assert read_table(path).to_pydict() == {"a": ["1,2,3", "4,5,6"], "b": ["x,y", "z"]}


def test_numbers_at_first_and_text_further_down(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number}\n" for number in range(200_000))
    table = read_table(write(tmp_path / "a.csv", f"a,b\n{rows}V57,1\n"))
    assert table.schema.types == [pa.string(), pa.int64()]
    assert table["a"][-1].as_py() == "V57"
    assert table["a"][7].as_py() == "7"


def test_parquet_and_arrow(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": pa.array(["x", None]).dictionary_encode()})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather", compression="uncompressed")
    with pa.OSFile(str(tmp_path / "a.arrows"), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    for name in ("a.parquet", "a.feather", "a.arrows"):
        assert read_table(tmp_path / name).to_pydict() == table.to_pydict()
        assert read_table(tmp_path / name, ["b"]).column_names == ["b"]
        with pytest.raises(DataError, match="there is no column 'c'"):
            read_table(tmp_path / name, ["c"])


def test_truncated_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "a.parquet")
    feather.write_feather(pa.table({"a": [1, 2]}), tmp_path / "a.feather")
    for name, kind in (("a.parquet", "Parquet"), ("a.feather", "Arrow")):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(DataError, match=rf"{name} is not a whole {kind} file"):
            read_table(path)
    packed = write(tmp_path / "a.csv.gz", gzip.compress(CSV.encode() * 100)[:-30])
    with pytest.raises(DataError, match=r"a\.csv\.gz is not a whole gzip file"):
        read_table(packed)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"", "is empty.", "header line"),
        (b" \n\n", "is empty.", "header line"),
        (b"a,b,a\n1,2,3\n", "column 'a' stands more than once.", "Rename one of them."),
        (b"a,b\n1,2\n3\n", "line 3: row 2 has 1 cells, the header has 2.", "as many cells as the header"),
        (b"a,b\n\xc3\xa4,1\n1,\xe4\n", "line 3: byte 0xe4 is not text in UTF-8", "iconv"),
        (b"a,b\n\xc3\xa4,\xc3\xa4\n" + b"1,2\n" * 20_000 + b"1,\xe4\n", "line 20003: byte 0xe4", "iconv"),
    ],
)
def test_bad_csv(tmp_path: Path, content: bytes, message: str, hint: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path / "bad.csv", content), text=True)
    assert "bad.csv" in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_header_without_rows(tmp_path: Path) -> None:
    for header in ("a,b\n", "a,b"):
        path = write(tmp_path / "a.csv", header)
        assert read_table(path).to_pydict() == {"a": [], "b": []}
        with pytest.raises(DataError, match=r"a\.csv has columns \('a', 'b'\) but no rows.\nCheck that it is complete"):
            open_table(path).read()


def test_no_such_file_and_folders(tmp_path: Path) -> None:
    write(tmp_path / "data.csv", CSV)
    with pytest.raises(DataError, match=r"dta\.csv: there is no such file.\nDid you mean 'data\.csv'\?"):
        read_table(tmp_path / "dta.csv")
    (tmp_path / "data.csv").unlink()
    with pytest.raises(DataError, match="is a folder without tables"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        read_table(tmp_path / "none" / "a.csv")
