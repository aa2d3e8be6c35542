"""What microaggregation does to the diagnosis of real discharges: semantic against flat.

Age, days of care and diagnosis of the neoplasm and digestive discharges of NHDS 2010, in the default scale (for the
paper's see docs/papers/p1.md). "Flat" treats the diagnosis as a plain category (equality and mode); its error is
measured semantically all the same: Σ d(x, x')² with the `ancestors` distance. In brackets the mean loss of age and days
of care, 100·SSE/SST.

python benchmarks/semantic_error.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import taxomask as tm
from taxomask.measures import squared_error
from taxomask.microdata import read_table

DATA = Path(__file__).parents[1] / "tests" / "data" / "nhds2010"
ICD = tm.Taxonomy.builtin("icd9cm")
NUMBERS = ("age_years", "care_days")


def schema(flat: bool) -> tm.Schema:
    numbers = [tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in NUMBERS]
    if flat:
        return tm.Schema([*numbers, tm.Attribute("dx01", role="quasi_identifier", kind="nominal")])
    return tm.Schema([*numbers, tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy=ICD)])


def main() -> None:
    for name in ("neoplasm", "digestive"):
        table = read_table(DATA / f"{name}.csv.gz", text=["dx01"])
        diagnosis = tm.Microdata.from_frame(table, schema(flat=False)).columns["dx01"]
        number = {category: i for i, category in enumerate(diagnosis.categories)}  # type: ignore[attr-defined]
        print(f"{name}: {table.num_rows:,} records, {len(number)} diagnoses")
        print(f"{'k':>4}  {'semantic':>16} {'flat':>16}")
        for k in range(2, 21):
            cells = []
            for flat in (False, True):
                release = tm.protect(table, schema(flat), tm.Microaggregation(k))
                codes = [number[value] for value in release.data["dx01"].to_pylist()]
                error = squared_error(diagnosis, diagnosis.with_codes(codes)).sse  # type: ignore[attr-defined]
                losses = [
                    squared_error(release.original.columns[n], release.released.columns[n]).percent for n in NUMBERS
                ]
                cells.append(f"{error:8.1f} ({np.mean(losses):4.1f})")
            print(f"{k:>4}  " + " ".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
