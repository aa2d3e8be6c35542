"""A designed experiment on reverse mapping: what size, ties and skewness do to the change that it makes.

P4 lists as open questions: (1) the size of the data set, (2) its characteristics, (3) incremental disclosure risk, (4)
information loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import charts
from papers.harness import SEEDS, Claim, Interval, Page, number
from papers.mapping_back import EXACT, both, plus_minus, short
from taxomask.measures import overall_loss, rank_correlations
from taxomask.measures.risk import rank_correlation, record_linkage

SIZES = (300, 1_000, 3_000, 10_000)
STEPS = (0.0, 0.1, 0.5)  # what X is rounded to, in standard deviations; 0 is not at all
SIGMAS = (0.0, 0.5, 1.0)  # of a lognormal X; 0 is normal
CORRELATION, MEAN = 0.7, 5.0
MEASURES = {
    "linkage": "risk: share of records linked rightly",
    "r_xz": "risk: rank correlation of the original and the released values, r_xz",
    "loss": "loss of the values, SSE/SST",
    "r_sz": "loss of the connection: |r_sz − r_sx|, rank correlations with the column that is not masked",
}
SMALL = 0.01  # a change of a correlation that nobody will notice


@dataclass(frozen=True)
class Design:
    """One cell of the experiment: how many records, how coarse X is, how skewed."""

    n: int
    step: float
    sigma: float

    def table(self, seed: int) -> pa.Table:
        """X, which is masked, and S, which is not: correlated normal scores, X then transformed and rounded."""
        rng = np.random.default_rng([seed, self.n])
        z, e = rng.normal(size=(2, self.n))
        x = z
        if self.sigma:
            square = self.sigma**2
            x = (np.exp(self.sigma * z) - np.exp(square / 2)) / np.sqrt((np.exp(square) - 1) * np.exp(square))
        if self.step:
            x = np.round(x / self.step) * self.step
        return pa.table({"x": MEAN + x, "s": CORRELATION * z + np.sqrt(1 - CORRELATION**2) * e})


SCHEMA = tm.Schema(
    [
        tm.Attribute("x", role="quasi_identifier", kind="continuous"),
        tm.Attribute("s", role="other", kind="continuous"),
    ]
)
MECHANISMS: dict[str, tm.Method] = {
    "additive noise": tm.Noise(0.5),
    "multiplicative noise": tm.MultiplicativeNoise(0.1),
    "microaggregation": tm.Microaggregation(5),
    "MicroHybrid": tm.MicroHybrid(5),
    "imputation given S": tm.Imputation(attributes=["x"], given=["s"]),
    "rounding": tm.Rounding(0.7),
    "top and bottom coding": tm.TopBottomCoding(top=95, bottom=5),
}
KEY = "rounding"
THEIRS = ("additive noise", "imputation given S", "microaggregation")  # of P4
SMOOTH = ("additive noise", "multiplicative noise")  # their values have no ties


def change(method: tm.Method, data: tm.Microdata, seed: int) -> dict[str, float]:
    """What reverse mapping changes in each measure."""
    off, on, _ = both(method, data, seed)
    found = [
        {
            "linkage": record_linkage(data, table, ["x"]).expected.value,
            "r_xz": rank_correlation(data, table, ["x"])["x"].value,
            "loss": overall_loss(data, table, ["x"]).overall,
            "r_sz": rank_correlations(data, table).overall,
        }
        for table in (off, on)
    ]
    return {name: found[1][name] - value for name, value in found[0].items()}


Changes = Mapping[tuple[str, Design], Mapping[str, Interval]]


def experiment(designs: Sequence[Design], mechanisms: Mapping[str, tm.Method]) -> Changes:
    """Every mechanism in every cell of the design, with new data for every seed."""
    found: dict[tuple[str, Design], list[dict[str, float]]] = {}
    for design, seed in product(designs, SEEDS):
        data = tm.Microdata.from_frame(design.table(seed), SCHEMA)
        for name, method in mechanisms.items():
            found.setdefault((name, design), []).append(change(method, data, seed))
    return {key: {what: Interval.of([one[what] for one in runs]) for what in MEASURES} for key, runs in found.items()}


def mean(found: Changes, name: str, what: str, **level: float) -> Interval:
    """The change at a level of a factor, over all levels of the others; the interval is that over seeds."""
    values = [
        intervals[what].values
        for (mechanism, design), intervals in found.items()
        if mechanism == name and all(getattr(design, factor) == value for factor, value in level.items())
    ]
    return Interval.of(np.mean(values, axis=0).tolist())


def section(page: Page, quick: bool) -> None:
    """The experiment, its tables and what they say; in a hurry only the cells with the keys."""
    designs = [Design(*cell) for cell in product(SIZES[:1] if quick else SIZES, STEPS, SIGMAS)]
    found = experiment(designs, {KEY: MECHANISMS[KEY]} if quick else MECHANISMS)
    for what in ("r_xz", "loss"):
        page.key(f"reverse mapping by design, {KEY}, n = {SIZES[0]}: {what}", mean(found, KEY, what, n=SIZES[0]))
    if quick:
        return
    levels: dict[str, dict[str, float]] = {f"n = {n:,}": {"n": n} for n in SIZES}
    levels |= {f"ties: {f'to {step:g}' if step else 'none'}": {"step": step} for step in STEPS}
    levels |= {f"skewness: {f'σ = {sigma:g}' if sigma else 'none'}": {"sigma": sigma} for sigma in SIGMAS}
    page.text(
        f"""
## Reverse mapping by size, ties and skewness (P4's open questions 1 to 4)
A designed experiment: {len(SIZES)} sizes × {len(STEPS)} coarsenesses × {len(SIGMAS)} shapes, {len(designs)} cells of
{len(SEEDS)} samples each. X is masked, S is not; their normal scores have a correlation of {CORRELATION:g}. X has mean
{MEAN:g} and variance 1; it is normal, or lognormal with σ = {" or ".join(f"{s:g}" for s in SIGMAS[1:])}; and it is left
as it is, or rounded to multiples of {" or ".join(f"{s:g}" for s in STEPS[1:])}, which makes ties. The mechanisms are
{", ".join(f"`{m}`" for m in MECHANISMS.values())}.

Each figure is the change that reverse mapping makes, on − off, over all cells of that level, ± half its 95 % interval.
"""
    )
    for what, title in MEASURES.items():
        rows = [
            [name, *(plus_minus(mean(found, name, what, **level)) for level in levels.values())] for name in MECHANISMS
        ]
        page.table(f"{title[0].upper()}{title[1:]}", ["mechanism", *levels], rows)
    page.figure("reverse-mapping", figure(found), "What reverse mapping changes in r_xz, by size and ties")
    page.text("### What came out")
    answers(page, found)


def figure(found: Changes) -> str:
    """r_xz by size: mechanisms that make ties, and one that does not, with and without ties in X."""
    series, bands = {}, {}
    for name, step in product(("additive noise", "imputation given S", "rounding"), (STEPS[0], STEPS[-1])):
        each = [(float(n), mean(found, name, "r_xz", n=n, step=step)) for n in SIZES]
        label = f"{name}, {'ties' if step else 'no ties'} in X"
        series[label] = [(n, one.mean) for n, one in each]
        bands[label] = [(n, one.low, one.high) for n, one in each]
    return charts.lines(
        series,
        title="Change of r_xz by reverse mapping",
        x="records",
        y="r_xz, on − off",
        log_x=True,
        bands=bands,
    )


def answers(page: Page, found: Changes) -> None:
    """The open questions as sentences that can be wrong."""
    exact = [
        value
        for (name, design), each in found.items()
        if name in SMOOTH and not design.step
        for what in ("r_xz", "r_sz")
        for value in each[what].values
    ]
    largest = max(map(abs, exact))
    page.check(
        "If neither X nor its masked values have ties, reverse mapping changes no rank correlation at all, whatever "
        "the size and the skewness: the ranks of y are those of z",
        largest <= EXACT,
        f"{' and '.join(SMOOTH)} without ties: the largest change in {len(exact):,} figures is {number(largest)}.",
    )

    def ends(what: str, factor: str, values: Sequence[float]) -> dict[str, tuple[Interval, Interval]]:
        return {
            name: (mean(found, name, what, **{factor: values[0]}), mean(found, name, what, **{factor: values[-1]}))
            for name in MECHANISMS
        }

    def differ(pairs: Mapping[str, tuple[Interval, Interval]]) -> list[str]:
        """Mechanisms whose change at both ends of a factor differs by more than chance."""
        gaps = {name: Interval.of(np.subtract(b.values, a.values).tolist()) for name, (a, b) in pairs.items()}
        return [name for name, gap in gaps.items() if gap.low > EXACT or gap.high < -EXACT]

    def told(pairs: Mapping[str, tuple[Interval, Interval]], names: Sequence[str]) -> str:
        each = [f"{name} {short(pairs[name][0].mean)} → {short(pairs[name][1].mean)}" for name in names]
        return "; ".join(each) or "none"

    for what, factor, values, sentence in (
        ("r_xz", "n", SIZES, "The change of r_xz was not seen to depend on the size (question 1)"),
        ("linkage", "n", SIZES, "The change of the linkage risk was not seen to depend on the size (question 1)"),
        ("loss", "n", SIZES, "The change of the loss of values was not seen to depend on the size (question 1)"),
        ("r_xz", "step", STEPS, "The change of r_xz was not seen to depend on ties in X (question 2)"),
        ("loss", "step", STEPS, "The change of the loss of values was not seen to depend on ties in X (question 2)"),
        ("r_xz", "sigma", SIGMAS, "The change of r_xz was not seen to depend on skewness (question 2)"),
        ("loss", "sigma", SIGMAS, "The change of the loss of values was not seen to depend on skewness (question 2)"),
    ):
        pairs = ends(what, factor, values)
        others = differ(pairs)
        page.check(sentence, not others, f"Different beyond chance, from one end to the other: {told(pairs, others)}.")

    overall = {name: {what: mean(found, name, what) for what in MEASURES} for name in MECHANISMS}
    for what, sentence in (
        ("linkage", "Reverse mapping was not seen to add linkage risk (question 3)"),
        ("r_xz", "Reverse mapping was not seen to add risk by r_xz (question 3)"),
        ("loss", "Reverse mapping was not seen to lose more of the values (question 4)"),
    ):
        up = {name: each[what] for name, each in overall.items() if each[what].low > EXACT}
        down = {name: each[what] for name, each in overall.items() if each[what].high < -EXACT}
        more, less = (
            "; ".join(f"{name} {plus_minus(one)}" for name, one in side.items()) or "none" for side in (up, down)
        )
        page.check(sentence, not up, f"Beyond chance, more with: {more}. Less with: {less}.")
    changes = {name: mean(found, name, "r_sz", n=SIZES[-1]) for name in MECHANISMS}
    within = {name: abs(one.mean) < SMALL for name, one in changes.items()}
    sentence = (
        "Reverse mapping has no meaningful impact on the connection of X with S (question 4), below "
        f"{SMALL:g} at n = {SIZES[-1]:,}, with"
    )
    page.claim(
        Claim(
            f"{sentence} the mechanisms of P4, as it found in a small table",
            all(within[name] for name in THEIRS),
            "; ".join(f"{name} {plus_minus(changes[name])}" for name in THEIRS) + ".",
        )
    )
    page.check(
        f"{sentence} any mechanism",
        all(within.values()),
        f"Above with: {'; '.join(f'{n} {plus_minus(changes[n])}' for n in changes if not within[n]) or 'none'}.",
    )
