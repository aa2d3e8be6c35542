"""P2, Tables 2 and 3: MDAV in place says by itself around which record the last group of a printed row grew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.harness import agrees, printed
from papers.p2_census import LENGTHS, SIZES, as_printed, masked, standardized
from papers.p2_program import in_place

ROWS = [(length, k) for length in LENGTHS for k in SIZES]
AROUND_S = {(6, 6), (6, 9), (6, 12), (13, 12)}


def cells(length: int, k: int, end: str | None = None) -> dict[str, bool]:
    found = as_printed(in_place(standardized(length), k, end=end).groups, length)  # type: ignore[arg-type]
    theirs = printed("P2", "2") | printed("P2", "3")
    return {column: agrees(theirs[f"{length} attributes, k={k}", column], value) for column, value in found.items()}


def test_the_rule_selects_the_rows() -> None:
    assert {row for row in ROWS if in_place(standardized(row[0]), row[1]).end == "s"} == AROUND_S


def test_all_printed_cells_but_one() -> None:
    wrong = [(row, column) for row in ROWS for column, same in cells(*row).items() if not same]
    assert wrong == [((6, 9), "PIL(r)")]  # of 88


@pytest.mark.parametrize(("length", "k"), sorted(AROUND_S))
def test_the_text_does_not_give_these_rows(length: int, k: int) -> None:
    assert sum(cells(length, k, "r").values()) < sum(cells(length, k).values())


@pytest.mark.parametrize(("length", "k"), ROWS)
def test_with_the_end_of_the_text_the_groups_are_those_of_the_library(length: int, k: int) -> None:
    program, library = in_place(standardized(length), k, end="r").groups, masked(length, k)[1]
    pairs = set(zip(program.tolist(), library.tolist(), strict=True))
    assert len(pairs) == len(set(program.tolist())) == len(set(library.tolist()))


@given(st.integers(2, 4), st.integers(4, 40), st.integers(0, 10_000))
@settings(deadline=None)
def test_every_record_is_in_a_group_of_k(k: int, n: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, 2))
    sizes = np.bincount(in_place(points, k).groups)
    assert sizes.sum() == n
    assert (sizes[:-1] == k).all()
    assert sizes[-1] < 2 * k
    assert sizes[-1] >= min(k, n)
