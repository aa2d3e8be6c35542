"""Workers that live as long as the session, and a table with columns of every sort."""

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
from taxomask.engines import DaskCluster, Files, Scratch, Threads, Told, Workers, read_coded
from taxomask.microdata.files import read_table
from taxomask.release import protect_on
from taxomask.release.write import Options, write

N = 240
SEED = 2**64 + 7
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
    others = age[::-1]  # else the day of birth would tell the age, and stop what leaves one of them alone
    return pa.table(
        {
            "id": [f"person {place}" for place in range(n)],
            "age": pa.array(some_missing(age.tolist()), pa.int16()),
            "income": np.round(rng.lognormal(10, 1, n) + 100 * age, 2),
            "weight": some_missing([f"{value:.1f}" for value in rng.normal(75, 12, n)], "n/a"),
            "born": [dt.date(2010, 1, 1) - dt.timedelta(int(days)) for days in 365 * others + rng.integers(0, 365, n)],
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
    """What became of a run: the release with its checks, its tables, their files with their hashes, and the note."""

    release: tm.Release
    tables: tuple[str, ...]
    files: dict[str, str]
    note: str
    groups: list[int] | None
    swaps: dict[str, list[Any]] | None

    @property
    def where(self) -> Path:
        return Path(self.tables[0])

    @property
    def table(self) -> pa.Table:
        return read_table(self.where)


def on_engine(
    workers: Workers,
    data: Path | str,
    method: tm.methods.Method,
    target: Path | str,
    *,
    schema: tm.Schema = SCHEMA,
    scratch: Path | None = None,
    large: int | None = None,
    text: tuple[str, ...] = (),
    told: Told | None = None,
    **options: Any,
) -> Outcome:
    """Protect a table in files; a target that ends in a slash is a folder."""
    beside = Path() if "://" in str(target) else Path(target).parent
    with Scratch.temporary((scratch or beside) / "taxomask", large=large) as folder:
        engine = Files(workers, folder, told)
        release = protect_on(engine, read_coded(str(data), schema, engine, text=text), method, seed=SEED)
        return outcome(release, target, **options)


def outcome(release: tm.Release, target: Path | str, **options: Any) -> Outcome:
    """Write a release, wherever it lies."""
    groups, swaps = release.groups, release.swaps
    done = write(release, str(target), Options(**options))
    return Outcome(
        done.release,
        done.tables,
        hashes(done.tables),
        done.note.read_text(),
        None if groups is None else groups.tolist(),
        None if swaps is None else {name: pairs.tolist() for name, pairs in swaps.items()},
    )


def hashes(tables: tuple[str, ...]) -> dict[str, str]:
    """The hash of each file, by its name; where there are several tables, with the number of its table."""
    found = {}
    for number, table in enumerate(map(Path, tables)):
        for file in sorted(table.iterdir()) if table.is_dir() else [table] if table.exists() else []:
            name = file.name if len(tables) == 1 else f"{number}/{file.name}"
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


@pytest.fixture(scope="session")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of all sorts, in row groups of 50."""
    path = tmp_path_factory.mktemp("input") / "in.parquet"
    pq.write_table(all_sorts(), path, row_group_size=50)
    return path


@pytest.fixture(scope="session")
def local() -> Iterator[Threads]:
    with Threads(workers=3) as workers:
        yield workers


@pytest.fixture(scope="session")
def one_worker() -> Iterator[DaskCluster]:
    with DaskCluster(workers=1) as workers:
        yield workers


@pytest.fixture(scope="session")
def two_workers() -> Iterator[DaskCluster]:
    with DaskCluster(workers=2) as workers:
        yield workers


@pytest.fixture(scope="session")
def four_workers() -> Iterator[DaskCluster]:
    with DaskCluster(workers=4) as workers:
        yield workers


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
seed: 18446744073709551619
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
