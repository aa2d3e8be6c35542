"""Means, quantiles, cross tables and counts against numbers solved by hand and naive versions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.errors import PlanError
from taxomask.evaluation import check_analyses
from taxomask.measures import Tables
from taxomask.measures.analyses import Analysed, Analysis, Estimate
from taxomask.measures.analyses.analysis import interval_overlap
from taxomask.measures.side_by_side import side_by_side

TAXONOMY = tm.Taxonomy.from_edges([("heart", "all"), ("lung", "all"), ("valve", "heart"), ("asthma", "lung")])
KINDS: dict[str, dict[str, Any]] = {
    "days": {"kind": "continuous"},
    "age": {"kind": "continuous"},
    "w": {"kind": "continuous", "role": "other"},
    "sex": {"kind": "nominal"},
    "dx": {"kind": "taxonomic", "taxonomy": TAXONOMY},
}


def analysed(analysis: Analysis, before: dict[str, Any], after: dict[str, Any] | None = None, **more: Any) -> Analysed:
    schema = tm.Schema([tm.Attribute(name, **{"role": "quasi_identifier", **KINDS[name]}) for name in before], **more)
    return compared(analysis, pa.table(before), pa.table(after or before), schema)


def compared(analysis: Analysis, before: pa.Table, after: pa.Table, schema: tm.Schema) -> Analysed:
    original, released = (tm.Microdata.from_frame(table, schema) for table in (before, after))
    (asked,) = check_analyses([analysis], schema)
    return asked.compare(Tables(original, released.owned_as(original), side_by_side(original, released)))


def test_mean_by_hand() -> None:
    """1, 2, 3: mean 2, s = 1, t(2) = 4.3027, so 2 ± 4.3027/√3 = 2 ± 2.4841."""
    found = analysed(tm.Mean("m", of="days"), {"days": [1, 2, 3, None], "age": [1, 2, 3, 4]})
    one = found.before["all"]
    assert (one.value, one.low, one.high) == pytest.approx((2, 2 - 2.4841377, 2 + 2.4841377), rel=1e-7)
    assert (found.records, found.left_out) == ((3, 3), (1, 1))
    assert (found.overlap, found.worst) == (1.0, 1.0)


def test_overlap_by_hand() -> None:
    """[0, 4] and [3, 5]: 1 of 4 and 1 of 2, so 3/8; [1, 2] lies in [0, 4]: 1/4 and 1, so 5/8."""
    assert interval_overlap(Estimate(2, 0, 4), Estimate(4, 3, 5)) == 0.375
    assert interval_overlap(Estimate(2, 0, 4), Estimate(1.5, 1, 2)) == 0.625
    assert interval_overlap(Estimate(2, 0, 4), Estimate(3, 3, 3)) == 0.5  # a point in it
    assert interval_overlap(Estimate(3, 3, 3), Estimate(3, 3, 3)) == 1.0
    assert interval_overlap(Estimate(3, 3, 3), Estimate(4, 4, 4)) == 0.0
    assert interval_overlap(Estimate(2, 0, 4), None) == 0.0
    assert interval_overlap(Estimate(2, 0, 4), Estimate(math.nan, math.nan, math.nan)) == 0.0


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=4))
def test_overlap_is_a_symmetric_share(ends: list[float]) -> None:
    (a, b), (c, d) = sorted(ends[:2]), sorted(ends[2:])
    one, other = Estimate(a, a, b), Estimate(c, c, d)
    assert 0 <= interval_overlap(one, other) <= 1
    assert interval_overlap(one, other) == interval_overlap(other, one)
    assert interval_overlap(one, one) == 1


def test_a_group_that_vanished_cannot_be_told_and_a_new_one_is_not_compared() -> None:
    before = {"days": [1, 2, 3, 4, 9], "sex": ["f", "f", "m", "m", "x"]}
    after = {"days": [1, 2, 3, 4, 9], "sex": ["f", "f", "f", "f", "y"]}
    found = analysed(tm.Mean("m", of="days", by=["sex"]), before, after)
    assert found.each["sex = m"] == 0
    assert set(found.each) == {"sex = f", "sex = m"}  # x is a single record: it has no interval
    assert found.notes == ("The original cannot tell 1 of the numbers, which are not compared.",)


def test_nothing_to_tell_is_no_overlap() -> None:
    found = analysed(tm.Mean("m", of="days", by=["sex"]), {"days": [1, 2], "sex": ["f", "m"]})
    assert math.isnan(found.overlap)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=3, max_size=12))
@settings(max_examples=25, deadline=None)
def test_weighted_mean_is_that_of_repeated_records(rows: list[tuple[int, int]]) -> None:
    values, weights = (list(one) for one in zip(*rows, strict=True))
    found = analysed(tm.Mean("m", of="days"), {"days": values, "w": weights}, sampling_weight="w")
    x, w = np.array(values, dtype=float), np.array(weights, dtype=float)
    one = found.before["all"]
    assert one.value == pytest.approx(np.repeat(x, weights).mean())
    n, mean = len(x), (w * x).sum() / w.sum()
    error = math.sqrt(n / (n - 1) * (w**2 * (x - mean) ** 2).sum()) / w.sum()
    from scipy.stats import t

    assert one.high - one.low == pytest.approx(2 * t.ppf(0.975, n - 1) * error, abs=1e-9)


def test_median_by_hand() -> None:
    """Of 1 … 100: 50; 1.96·√(0.25/100) = 0.098, so the quantiles at 0.402 and 0.598 are the 41st and 60th value."""
    found = analysed(tm.Quantile("q", of="days"), {"days": list(range(1, 101)), "age": [1] * 100})
    one = found.before["all"]
    assert (one.value, one.low, one.high) == (50, 41, 60)


def test_quantiles_with_weights() -> None:
    """A record that stands for ten is passed by the median of the people."""
    table = {"days": [1, 2, 30], "w": [1, 1, 10], "sex": ["f", "f", "f"]}
    found = analysed(tm.Quantile("q", of="days", by=["sex"]), table, sampling_weight="w")
    assert found.before["sex = f"].value == 30
    assert analysed(tm.Quantile("q", of="days"), {"days": [1, 2, 30]}).before["all"].value == 2


def test_cross_table_at_a_level() -> None:
    before = {"dx": ["valve", "heart", "asthma", "lung", "all", None], "sex": ["f", "f", "f", "m", "m", "m"]}
    after = {"dx": ["heart", "heart", "lung", "asthma", "all", None], "sex": ["f", "f", "f", "m", "m", "m"]}
    table = tm.CrossTable("t", of=["dx", "sex"], levels={"dx": 2})
    found = analysed(table, before, after)
    counts = {label: one.value for label, one in found.before.items()}
    assert counts == {
        "dx = heart, sex = f": 2,
        "dx = lung, sex = f": 1,
        "dx = lung, sex = m": 1,
        "dx = all, sex = m": 1,
    }
    assert found.overlap == 1.0  # only below the level has anything changed
    assert found.left_out == (1, 1)
    assert analysed(tm.CrossTable("t", of=["dx"]), before, after).overlap < 1


def test_cells_that_are_empty_before_count_as_well() -> None:
    found = analysed(tm.CrossTable("t", of=["sex"]), {"sex": ["f"] * 8}, {"sex": ["f"] * 4 + ["m"] * 4})
    assert found.before["sex = m"].value == 0
    assert 0 < found.each["sex = m"] < 1


def test_wilson_by_hand() -> None:
    """0 of 10: from 0 to z²/(n + z²) = 0.27753."""
    found = analysed(tm.Count("c", condition="age > 65"), {"age": [*range(10), None]})
    one = found.before["records"]
    assert (one.value, one.low, one.high) == pytest.approx((0, 0, 2.7753), abs=1e-4)
    assert (found.records, found.left_out) == ((10, 10), (1, 1))


def test_count_where_another_condition_holds() -> None:
    table = {"age": [70, 70, 30, None], "dx": ["valve", "lung", "heart", "valve"]}
    found = analysed(tm.Count("c", condition="dx under heart", where="age > 65"), table)
    assert (found.before["records"].value, found.records, found.left_out) == (1, (2, 2), (1, 1))


@pytest.mark.parametrize(
    ("analysis", "said"),
    [
        (tm.Mean("m", of="dayz"), "no column 'dayz'"),
        (tm.Mean("m", of="sex"), "column 'sex' is nominal"),
        (tm.Mean("m", of="days", by=["age"]), "column 'age' is continuous"),
        (tm.Mean("m", of="id"), "is an identifier"),
        (tm.Mean("m", of="days", levels={"sex": 2}), "levels names 'sex', which it does not use"),
        (tm.Mean("m", of="days", by=["sex"], levels={"sex": 2}), "which has no taxonomy"),
        (tm.Mean("", of="days"), "needs a name"),
        (tm.Mean("m", of="days", confidence=1.5), "confidence must be"),
        (tm.Quantile("m", of="days", q=0), "q must be"),
        (tm.Count("m", condition=" "), "needs a condition"),
        (tm.Count("m", condition="age >"), "no value after"),
        (tm.Count("m", condition="sex = g"), "has no value 'g'"),
        (tm.CrossTable("m", of=[]), "of must be a list of at least one name"),
        (tm.LinearRegression("m", response="days", terms=["days"]), "a term stands twice"),
        (tm.LinearRegression("m", response="sex", terms=["age"]), "column 'sex' is nominal"),
        (tm.LinearRegression("m", response="days", terms=["sex"], reference={"sex": "z"}), "which it does not have"),
        (tm.LinearRegression("m", response="days", terms=["sex"], reference={"age": "z"}), "which is no term"),
    ],
)
def test_what_cannot_be_analysed(analysis: Analysis, said: str) -> None:
    table = pa.table({"id": [1, 2, 3], "days": [1, 2, 3], "age": [3, 4, 5], "sex": ["f", "m", "f"]})
    roles = {"id": "identifier"}
    schema = tm.Schema(
        [tm.Attribute(one, role=roles.get(one, "quasi_identifier"), **KINDS.get(one, {})) for one in table.column_names]
    )
    with pytest.raises(PlanError, match=said):
        compared(analysis, table, table, schema)


def test_evaluations_have_the_worst_in_their_headline() -> None:
    before, after = (
        pa.table({"days": [1, 2, 3, 8], "age": [1, 2, 3, 4]}),
        pa.table({"days": [2, 2, 2, 9], "age": [1, 2, 3, 4]}),
    )
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("days", "age")])
    asked = [tm.Mean("age", of="age"), tm.Mean("days", of="days")]
    found = tm.evaluate(before, after, schema, attackers=["nearest"], analyses=asked)
    assert found.analyses["age"].overlap == 1
    assert (found.headline["analyses"], found.headline["worst_analysis"]) == (found.analyses["days"].overlap, "days")
    assert found.to_dict()["analyses"]["days"]["before"]["all"]["value"] == 3.5
    assert "Your analysis: days" in found.page()
    assert "analyses" not in tm.evaluate(before, after, schema, attackers=["nearest"]).to_dict()


def test_names_are_their_own() -> None:
    table, schema = pa.table({"age": [1, 2]}), tm.Schema([tm.Attribute("age", role="other", kind="continuous")])
    two = [tm.Mean("m", of="age"), tm.Quantile("m", of="age")]
    with pytest.raises(PlanError, match="several analyses 'm'"):
        tm.evaluate(table, table, schema, analyses=two)


def test_the_weight_of_an_analyst_is_the_released_one() -> None:
    """Who gets a table without weights, or with others, computes with what there is."""
    before = {"days": [1, 2, 3, 6], "w": [1, 1, 1, 7]}
    mean = tm.Mean("m", of="days")
    kept = analysed(mean, before, {**before, "w": [1, 1, 1, 1]}, sampling_weight="w")
    assert (kept.before["all"].value, kept.after["all"].value) == pytest.approx((4.8, 3.0))
