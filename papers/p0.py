"""P0: Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), anonymization of taxonomic microdata. Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from papers.harness import Cell, Claim, Page, Value, number, over_seeds, printed
from papers.p0_marginality import one_to_one
from papers.p0_risk import by_k, risk
from papers.p0_runs import (
    CORRECTED,
    OTHER_READING,
    PAPER_METHODS,
    SAME_SHARE,
    STAND_IN,
    Found,
    below,
    correlations,
    data,
    k_of_equal_risk,
    methods,
    rows_of,
    run,
    share_of,
    theirs,
    times_in_print,
)

REASONS: dict[str | Cell, str] = {
    **dict.fromkeys(
        ("mean CHARGE", "variance CHARGE", "covariance AGE_YRS+CHARGE", "covariance LOS+CHARGE"), "NHDS has no charges."
    ),
    **{
        (
            row,
            "imputation",
        ): "The paper's imputation (IVEware) could not model the diagnosis; ours goes down the taxonomy."
        for row in ("mean DIAG_P", "variance DIAG_P", "covariance SEX+DIAG_P", "covariance RACE+DIAG_P")
    },
    **{
        (row, "imputation"): f"{STAND_IN} Our imputation draws numbers through the margin that they have in the table."
        for row in ("mean AGE_YRS", "mean LOS", "variance AGE_YRS", "variance LOS")
    },
    "*": STAND_IN,
}


def page(quick: bool = False) -> Page:
    page = Page("p0", "P0: anonymization methods for taxonomic microdata")
    table = data("complete")
    k, share = k_of_equal_risk(table), share_of(table.n)
    if quick:
        few = ("shuffling", "micro_hybrid", SAME_SHARE)
        keys(page, {name: over_seeds(partial(run, table, methods(table, k)[name], samples=False)) for name in few}, k)
        one_to_one(page)
        return page
    page.text(
        "Domingo-Ferrer, Muralidhar, Rufian-Torrell (2012), Anonymization methods for taxonomic microdata, Privacy in "
        "Statistical Databases. Δ(θ) = |θ' - θ| / |θ| of means, variances and covariances, those of categories by "
        "marginality."
    )
    categories = len(table.categorical("dx01").categories)
    page.text(
        f"The paper's NEOPLASM data ({theirs('records'):,} discharges, {theirs('diagnoses')} diagnoses, California "
        f"2010) are not public. This is a **stand-in**: the {table.n:,} neoplasm discharges of the public NHDS 2010 "
        f"whose race is stated, with {categories} diagnoses. NHDS has no charges, so that the rows with them cannot be "
        "computed. All attributes are masked, given nothing. Distances between diagnoses are the paper's (weights "
        "2^(L-i) of the edges, Algorithm 1). Values are means of 20 seeds with 95 % intervals; the paper shows one run."
    )
    page.text(
        "Two things can be read in two ways, and both are shown.\n\n"
        f"- **k of MicroHybrid.** The authors chose k = {theirs('k of MicroHybrid')} by trying, so that the risk of "
        f"MicroHybrid is comparable with that of the others; in print it is {number(times_in_print('shuffling'), 2)} "
        f"times that of shuffling. In the same way k = {k} is found here, the smallest hundred at which the risk is at "
        f"most so many times that of shuffling: the column *micro_hybrid*. The other reading is the same share of the "
        f"records, k = {share} for {theirs('k of MicroHybrid')} of {theirs('records'):,}: the column *{SAME_SHARE}*.\n"
        "- **Ties in shuffling.** All attributes are full of ties, which make ranks follow normal scores less closely. "
        'The paper does nothing about it: the column *shuffling* (`ties="paper"`). This library makes up for it by '
        f"default: the column *{CORRECTED}*."
    )
    ours: dict[str, Found] = {}
    for name, method in methods(table, k).items():
        with page.timed(name):
            ours[name] = over_seeds(partial(run, table, method))
    page.side_by_side(
        "P0",
        "data",
        {
            ("records", "NEOPLASM"): float(table.n),
            ("diagnoses", "NEOPLASM"): float(categories),
            ("k of MicroHybrid", "NEOPLASM"): float(k),
        },
        {
            "*": STAND_IN,
            "k of MicroHybrid": f"Chosen by the risk, as the authors did; the same share of the records is {share}.",
        },
        caption="the records and the size of groups",
        data="a stand-in, NHDS 2010 neoplasm",
    )
    one_to_one(page)
    page.text("## Table 1: the whole table")
    show(page, "1", ours, f"Δ of means, variances and covariances; k = {k}")
    page.text(
        f"The columns at the right are not in the paper: the other readings ({CORRECTED}; MicroHybrid, k = {share}), "
        "MicroHybrid with this library's defaults (balanced S-distance, values drawn by their frequency), and the "
        "paper's MicroHybrid reverse-mapped to the original margins."
    )
    claims_of_table_1(page, ours)
    page.text("## Table 2: one hundred samples of 10 %")
    show(page, "2", ours, "mean Δ over 100 samples of 10 % of the records")
    claims_of_table_2(page, ours)
    page.text("## Disclosure risk: distance-based record linkage")
    risk(page, table, ours, k)
    by_k(page, table, ours, k)
    digestive(page)
    keys(page, ours, k)
    return page


def keys(page: Page, ours: Mapping[str, Found], k: int) -> None:
    page.key("k of equal risk", float(k))
    page.key("Table 1, shuffling, covariance AGE_YRS+LOS", ours["shuffling"]["1 covariance AGE_YRS+LOS"])
    page.key("Table 1, micro_hybrid, variance LOS", ours["micro_hybrid"]["1 variance LOS"])
    page.key("linkage, micro_hybrid, %", ours["micro_hybrid"]["linked, paper"])
    page.key("linkage, the same share, %", ours[SAME_SHARE]["linked, paper"])


def _largest(found: Found, starts: tuple[str, ...]) -> float:
    return max(max(value.values) for row, value in found.items() if row.startswith(starts))


def show(page: Page, table: str, ours: Mapping[str, Found], caption: str) -> None:
    rows = rows_of(ours, table)
    cells: dict[Cell, Value] = {(row, name): ours[name][f"{table} {row}"] for row in rows for name in PAPER_METHODS}
    extra: dict[Cell, Value] = {
        (row, name): ours[name][f"{table} {row}"] for row in rows for name in ours if name not in PAPER_METHODS
    }
    reasons = dict(REASONS)
    if table == "2":
        reasons["variance DIAG_P", "shuffling"] = (
            f"{STAND_IN} The printed 0 is hardly exact: in samples the diagnoses differ, as the printed mean and "
            "covariances show."
        )
    page.side_by_side("P0", table, cells, reasons, caption=caption, data="a stand-in, NHDS 2010 neoplasm", extra=extra)


def lost(ours: Mapping[str, Found], table: str, better: str, worse: str) -> tuple[list[str], list[str], int]:
    """Rows in which a method is clearly better than another, clearly worse, and the number of rows."""
    rows = rows_of(ours, table)
    pairs = {row: (ours[better][f"{table} {row}"], ours[worse][f"{table} {row}"]) for row in rows}
    return [row for row in rows if below(*pairs[row])], [row for row in rows if below(*pairs[row][::-1])], len(rows)


def counted(ours: Mapping[str, Found], table: str, better: str, worse: str) -> str:
    """In how many rows a method is better than another, in the paper's reading and in the other ones."""
    said = [_counted(ours, table, better, worse)]
    for name, reading in OTHER_READING.items():
        if name in (better, worse):
            pair = (reading if one == name else one for one in (better, worse))
            said.append(f"In the other reading: {_counted(ours, table, *pair)}")
    return " ".join(said)


def _counted(ours: Mapping[str, Found], table: str, better: str, worse: str) -> str:
    wins, losses, rows = lost(ours, table, better, worse)
    return (
        f"{better} is clearly lower than {worse} in {len(wins)} of {rows} rows and clearly higher in {len(losses)}"
        + (f" ({', '.join(losses)})" if 0 < len(losses) < 6 else "")
        + "."
    )


def claims_of_table_1(page: Page, ours: Mapping[str, Found]) -> None:
    page.text("### What the paper says of Table 1")
    worst = max(_largest(ours[name], ("1 mean", "1 variance")) for name in ("shuffling", CORRECTED))
    page.claim(
        Claim(
            "shuffling preserves all means and variances exactly",
            worst < 1e-12,
            f"The largest Δ of 20 seeds is {number(worst)}, with either treatment of ties.",
        )
    )
    wins, _, rows = lost(ours, "1", "shuffling", "imputation")
    page.claim(
        Claim(
            "shuffling performs better than imputation in most rows",
            len(wins) > rows / 2,
            counted(ours, "1", "shuffling", "imputation"),
        )
    )
    row = "1 covariance AGE_YRS+LOS"
    page.claim(
        Claim(
            "imputation keeps the covariance of age and length of stay better than shuffling",
            below(ours["imputation"][row], ours["shuffling"][row]),
            f"{_each(ours, row, ('imputation', 'shuffling', CORRECTED))}; in print {_in_print('1', row, 'imputation')} "
            f"and {_in_print('1', row, 'shuffling')}. {_small(ours)}",
        )
    )
    for other in ("shuffling", "imputation"):
        wins, _, rows = lost(ours, "1", other, "micro_hybrid")
        page.claim(
            Claim(
                f"MicroHybrid performs worse than {other} (in most rows)",
                len(wins) > rows / 2,
                counted(ours, "1", other, "micro_hybrid"),
            )
        )
    shown = {row: ours["imputation"][f"1 {row}"].mean for row in rows_of(ours, "1") if "DIAG_P" in row}
    page.claim(
        Claim(
            "sequential regression imputation is incapable of treating the diagnosis",
            False,
            "Here it can, not by one 0-1 variable for each category, which was not tried, but one step of the taxonomy "
            "after the other; the cells that are N/A in print are "
            f"{', '.join(f'{number(value, 3)} ({row})' for row, value in shown.items())}.",
        )
    )


def _each(ours: Mapping[str, Found], row: str, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {number(ours[name][row].mean, 3)}" for name in names)


def _in_print(table: str, row: str, column: str) -> str:
    return printed("P0", table)[row.removeprefix(f"{table} "), column]


def _small(ours: Mapping[str, Found]) -> str:
    """What becomes of the relation of age and length of stay."""
    before = correlations(data("complete"))
    parts = []
    for name, value in before.items():
        after = _each(ours, f"{name} of age and stay", ("imputation", "shuffling", CORRECTED))
        parts.append(f"the {name} is {number(value, 3)} in the original, {after}")
    return f"The covariance is small, which makes Δ large, and shuffling follows ranks: {'; '.join(parts)}."


def claims_of_table_2(page: Page, ours: Mapping[str, Found]) -> None:
    page.text("### What the paper says of Table 2")
    least = min(ours["shuffling"][f"2 {row}"].low for row in rows_of(ours, "2") if not row.startswith("cov"))
    page.claim(
        Claim(
            "in samples shuffling no longer preserves means and variances exactly",
            least > 0,
            f"The smallest lower end of an interval is {number(least)}.",
        )
    )
    best = {
        row: min(PAPER_METHODS, key=lambda name, row=row: ours[name][f"2 {row}"].mean)  # type: ignore[misc]
        for row in rows_of(ours, "2")
    }
    wins = {name: sum(one == name for one in best.values()) for name in PAPER_METHODS}
    page.claim(
        Claim(
            "none of the three methods wins for all statistics",
            max(wins.values()) < len(best),
            f"Rows with the lowest mean: {', '.join(f'{name} {count}' for name, count in wins.items())}.",
        )
    )
    better, worse, _ = lost(ours, "2", "shuffling", "micro_hybrid")
    page.claim(
        Claim(
            "shuffling behaves somewhat better than MicroHybrid (more rows clearly lower than higher)",
            len(better) > len(worse),
            counted(ours, "2", "shuffling", "micro_hybrid"),
        )
    )


def digestive(page: Page) -> None:
    """The same on another chapter, which the paper does not have."""
    table = data("digestive")
    share = share_of(table.n)
    chosen = {name: method for name, method in methods(table, share).items() if name in PAPER_METHODS}
    ours: dict[str, Found] = {}
    for name, method in chosen.items():
        with page.timed(f"digestive, {name}"):
            ours[name] = over_seeds(partial(run, table, method), range(10))
    page.text(
        f"## Beyond the paper: digestive diseases\n\nThe {table.n:,} discharges of NHDS 2010 with a principal "
        f"diagnosis in 520-579 (age, length of stay, diagnosis), k = {share} (the same share of the records), 10 seeds."
    )
    for number_of, caption in (("1", "Δ of the whole table"), ("2", "mean Δ over 100 samples of 10 %")):
        page.table(
            caption,
            ["", *chosen],
            [[row, *(ours[name][f"{number_of} {row}"] for name in chosen)] for row in rows_of(ours, number_of)],
        )
    page.table(
        "Records linked, in percent",
        ["", *chosen, "a random guess"],
        [["", *(ours[name]["linked, paper"] for name in chosen), 100 / table.n]],
    )
