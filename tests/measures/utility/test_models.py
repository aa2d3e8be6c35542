"""Regression and propensity against scipy, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.optimize import minimize

import taxomask as tm
from taxomask.measures import propensity, regression_overlap

ICD = ["1740", "1749", "4019", "4010", "25000", "25001"]
SCHEMA = tm.Schema(
    [
        tm.Attribute("u", role="other", kind="continuous"),
        tm.Attribute("v", role="other", kind="continuous"),
        tm.Attribute("sex", role="other", kind="nominal"),
        tm.Attribute("dx", role="other", kind="taxonomic", taxonomy="icd9cm"),
    ]
)


def table(seed: int, n: int = 300) -> Any:
    rng = np.random.default_rng(seed)
    sex, dx = rng.choice(["f", "f", "m"], n), rng.choice(ICD, n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    u = rng.normal(size=n) * 10 + 50
    v = 0.3 * u + 5 * (sex == "m") + 4 * np.char.startswith(dx, "25") + rng.normal(size=n) * 4
    return tm.Microdata.from_frame(pa.table({"u": u, "v": v, "sex": sex, "dx": dx}), SCHEMA)


def plain(data: Any, of: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u and v in standard deviations of a table, and indicators: male, diabetes and hypertension (not neoplasm)."""
    numbers = [
        (data.columns[n].values - of.columns[n].values.mean()) / of.columns[n].values.std(ddof=1) for n in ("u", "v")
    ]
    male = np.array([data.columns["sex"].categories[c] == "m" for c in data.columns["sex"].codes])
    codes = [data.columns["dx"].categories[c] for c in data.columns["dx"].codes]
    circulatory, diabetes = (np.array([c.startswith(s) for c in codes]) for s in ("40", "25"))
    return numbers[0], numbers[1], np.column_stack([male, circulatory, diabetes]).astype(float)


def least_squares(target: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = np.column_stack([np.ones(len(target)), others])
    b, *_ = np.linalg.lstsq(x, target, rcond=None)
    rest = target - x @ b
    freedom = len(target) - x.shape[1]
    error = np.sqrt(rest @ rest / freedom * np.diag(np.linalg.inv(x.T @ x)))
    return b[1:], stats.t.ppf(0.975, freedom) * error[1:]


def test_intervals_are_those_of_least_squares() -> None:
    one, other = table(1), table(2)
    found = regression_overlap(one, other)
    names = ["u", "sex: m", "dx: CH 390-459", "dx: CH 240-279"]
    fits = []
    for data in (one, other):
        u, v, rest = plain(data, one)
        fits.append(least_squares(v, np.column_stack([u, rest])))
    for i, name in enumerate(names):
        (a, h), (b, g) = ((fit[0][i], fit[1][i]) for fit in fits)
        assert found.before["v", name] == pytest.approx(a)
        assert found.after["v", name] == pytest.approx(b)
        common = max(min(a + h, b + g) - max(a - h, b - g), 0.0)
        assert found.each["v", name] == pytest.approx(1 - (common / (2 * h) + common / (2 * g)) / 2)
    assert {response for response, _ in found.each} == {"u", "v"}
    assert found.overall == pytest.approx(np.mean(list(found.each.values())))


def test_what_cannot_be_told_any_more_is_lost() -> None:
    data = table(3)
    column = data.columns["sex"]
    found = regression_overlap(data, data.replace(sex=column.with_codes(np.zeros(data.n))))
    assert found.each["v", "sex: m"] == 1
    assert np.isnan(found.after["v", "sex: m"])
    constant = data.replace(v=data.columns["v"].with_values(np.full(data.n, 3.0)))
    assert found.overall < regression_overlap(data, constant).overall


def test_other_units_change_nothing() -> None:
    one, other = table(1), table(2)

    def moved(data: Any) -> Any:
        return data.replace(u=data.columns["u"].with_values(data.columns["u"].values * 1.8 + 32))

    assert dict(regression_overlap(moved(one), moved(other)).each) == pytest.approx(
        dict(regression_overlap(one, other).each)
    )
    assert propensity(moved(one), moved(other)).pmse == pytest.approx(propensity(one, other).pmse, rel=1e-6)


def test_propensity_is_that_of_a_penalised_logistic_regression() -> None:
    one, other = table(1), table(2, n=200)
    x = []
    for data in (one, other):
        u, v, rest = plain(data, one)
        x.append(np.column_stack([np.ones(data.n), u, v, rest, u * u, v * v, u * v]))
    stacked, label = np.concatenate(x), np.repeat([0.0, 1.0], [300, 200])
    penalty = np.r_[0.0, np.full(stacked.shape[1] - 1, 1e-6 * 500)]

    def loss(beta: np.ndarray) -> float:
        score = stacked @ beta
        return float(np.logaddexp(0, score).sum() - label @ score + penalty @ beta**2 / 2)

    def slope(beta: np.ndarray) -> np.ndarray:
        return stacked.T @ (1 / (1 + np.exp(-stacked @ beta)) - label) + penalty * beta

    beta = minimize(loss, np.zeros(stacked.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-8}).x
    expected = float(np.square(1 / (1 + np.exp(-stacked @ beta)) - 0.4).mean())
    found = propensity(one, other)
    assert found.pmse == pytest.approx(expected, rel=1e-6)
    assert found.coefficients == stacked.shape[1]
    assert found.expected == pytest.approx((stacked.shape[1] - 1) * 0.6**2 * 0.4 / 500)
    assert found.ratio == pytest.approx(found.pmse / found.expected)
    assert found.overall == pytest.approx(found.pmse / 0.24)


def test_the_ratio_is_about_one_for_records_drawn_from_the_original() -> None:
    rng = np.random.default_rng(0)
    tables = [table(seed) for seed in range(20)]
    drawn = [propensity(one, one.take(rng.integers(0, one.n, one.n))).ratio for one in tables]
    assert 0.7 < np.mean(drawn) < 1.3
    anew = [propensity(one, table(100 + seed)).ratio for seed, one in enumerate(tables)]
    assert 1.5 < np.mean(anew) < 2.5


def test_what_differs_always_is_told_perfectly() -> None:
    data = table(4)
    far = data.replace(u=data.columns["u"].with_values(data.columns["u"].values + 1000))
    assert propensity(data, far).overall > 0.99
    averaged = tm.Microaggregation(20, attributes=["u", "v", "dx"]).mask(data, np.random.default_rng(0)).data
    assert propensity(data, averaged).overall > propensity(data, data).overall == 0
