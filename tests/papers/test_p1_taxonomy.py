"""P1, Example 1: a taxonomy has all printed distances, and none with fewer ancestors has."""

from __future__ import annotations

import math

import pytest

import taxomask as tm
from papers.harness import agrees, printed
from papers.p1_examples import EDGES, SAMPLE
from papers.p1_taxonomy import DISEASES, Counts, agreeing, edges, kept, search

SIZES = (9, 9, 9, 12, 18, 15, 15)
IN_DOUBT = {("x5", "x7"), ("x5", "x9")}
LABELS = [f"x{i + 1}" for i in range(9)]


def same_cells(tree: tm.Taxonomy) -> int:
    matrix = tree.distance_matrix(SAMPLE, distance="ancestors")
    theirs = printed("P1", "Example 1")
    return sum(agrees(theirs[a, b], float(matrix[i, j])) for i, a in enumerate(LABELS) for j, b in enumerate(LABELS))


def test_the_figure_does_not_have_the_printed_matrix_and_another_taxonomy_has_it() -> None:
    assert len(printed("P1", "Example 1")) == 81
    assert same_cells(tm.Taxonomy.from_edges(EDGES)) == 69
    assert same_cells(tm.Taxonomy.from_edges(edges(kept()))) == 81


def test_mean_and_variance_of_the_other_taxonomy() -> None:
    tree = tm.Taxonomy.from_edges(edges(kept()))
    assert len(tree) == 41
    assert tuple(len(tree.ancestors(name)) for name in DISEASES.values()) == SIZES
    assert tm.nominal_mean(SAMPLE, tree) == "Alzheimer"
    assert round(tm.nominal_variance(SAMPLE, tree), 2) == 5.78  # printed 5.79, from rounded distances


@pytest.mark.parametrize(("largest", "but_for_doubt", "with_all"), [(6, 1, 0), (12, 5, 0), (17, 5, 0), (18, 13, 1)])
def test_numbers_of_ancestors_that_agree(largest: int, but_for_doubt: int, with_all: int) -> None:
    found = agreeing(largest)
    assert (len(agreeing(largest, IN_DOUBT)), len(found)) == (but_for_doubt, with_all)
    assert found == ([SIZES] if with_all else [])


def test_agreeing_numbers_against_the_definition() -> None:
    """Two diseases at 0.58 and at most four ancestors each: by trying every overlap."""
    theirs = printed("P1", "Example 1")["x2", "x3"]
    tried = {
        (a, b)
        for a in range(1, 5)
        for b in range(1, 5)
        for both in range(1, min(a, b) + 1)
        if f"{math.log2(1 + (a + b - 2 * both) / (a + b - both)):.2f}" == theirs
    }
    others = {(a, b) for a in DISEASES for b in DISEASES if {a, b} != {"x2", "x3"}}
    assert {sizes[1:3] for sizes in agreeing(4, others)} == tried == {(1, 2), (2, 1), (2, 4), (4, 2), (3, 3)}


def test_the_search_finds_such_a_taxonomy() -> None:
    found = search(SIZES)
    assert found is not None
    assert same_cells(tm.Taxonomy.from_edges(edges(found))) == 81
    assert search((3, 3, 3, 4, 6, 3, 3)) is None  # as drawn


def test_edges_by_hand() -> None:
    counts: Counts = {frozenset({"x1", "x2"}): 2, frozenset({"x1"}): 1, frozenset({"x2"}): 2}
    assert edges(counts) == [
        ("x1 x2 (2)", "x1 x2 (1)"),
        ("Lung cancer", "x1 x2 (2)"),
        ("x2 (1)", "x1 x2 (2)"),
        ("Paranoia", "x2 (1)"),
    ]
