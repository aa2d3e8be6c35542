"""Reverse mapping: the printed tables of the paper, a naive version, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

import taxomask as tm
from taxomask.errors import DataError, PlanError, PromiseError, SchemaError
from taxomask.methods import Masked, Method
from taxomask.methods.reverse_mapping import OriginalValues, ProbabilisticAnonymity, ReverseMapped, ReverseMapping
from taxomask.microdata import read_table
from taxomask.microdata.frames import Frame

from .conftest import SCHEMA, TREE, released, tables

P4 = Path(__file__).parents[1] / "data" / "p4"


@dataclass(frozen=True)
class Replaced(Method):
    """A method that puts given values in place of the original ones."""

    values: Mapping[str, list[Any]] = field(default_factory=dict)
    copies: int = 0
    linked: bool = True

    name = "replaced"
    about = "Puts given values in place of the original ones."
    reference = "none"

    def mask(self, data: tm.Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        n = len(next(iter(self.values.values()))) if self.values else data.n
        source = data if self.linked else data.take(np.resize(np.arange(data.n), n))
        frame = pa.table({name: pa.array(values) for name, values in self.values.items()})
        schema = tm.Schema(data.schema[name] for name in self.values)
        other = source.replace(tm.Microdata.from_frame(frame, schema).columns)
        return Masked(other, copies=(other,) * self.copies, linked=self.linked)

    def promises(self, data: tm.Microdata) -> tuple[()]:
        return ()


def numbers(*names: str) -> tm.Schema:
    return tm.Schema(tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names)


def mapped(x: list[Any], y: list[Any], seed: int = 0, **attribute: Any) -> list[Any]:
    """Original and masked values of one column, to the values released."""
    schema = tm.Schema([tm.Attribute("v", role="confidential", **attribute)])
    release = released(pa.table({"v": x}), schema, ReverseMapping(Replaced({"v": y})), seed)
    values: list[Any] = release["v"].to_pylist()
    return values


# --------------------------------------------------------------------------------------- the tables of the paper


def printed(name: str) -> dict[str, np.ndarray]:
    table = read_table(P4 / f"{name}.csv")
    return {column: table[column].to_numpy() for column in table.column_names}


def test_table_1() -> None:
    t = printed("table1")
    for name in ("s", "x", "y"):
        np.testing.assert_array_equal(rankdata(t[name]), t[f"rank_{name}"])
    assert mapped(t["x"].tolist(), t["y"].tolist(), kind="continuous") == t["z"].tolist()


@pytest.mark.parametrize("method", ["add", "imp"])
def test_table_2_masked_without_ties(method: str) -> None:
    t = printed("table2")
    np.testing.assert_array_equal(t["x"], printed("table1")["x"])
    assert mapped(t["x"].tolist(), t[f"{method}_y"].tolist(), kind="continuous") == t[f"{method}_z"].tolist()


def test_table_2_microaggregation() -> None:
    """The printed Y is what k = 5 gives; the printed Z has, as ours, the x of each group in random order within it."""
    t = printed("table2")
    table = pa.table({"x": t["x"]})
    averaged = tm.protect(table, numbers("x"), tm.Microaggregation(k=5)).data["x"].to_numpy()
    np.testing.assert_allclose(averaged, t["mic_y"])
    assert t["mic_y"].var(ddof=1) == pytest.approx(9246.06, abs=0.005)
    assert t["x"].var(ddof=1) == pytest.approx(10223.51, abs=0.005)
    assert (np.flatnonzero(t["mic_y"] == 1129.80) + 1).tolist() == [1, 2, 5, 10, 16]
    ours = tm.protect(table, numbers("x"), ReverseMapping(tm.Microaggregation(k=5)), seed=3).data["x"].to_numpy()
    for group in np.unique(t["mic_y"]):
        rows = t["mic_y"] == group
        assert sorted(t["mic_z"][rows]) == sorted(ours[rows]) == sorted(t["x"][rows])
    assert (ours != t["x"]).any()


def test_tables_3_and_4() -> None:
    t, risk, loss = printed("table2"), printed("table3"), printed("table4")
    assert round(spearmanr(t["s"], t["x"])[0], 3) == loss["x"][0]
    for method in ("add", "imp", "mic", "swp"):
        assert sorted(t[f"{method}_z"]) == sorted(t["x"])
        assert round(spearmanr(t["x"], t[f"{method}_z"])[0], 3) == risk[method][0]
        assert round(spearmanr(t["s"], t[f"{method}_z"])[0], 3) == loss[method][0]


def test_table_5() -> None:
    t, counts = printed("table2"), printed("table5")
    edges = [0, 1, 2, 3, 4, 5, 6, 11, 16, 21]
    assert counts["change"].tolist() == ["0", "1", "2", "3", "4", "5", "6-10", "11-15", "16-20"]
    for method in ("add", "imp", "mic", "swp"):
        change = np.abs(rankdata(t["x"]) - rankdata(t[f"{method}_z"]))
        np.testing.assert_array_equal(np.histogram(change, edges)[0], counts[method])
    assert np.abs(rankdata(t["x"]) - rankdata(t["imp_z"])).argmax() + 1 == 2  # "as high as 16 (record ID = 2)"


# --------------------------------------------------------------------------------------- the mapping


@settings(max_examples=60)
@given(pairs=st.lists(st.tuples(st.integers(0, 5), st.floats(-9, 9)), min_size=1, max_size=25), seed=st.integers(0, 3))
def test_ranks_are_those_of_the_masked_values(pairs: list[tuple[int, float]], seed: int) -> None:
    x, y = (list(column) for column in zip(*pairs, strict=True))
    z = mapped(x, y, seed, kind="continuous")
    assert sorted(z) == sorted(x)
    assert [z[i] for i in np.lexsort((z, y))] == sorted(x)  # whatever the ties of y


def test_ties_are_broken_at_random() -> None:
    seen = [tuple(mapped([1, 2, 3, 9], [0, 0, 0, 1], seed, kind="continuous")) for seed in range(300)]
    assert all(z[3] == 9 for z in seen)
    assert len(set(seen)) == 6
    assert min(seen.count(z) for z in set(seen)) > 25


def test_ordered_and_plain_categories() -> None:
    scale: dict[str, Any] = {"kind": "ordinal", "order": ["low", "mid", "high"]}
    assert mapped(["low", "mid", "high"], ["high", "low", "mid"], **scale) == ["high", "low", "mid"]
    # by frequency in the original: c (3), a, b (1 each, sorted)
    assert mapped(["a", "b", "c", "c", "c"], ["b", "a", "c", "c", "c"], kind="nominal") == ["b", "a", "c", "c", "c"]


def test_concepts_that_are_not_in_the_original() -> None:
    """Edge weights 2, 2, 1; for the sample a, b, b, c: m(b) = 5, m(c) = 7, m(r) = 2 + 2·2 + 3 = 9, m(a) = 13."""
    tree = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b")])
    kind: dict[str, Any] = {"kind": "taxonomic", "taxonomy": tree, "distance": "edge_weight"}
    assert mapped(["a", "b", "b", "c"], ["b", "r", "a", "c"], **kind) == ["b", "c", "a", "b"]


def test_missing_values() -> None:
    # missing in the original: stays, and what it was masked as does not count
    assert mapped([5, None, 3, 4], [1, 0, 2, 3], kind="continuous") == [3, None, 4, 5]
    # missing in the masked only: any rank, the others keep their order
    seen = [mapped([1, 2, 3, 4], [30, None, 10, 20], seed, kind="continuous") for seed in range(200)]
    assert all(sorted(z) == [1, 2, 3, 4] and z[2] < z[3] < z[0] for z in seen)
    assert {z[1] for z in seen} == {1, 2, 3, 4}
    table = pa.table({"v": [1, 2, 3, None]})
    release = tm.protect(table, numbers("v"), ReverseMapping(Replaced({"v": [9, None, 8, 7]})), seed=1)
    assert "v: 1 missing values stayed where they were." in release.notes
    assert "v: 1 values that were masked out got random ranks." in release.notes


@settings(max_examples=25)
@given(table=tables(least=4), seed=st.integers(0, 5))
def test_any_method_any_kind(table: pa.Table, seed: int) -> None:
    for inner in (tm.Microaggregation(k=2), tm.MicroHybrid(k=2, candidates="domain")):
        found = released(table, SCHEMA, ReverseMapping(inner), seed)
        for name in table.column_names[1:]:
            before, after = table[name].to_pylist(), found[name].to_pylist()
            assert [value is None for value in before] == [value is None for value in after]
            assert sorted(map(str, before)) == sorted(map(str, after))
        assert found.equals(released(table, SCHEMA, ReverseMapping(inner), seed))


def test_only_what_was_changed_or_named() -> None:
    table = pa.table({"a": [1, 2, 3, 4], "b": [4, 3, 2, 1], "c": [1, 1, 2, 2]})
    inner = Replaced({"a": [9, 8, 7, 6], "b": [1, 2, 3, 5]})
    both = tm.protect(table, numbers(*"abc"), ReverseMapping(inner), seed=1)
    assert both.data.to_pydict() == {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4], "c": [1, 1, 2, 2]}
    one = tm.protect(table, numbers(*"abc"), ReverseMapping(inner, attributes=["a"]), seed=1)
    assert one.data.to_pydict() == {"a": [4, 3, 2, 1], "b": [1, 2, 3, 5], "c": [1, 1, 2, 2]}
    assert both.audit["parameters"]["inner"]["name"] == "replaced"


def test_every_copy_is_mapped() -> None:
    table = pa.table({"a": [1, 2, 3, 4]})
    method = ReverseMapping(Replaced({"a": [0, 0, 0, 0]}, copies=20))
    masked = method.mask(tm.Microdata.from_frame(table, numbers("a")), np.random.default_rng(1))
    copies = [copy.to_frame()["a"].to_pylist() for copy in masked.copies]
    assert len(copies) == 20
    assert all(sorted(copy) == [1, 2, 3, 4] for copy in copies)
    assert len(set(map(tuple, copies))) > 5


# --------------------------------------------------------------------------------------- records without a link


def test_unlinked_records_need_a_word() -> None:
    table = pa.table({"a": [1, 2, 3, 4]})
    method = ReverseMapping(Replaced({"a": [9, 8]}, linked=False))
    with pytest.raises(PlanError, match=r'do not come from records of the table.*\n.*unlinked="quantile"'):
        tm.protect(table, numbers("a"), method)
    release = tm.protect(table, numbers("a"), replace(method, unlinked="quantile"), seed=1)
    assert release.data["a"].to_pylist() == [3, 1]  # ⌈½·4/2⌉ = 1 and ⌈1½·4/2⌉ = 3
    assert "as frequent, within 0.5" in release.promise[-1].promise


@settings(max_examples=60)
@given(
    x=st.lists(st.one_of(st.none(), st.sampled_from(sorted(TREE))), min_size=1, max_size=20),
    y=st.lists(st.one_of(st.none(), st.sampled_from(sorted(TREE))), min_size=1, max_size=20),
)
def test_unlinked_records_have_the_original_distribution(x: list[str | None], y: list[str | None]) -> None:
    schema = tm.Schema([tm.Attribute("v", role="confidential", kind="taxonomic", taxonomy=TREE)])
    method = ReverseMapping(Replaced({"v": y}, linked=False), unlinked="quantile")
    table = pa.table({"v": pa.array(x, pa.string())})
    z = released(table, schema, method, seed=1)["v"].to_pylist()
    known = [value for value in x if value is not None]
    assert [value is None for value in z] == [value is None or not known for value in y]
    found = [value for value in z if value is not None]
    if found and len(found) == len(known):
        assert sorted(found) == sorted(known)
    for value in set(known) if found else ():
        assert abs(found.count(value) / len(found) - known.count(value) / len(known)) <= 1 / len(found) + 1e-12


# --------------------------------------------------------------------------------------- what is promised


def microaggregated(x: list[float], k: int = 2) -> tuple[tm.Microdata, Any]:
    data = tm.Microdata.from_frame(pa.table({"a": x}), numbers("a"))
    return data, ReverseMapping(tm.Microaggregation(k=k)).mask(data, np.random.default_rng(0))


def test_probabilistic_anonymity_on_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method = ReverseMapping(tm.Microaggregation(k=5, attributes=["age", "care_days", "dx01", "n_beds", "sex"]))
    release = tm.protect(discharges, discharge_schema, method, seed=1)
    last = release.promise[-1]
    assert last.holds
    assert last.promise.startswith("probabilistic 5-anonymity")
    assert "0 values outside" in last.found
    for name in ("age", "dx01"):
        assert sorted(release.data[name].to_pylist()) == sorted(discharges[name].to_pylist())


def test_the_check_of_anonymity_can_fail() -> None:
    data, masked = microaggregated([1.0, 2, 3, 11, 12, 13], k=3)
    promise = ProbabilisticAnonymity(3, ("a",))
    assert promise.check(data, Frame(masked.data.to_frame()), masked).holds
    moved = pa.table({"a": [1.0, 2, 11, 3, 12, 13]})  # a permutation, but across the groups
    check = promise.check(data, Frame(moved), masked)
    assert not check.holds
    assert "2 values outside the ranks of their class" in check.found
    inner = replace(masked.inner, data=data.replace({"a": data.columns["a"].with_values([2, 2, 3, 12, 12, 12])}))  # type: ignore[attr-defined]
    check = promise.check(data, Frame(masked.data.to_frame()), replace(masked, inner=inner))
    assert not check.holds
    assert "has 1 record" in check.found


def test_the_check_of_the_values_can_fail() -> None:
    data, masked = microaggregated([1.0, 2, 3, 4])
    assert OriginalValues().check(data, Frame(masked.data.to_frame()), masked).holds
    assert not OriginalValues().check(data, Frame(pa.table({"a": [1.0, 2, 3, 5]})), masked).holds
    apart = ReverseMapped(masked.data, linked=False, attributes=("a",))
    assert OriginalValues().check(data, Frame(pa.table({"a": [1.0, 2, 2, 4]})), apart).holds  # one record of four
    assert not OriginalValues().check(data, Frame(pa.table({"a": [1.0, 1, 1, 4]})), apart).holds
    assert not OriginalValues().check(data, Frame(pa.table({"a": [1.0, 2, 3.5, 4]})), apart).holds


def test_missing_cells_do_not_move_so_anonymity_is_not_promised() -> None:
    table = pa.table({"a": [1, 2, None, 4]})
    release = tm.protect(table, numbers("a"), ReverseMapping(tm.Microaggregation(k=2)), seed=1)
    assert not any("anonymity" in check.promise for check in release.promise)
    assert any("probabilistic k-anonymity is not promised" in note for note in release.notes)


def test_a_broken_promise_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.methods import reverse_mapping

    monkeypatch.setattr(reverse_mapping, "placed", lambda column, order, *n: column.take(order[::-1]))
    with pytest.raises(PromiseError, match="outside the ranks"):
        tm.protect(pa.table({"a": [1, 2, 30, 31]}), numbers("a"), ReverseMapping(tm.Microaggregation(k=2)), seed=1)


def test_the_inner_table_is_not_shown() -> None:
    _, masked = microaggregated([1.0, 2, 3, 4])
    assert "inner" not in repr(masked)


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (ReverseMapping("mdav"), PlanError, "inner must be a method; got 'mdav'"),  # type: ignore[arg-type]
        (ReverseMapping(tm.Microaggregation), PlanError, "inner must be a method"),  # type: ignore[arg-type]
        (ReverseMapping(tm.Microaggregation(k=2), unlinked="guess"), PlanError, "unlinked must be"),  # type: ignore[arg-type]
        (ReverseMapping(tm.Microaggregation(k=2), attributes=["c"]), SchemaError, "no coded column 'c'"),
        (ReverseMapping(Replaced({"a": [2, 1]}), attributes=["b"]), SchemaError, "replaced does not change 'b'"),
        (ReverseMapping(Replaced()), DataError, "replaced has changed no column"),
        (ReverseMapping(tm.Microaggregation(k=1)), PlanError, "k must be"),
    ],
)
def test_bad_parameters(method: ReverseMapping, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tm.protect(pa.table({"a": [1, 2], "b": [1, 2]}), numbers("a", "b"), method)
