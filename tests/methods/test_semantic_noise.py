"""Semantic noise: the bound over all triples, on the generator, and on what is released."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import taxomask as tm
from naive import edges_of, taxonomies
from taxomask.methods._mechanisms import Exponential, Geometric, Mechanism
from taxomask.methods.semantic_noise import MetricPrivacy
from taxomask.microdata import Microdata, TaxonomicColumn
from taxomask.release.note import methodology

from .conftest import SCHEMA, TREE, tables

DOMAIN = {"number": [-4, 4, 0.5], "plain": ["x", "y", "z", "never"]}
ICD = tm.Taxonomy.builtin("icd9cm")


def matrix(mechanism: Mechanism) -> np.ndarray:
    between, kept = mechanism.probabilities
    return between[np.ix_(mechanism.classes, mechanism.classes)] + np.diag(kept[mechanism.classes])


def codes(values: list[str], taxonomy: Any = ICD, **more: Any) -> tuple[pa.Table, tm.Schema]:
    schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy=taxonomy, **more)])
    return pa.table({"dx": values}), schema


def mechanism_of(taxonomy: tm.Taxonomy, epsilon: float, *, sharp: bool = False, **more: Any) -> Mechanism:
    table, schema = codes([taxonomy.root, next(iter(taxonomy))], taxonomy, **more)
    method = tm.SemanticNoise(epsilon, sharp=sharp)
    return method._domain(Microdata.from_frame(table, schema), "dx").mechanism(epsilon, False, sharp)


def bounded(table: np.ndarray, away: np.ndarray, epsilon: float) -> bool:
    """P(o | c1) ≤ e^{ε d(c1, c2)} P(o | c2), written out."""
    triples = itertools.product(range(len(table)), repeat=3)
    return all(table[a, o] <= math.exp(epsilon * away[a, b]) * table[b, o] for a, b, o in triples)


# ------------------------------------------------------------------------------------- by hand


def test_three_codes_by_hand() -> None:
    """Root r with children a and b. d(r, a) = log2(1 + 1/2), d(a, b) = log2(1 + 2/3), the largest."""
    near, far = math.log2(1.5), math.log2(1 + 2 / 3)
    tree = tm.Taxonomy.from_edges([("a", "r"), ("b", "r")])
    found = matrix(mechanism_of(tree, 4))
    one = math.exp(-2 * near / far)
    expected = np.array(
        [[1, one, one], [one, 1, math.exp(-2)], [one, math.exp(-2), 1]]  # r, a, b
    )
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)


def test_two_plain_categories_by_hand() -> None:
    """Randomised response: a value is kept with e^ε / (1 + e^ε)."""
    found = matrix(Exponential(np.zeros(2, dtype=int), np.zeros((1, 1)), np.ones(1), math.log(3), factor=1.0))
    np.testing.assert_allclose(found, [[0.75, 0.25], [0.25, 0.75]], rtol=1e-5)


def test_three_steps_by_hand() -> None:
    """α = 1/2: noise 0 with 1/3, ±1 with 1/6 each, and so on; what goes beyond an end stays there."""
    found = matrix(Geometric(3, 2 * math.log(2)))
    expected = np.array([[2 / 3, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 2 / 3]])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_missing_on_a_scale_by_hand() -> None:
    """e^ε = 4 on three steps: e^{ε(1-h)} = 2, so a = 4·1/7 and b = 1/7."""
    found = matrix(Geometric(3, 2 * math.log(2), missing=True))
    np.testing.assert_allclose(found[3], [1 / 7, 1 / 7, 1 / 7, 4 / 7], rtol=1e-5)
    np.testing.assert_allclose(found[:3, 3], 1 / 7, rtol=1e-5)
    np.testing.assert_allclose(found[0, :3], np.array([2 / 3, 1 / 6, 1 / 6]) * 6 / 7, rtol=1e-5)


def test_how_often_a_code_stays_among_600() -> None:
    """What to expect, as stated: 0.003 / 0.01 / 0.06 / 0.67 at ε = 1 / 4 / 8 / 16."""
    some = np.random.default_rng(0).choice(len(ICD.ids) - 1, 600, replace=False) + 1
    names = [ICD.ids[i] for i in sorted(some.tolist())]
    table, schema = codes(names)
    stays = []
    for epsilon in (1, 4, 8, 16):
        method = tm.SemanticNoise(epsilon, domain={"dx": names})
        found = method.transition(Microdata.from_frame(table, schema), "dx")
        assert found is not None
        stays.append(float(found.matrix().diagonal().mean()))
    assert np.abs(np.log(np.array(stays) / [0.003, 0.01, 0.06, 0.67])).max() < 0.4  # of other 600 codes


# ------------------------------------------------------------------------------------- the bound


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("epsilon", [0.01, 8, 64])
def test_the_bound_over_all_triples_of_600_real_codes(epsilon: float, sharp: bool) -> None:
    """On the distance of the definition, not on the table that the mechanism was made from."""
    some = np.random.default_rng(1).choice(len(ICD.ids), 600, replace=False)
    names = [ICD.ids[i] for i in sorted(some.tolist())]
    table, schema = codes(names)
    method = tm.SemanticNoise(epsilon, domain={"dx": names}, sharp=sharp)
    transition = method.transition(Microdata.from_frame(table, schema), "dx")
    assert transition is not None
    away = ICD.distance_matrix([str(one) for one in transition.values])
    away /= away.max()
    logs = np.log(transition.matrix())
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=1e-9)
    worst = max(
        float((np.abs(logs[one] - logs).max(axis=1) / np.where(away[one] > 0, epsilon * away[one], np.inf)).max())
        for one in range(len(logs))
    )
    assert 0.5 < worst <= 1


@given(taxonomies(), st.floats(0.01, 64), st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_taxonomy_keeps_the_bound(parents: Any, epsilon: float, sharp: bool, missing: bool) -> None:
    taxonomy = tm.Taxonomy.from_edges(edges_of(parents))
    if len(taxonomy.ids) < 2:
        return
    table, schema = codes([taxonomy.root], taxonomy)
    method = tm.SemanticNoise(epsilon, sharp=sharp, missing="value" if missing else "stay")
    data = Microdata.from_frame(table, schema)
    transition = method.transition(data, "dx")
    assert transition is not None
    away = np.asarray(taxonomy.table(np.arange(len(taxonomy.ids))))
    away = away / away.max()
    if missing:
        away = np.pad(away, (0, 1), constant_values=1.0)
        away[-1, -1] = 0
    assert bounded(transition.matrix(), away, epsilon)
    np.testing.assert_allclose(transition.matrix().sum(axis=1), 1, rtol=1e-9)
    assert method._domain(data, "dx").mechanism(epsilon, missing, sharp).verified().holds


@given(st.integers(2, 9), st.floats(0.01, 64), st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_scale_keeps_the_bound(size: int, epsilon: float, missing: bool) -> None:
    mechanism = Geometric(size, epsilon, missing)
    table, away = matrix(mechanism), mechanism.distances(np.arange(size + missing))
    assert away.max() == 1
    assert (away == away.T).all()
    assert bounded(table, away, epsilon)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-9)
    assert mechanism.verified().holds
    assert mechanism.verified().share == pytest.approx(1, abs=1e-3) or missing


@pytest.mark.parametrize("size", [1_000, 1_000_001])
@pytest.mark.parametrize("epsilon", [0.01, 1, 64])
def test_long_scales_keep_the_bound(size: int, epsilon: float) -> None:
    mechanism = Geometric(size, epsilon)
    exact, beyond = mechanism._noise
    alpha = np.exp(-epsilon / (size - 1))
    assert len(exact) == len(beyond) == size
    np.testing.assert_allclose(exact[:1000], (1 - alpha) / (1 + alpha) * alpha ** np.arange(1000), rtol=1e-4)
    assert beyond[-1] > 0
    assert mechanism.verified().holds


def test_large_domains_are_checked_by_their_normalisers() -> None:
    """Both checks agree on the bound; a weight that is too large, or a distance that is no metric, is found."""
    mechanism = mechanism_of(TREE, 5)
    assert isinstance(mechanism, Exponential)
    assert mechanism._normalisers().share == pytest.approx(mechanism.verified().share, abs=0.01)
    some = np.random.default_rng(1).choice(len(ICD.ids), 1_500, replace=False)
    table, schema = codes([ICD.ids[i] for i in some[:2]])
    method = tm.SemanticNoise(8, domain={"dx": [ICD.ids[i] for i in some]})
    whole = method._domain(Microdata.from_frame(table, schema), "dx").mechanism(8, False)
    assert isinstance(whole, Exponential)
    assert "normalisers of all 2,250,000 pairs" in whole.verified().over
    assert 0.5 < whole.verified().share < 0.6
    between, kept = whole.probabilities
    whole.__dict__["probabilities"] = between.copy(), kept
    whole.probabilities[0][0, 5] *= 1e6
    assert not whole._normalisers().holds
    # d(a, c) = 1 > d(a, b) + d(b, c)
    bent = np.array([[0, 0.1, 1], [0.1, 0, 0.1], [1, 0.1, 0]])
    assert not Exponential(np.arange(3), bent, np.zeros(3), 8.0).verified().holds


# ------------------------------------------------------------------------------------- the generator


@pytest.mark.parametrize(
    "mechanism",
    [
        mechanism_of(TREE, 3),
        mechanism_of(TREE, 3, sharp=True),
        Exponential(np.zeros(4, dtype=int), np.zeros((1, 1)), np.ones(1), 1.0, factor=1.0),
        Geometric(2, 1.0),
        Geometric(6, 2.0),
        Geometric(9, 0.3),
        Geometric(6, 2.0, missing=True),
        Geometric(2, 2.0, missing=True),
    ],
    ids=lambda one: type(one).__name__,
)
def test_values_are_drawn_as_the_matrix_says(mechanism: Mechanism) -> None:
    table, n = matrix(mechanism), 40_000
    rng = np.random.default_rng(5)
    for one in range(len(table)):
        found = np.bincount(mechanism.draw(np.full(n, one), rng), minlength=len(table))
        possible = table[one] > 0
        assert not found[~possible].any()
        assert chisquare(found[possible], n * table[one][possible] / table[one].sum()).pvalue > 1e-4


def test_small_probabilities_are_drawn_from_all_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """At ε = 64 the far code has a probability of e^-32, and the smallest random number reaches it."""
    mechanism = Exponential(np.arange(2), 1.0 - np.eye(2), np.zeros(2), 64.0)
    chance = matrix(mechanism)[0, 1]
    assert chance == pytest.approx(math.exp(-32), rel=1e-4)

    class Fixed:
        def __init__(self, ticket: float) -> None:
            self.ticket = ticket

        def integers(self, low: int, high: np.ndarray) -> np.ndarray:
            return np.zeros(len(high), dtype=np.int64)

    for ticket, code in ((chance * (1 - 1e-12), 1), (chance * (1 + 1e-12), 0)):
        monkeypatch.setattr("taxomask.methods._mechanisms.uniform", lambda count, rng: np.full(count, rng.ticket))
        assert mechanism.draw(np.zeros(1, dtype=np.int64), Fixed(ticket)).tolist() == [code]  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- releases


@given(tables(), st.floats(0.5, 32), st.sampled_from(["stay", "value"]), st.integers(0, 100))
@settings(max_examples=12, deadline=None)
def test_releases_stay_in_the_domain(table: pa.Table, epsilon: float, missing: Any, seed: int) -> None:
    method = tm.SemanticNoise(epsilon, domain=DOMAIN, missing=missing)
    release = tm.protect(table, SCHEMA, method, seed=seed)
    assert release.data.equals(tm.protect(table, SCHEMA, method, seed=seed).data)
    domains = {
        "number": set(np.arange(-4, 4.5, 0.5)),
        "grade": {"low", "mid", "high", "top"},
        "plain": set(DOMAIN["plain"]),
        "concept": set(TREE),
    }
    for name, values in domains.items():
        found = release.data[name].to_pylist()
        assert set(found) - {None} <= values
        if missing == "stay":
            assert [one is None for one in found] == [one is None for one in table[name].to_pylist()]
    assert all(one.holds for one in release.promise)
    assert release.data["rest"].equals(table["rest"])


def test_the_release_does_not_depend_on_how_the_table_spells_its_codes() -> None:
    """Else the dotted codes of the release would be those that the table has."""
    table, schema = codes(["250.01", "401.9", "038.9"] * 20, normalize=["dots"])
    release = tm.protect(table, schema, tm.SemanticNoise(2, domain={"dx": ["25001", "4019", "0389", "2720"]}), seed=2)
    assert set(release.data["dx"].to_pylist()) <= {"25001", "4019", "0389", "2720"}
    plain = codes(["25001", "4019", "0389"] * 20)[0]
    other = tm.SemanticNoise(16, domain={"dx": ["25001", "4019", "0389", "2720"]})
    drawn = [
        other.mask(Microdata.from_frame(one, schema), np.random.default_rng(3)).data.to_frame()
        for one in (table, plain)
    ]
    assert drawn[0].equals(drawn[1])


def test_numbers_count_as_the_end_or_the_nearest_step() -> None:
    schema = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    data = Microdata.from_frame(pa.table({"age": [-7.0, 0.24, 0.26, 1.0, 9.0, None]}), schema)
    method = tm.SemanticNoise(1, domain={"age": [0, 1, 0.5]})
    assert method._domain(data, "age").original().tolist() == [0, 0, 1, 2, 2, -1]


def test_dates_and_decimals() -> None:
    import datetime as dt
    from decimal import Decimal

    days = [dt.date(1950, 1, 1) + dt.timedelta(17 * i) for i in range(40)]
    table = pa.table(
        {"born": days, "pay": pa.array([Decimal(i) / 4 for i in range(40)], pa.decimal128(8, 2)), "size": range(40)}
    )
    table = table.set_column(2, "size", table["size"].cast(pa.float32()))
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in table.column_names])
    domain = {"born": ["1949-12-31", "1952-01-01", 1], "pay": [0, 10, 0.05], "size": [0, 40, 0.1]}
    release = tm.protect(table, schema, tm.SemanticNoise(8, domain=domain), seed=1)
    assert release.data.schema.equals(table.schema)
    assert min(release.data["born"].to_pylist()) >= dt.date(1949, 12, 31)
    assert all(float(one) * 20 == pytest.approx(round(float(one) * 20)) for one in release.data["pay"].to_pylist())
    with pytest.raises(tm.PlanError, match="multiples of"):
        tm.protect(table, schema, tm.SemanticNoise(8, domain={**domain, "born": ["1949-12-31", "1950-01-01", 0.5]}))


def test_budgets_add_up_over_columns_and_rows() -> None:
    table = pa.table({"who": list("aabac"), "sex": list("fffmm"), "grade": ["low", "mid", "low", "mid", "mid"]})
    attributes = [
        tm.Attribute("who", role="identifier"),
        tm.Attribute("sex", role="quasi_identifier", kind="nominal"),
        tm.Attribute("grade", role="quasi_identifier", kind="ordinal", order=["low", "mid"]),
    ]
    method = tm.SemanticNoise({"sex": 0.5, "grade": 1}, domain={"sex": ["f", "m"]})
    sums = "the sum over sex (0.5), grade (1)"
    for person, told in (
        (None, f"ε = 1.5 for sex, grade of a record ({sums})"),
        (
            "who",
            "ε = 4.5 for sex, grade of a person, 1.5 for those of a record (no person has more than 3 records; "
            f"{sums})",
        ),
    ):
        release = tm.protect(table, tm.Schema(attributes, person=person), method, seed=4)
        assert str(release.promise[-1]) == f"holds: {told}"


def test_whether_a_value_changed_decides_nothing_and_is_not_told() -> None:
    """Were a release refused in which every cell was drawn as it was, its reader would know that none was."""
    table, schema = pa.table({"sex": ["f"]}), tm.Schema([tm.Attribute("sex", role="quasi_identifier", kind="nominal")])
    method = tm.SemanticNoise(1, domain={"sex": ["f", "m"]})
    releases = [tm.protect(table, schema, method, seed=seed) for seed in range(20)]
    drawn = [release.data["sex"].to_pylist() for release in releases]
    assert ["f"] in drawn
    assert ["m"] in drawn
    notes = {methodology(release).split("## Is my record")[0] for release in releases}
    assert len(notes) == 1


def test_in_a_pipeline_the_bound_is_for_what_the_step_was_given_and_budgets_do_not_hide_each_other() -> None:
    """A record of a group of five decides on the average that five noisy cells come from."""
    table, schema = codes(["25001", "25002", "4019", "4010", "4280"] * 8)
    release = tm.protect(table, schema, tm.Pipeline([tm.Microaggregation(5), tm.SemanticNoise(8)]), seed=1)
    last = release.promise[-1].promise
    assert last.startswith("step 2 (semantic_noise, of what step 1 made): P(o | c1)")
    assert last.endswith("ε = 8 for dx of a record")
    inner = tm.Pipeline([tm.SemanticNoise(8, attributes=["dx"])])
    with pytest.raises(tm.PlanError, match="semantic_noise stands 2 times in the pipeline"):
        tm.protect(table, schema, tm.Pipeline([inner, tm.SemanticNoise(4)]))


def test_a_cell_outside_of_the_domain_breaks_the_promise() -> None:
    table, schema = codes(["25001", "4019"])
    data = Microdata.from_frame(table, schema)
    promise = MetricPrivacy("dx", 8.0, ("25001", "4019", "2720"), "stay", False)
    masked = tm.SemanticNoise(8, domain={"dx": ["25001", "4019", "2720"]}).mask(data, np.random.default_rng(0))
    from taxomask.microdata.frames import Frame

    assert promise.check(data, Frame(table), masked).holds
    assert not promise.check(data, Frame(pa.table({"dx": ["25001", "0389"]})), masked).holds
    assert not promise.check(data, Frame(pa.table({"dx": ["25001", None]})), masked).holds


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (tm.SemanticNoise(0), "epsilon must be a number of at least 0.01 and at most 64"),
        (tm.SemanticNoise(65), "epsilon must be"),
        (tm.SemanticNoise(1), "'number' of numbers has no domain"),
        (tm.SemanticNoise(1, attributes=["plain"]), "'plain' of plain categories has no domain"),
        (tm.SemanticNoise(1, domain={"number": [0, 1]}), "needs a range and a step"),
        (tm.SemanticNoise(1, domain={"number": [0, 1, 0.3]}), "no range of 1 to 1,000,000 whole steps"),
        (tm.SemanticNoise(1, domain={"number": [1, 0, 1]}), "no range"),
        (tm.SemanticNoise(1, domain={"number": ["a", 0, 1]}), "no range"),
        (tm.SemanticNoise(1, attributes=["plain"], domain={"plain": ["x", "y"]}), "which the domain does not have"),
        (tm.SemanticNoise(1, attributes=["plain"], domain={"plain": ["x", "x"]}), "twice"),
        (tm.SemanticNoise(1, attributes=["grade"], domain={"grade": ["top", "low"]}), "not the order"),
        (tm.SemanticNoise(1, attributes=["concept"], domain={"concept": ["a9", "a"]}), "lists 'a9', which is not in"),
        (tm.SemanticNoise(1, attributes=["concept"], domain={"concept": ["a"]}), "one value only"),
        (tm.SemanticNoise(1, domain={"nubmer": [0, 1, 1]}), "domain names 'nubmer'"),
        (tm.SemanticNoise({"concept": 1}, attributes=["grade"]), "do not name the same columns"),
    ],
)
def test_wrong_use(method: tm.SemanticNoise, told: str) -> None:
    table = pa.table(
        {"id": ["1", "2", "3"], "number": [1, 2, 3], "grade": ["low"] * 3, "plain": list("xyz"), "concept": ["a"] * 3}
    ).append_column("rest", pa.array(["", "", ""]))
    with pytest.raises(tm.TaxomaskError) as error:
        tm.protect(table, SCHEMA, method)
    assert told in str(error.value)
    assert "\n" in str(error.value) or error.value.hint


@pytest.mark.parametrize("distance", ["wu_palmer", "lin", "jiang_conrath"])
def test_distances_that_are_no_metric_are_refused(distance: str) -> None:
    table, schema = codes(["25001", "4019"], distance=distance)
    with pytest.raises(tm.SchemaError, match="is no metric") as error:
        tm.protect(table, schema, tm.SemanticNoise(4))
    assert "ancestors" in error.value.hint
    several = tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy=[TREE, (ICD, 2.0)])
    with pytest.raises(tm.SchemaError, match="2 taxonomies"):
        tm.protect(pa.table({"dx": ["a", "25001"]}), tm.Schema([several]), tm.SemanticNoise(4))


def test_equality_is_randomised_response() -> None:
    table, schema = codes(["25001", "4019"] * 5, distance="equality")
    found = tm.SemanticNoise(2, domain={"dx": ["25001", "4019", "2720"]}).transition(
        Microdata.from_frame(table, schema), "dx"
    )
    assert found is not None
    assert found.matrix()[0, 0] == pytest.approx(math.exp(2) / (math.exp(2) + 2), rel=1e-5)


def test_columns_that_would_follow_are_refused() -> None:
    """Where the text of a released code is empty, the table does not have the code."""
    schema = tm.Schema(
        [
            tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
            tm.Attribute("text", role="other", follows="dx"),
        ]
    )
    with pytest.raises(tm.SchemaError, match="text would follow"):
        tm.protect(pa.table({"dx": ["25001", "4019"], "text": ["d", "h"]}), schema, tm.SemanticNoise(8))


def test_likelihoods_of_pairs() -> None:
    table, schema = codes(["a1", "b11", "b12"], TREE)
    data = Microdata.from_frame(table, schema)
    found = tm.SemanticNoise(3).transition(data, "dx")
    assert found is not None
    whole = found.matrix()
    a, b = found.numbers(data.columns["dx"]), np.array([0, 3, -1])
    assert [found.values[i] for i in a] == ["a1", "b11", "b12"]
    np.testing.assert_array_equal(found.likelihood(a, b), [whole[a[0], 0], whole[a[1], 3], 0.0])


def test_a_release_has_the_concepts_that_occur_and_the_distances_of_the_original() -> None:
    """Measures make tables of all concepts that a column has: of a whole taxonomy they would take gigabytes."""
    table, schema = codes(["a1", "b11", "b12"], TREE)
    data = Microdata.from_frame(table, schema)
    before, after = data.columns["dx"], tm.SemanticNoise(1).mask(data, np.random.default_rng(3)).data.columns["dx"]
    assert isinstance(before, TaxonomicColumn)
    assert isinstance(after, TaxonomicColumn)
    assert {after.categories[code] for code in after.codes} == set(after.categories) != set(before.categories)
    assert after.scopes == before.scopes
