"""Shuffling and reverse mapping: CPU seconds and memory for a million records, and what becomes of rank correlations.

    python benchmarks/shuffling.py [case …]

"first" is the first run in a fresh process, which also pays for fresh memory; "best" the best of five. Changes are
those of the Spearman correlations between the shuffled columns and all columns, over five seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import taxomask as tm
from measuring import Case, best, run, timed
from synthetic import random_taxonomy
from taxomask._support.sorting import centred_ranks, stable_order
from taxomask.methods import Masked, Method
from taxomask.methods.reverse_mapping import ReverseMapping
from taxomask.methods.shuffling import Shuffling
from taxomask.microdata import read_table
from taxomask.semantics.ordering import rank_keys

CENSUS = Path(__file__).parents[1] / "tests" / "data" / "casc" / "CASCrefmicrodata.csv"
N = 1_000_000


class Noise(Method):
    """Normal noise with half the standard deviation, whole numbers if ``whole``; the reversed order of the codes."""

    name, about, reference = "noise", "Adds noise.", "none"

    def mask(self, data: tm.Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        changed: dict[str, Any] = {}
        for name, column in data.columns.items():
            if hasattr(column, "values"):
                noisy = column.values + rng.normal(0, column.values.std() / 2, data.n)
                changed[name] = column.with_values(noisy if name == "a" else np.rint(noisy))
            else:
                changed[name] = column.with_codes(len(column.categories) - 1 - column.codes)  # type: ignore[attr-defined]
        return Masked(data.replace(changed))

    def promises(self, data: tm.Microdata) -> tuple[()]:
        return ()


def schema(confidential: int, *attributes: tm.Attribute) -> tm.Schema:
    """The first few confidential."""
    roles = ["confidential" if i < confidential else "quasi_identifier" for i in range(len(attributes))]
    pairs = zip(roles, attributes, strict=True)
    return tm.Schema(tm.Attribute(a.name, role=r, kind=a.kind, order=a.order, taxonomy=a.taxonomy) for r, a in pairs)


def numbers(values: NDArray[np.float64], confidential: int) -> tm.Microdata:
    names = [f"c{i}" for i in range(values.shape[1])]
    table = pa.table(dict(zip(names, values.T, strict=True)))
    described = schema(confidential, *(tm.Attribute(name, kind="continuous", role="other") for name in names))
    return tm.Microdata.from_frame(table, described)


def gaussian(n: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6))
    values[:, ::2] = np.exp(values[:, ::2] / 3)
    return values


def mixed(n: int) -> tm.Microdata:
    """Three confidential columns (number, concept of 5,000, ordered) given three (number, concept, plain)."""
    rng = np.random.default_rng(1)
    taxonomy = random_taxonomy(5_000, 6)
    latent = gaussian(n)
    concepts = np.array(sorted(taxonomy))[np.minimum(rng.zipf(1.4, n) - 1, len(taxonomy) - 1)]
    grades = ["low", "mid", "high"]
    table = pa.table(
        {
            "pay": latent[:, 0],
            "dx": concepts,
            "grade": np.array(grades)[np.digitize(latent[:, 1], [-1, 1])],
            "age": np.rint(50 + 10 * latent[:, 3]),
            "dx2": concepts[rng.permutation(n)],
            "region": rng.choice(["n", "e", "s", "w"], n),
        }
    )
    kinds: list[dict[str, Any]] = [
        {"kind": "continuous"},
        {"kind": "taxonomic", "taxonomy": taxonomy},
        {"kind": "ordinal", "order": grades},
        {"kind": "continuous"},
        {"kind": "taxonomic", "taxonomy": taxonomy},
        {"kind": "nominal"},
    ]
    pairs = zip(table.column_names, kinds, strict=True)
    return tm.Microdata.from_frame(
        table, schema(3, *(tm.Attribute(name, role="other", **kind) for name, kind in pairs))
    )


def speed(method: Method, data: tm.Microdata) -> dict[str, Any]:
    def work() -> Masked:
        return method.mask(data, np.random.default_rng(1))

    method.mask(data.take(np.arange(1_000)), np.random.default_rng(1))  # imports
    _, first = timed(work)
    return {"first": first, "best": best(work, 5)}


def order() -> dict[str, Any]:
    keys = np.random.default_rng(0).normal(size=N)
    assert np.array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
    ours, stable = best(lambda: stable_order(keys), 5), best(lambda: np.argsort(keys, kind="stable"), 5)
    return {"ours": ours, "np.argsort": best(lambda: np.argsort(keys), 5), "stable": stable, "ratio": stable / ours}


def reverse(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    if kind == "concepts":
        data = mixed(N)
        data = tm.Microdata.from_frame(pa.table({"dx": data.to_frame()["dx"]}), tm.Schema([data.schema["dx"]]))
    else:
        name, values = ("a", rng.lognormal(size=N)) if kind == "numbers" else ("b", rng.integers(0, 100, N))
        attribute = tm.Attribute(name, role="quasi_identifier", kind="continuous")
        data = tm.Microdata.from_frame(pa.table({name: values}), tm.Schema([attribute]))
    inner, whole = speed(Noise(), data), speed(ReverseMapping(Noise()), data)
    return {key: whole[key] - inner[key] for key in whole}


def changes(data: tm.Microdata, **options: Any) -> dict[str, Any]:
    """How much the rank correlations change."""
    names = data.schema.confidential

    def correlations(table: tm.Microdata) -> NDArray[np.float64]:
        keys = [rank_keys(table.columns[name], data.columns[name]) for name in (*names, *data.schema.quasi_identifiers)]
        return np.corrcoef([centred_ranks(key) for key in keys])[: len(names)]

    before = correlations(data)
    masked = [Shuffling(**options).mask(data, np.random.default_rng(seed)) for seed in range(5)]
    moved = np.array([np.abs(correlations(one.data) - before) for one in masked])
    repaired = any("positive definite" in note for note in masked[0].notes)
    return {
        "largest": moved.max(),
        "mean of largest": moved.max(axis=(1, 2)).mean(),
        "mean": moved.mean(),
        "repaired": "yes" if repaired else "no",
    }


def census(*confidential: str, **options: Any) -> dict[str, Any]:
    table = read_table(CENSUS)
    names = [*confidential, *(name for name in table.column_names if name not in confidential)]
    described = schema(len(confidential), *(tm.Attribute(name, role="other", kind="continuous") for name in names))
    return changes(tm.Microdata.from_frame(table.select(names), described), **options)


INCOME = ("PTOTVAL", "POTHVAL", "PEARNVAL")
HALF = (*INCOME, "FICA", "WSALVAL", "ERNVAL", "INTVAL")
CASES: dict[str, Case] = {
    "order 1M": order,
    "shuffling 1M x 6 (must 0.6)": lambda: speed(Shuffling(), numbers(gaussian(N), 3)),
    "shuffling 1M x 6, mixed": lambda: speed(Shuffling(), mixed(N)),
    "reverse 1M numbers (must 0.5)": lambda: reverse("numbers"),
    "reverse 1M ages (must 0.5)": lambda: reverse("ages"),
    "reverse 1M concepts (must 0.5)": lambda: reverse("concepts"),
    "change 20k x 6, no ties (must 0.02)": lambda: changes(numbers(gaussian(20_000), 3)),
    "change Census 3 | 10": lambda: census(*INCOME),
    "change Census 3 | 10, paper": lambda: census(*INCOME, ties="paper"),
    "change Census 7 | 6": lambda: census(*HALF),
    "change Census 13 | 0": lambda: census(*read_table(CENSUS).column_names),
    "change 20k mixed": lambda: changes(mixed(20_000)),
    "change 20k mixed, paper": lambda: changes(mixed(20_000), ties="paper"),
}


if __name__ == "__main__":
    run(CASES)
