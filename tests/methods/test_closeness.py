from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.semantics import earth_mover

from .conftest import SCHEMA, tables

CONFIDENTIAL = ("number", "concept")
SECRET = SCHEMA
for _name in CONFIDENTIAL:
    SECRET = SECRET.replace(_name, role="confidential")


@given(tables(least=4), st.integers(2, 4), st.sampled_from([0.05, 0.2, 0.5, 1.0]))
@settings(max_examples=60)
def test_t_closeness_holds_in_every_group(table: pa.Table, k: int, t: float) -> None:
    release = tm.protect(table, SECRET, tm.Microaggregation(k, t=t))
    assert release.groups is not None
    assert np.bincount(release.groups).min() >= k
    for name in CONFIDENTIAL:
        assert release.data[name].equals(table[name])
        distance = earth_mover(release.original.columns[name])
        for group in range(release.groups.max() + 1):
            assert distance(np.flatnonzero(release.groups == group)) <= t


@given(tables(least=8), st.integers(2, 3))
@settings(max_examples=60)
def test_l_diversity_holds_or_is_refused(table: pa.Table, l: int) -> None:  # noqa: E741
    values = {name: table[name].to_pylist() for name in CONFIDENTIAL}
    if min(len(set(column)) for column in values.values()) < l:
        with pytest.raises(tm.DataError, match=r"different values, fewer than l = "):
            tm.protect(table, SECRET, tm.Microaggregation(2, l=l))
        return
    release = tm.protect(table, SECRET, tm.Microaggregation(2, l=l))
    assert release.groups is not None
    for group in range(release.groups.max() + 1):
        rows = np.flatnonzero(release.groups == group)
        assert all(len({column[i] for i in rows}) >= l for column in values.values())


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    schema = discharge_schema.replace("dx01", role="confidential")
    plain = tm.protect(discharges, schema, tm.Microaggregation(5))
    close = tm.protect(discharges, schema, tm.Microaggregation(5, t=0.25, l=3))
    assert plain.groups is not None
    assert close.groups is not None
    assert close.groups.max() < plain.groups.max()
    assert any("within t = 0.25" in check.promise for check in close.promise)
    assert any("at least l = 3" in check.promise for check in close.promise)


def test_bad_parameters_are_errors(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    with pytest.raises(tm.SchemaError, match="t and l need a confidential attribute"):
        tm.protect(discharges, discharge_schema, tm.Microaggregation(5, t=0.2))
    schema = discharge_schema.replace("dx01", role="confidential")
    with pytest.raises(tm.PlanError, match=r"t must be a number above 0 and at most 1; got 1\.5"):
        tm.protect(discharges, schema, tm.Microaggregation(5, t=1.5))
    with pytest.raises(tm.PlanError, match="l must be an integer of at least 2; got 1"):
        tm.protect(discharges, schema, tm.Microaggregation(5, l=1))
