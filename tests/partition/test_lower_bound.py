from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.partition import lower_bound, optimal_groups
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


@pytest.mark.parametrize("more", [30, 0])
@given(st.integers(4, 8), st.integers(1, 3), st.integers(2, 4), st.integers(0, 1000), st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_partition_has_less(more: int, n: int, d: int, k: int, seed: int, skewed: bool) -> None:
    """Whether all pairs are listed or those of the k nearest only."""
    points = np.random.default_rng(seed).normal(size=(n, d)) * 10
    points = np.exp(points / 5) if skewed else points
    best = min(
        sum(float(np.square(points[group] - points[group].mean(axis=0)).sum()) for group in groups)
        for groups in partitions(list(range(n)), k)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower_bound, "_MORE", more)
        assert least_loss(points, k) <= best * (1 + 1e-12) + 1e-9


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("more", [30, 0])
def test_on_a_line_it_is_below_the_least_loss_and_near_it(k: int, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower_bound, "_MORE", more)
    for values in (np.random.default_rng(k).normal(size=700), np.random.default_rng(k).lognormal(size=700)):
        points = values[:, None]
        least, found = loss_of_means(points, optimal_groups(values, k)), least_loss(points, k)
        assert found <= least
        assert not more or (simple(points, k) < found and found > 0.75 * least)


def simple(points: np.ndarray, k: int) -> float:
    """Every pair divided into halves: the bound without its search."""
    away = np.sort(np.square(points[:, None] - points).sum(axis=2), axis=1)
    return float(away[:, :k].sum() / (2 * k))


def test_a_point_far_from_all_others_has_its_distances_for_itself() -> None:
    """Pairs 0 1 and 10 11, and 30. The first share 1 each; 30 gets all 361 from 11, where 10 gets the 1 of its pair."""
    points = np.array([[0.0], [1.0], [10.0], [11.0], [30.0]])
    assert simple(points, 2) == pytest.approx((1 + 1 + 1 + 1 + 361) / 4)
    assert least_loss(points, 2) == pytest.approx((1 + 1 + 361) / 2, rel=1e-6)


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
