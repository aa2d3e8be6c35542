"""What the page of P3 runs: the samples, one release and what the tables show of it, and comparisons over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

import taxomask as tm
from papers.data import DATA
from papers.harness import Cell, Claim, Interval, Page, Value, number, over_seeds, printed
from taxomask.measures import distance_correlations, distance_variances, root_mean_square_errors, semantic_means
from taxomask.methods import Method
from taxomask.microdata import read_table

K = (2, 5, 10, 20, 50, 100)
TAXONOMIES = {"dx01": "icd9cm", "pc01": "icd9cm_procedures", "dx02": "icd9cm"}
LETTERS = {"dx01": "X^a", "pc01": "X^b", "dx02": "X^c"}
STAND_IN = "The data are a stand-in: other patients, and ICD-9-CM instead of SNOMED-CT."
DATA_1 = "a stand-in for Dataset1, NHDS 2010, ICD-9-CM; means of 20 seeds with 95 % intervals"

Found = dict[str, Interval]


@cache
def sample(name: str, columns: tuple[str, ...]) -> tm.Microdata:
    """One of the samples in tests/data/nhds2010, with Wu and Palmer's distance, as in the paper."""
    table = read_table(DATA / "nhds2010" / f"{name}.csv.gz", columns, text=True)
    return tm.Microdata.from_frame(table, schema(columns))


def schema(columns: Sequence[str]) -> tm.Schema:
    return tm.Schema(
        tm.Attribute(name, role="quasi_identifier", kind="taxonomic", taxonomy=TAXONOMIES[name], distance="wu_palmer")
        for name in columns
    )


def dataset1() -> tm.Microdata:
    return sample("dataset1", ("dx01", "pc01"))


def dataset2() -> tm.Microdata:
    return sample("dataset3", ("dx01", "pc01"))


def dataset3() -> tm.Microdata:
    return sample("dataset3", ("dx01", "pc01", "dx02"))


def run(data: tm.Microdata, method: Method, seed: int) -> dict[str, float]:
    """One release, and everything that the tables show of it."""
    masked = method.mask(data, np.random.default_rng(seed)).data
    found: dict[str, float] = {}
    means, variances = semantic_means(data, masked).each, distance_variances(data, masked).each
    errors, correlations = root_mean_square_errors(data, masked).each, distance_correlations(data, masked)
    for name, letter in ((name, LETTERS[name]) for name in data.columns):
        found[f"mean {letter} moved by"] = means[name]
        found[f"change of sdVar {letter}"] = variances[name]
        found[f"RMSE {letter}"] = errors[name]
    for pair, after in correlations.after.items():
        both = f" {LETTERS[pair[0]]} {LETTERS[pair[1]]}" if len(data.columns) > 2 else ""
        found[f"sdCor{both}"] = after
        found[f"change of sdCor{both}"] = correlations.each[pair]
    return found


def swept(page: Page, label: str, data: tm.Microdata, method: Callable[[int], Method]) -> dict[int, Found]:
    """All seeds at every k."""
    with page.timed(label):
        return {k: over_seeds(partial(run, data, method(k))) for k in K}


def cells(found: Mapping[int, Found], paper_table: str) -> dict[Cell, Value]:
    rows = dict.fromkeys(row for row, _ in printed("P3", paper_table))
    return {(row, f"k={k}"): at_k[row] for k, at_k in found.items() for row in rows}


def difference(a: Interval, b: Interval) -> Interval:
    """The mean difference of two figures, with its interval."""
    return Interval.of([x - y for x, y in zip(a.values, b.values, strict=True)])


def below(a: Mapping[int, Found], b: Mapping[int, Found], *rows: str) -> list[str]:
    """Where a figure of a is not clearly below that of b: the interval of the difference reaches 0."""
    where = {row: [k for k in a if difference(a[k][row], b[k][row]).high >= 0] for row in rows}
    return [f"{row} at k = {', '.join(map(str, found))}" for row, found in where.items() if found]


def compared(page: Page, sentence: str, others: Sequence[str], seen: str) -> None:
    """A claim that holds if nothing speaks against it."""
    against = f" Not clearly so for {'; '.join(others)}." if others else ""
    page.claim(Claim(sentence, not others, seen + against))


def along(found: Mapping[int, Found], row: str) -> str:
    """A row in words, over k."""
    return " / ".join(number(found[k][row].mean, 3) for k in found)
