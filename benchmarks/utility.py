"""What measures of utility cost.

CPU seconds and peak memory of all measures on the whole NHDS 2010 file (if its path is in the environment variable
NHDS; else on the shipped 2,000 discharges) after a permutation among neighbours, each measure in a process of its own,
and of distance correlations of a million synthetic records.

python benchmarks/utility.py [case …]
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import run, timed
from synthetic import random_taxonomy
from taxomask import examples
from taxomask.measures import measure_utility, utility
from taxomask.microdata import read_table

BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]


def discharges() -> tuple[tm.Microdata, tm.Microdata]:
    """Real discharges before and after a permutation among neighbours."""
    path = os.environ.get("NHDS") or examples.path()
    age = "age_years" if "NHDS" in os.environ else "age"
    names = [age, "sex", "region", "n_beds", "care_days"]
    table = read_table(path, names).append_column("dx01", read_table(path, ["dx01"], text=True)["dx01"])
    kinds: dict[str, dict[str, Any]] = {
        age: {"kind": "continuous"},
        "sex": {"kind": "nominal"},
        "region": {"kind": "nominal"},
        "n_beds": {"kind": "ordinal", "order": BEDS},
        "care_days": {"kind": "continuous"},
        "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"},
    }
    data = tm.Microdata.from_frame(
        table, tm.Schema([tm.Attribute(name, role="quasi_identifier", **kind) for name, kind in kinds.items()])
    )
    # A permutation within groups of 20 neighbours: quick, and light, so that the peak memory is that of the measures.
    rng = np.random.default_rng(1)
    order = np.lexsort([data.columns["dx01"].codes, data.columns[age].values])  # type: ignore[attr-defined]
    shuffled = order[np.lexsort([rng.random(data.n), np.arange(data.n) // 20])]
    rows = np.empty(data.n, dtype=np.int64)
    rows[order] = shuffled
    return data, data.replace({name: data.columns[name].take(rows) for name in (age, "dx01", "care_days")})


def measured(measure: Callable[..., Any]) -> dict[str, Any]:
    from taxomask._support.compiling import compile_all

    compile_all()
    data, released = discharges()
    _, seconds = timed(lambda: measure(data, released))
    return {"records": data.n, "CPU s": seconds}


def million(kind: str) -> dict[str, Any]:
    """Two numbers, or a number with one of 500 concepts, all different."""
    from taxomask._support.compiling import compile_all

    compile_all()
    rng = np.random.default_rng(0)
    n = 1_000_000
    taxonomy = random_taxonomy(800, 6)
    concepts = rng.permutation(list(taxonomy))[:500]
    other = {"number": rng.normal(size=n), "concept": rng.choice(concepts, n)}[kind]
    kinds: dict[str, Any] = {"number": {"kind": "continuous"}, "concept": {"kind": "taxonomic", "taxonomy": taxonomy}}
    schema = tm.Schema(
        [tm.Attribute("x", role="other", kind="continuous"), tm.Attribute("y", role="other", **kinds[kind])]
    )
    data = tm.Microdata.from_frame(pa.table({"x": rng.normal(size=n), "y": other}), schema)
    _, seconds = timed(lambda: utility.distance_correlations(data, data))
    return {"records": n, "CPU s of one table": seconds / 2}


if __name__ == "__main__":
    rng = np.random.default_rng(2)
    run(
        {
            "overall loss": partial(measured, utility.overall_loss),
            "differences in 100 samples": partial(measured, partial(utility.relative_differences_in_samples, rng=rng)),
            "probabilistic": partial(measured, utility.probabilistic_loss),
            "tables of counts": partial(measured, utility.table_loss),
            "distance correlations": partial(measured, utility.distance_correlations),
            "regression": partial(measured, utility.regression_overlap),
            "chapters": partial(measured, utility.chapter_counts),
            "propensity": partial(measured, utility.propensity),
            "all measures": partial(measured, partial(measure_utility, rng=rng)),
            "distance correlation, two numbers": partial(million, "number"),
            "distance correlation, number-concept": partial(million, "concept"),
        }
    )
