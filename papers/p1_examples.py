"""P1, Examples 1 to 3: nine diagnoses, their distances and marginalities, and two printed cells that cannot be."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

import taxomask as tm
from papers.harness import Cell, Claim, Page, Value, number, printed

EDGES = [
    *((name, "all") for name in ("other", "mental", "nervous")),
    *(("Lung cancer", "other"), ("Paranoia", "mental"), ("Schizophrenia", "mental"), ("dementia", "mental")),
    *(("Vascular dementia", "dementia"), ("Alzheimer", "dementia"), ("degeneration", "nervous")),
    *(("Alzheimer", "degeneration"), ("Meningitis", "nervous"), ("Multiple sclerosis", "nervous")),
]
SAMPLE = [
    *("Lung cancer", "Paranoia", "Schizophrenia", "Vascular dementia", "Alzheimer", "Alzheimer", "Meningitis"),
    *("Meningitis", "Multiple sclerosis"),
]
ROUNDED = "The paper adds rounded distances; the exact sum rounds to another last digit."


def examples(page: Page) -> None:
    page.text(
        "## Examples 1 to 3\n\nThe taxonomy (Figure 1 of the paper) is the one that its text and distances give: "
        "Alzheimer is both a dementia, which is a mental disorder, and a degeneration of the nervous system."
    )
    tree = tm.Taxonomy.from_edges(EDGES)
    labels = [f"x{i + 1}" for i in range(len(SAMPLE))]
    distances = tree.distance_matrix(SAMPLE, distance="ancestors")
    nervous, alzheimer = ("x7", "x8", "x9"), ("x5", "x6")
    wrong = printed("P1", "Example 1")["x5", "x7"]
    impossible = (
        f"The distance of Alzheimer to meningitis and to multiple sclerosis is printed as {wrong}, which cannot stand "
        "beside the other printed distances (checked below Example 1). With both of Alzheimer's parents it is "
        f"{tree.distance('Alzheimer', 'Meningitis'):.2f}."
    )
    pairs = [*product(alzheimer, nervous), *product(nervous, alzheimer)]
    page.side_by_side(
        "P1",
        "Example 1",
        {(a, b): float(distances[i, j]) for i, a in enumerate(labels) for j, b in enumerate(labels)},
        dict.fromkeys(pairs, impossible),
        caption="distances of the nine diagnoses",
    )
    proved, sizes, largest = _no_taxonomy()
    page.check(
        f"The printed {wrong} between Alzheimer and the two nervous diseases contradicts the other printed distances",
        proved,
        f"Of all sizes of ancestor sets up to {largest}, {sizes} agree with the other distances to two digits, and "
        f"with none of them any overlap of the sets gives {wrong}.",
    )
    m = tm.marginality(SAMPLE, tree, distance="ancestors").tolist()
    reasons = dict.fromkeys((*alzheimer, *nervous), impossible) | {"*": ROUNDED}
    page.side_by_side(
        "P1", "1", {(x, "m(x)"): value for x, value in zip(labels, m, strict=True)}, reasons, caption="marginalities"
    )
    matrix = {cell: float(text) for cell, text in printed("P1", "Example 1").items()}
    sums = {x: sum(value for (row, _), value in matrix.items() if row == x) for x in labels}
    same = [abs(sums[x] - float(text)) < 1e-9 for (x, _), text in printed("P1", "1").items()]
    page.check(
        "Table 1 has the row sums of the printed distances",
        all(same),
        f"{sum(same)} of {len(same)} rows: the impossible cells and the rounding are all that differs.",
    )
    variance = tm.nominal_variance(SAMPLE, tree, distance="ancestors")
    least = tm.mean_marginality(SAMPLE, tree, distance="ancestors")
    average = str(tm.nominal_mean(SAMPLE, tree, distance="ancestors"))
    page.key("Var_M of Example 3", variance)
    ours: dict[Cell, Value] = {
        ("Mean_M", "value"): average,
        ("Num_mean_M", "value"): least,
        ("Var_M", "value"): variance,
    }
    page.side_by_side("P1", "Examples 2 and 3", ours, {"*": impossible}, caption="mean and variance of the sample")
    page.claim(
        Claim(
            "Lung cancer is the most marginal diagnosis and Alzheimer the least",
            SAMPLE[int(np.argmax(m))] == "Lung cancer" and average == "Alzheimer",
            f"m is {number(max(m), 3)} and {number(min(m), 3)}; it holds in spite of the impossible cells.",
        )
    )


def _no_taxonomy(largest: int = 12) -> tuple[bool, int, int]:
    """Whether no sizes of ancestor sets that agree with the other distances allow the one in doubt; how many agree."""
    theirs = printed("P1", "Example 1")

    def possible(a: int, b: int) -> set[str]:
        return {f"{math.log2(1 + (a + b - 2 * both) / (a + b - both)):.2f}" for both in range(1, min(a, b) + 1)}

    sizes = range(1, largest + 1)
    table = {(a, b): possible(a, b) for a in sizes for b in sizes}
    labels = ("x1", "x2", "x4", "x5", "x7", "x9")  # one label of each diagnosis that the contradiction needs
    agreeing: list[tuple[int, ...]] = [()]
    for i, label in enumerate(labels):
        agreeing = [
            (*before, size)
            for before in agreeing
            for size in sizes
            if all(
                (label, other) in (("x7", "x5"), ("x9", "x5")) or theirs[label, other] in table[size, before[j]]
                for j, other in enumerate(labels[:i])
            )
        ]
    alzheimer, meningitis, sclerosis = (labels.index(x) for x in ("x5", "x7", "x9"))
    allowed = [
        one
        for one in agreeing
        if theirs["x5", "x7"] in table[one[alzheimer], one[meningitis]]
        or theirs["x5", "x9"] in table[one[alzheimer], one[sclerosis]]
    ]
    return not allowed, len(agreeing), largest
