from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.partition.aggregate import Groups, aggregate
from taxomask.records import Centre, ConvexMedian, MarginalMean, Mean, Median, Mode

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
