"""Every measure equals its naive version on small tables of all kinds, with missing values."""

from __future__ import annotations

import warnings
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from scipy.stats import spearmanr

from taxomask.measures import utility as measures

from . import naive
from .naive import CATEGORICAL, CONTINUOUS, NAIVE, NOMINAL, ORDERED, TAXONOMIC, TREE, both, coded

Tables = tuple[pa.Table, pa.Table]


def close(found: Any, expected: Any) -> None:
    assert dict(found) == pytest.approx(dict(expected), rel=1e-9, abs=1e-9, nan_ok=True)


def mean(values: Any) -> float:
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else (nan if list(values) else 0.0)


@given(both())
@settings(max_examples=25)
def test_cells(tables: Tables) -> None:
    original, released = coded(*tables)
    x, y = map(naive.values, tables)
    sse = {name: naive.sse(name, x[name], y[name]) for name in x}
    cells = {name: len(naive.there(x[name], y[name])) for name in x}
    gaps = {name: len(x[name]) - number for name, number in cells.items() if number < len(x[name])}
    found = measures.squared_errors(original, released)
    close(found.each, sse)
    assert found.overall == pytest.approx(sum(sse.values()))
    assert found.left_out == gaps
    found = measures.root_mean_square_errors(original, released)
    close(found.each, {name: sqrt(sse[name] / cells[name]) if cells[name] else 0.0 for name in x})
    number = sum(cells.values())
    assert found.overall == pytest.approx(sqrt(sum(sse.values()) / number) if number else 0.0)
    found = measures.total_distance(original, released)
    dist = {name: sum(naive.d(name, a, b) for a, b in naive.there(x[name], y[name])) for name in CATEGORICAL}
    close(found.each, dist)
    assert found.overall == pytest.approx(sum(dist.values()))
    found = measures.overall_loss(original, released)
    each = {name: naive.overall(name, x[name], y[name]) for name in x}
    close(found.each, each)
    assert found.overall == pytest.approx(mean(each.values()), nan_ok=True)


@given(both())
@settings(max_examples=25)
def test_tables_of_counts(tables: Tables) -> None:
    original, released = coded(*tables)
    x, y = map(naive.values, tables)
    losses, cells, appeared = naive.table_loss(x, y)
    found = measures.table_loss(original, released)
    close(found.relative.each, losses)
    close(found.per_cell.each, {key: losses[key] / cells[key] if cells[key] else 0.0 for key in losses})
    assert found.relative.left_out == appeared
    assert found.relative.overall == pytest.approx(sum(losses.values()))
    assert found.per_cell.overall == pytest.approx(sum(losses.values()) / max(sum(cells.values()), 1))
    entropy = measures.entropy_loss(original, released)
    close(entropy.each, {name: naive.entropy(x[name], y[name]) for name in CATEGORICAL})
    assert entropy.overall == pytest.approx(sum(entropy.each.values()))


@given(both())
@settings(max_examples=25)
def test_relative_differences(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.relative_differences(*coded(*tables))
    for part, statistic in ((found.means, naive.mean), (found.variances, naive.variance)):
        close(part.each, {name: naive.relative(statistic(name, x[name]), statistic(name, y[name])) for name in x})
        assert part.overall == pytest.approx(mean(part.each.values()), nan_ok=True)
    pairs = [pair for pair in combinations(x, 2) if (pair[0] in ORDERED) == (pair[1] in ORDERED)]
    before, after = ({(a, b): naive.covariance(a, b, t[a], t[b]) for a, b in pairs} for t in (x, y))
    close(found.covariances.before, before)
    close(found.covariances.after, after)
    close(found.covariances.each, {key: naive.relative(before[key], after[key]) for key in pairs})


@given(both(least=4))
@settings(max_examples=10)
def test_samples_are_those_of_the_whole_table_when_they_take_everything(tables: Tables) -> None:
    original, released = coded(*tables)
    whole = measures.relative_differences(original, released)
    rng = np.random.default_rng(1)
    found = measures.relative_differences_in_samples(original, released, rng=rng, samples=3, share=1.0)
    for name in ("means", "variances", "covariances"):
        close(getattr(found, name).each, getattr(whole, name).each)


def test_samples_are_drawn_from_both_tables_alike() -> None:
    rng = np.random.default_rng(5)
    frame = pa.table(
        {name: rng.choice(values, 200) for name, values in [("grade", naive.SCALE), ("plain", list("xyz"))]}
        | {name: rng.integers(1, 9, 200) for name in CONTINUOUS}
        | {name: rng.choice(["a1", "a2", "b11"], 200) for name in TAXONOMIC}
    )
    original = coded(frame)[0]
    moved = original.replace(number=original.columns["number"].with_values(original.columns["number"].values * 1.5))
    found = measures.relative_differences_in_samples(original, moved, rng=np.random.default_rng(2))
    assert found.means.each["number"] == pytest.approx(0.5)
    assert found.variances.each["number"] == pytest.approx(1.25)
    assert found.covariances.each["number", "amount"] == pytest.approx(0.5)
    assert found.means.each["amount"] == found.means.each["concept"] == 0
    again = measures.relative_differences_in_samples(original, moved, rng=np.random.default_rng(2))
    assert again == found


@given(both())
@settings(max_examples=25)
def test_information_loss(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.information_loss(*coded(*tables))
    assert found.values is not None
    cells = {name: [abs(a - b) / abs(a) for a, b in naive.there(x[name], y[name]) if a != 0] for name in CONTINUOUS}
    close(found.values.each, {name: sum(every) / len(every) if every else 0.0 for name, every in cells.items()})
    flat = [cell for every in cells.values() for cell in every]
    assert found.values.overall == pytest.approx(sum(flat) / len(flat) if flat else 0.0)
    assert sum(found.values.left_out.values()) == 2 * len(x["number"]) - len(flat)
    for part, statistic in ((found.means, naive.mean), (found.variances, naive.variance)):
        close(
            part.each,
            {name: naive.relative(statistic(name, x[name]), statistic(name, y[name])) for name in CONTINUOUS},
        )
    before, after = (naive.covariance(*CONTINUOUS, t["number"], t["amount"]) for t in (x, y))
    close(found.covariances.each, {CONTINUOUS: naive.relative(before, after)})
    before, after = (naive.correlation(t["number"], t["amount"]) for t in (x, y))
    close(found.correlations.each, {CONTINUOUS: abs(after - before)})
    parts = (found.values, found.means, found.variances, found.covariances, found.correlations)
    assert found.overall == pytest.approx(100 * mean([part.overall for part in parts]), nan_ok=True)


@given(both(least=2))
@settings(max_examples=30)
def test_probabilistic_loss(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.probabilistic_loss(*coded(*tables))
    for name in CONTINUOUS:
        before, after = ([value for (value,) in naive.there(t[name])] for t in (x, y))
        if not before or not after:
            continue
        n, middle = len(before), np.mean(before)
        second, fourth = (float(np.mean((np.array(before) - middle) ** order)) for order in (2, 4))
        assert found.quantiles.each[name] == pytest.approx(naive.quantile_loss(before, after))
        assert found.means.each[name] == pytest.approx(naive.chance(float(np.mean(after) - middle), second / n))
        expected = naive.chance(float(np.var(after)) - second, (fourth - second**2) / n)
        assert found.variances.each[name] == pytest.approx(expected, abs=1e-6)
    before, after = (naive.there(t["number"], t["amount"]) for t in (x, y))
    if before and after:
        covariance, correlation = naive.joint_losses(before, after)
        assert found.covariances.each[CONTINUOUS] == pytest.approx(covariance, abs=1e-6)
        assert found.correlations.each[CONTINUOUS] == pytest.approx(correlation, abs=1e-6)


@given(both())
@settings(max_examples=30)
def test_distance_correlation_of_every_pair_of_kinds(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # semantic distances may give a negative mean product
        found = measures.distance_correlations(*coded(*tables))
    for key in combinations(x, 2):
        before, after = (naive.distance_correlation(*key, *(t[name] for name in key)) for t in (x, y))
        assert found.before[key] == pytest.approx(before, abs=1e-6)
        assert found.each[key] == pytest.approx(abs(after - before), abs=1e-6)


@given(both())
@settings(max_examples=25)
def test_distance_variances(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.distance_variances(*coded(*tables))
    for name in x:
        before, after = ([value for (value,) in naive.there(t[name])] for t in (x, y))
        unit = 1.0
        if name in ORDERED:
            spreads = [float(np.std(every, ddof=1)) for every in (before, before + after) if len(every) > 1]
            unit = next((spread for spread in spreads if spread > 0), 1.0)
        one, other = (
            naive.distance_covariance(m, m) / unit if len(m) else 0.0
            for m in (naive.matrix(name, before), naive.matrix(name, after))
        )
        assert found.each[name] == pytest.approx(abs(other - one), abs=1e-6)


@given(both())
@settings(max_examples=25)
def test_semantic_means(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.semantic_means(*coded(*tables))
    assert set(found.each) == set(NOMINAL)
    for name in TAXONOMIC:
        sample = {value for (value,) in naive.there(x[name])}
        if not sample or not naive.there(y[name]):
            continue
        scope = NAIVE.descendants(NAIVE.lcs(sorted(sample), list(TREE)))
        means = []
        for t in (x, y):
            present = [value for (value,) in naive.there(t[name])]
            candidates = [concept for concept in TREE if concept in scope or (t is y and concept in present)]
            sums = [round(sum(naive.d(name, one, other) for other in present), 9) for one in candidates]
            means.append(candidates[sums.index(min(sums))])
        assert [found.before[name], found.after[name]] == means
        assert found.each[name] == pytest.approx(naive.d(name, *means))


@given(both(complete=True, least=2))
@settings(max_examples=25)
def test_rank_correlations(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.rank_correlations(*coded(*tables))
    orders: dict[str, list[Any]] = {}
    for name in NOMINAL:
        every = sorted(set(x[name]) | set(y[name]), key=list(TREE).index if name in TAXONOMIC else None)
        orders[name] = sorted(every, key=lambda c: round(sum(naive.d(name, c, v) for v in x[name]), 9))
    for a, b in combinations(x, 2):
        results = []
        for t in (x, y):
            u, v = ([orders[n].index(c) for c in t[n]] if n in orders else t[n] for n in (a, b))
            vary = len(set(u)) > 1 and len(set(v)) > 1
            results.append(float(spearmanr(u, v).statistic) if vary else 0.0)
        assert found.before[a, b] == pytest.approx(results[0], abs=1e-9)
        assert found.each[a, b] == pytest.approx(abs(results[1] - results[0]), abs=1e-9)


@given(both())
@settings(max_examples=25)
def test_chapter_counts(tables: Tables) -> None:
    x, y = map(naive.values, tables)
    found = measures.chapter_counts(*coded(*tables))
    for name in TAXONOMIC:
        before, after = ([value for (value,) in naive.there(t[name])] for t in (x, y))
        above = [[concept for value in values for concept in NAIVE.ancestors(value)] for values in (before, after)]
        counts = {c: tuple(float(every.count(c)) for every in above) for c in PARENTS_IN_ORDER}
        assert found.counts[name] == {c: pair for c, pair in counts.items() if any(pair)}
        if not before:
            continue
        top = NAIVE.lcs(sorted(set(before)), list(TREE))
        for level in range(1, 5):
            here = [c for c in PARENTS_IN_ORDER if NAIVE.longest(top, c) == level + 1]
            if any(counts[c][0] for c in here):
                f, g = (np.array([counts[c][i] for c in here]) for i in (0, 1))
                assert found.loss.each[name, level] == pytest.approx(np.abs(f - g).sum() / (f + g).sum())
            else:
                assert (name, level) not in found.loss.each


PARENTS_IN_ORDER = list(TREE)
