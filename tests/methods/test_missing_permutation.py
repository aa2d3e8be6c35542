"""Missing cells are moved to random records; values stay, and what still holds is claimed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods.missing_permutation import MOVABLE, MissingPermutation
from taxomask.microdata import Microdata
from taxomask.microdata.files import read_table

ROLES = tm.Schema(
    [
        tm.Attribute("age", role="quasi_identifier", kind="continuous"),
        tm.Attribute("job", role="quasi_identifier", kind="nominal"),
        tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm"),
    ]
)


def gappy(n: int, share: float, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    codes = ["25000", "4019", "41401", "4280", "486"]
    columns = {
        "age": rng.integers(20, 90, n).tolist(),
        "job": [f"job {i}" for i in rng.integers(0, 6, n)],
        "dx": [codes[i] for i in rng.integers(0, 5, n)],
    }
    gone = rng.random((3, n)) < share
    return pa.table({name: [None if no else value for value, no in zip(column, none, strict=True)]
                     for (name, column), none in zip(columns.items(), gone, strict=True)})  # fmt: skip


METHODS = [
    tm.RankSwapping(p=20, attributes=("age", "job", "dx")),
    tm.RankSwapping(p=20, algorithm=3, attributes=("age", "job", "dx")),
    tm.RandomSwapping(("age", "job", "dx")),
    tm.DistributionalSwapping(p=20, attributes=("job", "dx")),
    tm.NumericalSwapping(p=20, attributes=("age",)),
    tm.TopologicalSwapping(p=20, attributes=("dx",)),
    tm.Noise(0.3, attributes=("age",)),
    tm.MultiplicativeNoise(0.3, attributes=("age",)),
    tm.MarginalityNoise(0.9, level=1, attributes=("dx",)),
    tm.Pram(0.5, attributes=("job", "dx")),
    tm.MicroHybrid(3, attributes=("age", "job", "dx")),
    tm.ReverseMapping(tm.Noise(0.3, attributes=("age",))),
    tm.Shuffling(("dx",), given=("age",)),
    tm.Imputation(("job",), given=("age",)),
]


def test_every_method_that_can_is_tried() -> None:
    assert {type(one) for one in METHODS} == set(MOVABLE)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_gaps_move_and_values_stay(method: tm.Method) -> None:
    table = gappy(80, 0.3, 1)
    kept = tm.protect(table, ROLES, method, seed=5)
    moved = tm.protect(table, ROLES, method, seed=5, missing_cells="permute")
    assert kept.data.equals(tm.protect(table, ROLES, method, seed=5, missing_cells="keep").data)
    for name in kept.protected:
        before, after = table[name].is_null().to_numpy(), moved.data[name].is_null().to_numpy()
        assert before.sum() == after.sum()
        assert 0 < (before & after).sum() < before.sum()  # a random set of as many records
    assert all(check.holds for check in moved.promise)
    assert any("these in records drawn at random" in check.promise for check in moved.promise)
    assert not any("that were missing are missing" in check.promise for check in moved.promise)
    assert any("that were missing are missing" in check.promise for check in kept.promise)
    for name in moved.untouched:
        assert moved.data[name].equals(table[name])


def test_all_sets_of_records_are_as_likely() -> None:
    table = pa.table({"age": [1, None, 3, None, 5]})
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    data, rng = Microdata.from_frame(table, schema), np.random.default_rng(3)
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(2000):
        column = MissingPermutation().mask(data, rng).data.columns["age"]
        found[tuple(np.flatnonzero(column.missing).tolist())] += 1
        assert sorted(column.values[~column.missing].tolist()) == [1, 3, 5]
    assert set(found) == set(combinations(range(5), 2))
    assert sum((count - 200) ** 2 / 200 for count in found.values()) < 27.9  # chi-squared, 9 degrees of freedom, 0.1 %


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=12), st.integers(0, 2**32))
def test_the_same_values_in_other_records(values: list[int | None], seed: int) -> None:
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="continuous")])
    data = Microdata.from_frame(pa.table({"x": pa.array(values, pa.int64())}), schema)
    masked = MissingPermutation().mask(data, np.random.default_rng(seed))
    before, after = data.columns["x"], masked.data.columns["x"]
    both = ~before.missing & ~after.missing
    assert np.array_equal(before.numbers()[both], after.numbers()[both])  # only those that make room move
    assert np.array_equal(np.sort(before.numbers()), np.sort(after.numbers()), equal_nan=True)


@pytest.mark.parametrize(
    "method", [tm.Microaggregation(3), tm.Generalisation(2), tm.Imputation(synthesis="full")], ids=str
)
def test_where_it_would_undo_a_promise_it_is_refused(method: tm.Method) -> None:
    with pytest.raises(tm.PlanError, match="missing_cells: permute does not go with"):
        tm.protect(gappy(40, 0.2, 2), ROLES, method, missing_cells="permute")
    with pytest.raises(tm.PlanError, match="missing_cells must be 'keep' or 'permute'; got 'move'"):
        tm.protect(gappy(40, 0.2, 2), ROLES, method, missing_cells="move")


def test_a_plan_says_it_and_every_engine_gives_the_same(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(gappy(200, 0.3, 4), tmp_path / "in.parquet")
    plan = """
data: in.parquet
attributes:
  - {name: age, role: quasi_identifier, kind: continuous}
  - {name: job, role: quasi_identifier, kind: nominal}
  - {name: dx, role: confidential, kind: taxonomic, taxonomy: icd9cm}
method: {name: random_swapping, attributes: [age, job, dx]}
missing_cells: permute
seed: 36893488147419103232
"""
    found = []
    for engine in ("memory", "local"):
        path = tmp_path / f"{engine}.yaml"
        path.write_text(f"{plan}engine: {engine}\noutput: {{path: {engine}.parquet}}\n")
        done = tm.run(path)
        assert "missing_permutation" in str(done.release.method)
        found.append(read_table(tmp_path / f"{engine}.parquet"))
    assert found[0].equals(found[1])
    (tmp_path / "wrong.yaml").write_text(plan.replace("permute", "shuffle"))
    with pytest.raises(tm.PlanError, match="missing_cells"):
        tm.run(tmp_path / "wrong.yaml", output=str(tmp_path / "x.parquet"))
