"""Record linkage: CPU seconds against the targets, and all risk measures on real discharges. Prints a table.

    python benchmarks/linkage.py [--quick] [--discharges FILE]

Synthetic tables are those of microaggregation.py. Masked by noise of 10 % of the standard deviation; in mixed tables
two attributes are permuted as well and the diagnosis is shifted by up to two codes. The time is of everything: the
tree, the order of the queries and the search. At 19,502 records the result is compared with a scan of all pairs for a
sample of queries. FILE is a table of discharges with the columns of the National Hospital Discharge Survey.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from measuring import best, peak
from microaggregation import space
from taxomask.partition.nearest import Neighbours
from taxomask.records import NumberTerm, RecordDistance, TableTerm, Term

MUST = {
    ("numeric", 143_472): 0.25,
    ("mixed", 143_472): 2.0,
    ("numeric", 1_000_000): 2.0,
    ("mixed", 1_000_000): 16.0,
}
BEDS = ["6-99", "100-199", "200-299", "300-499", "500+"]


def masked(table: RecordDistance) -> RecordDistance:
    rng = np.random.default_rng(table.n)
    terms: list[Term] = []
    mixed = any(isinstance(term, TableTerm) for term in table.terms)
    for place, term in enumerate(table.terms):
        values = term.coordinates
        if isinstance(term, NumberTerm):
            noise = rng.normal(0, 0.1 * values.std(), table.n)
            term = replace(term, coordinates=rng.permutation(values) if mixed and place >= 2 else values + noise)
        elif isinstance(term, TableTerm):
            shifted = np.clip(values + rng.integers(-2, 3, table.n), 0, len(term.table) - 2)
            term = replace(term, coordinates=shifted.astype(np.int32))
        terms.append(term)
    out = RecordDistance.from_terms(terms)
    out.coordinates  # noqa: B018 - made before the clock starts
    return out


def check(table: RecordDistance, queries: RecordDistance) -> None:
    found = Neighbours(table).nearest(queries)
    numbers, codes = queries.coordinates
    for i in range(0, queries.n, 97):
        squared = table.squared_from(numbers[i], codes[i])
        assert found.squared[i] == squared.min()
        assert found.ties[i] == (squared <= found.reach[i]).sum()


def synthetic(quick: bool) -> None:
    print(f"{'table':<28}{'CPU s':>9}{'must':>7}{'ns per query':>14}{'peak MB':>9}")
    for kind in ("numeric", "mixed"):
        table = space(kind, 19_502, 4)
        check(table, masked(table))
        for n in (19_502, 143_472) if quick else (19_502, 143_472, 1_000_000):
            table = space(kind, n, 4)
            queries = masked(table)
            taken = best(
                lambda table=table, queries=queries: Neighbours(table).nearest(queries), 3 if n < 500_000 else 2
            )
            must = MUST.get((kind, n))
            name = f"{kind} {n:,} x {len(table.terms)}"
            print(f"{name:<28}{taken:>9.3f}{must or '':>7}{1e9 * taken / n:>14,.0f}{peak():>9.0f}", flush=True)


def discharges(path: str) -> None:
    """Every risk measure of a release with k = 5; half of the records serve as control for inference."""
    import taxomask as tm
    from taxomask.measures import risk
    from taxomask.microdata import read_table

    names = ["age_years", "sex", "region", "n_beds", "care_days", "weighting"]
    frame = read_table(path, names).append_column("dx01", read_table(path, ["dx01"], text=True)["dx01"])
    schema = tm.Schema(
        [
            tm.Attribute("age_years", role="quasi_identifier", kind="continuous"),
            tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
            tm.Attribute("region", role="quasi_identifier", kind="nominal"),
            tm.Attribute("n_beds", role="quasi_identifier", kind="ordinal", order=BEDS),
            tm.Attribute("care_days", role="quasi_identifier", kind="continuous"),
            tm.Attribute("dx01", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
            tm.Attribute("weighting", role="other", kind="continuous"),
        ]
    )
    original = tm.Microdata.from_frame(frame, schema)
    released = tm.Microaggregation(k=5).mask(original, np.random.default_rng(1)).data
    rng = np.random.default_rng(2)
    ages: Any = original.columns["age_years"]
    noisy = original.replace(
        age_years=ages.with_values(ages.values + rng.normal(0, 0.1 * ages.values.std(), original.n))
    )
    half = rng.permutation(original.n)
    inside, outside = original.take(np.sort(half[: original.n // 2])), original.take(np.sort(half[original.n // 2 :]))
    known = tuple(name for name in schema.quasi_identifiers if name != "dx01")
    swapped = max(original.n // 100, 1)
    levels = {"category": 4, "chapter": 2}
    work: dict[str, Callable[[], Any]] = {
        "class sizes": lambda: risk.class_sizes(original, released),
        "re-identification": lambda: risk.reidentification(original, released),
        "individual risk": lambda: risk.individual_risk(original, released, "weighting"),
        "l-diversity of the diagnosis": lambda: risk.l_diversity(original, released, "dx01", known),
        "t-closeness of the diagnosis": lambda: risk.t_closeness(original, released, "dx01", known),
        "linkage": lambda: risk.record_linkage(original, released),
        "linkage, noise": lambda: risk.record_linkage(original, noisy),
        "linkage by up to 2 attributes": lambda: risk.partial_linkage(original, released, most=2),
        "interval disclosure": lambda: risk.interval_disclosure(original, released),
        "rank correlation": lambda: risk.rank_correlation(original, released),
        "inference of the diagnosis": lambda: risk.inference(
            inside, inside, "dx01", known, control=outside, levels=levels
        ),
        "rank swapping attack, 1 %": lambda: risk.rank_swapping_attack(original, released, swapped),
    }
    print(f"\n{original.n:,} discharges x {len(schema.quasi_identifiers)}: CPU s of each measure")
    total = 0.0
    for name, measure in work.items():
        start = time.process_time()
        result = measure()
        taken = time.process_time() - start
        total += taken
        print(f"{name:<34}{taken:>8.2f}{peak():>9.0f} MB  {_first(result)}", flush=True)
    print(f"{'all':<34}{total:>8.2f}  (must: 30)")


def _first(result: Any) -> str:
    """The first figures of a result."""
    one = result[0] if isinstance(result, tuple) else result
    parts = vars(one) if hasattr(one, "__dataclass_fields__") else one
    text = ", ".join(f"{name} {value}" for name, value in parts.items() if not isinstance(value, np.ndarray))
    return text if len(text) < 160 else text[:157] + "…"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the tables of a million records")
    parser.add_argument("--discharges", metavar="FILE", help="run all risk measures on this table")
    chosen = parser.parse_args()
    if chosen.discharges:
        discharges(chosen.discharges)
    else:
        synthetic(chosen.quick)


if __name__ == "__main__":
    main()
