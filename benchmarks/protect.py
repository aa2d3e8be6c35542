"""`taxomask protect` on large Parquet files in blocks: CPU seconds and peak memory, all checks and the disk included.

Records are put together from parts of the shipped discharges (9 columns, real codes); the limit is 4 GB for 5,000,000.

python benchmarks/protect.py [100,000 | 1,000,000 | 5,000,000]
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measuring import peak, run, timed
from taxomask import examples
from taxomask.microdata import read_table
from taxomask.plan import Plan
from taxomask.plan.run import run as carry_out

PARTS = (("age", "sex", "care_days"), ("race", "region", "n_beds"), ("dx01", "pc01"))
PLAN = """\
attributes:
  - {name: id, role: identifier}
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: sex, role: quasi_identifier, kind: nominal}
  - {name: race, role: other}
  - {name: region, role: quasi_identifier, kind: nominal}
  - {name: n_beds, role: quasi_identifier, kind: ordinal, order: [6-99, 100-199, 200-299, 300-499, 500+]}
  - {name: care_days, role: quasi_identifier, kind: continuous}
  - {name: dx01, role: quasi_identifier, kind: taxonomic, taxonomy: icd9cm}
  - {name: pc01, role: other}
method: {name: microaggregation, k: 5, block_size: 10000}
"""
PIECE = 250_000


def write(path: Path, n: int) -> None:
    """A table of n records, written piece by piece."""
    small = read_table(examples.path(), text=["dx01", "pc01"])
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n, PIECE):
        size = min(PIECE, n - start)
        columns = {"id": pa.array(np.arange(start, start + size))}
        for names in PARTS:
            drawn = small.select(names).take(rng.integers(0, small.num_rows, size))
            columns.update(zip(names, drawn.columns, strict=True))
        piece = pa.table({name: columns[name] for name in small.column_names})
        writer = writer or pq.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    if writer is not None:
        writer.close()


def protect(n: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "table.parquet", n)
        (folder / "plan.yaml").write_text(PLAN)
        made = peak()
        plan = Plan.read(folder / "plan.yaml")
        data, output = str(folder / "table.parquet"), str(folder / "protected.parquet")
        outcome, seconds = timed(lambda: carry_out(plan, data=data, output=output))
        smallest = outcome.publication.checks[-1].found
        return {"CPU s": seconds, "peak MB": peak(), "peak MB before": made, "MB on disk": _size(output), "": smallest}


def _size(path: str) -> float:
    return Path(path).stat().st_size / 1e6


if __name__ == "__main__":
    run({f"{n:,}": partial(protect, n) for n in (100_000, 1_000_000, 5_000_000)})
