from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm

from .conftest import SCHEMA, TREE, release_of, tables

QUASI = ["number", "grade", "plain", "concept"]
GRADES = ["low", "mid", "high", "top"]


def away(name: str, a: Any, b: Any) -> float:
    if name == "number":
        return abs(a - b)
    if name == "grade":
        return abs(GRADES.index(a) - GRADES.index(b))
    return TREE.distance(a, b)


@given(
    tables(least=4),
    st.integers(2, 4),
    st.sampled_from(["observed", "domain"]),
    st.sampled_from(["frequency", "uniform"]),
    st.integers(0, 100),
)
@settings(max_examples=60)
def test_every_value_stays_within_the_radius_of_its_group(
    table: pa.Table, k: int, candidates: Any, draw: Any, seed: int
) -> None:
    method = tm.MicroHybrid(k, candidates=candidates, draw=draw)
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # nothing changed, by chance or because equal values were swapped
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    assert release.groups is not None
    for name in QUASI:
        before, after = table[name].to_pylist(), release.data[name].to_pylist()
        for group in range(release.groups.max() + 1):
            members = np.flatnonzero(release.groups == group).tolist()
            present = [before[i] for i in members if before[i] is not None]
            for i in members:
                assert (before[i] is None) == (after[i] is None)
                if before[i] is None:
                    continue
                if name == "plain":
                    assert after[i] in present
                else:
                    radius = max(away(name, before[i], other) for other in present)
                    assert away(name, before[i], after[i]) <= radius + 1e-12
                if candidates == "observed":
                    assert after[i] in before


@given(tables(least=6, complete=True), st.integers(2, 5), st.integers(0, 50))
@settings(max_examples=40)
def test_moments_are_exact_in_every_group(table: pa.Table, k: int, seed: int) -> None:
    table = table.append_column("second", pa.array(np.random.default_rng(seed).normal(size=table.num_rows)))
    schema = tm.Schema([*SCHEMA.values(), tm.Attribute("second", role="quasi_identifier", kind="continuous")])
    release = tm.protect(table, schema, tm.MicroHybrid(k, synthesis="moments"), seed=seed)
    assert release.groups is not None
    before = np.column_stack([table[name].to_numpy() for name in ("number", "second")]).astype(float)
    after = np.column_stack([release.data[name].to_numpy() for name in ("number", "second")])
    for group in range(release.groups.max() + 1):
        rows = release.groups == group
        np.testing.assert_allclose(after[rows].mean(axis=0), before[rows].mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(np.cov(after[rows].T), np.cov(before[rows].T), atol=1e-9)


def test_draws_follow_the_frequencies_or_not() -> None:
    """One group; from the middle value all values are within reach."""
    values = [1] * 60 + [2] * 20 + [3] * 20
    table = pa.table({"x": values * 20})
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])

    def shares(draw: Any) -> dict[int, float]:
        release = tm.protect(table, schema, tm.MicroHybrid(2000, draw=draw), seed=1)
        drawn = [
            new for old, new in zip(table["x"].to_pylist(), release.data["x"].to_pylist(), strict=True) if old == 2
        ]
        return {value: count / len(drawn) for value, count in Counter(drawn).items()}

    assert shares("frequency") == pytest.approx({1: 0.6, 2: 0.2, 3: 0.2}, abs=0.08)
    assert shares("uniform") == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, abs=0.08)


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method in (tm.MicroHybrid(10), tm.MicroHybrid(10, candidates="domain", synthesis="moments")):
        release = tm.protect(discharges, discharge_schema, method, seed=5)
        assert all(check.holds for check in release.promise)
        assert release.data["dx01"] != discharges["dx01"]


def test_a_broken_promise_stops_the_release(
    discharges: pa.Table, discharge_schema: tm.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the method itself is found on the data."""
    from taxomask.methods import micro_hybrid

    honest = micro_hybrid.by_code

    def faulty(column: Any, *arguments: Any) -> Any:
        drawn = honest(column, *arguments)
        return drawn.with_codes(drawn.codes[::-1].copy())

    monkeypatch.setattr(micro_hybrid, "by_code", faulty)
    with pytest.raises(tm.PromiseError, match=r"DOES NOT HOLD: every value of .* is within the radius"):
        tm.protect(discharges, discharge_schema, tm.MicroHybrid(3), seed=5)


def test_bad_parameters_are_errors(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.MicroHybrid(5, candidates="seen"), "candidates must be 'observed' or 'domain'; got 'seen'."),  # type: ignore[arg-type]
        (tm.MicroHybrid(5, draw="often"), "draw must be 'frequency' or 'uniform'; got 'often'."),  # type: ignore[arg-type]
        (tm.MicroHybrid(5, synthesis="mean"), "synthesis must be 'neighbourhood' or 'moments'; got 'mean'."),  # type: ignore[arg-type]
        (tm.MicroHybrid(1), "k must be an integer of at least 2; got 1."),
    ):
        with pytest.raises(tm.PlanError, match=message):
            tm.protect(discharges, discharge_schema, method)
