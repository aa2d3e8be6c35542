from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask.errors import DataError
from taxomask.microdata.files import excel, open_table, write_table

TABLE = pa.table(
    {
        "code": ["038", None, "=1+1", 'a<b>&"c"'],
        "age": [30, None, -4, 2**53],
        "share": [0.1, None, 1e-300, 34.333333333333336],
        "day": [dt.date(2020, 2, 29), None, dt.date(1900, 3, 1), dt.date(9999, 12, 31)],
        "stamp": [dt.datetime(2020, 1, 2, 3, 4, 5), None, None, dt.datetime(1999, 12, 31, 23, 59, 59)],
        "time": [dt.time(3, 4, 5), None, None, dt.time(23, 59, 59)],
        "yes": [True, None, False, True],
    }
)


def test_values_come_back(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "a.xlsx")
    source = open_table(tmp_path / "a.xlsx")
    assert (source.format, source.n, source.names) == ("excel", 4, tuple(TABLE.column_names))
    assert source.read().to_pydict() == TABLE.to_pydict()
    assert source.read(["yes", "age"]).column_names == ["yes", "age"]
    write_table(TABLE, tmp_path / "b.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_the_sheet_keeps_its_name(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "a.xlsx")
    source: Any = open_table(tmp_path / "a.xlsx")
    assert source.sheet == "data"
    source.sheet = 'stays & "more"'
    write_table(TABLE, tmp_path / "b.xlsx", like=source)
    again: Any = open_table(tmp_path / "b.xlsx")
    assert again.sheet == 'stays & "more"'


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, cells: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "cells.xlsx"
    write_table(pa.table({"a": [*cells, "x"]}), path, force=True)
    found = open_table(path).read()["a"].to_pylist()
    assert found == [cell or None for cell in [*cells, "x"]]


def test_mixed_cells_are_text_and_dates_before_1900_too(tmp_path: Path) -> None:
    write_table(pa.table({"a": [dt.date(1850, 1, 1), dt.date(2020, 1, 1)]}), tmp_path / "a.xlsx")
    assert open_table(tmp_path / "a.xlsx").read()["a"].to_pylist() == ["1850-01-01", "2020-01-01"]


def test_what_excel_cannot_hold(tmp_path: Path) -> None:
    for table, message in (
        (pa.table({f"c{number}": [1] for number in range(16_385)}), "at most 16,384 columns"),
        (pa.table({"a": pa.nulls(1_048_576)}), "at most 1,048,575 rows"),
        (pa.table({"a": ["x" * 32_768]}), "at most 32,767 characters"),
        (pa.table({"a": [[1]]}), "column 'a' holds list<.*>, which Excel cannot hold"),
    ):
        with pytest.raises(DataError, match=message):
            write_table(table, tmp_path / "a.xlsx")
        assert not (tmp_path / "a.xlsx").exists()


def test_headers(tmp_path: Path) -> None:
    write_table(pa.table({"": [1], "b": [2]}), tmp_path / "a.xlsx")
    assert open_table(tmp_path / "a.xlsx").names == ("column 1", "b")
    write_table(pa.table({"": [1], "b": [2], " ": [3]}), tmp_path / "e.xlsx")
    with pytest.raises(DataError, match=r"e\.xlsx: most columns of sheet 'data' have no name"):
        open_table(tmp_path / "e.xlsx")
    write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "b.xlsx")
    with pytest.raises(DataError, match=r"b\.xlsx: column 'a' stands more than once"):
        open_table(tmp_path / "b.xlsx")
    write_table(pa.table({}), tmp_path / "c.xlsx")
    with pytest.raises(DataError, match=r"c\.xlsx: the sheet 'data' is empty"):
        open_table(tmp_path / "c.xlsx")
    write_table(pa.table({"a": pa.nulls(0)}), tmp_path / "d.xlsx")
    with pytest.raises(DataError, match=r"d\.xlsx has columns \('a'\) but no rows"):
        open_table(tmp_path / "d.xlsx").read()


def test_truncated_and_foreign_zip_files(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "a.xlsx")
    whole = (tmp_path / "a.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "photos.xlsx", "w") as package:
        package.writestr("a.txt", "no workbook")
    (tmp_path / "cut.xlsx").write_bytes(whole[:-100])
    with pytest.raises(DataError, match=r"cut.xlsx is not a whole Excel file.*\nSave it again"):
        open_table(tmp_path / "cut.xlsx")
    with pytest.raises(
        DataError, match=r"photos.xlsx is a packed file, and no Excel workbook.\nSave the table as .xlsx"
    ):
        open_table(tmp_path / "photos.xlsx")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/workbook.xml", b" " * 20_000_000)
    bomb = packed.getvalue()
    assert len(bomb) < 30_000
    small = (1000).to_bytes(4, "little")
    lying = bomb.replace((20_000_000).to_bytes(4, "little"), small)  # it says that it unpacks to 1 kB
    monkeypatch.setattr(excel, "LARGEST", 10_000_000)
    for content in (bomb, lying):
        (tmp_path / "bomb.xlsx").write_bytes(content)
        with pytest.raises(DataError, match=r"bomb\.xlsx unpacks to more than 9 MB"):
            open_table(tmp_path / "bomb.xlsx", trusted=True)  # a child would know nothing of the smaller limit


def test_formulas_whose_values_were_not_saved_are_an_error_and_no_empty_column(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = "notes"
    book.active.append(["a", "b"])
    book.active.append([1, "=A2"])
    stays = book.create_sheet("stays & more")
    for row in ([None, "from", "to", "days"], [None, 3, 7, "=C2-B2"], [None, 4, 9, "=C3-B3"]):
        stays.append(row)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="column 'days' holds formulas, and the file does not hold") as caught:
        open_table(f"{tmp_path / 'a.xlsx'}#stays & more")
    assert "save it again" in caught.value.hint
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {name: package.read(name) for name in package.namelist()}
    sheet = "xl/worksheets/sheet2.xml"
    parts[sheet] = parts[sheet].replace(b"</f><v></v>", b"</f><v>4</v>").replace(b"</f><v />", b"</f><v>4</v>")
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    assert open_table(f"{tmp_path / 'b.xlsx'}#stays & more").read()["days"].to_pylist() == [4, 4]
    del book["stays & more"]
    book["notes"]["B2"] = None
    book.save(tmp_path / "c.xlsx")
    assert open_table(tmp_path / "c.xlsx").read()["b"].null_count == 1  # an empty column is one
