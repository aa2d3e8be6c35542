"""Linkage through the bounds of blocks finds what a scan of all pairs finds, whatever the blocks are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.risk import Linkage, record_linkage
from taxomask.measures.risk import linkage_in_blocks as blocks
from taxomask.measures.risk.linkage import spaces
from taxomask.measures.risk.linkage_in_blocks import linkage_in_blocks
from taxomask.partition.extent import Extent

from .conftest import NAMES, Blocks, pairs


def assert_same(found: Linkage, expected: Linkage) -> None:
    np.testing.assert_array_equal(found.right, expected.right)
    np.testing.assert_array_equal(found.ties, expected.ties)
    assert (found.attributes, found.among, found.unique, found.expected) == (
        expected.attributes,
        expected.among,
        expected.unique,
        expected.expected,
    )


@given(pairs(most=30), st.integers(1, 31))
@settings(max_examples=100)
def test_any_blocks_give_the_same(both: tuple[tm.Microdata, tm.Microdata], size: int) -> None:
    assert_same(linkage_in_blocks(Blocks(size), *both), record_linkage(*both))


@given(pairs(most=20), st.integers(1, 8), st.integers(1, 8))
@settings(max_examples=100)
def test_no_record_is_nearer_than_its_extent_says(
    both: tuple[tm.Microdata, tm.Microdata], some: int, others: int
) -> None:
    here, there = spaces(*both, NAMES)
    block, queries = here.take(np.arange(here.n)[-some:]), there.take(np.arange(there.n)[:others])
    nearest = np.array([block.squared_from(*one).min() for one in zip(*queries.coordinates, strict=True)])
    extent = Extent.of(block)
    assert extent.reach(queries, nearest).tolist() == list(range(queries.n))
    assert extent.apart(Extent.of(queries)) <= nearest.min()


@pytest.mark.parametrize(
    ("method", "most"), [(tm.Microaggregation(5), 0.2), (tm.Noise(), 0.3), (tm.RankSwapping(p=30), 1.0)]
)
def test_discharges(
    discharges: Any,
    discharge_schema: tm.Schema,
    method: tm.methods.Method,
    most: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Real records in blocks of 40: the same; unless records went far away, most blocks are never looked at."""
    looked = 0

    class Counting(blocks.Neighbours):
        def search(self, *queries: Any) -> Any:
            nonlocal looked
            looked += 1
            return super().search(*queries)

    release = tm.protect(discharges, discharge_schema, method, seed=1)
    both = release.original, release.released
    monkeypatch.setattr(blocks, "Neighbours", Counting)
    assert_same(linkage_in_blocks(Blocks(40), *both), record_linkage(*both))
    count = -(-release.original.n // 40)
    assert 0 < looked <= most * count**2
