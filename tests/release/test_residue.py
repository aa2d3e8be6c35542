"""Levels, labels, statistics and metadata hold what is released and nothing else."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from taxomask.microdata.files import open_table

GONE = "Aardvark keeper"  # the job of one person, and first of all
N = 60
JOBS = [GONE, *(f"job {i % 3}" for i in range(N - 1))]
PLACES = [f"place {i % 4}" for i in range(N)]
AGES = [20 + i % 10 for i in range(N)]
SCHEMA = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("job", role="quasi_identifier", kind="nominal"),
        tm.Attribute("place", role="other"),
    ]
)
LEVELS = [GONE, "job 0", "job 1", "job 2", "Former employee"]


def arrow() -> pa.Table:
    jobs = pa.DictionaryArray.from_arrays(pa.array([LEVELS.index(job) for job in JOBS]), pa.array(LEVELS))
    places = pa.DictionaryArray.from_arrays(
        pa.array([int(place[-1]) for place in PLACES]), pa.array([*(f"place {i}" for i in range(4)), "Hidden place"])
    )
    fields = [
        pa.field("age", pa.int64(), metadata={"of": GONE}),
        pa.field("job", jobs.type, metadata={"first": GONE}),
        pa.field("place", places.type),
    ]
    return pa.Table.from_arrays([pa.array(AGES), jobs, places], schema=pa.schema(fields, metadata={"who": GONE}))


def pandas() -> pd.DataFrame:
    frame = pd.DataFrame({"age": AGES, "job": pd.Categorical(JOBS, LEVELS), "place": pd.Categorical(PLACES)})
    frame["place"] = frame["place"].cat.add_categories("Hidden place")
    frame.attrs["who"] = GONE
    frame.columns.name = GONE
    return frame


def polars() -> pl.DataFrame:
    places = pl.Enum([*(f"place {i}" for i in range(4)), "Hidden place"])
    return pl.DataFrame(
        {"age": AGES, "job": JOBS, "place": PLACES}, schema_overrides={"job": pl.Enum(LEVELS), "place": places}
    )


def everything(frame: Any) -> str:
    """All that a frame holds, as text."""
    if isinstance(frame, pd.DataFrame):
        levels = [frame[name].cat.categories.tolist() for name in ("job", "place")]
        return repr((frame.to_dict("list"), levels, frame.attrs, frame.columns.name))
    if isinstance(frame, pl.DataFrame):
        return repr((frame.to_dict(as_series=False), [one.categories.to_list() for one in frame.dtypes[1:]]))
    dictionaries = [frame[name].chunk(0).dictionary.to_pylist() for name in ("job", "place")]
    fields = [field.metadata for field in frame.schema]
    return repr((frame.to_pydict(), dictionaries, frame.schema.metadata, fields))


@pytest.mark.parametrize("make", [arrow, pandas, polars])
def test_frames(make: Any) -> None:
    table = make()
    assert GONE in everything(table)
    release = tm.protect(table, SCHEMA, tm.Microaggregation(5), seed=1)
    assert type(release.data) is type(table)
    for gone in (GONE, "Former employee", "Hidden place"):
        assert gone not in everything(release.data)
    assert set(release.data["place"].to_pandas() if make is arrow else release.data["place"]) == set(PLACES)


def content(path: Path) -> bytes:
    """All bytes of a file, decompressed."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as file:
            return b"".join(file.read(name) for name in file.namelist())
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.arrow", "a.xlsx", "a.sav", "a.dta", "a.xpt"])
@pytest.mark.parametrize("make", [arrow, pandas, polars])
def test_files(tmp_path: Path, make: Any, name: str) -> None:
    schema = tm.Schema(one for one in SCHEMA.values())
    tm.protect(make(), schema, tm.Microaggregation(5), seed=2**64).write(tmp_path / name)
    found = content(tmp_path / name)
    if name == "a.parquet":
        statistics = pq.ParquetFile(tmp_path / name).metadata.row_group(0).column(1).statistics
        assert statistics.min.startswith("job")
        found += repr(pq.read_table(tmp_path / name, read_dictionary=["job", "place"])["job"].chunk(0)).encode()
    for gone in (GONE, "Former employee", "Hidden place"):
        assert gone.encode() not in found


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_of_statistical_packages(tmp_path: Path, suffix: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"age": AGES, "job": [9.0] + [float(i % 3) for i in range(N - 1)], "place": [1.0] * N})
    write = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
    labels = {
        "job": {0: "nurse", 1: "clerk", 2: "smith", 9: GONE, 8: "Former employee"},
        "place": {1: "here", 2: "Hidden place"},
    }
    write(frame, tmp_path / f"in{suffix}", file_label=GONE, variable_value_labels=labels, column_labels={"job": "Job"})
    (tmp_path / "plan.yaml").write_text(
        f"""
data: in{suffix}
attributes:
  - {{name: age, role: quasi_identifier, kind: continuous}}
  - {{name: job, role: quasi_identifier, kind: nominal}}
  - {{name: place, role: other}}
method: {{name: microaggregation, k: 5}}
output: {{path: out{suffix}}}
"""
    )
    tm.run(tmp_path / "plan.yaml")
    found = open_table(tmp_path / f"out{suffix}")
    assert found.labels == {"job": {0: "nurse", 1: "clerk", 2: "smith"}, "place": {1: "here"}}
    assert found.titles["job"] == "Job"
    for gone in (GONE, "Former employee", "Hidden place"):
        assert gone.encode() not in (tmp_path / f"out{suffix}").read_bytes()
