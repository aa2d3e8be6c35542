"""Permutation within groups beside reverse mapping of microaggregation and rank swapping 3, at equal k. Tests nothing.

    python benchmarks/group_permutation.py [case …]

On the 6,423 neoplasm discharges of NHDS 2010 (age, days of care, diagnosis) and on Adult (30,162 records): what every
attacker finds who looks for people, the loss, and the mean change of distance correlations. One release each.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import taxomask as tm
from measuring import Case, run
from taxomask.measures import distance_correlations
from taxomask.methods import Method
from taxomask.microdata import read_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
TRYING = ["nearest", "partial", "one_to_one", "informed", "rank_intervals"]


def neoplasm() -> tuple[Any, tm.Schema]:
    from papers.data import discharge_schema, discharges

    return discharges("neoplasm"), discharge_schema()


def adult() -> tuple[pa.Table, tm.Schema]:
    names = ["sex", "age", "race", "marital-status", "education"]
    table = read_table(ROOT / "tests" / "data" / "adult" / "adult.csv.gz", names, text=True)
    table = table.set_column(1, "age", pc.cast(table["age"], pa.float64()))
    kinds = {"age": "continuous"}
    return table, tm.Schema(
        [tm.Attribute(one, role="quasi_identifier", kind=kinds.get(one, "nominal")) for one in names]
    )


def measured(table: Any, schema: tm.Schema, method: Method) -> dict[str, Any]:
    release = tm.protect(table, schema, method, seed=1)
    found = release.evaluate(attackers=TRYING, seed=1)
    attacks = {name: getattr(found.attackers, name, None) for name in TRYING}
    shares = {name: attack.share.value for name, attack in attacks.items() if attack is not None}
    informed = found.attackers.informed.share
    return {
        "records": release.original.n,
        **shares,
        "informed from": informed.low,
        "to": informed.high,
        "loss": found.headline["loss"],
        "correlations": distance_correlations(release.original, release.released).overall,
    }


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for title, make in {"neoplasm": neoplasm, "Adult": adult}.items():
        for k in (3, 5, 10):
            for method in (
                tm.GroupPermutation(k),
                tm.ReverseMapping(tm.Microaggregation(k)),
                tm.RankSwapping(k=k, algorithm=3),
            ):
                found[f"{title}, {method}"] = lambda make=make, method=method: measured(*make(), method)  # type: ignore[misc]
    return found


if __name__ == "__main__":
    run(cases())
