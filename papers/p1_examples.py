"""P1, Examples 1 to 3: nine diagnoses, their distances and marginalities, in the drawn taxonomy and in another one."""

from __future__ import annotations

from itertools import product

import taxomask as tm
from papers.harness import Cell, Claim, Page, Value, agrees, number, printed
from papers.p1_taxonomy import DISEASES, agreeing, edges, kept, names

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
LABELS = [f"x{i + 1}" for i in range(len(SAMPLE))]
ROUNDED = "The paper adds rounded distances; the exact sum has other last digits."


def examples(page: Page) -> None:
    page.text(
        "## Examples 1 to 3\n\nThe taxonomy is Figure 1 of the paper, as its text and distances give it: Alzheimer is "
        "both a dementia, which is a mental disorder, and a degeneration of the nervous system."
    )
    drawn, other = tm.Taxonomy.from_edges(EDGES), tm.Taxonomy.from_edges(edges(kept()))
    nervous, alzheimer = ("x7", "x8", "x9"), ("x5", "x6")
    doubtful = printed("P1", "Example 1")["x5", "x7"]
    not_drawn = (
        f"The distance of Alzheimer to meningitis and to multiple sclerosis is printed as {doubtful}. In Figure 1 as "
        f"drawn it is {drawn.distance('Alzheimer', 'Meningitis'):.2f}; all other distances are those of the figure. "
        "Another taxonomy gives them all (see *A taxonomy that has the printed distances*)."
    )
    page.side_by_side(
        "P1",
        "Example 1",
        _matrix(drawn),
        dict.fromkeys([*product(alzheimer, nervous), *product(nervous, alzheimer)], not_drawn),
        caption="distances of the nine diagnoses",
    )
    _possible(page, other)
    m, theirs = _marginalities(drawn), printed("P1", "1")
    reasons = dict.fromkeys((*alzheimer, *nervous), not_drawn) | {"*": ROUNDED}
    page.side_by_side(
        "P1",
        "1",
        {(x, "m(x)"): value for x, value in m.items()},
        reasons,
        caption="marginalities",
        extra={(x, "m(x), the other taxonomy"): value for x, value in _marginalities(other).items()},
    )
    matrix = {cell: float(text) for cell, text in printed("P1", "Example 1").items()}
    sums = {x: sum(value for (row, _), value in matrix.items() if row == x) for x in LABELS}
    same = [abs(sums[x] - float(text)) < 1e-9 for (x, _), text in theirs.items()]
    apart = max(abs(value - float(theirs[x, "m(x)"])) for x, value in _marginalities(other).items())
    page.check(
        "Table 1 has the row sums of the printed distances",
        all(same),
        f"{sum(same)} of {len(same)} rows. With the exact distances of the other taxonomy the sums are within "
        f"{number(apart, 1)} of the printed ones: what is left is rounding.",
    )
    measured = _statistics(drawn)
    page.key("Var_M of Example 3", float(measured["Var_M"]))
    rounded = _statistics(other)
    page.key("Var_M of Example 3, the other taxonomy", float(rounded["Var_M"]))
    page.side_by_side(
        "P1",
        "Examples 2 and 3",
        {(name, "value"): value for name, value in measured.items()},
        {"*": not_drawn},
        caption="mean and variance of the sample",
        extra={(name, "value, the other taxonomy"): value for name, value in rounded.items()},
    )
    page.claim(
        Claim(
            "Lung cancer is the most marginal diagnosis and Alzheimer the least",
            all(
                max(found, key=found.__getitem__) == "x1" and min(found, key=found.__getitem__) in alzheimer
                for found in (m, _marginalities(other))
            ),
            f"m is {number(max(m.values()), 3)} and {number(min(m.values()), 3)}; it holds in both taxonomies.",
        )
    )


def _possible(page: Page, other: tm.Taxonomy) -> None:
    """A taxonomy with the printed matrix, and how small one can be."""
    theirs, counts = printed("P1", "Example 1"), kept()
    concepts: list[list[Value]] = [[names(one), float(count)] for one, count in counts.items()]
    page.text(
        "### A taxonomy that has the printed distances\n\nIs the printed matrix a slip, or that of another taxonomy? A "
        "distance depends only on how many ancestors two diseases have, themselves counted, and how many they share. "
        f"This taxonomy of {len(other)} concepts was found by a search in whole numbers (`papers/p1_taxonomy.py`): so "
        "many concepts stand above the diseases named, and above no others; a concept stands above another if it "
        "covers the same diseases and more, and the last one of a single disease is the disease itself."
    )
    page.table("", ["concepts above", "number"], concepts)
    ours = _matrix(other)
    found = sum(agrees(text, ours[cell]) for cell, text in theirs.items())
    page.key("cells of Example 1 in the other taxonomy", float(found))
    ancestors = {name: len(other.ancestors(name)) for name in DISEASES.values()}
    page.check(
        "The printed matrix is that of a taxonomy",
        found == len(theirs),
        f"With this one {found} of {len(theirs)} printed distances come out, to two digits. The diseases have "
        f"{min(ancestors.values())} to {max(ancestors.values())} ancestors, themselves counted "
        f"({', '.join(f'{name} {count}' for name, count in ancestors.items())}). So the matrix is possible; what does "
        "not give it is the figure.",
    )
    in_doubt = {("x5", "x7"), ("x5", "x9")}
    largest = max(ancestors.values())
    page.table(
        "Numbers of ancestors that agree with the printed distances",
        ["at most so many ancestors for each disease", "choices that agree but for the cells in doubt", "with all"],
        [
            [str(size), float(len(agreeing(size, in_doubt))), float(len(agreeing(size)))]
            for size in (6, 12, largest - 1, largest)
        ],
    )
    page.check(
        f"No taxonomy in which each disease has at most {largest - 1} ancestors has all printed distances",
        not agreeing(largest - 1),
        f"All choices of numbers of ancestors up to {largest - 1} were tried, with every number of common ancestors of "
        f"every pair. Up to {largest} one choice agrees with all distances, that of the taxonomy above; larger numbers "
        "were not tried.",
    )


def _matrix(tree: tm.Taxonomy) -> dict[Cell, Value]:
    distances = tree.distance_matrix(SAMPLE, distance="ancestors")
    return {(a, b): float(distances[i, j]) for i, a in enumerate(LABELS) for j, b in enumerate(LABELS)}


def _marginalities(tree: tm.Taxonomy) -> dict[str, float]:
    return dict(zip(LABELS, tm.marginality(SAMPLE, tree, distance="ancestors").tolist(), strict=True))


def _statistics(tree: tm.Taxonomy) -> dict[str, float | str]:
    return {
        "Mean_M": str(tm.nominal_mean(SAMPLE, tree, distance="ancestors")),
        "Num_mean_M": tm.mean_marginality(SAMPLE, tree, distance="ancestors"),
        "Var_M": tm.nominal_variance(SAMPLE, tree, distance="ancestors"),
    }
