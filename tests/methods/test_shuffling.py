"""Data shuffling: the copula against a naive version, what stays and what goes, and all kinds of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata, spearmanr

import taxomask as tm
from taxomask.engines import Memory
from taxomask.errors import DataError, PlanError, SchemaError
from taxomask.methods import _copula
from taxomask.methods.shuffling import Shuffling
from taxomask.microdata import read_table

from .conftest import SCHEMA, TREE, release_of, tables

CENSUS = Path(__file__).parents[1] / "data" / "casc" / "CASCrefmicrodata.csv"


def numbers(table: Any, confidential: list[str]) -> tm.Schema:
    return tm.Schema(
        tm.Attribute(name, role="confidential" if name in confidential else "quasi_identifier", kind="continuous")
        for name in table.column_names
    )


def copula(n: int, columns: int, seed: int) -> np.ndarray:
    """Correlated columns without ties, with different marginals."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, columns)) @ rng.normal(size=(columns, columns))
    values[:, ::2] = np.exp(values[:, ::2] / 3)
    return values


def ranks_of(table: Any) -> np.ndarray:
    return np.column_stack([rankdata(table[name].to_numpy()) for name in table.column_names])


def mask(table: Any, schema: tm.Schema, method: Shuffling, seed: int = 1) -> Any:
    return method.mask(tm.Microdata.from_frame(table, schema), np.random.default_rng(seed))


# --------------------------------------------------------------------------------------- the method


def naive(x: np.ndarray, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The method as its text says it, for values without ties."""
    n, first = x.shape
    both = np.column_stack([x, s])
    ranks = np.column_stack([rankdata(column) for column in both.T])
    scores = ndtri((ranks - 0.5) / n)
    rho = 2 * np.sin(np.pi * np.corrcoef(ranks.T) / 6)
    np.fill_diagonal(rho, 1)
    inverse = np.linalg.inv(rho[first:, first:])
    mean = scores[:, first:] @ inverse @ rho[first:, :first]
    spread = rho[:first, :first] - rho[:first, first:] @ inverse @ rho[first:, :first]
    noise = np.stack([child.standard_normal(n) for child in rng.spawn(first)])
    y = mean + noise.T @ np.linalg.cholesky(spread).T
    out = np.empty_like(x)
    for j in range(first):
        for i in range(n):
            out[i, j] = np.sort(x[:, j])[int((y[:, j] < y[i, j]).sum())]
    return out


@pytest.mark.parametrize("ties", ["corrected", "paper"])
@pytest.mark.parametrize("first", [1, 2, 4])
def test_it_is_the_method_of_the_text(ties: Any, first: int) -> None:
    values = copula(120, 5, seed=first)
    names = [f"c{i}" for i in range(5)]
    table = pa.table(dict(zip(names, values.T, strict=True)))
    masked = mask(table, numbers(table, names[:first]), Shuffling(ties=ties), seed=9)
    expected = naive(values[:, :first], values[:, first:], np.random.default_rng(9))
    for name, column in zip(names, expected.T, strict=False):
        np.testing.assert_array_equal(masked.data.columns[name].values, column)


def test_correlations_stay_and_nothing_else_does() -> None:
    """20,000 records, six columns: rank correlations within 0.02; given S, the old and new values are not related."""
    values = copula(20_000, 6, seed=3)
    names = [f"c{i}" for i in range(6)]
    table = pa.table(dict(zip(names, values.T, strict=True)))
    for confidential in (names[:3], names[2:4], names[5:]):
        release = tm.protect(table, numbers(table, confidential), Shuffling(), seed=4)
        before, after = ranks_of(table), ranks_of(release.data)
        assert np.abs(np.corrcoef(before.T) - np.corrcoef(after.T)).max() <= 0.02
        scores = ndtri((before - 0.5) / len(before))
        s = scores[:, [name not in confidential for name in names]]
        for j in (names.index(name) for name in confidential):
            x, y = scores[:, j], ndtri((after[:, j] - 0.5) / len(after))
            x, y = (v - s @ np.linalg.lstsq(s, v, rcond=None)[0] for v in (x, y))
            assert abs(np.corrcoef(x, y)[0, 1]) <= 0.02
            assert sorted(release.data[names[j]].to_pylist()) == sorted(table[names[j]].to_pylist())


def test_what_is_drawn_does_not_depend_on_whose_values_they_are() -> None:
    """Given nothing, the same values held by other records give the same result."""
    values = copula(60, 3, seed=5)
    other = values[np.random.default_rng(0).permutation(60)]
    results = []
    for one in (values, other):
        table = pa.table({"a": one[:, 0], "b": one[:, 1], "c": one[:, 2]})
        results.append(mask(table, numbers(table, ["a", "b", "c"]), Shuffling(given=())).data)
    for name in "abc":
        np.testing.assert_array_equal(results[0].columns[name].values, results[1].columns[name].values)


@pytest.mark.parametrize(("ties", "low", "high"), [("corrected", 0.0, 0.03), ("paper", 0.12, 0.15)])
def test_ties_do_not_weaken_correlations(ties: Any, low: float, high: float) -> None:
    """Two to four values per column, correlations of 0.33 to 0.43; so many records that chance hardly counts."""
    rng = np.random.default_rng(1)
    latent = rng.multivariate_normal(np.zeros(4), 0.5 + 0.5 * np.eye(4), 80_000)
    table = pa.table(
        {
            "a": (latent[:, 0] > 0.3).astype(float),
            "b": np.digitize(latent[:, 1], [-1, 0, 1]).astype(float),
            "c": (latent[:, 2] > 0).astype(float),
            "d": np.digitize(latent[:, 3], [-0.5, 0.5]).astype(float),
        }
    )
    release = tm.protect(table, numbers(table, ["a", "b"]), Shuffling(ties=ties), seed=2)
    change = np.abs(np.corrcoef(ranks_of(table).T) - np.corrcoef(ranks_of(release.data).T)).max()
    assert low <= change <= high


def test_census() -> None:
    table = read_table(CENSUS)
    confidential = ["PTOTVAL", "POTHVAL", "PEARNVAL"]
    twins = [{"columns": table.column_names, "reason": "incomes, wages and taxes tell each other, as they should here"}]
    release = tm.protect(table, numbers(table, confidential), Shuffling(), seed=1, accept=twins)
    # PTOTVAL is the sum of the two others, but its rank is not that of a sum: nothing has to be repaired.
    columns = tm.Microdata.from_frame(table, numbers(table, confidential)).columns.values()
    engine = Memory()
    ranks = [_copula.ranked(engine, engine.rank(one.cells, ""), one) for one in columns]
    r = _copula.spearman(engine, ranks)
    assert np.linalg.eigvalsh(2 * np.sin(np.pi / 6 * r))[0] == pytest.approx(0.003, abs=5e-4)
    assert not any("positive definite" in note for note in release.notes)
    assert "PEARNVAL: the given attributes explain 99.1% of its variance, so its values move little." in release.notes
    change = np.abs(np.corrcoef(ranks_of(table).T) - np.corrcoef(ranks_of(release.data).T))
    assert change.max() <= 0.08
    assert change.mean() <= 0.01


# --------------------------------------------------------------------------------------- all kinds of columns

MIXED = tm.Schema(
    tm.Attribute(
        one.name,
        role="confidential" if one.name in ("number", "concept") else one.role,
        kind=one.kind,
        order=one.order,
        taxonomy=one.taxonomy,
    )
    for one in SCHEMA.values()
)


@settings(max_examples=50)
@given(
    table=tables(least=2),
    seed=st.integers(0, 9),
    names=st.lists(st.sampled_from(["number", "grade", "plain", "concept"]), min_size=1, unique=True),
)
def test_every_column_is_permuted_and_missing_cells_stay(table: pa.Table, seed: int, names: list[str]) -> None:
    assume(all(len(set(table[name].drop_null().to_pylist())) > 1 for name in names))
    release = release_of(table, SCHEMA, Shuffling(attributes=names), seed)
    if release is None:  # few records, all of them in their old order by chance
        return
    for name in table.column_names[1:]:
        before, after = table[name].to_pylist(), release.data[name].to_pylist()
        assert [value is None for value in before] == [value is None for value in after]
        assert sorted(map(str, before)) == sorted(map(str, after))
        assert name in names or before == after
    assert all(check.holds for check in release.promise)
    assert release.data.equals(tm.protect(table, SCHEMA, Shuffling(attributes=names), seed=seed).data)


def test_real_discharges(discharges: pa.Table, discharge_schema: tm.Schema) -> None:
    method = Shuffling(attributes=["dx01", "care_days"])
    release = tm.protect(discharges, discharge_schema, method, seed=1)
    again, other = (tm.protect(discharges, discharge_schema, method, seed=seed).data for seed in (1, 2))
    assert release.data.equals(again)
    assert not release.data.equals(other)
    for name in ("dx01", "care_days"):
        assert sorted(release.data[name].to_pylist()) == sorted(discharges[name].to_pylist())
    m = tm.marginality(discharges["dx01"].to_pylist(), "icd9cm")
    shuffled = dict(zip(discharges["dx01"].to_pylist(), m, strict=True))
    after = np.array([shuffled[value] for value in release.data["dx01"].to_pylist()])
    for name in ("age", "n_beds"):
        given = discharges[name].to_pylist()
        if name == "n_beds":
            given = [list(discharge_schema["n_beds"].order).index(value) for value in given]
        assert abs(spearmanr(m, given)[0] - spearmanr(after, given)[0]) < 0.06
    assert abs(spearmanr(m, after)[0]) < 0.2


def test_a_plain_given_attribute_keeps_its_means() -> None:
    """Three groups whose means are not in the order of anything: what one rank could not express."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 6_000)
    table = pa.table(
        {"group": np.array(["a", "b", "c"])[group], "pay": rng.normal(size=6_000) + np.array([0, 1.5, 0.7])[group]}
    )
    schema = tm.Schema(
        [
            tm.Attribute("group", role="quasi_identifier", kind="nominal"),
            tm.Attribute("pay", role="confidential", kind="continuous"),
        ]
    )
    after = tm.protect(table, schema, Shuffling(), seed=1).data["pay"].to_numpy()
    before = table["pay"].to_numpy()
    for one in range(3):
        assert after[group == one].mean() == pytest.approx(before[group == one].mean(), abs=0.1)


def test_many_plain_categories() -> None:
    rng = np.random.default_rng(0)
    codes = rng.zipf(1.3, 3_000) % 300
    table = pa.table({"shop": [f"s{i}" for i in codes], "pay": rng.normal(size=3_000) + 2 * (codes == 2)})
    schema = tm.Schema(
        [
            tm.Attribute("shop", role="quasi_identifier", kind="nominal"),
            tm.Attribute("pay", role="confidential", kind="continuous"),
        ]
    )
    release = tm.protect(table, schema, Shuffling(), seed=1)
    rare = len(set(codes.tolist())) - 21
    assert f"shop: the {rare} rarest categories count as one." in release.notes
    assert np.corrcoef(codes == 2, release.data["pay"].to_numpy())[0, 1] > 0.4


# --------------------------------------------------------------------------------------- what is said


def test_notes() -> None:
    x = np.random.default_rng(0).normal(size=50)
    given = [None, *x[1:].tolist()]
    table = pa.table(
        {"a": x, "b": pa.array(given), "c": x + 1, "d": np.ones(50), "e": pa.array([None, None, *range(48)])}
    )
    twins = [{"columns": ["b", "c"], "reason": "copies of a, on purpose"}]
    release = tm.protect(table, numbers(table, ["a", "e"]), Shuffling(), seed=1, accept=twins)
    text = "\n".join(release.notes)
    assert "b: 1 missing values counted as average ones." in text
    assert "d: does not vary" in text
    assert "The correlations were not positive definite and were changed, by" in text
    assert "a: the given attributes explain 100.0% of its variance" in text
    assert "e: 2 missing values stayed where they were." in text


def test_unknown_correlations_are_counted() -> None:
    table = pa.table({"a": pa.array([1.0, 2, 3, None, None, None]), "b": pa.array([None, None, None, 1.0, 2, 3])})
    masked = mask(table, numbers(table, ["a"]), Shuffling())
    assert "1 rank correlations are not known (too few records with both values): taken as 0." in masked.notes


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (Shuffling(attributes=["concpt"]), SchemaError, "no coded column 'concpt'"),
        (Shuffling(given=["age"]), SchemaError, "no coded column 'age'"),
        (Shuffling(given=["concept"]), SchemaError, "'concept' cannot be shuffled and given at once"),
        (Shuffling(attributes=["concept", "concept"]), SchemaError, "attributes names 'concept' twice"),
        (Shuffling(given=["plain", "plain"]), SchemaError, "given names 'plain' twice"),
        (Shuffling(attributes=["rest"]), SchemaError, "no coded column 'rest'"),
        (Shuffling(ties="average"), PlanError, "ties must be 'corrected' or 'paper'"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters(method: Shuffling, error: type[Exception], message: str) -> None:
    table = pa.table(
        {
            "id": ["1", "2", "3"],
            "number": [1, 2, 3],
            "grade": ["low", "mid", "low"],
            "plain": ["x", "y", "x"],
            "concept": sorted(TREE)[:3],
            "rest": ["", "", ""],
        }
    )
    with pytest.raises(error, match=message):
        tm.protect(table, MIXED, method)


def test_of_all_confidential_columns_those_that_do_not_vary_stay_as_they_are() -> None:
    table = pa.table({"a": [4.0] * 6, "b": [1.0, 2, 3, 5, 8, 13], "c": pa.nulls(6, pa.float64())})
    schema = tm.Schema([tm.Attribute(name, role="confidential", kind="continuous") for name in "abc"])
    release = tm.protect(table, schema, tm.Shuffling(), seed=2)
    assert release.data["a"].to_pylist() == [4.0] * 6
    assert release.data["c"].null_count == 6
    assert sorted(release.data["b"].to_pylist()) == table["b"].to_pylist() != release.data["b"].to_pylist()
    assert "a: has only one value and stays as it is." in release.notes
    assert "c: has no value and stays as it is." in release.notes


@pytest.mark.parametrize(
    ("values", "message"), [([4, 4, None], "has only one value"), ([None, None, None], "has no value")]
)
def test_a_constant_column_cannot_be_shuffled(values: list[Any], message: str) -> None:
    table = pa.table({"a": pa.array(values, pa.float64()), "b": [1.0, 2, 3]})
    with pytest.raises(DataError, match=f"column 'a' {message}, so there is nothing to shuffle"):
        tm.protect(table, numbers(table, ["a"]), Shuffling())


def test_a_table_without_confidential_attributes() -> None:
    table = pa.table({"a": [1.0, 2, 3]})
    with pytest.raises(SchemaError, match="no confidential attribute"):
        tm.protect(table, numbers(table, []), Shuffling())
