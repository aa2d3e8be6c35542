from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import pram
from taxomask.methods.pram import invariant_flows
from taxomask.taxonomy import Taxonomy

from .conftest import SCHEMA, TREE, release_of, released, tables

NAMES = ["grade", "plain", "concept"]


@given(tables(), st.booleans(), st.floats(0.01, 1), st.integers(0, 100))
@settings(max_examples=40)
def test_only_known_categories_and_missing_cells_stay(table: pa.Table, semantic: bool, keep: float, seed: int) -> None:
    method = tm.Pram(keep, semantic=semantic)
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # few values, all kept by chance
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    for name, note in zip(NAMES, [n for n in release.notes if "expected" in n], strict=True):
        before, after = table[name].to_pylist(), release.data[name].to_pylist()
        assert [x is None for x in before] == [x is None for x in after]
        assert set(after) <= set(before)
        changed = sum(x != y for x, y in zip(before, after, strict=True))
        assert note.startswith(f"{name}: {changed} of {sum(x is not None for x in before)} ")
        assert not changed or keep < 1


@given(st.integers(1, 12), st.floats(0.001, 100), st.integers(0, 1000))
@settings(max_examples=60)
def test_flows_are_invariant(c: int, reach: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((c, 2))
    distances = np.sqrt(np.square(points[:, None] - points).sum(axis=2))
    t = rng.integers(1, 10 ** rng.integers(1, 7), c)
    flows = invariant_flows(distances, t, reach)
    P = flows / t[:, None]
    assert (flows >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-10)
    np.testing.assert_allclose((t @ P) / t, 1, atol=1e-10)


@pytest.mark.parametrize("c", [10, 300, 3000])
def test_flows_are_invariant_on_real_codes(c: int) -> None:
    """t P = t to 1e-10, with counts as uneven as those of diagnoses."""
    icd = Taxonomy.builtin("icd9cm")
    rng = np.random.default_rng(c)
    concepts = np.sort(rng.choice(len(icd.ids) - 1, c, replace=False) + 1)
    t = np.ceil(100_000 / np.arange(1, c + 1)).astype(np.int64)[rng.permutation(c)]
    flows = invariant_flows(icd.table(concepts), t, 0.05)
    P = 0.8 * np.eye(c) + 0.2 * flows / t[:, None]
    np.testing.assert_allclose((t @ P) / t, 1, rtol=0, atol=1e-10)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-10)
    assert P.min() >= 0
    assert P.diagonal().min() >= 0.8


def test_two_categories_by_hand() -> None:
    """Each is as far from itself as from the other: a value is drawn by frequency, t_a t_b / n."""
    d = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(invariant_flows(d, np.array([1, 3]), 0.5), [[0.25, 0.75], [0.75, 2.25]], rtol=1e-8)


def test_two_pairs_by_hand() -> None:
    """Four categories in two pairs, equal counts: by symmetry x is the same for all, and R = W / row sum of W."""
    d = np.array([[0, 1, 3, 3], [1, 0, 3, 3], [3, 3, 0, 1], [3, 3, 1, 0.0]])
    mean = 25 * d.sum() / (20 * 19)  # Σ t_a t_b d / n(n-1)
    near, far = np.exp(-1 / (0.5 * mean)), np.exp(-3 / (0.5 * mean))
    expected = np.where(d == 3, far, near) / (2 * near + 2 * far)
    np.testing.assert_allclose(invariant_flows(d, np.full(4, 5), 0.5) / 5, expected, rtol=1e-8)


@pytest.mark.parametrize("semantic", [True, False])
def test_counts_are_kept_in_expectation_and_changes_as_announced(semantic: bool) -> None:
    rng = np.random.default_rng(7)
    values = rng.choice(["a1", "a2", "b", "b11", "b12", "b2"], 20_000, p=[0.4, 0.2, 0.2, 0.1, 0.09, 0.01])
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=TREE)])
    release = tm.protect(pa.table({"x": values}), schema, tm.Pram(0.5, semantic=semantic), seed=1)
    after = np.array(release.data["x"].to_pylist())
    for value in np.unique(values):
        count = (values == value).sum()
        assert (after == value).sum() == pytest.approx(count, abs=5 * np.sqrt(count))
    expected = float(release.notes[0].split("changed; ")[1].split(" were")[0].replace(",", ""))
    assert (after != values).sum() == pytest.approx(expected, abs=5 * np.sqrt(expected))
    if not semantic:
        share = np.unique(values, return_counts=True)[1] / len(values)
        assert expected == pytest.approx(0.5 * len(values) * (1 - np.square(share).sum()), abs=0.1)


def test_close_codes_are_more_likely() -> None:
    values = (["b11"] * 3 + ["b12"] + ["a1"]) * 2000
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=TREE)])
    release = tm.protect(pa.table({"x": values}), schema, tm.Pram(0.2), seed=1)
    away = [new for old, new in zip(values, release.data["x"].to_pylist(), strict=True) if old == "b11" != new]
    assert away.count("b12") > 100 + 3 * away.count("a1")


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    release = tm.protect(discharges, discharge_schema, tm.Pram(0.5), seed=5)
    icd = Taxonomy.builtin("icd9cm")
    before, after = discharges["dx01"].to_pylist(), release.data["dx01"].to_pylist()
    changed = [(x, y) for x, y in zip(before, after, strict=True) if x != y]
    flat = tm.protect(discharges, discharge_schema, tm.Pram(0.5, semantic=False), seed=5).data["dx01"].to_pylist()
    flatly = [(x, y) for x, y in zip(before, flat, strict=True) if x != y]
    mean, flat_mean = (np.mean([icd.distance(x, y) for x, y in pairs]) for pairs in (changed, flatly))
    assert len(changed) > 300
    assert mean < flat_mean - 0.25


def test_a_category_that_was_not_there_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="ordinal", order=["low", "mid", "top"])])
    honest = pram.Pram._redrawn
    shifted = lambda self, column, *rest: (column.with_codes(np.ones(len(column))), 0.0)  # noqa: E731
    monkeypatch.setattr(pram.Pram, "_redrawn", shifted)
    with pytest.raises(tm.PromiseError, match=r"only original categories of x are released \(1 others\)"):
        tm.protect(pa.table({"x": ["low", "top"]}), schema, tm.Pram(), seed=1)
    monkeypatch.setattr(pram.Pram, "_redrawn", honest)
    # A category of the scale that does not occur is never drawn.
    release = tm.protect(pa.table({"x": ["low", "top"] * 200}), schema, tm.Pram(0.01), seed=1)
    assert set(release.data["x"].to_pylist()) == {"low", "top"}


def test_bad_input_is_an_error(
    discharges: pa.Table, discharge_schema: tm.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    method: Any
    for method, message in (
        (tm.Pram(0), "keep must be a number above 0 and at most 1"),
        (tm.Pram(80), "keep must be a number above 0 and at most 1"),
        (tm.Pram(reach=0), "reach must be a number above 0"),
        (tm.Pram(semantic="yes"), "semantic must be true or false"),  # type: ignore[arg-type]
        (tm.Pram(attributes=["age"]), "pram cannot treat 'age', which is continuous"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    monkeypatch.setattr(pram, "MOST_CATEGORIES", 100)
    with pytest.raises(tm.DataError, match="too many for a table of distances"):
        tm.protect(discharges, discharge_schema, tm.Pram())
    assert tm.protect(discharges, discharge_schema, tm.Pram(semantic=False), seed=1).data.num_rows == 2000


def test_columns_without_variety_stay() -> None:
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=TREE)])
    for values in (["a1", "a1", None], [None, None]):
        table = pa.table({"x": pa.array(values, pa.string())})
        assert released(table, schema, tm.Pram(0.1))["x"].to_pylist() == values
