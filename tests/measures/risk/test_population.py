"""Population uniques: by hand, on populations whose uniques are known, and where nothing can be estimated."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

import taxomask as tm
from taxomask.measures.risk import population_uniques
from taxomask.measures.risk.population import BY_FIT, EVERYBODY, NONE_UNIQUE, _estimated, _log_drawn, _Sizes

from .conftest import table

Whole = NDArray[np.int64]


def sampled(population: Whole, n: int, rng: np.random.Generator) -> tuple[Whole, int]:
    """The sizes of classes in a random sample, and how many of its records are unique in the population."""
    sample = population[rng.choice(len(population), n, replace=False)]
    classes, sizes = np.unique(sample, return_counts=True)
    alone = np.bincount(population) == 1
    return sizes, int(alone[classes].sum())


def negative_binomial(classes: int, alpha: float, beta: float, rng: np.random.Generator) -> Whole:
    """People by their class; a class has 1 + X of them."""
    return np.repeat(np.arange(classes), 1 + rng.negative_binomial(alpha, beta, classes))


def pitman(people: int, theta: float, alpha: float, rng: np.random.Generator) -> Whole:
    """People by their class: each opens a class, or joins one with a chance that grows with its size less α."""
    who, sizes = np.zeros(people, dtype=np.int64), [1]
    draws = rng.random((people, 2))
    for i in range(1, people):
        if draws[i, 0] * (theta + i) < theta + alpha * len(sizes):
            who[i] = len(sizes)
            sizes.append(1)
            continue
        while True:  # one of the people, and again with the chance α / size
            one = who[rng.integers(i)]
            if rng.random() >= alpha / sizes[one]:
                break
        who[i] = one
        sizes[one] += 1
    return who


def test_zayatz_by_hand() -> None:
    """Eight of sixteen: one class of 1, two of 2, one of 3."""
    found = population_uniques(table(plain=["a", "b", "b", "c", "c", "d", "d", "d"]), 16)
    ways = comb(16, 8)
    one, two, three = 0.5, 2 * comb(14, 7) / ways, 3 * comb(13, 7) / ways
    share = one / (one + 2 * two + three)
    assert found.models["zayatz"].uniques == pytest.approx(share * 1 / 0.5)
    assert (found.population, found.fraction, found.sample_uniques) == (16, 0.5, 1)


@pytest.mark.parametrize(("sizes", "population"), [([1, 2, 2, 3], 16), ([1, 4, 4, 7], 17), ([2, 3, 12], 18)])
def test_drawing_without_replacement(sizes: list[int], population: int) -> None:
    counted = _Sizes.of(np.array(sizes), population)
    for drawn in range(13):
        expected = [
            comb(int(j), drawn) * comb(population - int(j), counted.n - drawn) / comb(population, counted.n)
            if counted.n >= drawn
            else 0.0
            for j in counted.sizes
        ]
        np.testing.assert_allclose(np.exp(_log_drawn(drawn, counted)), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.7])
def test_a_negative_binomial_population(fraction: float) -> None:
    """The right model is chosen, and is off by no more than four standard deviations of a fitted count allow."""
    rng = np.random.default_rng(11)
    people = negative_binomial(20_000, 0.5, 0.1, rng)
    truth = int((np.bincount(people) == 1).sum())
    sizes, inside = sampled(people, int(fraction * len(people)), rng)
    found = _estimated(sizes, len(people))
    assert found.chosen == "negative_binomial"
    assert found.rule == BY_FIT
    # the sample has about fraction·truth records to tell from: 1/√ of them, twice for the two parameters
    assert found.uniques == pytest.approx(truth, rel=4 * 2 / np.sqrt(fraction * truth))
    assert found.expected == pytest.approx(inside, rel=4 * 2 / np.sqrt(fraction * truth))
    model = found.models["negative_binomial"]
    assert model.parameters["alpha"] == pytest.approx(0.5, rel=0.25)
    assert model.parameters["beta"] == pytest.approx(0.1, rel=0.25)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
def test_a_population_of_pitman(fraction: float) -> None:
    rng = np.random.default_rng(12)
    people = pitman(40_000, 50.0, 0.5, rng)
    truth = int((np.bincount(people) == 1).sum())
    sizes, inside = sampled(people, int(fraction * len(people)), rng)
    found = _estimated(sizes, len(people))
    assert found.chosen == "pitman"
    assert found.uniques == pytest.approx(truth, rel=4 * 2 / np.sqrt(fraction * truth))
    assert found.models["pitman"].parameters["alpha"] == pytest.approx(0.5, abs=0.1)
    assert 0 < found.share < 1
    assert found.expected == pytest.approx(inside, rel=4 * 2 / np.sqrt(fraction * truth))


def test_zayatz_where_almost_everybody_is_in_the_sample() -> None:
    rng = np.random.default_rng(13)
    people = np.repeat(np.arange(3_000), rng.choice([1, 5, 9], 3_000))
    truth = int((np.bincount(people) == 1).sum())
    sizes, _ = sampled(people, int(0.95 * len(people)), rng)
    found = _estimated(sizes, len(people))
    assert found.models["zayatz"].uniques == pytest.approx(truth, rel=0.1)


def test_who_fits_as_well_and_finds_more_is_chosen() -> None:
    """Of five records all unique, no model can be told from another: the one with the most uniques it is."""
    found = _estimated(np.ones(5, dtype=np.int64), 50)
    good = {name: one.uniques for name, one in found.models.items() if one.deviance <= 2}
    assert len(good) > 1
    assert found.uniques == max(good.values())
    assert found.uniques <= 50
    assert found.expected <= 5


def test_nothing_to_estimate() -> None:
    alike = population_uniques(table(plain=["a", "a", "b", "b"]), 100)
    assert (alike.uniques, alike.expected, alike.chosen, alike.rule) == (0, 0, "none", NONE_UNIQUE)
    whole = population_uniques(table(plain=["a", "b", "b", "b"]), 4)
    assert (whole.uniques, whole.expected, whole.share, whole.rule) == (1, 1, 1, EVERYBODY)
    with pytest.raises(tm.DataError, match="the table has 4 people and the population 3"):
        population_uniques(table(plain=["a", "b", "b", "b"]), 3)
    with pytest.raises(tm.PlanError, match="population must be an integer of at least 1"):
        population_uniques(table(plain=["a", "b"]), 0)


def test_odd_tables_have_finite_answers() -> None:
    for sizes, population in (([1], 10), ([1, 1], 3), ([1, 5000], 10**7), ([1] * 400 + [2], 10**9), ([1, 2, 3], 7)):
        found = _estimated(np.array(sizes), population)
        assert 0 <= found.uniques <= population, (sizes, population)
        assert 0 <= found.expected <= found.sample_uniques
