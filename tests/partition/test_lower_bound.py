from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.partition.lower_bound import least_loss, loss_of_means


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions into groups of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for choice in range(1 << len(rest)):
        group = [first, *(row for at, row in enumerate(rest) if choice >> at & 1)]
        if len(group) >= k:
            for others in partitions([row for row in rest if row not in group], k):
                yield [group, *others]


@given(st.integers(4, 8), st.integers(1, 3), st.integers(2, 4), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_no_partition_has_less(n: int, d: int, k: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, d)) * 10
    best = min(
        sum(float(np.square(points[group] - points[group].mean(axis=0)).sum()) for group in groups)
        for groups in partitions(list(range(n)), k)
    )
    assert least_loss(points, k) <= best + 1e-9


def test_pairs_that_are_each_others_nearest_reach_it() -> None:
    points = np.array([[0.0, 0.0], [0.0, 2.0], [50.0, 0.0], [50.0, 4.0]])
    assert least_loss(points, 2) == pytest.approx(2 + 8)
    assert least_loss(points[:1], 2) == 0


def test_a_refined_release_says_how_far_it_is_from_the_best_possible() -> None:
    points = np.random.default_rng(3).normal(size=(60, 2))
    table = pa.table({"x": points[:, 0], "y": points[:, 1]})
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in "xy"])
    release = tm.protect(table, schema, tm.Microaggregation(3, algorithm="refined", steps=50), seed=1)
    scaled = points / points.std(axis=0, ddof=1)
    times = loss_of_means(scaled, release.groups.astype(np.int32)) / least_loss(scaled, 3)
    assert (
        f"The loss of the groups is at most {np.ceil(100 * times) / 100:.2f} times the least possible with k = 3."
        in (release.notes)
    )
    alike = pa.table({"x": [1.0] * 6 + [2.0] * 6, "y": [0.0] * 12})
    quiet = tm.protect(alike, schema, tm.Microaggregation(3, algorithm="refined", steps=5), seed=1)
    assert not any("least possible" in note for note in quiet.notes)
