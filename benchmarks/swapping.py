"""How fast rank swapping is, and what it does to real discharges.

python benchmarks/swapping.py [case …]      all cases, or some: "2 open 1M", "3 paper 100k x 2", "tables"

The speed cases swap codes of a made-up taxonomy (uneven frequencies); the distance tables are made before the clock
starts. "tables" prints what Tables 2 to 6 of Rodriguez-Garcia, Batet and Sánchez (2019) show, on samples of the public
NHDS 2010 discharges; "survey" is the whole NHDS file, if its path is in the environment variable NHDS.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import taxomask as tm
from measuring import Case, run, timed
from synthetic import random_taxonomy
from taxomask import examples
from taxomask.measures import distance_correlations, root_mean_square_errors
from taxomask.methods._column_swaps import swap_at_ends
from taxomask.methods._record_swaps import swap_records
from taxomask.methods.distributional_swapping import DistributionalSwapping
from taxomask.methods.random_swapping import RandomSwapping
from taxomask.methods.rank_swapping import RankSwapping
from taxomask.methods.topological_swapping import TopologicalSwapping
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
    names = tuple(columns)
    swap_records(data.take(np.arange(1000)), names, 5, whole, np.random.default_rng(0))
    combinations = len(np.unique(np.stack([one.codes for one in columns.values()]), axis=1).T)
    swaps, seconds = timed(partial(swap_records, data, names, 20, whole, np.random.default_rng(1)))
    i, j = swaps["x0"].pairs.T
    return {"combinations": combinations, "s": seconds, "stayed": float((i == j).sum() / n)}


def discharges(seed: int, n: int, frequent: bool) -> tuple[pa.Table, tm.Schema]:
    """Discharges with a procedure: of any kind, or (like Dataset2) with frequent codes only."""
    path = os.environ.get("NHDS") or examples.path()
    table = read_table(path, ["dx01", "pc01"], text=True)
    frame = pa.table({name: table[name].cast(pa.string()) for name in ("dx01", "pc01")})
    frame = frame.filter(pa.compute.greater(pa.compute.utf8_length(frame["pc01"].fill_null("")), 0))
    rng = np.random.default_rng(seed)
    if frequent:
        for name, most in (("dx01", 55), ("pc01", 94)):
            counts = frame[name].value_counts().to_pylist()
            top = sorted(counts, key=lambda one: -one["counts"])[:most]
            frame = frame.filter(pa.compute.is_in(frame[name], pa.array([one["values"] for one in top])))
    frame = frame.take(np.sort(rng.choice(frame.num_rows, min(n, frame.num_rows), replace=False)))
    kinds = {"dx01": "icd9cm", "pc01": "icd9cm_procedures"}
    return frame, tm.Schema(
        [
            tm.Attribute(name, role="quasi_identifier", kind="taxonomic", taxonomy=kind, distance="wu_palmer")
            for name, kind in kinds.items()
        ]
    )


def figures(release: Any) -> tuple[float, float, float]:
    """RMSE of the diagnosis and the procedure, and sdCor between them."""
    out = []
    for name in ("dx01", "pc01"):
        before, after = release.original.columns[name], release.released.columns[name]
        out.append(float(np.sqrt(np.mean(np.square(before.table[before.codes, after.codes])))))
    kinds = "icd9cm", "icd9cm_procedures"
    out.append(tm.distance_correlation(*(release.data[name] for name in ("dx01", "pc01")), *kinds))
    return out[0], out[1], out[2]


def tables(seeds: int = 5) -> dict[str, Any]:
    for title, n, frequent in (("Dataset1", 1172, False), ("Dataset2", 1012, True)):
        frame, schema = discharges(1, n, frequent)
        original = tm.distance_correlation(frame["dx01"], frame["pc01"], "icd9cm", "icd9cm_procedures")
        sizes = ", ".join(f"{len(frame[name].unique())} {name}" for name in frame.column_names)
        print(
            f"\nLike {title}: {frame.num_rows} records, {sizes}, sdCor {original:.4f}; RMSE dx01 / pc01 / sdCor",
            file=sys.stderr,
        )
        rows: dict[str, Any] = {
            f"Algorithm {a}, {i}": partial(RankSwapping, algorithm=a, interval=i)
            for a in (1, 2, 3)
            for i in ("paper", "open")
        }
        rows |= {"distributional": DistributionalSwapping, "topological": TopologicalSwapping}
        rows["random"] = lambda k: RandomSwapping()
        ks = (2, 5, 10, 20, 50, 100)
        print(f"{'':<20}" + "".join(f"{f'k = {k}':^25}" for k in ks), file=sys.stderr)
        for label, method in rows.items():
            cells = []
            for k in ks:
                runs = [figures(tm.protect(frame, schema, method(k=k), seed=seed)) for seed in range(seeds)]
                cells.append(" / ".join(f"{value:.4f}" for value in np.mean(runs, axis=0)))
            print(f"{label:<20}" + "".join(f"{cell:^25}" for cell in cells), file=sys.stderr)
    return {}


def three(seeds: int = 5) -> dict[str, Any]:
    """Table 6: three attributes (diagnosis, procedure, second diagnosis) swapped with Algorithm 3."""
    if "NHDS" not in os.environ:
        return {"skipped": "set NHDS to the path of the file"}
    icd = {"dx01": "icd9cm", "pc01": "icd9cm_procedures", "dx02": "icd9cm"}
    table = read_table(os.environ["NHDS"], list(icd), text=True)
    table = table.filter(pc.and_kleene(pc.is_valid(table["pc01"]), pc.is_valid(table["dx02"])))
    frame = table.take(np.sort(np.random.default_rng(1).choice(table.num_rows, 1172, replace=False)))
    schema = tm.Schema(
        tm.Attribute(name, role="quasi_identifier", kind="taxonomic", taxonomy=taxonomy, distance="wu_palmer")
        for name, taxonomy in icd.items()
    )
    print("\nLike Dataset3, Algorithm 3: RMSE of each, and |change of sdCor| of each pair", file=sys.stderr)
    for k in (2, 5, 10, 20, 50, 100):
        runs = []
        for seed in range(seeds):
            release = tm.protect(frame, schema, RankSwapping(k, algorithm=3), seed=seed)
            both = release.original, release.released
            errors, changes = root_mean_square_errors(*both).each, distance_correlations(*both).each
            runs.append({**errors, **{" x ".join(pair): value for pair, value in changes.items()}})
        means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        print(f"k = {k:<4}", *(f"{key} {value:.4f}" for key, value in means.items()), sep="  ", file=sys.stderr)
    return {}


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
    "tables": tables,
    "three": three,
    "survey": survey,
}

if __name__ == "__main__":
    answers = run(CASES)
    for name, must in MUST.items():
        if name in answers:
            print(f"{name}: must {must} s")
