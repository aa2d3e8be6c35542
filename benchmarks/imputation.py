"""Sequential regression imputation of real discharges, beside MicroHybrid and (where it is there) shuffling.

The first table is Table 1 of Domingo-Ferrer, Muralidhar and Rufian-Torrell (2012) on the neoplasm discharges of NHDS
2010: Δ(θ) = |θ' - θ| / |θ| of means, variances and covariances, those of categories by marginality. Every attribute is
masked, with five seeds; the table has the means. Multiple imputation had no answer for the diagnosis there ("N/A").
Below it the risk: the share of masked records whose nearest original record (S-distance; ties count in part) is their
own. A random guess is right for one record in n.

With the whole file (nhds2010.csv.gz, with its columns sex and race) as argument, sex and race count too, and the whole
of it is synthesised once.

python benchmarks/imputation.py [nhds2010.csv.gz]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import peak, timed
from taxomask.methods import Method
from taxomask.microdata import read_table

SMALL = Path(__file__).parents[1] / "tests" / "data" / "nhds2010" / "neoplasm.csv.gz"
ICD = tm.Taxonomy.builtin("icd9cm")
KINDS = {"age_years": "continuous", "sex": "nominal", "race": "nominal", "care_days": "continuous", "dx01": "taxonomic"}
SEEDS = range(5)


def read(path: Path, names: list[str]) -> pa.Table:
    table = read_table(path, [*names, "dx01"])
    codes = read_table(path, ["dx01"], text=True)["dx01"]
    return table.set_column(table.column_names.index("dx01"), "dx01", codes)


def schema(table: pa.Table, role: str = "quasi_identifier") -> tm.Schema:
    taxonomy = {"dx01": {"taxonomy": ICD}}
    return tm.Schema(
        [
            tm.Attribute(name, role=role, kind=KINDS[name], missing=["not_stated"], **taxonomy.get(name, {}))
            for name in table.column_names
        ]
    )


def statistics(table: pa.Table) -> dict[str, float]:
    """The means, variances and covariances of the paper's table, as far as the columns are there."""
    numbers = {name: table[name].to_numpy() for name in table.column_names if KINDS[name] == "continuous"}
    plain = [name for name in table.column_names if KINDS[name] != "continuous"]
    taxonomy: dict[str, Any] = {"dx01": ICD}
    found = {f"mean {name}": float(values.mean()) for name, values in numbers.items()}
    found |= {f"mean {name}": tm.mean_marginality(table[name], taxonomy.get(name)) for name in plain}
    found |= {f"variance {name}": float(values.var(ddof=1)) for name, values in numbers.items()}
    found |= {f"variance {name}": tm.nominal_variance(table[name], taxonomy.get(name)) for name in plain}
    found["covariance age_years, care_days"] = float(np.cov(*numbers.values())[0, 1])
    for place, a in enumerate(plain):
        for b in plain[place + 1 :]:
            both = (table[a], table[b], taxonomy.get(a), taxonomy.get(b))
            found[f"covariance {a}, {b}"] = tm.nominal_covariance(*both)
    return found


def linked(original: pa.Table, masked: pa.Table) -> float:
    """The share of masked records that are linked to their original."""
    n = original.num_rows
    both = pa.concat_tables([original, masked.cast(original.schema)])
    data = tm.Microdata.from_frame(both, schema(both))
    distance = tm.RecordDistance(data)
    rows = np.arange(n)
    right = 0.0
    for i in range(n):
        squares = distance.squared_to_rows(n + i, rows)
        nearest = np.flatnonzero(squares <= squares.min() + 1e-12)
        right += float(i in nearest) / len(nearest)
    return right / n


def measured(table: pa.Table, original: dict[str, float], method: Method, seed: int) -> dict[str, float]:
    release, seconds = timed(lambda: tm.protect(table, schema(table), method, seed=seed))
    after = statistics(release.data)
    found = {key: abs(after[key] - value) / abs(value) for key, value in original.items()}
    return found | {"linked, %": 100 * linked(table, release.data), "CPU s": seconds}


def methods(names: list[str], n: int) -> dict[str, Method]:
    k = round(600 * n / 19_502)  # the share of the records that k = 600 is in the paper
    found: dict[str, Method] = {
        "imputation": tm.Imputation(attributes=names, given=[]),
        f"micro hybrid {k}": tm.MicroHybrid(k),
    }
    shuffling: Callable[..., Any] | None = getattr(tm, "Shuffling", None)
    return found | ({"shuffling": shuffling(attributes=names, given=[])} if shuffling else {})


def main() -> None:
    path = Path(sys.argv[1]) if sys.argv[1:] else SMALL
    names = ["age_years", "sex", "race", "care_days"] if sys.argv[1:] else ["age_years", "care_days"]
    whole = read(path, names)
    chapter = [ICD.ancestors(code)[1] == "CH 140-239" for code in whole["dx01"].to_pylist()]
    table = whole.filter(pa.array(chapter))
    if "race" in names:  # the paper left out incomplete records
        table = table.filter(pa.array([race != "not_stated" for race in table["race"].to_pylist()]))
    original = statistics(table)
    print(f"{table.num_rows:,} neoplasm discharges, {len(set(table['dx01'].to_pylist()))} diagnoses")
    columns: dict[str, dict[str, float]] = {}
    for label, method in methods(table.column_names, table.num_rows).items():
        rows = [measured(table, original, method, seed) for seed in SEEDS]
        columns[label] = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        columns[label]["CPU s"] = min(row["CPU s"] for row in rows)  # the first may compile kernels
    print(f"{'':<36}" + "".join(f"{label:>20}" for label in columns))
    for row in next(iter(columns.values())):
        print(f"{row:<36}" + "".join(f"{column[row]:>20.5f}" for column in columns.values()))
    print(f"{'a random guess is linked, %':<36}{100 / table.num_rows:>20.5f}")
    if sys.argv[1:]:
        for synthesis in ("partial", "full"):
            data = tm.Microdata.from_frame(whole, schema(whole).replace("dx01", role="confidential"))
            method = tm.Imputation(synthesis=synthesis)  # type: ignore[arg-type]
            _, seconds = timed(lambda data=data, method=method: method.mask(data, np.random.default_rng(SEEDS[0])))
            print(f"all {data.n:,} discharges, {synthesis}: CPU {seconds:.1f} s, peak {peak():,.0f} MB")


if __name__ == "__main__":
    main()
