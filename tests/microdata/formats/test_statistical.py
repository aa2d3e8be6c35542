"""SPSS, Stata and SAS files."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

from taxomask import examples
from taxomask.errors import DataError
from taxomask.microdata.files import _readstat, open_table, read_table, write_table

DATA = Path(__file__).parent / "data"
TABLE = pa.table(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "dx": ["038", None, "V57", "é"],
        "age": [30.5, None, -7.0, 41.0],
        "day": [dt.date(2020, 1, 2), None, dt.date(1850, 1, 1), dt.date(2001, 1, 1)],
        "stamp": [dt.datetime(2020, 1, 2, 3, 4, 5), None, None, dt.datetime(1999, 12, 31, 23, 59, 59)],
    }
)


def rewritten(path: Path, drop: tuple[str, ...] = ()) -> Path:
    source = open_table(path)
    target = path.with_name("again-" + path.name)
    write_table(source.read().drop_columns(list(drop)), target, like=source)
    return target


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    path = tmp_path / "stays.sav"
    pyreadstat.write_sav(
        pl.from_arrow(TABLE),
        path,
        file_label="Does not stay",
        note="Ask Ann",
        column_labels={"sex": "Sex of the patient", "dx": "Diagnosis"},
        variable_value_labels={"sex": {1: "male", 2: "female", 9: "not asked"}, "dx": {"V57": "rehabilitation"}},
        missing_ranges={"sex": [9], "age": [{"lo": -9, "hi": -1}], "dx": ["V57"]},
        variable_measure={"sex": "nominal", "age": "scale"},
        variable_display_width={"sex": 12},
        variable_format={"age": "F5.1", "day": "SDATE10"},
    )
    return path


def test_spss(spss: Path) -> None:
    source = open_table(spss)
    assert (source.format, source.n, source.names) == ("SPSS", 4, tuple(TABLE.column_names))
    assert source.read().equals(TABLE)
    assert source.titles == {"sex": "Sex of the patient", "dx": "Diagnosis"}
    assert source.labels["sex"] == {1: "male", 2: "female", 9: "not asked"}
    assert source.missing == {"sex": (9.0,), "age": (-7.0,), "dx": ("V57",)}  # of a range, the values that occur
    assert source.read(["age", "sex"]).column_names == ["age", "sex"]
    assert source.batches(3).read_all().equals(TABLE)


def test_spss_is_written_back_with_all_it_says(spss: Path) -> None:
    _, before = pyreadstat.read_sav(spss, user_missing=True)
    table, after = pyreadstat.read_sav(rewritten(spss), user_missing=True, output_format="polars")
    assert table.equals(pl.from_arrow(TABLE).with_columns(pl.col("dx").fill_null("")))
    for entry in (
        "column_names_to_labels", "variable_value_labels", "missing_ranges", "variable_measure",
        "variable_display_width", "original_variable_types",
    ):  # fmt: skip
        assert getattr(after, entry) == getattr(before, entry), entry
    assert after.notes == []  # who knows what they say


def test_columns_that_are_dropped_leave_nothing_behind(spss: Path) -> None:
    content = rewritten(spss, drop=("sex", "dx")).read_bytes()
    for word in (b"male", b"Sex of", b"rehabilitation", b"V57", b"Ann"):
        assert word in spss.read_bytes()
        assert word not in content


def test_zsav_and_labels_that_no_longer_fit(spss: Path) -> None:
    source = open_table(spss)
    target = spss.with_suffix(".zsav")
    write_table(pa.table({"sex": ["a", "b"], "age": [1, 2]}), target, like=source)
    again = open_table(target)
    assert again.read().to_pydict() == {"sex": ["a", "b"], "age": [1.0, 2.0]}
    assert again.labels == {}
    assert target.read_bytes().startswith(b"$FL3")


@pytest.fixture
def stata(tmp_path: Path) -> Path:
    path = tmp_path / "stays.dta"
    columns = [
        pl.Series("sex", [1, 2, "b", None, "a"], dtype=pl.Object),
        pl.Series("size", [1.5, "z", 2.0, None, 3.0], dtype=pl.Object),
        pl.Series("age", [30, None, -7, 41, 5], dtype=pl.Int32),
        pl.Series("dx", ["038", "", "V57", "é", "x"]),
    ]
    pyreadstat.write_dta(
        pl.DataFrame(columns),
        path,
        file_label="Does not stay",
        column_labels={"sex": "Sex of the patient"},
        variable_value_labels={"sex": {1: "male", 2: "female", "b": "not asked"}, "age": {-7: "unknown"}},
        missing_user_values={"sex": ["a", "b"], "size": ["z"]},
    )
    return path


def test_stata(stata: Path) -> None:
    source = open_table(stata)
    assert (source.format, source.n) == ("Stata", 5)
    assert source.read().to_pydict() == {
        "sex": ["1", "2", ".b", None, ".a"],
        "size": ["1.5", ".z", "2", None, "3"],
        "age": [30, None, -7, 41, 5],
        "dx": ["038", None, "V57", "é", "x"],
    }
    assert source.missing == {"sex": (".a", ".b"), "size": (".z",)}
    assert source.titles == {"sex": "Sex of the patient"}
    assert source.labels["sex"] == {1: "male", 2: "female", "b": "not asked"}


def test_stata_is_written_back_with_all_it_says(stata: Path) -> None:
    before, was = pyreadstat.read_dta(stata, user_missing=True, output_format="dict")
    after, now = pyreadstat.read_dta(rewritten(stata), user_missing=True, output_format="dict")
    assert {name: list(values) for name, values in after.items()} == before
    for entry in ("column_names_to_labels", "variable_value_labels", "missing_user_values"):
        assert getattr(now, entry) == getattr(was, entry), entry
    assert now.readstat_variable_types == was.readstat_variable_types


def test_masked_stata_columns(stata: Path) -> None:
    source = open_table(stata)
    table = pa.table({"sex": ["1.5", ".b", None], "age": [30.5, -7.0, None], "big": [2**40, 1, None]})
    target = stata.with_name("masked.dta")
    write_table(table, target, like=source)
    again = open_table(target)
    assert again.read().to_pydict() == {"sex": ["1.5", ".b", None], "age": [30.5, -7.0, None], "big": [2**40, 1, None]}
    assert again.missing == {"sex": (".b",)}
    assert again.labels["age"] == {-7: "unknown"}
    write_table(pa.table({"sex": ["m", ".b"]}), target, like=source, force=True)
    assert open_table(target).read()["sex"].to_pylist() == ["m", ".b"]


@pytest.mark.parametrize("version", [5, 8])
def test_sas_transport(tmp_path: Path, version: int) -> None:
    path = tmp_path / "stays.xpt"
    pyreadstat.write_xport(pl.from_arrow(TABLE), path, column_labels={"sex": "Sex"}, file_format_version=version)
    source = open_table(path)
    names = [name.upper() if version == 5 else name for name in TABLE.column_names]
    assert source.read().rename_columns(TABLE.column_names).equals(TABLE)
    assert list(source.titles.values()) == ["Sex"]
    again = open_table(rewritten(path))
    assert list(again.names) == list(source.names)
    assert [name.upper() for name in again.names] == [name.upper() for name in names]
    assert again.read().equals(source.read())
    assert again.titles == source.titles
    assert again.version == version  # type: ignore[attr-defined]


def test_sas_is_read_and_not_written(tmp_path: Path) -> None:
    source = open_table(DATA / "discharges.sas7bdat")
    example = read_table(examples.path(), text=["dx01"]).slice(0, 200)
    assert (source.format, source.n) == ("SAS", 200)
    assert source.read(["dx01", "age"]).to_pydict() == example.select(["dx01", "age"]).to_pydict()
    assert source.titles["dx01"] == "First diagnosis"
    assert source.missing == {}
    with pytest.raises(DataError, match="SAS files can only be read"):
        write_table(example, tmp_path / "a.sas7bdat")


def test_columns_in_pieces(spss: Path, stata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[Any] = [open_table(path).read() for path in (spss, stata)]
    monkeypatch.setattr(_readstat, "_ROWS", 2)
    assert [open_table(path).read() for path in (spss, stata)] == whole


@pytest.mark.parametrize(
    ("name", "kind"), [("stays.sav", "SPSS"), ("stays.dta", "Stata"), ("stays.xpt", "SAS transport")]
)
def test_truncated_files(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    write_table(TABLE.slice(0, 3), path)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match=rf"{name} is not a whole {kind} file.*\nSave it again"):
        open_table(path).read()
    shutil.copy(DATA / "discharges.sas7bdat", tmp_path / "a.sas7bdat")
    (tmp_path / "a.sas7bdat").write_bytes((DATA / "discharges.sas7bdat").read_bytes()[:5000])
    with pytest.raises(DataError, match=r"a\.sas7bdat is not a whole SAS file"):
        open_table(tmp_path / "a.sas7bdat").read()


def test_names_that_a_format_refuses(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.sav cannot be written.*\nRename or change the column"):
        write_table(pa.table({"1 a b": [1]}), tmp_path / "a.sav")
    assert not (tmp_path / "a.sav").exists()
