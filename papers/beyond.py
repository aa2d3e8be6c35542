"""Beyond the papers: what this library adds, in rows and columns of the papers' own tables, on stand-in data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np

import taxomask as tm
from papers import mapping_back, mapping_design
from papers.data import NUMBERS, discharge_schema, discharges
from papers.harness import SEEDS, Interval, Page, Value, number, over_seeds, printed
from papers.p0_runs import share_of
from taxomask.measures import (
    distance_correlations,
    overall_loss,
    relative_differences,
    root_mean_square_errors,
    squared_error,
)
from taxomask.measures.risk import record_linkage

CODE = "dx01"
NAMES = {"AGE_YRS": "age_years", "LOS": "care_days", "DIAG_P": CODE}
GROUPS = range(2, 21, 2)  # k of P1's tables
INTERVALS = (2, 5, 10, 20, 50, 100)  # k of P3's tables
SAMPLE = 1_172  # records of P3's first data set
KEY_K, KEY_INTERVAL = 10, 20
KEYS = {"MDAV", "MDAV, as printed", "MDAV, balanced", "refined, balanced"}


@cache
def neoplasm() -> tm.Microdata:
    return tm.Microdata.from_frame(discharges("neoplasm"), discharge_schema())


@cache
def sample() -> tm.Microdata:
    """As many records as P3's first data set has."""
    return neoplasm().take(np.random.default_rng(0).permutation(neoplasm().n)[:SAMPLE])


def masked(method: tm.Method, data: tm.Microdata, seed: int) -> tm.Microdata:
    return method.mask(data, np.random.default_rng(seed)).data


# ---------------------------------------------------------------------------------------------------- P0, Tables 1, 2


def p0_methods(n: int) -> dict[str, tm.Method]:
    k = share_of(n)
    every = list(NAMES.values())
    return {
        "imputation with the diagnosis": tm.Imputation(attributes=every, given=()),
        "MicroHybrid as printed": tm.MicroHybrid(k, scale="paper", draw="uniform"),
        "MicroHybrid, balanced": tm.MicroHybrid(k),
        "MicroHybrid, balanced, reverse-mapped": tm.ReverseMapping(tm.MicroHybrid(k)),
        "rank swapping 3, mixed records, 1 %": tm.RankSwapping(p=1, algorithm=3),
    }


def p0_figures(method: tm.Method, data: tm.Microdata, seed: int) -> dict[str, float]:
    """The rows of the table, and those that the paper has no definition for."""
    release = masked(method, data, seed)
    found = relative_differences(data, release)
    theirs = {ours: name for name, ours in NAMES.items()}
    rows = {f"mean {theirs[name]}": value for name, value in found.means.each.items()}
    rows |= {f"variance {theirs[name]}": value for name, value in found.variances.each.items()}
    rows |= {f"covariance {theirs[a]}+{theirs[b]}": value for (a, b), value in found.covariances.each.items()}
    connections = distance_correlations(data, release).each
    rows |= {f"distance correlation {theirs[a]}+{theirs[b]}": value for (a, b), value in connections.items()}
    return rows | {"records linked": record_linkage(data, release).expected.value}


def p0(page: Page) -> None:
    data = neoplasm()
    found = {name: over_seeds(partial(p0_figures, method, data)) for name, method in p0_methods(data.n).items()}
    theirs = printed("P0", "1")
    first = next(iter(found.values()))
    page.text(
        f"""
## P0, Table 1: the diagnosis imputed, MicroHybrid balanced and reverse-mapped
Δ(θ) = |θ' − θ| / |θ| on the {data.n:,} neoplasm discharges, the mean of {len(SEEDS)} seeds with its 95 % interval;
printed values (of other data) where the paper has them. Two kinds of rows are new. P0 has no covariance of a number
with a code, so there are distance correlations (their absolute change); and the share of records linked rightly, of
which a random guess finds {number(1 / data.n, 3)}. MicroHybrid has k = {share_of(data.n)}, the same share of the
records as in the paper, not the k of equal risk (see [P0](p0.md)).
"""
    )
    columns = {"imputation": "printed: imputation", "micro_hybrid": "printed: MicroHybrid"}
    page.table(
        "",
        ["", *columns.values(), *found],
        [[row, *(theirs.get((row, c)) for c in columns), *(each[row] for each in found.values())] for row in first],
    )
    codes = ("mean DIAG_P", "variance DIAG_P")
    imputed = found["imputation with the diagnosis"]
    page.check(
        "Imputation can include the diagnosis, which P0 calls far too large a model, and keeps its mean and variance "
        "within 5 %",
        all(imputed[row].high < 0.05 for row in codes),
        f"Δ of the mean {number(imputed[codes[0]].mean, 3)}, of the variance {number(imputed[codes[1]].mean, 3)}.",
    )
    mapped, plain = found["MicroHybrid, balanced, reverse-mapped"], found["MicroHybrid, balanced"]
    single = [row for row in first if row.startswith(("mean", "variance"))]
    _fewer(
        page, "Reverse mapping makes all means and variances of MicroHybrid exact", mapped, plain, single, exact=True
    )
    joint = [row for row in first if row.startswith(("covariance", "distance"))]
    _fewer(
        page,
        "Reverse mapping keeps the covariances and distance correlations of MicroHybrid better",
        mapped,
        plain,
        joint,
    )
    swapped = found["rank swapping 3, mixed records, 1 %"]
    _fewer(
        page,
        "Swapping whole mixed records keeps covariances and distance correlations better than MicroHybrid as printed",
        swapped,
        found["MicroHybrid as printed"],
        joint,
    )


def _fewer(
    page: Page,
    sentence: str,
    one: Mapping[str, Interval],
    other: Mapping[str, Interval],
    rows: Sequence[str],
    exact: bool = False,
) -> None:
    """Whether one method loses less than another in every row, beyond chance; or nothing at all."""
    better = [row for row in rows if (one[row].high < 1e-9 if exact else one[row].high < other[row].low)]
    shown = "; ".join(f"{row}: {number(one[row].mean, 3)} for {number(other[row].mean, 3)}" for row in rows)
    page.check(sentence, len(better) == len(rows), f"{len(better)} of {len(rows)}. {shown}.")


# ---------------------------------------------------------------------------------------------------- P1, Tables 2, 4


def p1_methods(k: int, alone: bool) -> dict[str, tm.Method]:
    if alone:  # one attribute: scales do not matter
        return {
            "MDAV": tm.Microaggregation(k, attributes=[CODE]),
            "refined": tm.Microaggregation(k, algorithm="refined", objective="semantic", attributes=[CODE]),
        }
    return {
        "MDAV, as printed": tm.Microaggregation(k, scale="paper"),
        "MDAV, balanced": tm.Microaggregation(k),
        "refined, balanced": tm.Microaggregation(k, algorithm="refined"),
    }


def p1_figures(method: tm.Method, seed: int = 0) -> dict[str, float]:
    """SSE of the diagnosis as in the tables, and the loss of the numbers."""
    data = neoplasm()
    release = masked(method, data, seed)
    return {
        "diagnosis": squared_error(data.columns[CODE], release.columns[CODE]).sse,
        "numbers": 100 * overall_loss(data, release, NUMBERS).overall,
    }


def p1(page: Page, quick: bool) -> None:
    for alone, table in ((False, "2"), (True, "4")):
        found = {
            k: {name: p1_figures(method) for name, method in p1_methods(k, alone).items() if not quick or name in KEYS}
            for k in ([KEY_K] if quick else GROUPS)
        }
        for name, figures in found[KEY_K].items():
            if name in KEYS:
                page.key(f"P1 Table {table}, k = {KEY_K}, {name}: SSE(DIAG_P)", figures["diagnosis"])
        if not quick:
            _p1_table(page, table, alone, found)


def _p1_table(page: Page, table: str, alone: bool, found: Mapping[int, Mapping[str, Mapping[str, float]]]) -> None:
    names = list(found[KEY_K])
    what = "the diagnosis alone" if alone else "age, days of care and diagnosis"
    page.text(f"## P1, Table {table}: {'refined groups' if alone else 'balanced S-distance and refined groups'}")
    page.text(
        f"Squared semantic error of the diagnosis in the {neoplasm().n:,} neoplasm discharges, groups made of {what}. "
        + (
            "The refined search lowers this very error."
            if alone
            else "In brackets 100·SSE/SST of age and days of care, the mean of both: the price of a heavier diagnosis."
        )
    )
    rows: list[list[Value]] = []
    for k, each in found.items():
        cells = [each[name]["diagnosis"] for name in names]
        shown = [f"{number(each[n]['diagnosis'])}" + ("" if alone else f" ({each[n]['numbers']:.1f})") for n in names]
        rows.append([f"{k}", *shown, f"{1 - cells[-1] / cells[0]:.0%}"])
    page.table("", ["k", *names, "last against first, less by"], rows)
    for worse, better in pairwise(names):
        wins = [k for k, each in found.items() if each[better]["diagnosis"] < each[worse]["diagnosis"]]
        page.check(
            f"The error of the diagnosis is smaller with '{better}' than with '{worse}' at every k",
            len(wins) == len(found),
            f"At {len(wins)} of {len(found)} values of k.",
        )
    if alone:
        return
    spread = over_seeds(lambda seed: p1_figures(p1_methods(KEY_K, False)["refined, balanced"], seed), SEEDS[:5])
    page.text(
        f"The refined search draws at random. Over {len(SEEDS[:5])} seeds at k = {KEY_K} its error of the diagnosis is "
        f"{number(spread['diagnosis'].mean)} [{number(spread['diagnosis'].low)}, {number(spread['diagnosis'].high)}]; "
        "the table has the first seed."
    )


# --------------------------------------------------------------------------------------------------- P3, Tables 2 to 4


def p3_figures(algorithm: int, k: int, seed: int) -> dict[str, float]:
    data = sample()
    release = masked(tm.RankSwapping(k=k, algorithm=algorithm), data, seed)  # type: ignore[arg-type]
    return {
        "RMSE(DIAG_P)": root_mean_square_errors(data, release).each[CODE],
        "loss of AGE_YRS, LOS": overall_loss(data, release, NUMBERS).overall,
        "change of the distance correlations": distance_correlations(data, release).overall,
        "records linked": record_linkage(data, release).expected.value,
    }


def p3(page: Page, quick: bool) -> None:
    algorithms = (3,) if quick else (1, 2, 3)
    found = {
        (algorithm, k): over_seeds(partial(p3_figures, algorithm, k))
        for algorithm in algorithms
        for k in ([KEY_INTERVAL] if quick else INTERVALS)
    }
    for what, value in found[3, KEY_INTERVAL].items():
        page.key(f"P3 algorithm 3 on mixed records, k = {KEY_INTERVAL}: {what}", value)
    if quick:
        return
    measures = list(found[3, KEY_INTERVAL])
    page.text(
        f"""
## P3, Tables 2 to 4: records of numbers and codes
P3 swaps nominal attributes. Here its algorithms swap age, days of care and diagnosis of {SAMPLE:,} neoplasm discharges,
as many as P3's first data set has: algorithms 1 and 2 column by column, algorithm 3 whole records of mixed types by
S-distance.
Means of {len(SEEDS)} seeds with 95 % intervals. The changes of the three distance correlations are averaged.
"""
    )
    rows: list[list[Value]] = [
        [f"{algorithm}", what, *(found[algorithm, k][what] for k in INTERVALS)]
        for what in measures
        for algorithm in algorithms
    ]
    page.table("", ["algorithm", "", *(f"k = {k}" for k in INTERVALS)], rows)

    def always(one: int, other: int, what: str, sentence: str) -> None:
        wins = [k for k in INTERVALS if found[one, k][what].high < found[other, k][what].low]
        shown = "; ".join(
            f"k = {k}: {number(found[one, k][what].mean, 3)} for {number(found[other, k][what].mean, 3)}"
            for k in INTERVALS
        )
        page.check(
            f"{sentence}, at every k",
            len(wins) == len(INTERVALS),
            f"Beyond chance at {len(wins)} of {len(INTERVALS)}. {shown}.",
        )

    always(3, 1, measures[2], "On mixed records algorithm 3 keeps the distance correlations better than algorithm 1")
    always(3, 2, measures[2], "On mixed records algorithm 3 keeps the distance correlations better than algorithm 2")
    always(3, 2, measures[3], "Algorithm 3 has a smaller risk than algorithm 2")
    always(2, 3, measures[0], "Algorithm 2 has a smaller error of the diagnosis than algorithm 3, as in P3's tables")


# -------------------------------------------------------------------------------------------------------------- page


def page(quick: bool = False) -> Page:
    page = Page("beyond", "Beyond the papers")
    if not quick:
        page.text(
            "What this library adds to the papers, in their own tables on the stand-in data (NHDS 2010, neoplasm): the "
            "diagnosis in imputation, the balanced S-distance, refined groups, rank swapping of mixed records, reverse "
            "mapping of MicroHybrid and of everything else. Sentences that were checked are ours, not the papers'. All "
            "methods in one picture: [risk and utility](ru_map.md)."
        )
        with page.timed("P0, Table 1"):
            p0(page)
    with page.timed("P1, Tables 2 and 4"):
        p1(page, quick)
    with page.timed("P3, Tables 2 to 4"):
        p3(page, quick)
    with page.timed("reverse mapping of every mechanism"):
        mapping_back.every_mechanism(page, quick)
    with page.timed("reverse mapping by size, ties and skewness"):
        mapping_design.section(page, quick)
    if not quick:
        with page.timed("reverse mapping of other sizes; privacy models"):
            mapping_back.other_sizes(page)
            mapping_back.privacy_models(page)
    return page
