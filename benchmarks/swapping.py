"""How fast rank swapping is.

python benchmarks/swapping.py [case …]      all cases, or some: "2 open 1M", "3 paper 100k x 2"

The cases swap codes of a made-up taxonomy (uneven frequencies); the distance tables are made before the clock starts.
"survey" is the whole NHDS 2010 file, if its path is in the environment variable NHDS. What swapping does to real
discharges is in docs/papers/p3.md.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import Case, run, timed
from synthetic import random_taxonomy
from taxomask.methods._column_swaps import swap_at_ends
from taxomask.methods._record_swaps import record_terms, swap_records
from taxomask.methods.rank_swapping import RankSwapping
from taxomask.microdata import TaxonomicColumn, read_table

MUST = {
    "2 open 1M": 1.3, "2 open 10M": 15.0, "2 paper 1M": 2.4, "2 paper 10M": 33.0, "3 paper 100k x 2": 1.5,
    "3 paper 1M x 2": 12.0, "3 paper 100k x 3": 18.0,
}  # fmt: skip


def column(n: int, categories: int, seed: int, name: str = "x", taxonomy: tm.Taxonomy | None = None) -> TaxonomicColumn:
    """Codes with uneven frequencies; the table of distances is made."""
    if taxonomy is None:
        taxonomy = random_taxonomy(int(categories * 1.12), 6, seed=seed)
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(len(taxonomy.ids), categories, replace=False)).astype(np.int32)
    share = rng.lognormal(0, 1, categories)
    codes = rng.choice(categories, n, p=share / share.sum()).astype(np.int32)
    attribute = tm.Attribute(name, role="quasi_identifier", kind="taxonomic", taxonomy=taxonomy)
    made = TaxonomicColumn(attribute, codes, tuple(map(str, positions)), positions=positions)
    made.table  # noqa: B018
    return made


def algorithm_2(n: int, categories: int, whole: bool) -> dict[str, Any]:
    codes = column(n, categories, 1)
    swap_at_ends(codes.take(np.arange(1000)), 5, whole, np.random.default_rng(0))  # compiled, or loaded from the cache
    answer: dict[str, Any] = {}
    for label, k in (("k = 20", 20), ("k = 1 %", n // 100)):
        swaps, answer[f"{label}: s"] = timed(partial(swap_at_ends, codes, k, whole, np.random.default_rng(1)))
        i, j = swaps.pairs.T
        answer[f"{label}: changed"] = float(2 * (codes.codes[i] != codes.codes[j]).sum() / n)
    return answer


def ontology(folder: str, file: str, n: int) -> dict[str, Any]:
    """Algorithm 2 on 5,000 concepts of a real ontology, a DAG, with the table of distances."""
    taxonomy = tm.Taxonomy.read(Path(__file__).parents[1] / "tests" / "data" / folder / file)
    swap_at_ends(column(1000, 100, 1, taxonomy=taxonomy), 5, False, np.random.default_rng(0))
    codes, seconds = timed(partial(column, n, 5000, 1, taxonomy=taxonomy))
    answer: dict[str, Any] = {"concepts": len(taxonomy), "table s": seconds}
    for label, whole in (("paper", False), ("open", True)):
        _, answer[f"{label} k = 20 s"] = timed(partial(swap_at_ends, codes, 20, whole, np.random.default_rng(1)))
    return answer


def algorithm_3(n: int, attributes: int, whole: bool) -> dict[str, Any]:
    """Attributes of 500 categories each; the second and third depend on the first."""
    rng = np.random.default_rng(2)
    columns = {f"x{a}": column(n, 500, a + 1, f"x{a}") for a in range(attributes)}
    first = columns["x0"]
    for name, other in columns.items():
        if name != "x0":
            near = np.clip(first.codes + np.rint(rng.laplace(0, 5, n)).astype(np.int32), 0, 499)
            columns[name] = other.with_codes(np.where(rng.random(n) < 0.95, near, other.codes))
    schema = tm.Schema([one.attribute for one in columns.values()])
    frame = pa.table({name: pa.nulls(n, pa.string()) for name in columns})
    data = tm.Microdata.from_frame(frame, schema).replace(columns)  # type: ignore[arg-type]

    def swap(table: tm.Microdata, k: int) -> Any:
        return swap_records(record_terms(table, tuple(columns)), k, whole, np.random.default_rng(1))

    swap(data.take(np.arange(1000)), 5)  # compiled, or loaded from the cache
    combinations = len(np.unique(np.stack([one.codes for one in columns.values()]), axis=1).T)
    swaps, seconds = timed(partial(swap, data, 20))
    i, j = swaps[0].pairs.T
    return {"combinations": combinations, "s": seconds, "stayed": float((i == j).sum() / n)}


def survey() -> dict[str, Any]:
    """The diagnosis of all discharges of NHDS 2010: what rank swapping says of itself."""
    if "NHDS" not in os.environ:
        return {"skipped": "set NHDS to the path of the file"}
    table = read_table(os.environ["NHDS"], ["dx01"], text=True)
    schema = tm.Schema(
        [tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm", unmapped="as_missing")]
    )
    data = tm.Microdata.from_frame(table, schema)
    answer: dict[str, Any] = {}
    for method in (RankSwapping(20), RankSwapping(20, interval="open"), RankSwapping(p=1), RankSwapping(p=2)):
        masked, seconds = timed(partial(method.mask, data, np.random.default_rng(1)))
        print(
            f"k = {method.k}, p = {method.p}, {method.interval}: {seconds:.2f} s",
            *masked.notes,
            sep="\n  ",
            file=sys.stderr,
        )
        answer[f"{method.k} {method.p} {method.interval}"] = seconds
    return answer


CASES: dict[str, Case] = {
    "2 open 1M": partial(algorithm_2, 1_000_000, 5000, True),
    "2 paper 1M": partial(algorithm_2, 1_000_000, 5000, False),
    "2 open 10M": partial(algorithm_2, 10_000_000, 5000, True),
    "2 paper 10M": partial(algorithm_2, 10_000_000, 5000, False),
    "3 paper 100k x 2": partial(algorithm_3, 100_000, 2, False),
    "3 open 100k x 2": partial(algorithm_3, 100_000, 2, True),
    "3 paper 1M x 2": partial(algorithm_3, 1_000_000, 2, False),
    "3 paper 100k x 3": partial(algorithm_3, 100_000, 3, False),
    "2 DOID 1M": partial(ontology, "doid", "doid.obo.gz", 1_000_000),
    "2 GO 1M": partial(ontology, "go", "go-basic.obo.gz", 1_000_000),
    "survey": survey,
}

if __name__ == "__main__":
    answers = run(CASES)
    for name, must in MUST.items():
        if name in answers:
            print(f"{name}: must {must} s")
