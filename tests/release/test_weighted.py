"""Numbers that several columns give with weights or powers, or one of them by what a further one says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.errors import PromiseError

N = 900
RNG = np.random.default_rng(8)
MARKS = {f"mark{place}": RNG.integers(1, 7, N) for place in range(5)}
PARTS = {name: np.round(RNG.lognormal(6, 0.5, N), 2) for name in ("base", "bonus", "overtime")}
HEIGHT, INDEX = np.round(RNG.normal(170, 10, N)), RNG.normal(26, 4, N)
WEIGHT = np.round(INDEX * (HEIGHT / 100) ** 2, 1)
PRESSURE = {"systolic": RNG.normal(130, 15, N).round(), "pulse": RNG.normal(45, 12, N).round()}
COUNTRY = RNG.integers(0, 8, N)
WAGE = np.round(RNG.lognormal(7, 0.4, N))
RATE = np.array([1.0, 0.9, 7.5, 11.2, 25.1, 4.3, 360.0, 1.5])[COUNTRY]
SCHOOL = RNG.integers(0, 20, N)
POINTS = np.round(RNG.normal(500, 60, N) + 120 * RNG.normal(size=20)[SCHOOL])


def scores() -> Any:
    places = [one == SCHOOL for one in range(20)]
    return np.select(places, [(POINTS - POINTS[one].mean()) / POINTS[one].std() for one in places]).round(2)


def spoiled(values: Any, share: float = 0.1) -> Any:
    return np.where(RNG.random(N) < share, RNG.permutation(values), values)


TOTAL = sum(PARTS.values()).round(2)
TOLD: dict[str, tuple[Any, dict[str, Any]]] = {
    "a total of three": (TOTAL, PARTS),
    "one of ten wrong in each": (TOTAL, {name: spoiled(one) for name, one in PARTS.items()}),
    "nothing where there is none": (
        np.where(COUNTRY < 2, TOTAL - PARTS["bonus"], TOTAL).round(2),
        PARTS | {"bonus": pa.array(PARTS["bonus"], mask=COUNTRY < 2)},
    ),
    "what is left of a total": (
        np.round(TOTAL - 0.3 * PARTS["base"] - 0.2 * PARTS["bonus"], 2),
        {"total": PARTS["overtime"] + 0.8 * PARTS["bonus"] - PARTS["base"], "a": PARTS["base"]},
    ),
    "a score of five marks": (sum(MARKS.values()), MARKS),
    "their mean": (sum(MARKS.values()) / 5, MARKS),
    "beside columns that say nothing": (
        sum(MARKS.values()),
        MARKS | {f"other{place}": RNG.normal(size=N) for place in range(4)},
    ),
    "a mean pressure": (np.round(PRESSURE["systolic"] - 2 / 3 * PRESSURE["pulse"], 1), PRESSURE),
    "a weight": (WEIGHT, {"height": HEIGHT, "bmi": np.round(WEIGHT / (HEIGHT / 100) ** 2, 1)}),
    "a volume": (
        np.round(PARTS["base"] * PARTS["bonus"] / PARTS["overtime"] ** 2, 2),
        {name: np.round(one, 1) for name, one in PARTS.items()},
    ),
    "other money": (WAGE, {"country": COUNTRY.astype(str), "local": np.round(WAGE * RATE)}),
    "points by school": (POINTS, {"school": SCHOOL.astype(str), "z": scores()}),
}


def release(wanted: Any, columns: dict[str, Any]) -> tm.Release:
    others = [tm.Attribute(name, role="other") for name in columns]
    schema = tm.Schema([tm.Attribute("wanted", role="quasi_identifier", kind="continuous"), *others])
    return tm.protect(pa.table({"wanted": wanted, **columns}), schema, tm.Noise(0.5), seed=1)


@pytest.mark.parametrize(("wanted", "columns"), TOLD.values(), ids=TOLD.keys())
def test_a_number_that_columns_give_together_stops_the_release(wanted: Any, columns: dict[str, Any]) -> None:
    with pytest.raises(PromiseError, match="wanted"):
        release(wanted, columns)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_finding_names_no_more_columns_than_needed(share: float) -> None:
    rest = {f"rest{place}": RNG.normal(size=N).round(3) for place in range(4)}
    parts = {name: spoiled(one, share) for name, one in PARTS.items()}
    with pytest.raises(PromiseError, match=r"base \+ bonus \+ overtime is wanted") as error:
        release(TOTAL, parts | rest)
    assert not any(name in str(error.value) for name in rest)


def test_columns_that_give_nothing_together_are_released_and_said_to_be_looked_at() -> None:
    checks = release(RNG.permutation(TOTAL), PARTS).promise
    assert any("weighted sums and products of up to 3 columns" in str(one) for one in checks)


@pytest.mark.parametrize("records", [40, 100, 300])
def test_many_columns_of_few_records_fit_nothing_by_chance(records: int) -> None:
    rng = np.random.default_rng(3)
    columns = {f"x{place}": rng.normal(size=records).round(3) for place in range(30)}
    columns["group"] = rng.integers(0, 4, records).astype(str)
    assert release(rng.normal(size=records).round(3), columns).promise


def test_measurements_of_the_same_do_not_give_it() -> None:
    """Each has a correlation of 0.8 with the number; the mean of four has 0.94, and tells less than computing."""
    rng = np.random.default_rng(3)
    wanted = rng.normal(size=N)
    assert release(wanted.round(3), {f"x{i}": (wanted + 0.75 * rng.normal(size=N)).round(3) for i in range(4)}).promise


@pytest.mark.parametrize("large", [1e304, 1e-308])
def test_numbers_of_any_size(large: float) -> None:
    columns = {name: one * large for name, one in PARTS.items()}
    assert release(RNG.permutation(TOTAL), columns | {"country": COUNTRY.astype(str)}).promise
    assert release(RNG.permutation(TOTAL) * large / 1e5, PARTS | {"country": COUNTRY.astype(str)}).promise


def test_columns_without_numbers_or_with_one_only() -> None:
    empty = pa.array([None] * N, pa.float64())
    same = np.full(N, 7.0)
    assert release(
        RNG.permutation(TOTAL), {"a": empty, "b": same, "c": PARTS["base"], "d": COUNTRY.astype(str)}
    ).promise


def test_a_column_that_says_nothing_beside_one_that_the_release_tells_is_no_leak() -> None:
    ages = np.random.default_rng(3).integers(18, 95, N)
    table = pa.table(
        {"age": ages, "tens": ages // 10 * 10, "group": [f"{one // 10}" for one in ages], "x": PARTS["base"]}
    )
    others = [tm.Attribute(name, role="other") for name in ("tens", "group", "x")]
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous"), *others])
    tens = {float(one + 5): [one, one + 10] for one in range(10, 100, 10)}
    assert tm.protect(table, schema, tm.Recoding(rules={"age": tens}), seed=1).promise
