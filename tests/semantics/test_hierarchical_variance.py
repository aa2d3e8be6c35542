"""Var_M and the hierarchical variance.

P0 (after its Definition 1) says that it was shown in its reference [3] that Var_M, with the weights of its Algorithm
1, is equivalent to the hierarchical variance Var_H of its reference [8], Domingo-Ferrer and Solanas (2008), A measure
of variance for hierarchical nominal attributes, Information Sciences 178. P1 keeps the definition of Var_M and does
not repeat the sentence. The papers print neither Var_H nor what equivalent means; both are written down here as they
are understood from the cited work, which is not among the papers.

Var_H: of the pruned tree, the edges below each node are labelled with the digits 0 to b - 1, where b is the largest
number of children of a category: the child with the most values gets the middle digit and the next ones those beside
it, by turns below and above. A value is the row of digits on its way from the root, filled up with the middle digit
to the length L of the longest. Var_H = Σ_i b^(2(L - i)) · S²(i-th digits).

Equivalent: of two samples of the same size, both variances put the same one first.

Read so, the sentence holds for two categories, for small samples (all of up to four values of a binary tree of four
leaves, and of up to five values of three flat categories, are looked at below) and for what variance in a hierarchy
is about (P1 section 2.3.2: children of one parent vary less than children of several). It does not hold in general:
two samples of eight values of three flat categories are a counterexample. What does hold for every tree and every
sample, exactly, is that Var_M is itself a weighted sum of variances over the levels of the hierarchy, as Var_H is,
with the indicators of the nodes in place of the digits: Var_M = 2(n - 1) Σ_nodes 2^(L - depth) · S²(whether a value
is at or below the node).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive import NaiveTaxonomy, Parents, edges_of, taxonomies

FLAT: Parents = {"r": [], **{name: ["r"] for name in "abc"}}
BINARY: Parents = {"r": [], "a": ["r"], "b": ["r"], "a1": ["a"], "a2": ["a"], "b1": ["b"], "b2": ["b"]}
TERNARY: Parents = {**FLAT, **{f"{name}{i}": [name] for name in "abc" for i in range(3)}}
LEAVES = [name for name in TERNARY if len(name) == 2]


def var_m(parents: Parents, sample: list[str]) -> float:
    return tm.nominal_variance(sample, tm.Taxonomy.from_edges(edges_of(parents)), distance="edge_weight")


def var_h(parents: Parents, sample: list[str]) -> float:
    """As described above, from the definition."""
    path = {value: way(parents, value) for value in sample}
    below = Counter(node for value in sample for node in path[value])
    b = max(Counter(parent for several in parents.values() for parent in several).values())
    middle = (b - 1) // 2 if b % 2 else b // 2
    digits = sorted(range(b), key=lambda digit: (abs(digit - middle), digit))
    label = {}
    for parent in ["", *below]:
        children = sorted(
            (node for node in below if above(parents, node) == parent), key=lambda node: (-below[node], node)
        )
        label |= dict(zip(children, digits, strict=False))
    length = max(len(path[value]) for value in sample)
    rows = [[label[node] for node in path[value]] + [middle] * (length - len(path[value])) for value in sample]
    return sum(float(b ** (2 * (length - i))) * column.var(ddof=1) for i, column in enumerate(np.array(rows).T, 1))


def above(parents: Parents, node: str) -> str:
    """The parent; "" for the children of the root."""
    (parent,) = parents[node]
    return parent if parents[parent] else ""


def way(parents: Parents, value: str) -> list[str]:
    """The nodes from a child of the root to a value."""
    return [] if not parents[value] else [*way(parents, parents[value][0]), value]


def by_level(parents: Parents, sample: list[str]) -> float:
    """Var_M as a sum of variances over the levels of the hierarchy."""
    tax = NaiveTaxonomy(parents)
    deepest = max(tax.longest(tax.root, value) for value in sample)
    total = 0.0
    for node in {node for value in sample for node in tax.ancestors(value)}:
        below = np.array([float(node in tax.ancestors(value)) for value in sample])
        total += 2.0 ** (deepest - tax.longest(tax.root, node)) * below.var(ddof=1)
    return 2 * (len(sample) - 1) * total


def test_by_hand() -> None:
    """a1, a1, a2 and b1, with edges of weight 2 above and 1 below: m is 8, 8, 10 and 18.

    At or below a and b are 3 and 1 of 4, with S² = 1/4 each; at a1, a2 and b1 are 2, 1 and 1, with S² = 1/3, 1/4, 1/4.
    Of the digits, a and a1 get 1 (the most values), b and a2 get 0, b1 is alone and gets 1: rows 11, 11, 10, 01.
    """
    sample = ["a1", "a1", "a2", "b1"]
    assert var_m(BINARY, sample) == (8 + 8 + 10 + 18) / 4 == 11
    assert (
        by_level(BINARY, sample)
        == pytest.approx(6 * (2 * (1 / 4 + 1 / 4) + 1 / 3 + 1 / 4 + 1 / 4))
        == pytest.approx(11)
    )
    assert var_h(BINARY, sample) == pytest.approx(4 * 1 / 4 + 1 / 4)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Parents, list[str]]:
    parents = draw(taxonomies(trees=True))
    return parents, draw(st.lists(st.sampled_from(sorted(parents)), min_size=2, max_size=20))


@given(samples())
@settings(max_examples=100)
def test_var_m_is_a_sum_of_variances_over_the_levels(drawn: tuple[Parents, list[str]]) -> None:
    """Inner nodes are legal values too."""
    assert var_m(*drawn) == pytest.approx(by_level(*drawn), abs=1e-9)


@given(st.integers(1, 40), st.integers(1, 40))
def test_of_two_categories_the_variances_are_the_same_but_for_a_factor(first: int, second: int) -> None:
    parents: Parents = {"r": [], "a": ["r"], "b": ["r"]}
    sample = ["a"] * first + ["b"] * second
    assert var_m(parents, sample) == pytest.approx(4 * (len(sample) - 1) * var_h(parents, sample))


@pytest.mark.parametrize(
    ("parents", "leaves", "n"),
    [(BINARY, ["a1", "a2", "b1", "b2"], n) for n in (2, 3, 4)] + [(FLAT, "abc", n) for n in (3, 4, 5)],
)
def test_all_small_samples_are_ordered_alike(parents: Parents, leaves: str | list[str], n: int) -> None:
    every = [list(sample) for sample in combinations_with_replacement(leaves, n)]
    found = [(round(by_level(parents, one), 9), round(var_h(parents, one), 9)) for one in every]
    for (m, h), (other_m, other_h) in combinations(found, 2):
        assert np.sign(m - other_m) == np.sign(h - other_h)


def test_they_are_not_equivalent_in_general() -> None:
    """Six a, one b and one c, against five a and three b.

    Different pairs: 6 + 6 + 1 = 13 against 15, each at the distance 2. Digits: 1 (six times), 0 and 2, with S² = 2/7,
    against 1 (five times) and 0 (three times), with S² = 15/56.
    """
    first, second = ["a"] * 6 + ["b", "c"], ["a"] * 5 + ["b"] * 3
    assert var_m(FLAT, first) == pytest.approx(2 * 13 * 2 / 8) == 6.5
    assert var_m(FLAT, second) == pytest.approx(2 * 15 * 2 / 8) == 7.5
    assert var_h(FLAT, first) == pytest.approx(2 / 7)
    assert var_h(FLAT, second) == pytest.approx(15 / 56)
    assert var_m(FLAT, first) < var_m(FLAT, second)
    assert var_h(FLAT, first) > var_h(FLAT, second)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=3), st.permutations(LEAVES))
def test_children_of_one_parent_vary_less(counts: list[int], leaves: list[str]) -> None:
    """Values as frequent below one parent and below several: both variances put the former first."""
    spread = leaves[: len(counts)]
    if len({leaf[0] for leaf in spread}) == 1:
        spread[0] = next(leaf for leaf in LEAVES if leaf[0] != spread[0][0])
    together, apart = (
        [leaf for leaf, count in zip(chosen, counts, strict=False) for _ in range(count)] for chosen in (LEAVES, spread)
    )
    assert var_m(TERNARY, together) < var_m(TERNARY, apart)
    assert var_h(TERNARY, together) < var_h(TERNARY, apart)
