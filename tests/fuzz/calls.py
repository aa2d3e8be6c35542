"""Random tables, schemas and methods: `protect` gives a release that keeps its word, or says what is wrong.

What a release promises is counted again here, from its rows alone and by other means than taxomask's own. Anything but
a release that keeps its word or an error of ours with a hint is a fault, and so is a call that computes for more than
ten seconds.

python tests/fuzz/calls.py --seconds 60 --seed 1 [--calls 1000]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

import taxomask as tm
from taxomask.errors import TaxomaskError

SLOW = 10.0
CODES = ["250", "2500", "25000", "25001", "4019", "401", "V270", "486", "71590", "7159", "E8859", "038"]
EDGES = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b"), ("d", "b"), ("e", "d"), ("f", "a"), ("f", "b")])
NUMBERS = [0, 1, -1, 0.5, 1e-9, 1e15, -1e15, 1e300, 2.5, 7, 7.25, 100, 0.1 + 0.2]


def column(rng: random.Random, n: int) -> tuple[dict[str, Any], list[Any]]:
    """An attribute and its values."""
    kind = rng.choice(["continuous", "continuous", "dates", "ordinal", "nominal", "taxonomic", "icd", "text", "lists"])
    few = rng.randint(1, 6)
    if kind == "continuous":
        some = [rng.choice(NUMBERS) for _ in range(few)]
        draw = rng.choice([lambda: rng.gauss(50, 9), lambda: rng.randint(0, 9), lambda: rng.choice(some)])
        return {"kind": "continuous"}, [draw() for _ in range(n)]
    if kind == "dates":
        return {"kind": "continuous"}, [date(1950, 1, 1) + timedelta(rng.randint(0, 9999)) for _ in range(n)]
    if kind == "ordinal":
        scale = ["low", "mid", "high", "top"][: max(few, 2)]
        return {"kind": "ordinal", "order": scale}, [rng.choice(scale) for _ in range(n)]
    if kind == "taxonomic":
        return {"kind": "taxonomic", "taxonomy": EDGES}, [rng.choice("abcdef") for _ in range(n)]
    if kind == "icd":
        return {"kind": "taxonomic", "taxonomy": "icd9cm"}, [rng.choice(CODES[: few * 2]) for _ in range(n)]
    if kind == "nominal":
        return {"kind": "nominal"}, [rng.choice(["x", "X ", "y", "z", "é", "0"][:few]) for _ in range(n)]
    if kind == "lists":
        return {}, [[rng.randint(0, 3)] * rng.randint(0, 2) for _ in range(n)]
    return {}, [rng.choice(["a text", "", "another", "Ann came"]) for _ in range(n)]


def table(rng: random.Random) -> tuple[pa.Table, tm.Schema]:
    n, width = rng.choice([0, 1, 2, 3, 5, 8, 13, 30, 60]), rng.randint(1, 5)
    columns, attributes = {}, []
    for number in range(width):
        about, values = column(rng, n)
        role = rng.choice(["quasi_identifier", "quasi_identifier", "confidential", "other"]) if about else "other"
        gaps = rng.choice([0, 0, 0.1, 0.5, 1])
        columns[f"c{number}"] = [None if rng.random() < gaps else one for one in values]
        attributes.append(tm.Attribute(f"c{number}", role=role, **about))
    if rng.random() < 0.3:
        columns["id"] = [f"p-{1000 + 7 * number}" for number in range(n)]
        attributes.append(tm.Attribute("id", role="identifier"))
    return pa.table(columns), tm.Schema(attributes)


def method(rng: random.Random) -> Any:
    k = rng.choice([1, 2, 2, 3, 5, 40])
    makers = [
        lambda: tm.Microaggregation(k, algorithm=rng.choice(["mdav", "refined"]), steps=50),
        lambda: tm.Microaggregation(k, keep_variance=True),
        lambda: tm.Microaggregation(k, l=rng.choice([None, 2]), t=rng.choice([None, 0.4])),
        lambda: tm.MicroHybrid(k, synthesis=rng.choice(["neighbourhood", "moments"])),
        lambda: tm.GroupPermutation(k, algorithm=rng.choice(["mdav", "refined"]), steps=50),
        lambda: tm.IndividualRanking(k, order=rng.choice(["taxonomy", "marginality"])),
        lambda: tm.Shuffling(),
        lambda: tm.RankSwapping(k=k, algorithm=rng.choice([1, 2, 3])),
        lambda: tm.RandomSwapping(),
        lambda: tm.ReverseMapping(tm.Microaggregation(k)),
        lambda: tm.Noise(rng.choice([0.1, 1.0, 1e-300]), keep_moments=rng.random() < 0.3),
        lambda: tm.MultiplicativeNoise(0.2),
        lambda: tm.MarginalityNoise(),
        lambda: tm.Pram(rng.choice([0, 0.5, 1])),
        lambda: tm.SemanticNoise(rng.choice([0, 0.01, 4, 64]), sharp=rng.random() < 0.5, missing="value"),
        lambda: tm.Generalisation(k, suppression=rng.choice([0, 0.3, 1])),
        lambda: tm.Suppression(k),
        lambda: tm.Recoding(level=rng.choice([1, 2])),
        lambda: tm.TopBottomCoding(top=rng.choice([50, 90])),
        lambda: tm.Rounding(rng.choice([1, 0.3, 7])),
        lambda: tm.Imputation(),
        lambda: tm.Pipeline([tm.Microaggregation(2), tm.Shuffling()]),
    ]
    return rng.choice(makers)()


def recounted(original: pa.Table, schema: tm.Schema, used: Any, release: tm.Release) -> Iterator[str]:
    """What does not hold of a release."""
    data = release.data
    if "id" in data.column_names:
        yield "an identifier is released"
    if data.num_rows != original.num_rows and release.linked and not any("dropped" in one for one in release.notes):
        yield f"{data.num_rows} rows of {original.num_rows}"
    known = [name for name in schema.quasi_identifiers if name in data.column_names]
    kinds = (tm.Microaggregation, tm.Generalisation, tm.Suppression)
    if isinstance(used, kinds) and known and data.num_rows:
        rows = Counter(zip(*(map(repr, data[name].to_pylist()) for name in known), strict=True))
        if isinstance(used, tm.Suppression):  # a missing cell goes with every value
            whole = Counter({row: count for row, count in rows.items() if "None" not in row})
            rows = Counter({row: count + sum(rows.values()) - sum(whole.values()) for row, count in whole.items()})
        if rows and min(rows.values()) < used.k:
            yield f"a class of {min(rows.values())} records, k is {used.k}"
    if isinstance(used, tm.IndividualRanking) and data.num_rows:
        for name in known:
            if min(Counter(map(repr, data[name].to_pylist())).values()) < used.k:
                yield f"a value of {name} that fewer than k = {used.k} records share"
    swapped = (tm.RankSwapping, tm.RandomSwapping, tm.ReverseMapping, tm.Shuffling, tm.GroupPermutation)
    if isinstance(used, swapped):
        for name in release.protected:
            before, after = (sorted(map(repr, one[name].to_pylist())) for one in (original, data))
            if before != after:
                yield f"the values of {name} are not those of the original"


def outcome(seed: int) -> str:
    """What came of one call."""
    rng = random.Random(seed)
    content, schema = table(rng)
    used = method(rng)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            release = tm.protect(content, schema, used, seed=seed)
    except TaxomaskError as error:
        found = "refused" if error.hint else f"no hint: {error}"
    except Exception:
        return traceback.format_exc()
    else:
        found = "; ".join(recounted(content, schema, used, release)) or "released"
    return found if time.process_time() - start < SLOW else f"{found}, after {time.process_time() - start:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tried: Counter[str] = Counter()
    end, faults = time.monotonic() + given.seconds, {}
    for seed in range(given.seed * 10**9, given.seed * 10**9 + given.calls):
        if time.monotonic() > end:
            break
        found = outcome(seed)
        tried[found if found in ("released", "refused") else "faults"] += 1
        if found not in ("released", "refused"):
            faults[seed] = found
    print(f"{tried.total():,} calls: " + ", ".join(f"{count:,} {what}" for what, count in tried.items()))
    for seed, found in faults.items():
        print(f"\n--- seed {seed}: {found}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
