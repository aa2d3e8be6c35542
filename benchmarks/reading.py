"""What it costs that a child process reads files: seconds with it and without, for one file, the next, and a release.

python benchmarks/reading.py
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from measuring import run
from taxomask.microdata.files import open_table, write_table
from taxomask.plan import Plan
from taxomask.plan.run import run as carry_out
from taxomask.taxonomy import Taxonomy

ROWS = 5_000_000
PLAN = {
    "attributes": [
        {"name": "age", "role": "quasi_identifier", "kind": "continuous"},
        {"name": "stay", "role": "quasi_identifier", "kind": "continuous"},
        {"name": "region", "role": "quasi_identifier", "kind": "nominal"},
        {"name": "cost", "role": "confidential", "kind": "continuous"},
        {"name": "dx", "role": "other"},
    ],
    "method": {"name": "rank_swapping", "p": 5},
    "seed": 1,
}


def table(rows: int) -> Any:
    rng = np.random.default_rng(0)
    codes = pa.array([f"{code:05d}" for code in range(2_000)])
    return pa.table(
        {
            "age": rng.integers(0, 100, rows).astype(float),
            "stay": rng.integers(0, 60, rows).astype(float),
            "region": pa.array(["north", "east", "south", "west"]).take(pa.array(rng.integers(0, 4, rows))),
            "cost": rng.gamma(2, 3000, rows).round(2),
            "dx": codes.take(pa.array(rng.integers(0, 2_000, rows))),
        }
    )


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def small(suffix: str, trusted: str) -> dict[str, Any]:
    """The first file that a process reads, and the ones after it."""
    os.environ["TAXOMASK_TRUST_FILES"] = trusted
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        if suffix == ".owl":
            path.write_text(
                '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#">'
                '<owl:Class rdf:about="http://x.org/a"/></rdf:RDF>'
            )
        else:
            write_table(table(1_000), path)

        def read() -> None:
            Taxonomy.read(path) if suffix == ".owl" else open_table(path).read()

        first = seconds(read)
        later = min(seconds(read) for _ in range(20))
        return {"first s": first, "later s": later}


def large(suffix: str, engine: str, trusted: str) -> dict[str, Any]:
    """Reading a large file whole, and the whole of `protect`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        write_table(table(ROWS), path)
        os.environ["TAXOMASK_TRUST_FILES"] = trusted
        open_table(path)  # the child is there
        reading = seconds(lambda: open_table(path).read())
        plan = Plan.from_dict(PLAN, folder).on(engine)
        whole = seconds(lambda: carry_out(plan, data=str(path), output=str(Path(folder, "out.parquet"))))
        return {"read s": reading, "protect s": whole}


def main() -> None:
    cases = {}
    for trusted, word in (("0", "apart"), ("1", "trusted")):
        for suffix in (".sav", ".dta", ".parquet", ".arrow", ".xlsx", ".owl"):
            cases[f"small {suffix} {word}"] = lambda suffix=suffix, trusted=trusted: small(suffix, trusted)
        for engine in ("memory", "local"):
            name = f"{ROWS:,} .parquet {engine} {word}"
            cases[name] = lambda engine=engine, trusted=trusted: large(".parquet", engine, trusted)
    run(cases)


if __name__ == "__main__":
    main()
