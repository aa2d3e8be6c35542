"""Three ways to t-closeness: what is lost, and CPU seconds at 10,000 and 100,000 records. Tests nothing.

    NHDS=nhds2010.csv.gz python benchmarks/closeness.py [case …]

Adult (sex, age, race, marital status, education; confidential: salary class or occupation) and discharges (age, sex,
diagnosis; confidential: days of care), of NHDS 2010 if its path is in the environment variable NHDS, else of the
shipped example. Records are drawn with replacement where a table has fewer. Loss is the mean δ² of a record and its
release.
"""

from __future__ import annotations

import os
from functools import partial
from math import log10
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import taxomask as tm
from measuring import Case, run, timed
from taxomask import examples
from taxomask.microdata import read_table
from taxomask.partition import aggregate

DATA = Path(__file__).parents[1] / "tests" / "data"
K = 5
KNOWN: dict[str, dict[str, Any]] = {"age": {"kind": "continuous"}, "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"}}
TABLES = {
    "Adult, salary": (("sex", "age", "race", "marital-status", "education"), "salary-class"),
    "Adult, occupation": (("sex", "age", "race", "marital-status", "education"), "occupation"),
    "discharges, days": (("age", "sex", "dx01"), "care_days"),
}


def adult(names: list[str]) -> pa.Table:
    table = read_table(DATA / "adult" / "adult.csv.gz", names, text=True)
    return table.set_column(names.index("age"), "age", pc.cast(table["age"], pa.float64()))


def discharges(names: list[str]) -> pa.Table:
    path = Path(os.environ.get("NHDS") or examples.path())
    age = "age" if "age" in read_table(path, text=True).column_names else "age_years"
    there = [age if name == "age" else name for name in names]
    return read_table(path, there, text=["sex", "dx01"]).rename_columns(names)


def drawn(title: str, n: int) -> tm.Microdata:
    known, confidential = TABLES[title]
    table = (discharges if title.startswith("discharges") else adult)([*known, confidential])
    rows = np.arange(n) if n <= table.num_rows else np.random.default_rng(1).integers(0, table.num_rows, n)
    plain = {"kind": "nominal"}
    attributes = [tm.Attribute(name, role="quasi_identifier", **KNOWN.get(name, plain)) for name in known]
    kind = "continuous" if confidential == "care_days" else "nominal"
    schema = tm.Schema([*attributes, tm.Attribute(confidential, role="confidential", kind=kind)])
    return tm.Microdata.from_frame(table.take(pa.array(rows)), schema)


def loss(data: tm.Microdata, groups: Any) -> float:
    averaged = data.replace({name: aggregate(data.columns[name], groups) for name in data.schema.quasi_identifiers})
    space = tm.RecordDistance(data)
    both = zip(space.terms, space.of(averaged).terms, strict=True)
    return float(sum(x.between(x.coordinates, y.coordinates) for x, y in both).mean())  # type: ignore[union-attr]


def measured(title: str, t: float | None, closeness: str) -> dict[str, Any]:
    method = tm.Microaggregation(K) if t is None else tm.Microaggregation(K, t=t, closeness=closeness)  # type: ignore[arg-type]
    method.groups(drawn(title, 1_000), np.random.default_rng(1))  # the kernels are loaded
    found: dict[str, Any] = {}
    seconds = []
    for n in (10_000, 100_000):
        data = drawn(title, n)
        groups, taken = timed(lambda data=data: method.groups(data, np.random.default_rng(1)))  # type: ignore[misc]
        seconds.append(min(taken, timed(lambda data=data: method.groups(data, np.random.default_rng(1)))[1]))  # type: ignore[misc]
        found |= {f"loss at {n:,}": loss(data, groups), f"largest group at {n:,}": int(groups.sizes.max())}
        found |= {f"CPU s at {n:,}": seconds[-1]}
    return found | {"exponent": log10(seconds[1] / seconds[0])}


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {f"{title}, no t": partial(measured, title, None, "merge") for title in TABLES}
    for title in TABLES:
        for t in (0.3, 0.15):
            for closeness in ("merge", "swap", "first"):
                found[f"{title}, t = {t}, {closeness}"] = partial(measured, title, t, closeness)
    return found


if __name__ == "__main__":
    run(cases())
