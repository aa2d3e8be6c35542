"""Definitions as they stand in the papers, without any thought of speed: what the package is tested against."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
from hypothesis import strategies as st

Parents = dict[str, list[str]]


class NaiveTaxonomy:
    """A DAG as a dictionary from each concept to its parents."""

    def __init__(self, parents: Parents) -> None:
        self.parents = parents
        self.root = next(concept for concept, above in parents.items() if not above)

    def ancestors(self, concept: str) -> set[str]:
        return {concept}.union(*(self.ancestors(parent) for parent in self.parents[concept]))

    def descendants(self, concept: str) -> set[str]:
        return {other for other in self.parents if concept in self.ancestors(other)}

    def longest(self, top: str, concept: str) -> int:
        """Nodes on the longest path from top down to concept; 0 if there is none."""
        if concept == top:
            return 1
        lengths = [self.longest(top, parent) for parent in self.parents[concept]]
        return 1 + max(lengths) if any(lengths) else 0

    def links(self, concept: str, top: str) -> int:
        """Links on the shortest path from concept up to top."""
        queue = deque([(concept, 0)])
        while queue:
            at, steps = queue.popleft()
            if at == top:
                return steps
            queue.extend((parent, steps + 1) for parent in self.parents[at])
        raise AssertionError(f"{top} is not above {concept}")

    def lcs(self, concepts: list[str], order: list[str]) -> str:
        common = set.intersection(*(self.ancestors(concept) for concept in concepts))
        deepest = max(self.longest(self.root, concept) for concept in common)
        return min((c for c in common if self.longest(self.root, c) == deepest), key=order.index)


# --------------------------------------------------------------------------------------- distances, to 60 digits

EXACT = Context(prec=60)  # what is equal by definition differs by no more than 1e-50 then, and nothing else does


def ancestors(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    t1, t2 = tax.ancestors(a), tax.ancestors(b)
    return (1 + Decimal(len(t1 | t2) - len(t1 & t2)) / len(t1 | t2)).ln() / Decimal(2).ln()


def wu_palmer(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    top = tax.lcs(sample, order)
    common = {c for c in tax.ancestors(a) & tax.ancestors(b) if tax.longest(top, c) > 0}
    depth = max(tax.longest(top, c) for c in common)
    return min(
        1 - Decimal(2 * depth) / (2 * depth + tax.links(a, c) + tax.links(b, c))
        for c in common
        if tax.longest(top, c) == depth
    )


def edge_weight(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    """Walk the tree path edge by edge."""
    deepest = max(tax.longest(tax.root, c) for c in sample)
    total = Decimal(0)
    common = tax.ancestors(a) & tax.ancestors(b)
    for end in (a, b):
        at = end
        while at not in common:
            total += Decimal(2) ** (deepest - tax.longest(tax.root, at))
            (at,) = tax.parents[at]
    return total


def information(tax: NaiveTaxonomy, concept: str) -> Decimal:
    if len(tax.parents) == 1:
        return Decimal(0)
    return 1 - Decimal(len(tax.descendants(concept))).ln() / Decimal(len(tax.parents)).ln()


def lin(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    common = max(information(tax, c) for c in tax.ancestors(a) & tax.ancestors(b))
    both = information(tax, a) + information(tax, b)
    return 1 - 2 * common / both if both else Decimal(0)


def jiang_conrath(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    common = max(information(tax, c) for c in tax.ancestors(a) & tax.ancestors(b))
    return (information(tax, a) + information(tax, b) - 2 * common) / 2


def equality(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> Decimal:
    return Decimal(a != b)


_EXACT = {
    "ancestors": ancestors,
    "wu_palmer": wu_palmer,
    "edge_weight": edge_weight,
    "lin": lin,
    "jiang_conrath": jiang_conrath,
    "equality": equality,
}


def _rounded(exact: Callable[..., Decimal]) -> Callable[..., float]:
    def distance(tax: NaiveTaxonomy, a: str, b: str, sample: list[str], order: list[str]) -> float:
        with localcontext(EXACT):
            return float(exact(tax, a, b, sample, order))

    return distance


DISTANCES = {name: _rounded(exact) for name, exact in _EXACT.items()}


def marginal_mean(
    distance: str, tax: NaiveTaxonomy, values: list[str], among: list[str], sample: list[str], order: list[str]
) -> str:
    """Of some concepts, in the order of the taxonomy, the first with the smallest sum of distances to the values."""
    between, counts = _EXACT[distance], Counter(values)
    with localcontext(EXACT):
        sums = [sum((k * between(tax, one, v, sample, order) for v, k in counts.items()), Decimal(0)) for one in among]
        return next(one for one, total in zip(among, sums, strict=True) if total <= min(sums) + Decimal("1e-50"))


def distance_covariance(a: np.ndarray, b: np.ndarray) -> float:
    """From the n×n distance matrices of the records."""
    n = len(a)

    def centred(d: np.ndarray) -> np.ndarray:
        return d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean()

    return sqrt(max(float((centred(a) * centred(b)).sum()) / n**2, 0.0))


def equally_near(squared: Sequence[float], largest: float) -> np.ndarray:
    """Which δ² are as small as the smallest: |δ1 - δ2| ≤ 1e-12·δ + 1e-14·M, with the smallest δ; M is ``largest``."""
    away = np.sqrt(squared)
    return away - away.min() <= 1e-12 * away.min() + 1e-14 * largest


def linked(original: Sequence[Sequence[Fraction]], released: dict[int, Sequence[Fraction]]) -> dict[int, tuple]:
    """Linkage of numbers in exact arithmetic, with equal distances for ties.

    From the original records and some of the released ones by position; for each whether its own original record is
    among the nearest, and how many these are. δ² = Σ (x - y)² / 2S².
    """
    n, weights = len(original), []
    for column in zip(*original, strict=True):
        mean = sum(column, Fraction(0)) / n
        variance = sum((x - mean) ** 2 for x in column) / (n - 1)
        weights.append(1 / (2 * variance) if variance else Fraction(0))
    found = {}
    for i, query in released.items():
        squared = [sum(w * (x - y) ** 2 for w, x, y in zip(weights, one, query, strict=True)) for one in original]
        found[i] = squared[i] == min(squared), squared.count(min(squared))
    return found


def edges_of(parents: Parents) -> list[tuple[str, str]]:
    return [(child, parent) for child, above in parents.items() for parent in above]


@st.composite
def taxonomies(draw: st.DrawFn, *, trees: bool = False, largest: int = 14) -> Parents:
    """Random rooted trees or DAGs of at least two concepts."""
    size = draw(st.integers(2, largest))
    parents: Parents = {"c0": []}
    for i in range(1, size):
        number = 1 if trees else draw(st.integers(1, min(i, 3)))
        chosen = draw(st.lists(st.integers(0, i - 1), min_size=number, max_size=number, unique=True))
        parents[f"c{i}"] = [f"c{j}" for j in chosen]
    return parents


def pairs(values: list[str]) -> list[tuple[str, str]]:
    return list(product(values, values))
