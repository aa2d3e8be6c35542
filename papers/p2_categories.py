"""P2, Tables 4 to 7: categorical attributes, median and convex median, with Adult in place of the Housing Survey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import charts
from papers.data import DATA
from papers.harness import SEEDS, Cell, Claim, Interval, Page, Value, number, over_seeds, printed
from taxomask.measures import entropy_loss, table_loss, total_distance
from taxomask.microdata import read_table

RECORDS = 1000  # of Adult in each sample; the paper does not say how many records it had
EDUCATION = [
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
]
BANDS = [f"{low}-{low + 4}" for low in range(15, 95, 5)]
ORDERED: dict[str, list[str]] = {"age": BANDS, "education": EDUCATION, "salary-class": ["<=50K", ">50K"]}
EIGHT = (*ORDERED, "sex", "race", "marital-status", "workclass", "occupation")
FOUR = ("age", "education", "sex", "marital-status")
MEASURES = ("Dist", "CTBIL'", "ACTBIL'", "EBIL")


@cache
def _adult() -> pa.Table:
    table = read_table(DATA / "adult" / "adult.csv.gz", text=True)
    bands = [BANDS[(int(age) - 15) // 5] for age in table["age"].to_pylist()]
    return table.set_column(table.column_names.index("age"), "age", pa.array(bands))


def _categorical_losses(names: Sequence[str], k: int, ordinal: Any, seed: int) -> dict[str, float]:
    rows = np.sort(np.random.default_rng(seed).choice(_adult().num_rows, RECORDS, replace=False))
    schema = tm.Schema(
        tm.Attribute(name, role="quasi_identifier", kind="ordinal", order=ORDERED[name])
        if name in ORDERED
        else tm.Attribute(name, role="quasi_identifier", kind="nominal")
        for name in names
    )
    method = tm.Microaggregation(k, distance="generic", ordinal=ordinal)
    release = tm.protect(_adult().take(rows).select(list(names)), schema, method, seed=seed)
    both = release.original, release.released
    tables = table_loss(*both)
    found = (total_distance(*both), tables.relative, tables.per_cell, entropy_loss(*both))
    return {measure: loss.overall for measure, loss in zip(MEASURES, found, strict=True)}


def categories(page: Page, sizes: Sequence[int], quick: bool) -> None:
    kinds: dict[str, tuple[Sequence[str], str, str]] = {
        "4": (EIGHT, "median", "eight attributes"),
        "5": (FOUR, "median", "four of them"),
        "6": (tuple(ORDERED), "median", "three ordered attributes, median"),
        "7": (tuple(ORDERED), "convex_median", "three ordered attributes, convex median"),
    }
    found: dict[str, dict[int, dict[str, Interval]]] = {table: {} for table in kinds}
    for table, (names, ordinal, _) in kinds.items():
        for k in sizes:
            found[table][k] = over_seeds(lambda seed: _categorical_losses(names, k, ordinal, seed), SEEDS)  # noqa: B023
    page.key("Dist of four attributes, k=2", found["5"][2]["Dist"])
    page.key("EBIL with the convex median, k=2", found["7"][2]["EBIL"])
    if quick:
        return
    page.text(
        "## Categorical attributes (section 6.2)\n\nThe paper's extract of the U.S. Housing Survey of 1993 (three "
        "ordered and eight plain attributes) is not public. Stand-in: Adult (UCI), "
        f"{len(SEEDS)} random samples of {RECORDS:,} of its {_adult().num_rows:,} records; mean and 95 % interval of "
        "the mean. Ordered: age in bands of five years, education, salary class. Plain: sex, race, marital status, "
        "work class, occupation. Only the pattern can be compared."
    )
    for table, (names, _, what) in kinds.items():
        ours: dict[Cell, Value] = {(f"k={k}", measure): found[table][k][measure] for k in sizes for measure in MEASURES}
        reason = {"*": f"Another data set: samples of Adult ({', '.join(names)})."}
        page.side_by_side("P2", table, ours, reason, caption=what, data="stand-in: Adult")
    _category_claims(page, found, list(sizes))


def _category_claims(page: Page, found: Mapping[str, Mapping[int, Mapping[str, Interval]]], sizes: list[int]) -> None:
    whole = ("Dist", "CTBIL'", "EBIL")
    theirs = {table: {cell: float(v) for cell, v in printed("P2", table).items()} for table in found}
    longer = [(m, k) for m in whole for k in sizes if found["4"][k][m].low <= found["5"][k][m].high]
    per_cell = sum(found["4"][k]["ACTBIL'"].mean > found["5"][k]["ACTBIL'"].mean for k in sizes)
    in_print = sum(theirs["4"][f"k={k}", "ACTBIL'"] > theirs["5"][f"k={k}", "ACTBIL'"] for k in sizes)
    page.claim(
        Claim(
            "The longer the quasi-identifier, the higher the loss (Table 4 against Table 5: Dist, CTBIL', EBIL)",
            not longer,
            f"At {len(whole) * len(sizes) - len(longer)} of {len(whole) * len(sizes)} cells, with intervals apart. "
            f"ACTBIL', a mean per cell of the tables, is higher at {per_cell} of {len(sizes)} k here and at {in_print} "
            "in print.",
        )
    )
    steps = [(table, m, k) for table in found for m in MEASURES for k in sizes[:-1]]
    falls = [(t, m, k) for t, m, k in steps if found[t][k + 1][m].mean < found[t][k][m].mean]
    printed_falls = [(t, m, k) for t, m, k in steps if theirs[t][f"k={k + 1}", m] < theirs[t][f"k={k}", m]]
    ends = all(found[t][sizes[-1]][m].low > found[t][sizes[0]][m].high for t in found for m in MEASURES)
    page.claim(
        Claim(
            "The larger k, the higher the loss (Tables 4 to 7)",
            ends and len(falls) <= len(printed_falls),
            f"{len(steps) - len(falls)} of {len(steps)} steps from k to k + 1 grow here, "
            f"{len(steps) - len(printed_falls)} in print; k = {sizes[-1]} is above k = {sizes[0]} in every column, "
            "with intervals apart.",
        )
    )
    better: list[tuple[str, int]] = []
    worse: list[tuple[str, int]] = []
    for m in MEASURES:
        for k in sizes:
            paired = Interval.of([b - a for a, b in zip(found["6"][k][m].values, found["7"][k][m].values, strict=True)])
            better += [(m, k)] if paired.high < 0 else []
            worse += [(m, k)] if paired.low > 0 else []
    cells = len(MEASURES) * len(sizes)
    by_measure = ", ".join(
        f"{m} {number(float(np.mean([100 * (found['7'][k][m].mean / found['6'][k][m].mean - 1) for k in sizes])), 2)} %"
        for m in MEASURES
    )
    in_print = sum(theirs["7"][f"k={k}", m] < theirs["6"][f"k={k}", m] for m in MEASURES for k in sizes)
    page.claim(
        Claim(
            "The convex median loses less than the median (Table 7 against Table 6)",
            len(better) > cells / 2 and not worse,
            f"Less at {len(better)} of {cells} cells, more at {len(worse)}, undecided at the others (95 % interval of "
            f"the difference within samples); in print less at {in_print}. Mean change: {by_measure}. Within given "
            "groups the median has the least Dist by definition: a convex median can gain there only by other groups.",
        )
    )
    ours = {m: {k: _percent(found["6"][k][m], found["7"][k][m]) for k in sizes} for m in whole}
    lines = {f"{m}, Adult": [(float(k), each.mean) for k, each in ours[m].items()] for m in whole}
    for m in whole:
        ratios = {k: theirs["7"][f"k={k}", m] / theirs["6"][f"k={k}", m] for k in sizes}
        lines[f"{m}, printed"] = [(float(k), 100 * (ratio - 1)) for k, ratio in ratios.items()]
    page.figure(
        "medians",
        charts.lines(
            lines,
            title="P2 Tables 6 and 7: loss with the convex median against the median",
            x="k",
            y="change of the loss, %",
            bands={f"{m}, Adult": [(float(k), each.low, each.high) for k, each in ours[m].items()] for m in whole},
            x_names={float(k): str(k) for k in sizes},
        ),
        "Below 0 the convex median loses less; bands are 95 % intervals of the mean over the samples of Adult.",
    )


def _percent(before: Interval, after: Interval) -> Interval:
    """The change within each sample, in percent."""
    return Interval.of([100 * (b / a - 1) for a, b in zip(before.values, after.values, strict=True)])
