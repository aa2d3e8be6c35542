"""P4: Muralidhar, Sarathy, Domingo-Ferrer (2014), reverse mapping. The paper prints its 25 records: the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

import taxomask as tm
from papers.harness import SEEDS, Claim, Interval, Page, Value, number, over_seeds, printed
from taxomask.measures import rank_correlations
from taxomask.measures.risk import change_in_rank, rank_correlation, ranks_moved
from taxomask.methods import Masked, Method, Promise

SCHEMA = tm.Schema(
    tm.Attribute(name, role="quasi_identifier", kind="continuous", decimals="exact") for name in ("S", "X")
)
METHODS: dict[str, Method] = {
    "ADD": tm.Noise(0.5, attributes=["X"]),  # the variance of the noise is 25 % of that of X
    "IMP": tm.Imputation(attributes=["X"], given=["S"]),
    "MIC": tm.Microaggregation(k=5, algorithm="mdav", attributes=["X"]),
    "SWP": tm.NumericalSwapping(k=5, attributes=["X"]),
}
RANDOM = "Random in the paper and here: this is our draw with seed 0. Below are more of them."


@dataclass(frozen=True)
class Given(Method):
    """Puts given numbers in place of X: the paper's own masked values."""

    values: Sequence[float] = field(default_factory=list)

    name = "given"
    about = "Puts given numbers in place of X."
    reference = "none"

    def mask(self, data: tm.Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        column: Any = data.columns["X"]
        return Masked(data.replace({"X": column.with_values(np.array(self.values, dtype=float))}))

    def promises(self, data: tm.Microdata) -> tuple[Promise, ...]:
        return ()


def column(table: str, name: str) -> list[float]:
    """A printed column of numbers."""
    return [float(value) for (_, each), value in printed("P4", table).items() if each == name]


def release(method: Method, seed: int = 0) -> list[float]:
    """X as it is released after masking and, except for swapping, reverse mapping."""
    table = pa.table({"S": column("1", "S"), "X": column("1", "X")})
    values: list[float] = tm.protect(table, SCHEMA, method, seed=seed).data["X"].to_pylist()
    return values


def reverse_mapped(name: str, seed: int) -> list[float]:
    return release(METHODS[name] if name == "SWP" else tm.ReverseMapping(METHODS[name]), seed)


def tables(z: Sequence[float]) -> tuple[tm.Microdata, tm.Microdata]:
    """The original table and one in which z stands in place of X."""
    s = column("1", "S")
    before, after = (pa.table({"S": s, "X": list(x)}) for x in (column("1", "X"), z))
    return tm.Microdata.from_frame(before, SCHEMA), tm.Microdata.from_frame(after, SCHEMA)


def kept(z: Sequence[float]) -> tuple[float, float]:
    """The rank correlation of S with X and with z."""
    found = rank_correlations(*tables(z))
    return found.before["S", "X"], found.after["S", "X"]


def risk(z: Sequence[float]) -> float:
    """r_xz."""
    return rank_correlation(*tables(z))["X"].value


def page(quick: bool = False) -> Page:
    page = Page("p4", "P4: reverse mapping")
    page.text(
        "Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of "
        "attributes in masked microdata, Privacy in Statistical Databases, LNCS 8744. The paper prints its 25 records "
        "and their masked values, so that whatever follows from them must come out digit by digit."
    )
    with page.timed("Tables 1 to 5"):
        _tables_1_and_2(page)
        _tables_3_to_5(page)
    with page.timed("20 draws of each method"):
        _draws(page, SEEDS)
    return page


def _tables_1_and_2(page: Page) -> None:
    records = list(dict.fromkeys(row for row, _ in printed("P4", "1")))
    found: dict[str, Sequence[float]] = {
        f"Rank of {name}": [float(rank) for rank in rankdata(column("1", name))] for name in "SXY"
    }
    found["Z"] = release(tm.ReverseMapping(Given(column("1", "Y"))))
    page.side_by_side(
        "P4",
        "1",
        _cells(records, found),
        caption="reverse mapping step by step",
        data="same data",
        given=["S", "X", "Y"],
    )
    averages = release(METHODS["MIC"])
    found = {f"{name} Z": release(tm.ReverseMapping(Given(column("2", f"{name} Y")))) for name in ("ADD", "IMP")}
    found |= {"MIC Y": averages} | {f"{name} Z": reverse_mapped(name, 0) for name in ("MIC", "SWP")}
    page.side_by_side(
        "P4",
        "2",
        _cells(records, found),
        {"MIC Z": RANDOM, "SWP Z": RANDOM},
        caption="four mechanisms and their reverse mapping",
        given=["S", "X", "ADD Y", "IMP Y"],
    )
    x, theirs, groups = column("1", "X"), column("2", "MIC Z"), np.array(averages)
    inside = all(
        sorted(np.array(theirs)[groups == one])
        == sorted(np.array(found["MIC Z"])[groups == one])
        == sorted(np.array(x)[groups == one])
        for one in set(averages)
    )
    page.claim(
        Claim(
            "Reverse mapping of microaggregation is a random permutation of the values within each group",
            inside,
            "In every group of the printed MIC Z and of ours stand the values of X of that group.",
        )
    )
    page.claim(
        Claim(
            "Z has exactly the values of X, whatever the mechanism",
            all(sorted(column("2", f"{name} Z")) == sorted(x) == sorted(reverse_mapped(name, 0)) for name in METHODS),
            "Checked for the four printed columns and for ours.",
        )
    )
    first = [i + 1 for i, value in enumerate(averages) if value == averages[0]]
    moved = ranks_moved(*tables(column("2", "IMP Z")))["X"]
    ours: dict[tuple[str, str], Value] = {
        ("variance", "X"): float(np.var(x, ddof=1)),
        ("variance", "MIC Y"): page.key("variance of MIC Y", float(np.var(averages, ddof=1))),
        ("group of record 1", "MIC Y"): ", ".join(map(str, first)),
        ("mean of the group of record 1", "MIC Y"): averages[0],
        ("largest change of rank", "IMP"): float(moved.max()),
        ("record of the largest change", "IMP"): float(moved.argmax() + 1),
    }
    page.side_by_side("P4", "text", ours, caption="figures named in the text of section 5")


def _cells(rows: Sequence[str], columns: Mapping[str, Sequence[float]]) -> dict[tuple[str, str], Value]:
    return {(row, name): value for name, values in columns.items() for row, value in zip(rows, values, strict=True)}


def _tables_3_to_5(page: Page) -> None:
    z = {name: column("2", f"{name} Z") for name in METHODS}
    of_risk, of_loss = (next(row for row, _ in printed("P4", table)) for table in "34")
    page.side_by_side(
        "P4",
        "3",
        {(of_risk, f"{name} Z"): risk(z[name]) for name in z},
        caption="disclosure risk, from the printed columns of Table 2",
    )
    loss: dict[tuple[str, str], Value] = {(of_loss, f"{name} Z"): kept(z[name])[1] for name in z}
    loss[of_loss, "X"] = page.key("rank correlation of S and X", kept(column("1", "X"))[0])
    page.side_by_side("P4", "4", loss, caption="information loss, from the printed columns of Table 2")
    rows = dict.fromkeys(row for row, _ in printed("P4", "5"))
    counts: dict[tuple[str, str], Value] = {
        (row, name): float(change_in_rank(*tables(z[name]))["X"].counts.get(row, 0)) for row in rows for name in z
    }
    page.side_by_side("P4", "5", counts, caption="records by change in rank, from the printed columns of Table 2")


def _draws(page: Page, seeds: Sequence[int]) -> None:
    """The mechanisms themselves, again and again."""
    found: dict[str, dict[str, Interval]] = {}
    for name in METHODS:

        def one(seed: int, name: str = name) -> dict[str, float]:
            y = release(METHODS[name], seed)
            z = y if name == "SWP" else release(tm.ReverseMapping(Given(y)), seed)
            return {
                "risk": risk(z),
                "kept": kept(z)[1],
                "kept by Y": kept(y)[1],
                "largest change": change_in_rank(*tables(z))["X"].largest,
            }

        found[name] = over_seeds(one, seeds)
    page.text(
        "## Our own draws\n\nThe paper shows one draw of each mechanism and says itself that other pseudorandom "
        f"numbers could give other results. Here are {len(seeds)} draws of our mechanisms on the same 25 records: mean "
        "and 95 % interval of the mean."
    )
    page.table(
        "Risk and loss over all draws (Tables 3 to 5)",
        [
            "mechanism",
            "rank correlation of X and Z",
            "of S and Z",
            "of S and Y (not reverse-mapped)",
            "largest change of rank",
        ],
        [[name, *values.values()] for name, values in found.items()],
    )
    page.key("risk of MIC over all draws", found["MIC"]["risk"])

    def by(figure: str, seed: int) -> dict[str, float]:
        return {name: found[name][figure].values[seed] for name in found}

    def times(holds: Sequence[bool]) -> str:
        return f"In {sum(holds)} of {len(holds)} draws"

    lowest = [min(by("risk", i), key=by("risk", i).__getitem__) == "IMP" for i in range(len(seeds))]
    page.claim(Claim("Imputation has the lowest disclosure risk of the four", all(lowest), f"{times(lowest)}."))
    highest = [max(by("risk", i), key=by("risk", i).__getitem__) == "MIC" for i in range(len(seeds))]
    means = {name: found[name]["risk"].mean for name in found}
    page.claim(
        Claim(
            "Microaggregation has the highest disclosure risk of the four",
            max(means, key=means.__getitem__) == "MIC" and sum(highest) > len(highest) / 2,
            f"{times(highest)}; on average {number(means['MIC'], 3)} against {number(means['SWP'], 3)} for swapping "
            f"and {number(means['ADD'], 3)} for noise.",
        )
    )
    true = kept(column("1", "X"))[0]
    off = {name: float(np.mean([abs(r - true) for r in found[name]["kept"].values])) for name in found}
    order = sorted(off, key=off.__getitem__)
    page.claim(
        Claim(
            "Noise keeps the correlation with S best, then imputation, microaggregation and swapping",
            order == ["ADD", "IMP", "MIC", "SWP"],
            "Mean |r_sz - r_sx| over the draws: "
            + ", ".join(f"{name} {number(off[name], 2)}" for name in order)
            + ". The order in print is that of one draw.",
        )
    )
    lost = {
        name: float(np.max(np.abs(np.subtract(v["kept"].values, v["kept by Y"].values)))) for name, v in found.items()
    }
    page.claim(
        Claim(
            "Reverse mapping has no meaningful impact on information loss",
            max(lost.values()) < 0.1,
            "Largest |r_sz - r_sy| in any draw: "
            + ", ".join(f"{name} {number(lost[name], 2)}" for name in ("ADD", "IMP", "MIC"))
            + "; without ties in Y the ranks, and so the rank correlations, are the same by construction.",
        )
    )
    far = {name: max(found[name]["largest change"].values) for name in found}
    page.claim(
        Claim(
            "For swapping (5 ranks) and microaggregation (k = 5) no rank changes by more than 5",
            max(far["SWP"], far["MIC"]) <= 5,
            f"Largest change in any draw: swapping {far['SWP']:.0f}, microaggregation {far['MIC']:.0f}, noise "
            f"{far['ADD']:.0f}, imputation {far['IMP']:.0f}.",
        )
    )
    only = [
        by("largest change", i)["IMP"] > 10 >= max(v for n, v in by("largest change", i).items() if n != "IMP")
        for i in range(len(seeds))
    ]
    page.claim(Claim("Only imputation moves records by more than 10 ranks", all(only), f"{times(only)}."))
