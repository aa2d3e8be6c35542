"""Tables of two papers in form, on public data of the same kind, beside the printed numbers.

P0: Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Tables 1 and 2: Δ(θ) = |θ' - θ| / |θ| of the whole table and the
mean over one hundred samples of 10 %, for imputation, shuffling and MicroHybrid. P1: Domingo-Ferrer, Sánchez,
Rufian-Torrell (2013), Tables 2 to 5: the squared semantic error of the diagnosis, microaggregated with and without its
meaning. The papers used Californian discharges of 2009, which are not public; here are the neoplasm and digestive
discharges of NHDS 2010 (age, days of care, diagnosis), so only the pattern can be compared. Printed numbers stand in
printed/tables.csv.

python benchmarks/paper_tables.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from semantic_error import DATA, schema
from taxomask.measures import relative_differences, relative_differences_in_samples, squared_error
from taxomask.measures.risk import record_linkage
from taxomask.microdata import read_table

HERE = Path(__file__).parent
NAMES = {"AGE_YRS": "age_years", "LOS": "care_days", "DIAG_P": "dx01"}
SEEDS = range(5)


def printed() -> dict[tuple[str, str, str, str], str]:
    with (HERE / "printed" / "tables.csv").open(newline="", encoding="utf-8") as file:
        return {(r["paper"], r["table"], r["row"], r["column"]): r["value"] for r in csv.DictReader(file)}


def read(name: str) -> pa.Table:
    return read_table(DATA / f"{name}.csv.gz", text=["dx01"])


def p0(printed: dict[tuple[str, str, str, str], str]) -> None:
    table = read("neoplasm")
    k = round(600 * table.num_rows / 19_502)  # the paper's share of the records
    methods: dict[str, tm.Imputation | tm.Shuffling | tm.MicroHybrid] = {
        "imputation": tm.Imputation(attributes=list(NAMES.values()), given=()),
        "shuffling": tm.Shuffling(attributes=list(NAMES.values()), given=()),
        "micro_hybrid": tm.MicroHybrid(k, scale="paper", draw="uniform"),
    }
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    risk: dict[str, list[float]] = {}
    for name, method in methods.items():
        for seed in SEEDS:
            release = tm.protect(table, schema(flat=False), method, seed=seed)
            both = release.original, release.released
            found.setdefault(("1", name), []).append(flat(relative_differences(*both)))
            samples = relative_differences_in_samples(*both, rng=np.random.default_rng(seed))
            found.setdefault(("2", name), []).append(flat(samples))
            risk.setdefault(name, []).append(100 * record_linkage(*both).expected.value)
    for number, what in (("1", "Δ of the whole table"), ("2", "mean Δ over 100 samples of 10 %")):
        print(f"P0 Table {number}: {what}; {table.num_rows:,} records, k = {k}, mean of {len(SEEDS)} seeds")
        print(f"  {'':28}" + "".join(f"{name + ' (printed)':>28}" for name in methods))
        for row in dict.fromkeys(key[2] for key in printed if key[:2] == ("P0", number)):
            statistic, _, attributes = row.partition(" ")
            key = f"{statistic} {'+'.join(NAMES[one] for one in attributes.split('+'))}"
            cells = [f"{mean(found[number, name], key):.5f} ({printed['P0', number, row, name]})" for name in methods]
            print(f"  {row:28}" + "".join(f"{cell:>28}" for cell in cells))
    shown = ", ".join(f"{name} {np.mean(values):.4f} %" for name, values in risk.items())
    print(f"  linked rightly: {shown}; a random guess {100 / table.num_rows:.4f} %; printed 0.0154, 0.0051, 0.0359 %\n")
    one, two = ({name: found[t, name] for name in methods} for t in "12")
    claim(
        "shuffling keeps all means and variances",
        all(mean(one["shuffling"], f"{s} {a}") < 1e-9 for s in ("mean", "variance") for a in NAMES.values()),
    )
    claim(
        "imputation and shuffling lose less than MicroHybrid on days of care",
        max(mean(one[m], "variance care_days") for m in ("imputation", "shuffling"))
        < mean(one["micro_hybrid"], "variance care_days"),
    )
    claim(
        "imputation keeps the covariance of age and days better than shuffling",
        mean(one["imputation"], "covariance age_years+care_days")
        < mean(one["shuffling"], "covariance age_years+care_days"),
    )
    claim("in samples shuffling no longer keeps means exactly", mean(two["shuffling"], "mean age_years") > 0)
    claim(
        "shuffling risks less than MicroHybrid",
        float(np.mean(risk["shuffling"])) < float(np.mean(risk["micro_hybrid"])),
    )


def flat(found: Any) -> dict[str, float]:
    """The differences by the names of the rows."""
    rows = {f"mean {name}": value for name, value in found.means.each.items()}
    rows |= {f"variance {name}": value for name, value in found.variances.each.items()}
    return rows | {f"covariance {'+'.join(pair)}": value for pair, value in found.covariances.each.items()}


def mean(runs: list[dict[str, float]], key: str) -> float:
    return float(np.mean([one[key] for one in runs]))


def claim(what: str, holds: bool) -> None:
    print(f"  {'holds' if holds else 'does not hold'} here: {what}")


def p1(printed: dict[tuple[str, str, str, str], str]) -> None:
    for number, name, alone in (
        ("2", "neoplasm", False),
        ("3", "digestive", False),
        ("4", "neoplasm", True),
        ("5", "digestive", True),
    ):
        table = read(name)
        columns = ["dx01"] if alone else list(NAMES.values())
        diagnosis = tm.Microdata.from_frame(table, schema(flat=False)).columns["dx01"]
        places = {category: i for i, category in enumerate(diagnosis.categories)}  # type: ignore[attr-defined]
        what = "diagnosis only" if alone else "age, days of care and diagnosis"
        print(
            f"\nP1 Table {number}: squared semantic error of the diagnosis; {name}, {what}, {table.num_rows:,} records"
        )
        print(
            f"  {'k':>4}{'classic (printed)':>26}{'marginality (printed)':>26}{'balanced':>12}{'gain %, printed':>24}"
        )
        gains = []
        for k in range(2, 21, 2):
            errors = {}
            for title, plain, scale in (
                ("classic", True, "paper"),
                ("marginality", False, "paper"),
                ("balanced", False, "balanced"),
            ):
                method = tm.Microaggregation(k, scale=scale, attributes=columns)  # type: ignore[arg-type]
                release = tm.protect(table, schema(plain), method)
                codes = [places[value] for value in release.data["dx01"].to_pylist()]
                errors[title] = squared_error(diagnosis, diagnosis.with_codes(codes)).sse  # type: ignore[attr-defined]
            theirs = {title: float(printed["P1", number, f"k={k}", title]) for title in ("classic", "marginality")}
            gain = 100 * (1 - errors["marginality"] / errors["classic"]) if errors["classic"] else 0.0
            gains.append((errors["classic"], errors["marginality"], errors["balanced"]))
            cells = [f"{errors[title]:.0f} ({theirs[title]:.0f})" for title in theirs]
            shown = f"{gain:.1f}, {100 * (1 - theirs['marginality'] / theirs['classic']):.1f}"
            print(f"  {k:>4}{cells[0]:>26}{cells[1]:>26}{errors['balanced']:>12.0f}{shown:>24}", flush=True)
        claim("meaning never makes the error larger (paper scale)", all(b <= a for a, b, _ in gains))
        claim(
            "the gain at k = 20 is above that at k = 4 (paper scale)",
            gains[-1][1] / gains[-1][0] < gains[1][1] / gains[1][0],
        )
        claim("the balanced scale is below the paper's at every k", all(c <= b for _, b, c in gains))


if __name__ == "__main__":
    numbers = printed()
    p0(numbers)
    p1(numbers)
