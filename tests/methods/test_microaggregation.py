from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive_centres import Centre, ConvexMedian, MarginalMean, Mean, Median, Mode
from taxomask.methods.promises_of_moments import MeanAndVariance
from taxomask.microdata.frames import Frame
from taxomask.partition.aggregate import Groups, aggregate

from .conftest import SCHEMA, tables

QUASI = ["number", "grade", "plain", "concept"]


@given(tables(), st.integers(2, 5), st.sampled_from(["median", "convex_median"]), st.booleans())
@settings(max_examples=100)
def test_releases_are_k_anonymous(table: pa.Table, k: int, ordinal: Any, keep_variance: bool) -> None:
    method = tm.Microaggregation(k, ordinal=ordinal, keep_variance=keep_variance)
    if table.num_rows < k:
        with pytest.raises(tm.DataError, match="too few"):
            tm.protect(table, SCHEMA, method)
        return
    release = tm.protect(table, SCHEMA, method)
    rows = [tuple(row.values()) for row in release.data.select(QUASI).to_pylist()]
    assert min(rows.count(row) for row in rows) >= k
    assert release.data.column_names == [*QUASI, "rest"]
    assert release.data["rest"].equals(table["rest"])
    assert release.groups is not None
    assert np.bincount(release.groups).min() >= k


@given(tables(), st.data())
@settings(max_examples=60)
def test_averages_are_those_of_the_centres(table: pa.Table, data: st.DataObject) -> None:
    microdata = tm.Microdata.from_frame(table, SCHEMA)
    numbers = data.draw(st.lists(st.integers(0, 3), min_size=table.num_rows, max_size=table.num_rows))
    groups = Groups(np.unique(numbers, return_inverse=True)[1].astype(np.int32))
    for ordinal, median in (("median", Median), ("convex_median", ConvexMedian)):
        columns: dict[str, Any] = {name: microdata.columns[name] for name in QUASI}
        released: dict[str, Any] = {name: aggregate(c, groups, ordinal=ordinal) for name, c in columns.items()}  # type: ignore[arg-type]
        for group in range(len(groups.sizes)):
            members = groups.members(group)
            makers: dict[str, Centre] = {
                "grade": median(4),
                "plain": Mode(3),
                "concept": MarginalMean(columns["concept"].table),
            }
            for name, centre in makers.items():
                codes = columns[name].codes[members]
                expected = centre.extend(None if code < 0 else code for code in codes.tolist()).value()
                assert set(released[name].codes[members].tolist()) == {-1 if expected is None else expected}
            values = columns["number"].values[members]
            mean = Mean().extend(None if np.isnan(v) else v for v in values.tolist()).value()
            found = released["number"].values[members]
            assert np.isnan(found).all() if mean is None else found == pytest.approx(mean, abs=1e-9)


def test_keeps_variances(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    release = tm.protect(discharges, discharge_schema, tm.Microaggregation(5, keep_variance=True))
    for name in ("age", "care_days"):
        before, after = discharges[name].to_numpy().astype(float), release.data[name].to_numpy()
        assert after.mean() == pytest.approx(before.mean())
        assert after.var(ddof=1) == pytest.approx(before.var(ddof=1))


NUMBER = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])


def moments(values: Any) -> tuple[float, float]:
    """The mean and the variance of what is there."""
    present = [float(value) for value in values if value is not None]
    return float(np.mean(present)), float(np.var(present, ddof=1))


def test_keeps_mean_and_variance_where_values_are_missing() -> None:
    """The missing cell between 10 and 11 becomes 10.5, and moves the mean of the averages away from 15."""
    values = [1, 2, 3, 10, 11, None, 30, 31, 32]
    release = tm.protect(pa.table({"x": values}), NUMBER, tm.Microaggregation(3, keep_variance=True))
    assert moments(release.data["x"].to_pylist()) == pytest.approx((15.0, moments(values)[1]), rel=1e-12)
    assert str(release.promise[-1]).startswith("holds: the mean and variance of x are kept (largest difference ")


@given(
    st.lists(st.one_of(st.none(), st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=20),
    st.integers(2, 4),
    st.sampled_from([0, 10**9]),
)
@settings(max_examples=100)
def test_keeps_mean_and_variance(cells: list[int | None], k: int, offset: int) -> None:
    """Unless one value is released, which has no variance, or none."""
    values = [None if one is None else offset + one / 8 for one in cells]
    if len(values) < k:
        return
    release = tm.protect(
        pa.table({"x": pa.array(values, pa.float64())}), NUMBER, tm.Microaggregation(k, keep_variance=True)
    )
    before, after = ([v for v in some if v is not None] for some in (values, release.data["x"].to_pylist()))
    said = release.promise[-1].promise
    if not before or not after:
        assert said == "no number is left"
        return
    assert np.mean(after) == pytest.approx(np.mean(before), abs=1e-15 * offset + 1e-12)
    if len(set(after)) > 1:
        assert moments(after)[1] == pytest.approx(moments(before)[1], rel=1e-6)
        assert said == "the mean and variance of x are kept"
    else:
        constant = len(set(before)) == 1
        assert said == f"the mean {'and variance of x are' if constant else 'of x is'} kept"


def test_equal_averages_are_not_stretched() -> None:
    """0.1 + 0.3 and 0.2 + 0.2 have halves that differ in the last bit, of which no variance can be made."""
    from taxomask.methods._moments import stretched

    column: Any = tm.Microdata.from_frame(pa.table({"x": [0.1, 0.3, 0.7, 0.2, 0.2, 0.7]}), NUMBER).columns["x"]
    averaged = aggregate(column, Groups(np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)))
    released: Any = stretched(column, averaged)
    assert released.values.tolist() == pytest.approx([1.1 / 3] * 6, rel=1e-15)
    assert len(set(released.values.tolist())) == 1


def test_mean_and_variance_of_rounded_types() -> None:
    """Dates and decimals are rounded when they are written: as far as that goes, their moments are kept."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=day) for day in (0, 3, 5, 30, 34, 39, 90, 99)]
    money = [decimal.Decimal(cents) / 100 for cents in (105, 110, 133, 990, 1000, 1021, 5000, 5003)]
    for values, unit in ((days, 0.5), (money, 0.005)):
        table = pa.table({"x": values})
        release = tm.protect(table, NUMBER, tm.Microaggregation(3, keep_variance=True))
        assert release.data.schema == table.schema
        before, after = (tm.Microdata.from_frame(one, NUMBER).columns["x"].values for one in (table, release.data))  # type: ignore[attr-defined]
        assert abs(after.mean() - before.mean()) <= unit
        assert abs(after.std(ddof=1) - before.std(ddof=1)) <= 1.5 * unit
    single = pa.table({"x": pa.array([1, 2, 3, 10, 11, 12], pa.float32())})
    assert tm.protect(single, NUMBER, tm.Microaggregation(3, keep_variance=True)).data.schema == single.schema


@pytest.mark.parametrize("change", [lambda x: x + 1, lambda x: 15 + 1.01 * (x - 15)])
def test_a_mean_or_a_variance_that_was_lost_is_noticed(change: Any) -> None:
    values = [1, 2, 3, 10, 11, None, 30, 31, 32]
    release = tm.protect(pa.table({"x": values}), NUMBER, tm.Microaggregation(3, keep_variance=True))
    promise = next(one for one in release._promises if isinstance(one, MeanAndVariance))
    changed = pa.table({"x": [change(x) for x in release.data["x"].to_pylist()]})
    assert promise.check(release.original, Frame(release.data), release._masked).holds
    assert not promise.check(release.original, Frame(changed), release._masked).holds


def test_offsets_do_not_matter(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    place = discharges.column_names.index("age")
    far = discharges.set_column(place, "age", pa.array(discharges["age"].to_numpy() + 10**9))
    near_groups = tm.protect(discharges, discharge_schema, tm.Microaggregation(3)).groups
    release = tm.protect(far, discharge_schema, tm.Microaggregation(3))
    np.testing.assert_array_equal(release.groups, near_groups)


@pytest.mark.parametrize("make", [pa.Table.to_pandas, pl.from_arrow, lambda table: table])
def test_frames_come_back_as_they_came(discharges: pa.Table, discharge_schema: tm.Schema, make: Any) -> None:
    frame = make(discharges)
    release = tm.protect(frame, discharge_schema, tm.Microaggregation(5))
    assert type(release.data) is type(frame)
    expected = tm.protect(discharges, discharge_schema, tm.Microaggregation(5)).data
    table = release.data
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    elif isinstance(table, pl.DataFrame):
        table = table.to_arrow()
    assert [column.to_pylist() for column in table.columns] == [column.to_pylist() for column in expected.columns]


def test_blocks_keep_the_promise_and_are_no_better(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    from taxomask.measures import squared_error

    whole = tm.protect(discharges, discharge_schema, tm.Microaggregation(5))
    blocks = tm.protect(discharges, discharge_schema, tm.Microaggregation(5, block_size=300))
    assert blocks.groups is not None
    assert np.bincount(blocks.groups).min() >= 5
    assert (blocks.groups != whole.groups).any()

    def loss(release: tm.Release, name: str) -> float:
        return squared_error(release.original.columns[name], release.released.columns[name]).percent

    names = whole.original.schema.quasi_identifiers
    assert (
        sum(loss(whole, n) for n in names)
        < sum(loss(blocks, n) for n in names)
        < 1.5 * sum(loss(whole, n) for n in names)
    )


@given(tables(least=4), st.integers(2, 4), st.sampled_from(["record", "semantic"]), st.integers(0, 9))
@settings(max_examples=30)
def test_refined_releases_are_k_anonymous_and_repeatable(table: pa.Table, k: int, objective: Any, seed: int) -> None:
    method = tm.Microaggregation(k, algorithm="refined", objective=objective, steps=2000)
    release = tm.protect(table, SCHEMA, method, seed=seed)
    rows = [tuple(row.values()) for row in release.data.select(QUASI).to_pylist()]
    assert min(rows.count(row) for row in rows) >= k
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)


def test_refined_groups_lose_less(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    def loss(method: tm.Microaggregation) -> float:
        release = tm.protect(discharges, discharge_schema, method, seed=1)
        space = tm.RecordDistance(release.original)
        assert release.groups is not None
        names = release.original.schema.quasi_identifiers
        return sum(_terms(space, release, name) for name in names)

    def _terms(space: tm.RecordDistance, release: tm.Release, name: str) -> float:
        """Σ of the attribute's terms of δ² between records and released values."""
        term: Any = space.terms[space.names.index(name)]
        after: Any = release.released.columns[name]
        if hasattr(after, "values"):
            moved = (after.values - term.origin) * term.scale
        elif term.__class__.__name__ == "NumberTerm":
            moved = (after.codes - term.origin) * term.scale
        else:
            moved = after.codes
        return sum(float(term.between(x, np.array([y]))[0]) for x, y in zip(term.coordinates, moved, strict=True))

    plain, refined = loss(tm.Microaggregation(5)), loss(tm.Microaggregation(5, algorithm="refined"))
    assert refined < 0.97 * plain


def test_a_time_limit_is_noted(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method = tm.Microaggregation(5, algorithm="refined", steps=10**9, seconds=0.2)
    release = tm.protect(discharges, discharge_schema, method, seed=1)
    assert any("ended by its time limit" in note for note in release.notes)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (tm.Microaggregation(1), "k must be an integer of at least 2; got 1."),
        (tm.Microaggregation(2.5), "k must be an integer of at least 2; got 2.5."),  # type: ignore[arg-type]
        (tm.Microaggregation(True), "k must be an integer of at least 2; got True."),
        (tm.Microaggregation(5, ordinal="mean"), "ordinal must be 'median' or 'convex_median'; got 'mean'."),  # type: ignore[arg-type]
        (tm.Microaggregation(5, scale="papr"), "Did you mean 'paper'?"),  # type: ignore[arg-type]
        (tm.Microaggregation(5, block_size=10), "block_size must be an integer of at least 20; got 10."),
        (tm.Microaggregation(5, keep_variance="yes"), "keep_variance must be true or false"),  # type: ignore[arg-type]
        (
            tm.Microaggregation(5, attributes=["agee"]),
            "there is no coded column 'agee' to protect.\nDid you mean 'age'?",
        ),
        (tm.Microaggregation(5, attributes=[]), "no quasi-identifier to protect"),
        (tm.Microaggregation(2001), "2000 records, too few for a group of k = 2001"),
    ],
)
def test_bad_parameters_are_errors(
    discharges: pa.Table, discharge_schema: tm.Schema, method: tm.Microaggregation, message: str
) -> None:
    with pytest.raises(tm.TaxomaskError) as error:
        tm.protect(discharges, discharge_schema, method)
    assert message in str(error.value)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_mean_and_variance_of_numbers_of_any_size(size: float) -> None:
    values = [1.0, 2.0, 4.0, 9.0, -3.0, 20.0, None]
    schema = tm.Schema([tm.Attribute("a", role="quasi_identifier", kind="continuous")])
    plain, sized = (
        tm.protect(
            pa.table({"a": [None if one is None else one * unit for one in values]}),
            schema,
            tm.Microaggregation(2, keep_variance=True),
            seed=3,
        ).data["a"]
        for unit in (1.0, size)
    )
    assert [one and one / size for one in sized.to_pylist()] == pytest.approx(plain.to_pylist(), rel=1e-12)
