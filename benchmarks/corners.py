"""The jobs that were slow once, on one table each: CPU seconds, beside what they must be. Tests nothing.

    python benchmarks/corners.py [case …]

Discharges are made up: age, days of care, beds, sex, region, and one of 1,500 diagnoses of ICD-9-CM with uneven
frequencies. Each case runs in a process of its own, on one thread, with kernels that were compiled before: the best of
two runs, and the first, which also makes what is kept (distances of codes). Those called "first" compile: a new process
with an empty cache, everything that it does counted. Groups of one number are in
one_number.py, the losses of the refined search in refinement.py.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import taxomask as tm
from measuring import Case, run, timed
from refinement import read_adult
from taxomask.measures.risk import interval_disclosure
from taxomask.methods import Method

BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]
MIXED = ("age", "care_days", "n_beds", "sex", "region", "dx01")
KINDS: dict[str, dict[str, Any]] = {
    "n_beds": {"kind": "ordinal", "order": BEDS},
    "sex": {"kind": "nominal"},
    "region": {"kind": "nominal"},
    "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"},
    "outcome": {"kind": "taxonomic", "taxonomy": "icd9cm"},
    "status": {"kind": "nominal"},
}


def discharges(
    n: int, protected: tuple[str, ...] = MIXED, confidential: tuple[str, ...] = ()
) -> tuple[pa.Table, tm.Schema]:
    """The columns asked for; "x…" are further numbers."""
    rng = np.random.default_rng(1)
    taxonomy = tm.Taxonomy.builtin("icd9cm")
    codes = rng.choice([one for one in taxonomy if not taxonomy.children(one)], 1_500, replace=False)
    often = 1 / np.arange(1, 1_501)
    sick = rng.choice(1_500, n, p=often / often.sum())
    age = np.clip(np.rint(rng.normal(40 + 30 * np.sin(sick), 15)), 0, 99)
    made = {
        "age": age,
        "care_days": np.rint(np.exp(rng.normal(1 + age / 100, 0.8))) + 1,
        "n_beds": np.array(BEDS)[rng.integers(0, 5, n)],
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "region": np.array(list("nesw"))[rng.integers(0, 4, n)],
        "dx01": codes[sick],
        "outcome": codes[rng.choice(60, n)],
        "status": np.array(["home", "moved", "died"])[rng.choice(3, n, p=[0.8, 0.15, 0.05])],
        "cost": np.exp(rng.normal(8 + age / 100, 1)),
    }
    numbers = {name: rng.normal(age, 20) for name in (*protected, *confidential) if name.startswith("x")}
    columns = {name: numbers[name] if name in numbers else made[name] for name in (*protected, *confidential)}
    roles = dict.fromkeys(protected, "quasi_identifier") | dict.fromkeys(confidential, "confidential")
    schema = tm.Schema(
        [tm.Attribute(name, role=role, **KINDS.get(name, {"kind": "continuous"})) for name, role in roles.items()]
    )
    return pa.table(columns), schema


def fastest(work: Callable[[], Any], must: float) -> dict[str, Any]:
    answer, first = timed(work)
    _, second = timed(work)
    found = {"CPU s": min(first, second), "first": first, "must": must}
    return found | ({"cells": answer} if isinstance(answer, int) else {})


def masking(method: Method, must: float, *table: Any) -> dict[str, Any]:
    frame, schema = discharges(*table)
    small = tm.Microdata.from_frame(frame.slice(0, 1_000), schema)
    method.mask(small, np.random.default_rng(2))  # the kernels are loaded
    data = tm.Microdata.from_frame(frame, schema)
    return fastest(lambda: method.mask(data, np.random.default_rng(2)), must)


def evaluating(must: float, *table: Any) -> dict[str, Any]:
    """All measures, and the one attacker that there was when the bound was set."""
    release = tm.protect(*discharges(*table), tm.Microaggregation(5, block_size=10_000), seed=1)
    return fastest(lambda: release.evaluate(attackers=("nearest",)), must)


def disclosed(must: float) -> dict[str, Any]:
    release = tm.protect(*discharges(100_000, ("x1", "x2", "x3", "x4")), tm.Microaggregation(5), seed=1)
    data, released = release.original, release.released
    interval_disclosure(data, released)
    return fastest(lambda: interval_disclosure(data, released), must)


def comparing(must: float, attackers: tuple[str, ...] | None) -> dict[str, Any]:
    frame, schema = discharges(100_000)
    methods = [
        *(tm.Microaggregation(k, block_size=10_000) for k in (3, 5, 10, 20)),
        *(tm.RankSwapping(p=p) for p in (1, 2, 5, 10)),
        *(tm.MicroHybrid(k, block_size=10_000) for k in (5, 20)),
        tm.Shuffling(),
        tm.Pram(0.8),
    ]
    work = partial(tm.compare, frame, schema, methods, seed=1, attackers=attackers, cache=False, workers=1)
    return fastest(lambda: work().points, must)


ALL = "from taxomask._support.compiling import compile_all; compile_all()"
FIRST = """
import pyarrow.parquet
import taxomask as tm
kinds = {kinds}
schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", **kind) for name, kind in kinds.items()])
tm.protect(pyarrow.parquet.read_table({file!r}), schema, tm.Microaggregation(5), seed=1)
"""


def compiling(must: float, code: str) -> dict[str, Any]:
    """CPU seconds of a process that finds no compiled kernels: the best of two.

    The first writes the bytecode of all modules, where that is missing. Whoever installs packages with pip has it.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    until = [0.0]
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", code], env=environment | {"XDG_CACHE_HOME": folder}, check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        until.append(used.ru_utime + used.ru_stime)
    seconds = [after - before for before, after in pairwise(until)]
    return {"CPU s": min(seconds), "first": seconds[0], "must": must, "peak MB": used.ru_maxrss * 1024 / 1e6}


def first_release(must: float, columns: tuple[str, ...]) -> dict[str, Any]:
    frame, _ = discharges(2_000, columns)
    kinds = {name: KINDS.get(name, {"kind": "continuous"}) for name in columns}
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        pyarrow.parquet.write_table(frame, file.name)
        return compiling(must, FIRST.format(kinds=kinds, file=file.name))


def suppressing(must: float) -> dict[str, Any]:
    whole = read_adult()
    names = ["sex", "age", "race", "marital-status", "education"]
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in names])
    frame = pa.table({name: pa.array(list(map(str, whole.frame.native[name].to_pylist()))) for name in names})
    data = tm.Microdata.from_frame(frame, schema)

    def work() -> int:
        masked = tm.Suppression(3).mask(data, np.random.default_rng(1)).data
        return sum(int((masked.columns[name].codes < 0).sum()) for name in names)  # type: ignore[attr-defined]

    return fastest(work, must)


def cases() -> dict[str, Case]:
    wide = tuple(f"x{i}" for i in range(50))
    refined = tm.Microaggregation(5, algorithm="refined")
    close = tm.Microaggregation(5, t=0.3)
    return {
        "mixed in blocks 100,000": partial(masking, tm.Microaggregation(5, block_size=10_000), 2.5, 100_000),
        "mixed in blocks 1,000,000": partial(masking, tm.Microaggregation(5, block_size=10_000), 16, 1_000_000),
        "mixed 100,000": partial(masking, tm.Microaggregation(5), 3, 100_000),
        "mixed 1,000,000": partial(masking, tm.Microaggregation(5), 30, 1_000_000),
        "refined mixed 2,000 x 7": partial(masking, refined, 1.5, 2_000, (*MIXED, "cost")),
        "refined mixed 10,000 x 6": partial(masking, refined, 2.5, 10_000),
        "t number 100,000": partial(masking, close, 3, 100_000, ("age", "care_days", "sex"), ("cost",)),
        "t codes 100,000": partial(masking, close, 3, 100_000, ("age", "care_days", "sex"), ("dx01",)),
        "t codes 25,000": partial(masking, close, 3, 25_000, ("age", "care_days", "sex"), ("dx01",)),
        "rank swapping 3 100,000": partial(masking, tm.RankSwapping(p=1, algorithm=3), 8, 100_000),
        "imputation 1,000,000": partial(
            masking, tm.Imputation(attributes=["dx01"]), 15, 1_000_000, ("age", "care_days", "sex"), ("dx01",)
        ),
        "evaluate 100,000 x 10": partial(evaluating, 4.5, 100_000, (*MIXED, "x1"), ("cost", "status", "outcome")),
        "evaluate 1,000,000 x 6": partial(evaluating, 15, 1_000_000, MIXED[:5], ("dx01",)),
        "evaluate 100,000 x 60": partial(evaluating, 30, 100_000, (*MIXED, *wide), ("cost", "status", "outcome", "xx")),
        "interval disclosure 100,000 x 4": partial(disclosed, 0.07),
        "compare 12, nearest": partial(comparing, 8, ("nearest",)),
        "compare 12, all attackers": partial(comparing, np.inf, None),
        "suppression Adult": partial(suppressing, 0.5),
        "first release, numbers": partial(first_release, 5, ("x1", "x2", "x3", "x4")),
        "first release, mixed": partial(first_release, 8, MIXED),
        "first, all kernels": partial(compiling, 60, ALL),
    }


if __name__ == "__main__":
    run(cases())
