from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.engines import Engine, Files, Memory, Scratch, Threads
from taxomask.methods import Masked, rounding
from taxomask.methods._kept import OriginalOrMissing
from taxomask.microdata.frames import Frame

from .conftest import released

X = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])
NUMBERS = st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=40)


@given(NUMBERS, st.sampled_from([0.001, 0.1, 0.3, 1, 5, 12.5, 1e4]), st.booleans(), st.integers(0, 50))
@settings(max_examples=80)
def test_numbers_become_neighbouring_multiples(values: list[Any], base: float, random: bool, seed: int) -> None:
    table = pa.table({"x": pa.array(values, pa.float64())})
    method = tm.Rounding(base, random=random)
    result = released(table, X, method, seed)
    assert result.equals(released(table, X, method, seed))
    after = result["x"].to_pylist()
    for old, new in zip(values, after, strict=True):
        assert (old is None) == (new is None)
        if old is not None:
            assert new / base == pytest.approx(round(new / base), abs=1e-6)
            assert abs(new - old) <= base * (1 if random else 0.5) + 1e-9 * abs(old)
    if random:
        total = [sum(x for x in column if x is not None) for column in (values, after)]
        assert abs(total[0] - total[1]) <= base + 1e-6


def test_random_rounding_is_unbiased_and_keeps_the_total() -> None:
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0, 7.0, 10.0]})
    data, rng = tm.Microdata.from_frame(table, X), np.random.default_rng(1)
    column: Any = [tm.Rounding(5, random=True).mask(data, rng).data.columns["x"] for _ in range(400)]
    drawn = np.array([one.values for one in column])
    assert set(drawn[:, 0]) == {0.0, 5.0}
    assert set(drawn[:, 5]) == {10.0}
    np.testing.assert_allclose(drawn.mean(axis=0), table["x"].to_numpy(), atol=0.5)  # 4 standard errors are 0.5
    assert set(drawn.sum(axis=1)) == {25.0, 30.0}


def test_by_hand() -> None:
    table = pa.table({"x": [2.5, 7.5, -2.4, 12.6, None]})
    assert tm.protect(table, X, tm.Rounding(5)).data["x"].to_pylist() == [
        0,
        10,
        0,
        15,
        None,
    ]  # halves to even multiples
    tenths = pa.table({"x": [0.26, 0.74, 1.06]})
    assert tm.protect(tenths, X, tm.Rounding(0.1)).data["x"].to_pylist() == [0.3, 0.7, 1.1]


def test_whole_numbers_stay_integers(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    release = tm.protect(discharges, discharge_schema, tm.Rounding({"age": 5}))
    assert release.data["age"].type == discharges["age"].type
    assert all(age % 5 == 0 for age in release.data["age"].to_pylist())
    assert release.data["care_days"].equals(discharges["care_days"])


def test_broken_promises_stop_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"x": [1.0, 4.0] * 10})
    monkeypatch.setattr(rounding, "_up_or_down", lambda times, rng: np.ceil(times))
    with pytest.raises(tm.PromiseError, match="the total of x changes by less than 5"):
        tm.protect(table, X, tm.Rounding(5, random=True))
    monkeypatch.setattr(tm.Rounding, "mask", lambda self, data, *_: Masked(data))
    with pytest.raises(tm.PromiseError, match=r"every number of x is a multiple of 5 \(20 are not\)"):
        tm.protect(table, X, tm.Rounding(5))


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.Rounding(0), "base must be a number above 0"),
        (tm.Rounding({"age": "5"}), "base: age must be a number above 0"),  # type: ignore[dict-item]
        (tm.Rounding(5, random=1), "random must be true or false"),  # type: ignore[arg-type]
        (tm.Rounding({"sex": 5}), "rounding cannot treat 'sex', which is nominal"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    empty = pa.table({"x": pa.array([None], pa.float64())})
    assert tm.protect(empty, X, tm.Rounding(5, random=True)).data["x"].null_count == 1


def test_a_long_table_is_rounded_and_checked_in_chunks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the length of a chunk, the same numbers; and one that is no multiple is found wherever it stands."""
    values = np.random.default_rng(3).normal(0, 40, 50)
    values[7] = np.nan
    data, method = tm.Microdata.from_frame(pa.table({"x": values}), X), tm.Rounding(2.5)
    expected = method.mask(data, np.random.default_rng(0)).data.columns["x"].cells
    monkeypatch.setattr(Engine, "chunk", 16)
    with Threads(workers=1) as workers, Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        for engine in (Memory(), Files(workers, scratch)):
            masked = method.mask_on(engine, data, np.random.default_rng(0))
            assert np.array_equal(masked.data.columns["x"].cells, expected, equal_nan=True)
            _, multiples = method.promises(data)
            assert multiples.check_on(engine, data, Frame(masked.data.to_frame()), masked).holds
            wrong = np.where(np.arange(50) == 33, 1.0, expected)
            found = multiples.check_on(engine, data, Frame(pa.table({"x": wrong})), masked)
            assert (found.holds, found.found) == (False, "1 are not")


def test_values_that_were_emptied_are_looked_at_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(50.0)
    data = tm.Microdata.from_frame(pa.table({"x": values}), X)
    monkeypatch.setattr(Engine, "chunk", 16)
    emptied = np.where(np.arange(50) % 5 == 0, np.nan, values)
    promise, masked = OriginalOrMissing(("x",)), Masked(data)
    assert promise.check_on(Memory(), data, Frame(pa.table({"x": pa.array(emptied, from_pandas=True)})), masked).holds
    emptied[41] = 3.0
    found = promise.check_on(Memory(), data, Frame(pa.table({"x": pa.array(emptied, from_pandas=True)})), masked)
    assert (found.holds, found.found) == (False, "1 differ")
