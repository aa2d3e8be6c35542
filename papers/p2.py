"""P2: Domingo-Ferrer and Torra (2005), MDAV-generic. Census is the same data; Adult stands in for Housing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import charts
from papers.harness import Cell, Claim, Page, Value, printed
from papers.p2_categories import categories
from papers.p2_census import LENGTHS, SIZES, census
from taxomask.partition import Groups, Ordinal, aggregate


def page(quick: bool = False) -> Page:
    page = Page("p2", "P2: MDAV-generic")
    page.text(
        "Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation, "
        "Data Mining and Knowledge Discovery 11, doi 10.1007/s10618-005-0007-5."
    )
    _medians(page)
    _twelve_records(page)
    with page.timed("Tables 2 and 3 (Census)"):
        census(page, [(13, 3)] if quick else [(length, k) for length in LENGTHS for k in SIZES], quick)
    with page.timed("Tables 4 to 7 (Adult)"):
        categories(page, range(2, 3) if quick else range(2, 10), quick)
    return page


def _medians(page: Page) -> None:
    page.text("## Median and convex median (section 5.3)")
    ours: dict[Cell, Value] = {}
    for row, operator in printed("P2", "Figure 2 and text"):
        values = [int(value) for value in row.strip("{}").split(",")]
        found = {
            "median": _average(values, "median"),
            "convex median": _average(values, "convex_median"),
            "mean": float(np.mean(values)),
        }
        ours[row, operator] = float(found[operator])
    page.side_by_side("P2", "Figure 2 and text", ours, caption="two averages of ordered categories, on the scale 0 … 7")
    values = [1, 2, 2, 5, 6]
    median, convex_median = _average(values, "median"), _average(values, "convex_median")
    counts = np.bincount(values, minlength=8)
    up, down = np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1]
    convex = np.minimum(up, down)
    drawn = {
        f"f, median {median}": list(enumerate(counts.tolist())),
        f"f', convex median {convex_median}": list(enumerate(convex.tolist())),
    }
    page.figure(
        "figure2",
        charts.lines(
            drawn,
            title="P2 Figure 2: frequencies for the median and the convex median of {1, 2, 2, 5, 6}",
            x="category",
            y="frequency",
            from_zero=True,
            x_names={float(i): str(i) for i in range(len(counts))},
        ),
        "Figure 2 of the paper, drawn again: f' fills the gap between 2 and 5, where its median may lie.",
    )
    page.key("convex median of {1, 2, 2, 5, 6}", float(convex_median))


def _average(values: list[int], ordinal: Ordinal) -> int:
    """What a group of these categories, of the scale 0 … 7, is released as."""
    scale = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="ordinal", order=list(range(8)))])
    data = tm.Microdata.from_frame(pa.table({"x": values}), scale)
    column = aggregate(data.columns["x"], Groups(np.zeros(len(values), dtype=np.int32)), ordinal=ordinal)
    return int(data.replace({"x": column}).to_frame()["x"][0].as_py())


def _twelve_records(page: Page) -> None:
    theirs = printed("P2", "1")
    rows = list(dict.fromkeys(row for row, _ in theirs))
    table = pa.table({name: [theirs[row, name] for row in rows] for name in ("V1", "V2")})
    schema = tm.Schema(
        tm.Attribute(name, role="quasi_identifier", kind="ordinal", order=list(order))
        for name, order in (("V1", "abcde"), ("V2", "rstuv"))
    )
    release = tm.protect(table, schema, tm.Microaggregation(3, distance="generic"))
    assert release.groups is not None
    page.side_by_side(
        "P2",
        "1",
        {},
        caption="the twelve records that no recoding suits, and what microaggregation (k = 3) makes of them",
        given=["V1", "V2"],
        extra={(row, "group"): str(int(group) + 1) for row, group in zip(rows, release.groups, strict=True)}
        | {(row, f"{name} released"): release.data[name][i].as_py() for i, row in enumerate(rows) for name in schema},
    )
    changed = sum(table[name][i] != release.data[name][i] for i in range(len(rows)) for name in schema)
    page.claim(
        Claim(
            "Microaggregation makes the records 3-anonymous without a new category and without suppressing a value",
            all(check.holds for check in release.promise)
            and all(set(release.data[n].to_pylist()) <= set(schema[n].order or ()) for n in schema),
            f"{changed} of {2 * len(rows)} values change; all released values are categories of the original scale.",
        )
    )
