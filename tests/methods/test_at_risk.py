"""Suppression and top and bottom coding that are aimed at records at risk."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import Check
from taxomask.methods._at_risk import risks

SCHEMA = tm.Schema(
    [
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("job", role="quasi_identifier", kind="nominal"),
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ]
)


def by_hand() -> pa.Table:
    """Three nurses of 40 and three cooks of 50; a cook and a nurse are alone with their age, 60, and 90."""
    rows = [("f", "nurse", 40)] * 3 + [("m", "cook", 50)] * 3 + [("m", "cook", 60), ("f", "nurse", 90)]
    return pa.table({name: list(values) for name, values in zip(SCHEMA, zip(*rows, strict=True), strict=True)})


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in SCHEMA), strict=True))


def about_risk(release: tm.Release) -> Check:
    (check,) = (one for one in release.promise if one.promise.startswith("only records"))
    return check


def test_suppression_by_hand() -> None:
    """With chances of 1/3 nobody is touched but the two who are alone; emptied, they are two of a kind at best."""
    release = tm.protect(by_hand(), SCHEMA, tm.Suppression(k=2, records={"risk": 0.5}), seed=1)
    assert rows(release.data)[:6] == rows(by_hand())[:6]
    left = rows(release.data)[6:]
    assert left[0] == left[1]
    check = about_risk(release)
    assert check.holds
    assert check.promise == "only records with a risk above 0.5 by sex, job, age are changed"
    assert check.found == "0 records remain above it, 2 were"
    strict = tm.protect(by_hand(), SCHEMA, tm.Suppression(k=2, records={"risk": 0.4}), seed=1)
    assert about_risk(strict).found == "2 records remain above it, 2 were"
    assert rows(strict.data)[6:] == [(None, None, None)] * 2
    assert rows(strict.data)[:6] == rows(by_hand())[:6]


def test_weights_say_who_is_at_risk() -> None:
    """Who stands for 1,000 people is not found, however alone in the table."""
    weights = [10.0] * 6 + [1000.0, 1.0]
    table = by_hand().append_column("weight", pa.array(weights))
    attributes = [*SCHEMA.values(), tm.Attribute("weight", role="other", kind="continuous")]
    schema = tm.Schema(attributes, sampling_weight="weight")
    release = tm.protect(table, schema, tm.Suppression(k=2, records={"risk": 0.2}), seed=1, accept=())
    assert rows(release.data)[:7] == rows(table)[:7]
    assert rows(release.data)[7] == (None, None, None)
    assert about_risk(release).found == "1 records remain above it, 1 were"


def test_top_coding_by_hand() -> None:
    release = tm.protect(by_hand(), SCHEMA, tm.TopBottomCoding(top={"age": 45}, records={"risk": 0.5}), seed=1)
    assert release.data["age"].to_pylist() == [40, 40, 40, 50, 50, 50, 45, 45]
    assert about_risk(release).found == "2 records remain above it, 2 were"
    assert any("of a record with a risk above 0.5 is at most 45" in check.promise for check in release.promise)
    helps = tm.protect(by_hand(), SCHEMA, tm.TopBottomCoding(top={"age": 50}, records={"risk": 0.5}), seed=1)
    assert about_risk(helps).found == "1 records remain above it, 2 were"  # the cook is now one of four


def test_a_plan_and_bad_parameters() -> None:
    entry = {"name": "suppression", "k": 2, "records": {"risk": 0.2}}
    plan = tm.Plan.from_dict({"attributes": SCHEMA.to_dict()["attributes"], "method": entry})
    assert plan.method == tm.Suppression(2, records={"risk": 0.2})
    assert plan.method.to_dict() == entry
    for wrong in ({"risk": 0}, {"risk": 1.5}, {"chance": 0.2}, {}, 0.2):
        with pytest.raises(tm.PlanError, match="records"):
            tm.protect(by_hand(), SCHEMA, tm.Suppression(k=2, records=wrong))  # type: ignore[arg-type]


def test_others_that_change_break_the_promise() -> None:
    release = tm.protect(by_hand(), SCHEMA, tm.Suppression(k=2, records={"risk": 0.5}), seed=1)
    changed = release.data.set_column(0, "sex", pa.array([None, *release.data["sex"].to_pylist()[1:]]))
    with pytest.raises(tm.PromiseError, match="1 others changed"):
        release.verify(changed)


@given(
    st.lists(st.tuples(st.sampled_from("fm"), st.sampled_from("abc"), st.integers(1, 4)), min_size=4, max_size=25),
    st.sampled_from([0.2, 0.34, 0.5, 0.9]),
    st.integers(2, 4),
)
@settings(max_examples=40)
def test_nobody_else_is_touched(records: list[tuple[Any, ...]], risk: float, k: int) -> None:
    table = pa.table({name: list(values) for name, values in zip(SCHEMA, zip(*records, strict=True), strict=True)})
    data = tm.Microdata.from_frame(table, SCHEMA)
    method = tm.Suppression(k=k, records={"risk": risk})
    masked = method.mask(data, np.random.default_rng(0)).data
    before, after = rows(table), rows(masked.to_frame())
    sizes, new = Counter(before), Counter(after)
    for old, now in zip(before, after, strict=True):
        if 1 / sizes[old] <= risk:
            assert now == old
        else:
            assert all(cell is None or cell == was for cell, was in zip(now, old, strict=True))
            assert 1 / new[now] <= risk or now == (None, None, None)
    remaining = sum(1 / new[now] > risk for now in after)
    frame = tm.Microdata.from_frame(table, SCHEMA).frame.__class__(masked.to_frame())
    check = method.promises(data)[0].check(data, frame, None)  # type: ignore[arg-type]
    assert check.holds
    assert check.found.startswith(f"{remaining:,} records remain")
    assert int((risks(masked, list(masked.columns.values())) > risk).sum()) == remaining
