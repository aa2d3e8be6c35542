"""P3 Tables 2 to 4 and Figures 5 to 7: three algorithms and two baselines on the stand-in for Dataset1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import taxomask as tm
from papers import charts
from papers.harness import SEEDS, Claim, Interval, Page, Value, number, over_seeds, printed
from papers.p3_runs import LETTERS, STAND_IN, Found, K, along, below, cells, compared, dataset1, difference, run, swept
from taxomask.measures import distance_correlations

DATA_1 = "a stand-in for Dataset1, NHDS 2010, ICD-9-CM; means of 20 seeds with 95 % intervals"

ALGORITHMS = ("Algorithm 1", "Algorithm 2", "Algorithm 3")

Sweep = Mapping[int, Found]


def tables(page: Page) -> None:
    data = dataset1()
    ours = {
        f"Algorithm {a}": swept(page, f"Algorithm {a}", data, partial(tm.RankSwapping, algorithm=a)) for a in (1, 2, 3)
    }
    ours["distributional"] = swept(page, "distributional", data, tm.DistributionalSwapping)
    with page.timed("random"):
        at_random = over_seeds(partial(run, data, tm.RandomSwapping()))
    ours["random"] = dict.fromkeys(K, at_random)
    for number_of, label in (("2", "Algorithm 1"), ("3", "Algorithm 2"), ("4", "Algorithm 3")):
        page.side_by_side("P3", number_of, cells(ours[label], number_of), {"*": STAND_IN}, caption=label, data=DATA_1)
    page.key("Table 4, k=2, RMSE X^a", ours["Algorithm 3"][2]["RMSE X^a"])
    page.key("Table 3, k=2, sdCor", ours["Algorithm 2"][2]["sdCor"])
    claims_of_tables(page, ours)
    figures(page, ours)
    claims_of_figures(page, ours)
    beyond(page, data, ours)


def claims_of_tables(page: Page, ours: Mapping[str, Sweep]) -> None:
    one, two, three = (ours[f"Algorithm {a}"] for a in (1, 2, 3))
    errors = ("RMSE X^a", "RMSE X^b")
    page.text("### What the paper says of Tables 2 to 4")
    kept = ("mean X^a moved by", "mean X^b moved by", "change of sdVar X^a", "change of sdVar X^b")
    worst = max(max(found[k][row].values) for found in (one, two, three) for k in K for row in kept)
    page.claim(
        Claim(
            "semantic mean and variance are perfectly preserved for all attributes",
            worst < 1e-12,
            f"The largest change in {3 * len(K) * len(SEEDS)} releases is {number(worst)}.",
        )
    )
    ties = _tied(dataset1())
    for a, found in ((1, one), (2, two), (3, three)):
        rising = all(difference(found[after][row], found[k][row]).low > 0 for row in errors for k, after in pairwise(K))
        page.claim(
            Claim(
                f"Algorithm {a}: the larger k, the larger the RMSE",
                rising,
                f"Over k, X^a {along(found, errors[0])}; X^b {along(found, errors[1])}."
                + (f" {ties}" if a == 1 else ""),
            )
        )
    compared(
        page,
        "Algorithms 2 and 3 have significantly lower RMSE than Algorithm 1 at every k",
        [f"Algorithm 2: {x}" for x in below(two, one, *errors)]
        + [f"Algorithm 3: {x}" for x in below(three, one, *errors)],
        f"RMSE X^b over k: {along(one, errors[1])} against {along(two, errors[1])} and {along(three, errors[1])}.",
    )
    ratios = [three[k][row].mean / two[k][row].mean for k in K for row in errors]
    in_print = [
        float(printed("P3", "4")[row, f"k={k}"]) / float(printed("P3", "3")[row, f"k={k}"]) for k in K for row in errors
    ]
    compared(
        page,
        "Algorithm 2 has (slightly) lower RMSE than Algorithm 3 at every k",
        below(two, three, *errors),
        f"The RMSE of Algorithm 3 is {number(min(ratios), 3)} to {number(max(ratios), 3)} times that of Algorithm 2; "
        f"in print {number(min(in_print), 3)} to {number(max(in_print), 3)} times.",
    )
    change = "change of sdCor"
    for a, other in ((1, one), (2, two)):
        compared(
            page,
            f"Algorithm 3 keeps sdCor better than Algorithm {a} at every k",
            below(three, other, change),
            f"Change over k: {along(three, change)} against {along(other, change)}.",
        )
    compared(
        page,
        "Algorithm 2 keeps sdCor better than Algorithm 1 at every k",
        below(two, one, change),
        f"Change over k: {along(two, change)} against {along(one, change)}.",
    )

    same = min(K, key=lambda k: abs(two[k]["RMSE X^a"].mean - three[20]["RMSE X^a"].mean))
    page.text(
        "Algorithm 3 also changes far more at the same k. At the same RMSE X^a it is further ahead: "
        f"{number(three[20]['RMSE X^a'].mean, 3)} with "
        f"k = 20, for a change of sdCor of {number(three[20][change].mean, 3)}; Algorithm 2 reaches "
        f"{number(two[same]['RMSE X^a'].mean, 3)} with k = {same}, for a change of {number(two[same][change].mean, 3)}."
    )


def _tied(data: tm.Microdata) -> str:
    """Why one ranking says little in a classification with few levels."""
    seen = []
    for name in data.columns:
        column: Any = data.columns[name]
        away = column.table @ column.counts
        from_most = np.round(column.table[int(np.argmax(away))], 9)
        levels = {level: int(column.counts[from_most == level].sum()) for level in np.unique(from_most)}
        largest = 100 * max(levels.values()) / data.n
        seen.append(
            f"{LETTERS[name]} {len(levels)} different distances, the commonest for {number(largest, 2)} % of records"
        )
    return (
        "In ICD-9-CM one ranking says almost nothing: concepts of different chapters meet only at the root, so that "
        f"most distances from the most distant value are ties ({'; '.join(seen)}), and the next k are strangers at any "
        "k."
    )


def figures(page: Page, ours: Mapping[str, Sweep]) -> None:
    page.text(
        "### Figures 5 to 7: with two baselines\n\nRandom swapping permutes without any order; distributional rank "
        "swapping orders categories by their frequency. The paper prints no numbers in these figures, only lines. "
        "Here the bands are 95 % intervals of the mean over 20 seeds (most are narrower than the line)."
    )
    for figure, row, title in (
        ("5", "RMSE X^a", "RMSE of the diagnosis, X^a"),
        ("6", "RMSE X^b", "RMSE of the procedure, X^b"),
        ("7", "sdCor", "Semantic distance correlation of X^a and X^b"),
    ):
        drawn = {label: ours[label] for label in ("random", "distributional", *ALGORITHMS)}
        series = {label: [(float(k), found[k][row].mean) for k in K] for label, found in drawn.items()}
        bands = {
            label: [(float(k), found[k][row].low, found[k][row].high) for k in K] for label, found in drawn.items()
        }
        level: list[str] = []
        if row == "sdCor":
            data = dataset1()
            before = distance_correlations(data, data).before["dx01", "pc01"]
            series["original"] = [(float(k), before) for k in (K[0], K[-1])]
            level = ["original"]
        svg = charts.lines(
            series, title=f"{title}, like Dataset1", x="k", y=row, log_x=True, bands=bands, plain=level, from_zero=True
        )
        page.figure(f"figure{figure}", svg, f"P3 Figure {figure}: {title}, against k; stand-in for Dataset1")
    rows: list[list[Value]] = []
    for row in ("RMSE X^a", "RMSE X^b", "sdCor"):
        rows.append([f"distributional, {row}", *(ours["distributional"][k][row] for k in K)])
        rows.append([f"random, {row}", ours["random"][K[0]][row], *[""] * (len(K) - 1)])
    page.table("The baselines of Figures 5 to 7 in numbers", ["", *(f"k={k}" for k in K)], rows)
    page.text("Random swapping has no k; its one value stands in the first column.")


def claims_of_figures(page: Page, ours: Mapping[str, Sweep]) -> None:
    page.text("### What the paper says of Figures 5 to 7")
    errors, change = ("RMSE X^a", "RMSE X^b"), "change of sdCor"
    one, two, three, by_count, at_random = (
        ours[label] for label in ("Algorithm 1", "Algorithm 2", "Algorithm 3", "distributional", "random")
    )
    left = at_random[2]["sdCor"].mean
    in_print = [printed("P3", "2")["sdCor", f"k={k}"] for k in K]
    most = max(max(found[k][change].mean for k in K) for found in (one, two, three, by_count))
    page.claim(
        Claim(
            "random swapping largely breaks the correlation",
            at_random[2][change].mean >= 0.95 * most,
            f"sdCor falls to {number(left)}, a change of {number(at_random[2][change].mean)}; the largest change of "
            f"any other mechanism is {number(most)}. Of a sample, sdCor does not fall to 0: {number(left)} is what no "
            f"dependence at all gives with so many categories, and the printed {min(in_print)} to {max(in_print)} of "
            "Algorithm 1 are not far above it.",
        )
    )
    gaps = [abs(by_count[k][row].mean / one[k][row].mean - 1) for k in K for row in errors]
    page.claim(
        Claim(
            "distributional rank swapping competes with Algorithm 1 in RMSE (within 20 % at every k)",
            max(gaps) < 0.2,
            f"RMSE X^a over k: {along(by_count, errors[0])} against {along(one, errors[0])}; X^b "
            f"{along(by_count, errors[1])} against {along(one, errors[1])}. The largest difference is "
            f"{number(100 * max(gaps), 2)} %.",
        )
    )
    for label, found in (("random", at_random), ("distributional", by_count)):
        compared(
            page,
            f"Algorithm 1 keeps sdCor significantly better than {label} swapping at every k",
            below(one, found, change),
            f"Change over k: {along(one, change)} against {along(found, change)}.",
        )
        compared(
            page,
            f"Algorithms 2 and 3 improve RMSE and sdCor over {label} swapping at every k",
            [f"Algorithm 2: {x}" for x in below(two, found, *errors, change)]
            + [f"Algorithm 3: {x}" for x in below(three, found, *errors, change)],
            f"At k = 10, RMSE X^a is {number(two[10][errors[0]].mean, 3)} and {number(three[10][errors[0]].mean, 3)} "
            f"against {number(found[10][errors[0]].mean, 3)}, the change of sdCor {number(two[10][change].mean, 3)} "
            f"and {number(three[10][change].mean, 3)} against {number(found[10][change].mean, 3)}.",
        )


def beyond(page: Page, data: tm.Microdata, ours: Mapping[str, Sweep]) -> None:
    """Open intervals, and the topological order of which the paper only speaks."""
    more = {
        f"Algorithm {a}, open": swept(
            page, f"Algorithm {a}, open", data, partial(tm.RankSwapping, algorithm=a, interval="open")
        )
        for a in (2, 3)
    }
    more["topological"] = swept(page, "topological", data, tm.TopologicalSwapping)
    rows: list[list[Value]] = []
    for label, found in (*((x, ours[x]) for x in ("Algorithm 2", "Algorithm 3")), *more.items()):
        rows += [[f"{label}, {row}", *(found[k][row] for k in K)] for row in ("RMSE X^a", "RMSE X^b", "sdCor")]
    page.table("Beyond the paper: intervals that never run dry, and Torra's order", ["", *(f"k={k}" for k in K)], rows)
    page.text(
        "In the paper's algorithms a value stays where it is if all of its k closest values are already swapped. With "
        '`interval="open"` the interval grows until it holds k values that can still be swapped: no value stays. '
        "*Topological* is the order that the paper speaks of (Torra) but does not measure: categories in an order in "
        "which ancestors come first, one ranking for all."
    )
    staying = {label: _stayed(data, label) for label in ("paper", "open")}
    page.table(
        "Values that found no partner, in percent (Algorithm 3, both attributes)",
        ["interval", *(f"k={k}" for k in K)],
        [[label, *staying[label]] for label in staying],
    )
    page.check(
        "ranking by meaning (Algorithm 2) has lower RMSE than Torra's topological order at every k",
        not below(ours["Algorithm 2"], more["topological"], "RMSE X^a", "RMSE X^b"),
        f"RMSE X^a over k: {along(ours['Algorithm 2'], 'RMSE X^a')} against {along(more['topological'], 'RMSE X^a')}.",
    )
    page.check(
        "the topological order, which keeps relatives together, has lower RMSE than the one ranking of Algorithm 1 at "
        "every k",
        not below(more["topological"], ours["Algorithm 1"], "RMSE X^a", "RMSE X^b"),
        f"RMSE X^a of Algorithm 1: {along(ours['Algorithm 1'], 'RMSE X^a')}.",
    )


def _stayed(data: tm.Microdata, interval: Any) -> list[Interval]:
    def share(k: int, seed: int) -> float:
        masked = tm.RankSwapping(k, algorithm=3, interval=interval).mask(data, np.random.default_rng(seed))
        assert masked.swaps is not None
        return 100 * float(np.mean([np.sum(pairs[:, 0] == pairs[:, 1]) / data.n for pairs in masked.swaps.values()]))

    return [over_seeds(partial(share, k), range(5)) for k in K]
