"""Numbers are released with two decimals more than the original ones have, and every promise holds on them."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods.base import Masked, Method, Promise
from taxomask.methods.promises_of_moments import moment_differences
from taxomask.microdata import read_table
from taxomask.plan import Plan, plan_json_schema
from taxomask.plan.run import run
from taxomask.release.write import Options, write


def schema(**more: Any) -> tm.Schema:
    return tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous", **more)])


def released(values: Any, method: Method, seed: int = 1, **more: Any) -> list[Any]:
    table = pa.table({"x": values})
    found: list[Any] = tm.protect(table, schema(**more), method, seed=seed).data["x"].to_pylist()
    return found


# --------------------------------------------------------------------------------------- by hand


def test_averages_have_no_noise_of_binary_numbers() -> None:
    assert released([2.24, 2.25, 2.29], tm.Microaggregation(k=3)) == [2.26] * 3  # was 2.2600000000000002
    assert released([46.1, 46.1, 46.2], tm.Microaggregation(k=3)) == [46.133] * 3  # was 46.13333333333333
    assert released([62, 70, 71], tm.Microaggregation(k=3)) == [67.67] * 3


def test_decimals_override() -> None:
    ages = [62, 70, 71]
    whole = tm.protect(pa.table({"x": ages}), schema(decimals=0), tm.Microaggregation(k=3)).data["x"]
    assert (whole.to_pylist(), whole.type) == ([68] * 3, pa.int64())
    assert released(ages, tm.Microaggregation(k=3), decimals=5) == [67.66667] * 3
    assert released(ages, tm.Microaggregation(k=3), decimals="exact") == [203 / 3] * 3


def test_a_german_csv(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("größe;alter\n2,24;20\n2,25;20\n2,29;21\n", encoding="utf-8")
    plan = {
        "attributes": [
            {"name": "größe", "role": "quasi_identifier", "kind": "continuous"},
            {"name": "alter", "role": "quasi_identifier", "kind": "continuous"},
        ],
        "method": {"name": "microaggregation", "k": 3},
        "data": "data.csv",
        "seed": 1,
        "practice": True,
    }
    files = []
    for engine in ("memory", "local"):
        target = tmp_path / f"{engine}.csv"
        run(Plan.from_dict({**plan, "engine": engine}, tmp_path), output=str(target))
        files.append(target.read_text(encoding="utf-8"))
    assert files[0] == "größe;alter\n" + "2,26;20,33\n" * 3
    assert files[1] == files[0]


def test_the_plan_says_how_many(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x\n62\n70\n71\n")
    (tmp_path / "plan.yaml").write_text(
        "data: data.csv\nattributes: [{name: x, role: quasi_identifier, kind: continuous, decimals: 1}]\n"
        "method: {name: microaggregation, k: 3}\noutput: {path: out.csv}\n"
    )
    plan = Plan.read(tmp_path / "plan.yaml")
    assert plan.to_dict()["attributes"][0]["decimals"] == 1
    run(plan)
    assert (tmp_path / "out.csv").read_text() == "x\n67.7\n67.7\n67.7\n"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.float64(), "0.367"),
        (pa.float32(), "0.367"),
        (pa.decimal128(10, 1), "0.4"),
        (pa.decimal128(38, 6), "0.367000"),
    ],
)
def test_parquet_keeps_its_types(tmp_path: Path, kind: pa.DataType, expected: str) -> None:
    values = pa.array(["0.3", "0.3", "0.5"]).cast(kind)
    pq.write_table(pa.table({"x": values}), tmp_path / "in.parquet")
    for engine in ("memory", "local"):
        plan = {
            "attributes": schema().to_dict()["attributes"],
            "method": {"name": "microaggregation", "k": 3},
            "data": "in.parquet",
            "engine": engine,
        }
        out = tmp_path / f"{engine}.parquet"
        run(Plan.from_dict(plan, tmp_path), output=str(out))
        column = read_table(out)["x"]
        assert column.type == kind
        assert column.cast(pa.string()).to_pylist() == [expected] * 3


def test_dates_keep_their_resolution() -> None:
    days = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 5)]
    middle = dt.datetime(2020, 1, 3)  # the mean is 16:00 on the second
    assert released(pa.array(days, pa.timestamp("us")), tm.Microaggregation(k=3)) == [middle] * 3
    assert released(pa.array(days, pa.date32()), tm.Microaggregation(k=3)) == [middle.date()] * 3
    hours = [one.replace(hour=6) for one in days[:2]] + [dt.datetime(2020, 1, 1, 7)]
    (first, *_) = released(pa.array(hours, pa.timestamp("us")), tm.Microaggregation(k=3))
    assert first == dt.datetime(2020, 1, 1, 14)  # 14:20


def test_text_is_written_as_it_was_where_it_was_observed() -> None:
    assert released(["12.50", "12.50", "7.00", "8"], tm.Microaggregation(k=2)) == ["12.50", "12.50", "7.5", "7.5"]


# --------------------------------------------------------------------------------------- promises


def test_a_limit_is_not_passed() -> None:
    # 0.125 with one decimal is 0.1, which is below the lower limit, and 0.875 is 0.9, above the upper one.
    method = tm.TopBottomCoding(top={"x": 0.875}, bottom={"x": 0.125})
    assert released([0.0, 0.5, 1.0], method, decimals=1) == [0.2, 0.5, 0.8]


def test_a_limit_in_single_precision() -> None:
    values = pa.array([0.05, 0.2, 0.3], pa.float32())
    assert released(values, tm.TopBottomCoding(top={"x": 0.1})) == pa.array([0.05, 0.1, 0.1], pa.float32()).to_pylist()


def test_a_sign_is_kept() -> None:
    found = released([0.01, -0.01, 0.0, 3.0], tm.MultiplicativeNoise(0.2), decimals=1)
    assert found[:3] == [0.1, -0.1, 0.0]


def test_multiples_stay_multiples() -> None:
    assert released([1.1, 2, 3], tm.Rounding(0.125), decimals=1) == [1.125, 2, 3]
    assert released([0.9, 1.3, 2.2], tm.Rounding(0.125)) == [0.875, 1.25, 2.25]
    assert released([0.9, 2.2], tm.Rounding(0.3)) == [0.9, 2.1]  # three times 0.3 was 0.8999999999999999


def test_observed_values_are_not_rounded() -> None:
    values = [1.26, 2.37, 0.30000000000000004, 4.59, 5.81, 7.03, 8.11, 9.77]
    for method in (
        tm.NumericalSwapping(p=50),
        tm.RandomSwapping(),
        tm.Shuffling(attributes=["x"]),
        tm.ReverseMapping(tm.Noise(0.5)),
        tm.Imputation(["x"]),
        tm.Pipeline([tm.RandomSwapping(), tm.NumericalSwapping(p=50)]),
    ):
        assert set(released(values, method, decimals=0)) <= set(values)


def test_exact_moments_are_rounded_only_on_request() -> None:
    ages = [20, 31, 44, 58, 61, 73]
    for method in (
        tm.Noise(0.5, keep_moments=True),
        tm.MicroHybrid(k=3, synthesis="moments"),
        tm.Microaggregation(k=3, keep_variance=True),
    ):
        exact = np.array(released(ages, method))
        assert np.isclose(exact.var(), np.var(ages), rtol=1e-12)
        found = np.array(released(ages, method, decimals=1))
        assert (found == np.round(exact, 1)).all()
        assert (found != exact).any()


def test_moments_that_rounding_does_not_explain_stop_the_release() -> None:
    x = np.array([[20.0], [31.0], [44.0], [70.0]])
    half = np.array([0.05])
    assert moment_differences(x, np.round(x + 0.04, 1), half)[1]
    assert not moment_differences(x, x + 0.06, half)[1]
    assert not moment_differences(x, x + 0.06, np.zeros(1))[1]


def test_the_measured_table_is_the_released_one() -> None:
    release = tm.protect(pa.table({"x": [62, 70, 71]}), schema(), tm.Microaggregation(k=3))
    assert release.released.columns["x"].values.tolist() == release.data["x"].to_pylist()  # type: ignore[attr-defined]


def test_steps_of_a_pipeline_hand_on_what_could_be_released() -> None:
    data = {"x": [1.1, 1.2, 1.3, 4.1], "y": ["a", "a", "a", "b"]}
    both = tm.Schema([*schema(decimals=0).values(), tm.Attribute("y", role="confidential", kind="nominal")])
    release = tm.protect(pa.table(data), both, tm.Pipeline([tm.Noise(0.01), tm.Suppression(k=2)]), seed=3)
    assert [one for one in release.data["x"].to_pylist() if one is not None] == [1, 1]  # and not four different ones


@dataclass(frozen=True)
class Thirds(Method):
    """Two tables: a third of every number, and two thirds."""

    name = "thirds"
    about = "Divides every number by three."
    reference = "none"

    def mask(self, data: tm.Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        column: Any = data.columns["x"]
        tables = tuple(data.replace(x=column.with_values(column.values * times / 3)) for times in (1, 2))
        return Masked(tables[0], copies=tables)

    def promises(self, data: tm.Microdata) -> tuple[Promise, ...]:
        return ()


def test_every_copy_is_rounded() -> None:
    release = tm.protect(pa.table({"x": [1, 2]}), schema(), Thirds())
    assert [copy["x"].to_pylist() for copy in release.copies] == [[0.33, 0.67], [0.67, 1.33]]
    assert release.data["x"].to_pylist() == [0.33, 0.67]


@pytest.mark.parametrize("wrong", [-1, 21, 1.5, True, "two"])
def test_wrong_decimals(wrong: Any) -> None:
    with pytest.raises(tm.SchemaError, match="decimals must be a whole number from 0 to 20, or 'exact'"):
        schema(decimals=wrong)


def test_decimals_are_for_numbers() -> None:
    with pytest.raises(tm.SchemaError, match="decimals is only for the kind 'continuous'; got kind 'nominal'"):
        tm.Attribute("x", kind="nominal", decimals=1)
    assert schema(decimals=1).replace("x", kind="nominal")["x"].decimals is None


# --------------------------------------------------------------------------------------- whatever the numbers

METHODS: list[Method] = [
    tm.Microaggregation(k=2),
    tm.Microaggregation(k=2, keep_variance=True),
    tm.MicroHybrid(k=2),
    tm.MicroHybrid(k=2, candidates="domain"),
    tm.MicroHybrid(k=3, synthesis="moments"),
    tm.Noise(0.3),
    tm.Noise(0.3, keep_moments=True),
    tm.MultiplicativeNoise(0.3),
    tm.TopBottomCoding(top=80, bottom=20),
    tm.TopBottomCoding(top={"x": 33.333333}, bottom={"x": -33.333333}),
    tm.Rounding(0.25),
    tm.Rounding(0.3, random=True),
    tm.Generalisation(k=2),
    tm.Suppression(k=2),
    tm.NumericalSwapping(p=20),
    tm.Shuffling(attributes=["x"]),
    tm.ReverseMapping(tm.Microaggregation(k=2)),
    tm.Imputation(["x"]),
    tm.Pipeline([tm.TopBottomCoding(top=90), tm.MicroHybrid(k=2, candidates="domain"), tm.Microaggregation(k=2)]),
]
OBSERVED = ("suppression", "numerical_swapping", "shuffling", "reverse_mapping", "imputation")


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Any], int]:
    """Numbers with some decimals, and how many."""
    places = draw(st.integers(0, 4))
    whole = st.integers(-(10**5), 10**5).map(lambda one: float(Decimal(one).scaleb(-places)))
    values: list[Any] = draw(st.lists(st.one_of(whole, whole, whole, st.none()), min_size=8, max_size=20))
    values[:4] = draw(st.lists(whole, min_size=4, max_size=4, unique=True))
    return values, places


@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(max_examples=15)
@given(column=columns(), asked=st.one_of(st.none(), st.integers(0, 3)), seed=st.integers(0, 99))
def test_no_more_decimals_and_every_promise(
    tmp_path_factory: pytest.TempPathFactory,
    method: Method,
    column: tuple[list[Any], int],
    asked: int | None,
    seed: int,
) -> None:
    values, places = column
    try:
        release = tm.protect(pa.table({"x": pa.array(values, pa.float64())}), schema(decimals=asked), method, seed=seed)
    except (tm.DataError, tm.PlanError):  # too few records for the method
        return
    except tm.PromiseError as error:
        assert "(no cell of x changed)" in str(error)  # noqa: PT017 - all else held
        return
    target = tmp_path_factory.mktemp("out") / "out.csv"
    write(release, str(target), Options(keep_order=True, practice=True))  # checks every promise on what is read back
    cells = target.read_text().splitlines()[1:]
    observed = {one for one in values if one is not None}
    most = places + 2 if asked is None else asked
    for cell in filter(None, cells):
        if method.name in OBSERVED:
            assert float(cell) in observed
        elif method.name == "rounding":
            assert written(cell) <= 2
        elif asked is not None or not method.keeps_moments(release.original):
            narrow = method.name in ("micro_hybrid", "top_bottom_coding", "pipeline") and asked is not None
            assert written(cell) <= (max(most, places + 2, 6) if narrow else most)  # a limit may ask for more


def written(text: str) -> int:
    exponent = Decimal(text).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


@settings(max_examples=30)
@given(column=columns(), k=st.integers(2, 4))
def test_equal_values_stay_equal(column: tuple[list[Any], int], k: int) -> None:
    table = pa.table({"x": pa.array(column[0], pa.float64())})
    rounded, exact = (tm.protect(table, schema(decimals=one), tm.Microaggregation(k=k)) for one in (0, "exact"))
    assert rounded.groups is not None
    assert exact.groups is not None
    assert (rounded.groups == exact.groups).all()
    pairs = set(zip(exact.data["x"].to_pylist(), rounded.data["x"].to_pylist(), strict=True))
    assert len(pairs) == len({one for one, _ in pairs})


def test_the_attribute_in_json() -> None:
    entry = plan_json_schema()["properties"]["attributes"]["anyOf"][0]["items"]["properties"]["decimals"]
    assert json.loads(json.dumps(entry))["anyOf"] == [
        {"type": "integer", "minimum": 0, "maximum": 20},
        {"const": "exact"},
    ]
    assert replace(schema()["x"], decimals="exact").decimals == "exact"
