"""Refined partitions against a naive loss, on small tables of every kind and on the CASC files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import taxomask as tm
from naive_centres import Centre, ConvexMedian, MarginalMean, Mean, Median, Mode
from taxomask.errors import PlanError
from taxomask.microdata.people import class_owners
from taxomask.partition import mdav
from taxomask.partition.refine import Refinement, default_steps, refine
from taxomask.records import EqualityTerm, NumberTerm, RecordDistance, TableTerm, Term

CASC = Path(__file__).parent.parent / "data" / "casc"
TREE = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "b"), ("d", "b"), ("e", "d")])
KINDS: dict[str, dict[str, Any]] = {
    "number": {"kind": "continuous"},
    "whole": {"kind": "continuous"},
    "grade": {"kind": "ordinal", "order": ["low", "mid", "high", "top"]},
    "plain": {"kind": "nominal"},
    "concept": {"kind": "taxonomic", "taxonomy": TREE},
}
VALUES: dict[str, Any] = {
    "number": [float(x) for x in np.random.default_rng(0).lognormal(size=40)],
    "whole": [0.0, 1.0, 2.0, 7.0],
    "grade": ["low", "mid", "high", "top"],
    "plain": ["x", "y", "z"],
    "concept": ["a", "b", "c", "d", "e"],
}


def table(n: int, seed: int, names: list[str], gone: float) -> tm.Microdata:
    rng = np.random.default_rng(seed)
    columns = {
        name: [None if rng.random() < gone else VALUES[name][rng.integers(len(VALUES[name]))] for _ in range(n)]
        for name in names
    }
    arrays = {name: pa.array(column, pa.float64() if KINDS[name]["kind"] == "continuous" else pa.string())
              for name, column in columns.items()}  # fmt: skip
    attributes = [tm.Attribute(name, role="quasi_identifier", **KINDS[name]) for name in names]
    return tm.Microdata.from_frame(pa.table(arrays), tm.Schema(attributes))


@st.composite
def cases(draw: st.DrawFn) -> tuple[tm.Microdata, NDArray[np.int32], int]:
    k = draw(st.integers(2, 5))
    n = draw(st.integers(k, 40))
    names = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, unique=True))
    seed = draw(st.integers(0, 2**32))
    most = draw(st.integers(1, n // k))  # some groups have 2k records or more
    groups = np.random.default_rng(seed).permutation(np.arange(n) % most).astype(np.int32)
    return table(n, seed, names, draw(st.sampled_from([0.0, 0.0, 0.3, 0.7]))), groups, k


# ------------------------------------------------------------------------------------------------- the loss, naively


def naive_loss(space: RecordDistance, groups: NDArray[np.int32], ordinal: str, objective: RecordDistance) -> float:
    return sum(
        float(_term_loss(choice, term, np.flatnonzero(groups == g), ordinal))
        for g in set(groups.tolist())
        for choice, term in zip(space.terms, objective.terms, strict=True)
    )


def _term_loss(choice: Term, term: Term, rows: NDArray[np.intp], ordinal: str) -> float:
    """What the members lose: ``choice`` selects the released value, ``term`` measures."""
    values = term.coordinates[rows]
    if isinstance(term, NumberTerm):
        if term.levels is not None and ordinal != "mean":
            centre: Centre = Median(term.categories) if ordinal == "median" else ConvexMedian(term.categories)
            level = centre.extend(None if x < 0 else int(x) for x in term.levels[rows]).value()
            return term.between(np.nan if level is None else (level - term.origin) * term.scale, values).sum()
        mean = Mean(40).extend(None if np.isnan(x) else float(x) for x in values).value()
        return term.between(np.nan if mean is None else mean, values).sum()
    if isinstance(choice, TableTerm):
        missing = len(choice.table) - 1
        distances = choice.table / choice.factor if choice.distances is None else choice.distances
        centre = MarginalMean(distances[:-1, :-1])
    else:
        assert isinstance(choice, EqualityTerm)
        missing = choice.categories
        centre = Mode(missing)
    code = centre.extend(None if x == missing else int(x) for x in values).value()
    return term.between(missing if code is None else code, values).sum()


def check(result: Refinement, groups: NDArray[np.int32], k: int) -> None:
    sizes = np.bincount(result.groups)
    assert sizes.min() >= k
    assert result.loss_after <= result.loss_before
    assert len(result.groups) == len(groups)
    first = [int(np.argmax(result.groups == g)) for g in range(len(sizes))]
    assert first == sorted(first)


# --------------------------------------------------------------------------------------------------------- promises


@settings(max_examples=150)
@given(cases(), st.sampled_from(["median", "convex_median", "mean"]), st.booleans(), st.integers(0, 5000))
def test_never_worse_and_the_loss_is_the_naive_one(case: Any, ordinal: Any, generic: bool, steps: int) -> None:
    data, groups, k = case
    space = RecordDistance(data)
    objective = RecordDistance(data, distance="generic") if generic else space
    result = refine(
        space,
        groups,
        k,
        steps=steps,
        ordinal=ordinal,
        rng=np.random.default_rng(1),
        objective=objective if generic else None,
    )
    check(result, groups, k)
    assert result.loss_before == pytest.approx(naive_loss(space, groups, ordinal, objective), abs=1e-8)
    assert result.loss_after == pytest.approx(naive_loss(space, result.groups, ordinal, objective), abs=1e-8)


@settings(max_examples=30)
@given(cases(), st.integers(0, 2**32))
def test_a_seed_gives_the_same_groups(case: Any, seed: int) -> None:
    data, groups, k = case
    first, second = (
        refine(RecordDistance(data), groups, k, steps=2000, rng=np.random.default_rng(seed)) for _ in range(2)
    )
    assert first.groups.tolist() == second.groups.tolist()
    assert first.loss_after == second.loss_after


def test_one_attribute_by_hand() -> None:
    data = numbers(np.array([[0.0], [1], [2], [3], [20], [22], [50], [40]]))
    start = np.array([0, 1, 0, 1, 2, 3, 2, 3], dtype=np.int32)
    result = refine(RecordDistance(data), start, 2, steps=2000, rng=np.random.default_rng(0))
    assert result.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_what_ends_the_search() -> None:
    data = numbers(np.random.default_rng(0).normal(size=(300, 2)))
    space, start = RecordDistance(data), np.repeat(np.arange(100, dtype=np.int32), 3)
    seen: list[float] = []
    done = refine(space, start, 3, steps=10_000, rng=np.random.default_rng(0), progress=seen.append)
    assert done.stopped == "steps"
    assert seen == sorted(seen)
    assert seen[-1] == 1
    short = refine(space, start, 3, steps=10**10, seconds=0.05, rng=np.random.default_rng(0))
    assert short.stopped == "time"
    assert short.loss_after < short.loss_before
    equal = RecordDistance(numbers(np.ones((9, 2))))
    assert refine(equal, start[:9], 3, rng=np.random.default_rng(0)).stopped == "local optimum"


def test_a_long_search_begins_as_a_shorter_one_and_goes_on() -> None:
    space = RecordDistance(numbers(np.random.default_rng(0).normal(size=(60, 3))))
    start, steps = mdav(space, 3), default_steps(60, numbers=True)
    losses = [
        refine(space, start, 3, steps=times * steps, rng=np.random.default_rng(4)).loss_after for times in (1, 2, 3)
    ]
    assert losses == sorted(losses, reverse=True)


def test_groups_that_are_too_small() -> None:
    space = RecordDistance(numbers(np.arange(6.0)[:, None]))
    with pytest.raises(PlanError, match="smallest group has 2 records; k is 3"):
        refine(space, np.array([0, 0, 1, 1, 1, 1], np.int32), 3, rng=np.random.default_rng(0))
    with pytest.raises(PlanError, match="5 records, the table 6"):
        refine(space, np.zeros(5, np.int32), 3, rng=np.random.default_rng(0))


def test_more_points_than_are_compared_with_each_other() -> None:
    space = RecordDistance(table(5000, 3, ["number", "whole", "grade", "plain", "concept"], 0.1))
    start = (np.arange(5000) // 5).astype(np.int32)
    result = refine(space, start, 5, steps=200_000, rng=np.random.default_rng(0))
    check(result, start, 5)
    assert result.loss_after < 0.5 * result.loss_before


def test_a_few_steps_per_record_already_help() -> None:
    # In many dimensions nearly every move is cheap: a search that starts too hot would not get back in time.
    space = RecordDistance(numbers(np.random.default_rng(0).normal(size=(3000, 13))))
    start = mdav(space, 5)
    result = refine(space, start, 5, steps=300_000, rng=np.random.default_rng(0))
    assert result.loss_after < 0.98 * result.loss_before


# -------------------------------------------------------------------------------------------------------- real data


def numbers(values: NDArray[np.float64]) -> tm.Microdata:
    names = [f"v{a}" for a in range(values.shape[1])]
    attributes = [tm.Attribute(name, role="quasi_identifier", kind="continuous") for name in names]
    return tm.Microdata.from_frame(pa.table(dict(zip(names, values.T, strict=True))), tm.Schema(attributes))


def test_census_with_the_default_budget() -> None:
    with (CASC / "CASCrefmicrodata.csv").open(newline="") as file:
        values = np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
    space = RecordDistance(numbers(values), distance="generic")
    total = values.shape[1] * (len(values) - 1)
    for k, bound in ((3, 5.23), (5, 8.14), (10, 12.32)):
        start = mdav(space, k)
        result = refine(space, start, k, rng=np.random.default_rng(0))
        check(result, start, k)
        assert 100 * result.loss_after / total <= bound


@settings(max_examples=60)
@given(case=cases(), seed=st.integers(0, 2**32), different=st.integers(0, 40))
def test_groups_keep_k_people(case: tuple[tm.Microdata, NDArray[np.int32], int], seed: int, different: int) -> None:
    data, _, k = case
    rng = np.random.default_rng(seed)
    different = min(max(different, k), data.n)
    people = rng.permutation(np.concatenate([np.arange(different), rng.integers(0, different, data.n - different)]))
    space = RecordDistance(data)
    start = mdav(space, k, people=people)
    found = refine(space, start, k, rng=np.random.default_rng(1), people=people, steps=3000)
    assert class_owners(found.groups, people).min() >= k
    assert found.loss_after <= found.loss_before
    assert found.loss_after == pytest.approx(naive_loss(space, found.groups, "median", space), rel=1e-9, abs=1e-9)
    again = refine(space, start, k, rng=np.random.default_rng(1), people=people, steps=3000)
    assert again.groups.tolist() == found.groups.tolist()


def test_people_of_one_record_each_are_searched_like_records() -> None:
    data = table(60, 3, ["number", "concept"], 0.1)
    space = RecordDistance(data)
    start = mdav(space, 4)
    plain = refine(space, start, 4, rng=np.random.default_rng(5), steps=4000)
    people = refine(space, start, 4, rng=np.random.default_rng(5), steps=4000, people=np.arange(60)[::-1])
    assert plain.groups.tolist() == people.groups.tolist()
    assert plain.loss_after < plain.loss_before


def test_a_search_lowers_the_loss_of_people_too() -> None:
    data = table(200, 4, ["number", "whole", "grade"], 0.0)
    space, people = RecordDistance(data), np.random.default_rng(2).integers(0, 120, 200)
    start = mdav(space, 4, people=people)
    found = refine(space, start, 4, rng=np.random.default_rng(5), people=people, steps=100_000)
    assert found.loss_after < 0.95 * found.loss_before
    assert class_owners(found.groups, people).min() >= 4


def test_groups_of_too_few_people_are_no_start() -> None:
    space = RecordDistance(table(4, 1, ["number"], 0.0))
    with pytest.raises(PlanError, match="the smallest group has records of 1 people; k is 2"):
        refine(space, np.array([0, 0, 1, 1]), 2, rng=np.random.default_rng(1), people=np.array([5, 5, 1, 2]))
