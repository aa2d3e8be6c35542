from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import Check, Masked, Method, Promise
from taxomask.methods import noise as noise_module
from taxomask.release.randomness import generator

from .conftest import SCHEMA, release_of, tables

QUASI = ["number", "grade", "plain", "concept"]
X = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])


def k_claimed(release: tm.Release) -> bool:
    return any("at least k" in check.promise for check in release.promise)


@given(tables(least=5), st.integers(2, 4), st.booleans(), st.integers(0, 50))
@settings(max_examples=40)
def test_k_anonymity_is_claimed_only_where_it_holds(table: pa.Table, k: int, random: bool, seed: int) -> None:
    method = tm.Pipeline([tm.Microaggregation(k), tm.Rounding(2, random=random), tm.Noise(0.1, attributes=["grade"])])
    release = release_of(table, SCHEMA, method, seed=seed)
    if release is None:
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    rows = Counter(tuple(row.values()) for row in release.data.select(QUASI).to_pylist())
    assert k_claimed(release) == (min(rows.values()) >= k)
    assert any("No longer claimed" in note and "at least k" in note for note in release.notes) != k_claimed(release)
    assert release.groups is not None
    assert len(release.groups) == table.num_rows


def test_steps_see_what_the_one_before_made_and_have_generators_of_their_own() -> None:
    table = pa.table({"x": np.random.default_rng(1).normal(50, 20, 100)})
    release = tm.protect(table, X, tm.Pipeline([tm.Noise(0.5), tm.Noise(0.1), tm.Rounding(1)]), seed=3)
    data = tm.Microdata.from_frame(table, X)
    steps = (tm.Noise(0.5), tm.Noise(0.1), tm.Rounding(1))
    for step, rng in zip(steps, generator(release.audit["draws"], "masking").spawn(3), strict=True):
        data = step.mask(data, rng).data
    assert release.data.equals(data.to_frame())


def test_a_promise_is_about_the_table_that_its_step_was_given() -> None:
    """The moments of the capped numbers are kept, not those of the original ones."""
    table = pa.table({"x": [1.0, 2, 3, 4, 100]})
    steps = [tm.TopBottomCoding(top={"x": 5}), tm.Noise(keep_moments=True)]
    release = tm.protect(table, X, tm.Pipeline(steps), seed=1)
    assert release.data["x"].to_numpy().mean() == pytest.approx(3)
    assert "the mean and variance of x are kept" in release.promise[-1].promise
    # The noise may leave the limit; then that is not claimed.
    claimed = "every value of x is at most 5" in release.promise[-2].promise
    assert claimed == (max(release.data["x"].to_pylist()) <= 5)
    # After other noise the moments are no longer those.
    release = tm.protect(table, X, tm.Pipeline([*steps, tm.Noise()]), seed=1)
    lost = [note for note in release.notes if "No longer claimed" in note]
    assert any("step 2 (noise, of what step 1 made): the mean and variance of x are kept" in note for note in lost)
    assert "mean and variance" not in str(release.promise[-2])
    assert "missing cells of x" in str(release.promise[-2])


def test_k_anonymity_after_noise_is_lost_and_said() -> None:
    table = pa.table({"x": [1.0, 2, 8, 9]})
    release = tm.protect(table, X, tm.Pipeline([tm.Microaggregation(2), tm.Noise()]), seed=1)
    assert not k_claimed(release)
    assert release.promise[-2].promise == "step 1 (microaggregation): nothing"
    assert release.notes[-1] == (
        "No longer claimed after later steps, step 1 (microaggregation): at least k = 2 records share every "
        "combination of x (the smallest of 4 classes has 1 record)."
    )
    assert release.audit["parameters"]["methods"][0] == {"name": "microaggregation", "k": 2}


def test_rounding_ends_a_permutation() -> None:
    table = pa.table({"x": [1.2, 2.4, 3.1, 4.9]})
    mapped = tm.ReverseMapping(tm.Noise(1.0))
    release = tm.protect(table, X, tm.Pipeline([tm.TopBottomCoding(top=100), mapped]), seed=4)
    assert sorted(release.data["x"].to_pylist()) == table["x"].to_pylist()
    release = tm.protect(table, X, tm.Pipeline([mapped, tm.Rounding(1)]), seed=4)
    assert sorted(release.data["x"].to_pylist()) == [1, 2, 3, 5]
    assert release.promise[-2].promise == "step 1 (reverse_mapping): nothing"
    assert "No longer claimed after later steps, step 1 (reverse_mapping)" in release.notes[-1]


STEPS = [
    tm.Microaggregation(3),
    tm.MicroHybrid(3),
    tm.MicroHybrid(3, synthesis="moments"),
    tm.ReverseMapping(tm.Pram(0.3)),
    tm.Noise(0.3),
    tm.MultiplicativeNoise(),
    tm.MarginalityNoise(1.0),
    tm.Pram(),
    tm.Recoding(2),
    tm.Generalisation(3),
    tm.Suppression(3),
    tm.TopBottomCoding(80, 20),
    tm.Rounding(3, random=True),
]


@given(tables(least=5), st.lists(st.sampled_from(STEPS), min_size=2, max_size=3), st.integers(0, 50))
@settings(max_examples=40)
def test_any_steps_follow_each_other(table: pa.Table, steps: list[Method], seed: int) -> None:
    release = release_of(table, SCHEMA, tm.Pipeline(steps), seed=seed)
    if release is None:  # by chance, or since there is but one value
        return
    rows = Counter(tuple(row.values()) for row in release.data.select(QUASI).to_pylist())
    assert k_claimed(release) <= (min(rows.values()) >= 3)
    assert release.verify(release.data) == release.promise


def test_pipelines_nest() -> None:
    table = pa.table({"x": [1.0, 2, 8, 9]})
    inner = tm.Pipeline([tm.Microaggregation(2), tm.Rounding(1)])
    release = tm.protect(table, X, tm.Pipeline([inner, tm.TopBottomCoding(top=100)]), seed=1)
    assert k_claimed(release)
    assert "step 1 (pipeline): step 1 (microaggregation): at least k = 2" in release.promise[-2].promise
    release = tm.protect(table, X, tm.Pipeline([inner, tm.Noise()]), seed=1)
    assert not k_claimed(release)


@dataclass(frozen=True)
class Same(Promise):
    """Every value is as it was; for a test."""

    def check(self, original: Any, released: Any, masked: Any) -> Check:
        same = np.array_equal(original.columns["x"].values, released.arrow("x").to_numpy())
        return Check("all as it was", same, "looked at")


@dataclass(frozen=True)
class Step(Method):
    """A step that gives back what it is told."""

    masked: dict[str, Any]
    shift: float = 0.0
    name = "told"
    about = reference = "none"

    def mask(self, data: Any, rng: Any, progress: Any = None) -> Masked:
        if progress:
            progress(0.5)
        column = data.columns["x"]
        changed = data.replace({"x": column.with_values(column.values + self.shift)})
        copies = tuple(changed for _ in range(self.masked.get("copies", 0)))
        return replace(Masked(changed), **{**self.masked, "copies": copies})

    def promises(self, data: Any) -> tuple[Promise, ...]:
        return (Same(),)


def test_swaps_copies_links_and_progress() -> None:
    table = pa.table({"x": [1.0, 2.0]})
    first, second = Step({"swaps": {"x": np.array([[0, 1]])}}), Step({"swaps": {"x": np.array([[1, 0]])}, "copies": 2})
    seen: list[float] = []
    data = tm.Microdata.from_frame(table, X)
    masked = tm.Pipeline([first, second]).mask(data, np.random.default_rng(1), seen.append)
    assert masked.swaps is not None
    assert masked.swaps["x"].tolist() == [[0, 1], [1, 0]]
    assert len(masked.copies) == 2
    assert seen == [0.25, 0.5, 0.75, 1.0]
    with pytest.raises(tm.PlanError, match="told makes several tables and is not the last step"):
        tm.protect(table, X, tm.Pipeline([second, first]))
    unlinked = Step({"linked": False})
    masked = tm.Pipeline([first, unlinked, Step({})]).mask(data, np.random.default_rng(1))
    assert not masked.linked
    assert masked.notes == (
        "No longer claimed after later steps, step 1 (told): all as it was (a later step makes new records).",
    )


def test_a_fault_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last step, and in an earlier one whose promise did not even hold at once."""
    table = pa.table({"x": [1.0, 2.0]})
    with pytest.raises(tm.PromiseError, match=r"step 2 \(told, of what step 1 made\): all as it was"):
        tm.protect(table, X, tm.Pipeline([Step({}), Step({}, shift=1.0)]))
    with pytest.raises(tm.PromiseError, match=r"stopped after step 1 \(told\):\n  DOES NOT HOLD: all as it was"):
        tm.protect(table, X, tm.Pipeline([Step({}, shift=1.0), Step({})]))
    monkeypatch.setattr(noise_module, "with_moments_of", lambda x, y: y)
    steps = [tm.Noise(keep_moments=True), tm.Noise()]
    with pytest.raises(tm.PromiseError, match=r"stopped after step 1 \(noise\)"):
        tm.protect(pa.table({"x": np.arange(9.0)}), X, tm.Pipeline(steps), seed=1)


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method = tm.Pipeline([tm.TopBottomCoding(top=98), tm.Recoding(4), tm.Generalisation(5), tm.Suppression(5)])
    release = tm.protect(discharges, discharge_schema, method, seed=1)
    rows = Counter(
        tuple(row.values()) for row in release.data.select(list(discharge_schema.quasi_identifiers)).to_pylist()
    )
    assert min(rows.values()) >= 5
    assert "every code of dx01 is at depth 4 or above" in str(release.promise)


def test_bad_input_is_an_error() -> None:
    table = pa.table({"x": [1.0, 2.0]})
    wrong: Any
    for wrong in ([], [tm.Noise], "noise", None, [tm.Noise(), 5]):
        with pytest.raises(tm.PlanError, match="methods must be a list of at least one method"):
            tm.protect(table, X, tm.Pipeline(wrong))
    with pytest.raises(tm.PlanError, match="amount must be a number above 0"):
        tm.protect(table, X, tm.Pipeline([tm.Rounding(1), tm.Noise(0)]))
