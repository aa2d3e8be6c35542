from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.methods import marginality_noise
from taxomask.methods._ancestors import cut
from taxomask.taxonomy import Taxonomy

from .conftest import SCHEMA, TREE, released, tables

DX = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])


def block(concept: str, root: str, level: int) -> str:
    """The ancestor at a depth of τ(X), on a tree, from the list of ancestors."""
    path = [one for one in TREE.ancestors(concept) if root in TREE.ancestors(one)]
    return path[min(level, len(path)) - 1]


@given(tables(), st.integers(1, 4), st.floats(0.1, 5), st.integers(0, 100))
@settings(max_examples=40)
def test_every_value_stays_in_its_block(table: pa.Table, level: int, amount: float, seed: int) -> None:
    method = tm.MarginalityNoise(amount, level=level)
    result = released(table, SCHEMA, method, seed)
    assert result.equals(released(table, SCHEMA, method, seed))
    before, after = table["concept"].to_pylist(), result["concept"].to_pylist()
    present = [one for one in before if one is not None]
    assert set(after) <= set(before)
    for old, new in zip(before, after, strict=True):
        assert (old is None) == (new is None)
        if old is not None:
            root = TREE.lcs(present)
            assert block(old, root, level) == block(new, root, level)


def test_the_nearest_marginality_of_the_block_by_hand() -> None:
    """Below b there are b11 (3 times), b12 and b2; b12 lies nearer to b11 than b2 does."""
    values = ["a1"] * 4 + ["b11"] * 3 + ["b12", "b2"]
    m = dict(zip(values, tm.marginality(values, TREE).tolist(), strict=True))
    assert m["b11"] < m["b12"] < m["b2"]
    schema = tm.Schema([tm.Attribute("x", role="quasi_identifier", kind="taxonomic", taxonomy=TREE)])
    inside = np.array([m["b11"]] * 3 + [m["b12"], m["b2"]])
    names, levels = ["b11", "b12", "b2"], np.array([m["b11"], m["b12"], m["b2"]])
    for seed in range(30):
        data = tm.Microdata.from_frame(pa.table({"x": values}), schema)
        result = tm.MarginalityNoise(1.0).mask(data, np.random.default_rng(seed)).data.to_frame()
        noise = np.random.default_rng(seed).standard_normal(9)[4:]
        nearest = np.abs((inside + inside.std() * noise)[:, None] - levels).argmin(axis=1)
        assert result["x"].to_pylist() == ["a1"] * 4 + [names[i] for i in nearest]


def test_equal_marginalities_are_drawn_by_frequency_and_never_exchanged() -> None:
    """c1 and c2 have the same marginality: what leaves d1 goes to both alike, and they never become each other."""
    tree = Taxonomy.from_edges(
        [(c, p) for p, cs in {"r": "cdx", "c": ["c1", "c2"], "d": ["d1"], "x": ["x1"]}.items() for c in cs]
    )
    values = ["c1"] * 50 + ["c2"] * 50 + ["d1"] * 2000 + ["x1"]
    schema = tm.Schema([tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=tree)])
    release = tm.protect(pa.table({"v": values}), schema, tm.MarginalityNoise(3.0, level=1), seed=2)
    after = release.data["v"].to_pylist()
    assert set(after[:100]) <= {"c1", "c2", "d1", "x1"}
    assert not [1 for old, new in zip(values, after, strict=True) if {old, new} == {"c1", "c2"}]
    moved = Counter(after[100:2100])
    assert moved["c1"] > 100
    assert moved["c1"] / (moved["c1"] + moved["c2"]) == pytest.approx(0.5, abs=0.1)


def test_blocks_of_a_dag_follow_the_first_parent_within_the_scope() -> None:
    dag = Taxonomy.from_edges([("a", "r"), ("b", "r"), ("x", "a"), ("x", "b"), ("y", "b"), ("z", "x"), ("z", "y")])
    positions = np.array([dag.position(one) for one in "xyz"])
    assert dag.names(cut(dag, positions, 2)) == ["a", "b", "a"]
    below_b = dag.scope(positions[[1, 2]])  # τ is b and what is below it
    assert dag.ids[below_b.root] == "b" or dag.ids[below_b.root] == "y"
    scope = dag.scope(np.array([dag.position("x"), dag.position("y")]))
    assert dag.ids[scope.root] == "b"
    assert dag.names(cut(dag, positions, 1, scope.depth)) == ["b", "b", "b"]
    assert dag.names(cut(dag, positions, 2, scope.depth)) == ["x", "y", "x"]


def test_with_several_taxonomies_the_first_makes_the_blocks() -> None:
    other = Taxonomy.from_edges([("a1", "one"), ("b2", "one"), ("new", "two"), ("one", "top"), ("two", "top")])
    schema = tm.Schema([tm.Attribute("v", role="quasi_identifier", kind="taxonomic", taxonomy=[TREE, other])])
    values = ["a1", "a2", "a1", "b2", "b11", "new", "b12", None] * 20
    release = tm.protect(pa.table({"v": values}), schema, tm.MarginalityNoise(3.0), seed=1)
    after = release.data["v"].to_pylist()
    assert [v and v[0] for v in after] == [v and v[0] for v in values]
    assert after != values


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    icd = Taxonomy.builtin("icd9cm")
    release = tm.protect(discharges, discharge_schema, tm.MarginalityNoise(0.5, level=3), seed=5)
    before, after = discharges["dx01"].to_pylist(), release.data["dx01"].to_pylist()
    changed = [(x, y) for x, y in zip(before, after, strict=True) if x != y]
    assert 0.2 < len(changed) / len(before) < 0.95
    assert f"dx01: {len(changed):,} of 2,000" in release.notes[0]
    assert all(icd.ancestors(x)[:3] == icd.ancestors(y)[:3] for x, y in changed if icd[x].depth >= 3)
    mild = tm.protect(discharges, discharge_schema, tm.MarginalityNoise(0.01, level=3), seed=5)
    assert sum(x != y for x, y in zip(before, mild.data["dx01"].to_pylist(), strict=True)) < len(changed) / 3


def test_leaving_a_block_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"dx": ["25001", "25002", "2720", "4019", "4010"] * 20})
    honest = marginality_noise._noisy
    one_block = lambda column, block, *rest: honest(column, np.zeros_like(block), *rest)  # noqa: E731
    monkeypatch.setattr(marginality_noise, "_noisy", one_block)
    with pytest.raises(tm.PromiseError, match="every value of dx stays in its block at depth 2"):
        tm.protect(table, DX, tm.MarginalityNoise(5.0), seed=1)


def test_bad_input_is_an_error(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    for method, message in (
        (tm.MarginalityNoise(0), "amount must be a number above 0"),
        (tm.MarginalityNoise(level=0), "level must be an integer of at least 1"),
        (tm.MarginalityNoise(attributes=["age"]), "marginality_noise cannot treat 'age', which is continuous"),
    ):
        with pytest.raises(tm.TaxomaskError, match=message):
            tm.protect(discharges, discharge_schema, method)
    constant = pa.table({"dx": ["4019", "4019", None]})
    assert released(constant, DX, tm.MarginalityNoise()).equals(constant)
    empty = pa.table({"dx": pa.array([None, None], pa.string())})
    assert tm.protect(empty, DX, tm.MarginalityNoise()).data["dx"].null_count == 2
