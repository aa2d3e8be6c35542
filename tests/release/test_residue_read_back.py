"""What a writer leaves beside the cells stops the release: each format, written by one that was patched to leave it."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.microdata import files
from taxomask.microdata.files import open_table, write_table
from taxomask.release.residue import NO_RESIDUE
from taxomask.release.write import Options, write

GONE = "Aardvark keeper"  # the job of one person, and first of all
N = 60
TABLE = pa.table(
    {
        "id": [f"P-{52752 + 7 * i}" for i in range(N)],
        "age": [20 + i % 10 for i in range(N)],
        "job": [GONE, *(f"job {i % 3}" for i in range(N - 1))],
    }
)
SCHEMA = tm.Schema(
    [
        tm.Attribute("id", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("job", role="quasi_identifier", kind="nominal"),
    ]
)
RELEASE = tm.protect(TABLE, SCHEMA, tm.Microaggregation(5), seed=2**64)


def with_levels(table: pa.Table, gone: str = GONE) -> pa.Table:
    """Jobs as codes of levels, one of which does not occur."""
    levels = [gone, *dict.fromkeys(table["job"].to_pylist())]
    codes = pa.array([levels.index(job) for job in table["job"].to_pylist()], pa.int32())
    return table.set_column(
        2 if "id" in table.column_names else 1, "job", pa.DictionaryArray.from_arrays(codes, levels)
    )


def with_metadata(table: pa.Table, text: str = GONE) -> pa.Table:
    return table.replace_schema_metadata({"about": json.dumps({"first": [text]})})


def with_field_metadata(table: pa.Table) -> pa.Table:
    job = table.schema.field("job").with_metadata({"first": GONE})
    return table.cast(pa.schema([table.schema.field("age"), job]))


def parquet(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    return lambda path: pq.write_table(change(pq.read_table(path)), path)


def arrow(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def again(path: Path) -> None:
        table = change(pa.ipc.open_file(path.read_bytes()).read_all())
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    return again


def arrow_batch(path: Path) -> None:
    table = pa.ipc.open_file(path.read_bytes()).read_all()
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch, custom_metadata={"first": GONE})


def replaced(old: bytes, new: bytes, *, last: bool = False) -> Callable[[Path], None]:
    """Bytes in place of others, of which the first or the last are meant."""

    def change(path: Path) -> None:
        content = path.read_bytes()
        place = content.rindex(old) if last else content.index(old)
        path.write_bytes(content[:place] + new + content[place + len(old) :])

    return change


def workbook(member: str, text: str) -> Callable[[Path], None]:
    """One more part of a workbook, or one with something in place of something else: ``old -> new``."""

    def change(path: Path) -> None:
        with zipfile.ZipFile(path) as package:
            parts = {name: package.read(name) for name in package.namelist()}
        old, _, new = text.partition(" -> ")
        parts[member] = parts[member].replace(old.encode(), new.encode()) if new else text.encode()
        with zipfile.ZipFile(path, "w") as package:
            for name, content in parts.items():
                package.writestr(name, content)

    return change


def statistical(reader: str, writer: str, **options: Any) -> Callable[[Path], None]:
    import pyreadstat

    def again(path: Path) -> None:
        frame = pl.DataFrame(getattr(pyreadstat, reader)(str(path), output_format="dict")[0])
        getattr(pyreadstat, writer)(frame, str(path), **options)

    return again


def gzip_named(path: Path) -> None:
    content = gzip.decompress(path.read_bytes())
    with path.open("wb") as file, gzip.GzipFile(f"{GONE}.csv", "wb", fileobj=file) as packed:
        packed.write(content)


def between(path: Path) -> None:
    """Between the last column and the footer, where readers do not look."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + GONE.encode() + content[start:])


def low_age(path: Path) -> None:
    """The smallest age in the statistics of the footer."""
    least = pq.ParquetFile(path).metadata.row_group(0).column(0).statistics.min
    replaced(np.array(least).tobytes(), np.array(3, np.asarray(least).dtype).tobytes(), last=True)(path)


def page(path: Path) -> None:
    """The largest job in the statistics of a page, which stand behind the levels and before the footer."""
    largest = pq.ParquetFile(path).metadata.row_group(0).column(1).statistics.max.encode()
    levels, statistics, *rest = path.read_bytes().split(largest)
    path.write_bytes(largest.join([levels, b"job X".join([statistics, rest[0]]), *rest[1:]]))


PLANTED = {
    ("a.parquet", "levels"): parquet(with_levels),
    ("a.parquet", "metadata"): parquet(with_metadata),
    ("a.parquet", "metadata: an identifier"): parquet(lambda table: with_metadata(table, "came as P-52752 first")),
    ("a.parquet", "metadata of a column"): parquet(with_field_metadata),
    ("a.parquet", "statistics of the file"): replaced(b"job 0", b"job X", last=True),
    ("a.parquet", "statistics of a page"): page,
    ("a.parquet", "statistics of numbers"): low_age,
    ("a.parquet", "between the columns"): between,
    ("a.arrow", "levels"): arrow(with_levels),
    ("a.arrow", "metadata"): arrow(with_metadata),
    ("a.arrow", "metadata of a column"): arrow(with_field_metadata),
    ("a.arrow", "metadata of a batch"): arrow_batch,
    ("a.xlsx", "properties"): workbook("docProps/core.xml", f"<x><title>{GONE}</title></x>"),
    ("a.xlsx", "shared strings"): workbook("xl/sharedStrings.xml", f"<sst><si><t>{GONE}</t></si></sst>"),
    ("a.xlsx", "name of the sheet"): workbook("xl/workbook.xml", f'name="data" -> name="{GONE}"'),
    ("a.xlsx", "defined names"): workbook(
        "xl/workbook.xml", f"</sheets> -> </sheets><definedName name='x'>{GONE}</definedName>"
    ),
    ("a.xlsx", "a comment"): workbook("xl/comments1.xml", f"<comments><t>{GONE}</t></comments>"),
    ("a.xlsx", "a formula"): workbook(
        "xl/worksheets/sheet1.xml", f"</sheetData> -> </sheetData><dataValidation>{GONE}</dataValidation>"
    ),
    ("a.sav", "label of the file"): statistical("read_sav", "write_sav", file_label=GONE),
    ("a.sav", "notes"): statistical("read_sav", "write_sav", note=f"first of all: {GONE}"),
    ("a.sav", "labels"): statistical("read_sav", "write_sav", variable_value_labels={"age": {99.0: "very old"}}),
    ("a.sav", "labels of texts"): statistical("read_sav", "write_sav", variable_value_labels={"job": {"Gnu": "x"}}),
    ("a.zsav", "title"): statistical("read_sav", "write_sav", compress=True, column_labels={"age": "of P-52752"}),
    ("a.dta", "label of the file"): statistical("read_dta", "write_dta", file_label=GONE),
    ("a.dta", "labels"): statistical("read_dta", "write_dta", variable_value_labels={"age": {99: "very old"}}),
    ("a.dta", "title"): statistical("read_dta", "write_dta", column_labels={"age": "of P-52752"}),
    ("a.xpt", "label of the file"): statistical("read_xport", "write_xport", file_label=GONE),
    ("a.csv.gz", "name in gzip"): gzip_named,
}  # fmt: skip


def patched(name: str, plant: Callable[[Path], None]) -> tuple[files.Format, ...]:
    """The formats, the one of this name with a writer that leaves something."""

    def leaving(one: files.Format) -> files.Format:
        def written(batches: Any, path: Path, **options: Any) -> None:
            assert one.write is not None
            one.write(batches, path, **options)
            plant(path)

        return replace(one, write=written) if name.endswith(one.suffixes) else one

    return tuple(map(leaving, files.FORMATS))


@pytest.mark.parametrize(("name", "what"), PLANTED, ids=str)
def test_what_a_writer_leaves_stops_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: str
) -> None:
    monkeypatch.setattr(files, "FORMATS", patched(name, PLANTED[name, what]))
    with pytest.raises(tm.PromiseError, match=NO_RESIDUE):
        RELEASE.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["a.csv", "a.parquet", "a.arrow", "a.arrows", "a.xlsx", "a.sav", "a.zsav", "a.dta", "a.xpt", "a.parquet/"]
)
def test_what_we_write_leaves_nothing(tmp_path: Path, name: str) -> None:
    done = RELEASE.write(f"{tmp_path}/{name}")
    assert [check.promise for check in done.checks].count(NO_RESIDUE) == 1
    assert NO_RESIDUE in done.audit.read_text()


def test_numbers_under_missing_cells_do_not_go_out(tmp_path: Path) -> None:
    income = np.where(np.arange(N) == 7, 777.777, 100.5 + np.arange(N) % 4)
    hidden = pa.array(income, mask=np.arange(N) == 7)
    table = TABLE.select(["age"]).append_column("income", hidden)
    assert np.float64(777.777).tobytes() in hidden.buffers()[1].to_pybytes()
    schema = tm.Schema([SCHEMA["age"], tm.Attribute("income", role="other")])
    release = tm.protect(table, schema, tm.Microaggregation(5), seed=2**64)
    assert np.float64(777.777).tobytes() not in release.data["income"].chunk(0).buffers()[1].to_pybytes()
    release.write(tmp_path / "a.arrow")
    assert np.float64(777.777).tobytes() not in (tmp_path / "a.arrow").read_bytes()


def test_types_of_a_database_may_tell_too(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "in.db") as connection:
        connection.execute(f'CREATE TABLE people (age INTEGER, job "{GONE}")')
        rows = TABLE.select(["age", "job"]).to_pylist()
        connection.executemany("INSERT INTO people VALUES (:age, :job)", rows)
    source = open_table(f"sqlite:///{tmp_path}/in.db?table=people")
    release = tm.protect(source.read(), tm.Schema([SCHEMA["age"], SCHEMA["job"]]), tm.Microaggregation(5), seed=2**64)
    with pytest.raises(tm.PromiseError, match=f"the declaration of the table: '{GONE.lower()}'"):
        write(release, f"sqlite:///{tmp_path}/out.db?table=people", Options(like=source))
    assert not (tmp_path / "out.db").exists()


def test_a_database_keeps_nothing_of_what_is_overwritten_and_other_tables_are_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where audit and note go
    where = f"sqlite:///{tmp_path}/a.db?table=people"
    write_table(TABLE, where)  # the original, under the name of the release
    content = tmp_path / "a.db"
    assert GONE.encode() in content.read_bytes()
    done = RELEASE.write(where, force=True)
    assert GONE.encode() not in content.read_bytes()
    assert "other table" not in done.checks[-1].found
    write_table(TABLE, f"sqlite:///{tmp_path}/a.db?table=stays")
    done = RELEASE.write(where, force=True)
    assert done.checks[-1].found.endswith(
        "; the file holds 1 other table, not looked at: give on the table, not the file"
    )


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("role", ["other", "quasi_identifier"])
def test_levels_do_not_tell_the_order_of_the_original_rows(tmp_path: Path, name: str, role: str) -> None:
    """Dictionaries are made in the order in which rows first have a value: of texts of which each stands in one row,
    they were a list of the original rows."""
    texts = [f"remark {place}" for place in np.random.default_rng(4).permutation(N)]
    table = TABLE.select(["age"]).append_column("remark", pa.array(texts).dictionary_encode())
    kind = {} if role == "other" else {"kind": "nominal"}
    schema = tm.Schema([SCHEMA["age"], tm.Attribute("remark", role=role, **kind)])
    release = tm.protect(table, schema, tm.RandomSwapping(), seed=2**64)
    release.write(tmp_path / name)
    path = tmp_path / name
    written = pq.read_table(path) if name.endswith("parquet") else pa.ipc.open_file(path).read_all()
    column = written["remark"].unify_dictionaries().chunk(0).dictionary
    assert column.to_pylist() == sorted(texts)
    assert sorted(written["remark"].to_pylist()) == sorted(texts)


words = st.text("abcdefghijklmnopqrstuvwxyzäß0123456789 -", min_size=4, max_size=20).filter(
    lambda text: text.strip() == text
)


@settings(max_examples=40)
@given(
    gone=words,
    suffix=st.sampled_from([".parquet", ".arrow"]),
    plant=st.sampled_from([None, with_levels, with_metadata]),
)
def test_planted_texts_are_found_and_clean_files_pass(
    tmp_path_factory: pytest.TempPathFactory, gone: str, suffix: str, plant: Any
) -> None:
    gone = f"{gone} keeper"
    table = TABLE.set_column(2, "job", pa.array([gone, *TABLE["job"].to_pylist()[1:]]))
    release = tm.protect(table, SCHEMA, tm.Microaggregation(5), seed=2**64)
    again = parquet if suffix == ".parquet" else arrow
    target = tmp_path_factory.mktemp("out") / f"a{suffix}"
    with pytest.MonkeyPatch.context() as patch:
        if plant is not None:
            patch.setattr(files, "FORMATS", patched(suffix, again(lambda one: plant(one, gone))))
            with pytest.raises(tm.PromiseError, match=NO_RESIDUE):
                release.write(target)
            assert not list(target.parent.iterdir())
        else:
            assert release.write(target)


def test_a_title_that_speaks_of_a_value_goes_out_and_one_that_names_a_person_does_not(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame(TABLE.to_pandas())
    for title, stops in ((f"the job, such as {GONE}", False), ("the job of P-52752", True)):
        pyreadstat.write_sav(frame, tmp_path / "in.sav", column_labels={"job": title})
        source = open_table(tmp_path / "in.sav")
        release = tm.protect(source.read(), SCHEMA, tm.Microaggregation(5), seed=2**64)
        if stops:
            with pytest.raises(tm.PromiseError, match="the title of a column: 'p-52752'"):
                write(release, str(tmp_path / "out.sav"), Options(like=source, force=True))
        else:
            write(release, str(tmp_path / "out.sav"), Options(like=source))
            assert open_table(tmp_path / "out.sav").titles == {"job": title}
