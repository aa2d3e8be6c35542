"""What the page of P0 runs: the data, the methods, one release and what the tables show of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import taxomask as tm
from papers.data import DATA
from papers.harness import Interval, over_seeds, printed
from taxomask.measures import RelativeDifferences, relative_differences, relative_differences_in_samples
from taxomask.measures.risk import record_linkage
from taxomask.methods import Method
from taxomask.microdata import read_table

KINDS = {"age_years": "continuous", "sex": "nominal", "race": "nominal", "care_days": "continuous", "dx01": "taxonomic"}
NAMES = {"AGE_YRS": "age_years", "SEX": "sex", "RACE": "race", "LOS": "care_days", "DIAG_P": "dx01"}
PAPER_METHODS = ("imputation", "shuffling", "micro_hybrid")
CORRECTED = "shuffling, ties corrected"
SAME_SHARE = "MicroHybrid, the same share"
OTHER_READING = {"shuffling": CORRECTED, "micro_hybrid": SAME_SHARE}
STAND_IN = "The data are a stand-in: NHDS 2010 instead of California 2010, and 5 attributes instead of 6."

Found = dict[str, Interval]


def theirs(row: str) -> int:
    """What the paper says of its own data."""
    return int(printed("P0", "data")[row, "NEOPLASM"].replace(",", ""))


@cache
def data(name: str) -> tm.Microdata:
    """All attributes as quasi-identifiers, the diagnosis with the edge weights of the paper's Algorithm 1."""
    table = read_table(DATA / "nhds2010" / f"{name}.csv.gz", text=["dx01"])
    taxonomic: dict[str, Any] = {"dx01": {"taxonomy": "icd9cm", "distance": "edge_weight"}}
    return tm.Microdata.from_frame(
        table,
        tm.Schema(
            tm.Attribute(one, role="quasi_identifier", kind=KINDS[one], **taxonomic.get(one, {}))
            for one in table.column_names
        ),
    )


def share_of(n: int) -> int:
    """The group size that is the same share of the records as the paper's 600."""
    return round(theirs("k of MicroHybrid") * n / theirs("records"))


def hybrid(k: int) -> tm.MicroHybrid:
    """As in the paper: the paper's S-distance, and values drawn uniformly from those that occur."""
    return tm.MicroHybrid(k, scale="paper", draw="uniform")


def methods(table: tm.Microdata, k: int) -> dict[str, Method]:
    """The paper's three methods in the paper's reading, with the k of equal risk; then other readings."""
    names, share = tuple(table.columns), share_of(table.n)
    return {
        "imputation": tm.Imputation(attributes=names, given=()),
        "shuffling": tm.Shuffling(attributes=names, given=(), ties="paper"),
        "micro_hybrid": hybrid(k),
        CORRECTED: tm.Shuffling(attributes=names, given=()),
        SAME_SHARE: hybrid(share),
        "MicroHybrid, balanced, by frequency": tm.MicroHybrid(k),
        "MicroHybrid, reverse-mapped": tm.ReverseMapping(hybrid(k)),
    }


def k_of_equal_risk(table: tm.Microdata) -> int:
    """k as the authors chose theirs, by trying until the risk is comparable with shuffling's.

    Comparable is what they called so: at most so many times the risk of shuffling as in print. The smallest such
    hundred is taken.
    """
    shuffling = tm.Shuffling(attributes=tuple(table.columns), given=(), ties="paper")

    def risk(method: Method) -> float:
        def one(seed: int) -> float:
            return linked(table, method.mask(table, np.random.default_rng(seed)).data, "paper")

        return over_seeds(one).mean

    most = times_in_print("shuffling") * risk(shuffling)
    return next(k for k in range(100, table.n, 100) if risk(hybrid(k)) <= most)


def times_in_print(other: str) -> float:
    """How many times the risk of another method MicroHybrid has in print."""
    cells = printed("P0", "linkage")
    return float(cells["correct matches, %", "micro_hybrid"]) / float(cells["correct matches, %", other])


def flat(found: RelativeDifferences) -> dict[str, float]:
    """The differences by the paper's names of the rows."""
    paper = {ours: name for name, ours in NAMES.items()}
    rows = {f"mean {paper[name]}": value for name, value in found.means.each.items()}
    rows |= {f"variance {paper[name]}": value for name, value in found.variances.each.items()}
    pairs = found.covariances.each.items()
    return rows | {f"covariance {paper[a]}+{paper[b]}": value for (a, b), value in pairs}


def run(
    table: tm.Microdata,
    method: Method,
    seed: int,
    *,
    samples: bool = True,
    scales: Sequence[str] = ("paper", "balanced"),
) -> dict[str, float]:
    """One release: Table 1, Table 2, and the percentage of records linked with their originals."""
    masked = method.mask(table, np.random.default_rng(seed)).data
    found = {f"1 {row}": value for row, value in flat(relative_differences(table, masked)).items()}
    if samples:
        drawn = relative_differences_in_samples(table, masked, rng=np.random.default_rng(seed))
        found |= {f"2 {row}": value for row, value in flat(drawn).items()}
    found |= {f"linked, {scale}": linked(table, masked, scale) for scale in scales}
    return found | {f"{name} of age and stay": value for name, value in correlations(masked).items()}


def correlations(table: tm.Microdata) -> dict[str, float]:
    """How age and length of stay hang together: as numbers and as ranks."""
    from scipy.stats import rankdata

    age, stay = (table.columns[name].numbers() for name in ("age_years", "care_days"))
    return {
        "correlation": float(np.corrcoef(age, stay)[0, 1]),
        "rank correlation": float(np.corrcoef(rankdata(age), rankdata(stay))[0, 1]),
    }


def linked(table: tm.Microdata, masked: tm.Microdata, scale: str) -> float:
    """The percentage of right links, each with the chance of drawing it from the equally near ones."""
    return 100 * record_linkage(table, masked, scale=scale).expected.value  # type: ignore[arg-type]


def rows_of(ours: Mapping[str, Found], table: str) -> list[str]:
    """The rows of a printed table that we have."""
    rows = dict.fromkeys(row for row, _ in printed("P0", table))
    return [row for row in rows if f"{table} {row}" in ours["shuffling"]]


def below(a: Interval, b: Interval) -> bool:
    """Whether a figure is clearly below another: the interval of the difference is below 0."""
    return Interval.of([x - y for x, y in zip(a.values, b.values, strict=True)]).high < 0
