"""Engines that live as long as the session, and a table with columns of every sort."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.processes import Processes
from microdata.formats.conftest import postgresql, small_disk  # noqa: F401 - fixtures
from taxomask import examples
from taxomask.engines import DaskEngine, Engine, LocalEngine, Store
from taxomask.engines.coding import open_stored
from taxomask.methodology import methodology
from taxomask.microdata.files import Source, read_table
from taxomask.spreading import protect_stored, publish_stored

N = 240
SEED = 7
SCHEMA = tm.Schema(
    [
        tm.Attribute("id", role="identifier"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("income", role="quasi_identifier", kind="continuous"),
        tm.Attribute("weight", role="quasi_identifier", kind="continuous", missing=["n/a"]),
        tm.Attribute("born", role="quasi_identifier", kind="continuous"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid", "high", "top"]),
        tm.Attribute("region", role="quasi_identifier", kind="nominal"),
        tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm", unmapped="drop"),
        tm.Attribute("job", role="confidential", kind="nominal"),
        tm.Attribute("pay", role="confidential", kind="continuous"),
        tm.Attribute("remark", role="other"),
    ]
)


def all_sorts(n: int = N) -> pa.Table:
    """Numbers, numbers in text, dates, dictionaries, codes; missing in most, and a few codes that nobody knows."""
    rng = np.random.default_rng(8)

    def some_missing(values: list[Any], instead: Any = None) -> list[Any]:
        return [instead if missing else value for value, missing in zip(values, rng.random(n) < 0.05, strict=True)]

    age = rng.integers(18, 95, n)
    codes = read_table(examples.path(), ["dx01"], text=True)["dx01"].to_pylist()
    dx = [codes[place] for place in rng.integers(0, len(codes), n)]
    for place in range(5, n, 97):
        dx[place] = "not a code"
    return pa.table(
        {
            "id": [f"person {place}" for place in range(n)],
            "age": pa.array(some_missing(age.tolist()), pa.int16()),
            "income": np.round(rng.lognormal(10, 1, n) + 100 * age, 2),
            "weight": some_missing([f"{value:.1f}" for value in rng.normal(75, 12, n)], "n/a"),
            "born": [dt.date(2010, 1, 1) - dt.timedelta(int(days)) for days in 365 * age + rng.integers(0, 365, n)],
            "sex": pa.array(some_missing(rng.choice(["f", "m"], n).tolist())).dictionary_encode(),
            "grade": pa.array(some_missing(rng.choice(["low", "mid", "high", "top"], n).tolist())).dictionary_encode(),
            "region": rng.integers(1, 5, n),
            "dx": some_missing(dx),
            "job": rng.choice(["nurse", "clerk", "smith", "none"], n).tolist(),
            "pay": some_missing((20 * age + rng.normal(0, 200, n)).tolist()),
            "remark": some_missing(rng.choice(["=1+1", "ü", "-"], n).tolist()),
        }
    )


@dataclass(frozen=True)
class Outcome:
    """What became of a run: the release with its checks, its files with their hashes, and the public note."""

    release: tm.Release
    where: Path
    files: dict[str, str]
    note: str

    @property
    def table(self) -> pa.Table:
        return read_table(self.where)


def on_engine(
    engine: Engine,
    data: Path | str,
    method: tm.methods.Method,
    target: Path | str,
    *,
    schema: tm.Schema = SCHEMA,
    like: Source | None = None,
    scratch: Path | None = None,
    **options: Any,
) -> Outcome:
    """Protect a table on an engine; a target that ends in a slash is a folder."""
    where = Path(target)
    with Store.temporary((scratch or where.parent if "://" not in str(target) else Path()) / "taxomask") as store:
        site = open_stored(
            str(data), schema, store, engine, text=options.pop("text", ()), report=options.pop("report", None)
        )
        release = protect_stored(site, method, seed=SEED)
        note = lambda checked: methodology(checked, method)  # noqa: E731
        release, publication = publish_stored(site, release, str(target), note=note, like=like, **options)
    files = sorted(where.iterdir()) if where.is_dir() else [path for path in (where,) if path.exists()]
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    return Outcome(release, where, hashes, publication.note.read_text())


@pytest.fixture(scope="session")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of all sorts, in row groups of 50."""
    path = tmp_path_factory.mktemp("input") / "in.parquet"
    pq.write_table(all_sorts(), path, row_group_size=50)
    return path


@pytest.fixture(scope="session")
def local() -> Iterator[LocalEngine]:
    with LocalEngine(workers=3) as engine:
        yield engine


@pytest.fixture(scope="session")
def one_worker() -> Iterator[DaskEngine]:
    with DaskEngine(workers=1) as engine:
        yield engine


@pytest.fixture(scope="session")
def two_workers() -> Iterator[DaskEngine]:
    with DaskEngine(workers=2) as engine:
        yield engine


@pytest.fixture(scope="session")
def four_workers() -> Iterator[DaskEngine]:
    with DaskEngine(workers=4) as engine:
        yield engine


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    found = Processes(tmp_path)
    try:
        yield found
    finally:
        found.end()


PLAN = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: quasi_identifier, kind: nominal}
  - {name: n_beds, role: quasi_identifier, kind: ordinal, order: [6-99, 100-199, 200-299, 300-499, 500+]}
  - {name: care_days, role: confidential, kind: continuous}
  - {name: dx01, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
method: {name: microaggregation, k: 5, block_size: 250, algorithm: refined, steps: STEPS}
seed: 3
"""


ENDLESS = 10**12  # steps


def write_case(folder: Path, *, times: int = 1, steps: int = 1000) -> None:
    """A plan, and the shipped discharges, as often as asked for, as a folder of Parquet files."""
    write_plan(folder, steps)
    (folder / "data").mkdir()
    table = read_table(examples.path(), text=["dx01", "pc01"])
    for number in range(times):
        unique = pa.array([f"{number}-{place}" for place in range(table.num_rows)])
        pq.write_table(table.set_column(0, "id", unique), folder / "data" / f"{number}.parquet")


def write_plan(folder: Path, steps: int) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("STEPS", str(steps)))


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def left_in(folder: Path) -> set[str]:
    """What a run that failed may have left, besides what was there before."""
    return {path.name for path in folder.iterdir()} - {"plan.yaml", "data", "dask", "scheduler.json"}
