"""Regressions against numbers solved by hand and versions written from the definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import taxomask as tm
from taxomask.measures.analyses import Estimate

from .test_kinds import analysed

Float = NDArray[np.float64]


def close(one: Estimate, value: float, half: float, tolerance: float = 1e-7) -> bool:
    return (one.value, one.low, one.high) == pytest.approx((value, value - half, value + half), rel=tolerance, abs=1e-9)


def test_a_line_by_hand() -> None:
    """x = 1, 2, 3, 4 and y = 1, 3, 2, 5: slope 1.1, residual sum 2.7, its error √(1.35/5); intercept 0."""
    table = {"age": [1, 2, 3, 4, None], "days": [1, 3, 2, 5, 9]}
    found = analysed(tm.LinearRegression("l", response="days", terms=["age"]), table)
    t = stats.t.ppf(0.975, 2)
    assert close(found.before["age"], 1.1, t * math.sqrt(1.35 / 5))
    assert close(found.before["intercept"], 0.0, t * math.sqrt(1.35 * (1 / 4 + 2.5**2 / 5)))
    assert set(found.each) == {"age"}  # the intercept is shown, and not compared
    assert (found.records, found.left_out) == ((4, 4), (1, 1))


def people(n: int = 400, seed: int = 7) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n).astype(float), rng.choice(["f", "m"], n, p=[0.6, 0.4])
    dx = rng.choice(["valve", "heart", "asthma", "lung"], n, p=[0.4, 0.3, 0.2, 0.1])
    days = 2 + 0.1 * age + (sex == "m") + rng.normal(0, 2, n)
    return {"age": age, "sex": sex.tolist(), "dx": dx.tolist(), "days": days, "w": rng.integers(1, 5, n).astype(float)}


def design(table: dict[str, Any]) -> Float:
    """Intercept, age, men, lungs (hearts are the commonest), and the condition."""
    lung = np.isin(table["dx"], ["asthma", "lung"])
    old = np.array(table["age"]) > 65
    return np.column_stack([np.ones(len(table["age"])), table["age"], np.array(table["sex"]) == "m", lung, old]).astype(
        float
    )


NAMES = ("intercept", "age", "sex = m", "dx = lung", "age > 65")
TERMS: dict[str, Any] = {"terms": ["age", "sex", "dx", "age > 65"], "levels": {"dx": 2}}


def test_least_squares_as_defined() -> None:
    table = people()
    x, y = design(table), np.array(table["days"])
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ y
    rest = y - x @ beta
    half = stats.t.ppf(0.95, len(y) - 5) * np.sqrt(rest @ rest / (len(y) - 5) * np.diag(inverse))
    table.pop("w")
    found = analysed(tm.LinearRegression("l", response="days", confidence=0.9, **TERMS), table)
    assert set(found.before) >= set(NAMES)
    for name, b, h in zip(NAMES, beta, half, strict=True):
        assert close(found.before[name], b, h)


def test_weighted_least_squares_as_defined() -> None:
    table = people()
    x, y, w = design(table), np.array(table["days"]), np.array(table["w"])
    inverse = np.linalg.inv(x.T @ (x * w[:, None]))
    beta = inverse @ x.T @ (w * y)
    scores = x * (w * (y - x @ beta))[:, None]
    spread = inverse @ scores.T @ scores @ inverse * len(y) / (len(y) - 5)
    half = stats.t.ppf(0.975, len(y) - 5) * np.sqrt(np.diag(spread))
    found = analysed(tm.LinearRegression("l", response="days", **TERMS), table, sampling_weight="w")
    for name, b, h in zip(NAMES, beta, half, strict=True):
        assert close(found.before[name], b, h)


def naive_logistic(x: Float, y: Float, w: Float) -> tuple[Float, Float]:
    """Newton's steps, one after the other."""
    beta = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ beta))
        information = x.T @ (x * (w * p * (1 - p))[:, None])
        beta = beta + np.linalg.solve(information, x.T @ (w * (y - p)))
    return beta, np.linalg.inv(information)


@pytest.mark.parametrize("weighted", [False, True])
def test_greatest_likelihood_as_defined(weighted: bool) -> None:
    table = people()
    x, y = design(table), (np.array(table["days"]) > 8).astype(float)
    w = np.array(table["w"]) if weighted else np.ones(len(y))
    beta, inverse = naive_logistic(x, y, w)
    if weighted:
        scores = x * (w * (y - 1 / (1 + np.exp(-x @ beta))))[:, None]
        inverse = inverse @ scores.T @ scores @ inverse * len(y) / (len(y) - 5)
    else:
        table.pop("w")
    more = {"sampling_weight": "w"} if weighted else {}
    found = analysed(tm.LogisticRegression("l", response="days > 8", **TERMS), table, **more)
    for name, b, h in zip(NAMES, beta, stats.norm.ppf(0.975) * np.sqrt(np.diag(inverse)), strict=True):
        assert close(found.before[name], b, h, 1e-6)


def test_odds_by_hand() -> None:
    """30 of 50 men and 10 of 50 women: log odds ratio log 6, its error √(1/30 + 1/20 + 1/10 + 1/40)."""
    table = {"sex": ["m"] * 50 + ["f"] * 50, "days": [9] * 30 + [1] * 20 + [9] * 10 + [1] * 40}
    model = tm.LogisticRegression("l", response="days > 5", terms=["sex"], reference={"sex": "f"})
    found = analysed(model, table)
    assert close(found.before["sex = m"], math.log(6), 1.959963985 * math.sqrt(1 / 30 + 1 / 20 + 1 / 10 + 1 / 40), 1e-6)


def test_a_category_that_answers_alike_has_no_odds() -> None:
    """Its coefficient cannot be told, and the others are those without its records."""
    sexes, days = ["f"] * 40 + ["m"] * 40 + ["x"] * 5, [9] * 20 + [1] * 20 + [9] * 30 + [1] * 10 + [9] * 5
    model = tm.LogisticRegression("l", response="days > 5", terms=["sex"], reference={"sex": "f"})
    found = analysed(model, {"sex": sexes, "days": days})
    assert found.before["sex = m"].value == pytest.approx(math.log(3), rel=1e-6)
    assert not found.before["sex = x"].told
    assert "In the original: all records answer alike in sex = x." in found.notes
    assert set(found.each) == {"sex = m"}
    assert found.records == (80, 80)


@pytest.mark.parametrize("days", [[1, 1, 9, 9], [9, 9, 9, 9]])
def test_a_perfect_prediction_tells_nothing(days: list[int]) -> None:
    found = analysed(
        tm.LogisticRegression("l", response="days > 5", terms=["age"]), {"age": [1, 2, 3, 4], "days": days}
    )
    assert math.isnan(found.overlap)
    assert "cannot be told" in found.notes[0]


def test_terms_that_are_combinations_of_others_are_not_told() -> None:
    table = {"age": [1, 2, 3, 4, 6], "w": [2, 4, 6, 8, 12], "days": [1, 3, 2, 5, 5]}
    found = analysed(tm.LinearRegression("l", response="days", terms=["age", "w"]), table)
    assert found.before["age"].told
    assert not found.before["w"].told


def test_a_category_that_vanishes_is_lost() -> None:
    before, after = people(60), people(60)
    after["sex"] = ["f"] * 60
    found = analysed(tm.LinearRegression("l", response="days", terms=["age", "sex"]), before, after)
    assert found.each["sex = m"] == 0
    assert found.overlap == pytest.approx(found.each["age"] / 2)


def test_what_does_not_change_overlaps() -> None:
    table = people(80)
    for model in (
        tm.LinearRegression("l", response="days", **TERMS),
        tm.LogisticRegression("g", response="days > 8", **TERMS),
    ):
        assert analysed(model, table).overlap == 1.0
