"""Fast ranks, and the copula that is built on them, against scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata, spearmanr

import taxomask as tm
from taxomask._support.sorting import centred_ranks, stable_order
from taxomask.engines import Memory
from taxomask.methods import _copula
from taxomask.methods._ranks import placed, random_order
from taxomask.semantics.ordering import rank_keys

from .conftest import SCHEMA, tables

# --------------------------------------------------------------------------------------- ranks

ANY = st.floats(allow_nan=False, allow_infinity=False)
CLOSE = st.integers(-3, 3).map(lambda i: 1e9 + i * 2.0**-22)
TINY = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e308, -1e308])


@settings(max_examples=150)
@given(values=st.lists(st.one_of(ANY, CLOSE, TINY), max_size=60))
@example(values=[1e308, -1e308, 1e308])
@example(values=[1e308, 1.7e308, 0.0, 1.6e308])
def test_the_fast_order_is_the_stable_order(values: list[float]) -> None:
    keys = np.array(values, dtype=float)
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(centred_ranks(keys), 2 * rankdata(keys) - (len(keys) + 1) if len(keys) else [])


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_the_fast_order_of_many_numbers_that_nearly_agree(scale: float) -> None:
    rng = np.random.default_rng(0)
    keys = (1 + rng.integers(0, 5_000, 20_000) * 2.0**-50) * scale
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))


def test_the_order_of_codes() -> None:
    keys = np.random.default_rng(0).integers(0, 40, 500).astype(np.int32)
    np.testing.assert_array_equal(stable_order(keys), np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(centred_ranks(keys), 2 * rankdata(keys) - 501)


def test_equal_keys_come_in_random_order() -> None:
    rng = np.random.default_rng(0)
    first = np.array([random_order(np.array([1.0, 0.0, 1.0, 1.0]), rng) for _ in range(3_000)])
    assert (first[:, 0] == 1).all()
    for place in (1, 2, 3):  # each of the three ties is at each place a third of the time
        assert np.abs(np.bincount(first[:, place], minlength=4)[[0, 2, 3]] / 3_000 - 1 / 3).max() < 0.04


@given(m=st.integers(1, 40), n=st.integers(1, 40))
def test_values_at_the_same_quantile(m: int, n: int) -> None:
    column = tm.Microdata.from_frame(
        pa.table({"x": np.arange(float(n))}), tm.Schema([tm.Attribute("x", role="other", kind="continuous")])
    ).columns["x"]
    found = placed(column, np.arange(m), m).values  # type: ignore[attr-defined]
    for j in range(1, m + 1):
        assert found[j - 1] == -((-(2 * j - 1) * n) // (2 * m)) - 1  # ⌈(j − ½) n / m⌉, as an index
    gap = [(found <= value).mean() - (value + 1) / n for value in range(n)]
    assert np.abs(gap).max() <= 1 / (2 * m) + 1e-12


# --------------------------------------------------------------------------------------- the copula


def test_normal_scores() -> None:
    for m in (1, 2, 5, 8):
        expected = ndtri((np.arange(2, 2 * m + 1) / 2 - 0.5) / m)  # of the ranks 1, 1.5, … m
        np.testing.assert_allclose(_copula.normal_scores(np.arange(1.0 - m, m), m), expected, atol=1e-15)


@settings(max_examples=40)
@given(table=tables(least=3))
def test_rank_correlations_of_records_with_both_values(table: pa.Table) -> None:
    columns = tm.Microdata.from_frame(table, SCHEMA).columns
    keys = {name: rank_keys(column).astype(float) for name, column in columns.items()}
    engine = Memory()
    ranks = {name: _copula.ranked(engine, engine.rank(rank_keys(one), ""), one) for name, one in columns.items()}
    for a, b in combinations(columns, 2):
        both = ~(columns[a].missing | columns[b].missing)
        x, y = keys[a][both], keys[b][both]
        found = _copula.spearman(engine, [ranks[a], ranks[b]])[0, 1]
        if len(set(x)) < 2 or len(set(y)) < 2:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(spearmanr(x, y)[0], abs=1e-12)


def test_a_matrix_is_made_positive_definite() -> None:
    fine = np.array([[1, 0.5], [0.5, 1]])
    assert _copula.positive_definite(fine) is fine
    for broken in (np.ones((3, 3)), np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])):
        repaired = _copula.positive_definite(broken)
        assert np.linalg.eigvalsh(repaired)[0] > 0
        np.testing.assert_allclose(np.diag(repaired), 1)
        np.testing.assert_array_equal(repaired, repaired.T)
    np.testing.assert_allclose(_copula.positive_definite(np.ones((3, 3))), 1, atol=1e-5)
