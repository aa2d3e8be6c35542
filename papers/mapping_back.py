"""Reverse mapping on and off for every mechanism, and what P4 left open about risk, other sizes and privacy models.

Reverse mapping computes the masked values y before it puts original values z of the same ranks in their place. Both are
measured here, from the same run, so that every change is a paired one.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import taxomask as tm
from papers.data import NUMBERS, discharge_schema, discharges
from papers.harness import SEEDS, Claim, Interval, Page, number, over_seeds
from taxomask.measures import distance_correlations, overall_loss, relative_differences
from taxomask.measures.risk import class_sizes, interval_disclosure, rank_correlation, record_linkage
from taxomask.methods.reverse_mapping import ReverseMapped

SLICE = 1_500  # records that fully synthetic tables are made from
EXACT = 1e-9  # differences up to here are those of sums in another order


# -------------------------------------------------------------------------------------- every mechanism on real data


def mechanisms() -> dict[str, tm.Method]:
    """Every method that changes values of single columns, with one parameter; permutations for comparison."""
    every = [*NUMBERS, "dx01"]
    return {
        "additive noise, 25 % of the variance": tm.Noise(0.5),
        "correlated noise, moments kept": tm.Noise(0.5, correlated=True, keep_moments=True),
        "multiplicative noise, 20 %": tm.MultiplicativeNoise(0.2),
        "microaggregation, k = 5": tm.Microaggregation(5),
        "microaggregation column by column": tm.Pipeline(
            [tm.Microaggregation(5, algorithm="mdav", attributes=[name]) for name in every]
        ),
        "MicroHybrid, k = 20": tm.MicroHybrid(20),
        "imputation": tm.Imputation(attributes=every, given=()),
        "PRAM, 80 % kept": tm.Pram(0.8),
        "marginality noise": tm.MarginalityNoise(0.5),
        "rounding to 5": tm.Rounding(5),
        "random rounding to 5": tm.Rounding(5, random=True),
        "top and bottom coding, 5 %": tm.TopBottomCoding(top=95, bottom=5),
        "recoding to level 4": tm.Recoding(4),
        "generalisation, k = 5": tm.Generalisation(5),
        "suppression, k = 5": tm.Suppression(5),
        "rank swapping 2, 1 %": tm.RankSwapping(p=1),
        "shuffling": tm.Shuffling(attributes=every, given=()),
    }


def both(method: tm.Method, data: tm.Microdata, seed: int) -> tuple[tm.Microdata, tm.Microdata, tuple[str, ...]]:
    """The masked and the reverse-mapped table of one run, and the columns that were masked."""
    mapped = tm.ReverseMapping(method).mask(data, np.random.default_rng(seed))
    assert isinstance(mapped, ReverseMapped)
    assert mapped.inner is not None
    return mapped.inner.data, mapped.data, mapped.attributes


def _kinds(method: tm.Method, data: tm.Microdata) -> set[str]:
    """The kinds of the columns that a method masks."""
    return {str(data.schema[name].kind) for name in both(method, data, 0)[2]}


def on_and_off(method: tm.Method, data: tm.Microdata, seed: int) -> dict[str, float]:
    """Risk and loss of the columns that the method masks, without reverse mapping, and the change that it makes."""
    off, on, names = both(method, data, seed)
    found = [
        {
            "linkage": record_linkage(data, table, names).expected.value,
            "interval": interval_disclosure(data, table, names).mean,
            "r_xz": float(np.mean([one.value for one in rank_correlation(data, table, names).values()])),
            "loss": overall_loss(data, table, names).overall,
            "connections": distance_correlations(data, table).overall,
            "variances": relative_differences(data, table).variances.overall,
        }
        for table in (off, on)
    ]
    return {**found[0], **{f"change of {name}": found[1][name] - value for name, value in found[0].items()}}


def short(value: float) -> str:
    """Four decimals, and no minus before a zero."""
    return f"{round(value, 4) + 0.0:.4f}"


def plus_minus(change: Interval) -> str:
    """A change with half the width of its interval; changes of exactly 0 as such.

    >>> plus_minus(Interval(-0.00123, -0.0021, -0.0003)), plus_minus(Interval(0.0, 0.0, 0.0))
    ('-0.0012 ± 0.0009', '0')
    """
    half = (change.high - change.low) / 2
    if abs(change.mean) <= EXACT and half <= EXACT:
        return "0"
    return f"{short(change.mean)} ± {half:.4f}"


def every_mechanism(page: Page, quick: bool) -> None:
    data = tm.Microdata.from_frame(discharges("neoplasm"), discharge_schema())
    chosen = mechanisms()
    if quick:
        chosen = {name: chosen[name] for name in ("rounding to 5",)}
    found = {name: over_seeds(partial(on_and_off, method, data)) for name, method in chosen.items()}
    for what in ("linkage", "change of linkage"):
        page.key(f"reverse mapping of rounding to 5: {what}", found["rounding to 5"][what])
    if quick:
        return
    measures = {
        "linkage": "records linked",
        "interval": "interval disclosure",
        "r_xz": "r_xz",
        "loss": "loss of values",
        "connections": "distance correlations",
    }
    page.text(
        f"""
## Reverse mapping on and off, for every mechanism (P4)
P4 wraps a few mechanisms on one small table. Here are all that the package has, on the {data.n:,} neoplasm discharges.
Risk and loss are those of the columns that a mechanism masks (numbers, codes or all three). "on − off" is the change
that reverse mapping makes, the mean of {len(SEEDS)} seeds ± half its 95 % interval: below 0 is less risk, or less loss.
Variances (relative changes, by marginality for codes) are always those of the original with reverse mapping on.
"""
    )
    header = [
        "mechanism",
        *(f"{name}: {part}" for name in measures.values() for part in ("off", "on − off")),
        "variances: off",
    ]
    rows = [
        [
            name,
            *(
                one
                for what in measures
                for one in (f"{values[what].mean:.4f}", plus_minus(values[f"change of {what}"]))
            ),
            f"{values['variances'].mean:.4f}",
        ]
        for name, values in found.items()
    ]
    page.table("", header, rows)

    def names(what: str, sign: int) -> list[str]:
        """The mechanisms whose change is on one side of 0 with its whole interval."""
        changes = {name: values[f"change of {what}"] for name, values in found.items()}
        return [n for n, c in changes.items() if (c.low > EXACT if sign > 0 else c.high < -EXACT)]

    def listing(what: str) -> str:
        up, down = ("; ".join(names(what, sign)) or "none" for sign in (1, -1))
        return f"Beyond chance, up: {up}. Down: {down}."

    permutations = ("rank swapping 2, 1 %", "shuffling")
    largest = max(abs(v) for name in permutations for m in measures for v in found[name][f"change of {m}"].values)
    page.check(
        "What is a permutation already, by swapping or shuffling, is left as it is",
        largest <= EXACT,
        f"The largest change of any figure is {number(largest)}.",
    )
    others = [name for name in found if name not in permutations]
    worst = max(abs(found[name]["variances"].mean + found[name]["change of variances"].mean) for name in others)
    page.claim(
        Claim(
            "Variances are exact after reverse mapping", worst <= EXACT, f"The largest difference is {number(worst)}."
        )
    )
    kinds = {name: _kinds(method, data) for name, method in chosen.items() if name not in permutations}
    numbers, codes = (
        {name: found[name]["change of loss"] for name, kind in kinds.items() if kind == only}
        for only in ({"continuous"}, {"taxonomic"})
    )
    page.check(
        "Codes lose more by reverse mapping than numbers do: codes that follow each other in marginality need not be "
        "close in meaning",
        min(one.low for one in codes.values()) > max(one.high for one in numbers.values()),
        "Change of the loss of values: "
        + "; ".join(f"{name} {plus_minus(one)}" for name, one in {**codes, **numbers}.items())
        + ".",
    )
    for what, sentence in (
        (
            "linkage",
            "Reverse mapping was not seen to raise the share of linked records of any mechanism (open question 3)",
        ),
        ("r_xz", "Reverse mapping was not seen to raise r_xz of any mechanism (open question 3)"),
        ("interval", "Reverse mapping was not seen to raise interval disclosure of any mechanism (open question 3)"),
        ("loss", "Reverse mapping was not seen to raise the loss of values of any mechanism (open question 4)"),
        (
            "connections",
            "Reverse mapping was not seen to change the distance correlations of any mechanism further (open "
            "question 4)",
        ),
    ):
        page.check(sentence, not names(what, 1), listing(what))


# ------------------------------------------------------------------------- other sizes, and what privacy models hold


def _farthest(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """The largest difference of two distribution functions."""
    places = np.union1d(before, after)
    shares = [np.searchsorted(np.sort(one), places, side="right") / len(one) for one in (before, after)]
    return float(np.abs(shares[0] - shares[1]).max())


def synthetic(table: pa.Table, records: int, seed: int) -> dict[str, float]:
    """How far distributions and connections of a synthetic table are off, mapped back by quantile and not."""
    inner = tm.Imputation(synthesis="full", records=records)
    found = {}
    for how, method in (("off", inner), ("on", tm.ReverseMapping(inner, unlinked="quantile"))):
        release = tm.protect(table, discharge_schema(), method, seed=seed)
        found[f"gap {how}"] = max(_farthest(table[name].to_numpy(), release.data[name].to_numpy()) for name in NUMBERS)
        found[f"connections {how}"] = distance_correlations(release.original, release.released).overall
    return found


def other_sizes(page: Page) -> None:
    """Open question 5: as many masked records as you like."""
    table = discharges("neoplasm").slice(0, SLICE)
    found = {records: over_seeds(partial(synthetic, table, records)) for records in (SLICE // 2, SLICE, 2 * SLICE)}
    page.text(
        f"""
## As many records as you like (open question 5)
Fully synthetic tables of several sizes made from {SLICE:,} discharges; reverse mapping gives each value the original
one at the same quantile. Gap: the largest difference of the distribution functions, of age and days of care.
"""
    )
    columns = ("gap off", "gap on", "connections off", "connections on")
    page.table(
        "",
        ["synthetic records", "gap: off", "gap: on", "change of distance correlations: off", "on"],
        [[f"{records:,}", *(each[name] for name in columns)] for records, each in found.items()],
    )
    within = {n: max(each["gap on"].values) <= 1 / min(n, SLICE) + EXACT for n, each in found.items()}
    page.check(
        "Mapped back by quantile, distributions differ by at most one over the size of the smaller table",
        all(within.values()),
        f"In every one of {len(SEEDS)} tables of each size." if all(within.values()) else "Not in every table.",
    )
    further = [n for n, each in found.items() if each["connections on"].low > each["connections off"].high]
    page.check(
        "Mapping back leaves the distance correlations of synthetic tables as they are",
        not further,
        f"They change further with {', '.join(f'{n:,}' for n in further)} records." if further else "By no size.",
    )


def privacy_models(page: Page) -> None:
    """Open question 6: what is left of k-anonymity."""
    table, schema = discharges("neoplasm"), discharge_schema()
    rows: list[list[str | float]] = []
    kept, probable, below = [], [], []
    for k in (3, 5, 10, 20):
        inner = tm.Microaggregation(k)
        off = tm.protect(table, schema, inner, seed=0)
        on = tm.protect(table, schema, tm.ReverseMapping(inner), seed=0)
        classes = [class_sizes(one.original, one.released).k for one in (off, on)]
        shares = [record_linkage(one.original, one.released).expected.value for one in (off, on)]
        holds = next(check.holds for check in on.promise if check.promise.startswith("probabilistic"))
        kept.append(classes[1] >= k)
        probable.append(holds)
        below.append(shares[1] <= 1 / k)
        rows.append(
            [f"{k}", *map(str, classes), "holds" if holds else "broken", *(number(s, 3) for s in (*shares, 1 / k))]
        )
    page.text(
        """
## What privacy models are left (open question 6)
Microaggregation of all three columns, k-anonymous; then reverse-mapped (one seed).
"""
    )
    page.table(
        "",
        ["k", "smallest class: off", "on", "probabilistic k-anonymity: on", "records linked: off", "on", "1/k"],
        rows,
    )
    page.check("k-anonymity survives reverse mapping", all(kept), "Classes of equal records are given up.")
    page.claim(
        Claim(
            "Reverse-mapped microaggregation is probabilistically k-anonymous, as P4 says",
            all(probable),
            "Checked on every release: the values of each class are those of its ranks. Their order is drawn at "
            "random.",
        )
    )
    page.check(
        "An intruder who knows all three values and links with the nearest record is right for at most 1 in k",
        all(below),
        "; ".join(f"k = {row[0]}: {row[5]} for {row[6]}" for row in rows) + ".",
    )
