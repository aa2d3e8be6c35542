"""P1, Example 1: which taxonomies can have the printed distances, and one that has them all.

The distance of two diseases depends only on how many ancestors each has, itself counted, and how many they share. So
all numbers can be tried. A taxonomy is found by counting, for every set of diseases, the concepts that stand above
these diseases and no others: a linear program in whole numbers. ``python -m papers.p1_taxonomy`` searches anew and
prints what ``p1_taxonomy.csv`` holds (which of several taxonomies is found may depend on the solver).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from papers.harness import HERE, Cell, printed

DISEASES = {
    "x1": "Lung cancer",
    "x2": "Paranoia",
    "x3": "Schizophrenia",
    "x4": "Vascular dementia",
    "x5": "Alzheimer",
    "x7": "Meningitis",
    "x9": "Multiple sclerosis",
}
ALIKE = ({"x2", "x3"}, {"x7", "x9"})  # the printed matrix treats these alike, and so does the taxonomy

Counts = Mapping[frozenset[str], int]  # how many concepts stand above these diseases and no others


def agreeing(largest: int, leave_out: Collection[Cell] = ()) -> list[tuple[int, ...]]:
    """All numbers of ancestors, up to the largest, that some overlaps of each pair bring to the printed distances."""
    theirs = printed("P1", "Example 1")
    labels = list(DISEASES)
    found: list[tuple[int, ...]] = [()]
    for i, label in enumerate(labels):
        found = [
            (*before, size)
            for before in found
            for size in range(1, largest + 1)
            if all(
                (other, label) in leave_out or _shared(size, before[j], theirs[label, other])
                for j, other in enumerate(labels[:i])
            )
        ]
    return found


@cache
def _shared(size1: int, size2: int, distance: str) -> tuple[int, ...]:
    """The numbers of common ancestors that give the printed distance; there is a common root.

    >>> _shared(3, 3, "0.58"), _shared(3, 3, "0.65")
    ((2,), ())
    """
    return tuple(
        both
        for both in range(1, min(size1, size2) + 1)
        if f"{math.log2(1 + (size1 + size2 - 2 * both) / (size1 + size2 - both)):.2f}" == distance
    )


def search(sizes: Sequence[int]) -> Counts | None:
    """A taxonomy with these numbers of ancestors and all printed distances, of the fewest kinds of concepts."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    theirs, labels = printed("P1", "Example 1"), list(DISEASES)
    sets = [frozenset(one) for size in range(1, len(labels) + 1) for one in combinations(labels, size)]
    place = {one: i for i, one in enumerate(sets)}
    nothing = np.zeros(len(sets))
    rows, low, high = [], [], []

    def bound(row: Sequence[float], least: float, most: float) -> None:
        rows.append(row)
        low.append(least)
        high.append(most)

    above = {label: np.array([label in one for one in sets], dtype=float) for label in labels}
    for label, size in zip(labels, sizes, strict=True):
        bound([*above[label], *nothing], size, size)
    for (a, size1), (b, size2) in combinations(zip(labels, sizes, strict=True), 2):
        shared = _shared(size1, size2, theirs[a, b])
        if not shared:
            return None
        bound([*(above[a] * above[b]), *nothing], shared[0], shared[-1])
    for pair in ALIKE:
        for one in sets:
            if len(one & pair) == 1:
                row = np.concatenate([nothing, nothing])
                row[place[one]], row[place[one ^ pair]] = 1, -1
                bound(row.tolist(), 0, 0)
    for i in range(len(sets)):  # a kind counts if it has a concept
        row = np.concatenate([nothing, nothing])
        row[i], row[len(sets) + i] = 1, -max(sizes)
        bound(row.tolist(), -np.inf, 0)
    least = [float(len(one) in (1, len(labels))) for one in sets]  # each disease itself, and the root
    found = milp(
        np.concatenate([nothing, nothing + 1]),
        constraints=LinearConstraint(np.array(rows), low, high),
        bounds=Bounds([*least, *nothing], [*(nothing + max(sizes)), *(nothing + 1)]),
        integrality=np.ones(2 * len(sets), dtype=int),
    )
    if found.x is None:
        return None
    counts = np.rint(found.x[: len(sets)]).astype(int).tolist()
    return {one: count for one, count in zip(sets, counts, strict=True) if count}


def kept() -> Counts:
    """The taxonomy of the page, as it was found."""
    label = {name: label for label, name in DISEASES.items()}
    with (HERE / "p1_taxonomy.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {frozenset(label[name] for name in row["above"].split("; ")): int(row["concepts"]) for row in rows}


def edges(counts: Counts) -> list[tuple[str, str]]:
    """Child and parent: what stands above more diseases stands above what stands above fewer of them.

    Concepts above the same diseases form a chain, which ends in the disease itself if it is one alone.
    """
    made: list[tuple[str, str]] = []
    chains: dict[frozenset[str], list[str]] = {}
    for one in sorted(counts, key=lambda one: (-len(one), sorted(one))):
        chain = [f"{' '.join(sorted(one))} ({i + 1})" for i in range(counts[one])]
        if len(one) == 1:
            chain[-1] = DISEASES[min(one)]
        wider = [other for other in chains if other > one]
        nearest = [other for other in wider if not any(one < between < other for between in wider)]
        made += [(chain[0], chains[other][-1]) for other in nearest]
        made += zip(chain[1:], chain, strict=False)
        chains[one] = chain
    return made


def names(one: frozenset[str]) -> str:
    """A set of diseases as text, in the order of the paper."""
    return "; ".join(DISEASES[label] for label in sorted(one))


def main() -> None:
    largest = next(size for size in range(1, 100) if agreeing(size))
    counts = next(found for sizes in agreeing(largest) if (found := search(sizes)))
    print("above,concepts")
    for one in sorted(counts, key=lambda one: (-len(one), sorted(one))):
        print(f"{names(one)},{counts[one]}")


if __name__ == "__main__":
    main()
