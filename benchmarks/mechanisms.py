"""Masking mechanisms at 1,000,000 records: CPU seconds of masking and of the checked release. Tests nothing.

    python benchmarks/mechanisms.py [case …]

The values are those of the shipped example (2,000 real discharges: age, days of care, beds, sex, region, diagnosis),
each column drawn by itself with replacement, which makes more different records than real tables have. Ages and days
get a random fraction, so that all numbers differ, unless "whole numbers" is said. Each case runs in a process of its
own, on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from measuring import Case, run, timed
from taxomask import examples
from taxomask.methods import Method
from taxomask.methods.pram import invariant_flows
from taxomask.microdata import read_table

N = 1_000_000
BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]
KINDS: dict[str, dict[str, Any]] = {
    "age": {"kind": "continuous"},
    "care_days": {"kind": "continuous"},
    "n_beds": {"kind": "ordinal", "order": BEDS},
    "sex": {"kind": "nominal"},
    "region": {"kind": "nominal"},
    "dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"},
}


def table(fractions: bool) -> tuple[pa.Table, tm.Schema]:
    rng = np.random.default_rng(1)
    names = list(KINDS)
    numbers, texts = read_table(examples.path(), names), read_table(examples.path(), ["dx01"], text=True)
    columns = {
        name: (texts if name == "dx01" else numbers)[name].take(rng.integers(0, numbers.num_rows, N)).combine_chunks()
        for name in names
    }
    if fractions:
        for name in ("age", "care_days"):
            columns[name] = pa.array(columns[name].to_numpy() + rng.random(N))
    return pa.table(columns), tm.Schema(
        [tm.Attribute(name, role="quasi_identifier", **kind) for name, kind in KINDS.items()]
    )


def case(method: Method, fractions: bool = True) -> Case:
    def work() -> dict[str, Any]:
        frame, schema = table(fractions)
        data = tm.Microdata.from_frame(frame, schema)
        masked, masking = timed(lambda: method.mask(data, np.random.default_rng(2)))
        _, release = timed(lambda: tm.protect(frame, schema, method, seed=2))
        return {"mask CPU s": masking, "protect CPU s": release, "notes": " ".join(masked.notes)[:110]}

    return work


def flows(categories: int) -> Case:
    def work() -> dict[str, Any]:
        icd = tm.Taxonomy.builtin("icd9cm")
        rng = np.random.default_rng(3)
        distances = icd.table(np.sort(rng.choice(len(icd) - 1, categories, replace=False) + 1))
        counts = np.ceil(1e5 / np.arange(1, categories + 1)).astype(np.int64)[rng.permutation(categories)]
        found, seconds = timed(lambda: invariant_flows(distances, counts, 0.05))
        return {"CPU s": seconds, "|tP/t - 1|": f"{np.abs(found.sum(axis=0) / counts - 1).max():.0e}"}

    return work


CASES: dict[str, Case] = {
    "noise": case(tm.Noise()),
    "noise, correlated, moments": case(tm.Noise(correlated=True, keep_moments=True)),
    "multiplicative noise": case(tm.MultiplicativeNoise()),
    "marginality noise": case(tm.MarginalityNoise()),
    "pram, semantic": case(tm.Pram()),
    "pram, flat": case(tm.Pram(semantic=False)),
    "recoding": case(tm.Recoding(3)),
    "generalisation, whole numbers": case(tm.Generalisation(5), fractions=False),
    "generalisation": case(tm.Generalisation(5)),
    "suppression, whole numbers": case(tm.Suppression(5), fractions=False),
    "suppression": case(tm.Suppression(5)),
    "top and bottom coding": case(tm.TopBottomCoding(top=97.5, bottom=2.5)),
    "rounding": case(tm.Rounding(5)),
    "rounding, random": case(tm.Rounding(5, random=True)),
    "pipeline of three": case(tm.Pipeline([tm.TopBottomCoding(top=98), tm.Noise(), tm.Rounding(1)])),
    "invariant matrix, 1,000 codes": flows(1_000),
    "invariant matrix, 5,000 codes": flows(5_000),
}


if __name__ == "__main__":
    run(CASES)
