"""Every method on tables of unusual values: it works, or says what is wrong and what to do; never a fault."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.methods import METHODS, Method

DAYS = [dt.date(1990, 1, 1) + dt.timedelta(days=97 * i) for i in range(12)]
TIMES = [dt.time(2 * i, 0) for i in range(12)]
NUMBERS: dict[str, pa.Array] = {
    "dates": pa.array(DAYS),
    "moments": pa.array([dt.datetime(2020, 1, 1) + dt.timedelta(seconds=i**5) for i in range(12)], pa.timestamp("us")),
    "times of day": pa.array(TIMES, pa.time32("s")),
    "the last date": pa.array([2**31 - 1 - i**3 for i in range(12)], pa.date32()),
    "decimals": pa.array([Decimal(i**3) / 100 for i in range(12)], pa.decimal128(6, 2)),
    "short floats": pa.array(1e6 + np.arange(12.0), pa.float32()),
    "1e200": pa.array([1e200, -1e200] * 6),
    "1e308": pa.array([1e308, -1e308] * 6),
    "1e-300": pa.array([1e-300 * i for i in range(12)]),
    "subnormal": pa.array([5e-324, 0.0, -5e-324] * 4),
    "constant": pa.array([7.0] * 12),
    "nothing": pa.nulls(12, pa.float64()),
    "numbers as text": pa.array(["1", " 2.0", "3e2"] * 4),
    "whole numbers beyond 2^53": pa.array([2**62 + i for i in range(12)]),
}
CATEGORIES: dict[str, pa.Array] = {
    "booleans": pa.array([True, False, None] * 4),
    "one category": pa.array(["x"] * 12),
    "all different": pa.array([f"u{i}" for i in range(12)]),
    "dates as categories": pa.array(DAYS[:3] * 4),
    "no category": pa.nulls(12, pa.string()),
}
CALLS: list[Method] = [
    tm.Microaggregation(3),
    tm.Microaggregation(3, distance="generic", keep_variance=True, algorithm="refined", steps=20),
    tm.MicroHybrid(3),
    tm.MicroHybrid(3, candidates="domain"),
    tm.MicroHybrid(3, synthesis="moments"),
    tm.GroupPermutation(3),
    tm.IndividualRanking(3),
    tm.Microaggregation(3, attributes=["x"]),
    tm.Shuffling(attributes=["x"]),
    tm.Shuffling(attributes=["x"], given=()),
    tm.DistributionalSwapping(k=2),
    tm.NumericalSwapping(p=20),
    tm.RandomSwapping(),
    tm.TopologicalSwapping(k=2),
    tm.ReverseMapping(tm.Noise(0.5)),
    tm.ReverseMapping(tm.Imputation(synthesis="full", records=5), unlinked="quantile"),
    tm.Imputation(attributes=["x"]),
    tm.Imputation(synthesis="full"),
    tm.Noise(0.5),
    tm.Noise(0.5, correlated=True, keep_moments=True),
    tm.Noise(100.0),
    tm.MultiplicativeNoise(0.5),
    tm.MultiplicativeNoise(100.0, distribution="normal"),
    tm.MarginalityNoise(),
    tm.Pram(0.5),
    tm.SemanticNoise(4, attributes=["x"], domain={"x": ["1990-01-01", "1995-01-01", 1]}),
    tm.SemanticNoise(4, attributes=["x"], domain={"x": [0, 100, 0.25]}, missing="value"),
    tm.Generalisation(3),
    tm.Recoding(2),
    tm.Suppression(3),
    tm.TopBottomCoding(top=90, bottom=10),
    tm.Rounding(7.3),
    tm.Rounding(7.3, random=True),
    tm.Rounding(1e-5),
    tm.Rounding(1e300),
    tm.Pipeline([tm.Noise(0.5), tm.Rounding(1)]),
]


def table(kind: str, column: pa.Array) -> tuple[pa.Table, tm.Schema]:
    schema = tm.Schema(
        [
            tm.Attribute("x", role="quasi_identifier", kind=kind),
            tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        ]
    )
    return pa.table({"x": column, "dx": ["25001", "25002", "4019", "250"] * (len(column) // 4) + ["250"] * (len(column) % 4)}), schema  # fmt: skip  # noqa: E501


def tried(column: pa.Array, kind: str, method: Method) -> tm.Release | tm.TaxomaskError:
    """The release, or what was said instead of it; anything else is a fault."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        try:
            return tm.protect(*table(kind, column), method, seed=1)
        except tm.TaxomaskError as error:
            return error


def says_what_to_do(found: tm.Release | tm.TaxomaskError) -> bool:
    return isinstance(found, tm.Release) or (bool(found.hint) and "bug" not in found.hint)


@pytest.mark.parametrize("method", CALLS, ids=str)
def test_any_numbers(method: Method) -> None:
    for name, column in NUMBERS.items():
        for rows in (12, 1):
            found = tried(column[:rows], "continuous", method)
            assert says_what_to_do(found), (name, found)


@pytest.mark.parametrize("method", CALLS, ids=str)
def test_any_categories(method: Method) -> None:
    for name, column in CATEGORIES.items():
        for rows in (12, 1):
            found = tried(column[:rows], "nominal", method)
            assert says_what_to_do(found), (name, found)


def test_every_method_is_called() -> None:
    others = {"rank_swapping"}  # whose tests go through all kinds of numbers themselves
    assert {method.name for method in CALLS} == set(METHODS) - others


# --------------------------------------------------------------------------------------- what becomes of each


def release(column: Any, method: Method, kind: str = "continuous") -> tm.Release:
    found = tried(pa.array(column), kind, method)
    assert isinstance(found, tm.Release), found
    return found


def error(column: Any, method: Method, kind: str = "continuous") -> str:
    found = tried(pa.array(column), kind, method)
    assert isinstance(found, tm.TaxomaskError)
    return str(found)


def test_noise_on_very_large_and_very_small_numbers() -> None:
    """Noise is in proportion, so that numbers a power of two apart get the same noise, times this power."""

    def noise(x: Any) -> Any:
        schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])
        data = tm.Microdata.from_frame(pa.table({"x": x}), schema)
        return tm.Noise(0.5).mask(data, np.random.default_rng(1)).data.columns["x"].numbers()

    usual = noise([1.0, -1.0, 0.5] * 4)
    for power in (-1000, -600, 600, 1000):
        x = np.ldexp([1.0, -1.0, 0.5] * 4, power)
        for method in (tm.Noise(0.5), tm.Noise(0.5, keep_moments=True), tm.Noise(0.5, correlated=True)):
            assert np.isfinite(release(x, method).data["x"].to_numpy()).all()
        np.testing.assert_allclose(noise(x), np.ldexp(usual, power), rtol=1e-12)
    assert np.isfinite(release([1e200, -1e200] * 6, tm.Noise(0.5)).data["x"].to_numpy()).all()
    told = error([1.7e308, -1.7e308] * 6, tm.Noise(1.0))
    assert "column 'x': a value became" in told
    assert "beyond what it can hold" in told


def test_moments_without_numbers() -> None:
    told = error(["a", "b"] * 6, tm.MicroHybrid(3, synthesis="moments"), "nominal")
    assert "synthesis='moments' keeps the moments of numbers, and x, dx have none" in told
    assert "Leave synthesis out" in told
    assert "Leave synthesis out" in error(DAYS, tm.MicroHybrid(3, synthesis="moments"))


def test_dates_beside_numbers_are_drawn_from_their_neighbourhood() -> None:
    columns = {"day": DAYS, "age": [float(i**2) for i in range(12)]}
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in columns])
    found = tm.protect(pa.table(columns), schema, tm.MicroHybrid(4, synthesis="moments"), seed=1)
    assert "every value of day is within the radius of its group" in [check.promise for check in found.promise]
    assert "the means and covariances of age are kept in every group" in [check.promise for check in found.promise]
    assert set(found.data["day"].to_pylist()) <= set(DAYS)


def test_rounding_of_what_is_counted_in_units() -> None:
    assert "whose values are multiples of 1 and cannot be multiples of 7.3" in error(DAYS, tm.Rounding(7.3))
    weeks = release(DAYS, tm.Rounding(7)).data["x"].to_pylist()
    assert {(day - dt.date(1970, 1, 1)).days % 7 for day in weeks} == {0}
    cents = [Decimal(i**3) / 100 for i in range(12)]
    assert "multiples of 0.01 and cannot be multiples of 0.005" in error(cents, tm.Rounding(0.005))
    assert release(cents, tm.Rounding(0.25)).data["x"].to_pylist()[2:5] == [
        Decimal("0"),
        Decimal("0.25"),
        Decimal("0.75"),
    ]


def test_rounding_to_less_than_the_last_digit_changes_nothing() -> None:
    assert "no cell of x changed" in error([1e300, -1e308] * 6, tm.Rounding(0.1))


def test_moments_of_dates_cannot_be_kept_but_of_moments_in_time_can() -> None:
    assert "the moments of x cannot be kept" in error(DAYS, tm.Noise(0.5, keep_moments=True))
    assert release(NUMBERS["moments"], tm.Noise(0.5, keep_moments=True)).promise[-1].holds


def test_dates_are_not_multiplied() -> None:
    assert "cannot treat 'x': the zero of dates and times is arbitrary" in error(DAYS, tm.MultiplicativeNoise())


def test_small_decimals_keep_their_sign() -> None:
    values = [Decimal("0.01"), Decimal("-0.01"), Decimal("0"), Decimal("5")] * 3
    after = release(values, tm.MultiplicativeNoise(50.0)).data["x"].to_pylist()
    assert [(y > 0) - (y < 0) for y in after] == [1, -1, 0, 1] * 3


def test_times_stay_within_the_day() -> None:
    assert "beyond what it can hold (time32[s]: 0 to 86399)" in error(NUMBERS["times of day"], tm.Noise(1.0))


def test_columns_with_different_gaps_are_mapped_back_by_quantile() -> None:
    columns = {"x": [1.0, 2.0, None, None, None, None], "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in columns])
    method = tm.ReverseMapping(tm.Imputation(synthesis="full", records=5), unlinked="quantile")
    for seed in range(30):
        assert tm.protect(pa.table(columns), schema, method, seed=seed).promise[-1].holds
