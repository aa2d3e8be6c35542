"""What somebody finds who knows the method, against brute force, by hand, and on real tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

import taxomask as tm
from methods.conftest import SCHEMA, tables
from taxomask.evaluation import Known, summary
from taxomask.measures.risk.attackers import informed, linking, repetitions
from taxomask.measures.risk.attackers import learned as learning
from taxomask.measures.risk.attackers.jointly import learned_jointly, moving_together
from taxomask.measures.risk.attackers.learned import learned
from taxomask.measures.risk.attackers.membership import share_told_apart
from taxomask.measures.risk.attackers.repetitions import learnt_by_repeating
from taxomask.methods import Masked, Method, Promise
from taxomask.methods.likelihood import CodeEvidence, Evidence, NumberEvidence
from taxomask.microdata import Microdata, read_table
from taxomask.microdata.alike import alike

DATA = Path(__file__).parents[3] / "data"


def census(columns: int, records: int = 1_080) -> tuple[pa.Table, tm.Schema]:
    table = read_table(DATA / "casc" / "CASCrefmicrodata.csv")
    names = table.column_names[:columns]
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names])
    return table.select(names).slice(0, records), schema


def shares(table: pa.Table, schema: tm.Schema, method: Method, *names: str, seed: int = 3) -> dict[str, float]:
    release = tm.protect(table, schema, method, seed=seed)
    known = Known(method=method, attackers=names or ("nearest", "informed"))
    return dict(summary(release.original, release.released, release.protected, known).shares)


def total(evidence: tuple[Evidence, ...] | list[Evidence]) -> np.ndarray[Any, Any]:
    """The log-likelihood of every released record given every original one, term by term."""
    found: Any = 0.0
    for one in evidence:
        if isinstance(one, NumberEvidence):
            gap = one.released[:, None] - one.original
            found = found - gap**2 * one.released_precision[:, None] * one.original_precision / 2
            found = found + (0 if one.offset is None else one.offset)
        elif one.log is None:
            found = found + np.where(one.released[:, None] == one.original, 0.0, -np.inf)
        else:
            found = found + one.log[one.released[:, None], one.original]
    return np.asarray(found)


def same_up_to_the_record(found: Any, expected: Any) -> None:
    """Equal but for what is the same for all originals of a released record."""
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=1e-6)


def masked(data: Microdata, method: Method, seed: int = 1) -> Microdata:
    return method.mask(data, np.random.default_rng(seed)).data


def numbers(values: Any) -> Microdata:
    names = [f"c{place}" for place in range(values.shape[1])]
    schema = tm.Schema([tm.Attribute(one, role="quasi_identifier", kind="continuous") for one in names])
    return Microdata.from_frame(pa.table({one: values[:, i] for i, one in enumerate(names)}), schema)


# ----------------------------------------------------------------------------------- formulas


def test_independent_noise_by_brute_force() -> None:
    x = np.random.default_rng(0).normal(size=(9, 3)) * [1, 10, 0.1]
    data, method = numbers(x), tm.Noise(0.7)
    made = masked(data, method)
    y = np.column_stack([column.numbers() for column in made.columns.values()])
    expected = norm.logpdf(y[:, None], x, 0.7 * x.std(axis=0, ddof=1)).sum(axis=2)
    same_up_to_the_record(total(method.likelihood(data, made)), expected)


def test_correlated_noise_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 3)) @ rng.normal(size=(3, 3))
    data, method = numbers(x), tm.Noise(0.7, correlated=True)
    made = masked(data, method)
    y = np.column_stack([column.numbers() for column in made.columns.values()])
    spread = 0.49 * np.cov(x.T)
    expected = [[multivariate_normal.logpdf(b, a, spread) for a in x] for b in y]
    same_up_to_the_record(total(method.likelihood(data, made)), np.array(expected))


@pytest.mark.parametrize("distribution", ["lognormal", "normal"])
def test_multiplicative_noise_by_brute_force(distribution: Any) -> None:
    x = np.abs(np.random.default_rng(0).normal(size=(9, 2))) + 0.5
    data, method = numbers(x), tm.MultiplicativeNoise(0.4, distribution=distribution)
    made = masked(data, method)
    y = np.column_stack([column.numbers() for column in made.columns.values()])
    spread = np.log1p(0.16)
    if distribution == "lognormal":
        expected = norm.logpdf(np.log(y[:, None]), np.log(x) - spread / 2, np.sqrt(spread)).sum(axis=2)
    else:
        expected = norm.logpdf(y[:, None], x, 0.4 * x).sum(axis=2)
    same_up_to_the_record(total(method.likelihood(data, made)), expected)


def test_zeros_and_signs_cannot_change() -> None:
    data, method = numbers(np.array([[0.0], [-2.0], [2.0]])), tm.MultiplicativeNoise(0.4)
    found = total(method.likelihood(data, masked(data, method)))
    assert np.isfinite(found).tolist() == np.eye(3, dtype=bool).tolist()


@pytest.mark.parametrize("method", [tm.Pram(0.4), tm.Pram(0.4, semantic=False), tm.Noise(0.6, attributes=("grade",))])
def test_chances_of_categories_are_those_of_many_draws(method: Method) -> None:
    frame = pa.table(
        {
            "id": [str(i) for i in range(12)],
            "number": [1] * 12,
            "grade": ["low", "low", "mid", "high", "top", "top"] * 2,
            "plain": ["x", "x", "x", "y", "y", "z"] * 2,
            "concept": ["a1", "a1", "a2", "b11", "b12", "b12"] * 2,
            "rest": [""] * 12,
        }
    )
    data = Microdata.from_frame(frame, SCHEMA)
    draws = 800
    rng = np.random.default_rng(2)
    made = [method.mask(data, rng).data for _ in range(draws)]
    name = method.protects(data)[-1]
    codes = [alike(data.columns[name], one.columns[name])[1].numbered()[0] for one in made]
    evidence = method.likelihood(data, made[0])
    assert evidence is not None
    log = total(evidence[-1:])  # of every released cell of the first draw given every original one
    before = data.columns[name].numbered()[0]
    for released, row in {int(code): row for row, code in enumerate(codes[0])}.items():
        for original, column in {int(code): column for column, code in enumerate(before)}.items():
            found = np.mean([(one == released)[before == original].mean() for one in codes])
            assert np.exp(log[row, column]) == pytest.approx(found, abs=0.05)


def test_a_pipeline_has_the_formulas_of_its_steps_if_no_column_is_treated_twice() -> None:
    data = numbers(np.random.default_rng(0).normal(size=(6, 2)))
    noise = [tm.Noise(0.5, attributes=(name,)) for name in ("c0", "c1")]
    assert tm.Pipeline(noise).likelihood(data, data) is not None
    assert tm.Pipeline([noise[0], noise[0]]).likelihood(data, data) is None
    assert tm.Pipeline([noise[0], tm.Rounding({"c1": 1})]).likelihood(data, data) is None
    assert tm.Microaggregation(2).likelihood(data, data) is None


NOTHING = pa.table(
    {"id": list("abcd"), **{name: pa.nulls(4, pa.string()) for name in ("grade", "plain", "concept", "rest")}}
)


@example(NOTHING.add_column(1, "number", pa.nulls(4, pa.int64())), tm.Pram(0.5))
@settings(max_examples=25, deadline=None)
@given(tables(least=4, most=12), st.sampled_from([tm.Noise(0.5), tm.Noise(0.5, correlated=True), tm.Pram(0.5)]))
def test_what_was_released_is_possible(frame: pa.Table, method: Method) -> None:
    """Whatever is missing or constant: a record's own original is never ruled out, and links are those of all pairs."""
    data = Microdata.from_frame(frame, SCHEMA)
    try:
        made = masked(data, method)
    except tm.DataError:
        return  # too few values for correlations
    before = data.replace({name: alike(x, made.columns[name])[0] for name, x in data.columns.items()})
    after = made.replace({name: alike(x, made.columns[name])[1] for name, x in data.columns.items()})
    evidence = method.likelihood(before, after)
    assert evidence is not None
    every, rows = total(evidence), np.arange(data.n)
    assert np.isfinite(every[rows, rows]).all()
    links = linking.linked(list(evidence), rows, rows, np.random.default_rng(1))
    best = every >= every.max(axis=1, keepdims=True) - 1e-9
    np.testing.assert_allclose(links.chances, best[rows, rows] / best.sum(axis=1))


# ----------------------------------------------------------------------------------- repetitions


def test_learned_chances_of_a_rule_that_is_known() -> None:
    """A number moves up by one with chance 1/4, else it stays."""
    rng = np.random.default_rng(1)
    data = numbers(np.repeat(np.arange(20.0), 50)[:, None])
    x = data.columns["c0"]
    made = [x.with_values(np.minimum(x.numbers() + (rng.random(1_000) < 0.25), 19)) for _ in range(30)]
    found = learned(x, made[:1], made[1:]).evidence[0]
    assert isinstance(found, CodeEvidence)
    assert found.log is not None
    chance = np.exp(found.log[:20, :20])
    np.testing.assert_allclose(chance[range(19), range(19)], 0.75, atol=0.04)
    np.testing.assert_allclose(chance[range(1, 20), range(19)], 0.25, atol=0.04)
    np.testing.assert_allclose(np.exp(found.log).sum(axis=0)[:20], 1, atol=0.01)


def test_what_becomes_of_a_record_is_learnt_beyond_its_value() -> None:
    """All ages are equal; every record has a released age of its own kind with chance 9/10, else any of four."""
    rng = np.random.default_rng(1)
    data = numbers(np.repeat([[1.0], [2.0], [3.0], [4.0]], 25, axis=0))
    x, kind = data.columns["c0"], rng.integers(1, 5, 100).astype(float)
    made = [x.with_values(np.where(rng.random(100) < 0.9, kind, rng.integers(1, 5, 100))) for _ in range(60)]
    found = learned(x, made[:1], made[1:]).evidence[0]
    assert isinstance(found, CodeEvidence)
    assert found.log is not None
    chance = np.exp(found.log[(kind - 1).astype(int), found.original])
    np.testing.assert_allclose(chance.mean(), 0.925, atol=0.02)
    rule = [x.with_values(np.where(rng.random(100) < 0.9, x.numbers(), 1.0)) for _ in range(60)]
    plain = learned(x, rule[:1], rule[1:]).evidence[0]
    assert isinstance(plain, CodeEvidence)
    assert len(np.unique(plain.original)) == 4  # nothing is known of a record beyond its value


def test_a_method_is_repeated_as_long_as_that_teaches_something() -> None:
    """Records that are swapped together are known after many repetitions only; 12 are not enough."""
    table, schema = census(3, 60)
    release = tm.protect(table, schema, tm.RankSwapping(p=10, algorithm=3), seed=3)
    found = release.evaluate(attackers=["informed"]).attackers.informed
    assert int(re.findall(r"repeated (\d+) times", found.how)[0]) > 100
    some = learnt_by_repeating(
        tm.NumericalSwapping(p=10), release.original, None, dict(pairs_of(release)), np.random.default_rng(1), None
    )
    assert "repeated 100 times." in some[0].how


def pairs_of(release: tm.Release) -> list[tuple[str, tuple[Any, Any]]]:
    columns = release.original.columns
    return [(name, (columns[name], release.released.columns[name])) for name in columns]


@pytest.mark.parametrize("method", [tm.MicroHybrid(4), tm.RankSwapping(p=8, algorithm=3)], ids=str)
def test_as_well_as_a_naive_intruder_who_counts_what_becomes_of_each_record(method: Method) -> None:
    """Who repeats the method 60 times, and gives every value that a record had once or more its share of them."""
    table = read_table(DATA / "casc" / "Tarragona.csv")
    names = table.column_names[:6]
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names])
    release = tm.protect(table.select(names).slice(0, 150), schema, method, seed=3)
    data, total = release.original, np.zeros((150, 150))
    repeated = [method.mask(data, np.random.default_rng(seed)).data for seed in range(1_000, 1_060)]
    for name in names:
        z = release.released.columns[name].numbers()
        total += np.log(np.mean([z[:, None] == one.columns[name].numbers() for one in repeated], axis=0) + 0.2 / len(z))
    naive = (total.argmax(axis=1) == np.arange(150)).mean()
    informed = release.evaluate(attackers=["informed"]).attackers.informed.share.value
    assert naive > 0.2
    assert informed >= naive - 0.05


def test_numbers_that_move_together_are_learnt_together() -> None:
    """Normal numbers with correlated normal noise: about as many are found as by the density that made them."""
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(300, 3)), np.linalg.cholesky(np.full((3, 3), 0.95) + 0.05 * np.eye(3))
    data, rows = numbers(x), np.arange(300)
    z, *others = (numbers(x + rng.normal(size=x.shape) @ noise.T) for _ in range(80))
    columns = {name: (column, z.columns[name]) for name, column in data.columns.items()}
    repeated = [one.columns for one in others]
    assert moving_together(columns, repeated) == ["c0", "c1", "c2"]
    (found,) = learned_jointly(columns, repeated, ["c0", "c1", "c2"])
    released = np.column_stack([column.numbers() for column in z.columns.values()])
    apart = np.linalg.solve(noise, (released[:, None] - x).reshape(-1, 3).T)
    shares = [(one.argmax(axis=1) == rows).mean() for one in (-(apart**2).sum(axis=0).reshape(300, 300), total(found))]
    alone = [learned(a, [b], [one[name] for one in repeated]).evidence[0] for name, (a, b) in columns.items()]
    assert shares[1] > shares[0] - 0.04
    assert shares[1] > 2 * (total(alone).argmax(axis=1) == rows).mean()


def test_numbers_with_missing_cells_and_categories_are_not_learnt_together() -> None:
    data = numbers(np.array([[1.0, 2.0, 3.0], [2.0, 3.0, np.nan], [5.0, 1.0, 2.0]]))
    columns = {name: (column, column) for name, column in data.columns.items()}
    assert moving_together(columns, [data.columns] * 2) == ["c0", "c1"]
    assert moving_together(columns, [data.columns]) == []  # draws nothing
    assert moving_together({name: columns[name] for name in ("c1", "c2")}, [data.columns] * 2) == []


@pytest.mark.parametrize(
    "method",
    [
        tm.ReverseMapping(tm.Noise(0.5, correlated=True)),
        tm.Pipeline([tm.Noise(0.5, correlated=True), tm.NumericalSwapping(p=2)]),
    ],
    ids=["reverse mapping", "swapped"],
)
def test_correlated_noise_is_found_behind_another_step(method: Method) -> None:
    """An intruder who took the repeated numbers for normal ones found .39 and .30, by each column .21 and .18."""
    release = tm.protect(*census(8), method, seed=3)
    found = release.evaluate(attackers=["nearest", "informed"]).attackers
    assert found.informed.share.value > 1.5 * found.nearest.share.value
    assert "The numbers of a record are taken together." in found.informed.how
    assert "of 4 ways" in found.informed.how


def test_records_of_a_longer_table_are_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What their values tell and what became of each is together what a table of both tells of a shorter one."""
    rng = np.random.default_rng(1)
    data = numbers(np.repeat([[1.0], [2.0], [np.nan], [4.0]], 25, axis=0))
    x, kind = data.columns["c0"], rng.integers(1, 5, 100).astype(float)
    made = [x.with_values(np.where(rng.random(100) < 0.9, kind, x.numbers())) for _ in range(30)]
    (short,) = learned(x, made[:1], made[1:]).evidence
    monkeypatch.setattr(learning, "EACH", 99)
    (long,) = learned(x, made[:1], made[1:]).evidence
    assert isinstance(short, CodeEvidence)
    assert isinstance(long, learning.OfRecords)
    assert short.log is not None
    assert long.log is not None
    rows = np.arange(100)
    every = np.tile(rows, (100, 1))
    together = long.log[long.released[:, None], long.original] + long.closer(rows, every)
    np.testing.assert_allclose(together, short.log[short.released[:, None], short.original], atol=1e-9)


def test_of_a_longer_table_the_finding_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table, schema = census(3, 120)
    release = tm.protect(table, schema, tm.RankSwapping(p=10, algorithm=3), seed=3)
    monkeypatch.setattr(informed, "ALL_AT_ONCE", 100)
    monkeypatch.setattr(learning, "EACH", 100)
    found = release.evaluate(attackers=["informed"]).attackers.informed
    assert (
        "Each record with the likeliest, the 16 likeliest by their values told apart by what became of each"
        in found.how
    )


def test_a_method_that_draws_nothing_is_repeated_once() -> None:
    table, schema = census(4, 60)
    found = tm.protect(table, schema, tm.Microaggregation(3), seed=1).evaluate(attackers=["informed"])
    assert found.attackers.informed.how.startswith("By what the method does to these records, repeated once")
    assert "further repetition" not in found.attackers.informed.how
    noisy = tm.protect(table, schema, tm.Noise(0.5), seed=1).evaluate(attackers=["informed"])
    assert noisy.attackers.informed.how.startswith("By the formula of the method.")
    swapped = tm.protect(table, schema, tm.NumericalSwapping(p=10), seed=1).evaluate(attackers=["informed"])
    assert re.search(r"repeated \d+ times\.", swapped.attackers.informed.how)


def test_a_long_search_is_repeated_in_short_which_the_finding_says() -> None:
    from taxomask.measures.risk.attackers.repetitions import _shortened

    refined = tm.Microaggregation(3, algorithm="refined")
    short, most = _shortened(refined, 200)
    assert most == 12
    assert getattr(short, "steps", None) == 150 * 200
    assert (
        getattr(_shortened(tm.Microaggregation(3, algorithm="refined", block_size=100), 200)[0], "steps", None)
        == 15_000
    )
    few = tm.Microaggregation(3, algorithm="refined", steps=1_000)
    assert _shortened(few, 200) == (few, 4)
    plain = tm.Microaggregation(3)
    assert _shortened(plain, 200) == (plain, 400)
    both, most = _shortened(tm.Pipeline((refined, tm.Noise(0.1))), 200)
    assert isinstance(both, tm.Pipeline)
    assert [getattr(step, "steps", None) for step in both.methods] == [30_000, None]
    assert most == 12
    table, schema = census(3, 60)
    found = tm.protect(table, schema, refined, seed=1).evaluate(attackers=["informed"])
    assert "repeated 12 times with a search of 150 steps for each record." in found.attackers.informed.how


def test_the_seed_of_a_release_is_of_no_use() -> None:
    """An evaluation with the seed of the release draws other numbers than the release."""
    table, schema = census(3, 60)
    method = tm.NumericalSwapping(p=40)
    release = tm.protect(table, schema, method, seed=7)
    shares = [release.evaluate(attackers=["informed"], seed=seed).headline["risk"] for seed in (7, 8, 9)]
    assert abs(shares[0] - np.mean(shares[1:])) < 0.15


def test_without_the_method_nobody_is_informed() -> None:
    table, schema = census(3, 30)
    release = tm.protect(table, schema, tm.Noise(0.5), seed=1)
    assert tm.evaluate(table, release.data, schema).attackers.informed is None
    assert tm.evaluate(table, release.data, schema, tm.Noise(0.5)).attackers.informed is not None


def test_columns_released_as_they_are_rule_out() -> None:
    """Nothing is learnt from the column that is the same for all; the other leaves two candidates each."""
    table = pa.table({"a": ["x"] * 4, "b": [0.0, 0.0, 1.0, 1.0]})
    schema = tm.Schema(
        [
            tm.Attribute("a", role="quasi_identifier", kind="nominal"),
            tm.Attribute("b", role="quasi_identifier", kind="continuous"),
        ]
    )
    found = tm.evaluate(table, table, schema, tm.Pram(0.1, attributes=("a",)), attackers=["informed"])
    assert found.attackers.informed.chances.tolist() == [0.5] * 4


# ----------------------------------------------------------------------------------- real tables


@pytest.mark.parametrize(
    ("columns", "method", "intruder"),
    [
        (13, tm.MultiplicativeNoise(0.5), 0.482),
        (13, tm.Noise(1.0, correlated=True), 0.199),
        (8, tm.NumericalSwapping(p=20), 0.552),
        (8, tm.RankSwapping(p=20), 0.913),
        (8, tm.MicroHybrid(10), 0.207),
    ],
    ids=lambda one: one.name if isinstance(one, Method) else str(one),
)
def test_census_as_well_as_an_intruder_has_done(columns: int, method: Method, intruder: float) -> None:
    found = shares(*census(columns), method)
    assert found["informed"] >= intruder - 0.05
    assert found["informed"] > 1.4 * found["nearest"]


@pytest.mark.parametrize("method", [tm.Microaggregation(5), tm.ReverseMapping(tm.Microaggregation(5))], ids=str)
def test_groups_hide_their_records_from_those_who_know_the_method(method: Method) -> None:
    table, schema = census(8)
    found = tm.protect(table, schema, method, seed=3).evaluate(attackers=["informed", "one_to_one"])
    assert found.attackers.informed.share.low <= 1 / 5
    if isinstance(method, tm.Microaggregation):
        assert max(one.share.value for one in (found.attackers.informed, found.attackers.one_to_one)) <= 1 / 5


def test_numbers_between_the_steps_of_semantic_noise_are_found_as_those_on_them() -> None:
    """Who knows the method puts what they know on its grid first, and cuts off what is beyond its range."""
    table, schema = census(8)
    domain = {name: [0, 50_000, 500] for name in schema}
    found = shares(table, schema, tm.SemanticNoise(64, domain=domain))
    assert found["informed"] > found["nearest"] + 0.1
    coarse = pa.table({"age": [11.0, 12.0, 58.0, 73.0]})
    ages = tm.Schema([tm.Attribute("age", role="quasi_identifier", kind="continuous")])
    data, released = (Microdata.from_frame(one, ages) for one in (coarse, pa.table({"age": [10.0, 10.0, 60.0, 60.0]})))
    formula = tm.SemanticNoise(4, domain={"age": [0, 60, 10]}).likelihood(data, released)
    assert formula is not None
    chance = np.exp(total(formula))
    assert (chance > 0).all()
    np.testing.assert_allclose(chance[:, 0], chance[:, 1])  # 11 and 12 are both 10
    np.testing.assert_allclose(chance[:, 2], chance[:, 3])  # 58 and 73 are both 60
    assert chance[0, 0] > chance[0, 2]


def test_in_a_very_long_table_the_method_is_repeated_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    table, schema = census(8)
    release = tm.protect(table, schema, tm.RankSwapping(p=10), seed=3)
    whole = release.evaluate(attackers=["nearest", "informed"])
    monkeypatch.setattr(repetitions, "LARGEST", 1_000)
    monkeypatch.setattr(repetitions, "SAMPLE", 400)
    monkeypatch.setattr(repetitions, "MORE", 1)
    some = release.evaluate(attackers=["nearest", "informed"])
    assert "a random 400 of these records, repeated 50 times." in some.attackers.informed.how
    assert "to these records, repeated" in whole.attackers.informed.how
    assert some.attackers.informed.targets == 1_080  # all are looked for
    assert some.headline["nearest"] + 0.1 < some.headline["risk"] <= whole.headline["risk"] + 0.05


@pytest.mark.parametrize("more", ["likeliest", "one to one"])
def test_of_two_ways_to_link_the_one_that_found_more_people_in_another_repetition_counts(
    monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """Which finds more in the release itself plays no part; a person is found if any record of theirs is.

    In the repetition one way finds a record each of two people for sure, the other both records of one.
    """
    table = pa.table({"who": ["a", "a", "b", "b"], "x": [1.0, 2.0, 3.0, 4.0]})
    schema = tm.Schema(
        [tm.Attribute("who", role="identifier"), tm.Attribute("x", role="quasi_identifier", kind="continuous")],
        person="who",
    )
    two, one, none = np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.9, 0.0]), np.zeros(4)
    ways = (two, one) if more == "likeliest" else (one, two)
    found_in = {"release": (none, none + 1) if more == "likeliest" else (none + 1, none), "repetition": ways}
    asked: list[str] = []

    def linked(evidence: list[Any], *_: Any) -> linking.Links:
        (number,) = (one for one in evidence if isinstance(one, NumberEvidence))
        place = "release" if np.array_equal(number.released, number.original) else "repetition"
        asked.append(place)
        return linking.Links(np.zeros((4, 1)), np.zeros((4, 1)), found_in[place][0], found_in[place][1], none)

    monkeypatch.setattr(informed, "linked", linked)
    monkeypatch.setattr(
        informed, "WAYS", dict(zip((informed._likeliest, lambda links, *_: links.there), WAYS, strict=True))
    )
    found = tm.evaluate(table, table, schema, tm.Noise(0.5), attackers=["informed"]).attackers.informed
    assert asked == ["repetition", "release"]
    assert found.share.value == 0.0  # the other way would have found everybody
    assert WAYS[more == "one to one"] in found.how


WAYS = ("Each record with the likeliest", "All records at once, one to one")


def test_a_table_of_more_records_than_twice_those_looked_for_is_not_linked_one_to_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, schema = census(3, 60)
    release = tm.protect(table, schema, tm.Noise(0.5), seed=1)
    assert "of 2 ways" in release.evaluate(attackers=["informed"]).attackers.informed.how
    monkeypatch.setattr(informed, "ALL_AT_ONCE", 59)
    found = release.evaluate(attackers=["informed"]).attackers.informed
    assert found.how == "By the formula of the method. Each record with the likeliest."


@settings(max_examples=15, deadline=None)
@given(tables(least=6, most=16), st.integers(2, 4))
def test_microaggregation_never_gives_more_than_one_in_k(frame: pa.Table, k: int) -> None:
    if frame.num_rows < k:
        return
    data = Microdata.from_frame(frame, SCHEMA)
    method = tm.Microaggregation(k)
    known = Known(method=method, attackers=("nearest", "one_to_one", "informed"))
    found = summary(data, masked(data, method), method.protects(data), known)
    assert max(found.shares.values()) <= 1 / k + 1e-9


# ----------------------------------------------------------------------------------- rank intervals and membership


def test_rank_intervals() -> None:
    """Within one rank in both columns: 1 and 2 are each other's only candidates besides themselves."""
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.0]})
    schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in ("a", "b")])
    method = tm.NumericalSwapping(k=1)
    after = pa.table({"a": [2.0, 1.0, 4.0, 3.0], "b": [2.0, 1.0, 4.0, 3.0]})
    found = tm.evaluate(table, after, schema, method, attackers=["rank_intervals"])
    one = found.attackers.rank_intervals
    assert one.chances == pytest.approx([1 / 2, 1 / 3, 1 / 3, 1 / 2])
    assert one.how == "The released records whose values of 2 columns are all within 1 ranks."
    assert found.headline["attacker"] == "rank_intervals"
    noisy = tm.evaluate(table, after, schema, tm.Noise(), attackers=["rank_intervals"])
    assert noisy.attackers.rank_intervals is None


def test_members_are_told_apart_by_hand() -> None:
    share, each = share_told_apart(np.array([0.0, 0.0, 5.0]), np.array([1.0, 5.0]))
    assert each.tolist() == [1, 1, 0]  # the last is nearer than none and as near as one: an area of 1/4
    assert share.value == pytest.approx(2 * (1 + 1 + 0.25) / 3 - 1)
    assert share_told_apart(np.array([9.0, 9.0]), np.array([1.0, 2.0]))[0].value == 0
    assert 0 <= share.low <= share.value <= share.high <= 1


@dataclass(frozen=True)
class Copies(Method):
    """Not linked, and every record is one of the original."""

    name = "copies"
    about = "Draws records."
    reference = "none"

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Any = None) -> Masked:
        made = data.take(rng.permutation(data.n))
        return Masked(data.replace({name: made.columns[name] for name in data.schema.quasi_identifiers}), linked=False)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return ()


def test_membership_tells_copies_from_a_synthetic_table() -> None:
    table, schema = census(4, 300)
    copied = tm.evaluate(table, table, schema, Copies(), linked=False)
    assert (copied.headline["attacker"], copied.headline["risk"]) == ("membership", 1.0)
    synthetic = tm.Imputation(synthesis="full")
    release = tm.protect(table, schema, synthetic, seed=1)
    assert not release.linked
    found = release.evaluate(attackers=["membership"]).attackers.membership
    assert found.share.value < 0.3
    assert found.share.baseline == 0
    assert (~np.isnan(found.chances)).sum() == 150
    few = tm.evaluate(table.slice(0, 20), table.slice(0, 20), schema, Copies(), linked=False)
    assert few.attackers.membership is None
