from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import taxomask as tm
from taxomask.semantics import earth_mover
from taxomask.semantics._transport_kernels import least_cost

TREE = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("a1", "a"), ("a2", "a"), ("b1", "b"), ("b11", "b1")])
DAG = tm.Taxonomy.from_edges([("a", "r"), ("b", "r"), ("c", "a"), ("c", "b"), ("d", "b")])
ORDER = ["p", "q", "s", "t"]


def column(kind: str, values: list[Any], **options: Any) -> Any:
    schema = tm.Schema([tm.Attribute("x", role="other", kind=kind, **options)])
    types = {"continuous": pa.float64()}
    return tm.Microdata.from_frame(pa.table({"x": pa.array(values, types.get(kind, pa.string()))}), schema).columns["x"]


def transport(cost: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    """The transport problem as it stands."""
    m = len(p)
    constraints = [np.repeat(np.eye(m)[i], m) for i in range(m)] + [np.tile(np.eye(m)[j], m) for j in range(m)]
    return float(linprog(cost.ravel(), A_eq=np.array(constraints), b_eq=np.concatenate([p, q])).fun)


def test_salaries_of_the_t_closeness_paper() -> None:
    """Li et al. (2007), section 5: nine salaries; {3, 4, 5}k is at 0.375, {6, 8, 11}k at 0.167."""
    distance = earth_mover(column("continuous", [3, 4, 5, 6, 7, 8, 9, 10, 11]))
    assert distance(np.array([0, 1, 2])) == pytest.approx(0.375)
    assert distance(np.array([3, 5, 8])) == pytest.approx(0.167, abs=5e-4)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Any, np.ndarray]:
    """A column and the distances between its categories, from the definitions."""
    kind = draw(st.sampled_from(["continuous", "ordinal", "nominal", "tree", "dag"]))
    n = draw(st.integers(2, 10))

    def values(choices: Any) -> list[Any]:
        return draw(st.lists(choices, min_size=n, max_size=n))

    if kind == "continuous":
        made = column("continuous", values(st.integers(0, 6)))
        m = len(set(made.values))
    elif kind == "ordinal":
        made, m = column("ordinal", values(st.sampled_from(ORDER)), order=ORDER), 4
    elif kind == "nominal":
        made = column("nominal", values(st.sampled_from(ORDER)))
        return made, 1 - np.eye(len(made.categories))
    elif kind == "tree":
        made = column("taxonomic", values(st.sampled_from(sorted(TREE))), taxonomy=TREE)
        links = np.array([[_links(a, b) for b in made.categories] for a in made.categories], dtype=float)
        top = len(TREE.ancestors(TREE.lcs(made.categories)))
        deepest = max(len(TREE.ancestors(c)) for c in made.categories)
        return made, links / (2 * max(deepest - top, 1))
    else:
        made = column("taxonomic", values(st.sampled_from(sorted(DAG))), taxonomy=DAG)
        return made, made.table / (made.table.max() or 1)
    positions = np.arange(m)
    return made, np.abs(positions[:, None] - positions) / max(m - 1, 1)


def _links(a: str, b: str) -> int:
    return len(set(TREE.ancestors(a)) ^ set(TREE.ancestors(b)))


@given(columns(), st.data())
@settings(max_examples=150)
def test_equals_the_transport_problem(made: tuple[Any, np.ndarray], data: st.DataObject) -> None:
    values, cost = made
    distance = earth_mover(values)
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1))))
    codes = distance.codes
    p = np.bincount(codes[rows], minlength=len(cost)) / len(rows)
    q = np.bincount(codes, minlength=len(cost)) / len(codes)
    assert distance(rows) == pytest.approx(transport(cost, p, q), abs=1e-9)
    assert distance(np.arange(len(values))) == pytest.approx(0, abs=1e-12)


@given(columns(), st.data())
@settings(max_examples=150)
def test_everybody_counts_alike_whatever_number_of_records_they_have(
    made: tuple[Any, np.ndarray], data: st.DataObject
) -> None:
    values, cost = made
    people = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1))))
    distance = earth_mover(values, people)

    def distribution(rows: Any) -> np.ndarray:
        """The mean over the people of each one's own distribution."""
        each = [distance.codes[[row for row in rows if people[row] == who]] for who in set(people[rows])]
        return np.mean([np.bincount(codes, minlength=len(cost)) / len(codes) for codes in each], axis=0)

    whole = np.arange(len(values))
    assert distance(rows) == pytest.approx(transport(cost, distribution(rows), distribution(whole)), abs=1e-9)
    assert distance(whole) == pytest.approx(0, abs=1e-12)
    alone = earth_mover(values, whole)
    assert alone(rows) == pytest.approx(earth_mover(values)(rows), abs=1e-12)


def test_a_transport_by_hand() -> None:
    """Two sources of a half. The first takes what is cheapest, and hands it over to the second: 0.5·2 + 0.5·1."""
    costs = np.array([[0.0, 2.0], [1.0, 9.0]])  # a row for each demand
    assert least_cost(costs, np.array([0.5, 0.5]), np.array([0.5, 0.5])) == pytest.approx(1.5)


@given(st.integers(1, 8), st.integers(1, 12), st.booleans(), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_any_costs_against_a_linear_program(sources: int, demands: int, ties: bool, seed: int) -> None:
    """Whether the costs obey the triangle inequality or not, with equal ones, and with demands of nothing."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 4, (demands, sources)).astype(float) if ties else rng.random((demands, sources))
    p = rng.dirichlet(np.ones(sources))
    q = rng.dirichlet(np.ones(demands)) * (rng.random(demands) < 0.8)
    q = q / q.sum() if q.sum() else np.full(demands, 1 / demands)
    rows = [np.tile(one, demands) for one in np.eye(sources)] + [np.repeat(one, sources) for one in np.eye(demands)]
    best = linprog(costs.ravel(), A_eq=np.array(rows), b_eq=np.concatenate([p, q])).fun
    assert least_cost(costs, p, q) == pytest.approx(best, abs=1e-9)


def test_missing_values_of_people() -> None:
    """Two people, of whom one is missing twice: half of the weight is missing in the table, all of it in the group."""
    distance = earth_mover(column("continuous", [1, None, None]), np.array([0, 1, 1]))
    assert distance(np.array([1, 2])) == pytest.approx(0.5)
    assert distance(np.array([0])) == pytest.approx(0.5)


def test_missing_values_are_a_category_of_their_own() -> None:
    distance = earth_mover(column("continuous", [1, 2, None, None]))
    assert distance(np.array([2, 3])) == pytest.approx(0.5)
    assert distance(np.array([0, 1])) == pytest.approx(0.5)
    assert distance(np.array([0, 1, 2, 3])) == 0
    assert earth_mover(column("continuous", [None, None]))(np.array([0])) == 0
