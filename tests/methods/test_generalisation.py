from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import generalisation
from taxomask.methods._ladders import ladder
from taxomask.taxonomy import Taxonomy

from .conftest import SCHEMA, TREE, tables

QUASI = ["number", "grade", "plain", "concept"]
GRADES = ["low", "mid", "high", "top"]


@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 50))
@settings(max_examples=60)
def test_releases_are_k_anonymous_within_the_limit(table: pa.Table, k: int, share: float, seed: int) -> None:
    method = tm.Generalisation(k, suppression=share)
    if table.num_rows < k:
        with pytest.raises(tm.DataError, match="too few for a class of k"):
            tm.protect(table, SCHEMA, method)
        return
    release = tm.protect(table, SCHEMA, method, seed=seed)
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    rows = [tuple(row.values()) for row in release.data.select(QUASI).to_pylist()]
    assert min(Counter(rows).values()) >= k
    note = next(note for note in release.notes if "records suppressed" in note)
    assert int(note.split(" of ")[0]) <= share * table.num_rows
    for name in QUASI:
        pairs = list(zip(table[name].to_pylist(), release.data[name].to_pylist(), strict=True))
        assert all(new is None for old, new in pairs if old is None)
        written = [(old, new) for old, new in pairs if new is not None]
        if name == "plain":
            assert all(old == new for old, new in written)
        elif name == "concept":
            assert all(new in TREE.ancestors(old) for old, new in written)
        else:  # what is between two values of an interval is in the interval
            order = GRADES.index if name == "grade" else float
            ranked = sorted((order(old), order(new)) for old, new in written)
            assert all(a[1] <= b[1] for a, b in pairwise(ranked))


def test_a_table_by_hand() -> None:
    """v has most values and goes up first; then there are 2 x 2 classes of 2, and one more record to suppress."""
    table = pa.table(
        {
            "v": ["a1", "a2", "a1", "a2", "b11", "b12", "b11", "b12", None],
            "sex": ["f", "f", "m", "m", "f", "f", "m", "m", "f"],
        }
    )
    schema = tm.Schema(
        [
            tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=TREE),
            tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        ]
    )
    # The record with a missing value is alone. Suppressing it needs a second one, which would leave a class of one:
    # v goes up to r, of which 4 and 4 are left, and one of them goes with it.
    release = tm.protect(table, schema, tm.Generalisation(2, suppression=0.25), seed=1)
    assert Counter(zip(*release.data.to_pydict().values(), strict=True))[None, None] == 2
    assert release.notes[1:3] == ("Generalised to: v at depth 1; sex as it is.", "2 of 9 (22.2 %) records suppressed.")
    # Without it all goes well at depth 2.
    release = tm.protect(table.slice(0, 8), schema, tm.Generalisation(2, suppression=0))
    assert release.data["v"].to_pylist() == ["a"] * 4 + ["b"] * 4
    assert release.data["sex"].equals(table["sex"].slice(0, 8))
    # With no suppression allowed, v must go altogether.
    release = tm.protect(table, schema, tm.Generalisation(2, suppression=0))
    assert release.data["v"].null_count == 9
    assert release.data["sex"].equals(table["sex"])


def test_intervals_by_hand() -> None:
    data = tm.Microdata.from_frame(
        pa.table({"x": [1.0, 2, 3, 4, 100, None, 1], "g": ["low", "low", "mid", "top", "top", "top", None]}),
        tm.Schema(
            [
                tm.Attribute("x", role="quasi_identifier", kind="continuous"),
                tm.Attribute("g", role="quasi_identifier", kind="ordinal", order=GRADES),
            ]
        ),
    )
    x: Any = ladder(data.columns["x"])
    assert x.last == 4  # five values: 8, 4, 2 and 1 intervals, the first of which would change nothing
    written = [x.written(step).values.tolist() for step in range(5)]
    # Middle ranks of the values: 1, 2.5, 3.5, 4.5, 5.5 of 6; in quarters 0, 1, 2, 3, 3, in halves 0, 0, 1, 1, 1.
    np.testing.assert_equal(written[0], [1, 2, 3, 4, 100, np.nan, 1])
    np.testing.assert_equal(written[1], [1, 2, 3, 52, 52, np.nan, 1])
    np.testing.assert_allclose(written[2], [4 / 3, 4 / 3, 107 / 3, 107 / 3, 107 / 3, np.nan, 4 / 3])
    np.testing.assert_allclose(written[3], [18.5] * 5 + [np.nan, 18.5])
    assert np.isnan(written[4]).all()
    g: Any = ladder(data.columns["g"])
    # Middle ranks: low 1, mid 2.5, top 4.5 of 6: halves 0, 0, 1; then the median of all, the third of six.
    assert [GRADES[i] if i >= 0 else None for i in g.written(1).codes] == ["low"] * 3 + ["top"] * 3 + [None]
    assert [GRADES[i] if i >= 0 else None for i in g.written(2).codes] == ["mid"] * 6 + [None]


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    icd = Taxonomy.builtin("icd9cm")
    release = tm.protect(discharges, discharge_schema, tm.Generalisation(5), seed=1)
    names = discharge_schema.quasi_identifiers
    rows = Counter(tuple(row.values()) for row in release.data.select(list(names)).to_pylist())
    assert min(rows.values()) >= 5
    assert len(rows) > 20
    assert rows[(None,) * len(names)] <= 100
    for old, new in zip(discharges["dx01"].to_pylist(), release.data["dx01"].to_pylist(), strict=True):
        assert new is None or new in icd.ancestors(old)


def test_a_small_class_stops_the_release(
    discharges: pa.Table, discharge_schema: tm.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = lambda self, *_: np.zeros(len(self.number), dtype=bool)  # noqa: E731
    monkeypatch.setattr(generalisation._Search, "suppressed", nothing)
    with pytest.raises(tm.PromiseError, match="at least k = 3 records"):
        tm.protect(discharges, discharge_schema, tm.Generalisation(3))


def test_limits_and_bad_input(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method: Any
    for method, message in (
        (tm.Generalisation(1), "k must be an integer of at least 2; got 1"),
        (tm.Generalisation(2001), "the table has 2000 records, too few for a class of k = 2001"),
        (tm.Generalisation(5, suppression=5), "suppression must be a number of at least 0 and at most 1; got 5"),
        (tm.Generalisation(5, suppression=float("nan")), "suppression must be a number of at least 0 and at most 1"),
        (tm.Generalisation(5, attributes=["race"]), "there is no coded column 'race'"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    whole = tm.protect(discharges, discharge_schema, tm.Generalisation(2000)).data
    assert all(len(whole[name].unique()) == 1 for name in discharge_schema.quasi_identifiers)
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])
    empty = pa.table({"x": pa.array([None, None], pa.float64())})
    assert tm.protect(empty, schema, tm.Generalisation(2)).data.equals(empty)
    same = pa.table({"x": [7, 7, 7]})
    assert tm.protect(same, schema, tm.Generalisation(3)).data.equals(same)
