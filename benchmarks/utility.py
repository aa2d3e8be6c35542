"""What measures of utility say and cost.

First Tables 2 and 3 of Domingo-Ferrer and Torra (2005) from our own MDAV on Census, next to the printed values. Four
rows of Table 2 differ slightly: the paper's program grew its very last group around the other end there. PIL(Q) has
each attribute's own bin width, which the printed column has not.

Then CPU seconds and peak memory of all measures on the whole NHDS 2010 file (if its path is in the environment variable
NHDS; else on the shipped 2,000 discharges) after a permutation among neighbours, each measure in a process of its own,
and of distance correlations of a million synthetic records.

python benchmarks/utility.py [case …]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import run, timed
from synthetic import random_taxonomy
from taxomask import examples
from taxomask.measures import utility
from taxomask.microdata import read_table

CENSUS = Path(__file__).parents[1] / "tests" / "data" / "casc" / "CASCrefmicrodata.csv"
TABLE_2 = {
    (6, 3): (0.131, 0, 0, 0.036, 0.007, 3.48),
    (6, 6): (0.174, 0, 0, 0.075, 0.013, 5.24),
    (6, 9): (0.203, 0, 0, 0.129, 0.017, 6.98),
    (6, 12): (0.185, 0, 0, 0.166, 0.020, 7.42),
    (13, 3): (0.907, 0, 0, 0.058, 0.016, 19.62),
    (13, 6): (1.389, 0, 0, 0.134, 0.032, 31.10),
    (13, 9): (1.535, 0, 0, 0.161, 0.039, 34.70),
    (13, 12): (1.564, 0, 0, 0.164, 0.046, 35.48),
}
TABLE_3 = {
    (6, 3): (0.142, 0, 0, 0.161, 0.255),
    (6, 6): (0.187, 0, 0, 0.270, 0.371),
    (6, 9): (0.194, 0, 0, 0.332, 0.430),
    (6, 12): (0.198, 0, 0, 0.373, 0.471),
    (13, 3): (0.498, 0, 0, 0.363, 0.534),
    (13, 6): (0.536, 0, 0, 0.548, 0.674),
    (13, 9): (0.577, 0, 0, 0.598, 0.705),
    (13, 12): (0.618, 0, 0, 0.628, 0.731),
}
BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]


def census() -> None:
    table = read_table(CENSUS)
    names = table.column_names
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names])
    data = tm.Microdata.from_frame(table, schema)
    found = {}
    for length, k in TABLE_2:
        method = tm.Microaggregation(k, keep_variance=True, attributes=names[:length])
        found[length, k] = method.mask(data, np.random.default_rng(0)).data
    _print("IL1 IL2 IL3 IL4 IL5 IL", TABLE_2, {key: _information(data, one) for key, one in found.items()})
    _print("Q m m2 m11 r", TABLE_3, {key: _probabilistic(data, one) for key, one in found.items()})


def _information(data: tm.Microdata, masked: tm.Microdata) -> list[float]:
    loss = utility.information_loss(data, masked)
    assert loss.values is not None
    parts = (loss.values, loss.means, loss.variances, loss.covariances, loss.correlations)
    return [*(part.overall for part in parts), loss.overall]


def _probabilistic(data: tm.Microdata, masked: tm.Microdata) -> list[float]:
    return [part.overall for part in vars(utility.probabilistic_loss(data, masked)).values()]


def _print(heads: str, printed: dict[Any, Any], found: dict[Any, list[float]]) -> None:
    print(f"{'attributes':>10} {'k':>3}", *(f"{head + ' (printed)':>18}" for head in heads.split()))
    for (length, k), values in found.items():
        cells = [
            f"{ours:9.3f} ({theirs:6.{2 if theirs > 2 else 3}f})"
            for ours, theirs in zip(values, printed[length, k], strict=True)
        ]
        print(f"{length:>10} {k:>3}", *(f"{cell:>18}" for cell in cells))
    print()


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
    from taxomask._jit import compile_all

    compile_all()
    data, released = discharges()
    _, seconds = timed(lambda: measure(data, released))
    return {"records": data.n, "CPU s": seconds}


def million(kind: str) -> dict[str, Any]:
    """Two numbers, or a number with one of 500 concepts, all different."""
    from taxomask._jit import compile_all

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
    if len(sys.argv) == 1:
        census()
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
            "all measures": partial(measured, partial(utility.measure_utility, rng=rng)),
            "distance correlation, two numbers": partial(million, "number"),
            "distance correlation, number-concept": partial(million, "concept"),
        }
    )
