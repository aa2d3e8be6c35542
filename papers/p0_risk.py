"""P0: disclosure risk by record linkage, and how it depends on k, which the paper chose by trying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

import taxomask as tm
from papers import charts
from papers.harness import SEEDS, Cell, Claim, Interval, Page, Value, number, over_seeds, printed
from papers.p0_runs import (
    PAPER_METHODS,
    SAME_SHARE,
    STAND_IN,
    Found,
    below,
    hybrid,
    rows_of,
    run,
    share_of,
    theirs,
    times_in_print,
)


def risk(page: Page, table: tm.Microdata, ours: Mapping[str, Found], k: int) -> None:
    guess = 100 / table.n
    percent = {name: float(printed("P0", "linkage")["correct matches, %", name]) for name in PAPER_METHODS}
    counts = [round(percent[name] * theirs("records") / 100) for name in PAPER_METHODS]
    cells: dict[Cell, Value] = {("correct matches, %", name): ours[name]["linked, paper"] for name in PAPER_METHODS}
    page.side_by_side(
        "P0",
        "linkage",
        cells,
        {
            "*": f"{STAND_IN} A random guess is right for {number(guess, 3)} % of {table.n:,} records, and for "
            f"{number(100 / theirs('records'), 3)} % of the paper's {theirs('records'):,}, of which the printed "
            f"percentages are {', '.join(map(str, counts))} records."
        },
        caption=f"records linked with their originals, in percent; k = {k}",
        data="a stand-in, NHDS 2010 neoplasm; ties count in part",
    )
    rows: list[Sequence[Value]] = [
        [name, found["linked, paper"], found["linked, paper"].mean / guess, found["linked, balanced"]]
        for name, found in ours.items()
    ]
    page.table(
        "All methods",
        ["", "paper's S-distance, %", "times a random guess", "balanced S-distance, %"],
        [*rows, ["a random guess", guess, 1.0, guess]],
    )
    linked = {name: found["linked, paper"] for name, found in ours.items()}
    no_news = all(_inside(linked[name], guess) for name in ("shuffling", "imputation"))
    page.claim(
        Claim(
            "shuffling has a lower disclosure risk than imputation",
            below(linked["shuffling"], linked["imputation"]),
            f"{_percent(linked['shuffling'])} and {_percent(linked['imputation'])}; a random guess, {number(guess, 3)} "
            f"%, is in {'both intervals' if no_news else 'not both intervals'}. "
            f"The printed difference is that of {counts[1]} and {counts[0]} records.",
        )
    )
    in_print = times_in_print("shuffling")
    share = linked[SAME_SHARE]
    low, high = _poisson(counts[-1])
    page.claim(
        Claim(
            f"with groups of 3 % of the records the risk of MicroHybrid is comparable with shuffling's (in print "
            f"{number(in_print, 2)} times it; comparable is what is not clearly above that)",
            not below(_times(linked["shuffling"], in_print), share),
            f"{_percent(share)}, {number(share.mean / linked['shuffling'].mean, 3)} times that of shuffling, with k = "
            f"{share_of(table.n)}. It takes k = {k}, {number(100 * k / table.n, 2)} % of the records, to come down to "
            f"{number(linked['micro_hybrid'].mean / linked['shuffling'].mean, 2)} times. The printed "
            f"{counts[-1]} records are one draw: a count of {counts[-1]} has the 95 % interval {number(low, 2)} to "
            f"{number(high, 2)} (Poisson).",
        )
    )


def _poisson(count: int) -> tuple[float, float]:
    """The exact 95 % interval of the mean of a count."""
    from scipy.stats import chi2

    return float(chi2.ppf(0.025, 2 * count) / 2), float(chi2.ppf(0.975, 2 * count + 2) / 2)


def _percent(value: Interval) -> str:
    return f"{number(value.mean, 3)} % [{number(value.low, 3)}, {number(value.high, 3)}]"


def _inside(value: Interval, point: float) -> bool:
    return value.low <= point <= value.high


def _times(value: Interval, factor: float) -> Interval:
    return Interval.of([one * factor for one in value.values])


def by_k(page: Page, table: tm.Microdata, ours: Mapping[str, Found], k_of_equal_risk: int) -> None:
    """How the risk and the loss of MicroHybrid depend on k, which the paper chose by trying."""
    found = {share_of(table.n): ours[SAME_SHARE], k_of_equal_risk: ours["micro_hybrid"]}
    sizes = sorted({3, 10, 30, 100, 600, 1800, *found})
    with page.timed("MicroHybrid by k"):
        for k in sizes:
            if k not in found:
                found[k] = over_seeds(partial(run, table, hybrid(k), scales=("paper",)))
    rows = rows_of(ours, "2")

    def loss(k: int) -> Interval:
        return Interval.of(
            [float(np.mean([found[k][f"2 {row}"].values[i] for row in rows])) for i in range(len(SEEDS))]
        )

    losses = {k: loss(k) for k in sizes}
    page.table(
        "MicroHybrid against k",
        ["k", "linked, %", "times shuffling", "times imputation", "mean Δ in samples, all rows"],
        [
            [
                str(k),
                found[k]["linked, paper"],
                *(
                    found[k]["linked, paper"].mean / ours[name]["linked, paper"].mean
                    for name in ("shuffling", "imputation")
                ),
                losses[k],
            ]
            for k in sizes
        ],
    )
    page.text(
        f"In print k = {theirs('k of MicroHybrid')} has {number(times_in_print('shuffling'), 2)} times the risk of "
        f"shuffling and {number(times_in_print('imputation'), 2)} times that of imputation."
    )
    guess = 100 / table.n
    points = {"MicroHybrid": [(float(k), found[k]["linked, paper"].mean) for k in sizes]}
    points["shuffling"] = [(float(k), ours["shuffling"]["linked, paper"].mean) for k in (sizes[0], sizes[-1])]
    points["a random guess"] = [(float(k), guess) for k in (sizes[0], sizes[-1])]
    bands = {
        "MicroHybrid": [
            (float(k), max(found[k]["linked, paper"].low, guess / 10), found[k]["linked, paper"].high) for k in sizes
        ]
    }
    svg = charts.lines(
        points, title="MicroHybrid: records linked, against k", x="k", y="records linked, %", log_x=True, log_y=True,
        bands=bands, plain=["a random guess"],
    )  # fmt: skip
    page.figure("linkage", svg, "Records linked with their originals against k; NHDS 2010 neoplasm")
    rising = [(k, after) for k, after in pairwise(sizes) if losses[after].mean <= losses[k].mean]
    page.claim(
        Claim(
            "the smaller k, the better MicroHybrid preserves statistics of samples",
            not rising,
            f"Mean Δ over k: {' / '.join(number(losses[k].mean, 3) for k in sizes)}"
            + (f"; not from {', '.join(f'{k} to {after}' for k, after in rising)}." if rising else "."),
        )
    )
