"""P3: Rodriguez-Garcia, Batet, Sánchez (2019), semantic rank swapping. Figures 1 to 7 and Tables 1 to 6."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import taxomask as tm
from papers import p3_correlated, p3_dataset1
from papers.harness import Cell, Claim, Page, Value, number, over_seeds, printed
from papers.p3_runs import LETTERS, STAND_IN, TAXONOMIES, dataset1, dataset3, run
from taxomask.measures import distance_correlations, distance_variances, semantic_means

DISEASES = (
    ("Neurological varicella", "Disorder of nervous system"),
    ("Coma", "Disorder of nervous system"),
    ("Neuropathy", "Disorder of nervous system"),
    ("Herpes zoster ophthalmicus", "Neurological varicella"),
    ("Herpes zoster auricularis", "Neurological varicella"),
    ("Hepatic coma", "Coma"),
    ("Hypoglycemic coma", "Coma"),
)
FIGURE_1 = tuple(edge for edge in DISEASES if "Neurological varicella" not in edge)


def page(quick: bool = False) -> Page:
    page = Page("p3", "P3: semantic rank swapping")
    if quick:
        return _quick(page)
    page.text(
        "Rodriguez-Garcia, Batet, Sánchez (2019), Utility-preserving privacy protection of nominal data sets via "
        "semantic rank swapping, Information Fusion 45. X^a is the principal diagnosis, X^b the procedure, X^c the "
        "second diagnosis."
    )
    page.text(
        "Figures 1 to 4 are computed from the paper's own small taxonomies. Its patients (California, 2009, mapped to "
        "SNOMED-CT) are not public: Tables 1 to 6 and Figures 5 to 7 are computed on **stand-ins**, samples of the "
        "public NHDS 2010 discharges drawn to resemble the paper's in size, numbers of categories and correlation "
        "(how: `papers/sampling.py`), with the ICD-9-CM classifications of diagnoses and procedures. Cells are "
        "therefore not expected to have the printed digits, but for those that are fixed in any data, such as a 0; "
        "what can be compared is the pattern, and the claims below are about that. "
        "The paper shows one run; here every figure is a mean over 20 seeds with its 95 % interval. A claim that "
        "something is lower holds if the interval of the difference is below 0 at every k."
    )
    worked_examples(page)
    page.text("## Tables 1 to 4 and Figures 5 to 7: three algorithms on Dataset1")
    features(page)
    p3_dataset1.tables(page)
    page.text("## Tables 5 and 6: Dataset2 and Dataset3")
    p3_correlated.tables(page)
    return page


def _quick(page: Page) -> Page:
    """The key cells only."""
    worked_examples(page)
    features(page)
    for key, algorithm, row in (
        ("Table 4, k=2, RMSE X^a", 3, "RMSE X^a"),
        ("Table 3, k=2, sdCor", 2, "sdCor"),
    ):
        method = tm.RankSwapping(2, algorithm=algorithm)  # type: ignore[arg-type]
        page.key(key, over_seeds(partial(run, dataset1(), method))[row])
    return page


def worked_examples(page: Page) -> None:
    page.text("## Figures 1 to 4: the worked examples")
    page.text(
        "```\nFigure 1\nDisorder of nervous system\n├─ Coma\n│  ├─ Hepatic coma\n│  └─ Hypoglycemic coma\n"
        "└─ Neuropathy\n```"
    )
    tree = tm.Taxonomy.from_edges(FIGURE_1)
    for number_of, reference in (("2", "Coma"), ("3", "Neuropathy")):
        column = f"distance from {reference}"
        rows = [row for row, _ in printed("P3", f"Figure {number_of}")]
        away: dict[Cell, Value] = {
            (row, column): tree.distance(row, reference, distance="wu_palmer", sample=list(tree)) for row in rows
        }
        page.side_by_side(
            "P3", f"Figure {number_of}", away, caption=f"ranked by Wu and Palmer's distance, reference {reference}"
        )
    figure_4(page)


def figure_4(page: Page) -> None:
    tree = tm.Taxonomy.from_edges(DISEASES)
    values = list(tree)
    away = tree.distance_matrix(values, distance="wu_palmer")
    most = values[int(np.argmax(away.sum(axis=0)))]
    from_most = away[values.index(most)]
    ranked = sorted(values, key=lambda value: from_most[values.index(value)])
    ours: dict[Cell, Value] = {("most distant value", "value"): most}
    for i, value in enumerate(ranked, 1):
        tied = sorted(other for other in values if from_most[values.index(other)] == from_most[values.index(value)])
        ours[f"x({i})", "value"] = " or ".join(tied)
    apart = float(away[values.index("Hepatic coma"), values.index("Herpes zoster ophthalmicus")])
    ours["distance of Hepatic coma and Herpes zoster ophthalmicus", "value"] = apart
    tie = f"These values are equally far from {most}, so that every order of them is a ranking, the printed one too."
    page.side_by_side(
        "P3",
        "Figure 4",
        ours,
        {f"x({i})": tie for i in range(3, 9)},
        caption="the ranking from the most distant value, and an interval that holds strangers",
    )
    theirs = [printed("P3", "Figure 4")[f"x({i})", "value"] for i in range(1, 9)]
    steps = [from_most[values.index(value)] for value in theirs]
    page.check(
        "the printed ranking is one that Definition 3 allows",
        steps == sorted(steps),
        f"Our distances from {most} along it: {', '.join(number(step, 2) for step in steps)}.",
    )
    attribute = tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=tree, distance="wu_palmer")
    data = tm.Microdata.from_frame(pa.table({"x": values}), tm.Schema([attribute]))
    largest = {a: _largest_swap(data, a) for a in (1, 2)}
    hepatic = values.index("Hepatic coma")
    page.claim(
        Claim(
            "at k = 2 one ranking (Algorithm 1) lets Hepatic coma be swapped with a herpes; intervals of "
            "its own (Algorithm 2) do not",
            largest[1][hepatic] == apart > largest[2][hepatic],
            f"In 200 runs its farthest swap is at {number(largest[1][hepatic], 2)} with Algorithm 1 and at "
            f"{number(largest[2][hepatic], 2)} with Algorithm 2.",
        )
    )
    page.key("Figure 4, distance of Hepatic coma and a herpes", apart)


def _largest_swap(data: tm.Microdata, algorithm: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The farthest swap of each of the eight values, over 200 seeds, at k = 2."""
    farthest = np.zeros(data.n)
    table: Any = data.columns["x"]
    for seed in range(200):
        masked = tm.RankSwapping(2, algorithm=algorithm).mask(data, np.random.default_rng(seed)).data
        after: Any = masked.columns["x"]
        farthest = np.maximum(farthest, table.table[table.codes, after.codes])
    return farthest


def features(page: Page) -> None:
    """Table 1 and what the text says of Dataset2 and Dataset3."""
    data = dataset1()
    means = semantic_means(data, data)
    variances, correlation = distance_variances(data, data).before, distance_correlations(data, data).before
    ours: dict[Cell, Value] = {("records", "Dataset1"): float(data.n)}
    for name in data.columns:
        column: Any = data.columns[name]
        size = int((column.counts > 0).sum())
        ours[f"categories {LETTERS[name]}", "Dataset1"] = float(size)
        ours[f"records per category {LETTERS[name]}", "Dataset1"] = data.n / size
        mean = tm.Taxonomy.builtin(TAXONOMIES[name])[means.before[name]]
        ours[f"mean {LETTERS[name]}", "Dataset1"] = f"{mean.label} ({mean.id})"
        ours[f"sdVar {LETTERS[name]}", "Dataset1"] = variances[name]
    ours["sdCor X^a X^b", "Dataset1"] = correlation["dx01", "pc01"]
    page.side_by_side(
        "P3", "1", ours, {"*": STAND_IN}, caption="the features of Dataset1", data="a stand-in for Dataset1, NHDS 2010"
    )
    page.key("Table 1, sdCor", correlation["dx01", "pc01"])
    page.key("Table 1, sdVar of the diagnosis", variances["dx01"])
    three = dataset3()
    correlations = distance_correlations(three, three).before
    more: dict[Cell, Value] = {("records", "value"): float(three.n)}
    for name in ("dx01", "pc01"):
        column = three.columns[name]
        size = int((column.counts > 0).sum())
        more[f"categories {LETTERS[name]}", "value"] = float(size)
        more[f"records per category {LETTERS[name]}", "value"] = three.n / size
    for (a, b), value in correlations.items():
        more[f"sdCor {LETTERS[a]} {LETTERS[b]}", "value"] = value
    page.side_by_side(
        "P3",
        "Dataset2 and Dataset3",
        more,
        {"*": STAND_IN},
        caption="the features given in the text",
        data="a stand-in, NHDS 2010: Dataset2 is Dataset3 without the second diagnosis",
    )
