"""Reading and writing a table of 9 columns: CPU seconds, and the memory that streaming needs at two sizes.

python benchmarks/formats.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from measuring import peak, run, timed
from taxomask.microdata.files import open_table, write_table

BATCH = 100_000


def batches(rows: int) -> Any:
    """Numbers, codes and categories, made as they are asked for."""
    codes = np.array([f"{code:05d}" for code in range(2_000)])

    def pieces() -> Iterator[Any]:
        for start in range(0, rows, BATCH):
            rng = np.random.default_rng(start)
            size = min(BATCH, rows - start)
            columns = {f"number{place}": rng.normal(size=size).round(3) for place in range(3)}
            columns |= {f"count{place}": rng.integers(0, 90, size) for place in range(3)}
            columns |= {f"code{place}": codes[rng.integers(0, 2_000, size)] for place in range(3)}
            yield pa.RecordBatch.from_pydict(columns)

    first = next(pieces())
    return pa.RecordBatchReader.from_batches(first.schema, pieces())


def streamed(suffix: str, rows: int) -> dict[str, Any]:
    """Written in batches, then read in batches and written again."""
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder, f"a{suffix}"), Path(folder, f"b{suffix}")
        write_table(batches(rows), path)
        before = peak()
        source = open_table(path, text=["code0", "code1", "code2"])
        _, copying = timed(lambda: write_table(source.batches(), again, like=source))
        return {"MB": path.stat().st_size / 1e6, "copy CPU s": copying, "peak MB": peak(), "of it to write MB": before}


def whole(suffix: str, rows: int) -> dict[str, Any]:
    """Written, and read as one table."""
    with tempfile.TemporaryDirectory() as folder:
        where = f"sqlite:///{folder}/a.db?table=a" if suffix == "sqlite" else str(Path(folder, f"a{suffix}"))
        table = batches(rows).read_all()
        _, writing = timed(lambda: write_table(table, where))
        _, reading = timed(lambda: open_table(where, text=["code0", "code1", "code2"]).read())
        return {"write CPU s": writing, "read CPU s": reading}


def main() -> None:
    cases = {}
    for suffix in (".csv", ".parquet", ".arrow"):
        for rows in (1_000_000, 5_000_000):
            cases[f"stream {suffix} {rows:,}"] = lambda suffix=suffix, rows=rows: streamed(suffix, rows)
    for suffix in (".csv", ".csv.gz", ".parquet", ".arrow", ".xlsx", ".sav", ".dta", ".xpt", "sqlite"):
        cases[f"whole {suffix} 100,000"] = lambda suffix=suffix: whole(suffix, 100_000)
    run(cases)


if __name__ == "__main__":
    main()
