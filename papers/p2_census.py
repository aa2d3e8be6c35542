"""P2, Tables 2 and 3: what MDAV-generic loses on Census, by the text and as the printed tables were computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import taxomask as tm
from papers.data import DATA
from papers.harness import Cell, Claim, Page, Value, agrees, number, printed
from taxomask.measures import information_loss, probabilistic_loss
from taxomask.microdata import read_table

Float = NDArray[np.float64]

LENGTHS, SIZES = (6, 13), (3, 6, 9, 12)
OTHER_END = {(6, 6), (6, 9), (6, 12), (13, 12)}  # rows that are printed as if the last group grew around x_s
OTHER_END_REASON = (
    "The text grows the last group of k around the record farthest from the average. The printed row comes out, digit "
    "by digit, if it is grown around the other end, the record farthest from that one (see below)."
)
ROUNDED = (
    "Printed is 100 times the mean of the five rounded parts; our five parts, rounded alike, give the printed value."
)
BINS = (
    "The printed column comes out, digit by digit, if the density at a quantile is counted in a bin of the attribute's "
    "own width (1/1000 of its range) and divided by the width of the last attribute's bin, whatever the attribute (see "
    "the claim below). Here both widths are the attribute's own."
)


@cache
def _table() -> tuple[tuple[str, ...], tm.Microdata, Float]:
    table = read_table(DATA / "casc" / "CASCrefmicrodata.csv")
    names = tuple(table.column_names)
    schema = tm.Schema(tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names)
    numbers = np.column_stack([table[name].to_numpy() for name in names]).astype(float)
    return names, tm.Microdata.from_frame(table, schema), numbers


def masked(length: int, k: int) -> tuple[tm.Microdata, NDArray[np.int64]]:
    """The first attributes microaggregated with our method, and its groups."""
    names, data, _ = _table()
    method = tm.Microaggregation(k, keep_variance=True, attributes=names[:length])
    made = method.mask(data, np.random.default_rng(0))
    assert made.groups is not None
    return made.data, np.asarray(made.groups.numbers, dtype=np.int64)


def around_other_end(groups: NDArray[np.int64], length: int, k: int) -> tm.Microdata:
    """The same partition with the last two groups made anew: k records around x_s, farthest from x_r, and the rest."""
    names, data, numbers = _table()
    z = ((numbers - numbers.mean(axis=0)) / numbers.std(axis=0, ddof=1))[:, :length]
    rows = np.flatnonzero(groups >= groups.max() - 1)
    first = rows[_squares(z[rows], z[rows].mean(axis=0)).argmax()]
    other = rows[_squares(z[rows], z[first]).argmax()]
    near = rows[np.argsort(_squares(z[rows], z[other]), kind="stable")[:k]]
    groups = groups.copy()
    groups[rows], groups[near] = groups.max(), groups.max() - 1
    released = numbers.copy()
    for j in range(length):
        averages = (np.bincount(groups, numbers[:, j]) / np.bincount(groups))[groups]
        middle = averages.mean()
        released[:, j] = middle + (averages - middle) * numbers[:, j].std() / averages.std()
    columns: Mapping[str, Any] = data.columns
    return data.replace({name: columns[name].with_values(released[:, j]) for j, name in enumerate(names)})


def _squares(points: Float, centre: Float) -> Float:
    squares: Float = ((points - centre) ** 2).sum(axis=1)
    return squares


def quantile_loss_as_printed(released: tm.Microdata) -> float:
    """PIL(Q) with the density counted in the attribute's own bin and divided by the last attribute's bin width."""
    names, _, numbers = _table()
    n, divisor = len(numbers), np.ptp(numbers[:, -1]) / 1000
    losses = []
    for j, name in enumerate(names):
        column: Any = released.columns[name]
        x, y, width = np.sort(numbers[:, j]), np.sort(column.values), np.ptp(numbers[:, j]) / 1000
        for percent in range(5, 100, 5):
            place, share = (n - 1) * percent // 100, percent / 100
            density = (np.abs(x - x[place]) < width).sum() / (2 * divisor * n)
            spread = math.sqrt(2 * share * (1 - share) / n) / density
            losses.append(math.erf(abs(y[place] - x[place]) / spread))
    return float(np.mean(losses))


def _losses(released: tm.Microdata) -> dict[str, float]:
    """The eleven columns of Tables 2 and 3."""
    _, data, _ = _table()
    loss, sure = information_loss(data, released), probabilistic_loss(data, released)
    assert loss.values is not None
    parts = (loss.values, loss.means, loss.variances, loss.covariances, loss.correlations)
    found = {f"IL{i + 1}": part.overall for i, part in enumerate(parts)} | {"IL": loss.overall}
    for name, part in zip(("Q", "m", "m2", "m11", "r"), vars(sure).values(), strict=True):
        found[f"PIL({name})"] = part.overall
    return found


def census(page: Page, rows: Sequence[tuple[int, int]], quick: bool) -> None:
    _, data, _ = _table()
    names = {(length, k): f"{length} attributes, k={k}" for length, k in rows}
    ours: dict[Cell, Value] = {}
    program: dict[Cell, float] = {}
    for (length, k), name in names.items():
        released, groups = masked(length, k)
        found = _losses(released)
        ours |= {(name, column): value for column, value in found.items()}
        if (length, k) in OTHER_END:
            released = around_other_end(groups, length, k)
            found = _losses(released)
        program |= {(name, column): value for column, value in found.items()}
        rounded = [round(found[f"IL{i}"], 3) for i in range(1, 6)]
        program[name, "PIL(Q)"] = quantile_loss_as_printed(released)
        program[name, "IL"] = 100 * float(np.mean(rounded))
    page.key("IL of 13 attributes, k=3", float(ours["13 attributes, k=3", "IL"]))  # type: ignore[arg-type]
    page.key("PIL(r) of 13 attributes, k=3", float(ours["13 attributes, k=3", "PIL(r)"]))  # type: ignore[arg-type]
    if quick:
        return
    page.text(
        f"## Continuous attributes (section 6.1)\n\nCensus, {data.n:,} records of 13 attributes (CASCrefmicrodata): "
        "the same data. As in the paper, losses are means over all 13 attributes, also where only six are masked."
    )
    reasons: dict[str | Cell, str] = {"PIL(Q)": BINS, "IL": ROUNDED}
    for pair in OTHER_END:
        reasons |= {(names[pair], column): OTHER_END_REASON for _, column in program if column != "PIL(Q)"}
    for table, what in (("2", "information loss"), ("3", "probabilistic information loss")):
        cells = {cell: value for cell, value in ours.items() if cell in printed("P2", table)}
        page.side_by_side("P2", table, cells, reasons, caption=what, data="same data")
    theirs = printed("P2", "2") | printed("P2", "3")
    off = [cell for cell, text in theirs.items() if not agrees(text, program[cell])]
    units = {cell: abs(program[cell] - float(theirs[cell])) * 10 ** len(theirs[cell].partition(".")[2]) for cell in off}
    others = "".join(
        f"; {row}, {column} is {program[row, column]:.5f} for {theirs[row, column]}" for row, column in off
    )
    page.check(
        "Tables 2 and 3 are those of MDAV-generic, up to the last group of four rows and the bin width of PIL(Q)",
        max(units.values(), default=0.0) < 1,
        "With the last group of these rows grown around the other end, IL from rounded parts and the bin width of "
        f"the last attribute in PIL(Q), {len(theirs) - len(off)} of {len(theirs)} printed cells come out to the "
        f"last digit{others}.",
    )
    _census_claims(page, ours, names)


def _census_claims(page: Page, ours: Mapping[Cell, Value], names: Mapping[tuple[int, int], str]) -> None:
    def of(column: str, length: int, k: int) -> float:
        value = ours[names[length, k], column]
        assert isinstance(value, float)
        return value

    kept = max(of(column, *pair) for column in ("IL2", "IL3", "PIL(m)", "PIL(m2)") for pair in names)
    page.claim(
        Claim(
            "MDAV-generic exactly preserves means and variances",
            kept < 1e-9,
            f"Largest of these losses: {number(kept)}.",
        )
    )
    changing = ("IL1", "IL4", "IL5", "PIL(Q)", "PIL(m11)", "PIL(r)")
    longer = [(column, k) for column in changing for k in SIZES if of(column, 13, k) <= of(column, 6, k)]
    said = "In all of them." if not longer else "Not for " + ", ".join(f"{c} at k = {k}" for c, k in longer) + "."
    page.claim(
        Claim(
            "The loss of what is not preserved grows with the length of the quasi-identifier",
            not longer,
            f"Six measures at four k: {len(changing) * 4 - len(longer)} of {len(changing) * 4} comparisons. {said} In "
            f"print {_printed_growth(by_length=True)}.",
        )
    )
    falls = [
        (column, length, k)
        for column in changing
        for length in LENGTHS
        for before, k in pairwise(SIZES)
        if of(column, length, k) < of(column, length, before)
    ]
    said = "; ".join(f"{c} of {length} attributes falls from k = {k - 3} to {k}" for c, length, k in falls)
    page.claim(
        Claim(
            "The loss of what is not preserved grows with k",
            not falls,
            f"{len(changing) * 6 - len(falls)} of {len(changing) * 6} steps{': ' if said else ''}{said}. In print "
            f"{_printed_growth(by_length=False)}.",
        )
    )


def _printed_growth(*, by_length: bool) -> str:
    """In how many of the comparisons the printed values grow."""
    theirs = {cell: float(text) for cell, text in (printed("P2", "2") | printed("P2", "3")).items()}
    grown = []
    for column in ("IL1", "IL4", "IL5", "PIL(Q)", "PIL(m11)", "PIL(r)"):
        for length in LENGTHS:
            for before, k in pairwise(SIZES):
                if not by_length:
                    one, two = (f"{length} attributes, k={each}" for each in (before, k))
                    grown.append(theirs[two, column] >= theirs[one, column])
        if by_length:
            grown += [theirs[f"13 attributes, k={k}", column] > theirs[f"6 attributes, k={k}", column] for k in SIZES]
    return f"{sum(grown)} of {len(grown)}"
