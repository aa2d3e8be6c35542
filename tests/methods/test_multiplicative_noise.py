from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import taxomask as tm

from .conftest import SCHEMA, tables

CHARGES = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])


@given(tables(), st.sampled_from(["lognormal", "normal"]), st.integers(0, 100))
@settings(max_examples=40)
def test_zeros_signs_and_missing_cells_stay(table: pa.Table, distribution: Any, seed: int) -> None:
    assume(any(table["number"].to_pylist()))  # of zeros alone no cell can change, which stops the release
    method = tm.MultiplicativeNoise(0.5, distribution=distribution)
    release = tm.protect(table, SCHEMA, method, seed=seed)
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    for before, after in zip(table["number"].to_pylist(), release.data["number"].to_pylist(), strict=True):
        assert (before is None) == (after is None)
        if before is not None:
            assert before != 0 or after == 0
            assert distribution == "normal" or np.sign(before) == np.sign(after)  # a normal factor may be 0.001
    zeros = table["number"].to_pylist().count(0)
    assert any(f"number: {zeros:,} zeros stay" in note for note in release.notes) == (zeros > 0)


@pytest.mark.parametrize("distribution", ["lognormal", "normal"])
def test_factors_have_mean_one_and_the_deviation_asked_for(distribution: Any) -> None:
    x = np.random.default_rng(7).lognormal(9, 1, 40_000)
    release = tm.protect(pa.table({"x": x}), CHARGES, tm.MultiplicativeNoise(0.3, distribution), seed=1)
    factors = release.data["x"].to_numpy() / x
    assert factors.mean() == pytest.approx(1, abs=0.01)
    assert factors.std() == pytest.approx(0.3, abs=0.01)
    assert np.corrcoef(factors, x)[0, 1] == pytest.approx(0, abs=0.02)
    assert (factors.min() > 0) == (distribution == "lognormal")


def test_a_lost_sign_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty:
        def lognormal(self, *_: Any) -> Any:
            return np.array([1.0, -1.0])

    monkeypatch.setattr(import_module("taxomask.release.protect"), "generator", lambda draws, what: Faulty())
    with pytest.raises(tm.PromiseError, match=r"every number of x keeps its sign \(1 do not\)"):
        tm.protect(pa.table({"x": [1.0, 2.0]}), CHARGES, tm.MultiplicativeNoise(), seed=1)


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.MultiplicativeNoise(-1), "amount must be a number above 0"),
        (tm.MultiplicativeNoise(0.1, "uniform"), "distribution must be 'lognormal' or 'normal'"),  # type: ignore[arg-type]
        (tm.MultiplicativeNoise(attributes=["n_beds"]), "multiplicative_noise cannot treat 'n_beds', which is ordinal"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    release = tm.protect(discharges, discharge_schema, tm.MultiplicativeNoise(attributes=["care_days"]), seed=1)
    assert release.data["care_days"].to_numpy().mean() == pytest.approx(
        discharges["care_days"].to_numpy().mean(), rel=0.02
    )
