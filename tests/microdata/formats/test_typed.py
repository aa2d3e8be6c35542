"""Parquet and Arrow: types are kept."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from taxomask.microdata.files import open_table, write_table

TABLE = pa.table(
    {
        "a.b": pa.array([1, None, 3], pa.int8()),
        "a": pa.array(["x", None, "y"]).dictionary_encode(),
        "day": [dt.date(2020, 1, 2), None, dt.date(1900, 1, 1)],
        "sizes": [[1, 2], None, []],
        "text": pa.array(["038", "", None], pa.large_string()),
    }
)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather", "a.arrows"])
def test_types_and_values_come_back(tmp_path: Path, name: str) -> None:
    write_table(TABLE, tmp_path / name)
    source = open_table(tmp_path / name)
    assert source.names == tuple(TABLE.column_names)
    assert source.read().equals(TABLE)
    assert source.read(["text", "a"]).equals(TABLE.select(["text", "a"]))
    again = source.batches(2, ["day", "a.b"]).read_all()
    assert again.equals(TABLE.select(["day", "a.b"]))
    assert [batch.num_rows for batch in source.batches(2)] == [2, 1]
    write_table(source.batches(2), tmp_path / f"again-{name}", like=source)
    assert open_table(tmp_path / f"again-{name}").read().equals(TABLE)


def test_parquet_keeps_its_compression_and_nothing_that_was_not_asked_for(tmp_path: Path) -> None:
    secret = TABLE.replace_schema_metadata({"made by": "Ann"})
    pq.write_table(secret, tmp_path / "a.parquet", compression="zstd")
    source = open_table(tmp_path / "a.parquet")
    assert source.n == 3
    write_table(source.read(), tmp_path / "b.parquet", like=source)
    again = pq.ParquetFile(tmp_path / "b.parquet")
    assert again.metadata.row_group(0).column(0).compression == "ZSTD"
    assert b"made by" not in again.metadata.metadata


def test_dictionaries_that_differ_from_batch_to_batch(tmp_path: Path) -> None:
    one, two = (pa.table({"a": pa.array([value]).dictionary_encode()}) for value in "xy")
    table = pa.concat_tables([one, two])
    for name in ("a.arrow", "a.arrows", "a.parquet"):
        write_table(table, tmp_path / name)
        assert open_table(tmp_path / name).read()["a"].to_pylist() == ["x", "y"]
