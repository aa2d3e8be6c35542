"""The same bytes: every method on three tables, to CSV and Parquet, in memory, from files and on a Dask cluster.

python benchmarks/corpus.py FILE          write the hash of every released table to a file
python benchmarks/corpus.py FILE OTHER    compare two such files, made before and after a change
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from taxomask import examples
from taxomask.cli import main
from taxomask.microdata.files import read_table, write_table

DISCHARGES = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: other}
  - {name: n_beds, role: quasi_identifier, kind: ordinal, order: [6-99, 100-199, 200-299, 300-499, 500+]}
  - {name: care_days, role: confidential, kind: continuous}
  - {name: dx01, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
"""
NUMBERS = """\
attributes:
  - {name: a, role: quasi_identifier, kind: continuous}
  - {name: b, role: quasi_identifier, kind: continuous}
  - {name: c, role: confidential, kind: continuous}
"""
SORTS = """\
attributes:
  - {name: id, role: identifier}
  - {name: born, role: quasi_identifier, kind: continuous}
  - {name: height, role: quasi_identifier, kind: continuous, missing: ["n/a"]}
  - {name: code, role: quasi_identifier, kind: taxonomic, taxonomy: nace2}
  - {name: grade, role: quasi_identifier, kind: ordinal, order: [low, mid, high]}
  - {name: job, role: confidential, kind: nominal}
"""
METHODS = [
    "{name: microaggregation, k: 4}",
    "{name: microaggregation, k: 4, block_size: 100}",
    "{name: microaggregation, k: 4, algorithm: refined, steps: 500}",
    "{name: microaggregation, k: 4, keep_variance: true}",
    "{name: microaggregation, k: 4, t: 0.4, l: 2}",
    "{name: micro_hybrid, k: 4}",
    "{name: micro_hybrid, k: 4, block_size: 100, candidates: domain}",
    "{name: group_permutation, k: 4}",
    "{name: group_permutation, k: 4, block_size: 100, algorithm: refined, steps: 500}",
    "{name: individual_ranking, k: 4, attributes: [NUMBERS]}",
    "{name: shuffling}",
    "{name: rank_swapping, k: 20, algorithm: 1}",
    "{name: rank_swapping, k: 20, algorithm: 2}",
    "{name: rank_swapping, p: 10, algorithm: 3}",
    "{name: rank_swapping, k: 20, algorithm: 3, block_size: 100, interval: open}",
    "{name: random_swapping}",
    "{name: distributional_swapping, p: 10, attributes: [CATEGORIES]}",
    "{name: numerical_swapping, p: 10, attributes: [NUMBERS]}",
    "{name: topological_swapping, k: 20, attributes: [CODES]}",
    "{name: reverse_mapping, inner: {name: microaggregation, k: 4}}",
    "{name: imputation}",
    "{name: noise}",
    "{name: multiplicative_noise}",
    "{name: marginality_noise}",
    "{name: pram, keep: 0.7}",
    "{name: generalisation, k: 4, suppression: 0.2}",
    "{name: suppression, k: 3}",
    "{name: recoding, level: 2}",
    "{name: top_bottom_coding, top: 80}",
    "{name: rounding, base: 10}",
    "[{name: microaggregation, k: 4}, {name: shuffling}]",
]

COLUMNS = {  # of each table that some methods can treat
    "discharges": {"CATEGORIES": "sex, dx01", "NUMBERS": "age", "CODES": "dx01"},
    "numbers": {"CATEGORIES": "a", "NUMBERS": "a, b", "CODES": "a"},
    "sorts": {"CATEGORIES": "code, grade", "NUMBERS": "born, height", "CODES": "code"},
}


def tables() -> dict[str, tuple[str, pa.Table]]:
    """Each with the first part of its plan."""
    rng = np.random.default_rng(5)
    discharges = read_table(examples.path(), text=["dx01", "pc01"]).slice(0, 400)
    a = rng.lognormal(3, 1, 300)
    numbers = pa.table({"a": a.round(2), "b": rng.integers(0, 90, 300), "c": (a + rng.normal(0, 9, 300)).round(1)})
    codes = ["A", "01", "01.1", "01.11", "01.12", "B", "05", "05.1", "06", "C", "10", "10.1", "10.2"]
    n = 250

    def some(values: list[object], instead: object = None) -> list[object]:
        return [instead if gone else one for one, gone in zip(values, rng.random(n) < 0.06, strict=True)]

    sorts = pa.table(
        {
            "id": [f"p-{place}" for place in range(n)],
            "born": pa.array(some((np.datetime64("1950-01-01") + rng.integers(0, 20000, n)).tolist()), pa.date32()),
            "height": some([f"{value:.1f}" for value in rng.normal(170, 9, n)], "n/a"),
            "code": some(rng.choice(codes, n).tolist()),
            "grade": some(rng.choice(["low", "mid", "high"], n).tolist()),
            "job": rng.choice(["nurse", "clerk", "smith"], n).tolist(),
        }
    )
    return {"discharges": (DISCHARGES, discharges), "numbers": (NUMBERS, numbers), "sorts": (SORTS, sorts)}


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with two workers."""
    told = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [
        subprocess.Popen([*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", told], **quiet)
    ]
    try:
        while not (told.exists() and told.read_text().endswith("}")):
            time.sleep(0.1)
        address = json.loads(told.read_text())["address"]
        worker = [*dask, "worker", address, "--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder)]
        started.append(subprocess.Popen(worker, **quiet))
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def released(folder: Path, plan: Path, source: Path, suffix: str, options: list[str]) -> str:
    """The hash of the table that is released, or what stops it."""
    target = folder / f"out{suffix}"
    arguments = ["protect", "--plan", str(plan), str(source), "-o", str(target), "--force", "--json", *options]
    sys.argv = ["taxomask", *arguments]
    printed = StringIO()
    code: object = 0
    try:
        with redirect_stdout(printed):
            main()
    except SystemExit as stopped:
        code = stopped.code
    if code:
        return f"exit {code}"
    return hashlib.sha256(target.read_bytes()).hexdigest()


def make(file: Path) -> None:
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as address:
        folder = Path(name)
        engines = {"memory": [], "local": ["--engine", "local"], "dask": ["--engine", "dask", "--scheduler", address]}
        for table, (head, content) in tables().items():
            for suffix in (".csv", ".parquet"):
                source = folder / f"{table}{suffix}"
                write_table(content, source)
                for method in METHODS:
                    for word, names in COLUMNS[table].items():
                        method = method.replace(word, names)
                    plan = folder / "plan.yaml"
                    plan.write_text(f"{head}method: {method}\nseed: 12345678901234567890123\n")
                    for engine, options in engines.items():
                        key = f"{table}{suffix} {engine} {method}"
                        with suppress(FileNotFoundError):
                            found[key] = released(folder, plan, source, suffix, options)
                        print(found.get(key, "nothing"), key, flush=True)
    file.write_text(json.dumps(found, indent=1))


def compare(file: Path, other: Path) -> int:
    first, second = (json.loads(one.read_text()) for one in (file, other))
    differing = [key for key in first if second.get(key) != first[key]]
    for key in differing:
        print(f"{key}: {first[key][:12]} {second.get(key, 'nothing')[:12]}")
    tables = {key: value for key, value in first.items() if not value.startswith("exit")}
    print(f"{len(first) - len(differing)} of {len(first)} alike; {len(tables)} of them are tables, the others errors")
    by_case: dict[str, set[str]] = {}
    for key, value in first.items():
        table, _, method = key.split(" ", 2)
        by_case.setdefault(f"{table} {method}", set()).add(value)
    print(f"{sum(len(values) == 1 for values in by_case.values())} of {len(by_case)} alike on all engines")
    return bool(differing)


if __name__ == "__main__":
    files = [Path(one) for one in sys.argv[1:3]]
    if not files:
        print(__doc__)
    elif len(files) == 1:
        make(*files)
    else:
        sys.exit(compare(*files))
