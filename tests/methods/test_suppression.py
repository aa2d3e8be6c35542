from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import suppression
from taxomask.methods.suppression import suppressed

from .conftest import SCHEMA, tables

DATA = Path(__file__).parents[1] / "data"
QUASI = ["number", "grade", "plain", "concept"]


@given(tables(), st.integers(2, 6), st.permutations(QUASI), st.integers(0, 50))
@settings(max_examples=60)
def test_releases_are_k_anonymous_and_no_value_is_new(table: pa.Table, k: int, importance: Any, seed: int) -> None:
    method = tm.Suppression(k, importance=importance if seed % 2 else None)
    if table.num_rows < k:
        with pytest.raises(tm.DataError, match="too few for a class of k"):
            tm.protect(table, SCHEMA, method)
        return
    release = tm.protect(table, SCHEMA, method, seed=seed)
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    rows = [tuple(row.values()) for row in release.data.select(QUASI).to_pylist()]
    assert min(Counter(rows).values()) >= k
    emptied = 0
    for name in QUASI:
        for old, new in zip(table[name].to_pylist(), release.data[name].to_pylist(), strict=True):
            assert new in (old, None)
            emptied += old != new
    assert f"{emptied} of {4 * table.num_rows} " in next(note for note in release.notes if "suppressed" in note)


def fewest(table: np.ndarray[Any, Any], k: int) -> int:
    """The fewest cells to empty, by trying all."""
    cells = list(product(range(len(table)), range(table.shape[1])))
    for size in range(len(cells) + 1):
        for chosen in combinations(cells, size):
            trial = table.copy()
            for cell in chosen:
                trial[cell] = 9
            if min(Counter(map(tuple, trial.tolist())).values()) >= k:
                return size
    raise AssertionError


def test_never_far_from_the_fewest_cells() -> None:
    """All tables of four records, two binary attributes, k = 2: optimal in most, and never more than 2 cells worse."""
    worse = Counter[int]()
    for values in product(range(4), repeat=4):
        table = np.array([[value // 2, value % 2] for value in values])
        found = suppressed(table, np.array([9, 9]), 2, np.random.default_rng(0))
        assert min(Counter(map(tuple, found.tolist())).values()) >= 2
        worse[int((found != table).sum()) - fewest(table, 2)] += 1
    assert min(worse) >= 0
    assert worse[0] >= 0.9 * worse.total()
    assert max(worse) <= 2


def test_a_record_that_a_class_can_spare_gives_others_values_back() -> None:
    """Four lost their first cell, two lost both; the fourth joins these two, and each of the three loses the second."""
    table = np.array([[0, 1], [1, 1], [2, 1], [3, 1], [3, 2], [3, 3], [4, 4]])
    before = np.array([[9, 1], [9, 1], [9, 1], [9, 1], [9, 9], [9, 9], [9, 9]])
    found = suppression._with_fewer(before, table, np.array([9, 9]), 3)
    # A class of k gives nobody away: the last three stay as they are.
    assert found.tolist() == before.tolist()
    before, table = np.vstack([before, [[9, 9]] * 2]), np.vstack([table, [[5, 5], [6, 6]]])
    found = suppression._with_fewer(before, table, np.array([9, 9]), 3)
    assert found.tolist() == [[9, 1]] * 3 + [[3, 9]] * 3 + [[9, 9]] * 3


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=100)
def test_values_that_come_back_cost_nobody_more(seed: int, k: int) -> None:
    """From any classes of k: still classes of k, values of the table only, and never more cells missing."""
    rng = np.random.default_rng(seed)
    table, missing = rng.integers(0, 4, (rng.integers(8, 40), 3)), np.full(3, 3)
    before = suppressed(
        table, missing, k, rng, np.arange(len(table), dtype=np.int32)
    )  # everybody a person: greedy only
    found = suppression._with_fewer(before, table, missing, k)
    assert min(Counter(map(tuple, found.tolist())).values()) >= k
    assert ((found == table) | (found == missing)).all()
    assert (found == missing).sum() <= (before == missing).sum()


def test_adult() -> None:
    """An integer program finds 5,199 cells, none can be under 5,134."""
    with gzip.open(DATA / "adult" / "adult.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    names = ["age", "education", "marital-status", "race", "sex"]
    table = np.column_stack([np.unique([row[name] for row in rows], return_inverse=True)[1] for name in names])
    missing = table.max(axis=0) + 1
    found = suppressed(table, missing, 3, np.random.default_rng(1))
    assert min(Counter(map(tuple, found.tolist())).values()) >= 3
    assert 5_134 <= (found == missing).sum() <= 5_250


def test_tables_by_hand() -> None:
    def cells(rows: list[str], k: int) -> list[str]:
        table = np.array([["ab*".index(c) for c in row] for row in rows])
        found = suppressed(table, np.full(len(rows[0]), 2), k, np.random.default_rng(0))
        return ["".join("ab*"[i] for i in row) for row in found]

    # Two that differ in one column: that column goes, in these two only.
    assert cells(["aaa", "aab", "bbb", "bbb"], 2) == ["aa*", "aa*", "bbb", "bbb"]
    # The first column is given up before the second when both would do.
    assert cells(["ab", "bb", "ba"], 3) == ["**", "**", "**"]
    assert cells(["ab", "bb", "aa", "ba"], 2) == ["*b", "*b", "*a", "*a"]
    # A record alone takes its neighbours with it, not those that differ in more.
    assert cells(["aa", "aa", "ab", "bb", "bb"], 2) == ["aa", "aa", "*b", "*b", "*b"]
    # A class that can spare a record gives one.
    spared = cells(["aa"] * 4 + ["ab"], 2)
    assert Counter(spared) == {"aa": 3, "a*": 2}
    assert spared[4] == "a*"
    # A missing value is a value: a record joins those with the same missing cell.
    assert cells(["a*", "a*", "ab"], 2) == ["a*", "a*", "a*"]


def test_the_least_important_goes_first(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    names = ["age", "sex", "region"]
    lost = {}
    for order in (names, names[::-1]):
        release = tm.protect(discharges, discharge_schema, tm.Suppression(5, importance=order), seed=1)
        lost[order[0]] = {name: release.data[name].null_count for name in names}
        rows = Counter(tuple(row.values()) for row in release.data.select(names).to_pylist())
        assert min(rows.values()) >= 5
    assert lost["age"]["age"] < lost["region"]["age"]
    assert lost["age"]["region"] > lost["region"]["region"]


def test_a_small_class_stops_the_release(
    discharges: pa.Table, discharge_schema: tm.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppression, "suppressed", lambda table, *_: table)
    with pytest.raises(tm.PromiseError, match="at least k = 3 records"):
        tm.protect(discharges, discharge_schema, tm.Suppression(3))


def test_limits_and_bad_input(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.Suppression(1), "k must be an integer of at least 2; got 1"),
        (tm.Suppression(2001), "the table has 2000 records, too few for a class of k = 2001"),
        (tm.Suppression(5, importance=["age", "age"]), "importance names an attribute twice"),
        (tm.Suppression(5, importance=["dx1"]), "there is no coded column 'dx1'"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    whole = tm.protect(discharges, discharge_schema, tm.Suppression(2000), seed=1).data
    assert all(len(whole[name].unique()) == 1 for name in discharge_schema.quasi_identifiers)
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])
    empty = pa.table({"x": pa.array([None, None], pa.float64())})
    assert tm.protect(empty, schema, tm.Suppression(2)).data.equals(empty)
    same = pa.table({"x": [7, 7, 7]})
    assert tm.protect(same, schema, tm.Suppression(3)).data.equals(same)
