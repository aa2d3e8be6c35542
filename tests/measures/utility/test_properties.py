"""What every measure must do, whatever the table: 0 if nothing changed, no dependence on units, no failure."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures import Loss, Propensity, Utility, measure_utility, overall_loss
from taxomask.measures.utility import ChapterCounts, InformationLoss, chapter_counts, distance_correlations

from .naive import SCHEMA, TREE, both, coded, tables


def utility(original: tm.Microdata, released: tm.Microdata, **options: Any) -> Utility:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # semantic distances may give a negative mean product
        return measure_utility(original, released, rng=np.random.default_rng(3), samples=3, **options)


def losses(result: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number that is a loss, with the way to it."""
    if isinstance(result, Loss):
        yield f"{path} overall", result.overall
        for key, value in result.each.items():
            yield f"{path} {key}", value
    elif isinstance(result, Propensity):
        yield f"{path} overall", result.overall
    elif isinstance(result, ChapterCounts):
        yield from losses(result.loss, path)
    elif result is not None:
        if isinstance(result, InformationLoss):
            yield f"{path} overall", result.overall
        for name, part in vars(result).items():
            if not isinstance(part, float):
                yield from losses(part, f"{path} {name}")


@given(both())
@settings(max_examples=20)
def test_identical_tables_lose_nothing(frames: tuple[pa.Table, pa.Table]) -> None:
    original, _ = coded(*frames)
    again = coded(frames[0])[0]
    assert {name: value for name, value in losses(utility(original, again)) if value != 0} == {}


@given(both())
@settings(max_examples=20)
def test_no_loss_is_negative_and_all_can_be_written(frames: tuple[pa.Table, pa.Table]) -> None:
    found = utility(*coded(*frames))
    assert all(value >= 0 or isnan(value) for _, value in losses(found))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["overall"].keys() >= {"overall", "each", "left_out"}


RAW = ("squared_errors", "root_mean_square_errors")
DIVIDE_BY_THE_VALUE = ("information values", "information means", "differences means", "differences_in_samples means")


@given(both(least=4), st.sampled_from([0.001, 7.0, 1e6]), st.sampled_from([0.0, -3.0, 1000.0]))
@settings(max_examples=20)
def test_units_do_not_matter(frames: tuple[pa.Table, pa.Table], unit: float, offset: float) -> None:
    one, other = coded(*frames)

    def moved(data: tm.Microdata) -> tm.Microdata:
        column: Any = data.columns["number"]
        return data.replace(number=column.with_values(column.values * unit + offset))

    before, after = (dict(losses(found)) for found in (utility(one, other), utility(moved(one), moved(other))))
    for name, value in before.items():
        skip = RAW if offset == 0 else (*RAW, *DIVIDE_BY_THE_VALUE, "information overall")
        if not name.strip().startswith(skip):
            assert after[name] == pytest.approx(value, rel=1e-6, abs=1e-6, nan_ok=True), name


@pytest.mark.parametrize(
    "change",
    [
        "nothing",
        "all constant",
        "all missing before",
        "all missing after",
        "all missing in both",
        "a category vanished",
        "a constant changed",
        "one record",
        "no record",
    ],
)
def test_survives(change: str) -> None:
    frame = pa.table(
        {
            "number": [1.0, 2, 2, 5, 7, None],
            "amount": [0.5, 0.5, 1, 0, 2, 2],
            "grade": ["low", "top", "mid", "mid", None, "low"],
            "plain": ["x", "y", "y", "z", "x", "x"],
            "concept": ["a1", "b", "b11", "b12", "a", "r"],
            "second": ["a1", "a1", "b11", "b11", "b", None],
        }
    )
    original = coded(frame)[0]
    released = original
    columns: dict[str, Any] = dict(original.columns)
    first = {name: column.take(np.zeros(original.n, dtype=int)) for name, column in columns.items()}
    empty = {
        name: column.with_values(np.full(original.n, np.nan))
        if name in ("number", "amount")
        else column.with_codes(np.full(original.n, -1))
        for name, column in columns.items()
    }
    if change == "all constant":
        released = original.replace(first)
    elif change == "all missing before":
        original = original.replace(empty)
    elif change == "all missing after":
        released = original.replace(empty)
    elif change == "all missing in both":
        original = released = original.replace(empty)
    elif change == "a category vanished":
        codes = columns["plain"].codes
        released = original.replace(plain=columns["plain"].with_codes(np.where(codes == 2, 0, codes)))
    elif change == "a constant changed":
        original = original.replace(first)
        released = coded(frame)[0]
    elif change in ("one record", "no record"):
        original = original.take(np.arange(change == "one record"))
        released = released.take(np.arange(change == "one record"))
    found = utility(original, released)
    assert found.to_dict()
    if change in ("nothing", "all missing in both", "one record", "no record"):
        assert all(value == 0 for _, value in losses(found))
    if change == "all missing after":
        assert found.overall is not None
        assert all(value == 1 for _, value in losses(found.overall))
    if change == "a constant changed":
        assert found.overall is not None
        assert isnan(found.overall.overall)


def example(n: int) -> tm.Microdata:
    rng = np.random.default_rng(7)
    return coded(
        pa.table(
            {
                "number": rng.normal(size=n),
                "amount": rng.lognormal(size=n),
                "grade": rng.choice(["low", "mid", "high", "top"], n),
                "plain": rng.choice(list("xxyz"), n),
                "concept": rng.choice(sorted(TREE), n),
                "second": rng.choice(["a1", "a2", "b", "b11"], n),
            }
        )
    )[0]


def test_the_average_record_loses_one_and_a_random_order_of_numbers_two() -> None:
    from taxomask.partition import Groups, aggregate

    data = example(20_000)
    all_in_one = Groups(np.zeros(data.n, dtype=np.int32))
    mean = data.replace({name: aggregate(column, all_in_one) for name, column in data.columns.items()})
    assert dict(overall_loss(data, mean).each) == pytest.approx(dict.fromkeys(data.columns, 1.0))
    order = np.random.default_rng(1).permutation(data.n)
    found = overall_loss(data, data.replace({name: column.take(order) for name, column in data.columns.items()}))
    assert found.each["number"] == pytest.approx(2, abs=0.05)
    assert found.each["amount"] == pytest.approx(2, abs=0.3)
    assert all(1 <= value <= 2.05 for name, value in found.each.items() if name != "amount")


def test_a_value_far_away_is_not_clipped() -> None:
    data = example(100)
    far = data.replace(number=data.columns["number"].with_values(np.full(100, 50.0)))  # type: ignore[attr-defined]
    assert overall_loss(data, far).each["number"] > 1000


@given(both(least=3, complete=True))
@settings(max_examples=15)
def test_the_order_of_records_does_not_matter_to_distributions(frames: tuple[pa.Table, pa.Table]) -> None:
    original, released = coded(*frames)
    turned = released.take(np.arange(released.n)[::-1])
    skip = ("overall", "squared", "root_mean", "total_distance", "entropy", "information", "differences_in_samples")
    before, after = (dict(losses(utility(original, one))) for one in (released, turned))
    for name, value in before.items():
        if not name.strip().startswith(skip):
            assert after[name] == pytest.approx(value, rel=1e-6, abs=1e-6, nan_ok=True), name


def test_tables_of_another_size_are_compared_as_distributions() -> None:
    data = example(60)
    twice = data.take(np.repeat(np.arange(60), 2))
    with pytest.raises(tm.DataError, match="60 records and the release 120"):
        utility(data, twice)
    found = utility(data, twice, linked=False)
    assert found.overall is found.information.values is found.entropy is None
    close = [
        found.differences.means, found.tables.relative, found.semantic_means, found.distance_correlations,
        found.rank_correlations, found.chapters.loss,
    ]  # fmt: skip
    assert all(part.overall == pytest.approx(0, abs=1e-6) for part in close)
    assert found.propensity.overall == pytest.approx(0, abs=1e-9)


def test_unknown_columns_are_named() -> None:
    data = example(5)
    with pytest.raises(tm.SchemaError, match="numbr"):
        overall_loss(data, data, ["numbr"])
    assert set(overall_loss(data, data, ["number", "plain"]).each) == {"number", "plain"}


def test_values_above_a_level_are_missing_from_it() -> None:
    """Generalised to the root, no record is left in any chapter."""
    data = coded(pa.table({name: ["a1", "b11"] if name == "concept" else [None, None] for name in SCHEMA}))[0]
    column: Any = data.columns["concept"]
    wide = column.including([TREE.position("r")])
    top = wide.with_codes(np.full(2, wide.categories.index("r")))
    found = chapter_counts(data, data.replace(concept=top))
    assert found.loss.each == {("concept", 1): 1.0, ("concept", 2): 1.0, ("concept", 3): 1.0}
    assert found.counts["concept"]["a"] == (1.0, 0.0)


@given(st.integers(50, 400), st.integers(0, 5))
@settings(max_examples=10)
def test_distance_correlation_finds_what_belongs_together(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    frame = pa.table(
        {
            "number": number,
            "amount": np.square(number),
            "grade": np.array(["low", "mid", "high", "top"])[np.digitize(number, [-1, 0, 1])],
            "plain": np.where(number > 0, "x", "y"),
            "concept": np.where(number > 0, "a1", "b1"),
            "second": rng.choice(["a1", "b11"], n),
        }
    )
    data = coded(frame)[0]
    found = distance_correlations(data, data)
    together = [found.before[key] for key in found.before if "second" not in key and "amount" not in key]
    apart = [found.before[key] for key in found.before if "second" in key]
    assert min(together) > 0.6 > max(apart) + 0.05
    assert found.before["number", "amount"] > 0.35
    assert found.before["plain", "concept"] == pytest.approx(1)


def test_distance_correlation_of_groups_is_that_of_their_records() -> None:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 40, 300)
    columns = {name: rng.normal(size=40)[group] for name in ("first", "second")}
    columns |= {"third": np.round(rng.normal(size=40), 1)[group], "own": rng.normal(size=300)}
    of_groups = np.array(["a1", "a2", "b1", "b11"])[rng.integers(0, 4, 40)][group]
    schema = tm.Schema(
        [tm.Attribute(name, role="other", kind="continuous") for name in columns]
        + [tm.Attribute("concept", role="other", kind="nominal")]
    )
    data = tm.Microdata.from_frame(pa.table({**columns, "concept": of_groups}), schema)
    away = {name: np.abs(values[:, None] - values) for name, values in columns.items()}
    away["concept"] = (of_groups[:, None] != of_groups).astype(float)
    centred = {name: one - one.mean(0) - one.mean(1)[:, None] + one.mean() for name, one in away.items()}
    found = distance_correlations(data, data).before
    for (a, b), value in found.items():
        covariance, *variances = (np.sqrt((centred[x] * centred[y]).mean()) for x, y in ((a, b), (a, a), (b, b)))
        assert value == pytest.approx(covariance / np.sqrt(np.prod(variances)), rel=1e-9)


@given(st.data())
@settings(max_examples=15)
def test_another_numbering_of_categories_changes_nothing(data: st.DataObject) -> None:
    """A release that was read from a file has only its own categories."""
    frame, other = data.draw(tables(8)), data.draw(tables(8))
    original, released = coded(frame, other)
    wide = coded(pa.concat_tables([frame, other]))[0]
    same = wide.take(np.arange(8, 16))
    assert overall_loss(original, released) == overall_loss(original, same)
