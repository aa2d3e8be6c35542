from __future__ import annotations

from collections import Counter
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

import taxomask as tm
from taxomask.measures.risk import (
    Rate,
    class_sizes,
    individual_risk,
    l_diversity,
    reidentification,
    t_closeness,
)
from taxomask.semantics import earth_mover

from .conftest import NAMES, cells, pairs, table, tables


def rows(data: tm.Microdata, names: tuple[str, ...]) -> list[tuple[object, ...]]:
    return list(zip(*(cells(data, name) for name in names), strict=True))


def test_sizes_by_hand() -> None:
    original = table(number=[1, 2, 3, 4, 5, 6])
    released = table(number=[1, 1, 1, 7, 7, None])
    sizes = class_sizes(original, released)
    assert (sizes.records, sizes.classes, sizes.k, sizes.uniques) == (6, 3, 1, 1)
    assert sizes.sizes == ((1, 1), (2, 1), (3, 1))
    assert (sizes.original_k, sizes.original_uniques) == (1, 6)
    risk = reidentification(original, released, threshold=0.4)
    assert risk.prosecutor.highest == 1
    assert risk.prosecutor.mean.value == pytest.approx(3 / 6)
    assert risk.prosecutor.mean.baseline == pytest.approx(1 / 6)
    assert risk.prosecutor.above.value == pytest.approx(3 / 6)
    assert risk.journalist is None


@given(pairs(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), tables())
@settings(max_examples=30)
def test_naive_classes(both: tuple[tm.Microdata, tm.Microdata], names: list[str], population: tm.Microdata) -> None:
    original, released = both
    sample = rows(released, tuple(names))
    counts, register = Counter(sample), Counter(rows(population, tuple(names)))
    sizes = class_sizes(original, released, names)
    assert sizes.k == min(counts.values())
    assert sizes.uniques == sum(count == 1 for count in counts.values())
    assert dict(sizes.sizes) == dict(Counter(counts.values()))
    risk = reidentification(original, released, names, population=population)
    n = len(sample)
    assert risk.prosecutor.highest == pytest.approx(max(1 / counts[row] for row in sample))
    assert risk.prosecutor.mean.value == pytest.approx(sum(1 / counts[row] for row in sample) / n)
    assert risk.journalist is not None
    chances = [1 / register[row] if register[row] else 0 for row in sample]
    assert risk.journalist.mean.value == pytest.approx(sum(chances) / n)
    assert risk.journalist.above.value == pytest.approx(sum(chance > 0.2 for chance in chances) / n)
    assert risk.marketer.value == pytest.approx(
        sum(min(chance, 1 / counts[row]) for chance, row in zip(chances, sample, strict=True)) / n
    )
    assert risk.unmatched == sum(register[row] == 0 for row in sample)


def posterior_mean(f: int, p: float) -> float:
    """E(1/F | f) from the negative binomial distribution itself."""
    j = np.arange(f, 6000)
    return float((nbinom.pmf(j - f, f, p) / j).sum())


@given(st.one_of(st.integers(1, 6), st.integers(15, 60)), st.floats(0.05, 1.0))
@settings(max_examples=30)
def test_individual_risk_is_the_mean_of_1_over_the_class_in_the_population(f: int, p: float) -> None:
    data = table(number=[4.0] * f)
    risk = individual_risk(data, data, np.full(f, 1 / p))
    np.testing.assert_allclose(risk.records, posterior_mean(f, p), rtol=1e-9)
    assert risk.expected == pytest.approx(f * posterior_mean(f, p))


def test_individual_risk_by_hand() -> None:
    data = table(number=[1, 2, 2])
    risk = individual_risk(data, data, [10.0, 5.0, 5.0])
    p, q = 0.1, 2 / 10
    single = p / (1 - p) * log(1 / p)
    double = q / (1 - q) - (q / (1 - q)) ** 2 * log(1 / q)
    np.testing.assert_allclose(risk.records, [single, double, double])
    assert risk.mean.baseline == pytest.approx(1 / 20)
    assert risk.highest == pytest.approx(single)
    everybody = individual_risk(data, data, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(everybody.records, [1, 0.5, 0.5])
    huge = table(number=[1.0] * 5000)
    assert individual_risk(huge, huge, np.full(5000, 100.0)).records[0] == pytest.approx(1 / 500_000, rel=1e-3)


def test_weights_from_a_column_and_bad_ones() -> None:
    data = table(number=[1, 2, 2], secret_number=[10, 5, 5], plain=["x", "x", "x"])
    np.testing.assert_array_equal(
        individual_risk(data, data, "secret_number", ["number"]).records,
        individual_risk(data, data, [10, 5, 5], ["number"]).records,
    )
    with pytest.raises(tm.SchemaError, match="'weight', which is not a coded column of numbers"):
        individual_risk(data, data, "weight")
    with pytest.raises(tm.SchemaError, match="Give it the kind"):
        individual_risk(data, data, "plain")
    with pytest.raises(tm.DataError, match="2 weights for 3 released records"):
        individual_risk(data, data, [1, 2])
    with pytest.raises(tm.DataError, match="not above 0"):
        individual_risk(data, data, [1, 0, np.nan])


@given(pairs(), st.sampled_from(NAMES), st.sampled_from(NAMES))
@settings(max_examples=30)
def test_naive_diversity(both: tuple[tm.Microdata, tm.Microdata], name: str, secret: str) -> None:
    original, released = both
    secret = f"secret_{secret}"
    values = cells(released, secret)
    classes: dict[object, list[int]] = {}
    for i, row in enumerate(cells(released, name)):
        classes.setdefault(row, []).append(i)
    found = l_diversity(original, released, secret, [name])
    assert found.l == min(len({values[i] for i in members}) for members in classes.values())
    entropies = []
    for members in classes.values():
        shares = [count / len(members) for count in Counter(values[i] for i in members).values()]
        entropies.append(exp(-sum(share * log(share) for share in shares)))
    assert found.entropy_l == pytest.approx(min(entropies))
    alone = [members for members in classes.values() if len({values[i] for i in members}) == 1]
    n = len(values)
    assert found.disclosed.value == pytest.approx(sum(map(len, alone)) / n)
    chance = sum(
        len(members) / n * sum(comb(count, len(members)) for count in Counter(values).values()) / comb(n, len(members))
        for members in classes.values()
    )
    assert found.disclosed.baseline == pytest.approx(chance)
    distance = earth_mover(released.columns[secret])
    closeness = t_closeness(original, released, secret, [name])
    distances = {size: distance(np.array(members)) for size, members in classes.items()}
    assert closeness.t == pytest.approx(max(distances.values()))
    assert closeness.mean == pytest.approx(sum(distances[row] for row in cells(released, name)) / n)


def test_one_class_tells_nothing() -> None:
    data = table(number=[1, 1, 1, 1], secret_concept=["a1", "a2", "b1", "b1"])
    closeness = t_closeness(data, data, "secret_concept")
    assert (closeness.t, closeness.mean) == (0, 0)
    assert l_diversity(data, data, "secret_concept").l == 3


def test_wilson() -> None:
    rate = Rate.of(0, 10, 0.25)
    assert (rate.value, rate.low) == (0, 0)
    assert rate.high == pytest.approx(0.2775, abs=1e-4)
    assert Rate.of(10, 10, 0.25).high == 1
    assert Rate.of(10, 10, 0.25).excess == 1
    assert Rate.of(5, 20, 0.25).excess == 0
    assert Rate.of(0, 0, 0.0) == Rate(0.0, 0.0, 1.0, 0.0, 0)
    assert str(Rate.of(8, 10, 0.1)) == "0.8000 (0.4902 to 0.9433; a random guess 0.1000)"


def test_the_largest_of_many_shares_has_an_interval_that_allows_for_it() -> None:
    """Of 2,000 tables with 40 sets of columns by each of which 20 % are expected to be found."""
    hits = np.random.default_rng(1).binomial(500, 0.2, (2_000, 40)).max(axis=1)
    largest = [Rate.of(int(one), 500, 0.0) for one in hits]
    assert np.mean([one.low > 0.2 for one in largest]) > 0.3  # as if it were the only one
    allowing = [one.largest_of(40) for one in largest]
    assert np.mean([one.low > 0.2 for one in allowing]) < 0.03
    assert [(one.value, one.high) for one in allowing] == [(one.value, one.high) for one in largest]
    assert largest[0].largest_of(1) is largest[0]
    assert Rate.of(0, 0, 0.0).largest_of(3) == Rate.of(0, 0, 0.0)


def test_no_records_and_no_attributes_are_errors() -> None:
    data = table(number=[1, 2], secret_plain=["x", "y"])
    nobody = data.take(np.zeros(0, dtype=int))
    with pytest.raises(tm.DataError, match="the released table has no records"):
        class_sizes(data, nobody)
    with pytest.raises(tm.SchemaError, match="the original table has no coded column 'nmber'"):
        class_sizes(data, data, ["nmber"])
    with pytest.raises(tm.SchemaError, match="no quasi-identifiers"):
        class_sizes(table(secret_plain=["x"]), table(secret_plain=["x"]))
