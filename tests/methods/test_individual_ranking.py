from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import Masked
from taxomask.methods.individual_ranking import SharedValues
from taxomask.microdata.frames import Frame

from .conftest import SCHEMA, release_of, tables

ORDERED = ["number", "grade", "concept"]
AGES = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])


@given(tables(least=4), st.integers(2, 4), st.sampled_from(["taxonomy", "marginality"]))
@settings(max_examples=60)
def test_k_records_share_every_value_of_each_column(table: pa.Table, k: int, order: Any) -> None:
    release = release_of(table, SCHEMA, tm.IndividualRanking(k, order=order, attributes=ORDERED), 1)
    if release is None:  # not one value changed: such a table is not released
        return
    for name in ORDERED:
        assert min(Counter(release.data[name].to_pylist()).values()) >= k
    assert release.data["plain"].equals(table["plain"])


def test_the_loss_is_the_least_and_columns_do_not_look_at_each_other() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"age": rng.integers(0, 90, 300), "pay": rng.lognormal(8, 1, 300)})
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("age", "pay")])
    both = tm.protect(table, schema, tm.IndividualRanking(5), seed=1).data
    one = tm.protect(table, schema, tm.IndividualRanking(5, attributes=["pay"]), seed=2).data
    assert both["pay"].equals(one["pay"])
    micro = tm.protect(table, schema, tm.Microaggregation(5, attributes=["pay"]), seed=2).data
    assert both["pay"].equals(micro["pay"])  # one number by itself: the same groups
    mdav = tm.protect(table, schema, tm.Microaggregation(5, algorithm="mdav", attributes=["pay"]), seed=2).data
    before = table["pay"].to_numpy()
    losses = [float(((before - found["pay"].to_numpy()) ** 2).sum()) for found in (micro, mdav)]
    assert losses[0] < losses[1]


def test_it_says_that_combinations_are_not_covered(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    names = ["age", "care_days", "dx01", "n_beds"]
    release = tm.protect(discharges, discharge_schema, tm.IndividualRanking(5, attributes=names), seed=1)
    last = release.promise[-1]
    assert last.holds
    assert last.promise == (
        "in each of age, care_days, dx01, n_beds by itself at least k = 5 records share every value; their "
        "combinations are not covered"
    )
    rows = Counter(zip(*(release.data[name].to_pylist() for name in names), strict=True))
    alone = sum(count == 1 for count in rows.values())
    assert alone > 1000
    assert f"{alone:,} of 2,000 records have a combination of their own" in last.found


def test_plain_categories_are_refused(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    with pytest.raises(tm.SchemaError, match=r"cannot treat 'sex', 'region': plain categories have no order") as error:
        tm.protect(discharges, discharge_schema, tm.IndividualRanking(5))
    assert "attributes=[age, n_beds, care_days, dx01]" in error.value.hint


def test_a_table_that_has_it_already_is_not_released() -> None:
    """Unlike k-anonymity it protects nobody by itself."""
    with pytest.raises(tm.PromiseError, match="no cell of age changed"):
        tm.protect(pa.table({"age": [1, 1, 5, 5]}), AGES, tm.IndividualRanking(2), seed=1)


def test_missing_cells_are_counted() -> None:
    filled = tm.protect(pa.table({"age": [1.0, 2, 3, None, 7, 8, 9]}), AGES, tm.IndividualRanking(3), seed=1)
    assert filled.data["age"].to_pylist() == [2, 2, 2, 2, 8, 8, 8]  # the (lower) middle one of the present values is 3
    assert "age: 1 missing cells, too few for a group, got the value of the middle one." in filled.notes
    emptied = tm.protect(pa.table({"age": [1.0, 2, None, None, None]}), AGES, tm.IndividualRanking(3), seed=1)
    assert emptied.data["age"].to_pylist() == [None] * 5
    assert "age: 2 values, too few for a group, became missing." in emptied.notes
    kept = tm.protect(pa.table({"age": [1.0, 2, 4, None, None, None]}), AGES, tm.IndividualRanking(3), seed=1)
    assert kept.data["age"].to_pylist() == [2.33, 2.33, 2.33, None, None, None]


def test_people_are_counted() -> None:
    schema = tm.Schema([tm.Attribute("who", role="identifier"), *AGES.values()], person="who")
    table = pa.table({"who": ["a", "a", "b", "c", "d", "e"], "age": [1, 2, 3, 4, 50, 51]})
    release = tm.protect(table, schema, tm.IndividualRanking(2), seed=1)
    assert release.data["age"].to_pylist() == [2.5, 2.5, 2.5, 2.5, 50.5, 50.5]
    assert "at least k = 2 different people share every value" in release.promise[-1].promise


def test_the_check_can_fail() -> None:
    data = tm.Microdata.from_frame(pa.table({"age": [1, 2, 3]}), AGES)
    check = SharedValues(2, ("age",)).check(data, Frame(pa.table({"age": [1, 1, 3]})), Masked(data))
    assert not check.holds
    assert check.found == "the rarest value has 1 records; 1 of 3 records have a combination of their own"
