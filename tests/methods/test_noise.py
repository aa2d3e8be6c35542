from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import noise
from taxomask.methods._joint_moments import with_moments_of

from .conftest import SCHEMA, release_of, tables

GRADES = ["low", "mid", "high", "top"]


def numeric(**columns: Any) -> tuple[pa.Table, tm.Schema]:
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in columns])
    return pa.table(columns), schema


@given(tables(), st.booleans(), st.integers(0, 100))
@settings(max_examples=40)
def test_cells_stay_missing_and_categories_on_their_scale(table: pa.Table, correlated: bool, seed: int) -> None:
    method = tm.Noise(0.7, correlated=correlated)
    pairs = zip(table["number"].to_pylist(), table["grade"].to_pylist(), strict=True)
    if correlated and sum(None not in pair for pair in pairs) < 2:
        with pytest.raises(tm.DataError, match="too few for correlations"):
            tm.protect(table, SCHEMA, method, seed=seed)
        return
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # no number that varies, and all categories rounded back
        assert len({x for x in table["number"].to_pylist() if x is not None}) < 2
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    for name in ("number", "grade"):
        assert [x is None for x in release.data[name].to_pylist()] == [x is None for x in table[name].to_pylist()]
    assert set(release.data["grade"].to_pylist()) <= {None, *GRADES}
    for name in ("plain", "concept", "rest"):
        assert release.data[name].equals(table[name])
    assert any("Released as they are, though quasi-identifiers: plain, concept." in note for note in release.notes)


@given(tables(least=6), st.booleans(), st.integers(0, 100))
@settings(max_examples=40)
def test_moments_are_kept_to_the_last_digits(table: pa.Table, correlated: bool, seed: int) -> None:
    second = np.random.default_rng(seed + 1000).normal(1e6, 3, table.num_rows)
    table = table.append_column("second", pa.array(second))
    schema = tm.Schema([*SCHEMA.values(), tm.Attribute("second", role="quasi_identifier", kind="continuous")])
    names = ("number", "second")
    method = tm.Noise(0.5, correlated=correlated, keep_moments=True, attributes=names)
    before = np.column_stack([table[name].to_pandas().to_numpy(float) for name in names])
    number = before[~np.isnan(before[:, 0]), 0]
    varies = len(set(number)) > 1
    if (correlated and len(number) < 2) or (varies and len(number) < (4 if correlated else 3)):
        with pytest.raises(tm.DataError, match="too few"):
            tm.protect(table, schema, method, seed=seed)
        return
    release = tm.protect(table, schema, method, seed=seed)
    after = np.column_stack([release.data[name].to_pandas().to_numpy(float) for name in names])
    blocks = [[0, 1]] if correlated and varies else [[0], [1]] if varies else [[1]]
    for block in blocks:
        rows = ~np.isnan(before[:, block]).any(axis=1)
        x, y = before[np.ix_(rows, block)], after[np.ix_(rows, block)]
        assert np.abs(x - y).max() > 1e-3
        np.testing.assert_allclose(y.mean(axis=0), x.mean(axis=0), rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(np.cov(y.T), np.cov(x.T), rtol=1e-6, atol=1e-8)


def test_noise_has_the_size_and_the_correlations_asked_for() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20_000, 2)) @ [[3.0, 40.0], [0.0, 30.0]]
    table, schema = numeric(a=x[:, 0], b=x[:, 1])
    for correlated, expected in ((False, 0.0), (True, np.corrcoef(x.T)[0, 1])):
        release = tm.protect(table, schema, tm.Noise(0.2, correlated=correlated), seed=2)
        added = np.column_stack([release.data[name].to_numpy() for name in "ab"]) - x
        np.testing.assert_allclose(added.std(axis=0), 0.2 * x.std(axis=0), rtol=0.02)
        np.testing.assert_allclose(added.mean(axis=0), 0, atol=0.01 * x.std(axis=0).max())
        assert np.corrcoef(added.T)[0, 1] == pytest.approx(expected, abs=0.02)


def test_a_linear_relation_survives_correlated_noise() -> None:
    """The covariance matrix is singular: noise goes along it only."""
    a = np.random.default_rng(3).normal(size=50)
    table, schema = numeric(a=a, b=2 * a + 7)
    for keep in (False, True):
        release = tm.protect(table, schema, tm.Noise(1.0, correlated=True, keep_moments=keep), seed=1)
        new = release.data["a"].to_numpy()
        assert np.abs(new - a).max() > 0.5
        np.testing.assert_allclose(release.data["b"].to_numpy(), 2 * new + 7, atol=1e-6)


def test_moments_by_hand() -> None:
    """Mean 2, variance 2/3 wanted; 0, 3, 6 has mean 3, variance 6: a third of the deviations."""
    np.testing.assert_allclose(with_moments_of(np.array([[1.0], [2], [3]]), np.array([[0.0], [3], [6]])).T, [[1, 2, 3]])


def test_positions_are_cut_off_at_the_ends() -> None:
    table = pa.table({"grade": ["low", "top"] * 200})
    schema = tm.Schema([tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=GRADES)])
    release = tm.protect(table, schema, tm.Noise(0.4), seed=1)
    low, top = release.data["grade"].to_pylist()[::2], release.data["grade"].to_pylist()[1::2]
    assert {"low", "mid"} <= set(low)  # one step is 0.67 of the deviation 1.5 away
    assert {"top", "high"} <= set(top)
    # P(N(0, 0.6) > 0.5) = 0.20 of the values leave the end; those pushed outwards stay on it.
    assert low.count("low") / len(low) == pytest.approx(0.8, abs=0.07)


def test_what_does_not_vary_stays() -> None:
    table, schema = numeric(same=[0.1] * 5, none=pa.array([None] * 5, pa.float64()), x=[1.0, 2, 3, 4, 9])
    for keep in (False, True):
        release = tm.protect(table, schema, tm.Noise(keep_moments=keep), seed=1)
        assert release.data["same"].equals(table["same"])
        assert release.data["none"].null_count == 5
        assert not release.data["x"].equals(table["x"])
        for name in ("same", "none"):
            assert f"{name}: does not vary, so no noise was added." in release.notes


def test_real_discharges() -> None:
    table = pa.csv.read_csv("tests/data/nhds2010/neoplasm.csv.gz").select(["age_years", "care_days"])
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in table.column_names])
    release = tm.protect(table, schema, tm.Noise(0.1, correlated=True, keep_moments=True), seed=4)
    before, after = (np.column_stack([t[c].to_numpy() for c in t.column_names]) for t in (table, release.data))
    np.testing.assert_allclose(np.cov(after.T), np.cov(before.T), rtol=1e-9)
    added = (after - before).std(axis=0) / before.std(axis=0)
    np.testing.assert_allclose(added, 0.1, rtol=0.05)


def test_a_broken_promise_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "with_moments_of", lambda x, y: y)
    table, schema = numeric(x=np.arange(10.0))
    with pytest.raises(tm.PromiseError, match="DOES NOT HOLD: the mean and variance of x are kept"):
        tm.protect(table, schema, tm.Noise(keep_moments=True), seed=1)


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    wrong: Any
    for wrong, message in (
        (tm.Noise(0), "amount must be a number above 0"),
        (tm.Noise(float("nan")), "amount must be a number above 0"),
        (tm.Noise(correlated=1), "correlated must be true or false"),  # type: ignore[arg-type]
        (tm.Noise(attributes=["dx01"]), "noise cannot treat 'dx01', which is taxonomic"),
        (tm.Noise(attributes=["id"]), "there is no coded column 'id'"),
        (tm.Noise(attributes=[]), "no continuous or ordinal quasi-identifier to protect"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, wrong)
    table, schema = numeric(x=[1.0, 2.0])
    with pytest.raises(tm.DataError, match="2 records have a value in all of x, too few to keep moments"):
        tm.protect(table, schema, tm.Noise(keep_moments=True))
    table, schema = numeric(x=[1.0, None, 2.0], y=[None, 1.0, 2.0])
    with pytest.raises(tm.DataError, match="1 records have a value in all of x, y, too few for correlations"):
        tm.protect(table, schema, tm.Noise(correlated=True))
