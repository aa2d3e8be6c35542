"""Records at risk, before and after: by hand, with people, and in every place that shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.evaluation import table_risk

TABLE = {"sex": ["f", "f", "f", "m", "m", "m"], "age": [30, 30, 31, 50, 50, 90]}
ATTRIBUTES = [
    tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
    tm.Attribute("age", role="quasi_identifier", kind="continuous"),
]


def evaluated(age: list[int], **people: Any) -> tm.Evaluation:
    """The table, in which only ages were changed."""
    frame = pa.table({**TABLE, **({"who": people.pop("who")} if "who" in people else {})})
    identifiers = [tm.Attribute("who", role="identifier")] if "who" in frame.column_names else []
    schema = tm.Schema([*ATTRIBUTES, *identifiers], **people)
    return tm.evaluate(frame, pa.table({**TABLE, "age": age}), schema)


def test_by_hand() -> None:
    """Before: two pairs, and two who are alone, by their age. After: f and m, three alike each."""
    evaluation = evaluated([30, 30, 30, 60, 60, 60])
    found = evaluation.records_at_risk
    assert found is not None
    assert found.before.tolist() == [0.5, 0.5, 1, 0.5, 0.5, 1]
    assert found.singled_out_before is not None
    assert [found.singled_out_before.singles_out(i) for i in (2, 5)] == [("age",), ("age",)]
    assert evaluation.attackers.nearest.chances[5] == 0  # 60 is nearer to 50 than to 90
    assert found.after[5] == pytest.approx(1 / 3)  # but one of the three must be the one of 90
    assert found.above(0.5) == {"before": 2, "after": 0}
    assert sum(one["before"] for one in found.histogram.values()) == 6
    assert sum(one["after"] for one in found.histogram.values()) == 6
    assert found.histogram["above 0.5"] == {"before": 2, "after": 0}
    assert found.histogram["above 1/3"] == {"before": 4, "after": int((found.after > 1 / 3).sum())}


def test_the_worst_come_first_with_what_singles_them_out() -> None:
    found = evaluated([30, 30, 31, 50, 50, 90]).records_at_risk
    assert found is not None
    first, second, *rest = found.worst()
    assert (first["row"], first["after"], first["columns"]) == (3, 1.0, ["age"])
    assert (second["row"], second["columns_before"]) == (6, ["age"])
    assert [one["after"] for one in rest] == [0.5] * 4
    assert rest[0]["columns"] == []
    assert len(found.worst(3)) == 3


def test_what_nobody_looked_for_is_told() -> None:
    found = evaluated([30, 30, 31, 50, 50, 90]).records_at_risk
    assert found is not None
    found.after[:2] = np.nan
    assert found.histogram["not looked for"]["after"] == 2
    assert found.worst(None)[-1]["after"] is None
    assert sum(one["after"] for one in found.histogram.values()) == 6


def test_people_are_found_by_their_easiest_record() -> None:
    found = evaluated([30, 30, 31, 50, 50, 90], who=["a", "a", "b", "c", "c", "c"], person="who").records_at_risk
    assert found is not None
    assert found.before.tolist() == [1, 1, 1, 1, 1, 1]
    assert found.unit == "people"
    assert found.above(0.9)["before"] == 3


def test_unlinked_tables_have_none() -> None:
    frame = pa.table(TABLE)
    found = tm.evaluate(frame, frame, tm.Schema(ATTRIBUTES), linked=False)
    assert found.records_at_risk is None
    assert "records_at_risk" not in found.to_dict()


def test_report_and_json() -> None:
    found = evaluated([30, 30, 31, 50, 50, 90])
    assert found.to_dict()["records_at_risk"]["above_0.2"] == {"before": 6, "after": 6}
    text = found.page()
    assert "Records at risk" in text
    assert "Who is found most easily" in text


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_release_lists_them_in_the_kind_of_the_table(make: Any) -> None:
    table = make(TABLE)
    release = tm.protect(table, tm.Schema(ATTRIBUTES), tm.Suppression(k=2), seed=5)
    listed = release.records_at_risk(3)
    assert type(listed) is type(table)
    assert len(listed) == 3


def test_a_synthetic_release_says_why_not() -> None:
    frame = pa.table({**TABLE, "age": [30.0, 31, 32, 50, 51, 90]})
    release = tm.protect(frame, tm.Schema(ATTRIBUTES), tm.Imputation(synthesis="full"), seed=5)
    with pytest.raises(tm.DataError, match="not linked"):
        release.records_at_risk()


def test_the_risk_of_a_table_before_it_is_protected() -> None:
    data = tm.Microdata.from_frame(pa.table(TABLE), tm.Schema(ATTRIBUTES))
    found = table_risk(data)
    assert (found.classes.k, found.classes.uniques) == (1, 2)
    assert found.special_uniques.by_size == {1: 2, 2: 0}
    assert found.individual is None
    assert found.population_uniques is None
    assert [one["row"] for one in found.worst(data, 2)] == [3, 6]
    sample = tm.Microdata.from_frame(pa.table(TABLE), tm.Schema(ATTRIBUTES, population_size=60))
    known = table_risk(sample)
    assert known.individual is not None
    np.testing.assert_array_equal(known.chances, known.individual.records)
    assert known.population_uniques is not None
    assert known.special_uniques.fraction == pytest.approx(0.1)
