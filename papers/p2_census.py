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
from papers.harness import Cell, Claim, Page, Value, agrees, markdown_table, number, printed
from papers.p2_program import End, Grouping, in_place
from taxomask.measures import information_loss, probabilistic_loss
from taxomask.microdata import read_table

Float = NDArray[np.float64]

LENGTHS, SIZES = (6, 13), (3, 6, 9, 12)
ENDS: tuple[End, End] = ("r", "s")
OTHER_END = (
    "The text grows the last group of k around x_r, the record farthest from the average. The printed row comes out if "
    "it is grown around x_s, the record farthest from x_r, as it is by a program in whose array x_s stands first here "
    "(see below)."
)
ROUNDED = (
    "Printed is 100 times the mean of the five rounded parts; our five parts, rounded alike, give the printed value."
)
BINS = (
    "The printed column comes out, digit by digit, if the density at a quantile is counted in a bin of the attribute's "
    "own width (1/1000 of its range) and divided by the width of the last attribute's bin, whatever the attribute, in "
    "the groups of the program (both below). Here both widths are the attribute's own."
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


def averaged(groups: NDArray[np.int64], length: int) -> tm.Microdata:
    """The first attributes replaced by the averages of given groups, mean and variance kept."""
    names, data, numbers = _table()
    columns: Mapping[str, Any] = data.columns
    made = {}
    for name, values in zip(names[:length], numbers.T, strict=False):
        averages = (np.bincount(groups, values) / np.bincount(groups))[groups]
        middle = averages.mean()
        made[name] = columns[name].with_values(middle + (averages - middle) * values.std() / averages.std())
    return data.replace(made)


def standardized(length: int) -> Float:
    """What the program works on."""
    _, _, numbers = _table()
    points: Float = ((numbers - numbers.mean(axis=0)) / numbers.std(axis=0, ddof=1))[:, :length]
    return points


def as_printed(groups: NDArray[np.int64], length: int) -> dict[str, float]:
    """The eleven columns of given groups, IL from rounded parts and PIL(Q) with the slip of the program."""
    released = averaged(groups, length)
    found = _losses(released)
    rounded = [round(found[f"IL{i}"], 3) for i in range(1, 6)]
    return found | {"PIL(Q)": quantile_loss_as_printed(released), "IL": 100 * float(np.mean(rounded))}


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
    for (length, k), name in names.items():
        ours |= {(name, column): value for column, value in _losses(masked(length, k)[0]).items()}
    page.key("IL of 13 attributes, k=3", float(ours["13 attributes, k=3", "IL"]))  # type: ignore[arg-type]
    page.key("PIL(r) of 13 attributes, k=3", float(ours["13 attributes, k=3", "PIL(r)"]))  # type: ignore[arg-type]
    if quick:
        return
    page.text(
        f"## Continuous attributes (section 6.1)\n\nCensus, {data.n:,} records of 13 attributes (CASCrefmicrodata): "
        "the same data. As in the paper, losses are means over all 13 attributes, also where only six are masked."
    )
    program = {pair: in_place(standardized(pair[0]), pair[1]) for pair in names}
    reasons: dict[str | Cell, str] = {"PIL(Q)": BINS, "IL": ROUNDED}
    for pair, name in names.items():
        if program[pair].end == "s":
            columns = {column for row, column in ours if row == name and column != "PIL(Q)"}
            reasons |= {(name, column): OTHER_END for column in columns}
    for table, what in (("2", "information loss"), ("3", "probabilistic information loss")):
        cells = {cell: value for cell, value in ours.items() if cell in printed("P2", table)}
        page.side_by_side("P2", table, cells, reasons, caption=what, data="same data")
    _last_groups(page, program, names)
    _census_claims(page, ours, names)


def _last_groups(page: Page, program: Mapping[tuple[int, int], Grouping], names: Mapping[tuple[int, int], str]) -> None:
    """Whether the rule of the program says of each row by itself around which end its last group grew."""
    theirs = printed("P2", "2") | printed("P2", "3")
    lines: list[list[str]] = []
    deciding = right = in_file = same_before = 0
    off: dict[Cell, float] = {}
    for (length, k), name in names.items():
        rule = program[length, k]
        fits: dict[str, int] = {}
        for end in ENDS:
            found = as_printed(in_place(standardized(length), k, end=end).groups, length)
            wrong = {
                (name, column): value for column, value in found.items() if not agrees(theirs[name, column], value)
            }
            fits[end] = len(found) - len(wrong)
            if end == rule.end:
                off |= wrong
        if fits["r"] != fits["s"]:
            better = max(ENDS, key=fits.__getitem__)
            deciding += 1
            right += rule.end == better
            in_file += ENDS[rule.records[1] < rule.records[0]] == better
        same_before += _without_the_last(rule.groups) == _without_the_last(masked(length, k)[1])
        places = [f"{place + 1:,}" for place in rule.places]
        lines.append([name, *places, f"x_{rule.end}", *(f"{fits[end]} of {len(found)}" for end in ENDS)])
    others = sum(rule.end == "s" for rule in program.values())
    page.text(
        f"### Around which record the last group grew\n\nFollowing the text, {others} of {len(names)} rows differ. The "
        "MDAV that the paper names as the predecessor of MDAV-generic is part of μ-Argus, whose source is public today "
        "(Argus Open Source, libnumericalmu). It works in place: of x_r and x_s, the one that stands first in its "
        "array is moved to the front of the records that are left and its group is grown first, every move being an "
        "exchange with the record that stands there; in the last step a group is grown around that one only. Here this "
        "rule is written anew (`papers/p2_program.py`) and carried out on Census; it sees no printed number. The last "
        "two columns show how many of the eleven printed cells of a row come out with the last group around x_r and "
        "around x_s."
    )
    header = ["", "place of x_r", "place of x_s", "the rule takes", "around x_r", "around x_s"]
    page.text(markdown_table(header, lines))
    page.check(
        "The order in the array selects the rows whose last group grew around x_s",
        right == deciding,
        f"The two ends differ in the printed digits of {deciding} of {len(names)} rows; the rule takes the one with "
        f"more printed cells in {right} of these, the order of the records in the file in {in_file}. In {same_before} "
        f"of {len(names)} rows all groups before the last two are those of the text, so that the rule changes nothing "
        "else. That the authors ran a program of this kind is inferred from these rows; the paper does not say so.",
    )
    units = {
        cell: abs(value - float(theirs[cell])) * 10 ** len(theirs[cell].partition(".")[2])
        for cell, value in off.items()
    }
    apart = "".join(
        f"; {row}, {column} is {value:.5f} for {theirs[row, column]}" for (row, column), value in off.items()
    )
    page.check(
        f"Tables 2 and 3 are those of MDAV-generic, up to the last group of {others} rows and the bin width of PIL(Q)",
        max(units.values(), default=0.0) < 1,
        "With the groups of this rule, IL from rounded parts and the bin width of the last attribute in PIL(Q), "
        f"{len(theirs) - len(off)} of {len(theirs)} printed cells come out to the last digit{apart}.",
    )


def _without_the_last(groups: NDArray[np.int64]) -> set[frozenset[int]]:
    """The groups as sets of records, without the two that were made last."""
    return {frozenset(np.flatnonzero(groups == one).tolist()) for one in range(int(groups.max()) - 1)}


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
