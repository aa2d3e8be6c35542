"""Time against the number of records for every method, with the line of the papers' own complexity.

The page of timings: the only one that changes from run to run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import charts
from papers.data import NUMBERS, discharge_schema, discharges
from papers.harness import Page, number

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LONGEST = 60.0  # CPU seconds; a larger table that would take longer is left out
REPEAT = 0.5  # CPU seconds; what is faster is measured three times, and the smallest counts
EVERY = (*NUMBERS, "dx01")


@dataclass(frozen=True)
class Line:
    """What a naive implementation's time is proportional to, who says so, and the method at whose time it begins."""

    name: str
    growth: Callable[[int], float]
    reason: str
    start: str


@dataclass(frozen=True)
class Group:
    """Methods that stand in one figure."""

    title: str
    line: Line
    methods: Mapping[str, tm.Method]


def square(n: int) -> float:
    return float(n) ** 2


def sorts(n: int) -> float:
    return float(n) ** 2 * math.log(n)


def groups() -> list[Group]:
    """All methods that take a table of this kind."""
    noise = tm.Pipeline([tm.Noise(0.25), tm.MarginalityNoise(0.5)])
    return [
        Group(
            "microaggregation",
            Line(
                "n²",
                square,
                "MDAV as P2 writes it looks at all records left for each pair of groups; with k fixed that is n²",
                "MDAV, k = 5",
            ),
            {
                "MDAV, k = 5": tm.Microaggregation(5),
                "refined, k = 5": tm.Microaggregation(5, algorithm="refined"),
                "MicroHybrid, k = 5": tm.MicroHybrid(5),
                "generalisation, k = 5": tm.Generalisation(5),
                "suppression, k = 5": tm.Suppression(5),
            },
        ),
        Group(
            "swapping",
            Line(
                "n² log n",
                sorts,
                "P3 gives O(n² log n) for algorithms 2 and 3: half as many sorts as there are records",
                "rank swapping 3, k = 20",
            ),
            {
                "rank swapping 1, 1 %": tm.RankSwapping(p=1, algorithm=1),
                "rank swapping 2, 1 %": tm.RankSwapping(p=1, algorithm=2),
                "rank swapping 3, k = 20": tm.RankSwapping(k=20, algorithm=3),
                "numerical, 1 %": tm.NumericalSwapping(p=1, attributes=NUMBERS),
                "distributional, 1 %": tm.DistributionalSwapping(p=1, attributes=["dx01"]),
                "topological, 1 %": tm.TopologicalSwapping(p=1, attributes=["dx01"]),
                "random": tm.RandomSwapping(),
            },
        ),
        Group(
            "synthetic values and noise",
            Line(
                "n²",
                square,
                "marginality as P0's Algorithm 1 writes it sums over all pairs of records, n²",
                "shuffling",
            ),
            {
                "imputation": tm.Imputation(attributes=EVERY, given=()),
                "shuffling": tm.Shuffling(attributes=EVERY, given=()),
                "noise, marginality noise": noise,
                "the same, reverse-mapped": tm.ReverseMapping(noise),
                "multiplicative noise": tm.MultiplicativeNoise(0.2),
                "PRAM": tm.Pram(),
            },
        ),
    ]


def table(n: int) -> tm.Microdata:
    """Neoplasm discharges drawn with replacement; fractions make all ages and days different, so that nothing is saved
    by treating equal records once."""
    rng = np.random.default_rng(n)
    drawn = discharges("neoplasm").take(rng.integers(0, discharges("neoplasm").num_rows, n)).combine_chunks()
    columns = {name: pa.array(drawn[name].to_numpy() + rng.random(n)) for name in NUMBERS}
    return tm.Microdata.from_frame(pa.table({**columns, "dx01": drawn["dx01"]}), discharge_schema())


def seconds(method: tm.Method, data: tm.Microdata) -> float:
    """CPU seconds of masking; the smallest of three if it is fast."""
    found = []
    for _ in range(3):
        start = time.process_time()
        method.mask(data, np.random.default_rng(0))
        found.append(time.process_time() - start)
        if found[0] > REPEAT:
            break
    return min(found)


def measured(method: tm.Method, tables: Mapping[int, tm.Microdata]) -> list[tuple[int, float]]:
    """The time for each size, up to the first that would take too long."""
    method.mask(tables[SIZES[0]], np.random.default_rng(0))  # once, for what is loaded and compiled on first use
    found: list[tuple[int, float]] = []
    for n, data in tables.items():
        if len(found) > 1 and found[-1][1] * (n / found[-1][0]) ** max(growth(found[-2:]), 1.0) > LONGEST:
            break
        found.append((n, seconds(method, data)))
    return found


def growth(found: Sequence[tuple[int, float]]) -> float:
    """The exponent between the first and the last of some points: time grows like n to this power."""
    (a, first), (b, last) = found[0], found[-1]
    return math.log(last / first) / math.log(b / a)


def page(quick: bool = False) -> Page:
    page = Page("timings", "Time against the number of records")
    if quick:
        return page
    page.text(
        f"""
CPU seconds of masking (one thread; reading, checking and writing left out) for {SIZES[0]:,} to {SIZES[-1]:,} records:
neoplasm discharges of NHDS 2010 drawn with replacement, with random fractions of years and days, so that no two records
are equal. A size that would take longer than {LONGEST:g} s is left out. **This page and its figures change from run to
run**; no other does.

The dotted lines are what the papers' own way of computing would come to if it were as fast as one of the methods at
{SIZES[0]:,} records: drawn by the formula, not measured. "Growth" is the exponent of n over the last three sizes.
"""
    )
    with page.timed("tables"):
        tables = {n: table(n) for n in SIZES}
    for group in groups():
        with page.timed(group.title):
            found = {name: measured(method, tables) for name, method in group.methods.items()}
        _section(page, group.title, group.line, found)
    return page


def _section(page: Page, title: str, line: Line, found: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    n, first = found[line.start][0]
    naive = [(float(m), first * line.growth(m) / line.growth(n)) for m in SIZES]
    series = {name: [(float(m), one) for m, one in each] for name, each in found.items()}
    label = f"{line.name}, naive"
    page.text(f"## {title[0].upper()}{title[1:]}")
    page.figure(
        title.replace(" ", "-"),
        charts.lines(
            {**series, label: naive},
            title=f"CPU seconds against records: {title}",
            x="records",
            y="CPU seconds",
            log_x=True,
            log_y=True,
            plain=[label],
        ),
        f"CPU seconds against records: {title}; dotted: {line.name}",
    )
    last, took = found[line.start][-1]
    page.text(
        f"Naive line: {line.reason}. It begins at {line.start}, which takes {number(took, 2)} s for {last:,} records; "
        f"by the line it would be {number(dict(naive)[float(last)], 2)} s."
    )
    rows = [
        [name, *(number(dict(each)[m], 2) if m in dict(each) else "–" for m in SIZES), f"{growth(each[-3:]):.2f}"]
        for name, each in found.items()
    ]
    page.table("", ["method", *(f"{m:,}" for m in SIZES), "growth"], rows)
