from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from taxomask.measures.combining import combine
from taxomask.methods import Masked
from taxomask.methods._imputation.branches import branches
from taxomask.methods._imputation.categories import halvings
from taxomask.methods._imputation.predictors import Encoder
from taxomask.microdata import read_table

from .conftest import SCHEMA, TREE, release_of, tables

NAMES = ["number", "grade", "plain", "concept"]
NEOPLASMS = Path(__file__).parents[1] / "data" / "nhds2010" / "neoplasm.csv.gz"


def coded(columns: dict[str, Any], *, confidential: list[str], **kinds: Any) -> tm.Microdata:
    """Columns as coded data; continuous, unless another kind (or an attribute's options) is given."""

    def attribute(name: str) -> tm.Attribute:
        options = kinds.get(name, "continuous")
        options = {"kind": options} if isinstance(options, str) else options
        return tm.Attribute(name, role="confidential" if name in confidential else "quasi_identifier", **options)

    return tm.Microdata.from_frame(pa.table(columns), tm.Schema([attribute(name) for name in columns]))


def masked(data: tm.Microdata, seed: int = 0, **parameters: Any) -> Masked:
    return tm.Imputation(**parameters).mask(data, np.random.default_rng(seed))


# --------------------------------------------------------------------------------------- what is promised


@given(tables(least=1), st.permutations(NAMES), st.integers(1, 4), st.integers(0, 100))
@settings(max_examples=40)
def test_values_are_observed_and_missing_cells_stay(table: pa.Table, order: list[str], count: int, seed: int) -> None:
    method = tm.Imputation(attributes=order[:count])
    release = release_of(table, SCHEMA, method, seed)
    if release is None:  # nothing changed, by chance or because equal values were swapped
        return
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    for name in NAMES:
        before, after = table[name].to_pylist(), release.data[name].to_pylist()
        if name in order[:count]:
            assert [value is None for value in before] == [value is None for value in after]
            assert set(after) <= set(before)
        else:
            assert before == after
    assert release.data["rest"].equals(table["rest"])


@given(tables(least=1), st.integers(1, 40), st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=40)
def test_fully_synthetic_tables_have_new_records(table: pa.Table, records: int, copies: int, seed: int) -> None:
    schema = tm.Schema(SCHEMA[name] for name in ["id", *NAMES])
    method = tm.Imputation(synthesis="full", records=records, copies=copies)
    release = release_of(table.drop_columns(["rest"]), schema, method, seed=seed)
    if release is None:  # of a table of equal records all that can be drawn may be the table itself
        return
    assert len(release.copies) == (copies if copies > 1 else 0)
    for copy in release.copies or (release.data,):
        assert copy.column_names == NAMES
        assert copy.num_rows == records
        for name in NAMES:
            assert set(copy[name].to_pylist()) <= set(table[name].to_pylist())


def test_copies_differ_and_the_first_is_the_release() -> None:
    rng = np.random.default_rng(0)
    data = coded({"x": rng.normal(size=50), "y": rng.normal(size=50)}, confidential=["y"])
    result = masked(data, copies=3)
    assert result.linked
    assert result.data is result.copies[0]
    first, second, third = (copy.columns["y"].values for copy in result.copies)  # type: ignore[attr-defined]
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)
    assert result.data.columns["x"] is data.columns["x"]
    whole = masked(data, synthesis="full")
    assert not whole.linked
    assert whole.copies == ()


def test_a_broken_promise_stops_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.methods._imputation.scales import ScaleModel

    honest = ScaleModel.draw
    table = pa.table({"y": [1.0, 2.0, 3.0]})
    schema = tm.Schema([tm.Attribute("y", role="confidential", kind="continuous")])
    monkeypatch.setattr(ScaleModel, "draw", lambda self, x, rng: honest(self, x, rng) * 0)
    assert tm.protect(table, schema, tm.Imputation(), seed=1).data["y"].to_pylist() == [1, 1, 1]
    monkeypatch.setattr(tm.Microdata, "replace", lambda self, columns: self.__class__.from_frame(other, schema))
    other = pa.table({"y": [1.0, 2.5, None]})
    with pytest.raises(tm.PromiseError, match="1 other values, 1 missing cells moved"):
        tm.protect(table, schema, tm.Imputation(), seed=1)


# --------------------------------------------------------------------------------------- draws follow the models


def test_the_posterior_of_a_linear_model() -> None:
    """A slope estimated from a copy varies by the posterior variance and as much again by the noise of the values."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = 1 + 2 * x + rng.normal(size=400)
    data = coded({"x": x, "y": y}, confidential=["y"])

    def slope(values: Any) -> float:
        return float(np.polyfit(x, values, 1)[0])

    found = [slope(copy.columns["y"].values) for copy in masked(data, copies=150).copies]  # type: ignore[attr-defined]
    expected = 2 * np.var(y - np.polyval(np.polyfit(x, y, 1), x), ddof=2) / (400 * x.var())
    assert np.mean(found) == pytest.approx(slope(y), abs=4 * np.sqrt(expected / 150))
    assert np.var(found) == pytest.approx(expected, rel=0.35)  # 3 standard errors of a variance from 150 values


@pytest.mark.parametrize("shape", ["skewed", "few values", "two values"])
def test_margins_and_rank_correlations_of_numbers(shape: str) -> None:
    rng = np.random.default_rng(5)
    x = np.where(rng.random(3000) < 0.3, 3.0, 0.0) + rng.normal(size=3000)  # not normal
    z = x + rng.normal(size=3000)
    y = {"skewed": np.exp(z), "few values": np.clip(np.floor(z), -1, 3), "two values": (z > 3).astype(float)}[shape]
    data = coded({"x": x, "y": y}, confidential=["y"])
    copies = [copy.columns["y"].values for copy in masked(data, copies=40).copies]  # type: ignore[attr-defined]
    levels = np.quantile(y, [0.1, 0.3, 0.5, 0.7, 0.9])
    for level in levels:
        share = np.mean(y <= level)
        below = [np.mean(copy <= level) for copy in copies]
        assert np.mean(below) == pytest.approx(share, abs=4 * np.sqrt(2 * 0.25 / 3000 / 40) + 0.004)

    def correlation(values: Any) -> float:
        ranks = [np.unique(one, return_inverse=True)[1] for one in (x, values)]
        return float(np.corrcoef(*ranks)[0, 1])

    assert np.mean([correlation(copy) for copy in copies]) == pytest.approx(correlation(y), abs=0.015)


def test_ordered_categories_follow_known_probabilities() -> None:
    """An ordered probit model: the cuts -1, 0, 1 of a normal score with means 0 and 1.2."""
    rng = np.random.default_rng(1)
    group = np.arange(4000) % 2
    levels = np.searchsorted([-1, 0, 1], 1.2 * group + rng.normal(size=4000))
    scale = ["low", "mid", "high", "top", "never"]
    kinds = {"group": "nominal", "grade": {"kind": "ordinal", "order": scale}}
    data = coded({"group": group, "grade": np.array(scale)[levels]}, confidential=["grade"], **kinds)
    drawn = np.stack([copy.columns["grade"].codes for copy in masked(data, copies=40).copies])  # type: ignore[attr-defined]
    for one, shares in ((0, [0.1587, 0.3413, 0.3413, 0.1587, 0]), (1, [0.0139, 0.1012, 0.3056, 0.5793, 0])):
        found = np.bincount(drawn[:, group == one].ravel(), minlength=5) / (40 * 2000)
        assert found == pytest.approx(shares, abs=0.025)  # the sample itself is up to 0.02 off


def test_categories_follow_known_probabilities() -> None:
    """A model with a share of its own for every category and group: copies follow the sample, which is known."""
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1, 2], 1000)
    chances = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.6, 0.05, 0.3, 0.05]])
    codes = np.array([rng.choice(4, p=chances[one]) for one in group])
    kinds = {"group": "nominal", "kind": "nominal"}
    data = coded({"group": group, "kind": codes}, confidential=["kind"], **kinds)
    copies = [copy.columns["kind"].codes for copy in masked(data, copies=100).copies]  # type: ignore[attr-defined]
    for one in range(3):
        counts = np.array([np.bincount(copy[group == one], minlength=4) for copy in copies])
        sample = np.bincount(codes[group == one], minlength=4)
        variance = 2 * sample * (1 - sample / 1000)
        assert (np.abs(counts.mean(axis=0) - sample) < 4 * np.sqrt(variance / 100) + 4).all()
        assert counts.var(axis=0) == pytest.approx(variance, rel=0.6)


def test_without_predictors_the_walk_is_the_bayesian_bootstrap() -> None:
    """Counts are Dirichlet-multinomial: mean n·p, variance 2n²/(n+1)·p(1-p), whatever the tree."""
    values = ["a"] * 5 + ["a1"] * 30 + ["a2"] * 1 + ["b11"] * 44 + ["b12"] * 15 + ["b2"] * 5
    data = coded({"x": values}, confidential=["x"], x={"kind": "taxonomic", "taxonomy": TREE})
    column: Any = data.columns["x"]
    drawn = [copy.columns["x"].counts for copy in masked(data, copies=4000).copies]  # type: ignore[attr-defined]
    p = column.counts / 100
    assert np.mean(drawn, axis=0) == pytest.approx(column.counts, abs=0.6)
    assert np.var(drawn, axis=0) == pytest.approx(2 * 100**2 / 101 * p * (1 - p), rel=0.12)


def test_a_perfect_separation_is_kept() -> None:
    sex = np.array(["f", "m"] * 300)
    values = np.where(sex == "f", "a1", "b11")
    values[:60] = "b2"
    kinds = {"sex": "nominal", "x": {"kind": "taxonomic", "taxonomy": TREE}}
    data = coded({"sex": sex, "x": values}, confidential=["x"], **kinds)
    wrong = 0
    for copy in masked(data, copies=20).copies:
        column: Any = copy.columns["x"]
        drawn = np.array(column.categories)[column.codes]
        wrong += int(((drawn == "a1") & (sex == "m")).sum() + ((drawn == "b11") & (sex == "f")).sum())
    assert wrong < 0.01 * 20 * 600


def test_missing_values_of_fully_synthetic_tables_depend_on_the_rest() -> None:
    group = np.repeat(["p", "q"], 500)
    values = [None if i < 400 else float(i % 7) for i in range(1000)]
    data = coded({"group": group, "y": pa.array(values)}, confidential=["y"], group="nominal")
    shares = []
    for copy in masked(data, copies=20, synthesis="full", records=2000).copies:
        column: Any = copy.columns["group"]
        shares.append([copy.columns["y"].missing[column.codes == one].mean() for one in (0, 1)])
    assert np.mean(shares, axis=0) == pytest.approx([0.8, 0.0], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("synthesis", ["partial", "full"])
def test_combined_intervals_cover_the_truth(synthesis: Any) -> None:
    """95 % intervals of a mean and of a slope, over 200 samples from a known population."""
    rng = np.random.default_rng(8)
    covered = np.zeros(2)
    for _ in range(200):
        x = rng.normal(size=100)
        y = 1 + x + rng.normal(size=100)
        data = coded({"x": x, "y": y}, confidential=["y"])
        found = []
        for copy in masked(data, int(rng.integers(1 << 32)), copies=5, synthesis=synthesis).copies:
            a, b = (copy.columns[name].values for name in ("x", "y"))  # type: ignore[attr-defined]
            slope, constant = np.polyfit(a, b, 1)
            rest = np.var(b - slope * a - constant, ddof=2)
            found.append((b.mean(), b.var(ddof=1) / 100, slope, rest / (100 * a.var())))
        for which in (0, 1):
            q, u = (np.array(found)[:, 2 * which + i].tolist() for i in (0, 1))
            low, high = combine(q, u, synthesis).interval()
            covered[which] += low <= 1 <= high
    assert (covered / 200 > 0.89).all()  # 4 standard errors below 95 %


# --------------------------------------------------------------------------------------- real discharges


def test_diagnoses_keep_their_totals_and_depend_on_sex_and_age(discharges: pa.Table, discharge_schema: Any) -> None:
    schema = discharge_schema.replace("dx01", role="confidential")
    data = tm.Microdata.from_frame(discharges, schema)
    sex: Any = data.columns["sex"]
    age: Any = data.columns["age"]
    before: Any = data.columns["dx01"]
    icd = tm.Taxonomy.builtin("icd9cm")
    chapter = np.array([icd.ancestors(str(one))[1] for one in before.categories])
    chapters = np.unique(chapter)
    female = sex.codes == sex.categories.index("female")
    everybody, young, old = np.ones(data.n, dtype=bool), age.values < 20, age.values >= 70

    def error(codes: list[Any], rows: Any) -> float:
        """The difference of the mean counts of chapters from the original ones, in standard errors of the latter."""
        before_here = np.array([(chapter[before.codes[rows]] == one).sum() for one in chapters])
        counts = np.mean([[(chapter[one[rows]] == name).sum() for name in chapters] for one in codes], axis=0)
        return float(np.sqrt(np.mean((counts - before_here) ** 2 / np.maximum(before_here, 1))))

    copies = [copy.columns["dx01"].codes for copy in masked(data, copies=20).copies]  # type: ignore[attr-defined]
    blind = [copy.columns["dx01"].codes for copy in masked(data, copies=20, given=[]).copies]  # type: ignore[attr-defined]
    assert error(copies, everybody) < 0.6
    for rows in (female, ~female, young, old):
        assert error(copies, rows) < 1.25
        assert error(blind, rows) > 1.5


@pytest.fixture(scope="module")
def neoplasms() -> tm.Microdata:
    text = read_table(NEOPLASMS, ["dx01"], text=True)["dx01"].to_pylist()
    table = read_table(NEOPLASMS)
    columns = {name: table[name].to_pylist() for name in ("age_years", "care_days")}
    kinds = {"dx01": {"kind": "taxonomic", "taxonomy": "icd9cm"}}
    return coded(columns | {"dx01": text}, confidential=["care_days", "dx01"], **kinds)


def test_hundreds_of_diagnoses(neoplasms: tm.Microdata) -> None:
    """What SRMI could not do in IVEware: 416 diagnoses, synthesised with everything else."""
    before: Any = neoplasms.columns["dx01"]
    assert len(before.categories) == 416
    copies = masked(neoplasms, copies=20, attributes=["dx01"], given=["age_years"]).copies
    counts = np.array([copy.columns["dx01"].counts for copy in copies])  # type: ignore[attr-defined]
    standard = (counts.mean(axis=0) - before.counts) / np.sqrt(2 * before.counts / 20)
    assert standard.std() < 1.25
    whole = masked(neoplasms, synthesis="full").data
    marginality = before.table @ before.counts
    after: Any = whole.columns["dx01"]
    variance = marginality @ before.counts / before.counts.sum()
    assert (before.table @ after.counts) @ after.counts / after.counts.sum() == pytest.approx(variance, rel=0.01)


# --------------------------------------------------------------------------------------- the tree of the categories


def column_of(values: list[str], taxonomy: Any) -> Any:
    return coded({"x": values}, confidential=[], x={"kind": "taxonomic", "taxonomy": taxonomy}).columns["x"]


def test_branches_by_hand() -> None:
    """r > a (itself, a1), b > b1 > (b11, b12); b2 and a2 do not occur."""
    column = column_of(["a", "a1", "a1", "b11", "b12", "b12"], TREE)
    tree = branches(column)
    assert [column.categories[i] for i in tree.order] == ["a", "a1", "b11", "b12"]
    assert [bounds.tolist() for bounds in tree.bounds] == [[0, 2, 4], [0, 1, 2], [2, 3, 4]]
    start = np.array([0, 1, 3, 4, 6])
    assert list(halvings(tree, start)) == [(0, 2, 4), (0, 1, 2), (2, 3, 4)]


def test_branches_are_halved_by_records() -> None:
    column = coded({"x": list("aaaaaabbcd")}, confidential=[], x="nominal").columns["x"]
    tree = branches(column)  # type: ignore[arg-type]
    assert list(halvings(tree, np.array([0, 6, 8, 9, 10]))) == [(0, 1, 4), (1, 2, 4), (2, 3, 4)]


def test_a_dag_is_walked_by_first_parents() -> None:
    """c hangs from a and from b: it counts below a."""
    dag = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b"), ("c", "a"), ("d", "b"), ("e", "a")])
    column = column_of(["c", "d", "e", "b"], dag)
    tree = branches(column)
    names = [str(column.categories[i]) for i in tree.order]
    first, *_ = tree.bounds
    assert {frozenset(names[i:j]) for i, j in pairwise(first)} == {
        frozenset("ce"),
        frozenset("bd"),
    }


def test_concepts_of_a_second_taxonomy_hang_from_the_root() -> None:
    other = tm.Taxonomy.from_edges([("x1", "x"), ("x2", "x")])
    column = column_of(["a1", "a2", "x1", "x2", "x1"], [TREE, other])
    tree = branches(column)
    assert [column.categories[i] for i in tree.order] == ["a1", "a2", "x1", "x2"]
    assert [bounds.tolist() for bounds in tree.bounds] == [[0, 2, 3, 4], [0, 1, 2]]


@given(st.lists(st.sampled_from(sorted(TREE)), min_size=1, max_size=40))
def test_every_category_is_reached_by_one_walk(values: list[str]) -> None:
    column = column_of(values, TREE)
    tree = branches(column)
    start = np.concatenate([[0], np.cumsum(column.counts[tree.order])])
    coming = {(0, len(tree.order))}
    for low, middle, high in halvings(tree, start):
        coming.remove((low, high))
        coming |= {(low, middle), (middle, high)}
    assert sorted(coming) == [(i, i + 1) for i in range(len(tree.order))]
    assert sorted(tree.order) == np.flatnonzero(column.counts).tolist()


def test_predictors_by_hand() -> None:
    """A lump of zeros has an indicator; so has each branch with ten records in and out, the largest first."""
    values = ["a1"] * 30 + ["b11"] * 15 + ["b12"] * 5 + [None] * 10
    data = coded({"x": values, "y": [0.0] * 20 + [float(i) for i in range(1, 41)]}, confidential=[], x="nominal")
    kinds = {"x": {"kind": "taxonomic", "taxonomy": TREE}}
    tree = coded({"x": values}, confidential=[], **kinds).columns["x"]
    plain = Encoder(tree).matrix(tree)
    assert plain.shape == (60, 4)  # a1 (or a), b1 (or b), b11; b12 is too small; missing
    assert (plain[:, 0] > 0).tolist() == [value == "a1" for value in values]
    assert (plain[:, 1] > 0).tolist() == [value in ("b11", "b12") for value in values]
    assert (plain[:, 3] > 0).tolist() == [value is None for value in values]
    number = Encoder(data.columns["y"]).matrix(data.columns["y"])
    assert (number[:, -1] > 0).tolist() == [True] * 20 + [False] * 40
    assert np.abs(number.mean(axis=0)).max() < 1e-9
    assert number.std(axis=0) == pytest.approx(1)


# --------------------------------------------------------------------------------------- the edges


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("synthesis", ["partial", "full"])
def test_tiny_tables(n: int, synthesis: Any) -> None:
    columns = {
        "number": [1.5, 2.5, 9.0][:n],
        "constant": [7] * n,
        "empty": pa.array([None] * n, pa.float64()),
        "nothing": pa.array([None] * n, pa.string()),
        "concept": ["a1", "b", "b12"][:n],
    }
    kinds = {"nothing": "nominal", "concept": {"kind": "taxonomic", "taxonomy": TREE}}
    data = coded(columns, confidential=list(columns), **kinds)
    for seed in range(20):
        result = masked(data, seed, synthesis=synthesis).data.to_frame()
        assert result["constant"].to_pylist() == [7] * n
        assert result["empty"].null_count == result["nothing"].null_count == n
        assert set(result["concept"].to_pylist()) <= set(columns["concept"])


def test_an_attribute_that_another_one_tells_exactly() -> None:
    x = np.arange(200.0)
    data = coded({"x": x, "y": x**3}, confidential=["y"])
    drawn: Any = masked(data).data.columns["y"]
    assert np.corrcoef(np.argsort(np.argsort(drawn.values)), x)[0, 1] > 0.99


def test_bad_parameters_are_errors() -> None:
    data = coded({"x": [1, 2, 3], "y": [1, 2, 3]}, confidential=["y"])
    for parameters, message in (
        ({"copies": 0}, "copies must be an integer of at least 1; got 0"),
        ({"synthesis": "whole"}, "synthesis must be 'partial' or 'full'; got 'whole'"),
        ({"records": 5}, "records is for synthesis='full' only"),
        ({"records": 0, "synthesis": "full"}, "records must be an integer of at least 1; got 0"),
        ({"attributes": ["x"], "synthesis": "full"}, "synthesises every attribute"),
        ({"attributes": ["x", "y"], "given": ["y"]}, "y cannot be replaced and given at once"),
    ):
        with pytest.raises(tm.PlanError, match=message):
            tm.protect(data, data.schema, tm.Imputation(**parameters))
    for parameters, message in (
        ({"attributes": ["z"]}, "there is no coded column 'z'"),
        ({"given": ["z"]}, "there is no coded column 'z'"),
    ):
        with pytest.raises(tm.SchemaError, match=message):
            masked(data, **parameters)
    with pytest.raises(tm.SchemaError, match="no confidential attribute to protect"):
        masked(coded({"x": [1, 2, 3]}, confidential=[]))
    with pytest.raises(tm.DataError, match="no records to learn from"):
        masked(coded({"y": pa.array([], pa.float64())}, confidential=["y"]))


def test_a_column_without_a_kind_cannot_be_fully_synthetic() -> None:
    table = pa.table({"y": [1, 2, 3], "text": ["p", "q", "r"]})
    schema = tm.Schema([tm.Attribute("y", role="confidential", kind="continuous"), tm.Attribute("text", role="other")])
    with pytest.raises(tm.SchemaError, match=r"cannot synthesise text: .*\nGive each of them a kind"):
        tm.protect(table, schema, tm.Imputation(synthesis="full"))
    release = tm.protect(table, schema.replace("text", role="identifier"), tm.Imputation(synthesis="full"), seed=1)
    assert release.data.column_names == ["y"]
