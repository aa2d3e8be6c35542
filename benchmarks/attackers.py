"""What attackers find, beside what an intruder found who was told the method and wrote an attack of their own.

    python benchmarks/attackers.py [case …]

The headline of a release stands beside the share that an intruder found who knew the method and its parameters (40 to
60 repetitions, another release), which it must reach less 0.05. Which columns that was is known for Census only. Of
Adult those are tried by which the nearest record finds about what was reported then, 0.536: eight, four of them codes
of taxonomies (0.53 and 0.50 in two releases; nine with plain categories: 0.40). Methods with groups must keep the
informed attacker at 1/k: the mean over ten releases, and how many of them have 1/k in or above their interval. Single
releases may be above by chance: of independent records 2.5 %, and a little more of groups whose records are dealt out.
Firms of Tarragona show how much more is found the more often a method is repeated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import taxomask as tm
from measuring import Case, run
from taxomask import examples
from taxomask.measures.risk.attackers import repetitions
from taxomask.methods import Method
from taxomask.microdata import read_table

TRYING = ["nearest", "partial", "one_to_one", "informed"]
DATA = Path(__file__).parents[1] / "tests" / "data"
RELEASES = 10
BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]
KINDS: dict[str, dict[str, Any]] = {
    "age": {"kind": "continuous"},
    "sex": {"kind": "nominal"},
    "region": {"kind": "nominal"},
    "n_beds": {"kind": "ordinal", "order": BEDS},
    "care_days": {"kind": "continuous"},
    "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"},
}


def census(columns: int) -> tuple[pa.Table, tm.Schema]:
    table = read_table(DATA / "casc" / "CASCrefmicrodata.csv")
    names = table.column_names[:columns]
    known = [tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names]
    return table.select(names), tm.Schema(known)


def discharges() -> tuple[pa.Table, tm.Schema]:
    table = read_table(examples.path(), list(KINDS), text=["sex", "region", "n_beds", "dx01"])
    known = [tm.Attribute(name, role="quasi_identifier", **how) for name, how in KINDS.items()]
    return table.slice(0, 1_500), tm.Schema(known)


def adult() -> tuple[pa.Table, tm.Schema]:
    table = read_table(DATA / "adult" / "adult.csv.gz", text=True).drop_columns("native-country").slice(0, 1_500)
    table = table.set_column(table.column_names.index("age"), "age", pc.cast(table["age"], pa.float64()))
    kinds: dict[str, dict[str, Any]] = {"age": {"kind": "continuous"}}
    for name in ("marital-status", "education", "workclass", "occupation"):
        tree = tm.Taxonomy.read(DATA / "adult-arx" / f"adult_hierarchy_{name}.csv")
        kinds[name] = {"kind": "taxonomic", "taxonomy": tree}
    plain: dict[str, Any] = {"kind": "nominal"}
    known = [tm.Attribute(name, role="quasi_identifier", **kinds.get(name, plain)) for name in table.column_names]
    return table, tm.Schema(known)


def against(table: pa.Table, schema: tm.Schema, method: Method, intruder: float) -> dict[str, Any]:
    found = tm.protect(table, schema, method, seed=3).evaluate(attackers=TRYING)
    head, nearest = found.headline, found.attackers.nearest
    return {
        "columns": len(schema),
        "records": table.num_rows,
        "nearest": nearest.share.value,
        "risk": head["risk"],
        "attacker": head["attacker"],
        "must": intruder - 0.05,
        "holds": bool(head["risk"] >= intruder - 0.05),
        "how": found.attackers.informed.how,
    }


def in_groups(table: pa.Table, schema: tm.Schema, method: Method, k: int) -> dict[str, Any]:
    releases = (tm.protect(table, schema, method, seed=seed) for seed in range(RELEASES))
    shares = [
        release.evaluate(attackers=["informed"], seed=seed).attackers.informed.share
        for seed, release in enumerate(releases)
    ]
    values = [share.value for share in shares]
    return {
        "informed": float(np.mean(values)),
        "± standard error": float(np.std(values, ddof=1) / RELEASES**0.5),
        "at most 1/k": 1 / k,
        f"intervals of {RELEASES} that reach down to it": sum(share.low <= 1 / k for share in shares),
    }


def by_repetitions(method: Method) -> dict[str, Any]:
    """What the informed attacker finds after so many repetitions at most."""
    table = read_table(DATA / "casc" / "Tarragona.csv")
    names = table.column_names[:8]
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names])
    release, found = tm.protect(table.select(names), schema, method, seed=3), {}
    for repetitions.MORE in (1, 2, 4, 8):
        share = release.evaluate(attackers=["informed"], seed=5).attackers.informed.share
        found[str(repetitions.REPETITIONS * repetitions.MORE)] = share.value
    return found


CENSUS = {
    "numerical swapping 20": (8, tm.NumericalSwapping(p=20), 0.552),
    "rank swapping 20": (8, tm.RankSwapping(p=20), 0.913),
    "MicroHybrid 10": (8, tm.MicroHybrid(10), 0.207),
    "multiplicative noise 0.5": (13, tm.MultiplicativeNoise(0.5), 0.482),
    "correlated noise 1.0": (13, tm.Noise(1.0, correlated=True), 0.199),
}
PRAM_AND_NOISE = tm.Pipeline([tm.Pram(keep=0.3), tm.Noise(1.0, attributes=("age", "care_days"))])


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {
        f"Census, {name}": lambda how=how: against(*census(how[0]), *how[1:])  # type: ignore[misc]
        for name, how in CENSUS.items()
    }
    found["discharges, PRAM and noise"] = lambda: against(*discharges(), PRAM_AND_NOISE, 0.433)
    found["discharges, rank swapping 10"] = lambda: against(*discharges(), tm.RankSwapping(p=10), 0.927)
    found["Adult, rank swapping 10"] = lambda: against(*adult(), tm.RankSwapping(p=10), 0.728)
    for one in (tm.RankSwapping(p=5, algorithm=3), tm.MicroHybrid(5)):
        found[f"Tarragona, {one}"] = lambda one=one: by_repetitions(one)  # type: ignore[misc]
    for k in (3, 5, 10):
        for method in (tm.Microaggregation(k), tm.ReverseMapping(tm.Microaggregation(k)), tm.GroupPermutation(k)):
            found[f"Census, {method}"] = lambda method=method, k=k: in_groups(*census(8), method, k)  # type: ignore[misc]
    return found


if __name__ == "__main__":
    run(cases())
