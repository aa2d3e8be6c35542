from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taxomask as tm
from naive import edges_of, equally_near, taxonomies
from taxomask.measures.risk import inference
from taxomask.measures.risk.guesses import confidential_codes
from taxomask.measures.risk.inputs import in_one_numbering
from taxomask.records import RecordDistance

from .conftest import GRADES, NAMES, TREE, cells, table, tables


def right(name: str, truth: Any, guess: Any, level: str, known: list[Any], percent: float) -> bool:
    """Whether a guess counts, from the definition."""
    if guess is None:
        return False
    if level == "value":
        return bool(guess == truth)
    if level == "near":
        key = GRADES.index if name == "secret_grade" else float
        ranked = sorted(key(value) for value in known if value is not None)
        reach, n = int(percent * len(ranked) / 100), len(ranked)
        if not n:
            return bool(guess == truth)
        below, upto = sum(v < key(truth) for v in ranked), sum(v <= key(truth) for v in ranked)
        low = ranked[min(max(below - reach, 0), n - 1)]
        high = ranked[max(min(upto - 1 + reach, n - 1), 0)]
        return min(low, key(truth)) <= key(guess) <= max(high, key(truth))
    depth = int(level.split()[1])
    common = set(TREE.ancestors(truth)) & set(TREE.ancestors(guess))
    return guess == truth or any(int(TREE.depth[TREE.position(concept)]) == depth for concept in common)


@given(tables(), tables(), tables(), st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
@settings(max_examples=30)
def test_naive(
    original: tm.Microdata, released: tm.Microdata, control: tm.Microdata, secret: str, names: list[str]
) -> None:
    secret, percent = f"secret_{secret}", 20.0
    found = inference(original, released, secret, names, control=control, percent=percent)
    shared = {name: in_one_numbering(*(d.columns[name] for d in (original, released, control))) for name in names}
    spaces = [
        data.replace({name: columns[i] for name, columns in shared.items()})
        for i, data in enumerate((original, released, control))
    ]
    space = RecordDistance(spaces[0], names)
    there, known = space.of(spaces[1]), cells(original, secret)
    guesses = cells(released, secret)
    for queries, people, which in ((space, original, "targets"), (space.of(spaces[2]), control, "control")):
        for level, guess in found.levels.items():
            hits, chance, n = 0.0, 0.0, 0
            for i, truth in enumerate(cells(people, secret)):
                if truth is None:
                    continue
                squared = there.squared_from(queries.coordinates[0][i], queries.coordinates[1][i])
                nearest = np.flatnonzero(equally_near(squared, space.slack / 1e-14))
                hits += np.mean([right(secret, truth, guesses[j], level, known, percent) for j in nearest])
                chance += np.mean([right(secret, truth, one, level, known, percent) for one in guesses])
                n += 1
            rate = getattr(guess, which)
            assert rate.n == n
            assert rate.value == pytest.approx(hits / n if n else 0)
            assert rate.baseline == pytest.approx(chance / n if n else 0)


def test_by_hand() -> None:
    """Two known people at 1 and 9; the nearest released records have b11, and b12 or a1."""
    original = table(number=[1, 9], secret_concept=["b11", "b12"])
    released = table(number=[2, 8, 8], secret_concept=["b11", "b11", "a1"])
    control = table(number=[1, 1], secret_concept=["a2", "b11"])
    levels = inference(original, released, "secret_concept", control=control, levels={"family": 3, "chapter": 2}).levels
    assert list(levels) == ["value", "family", "chapter"]
    assert levels["value"].targets.value == (1 + 0) / 2
    assert levels["family"].targets.value == (1 + 1 / 2) / 2
    assert levels["chapter"].targets.baseline == 2 / 3
    assert levels["value"].control is not None
    assert levels["value"].control.value == 1 / 2
    assert levels["value"].excess == 0
    assert inference(original, released, "secret_concept").levels["value"].excess is None


def test_records_as_near_as_the_nearest_are_drawn_from() -> None:
    """0.2 is halfway between 0.1 and 0.3, though 0.3 - 0.2 is computed as a little less than 0.2 - 0.1."""
    original = table(number=[0.2, 5], secret_plain=["x", "z"])
    released = table(number=[0.1, 0.3, 9], secret_plain=["x", "y", "z"])
    assert inference(original, released, "secret_plain").levels["value"].targets.value == (1 / 2 + 1) / 2


def test_identical_tables_of_different_people_give_everything_away() -> None:
    data = table(number=[1, 2, 3, 4], secret_plain=["x", "y", "x", "z"], secret_concept=["a1", "a2", "b1", "b11"])
    for secret in ("secret_plain", "secret_concept"):
        assert inference(data, data, secret).levels["value"].targets.value == 1
    alike = table(number=[1, 1, 1, 1], secret_plain=["x", "y", "x", "z"])
    rate = inference(alike, alike, "secret_plain").levels["value"].targets
    assert rate.value == pytest.approx(rate.baseline) == pytest.approx((2 * 2 + 1 + 1) / 16)


@given(taxonomies(largest=9), st.data())
@settings(max_examples=25)
def test_levels_of_a_graph_with_several_parents(parents: Any, data: st.DataObject) -> None:
    """Right at a depth: an ancestor there is shared, by whatever way."""
    graph = tm.Taxonomy.from_edges(edges_of(parents))
    import pyarrow as pa

    values = data.draw(st.lists(st.sampled_from(sorted(graph)), min_size=1, max_size=8))
    schema = tm.Schema([tm.Attribute("x", role="confidential", kind="taxonomic", taxonomy=graph)])
    column = tm.Microdata.from_frame(pa.table({"x": values}), schema).columns["x"]
    deepest = int(max(graph.depth[graph.position(value)] for value in values))
    (codes, _), runs = confidential_codes([column, column], {f"depth {d}": d for d in range(1, deepest + 1)}, 5.0)
    for d in range(1, deepest + 1):
        level = runs[f"depth {d}"]
        for i, one in enumerate(values):
            inside = set()
            for at in range(level.start[codes[i]], level.start[codes[i] + 1]):
                inside |= set(range(level.low[at], level.high[at] + 1))
            for j, other in enumerate(values):
                common = set(graph.ancestors(one)) & set(graph.ancestors(other))
                shared = any(int(graph.depth[graph.position(c)]) == d for c in common)
                assert (codes[j] in inside) == (one == other or shared)


def test_missing_and_bad_input() -> None:
    data = table(number=[1, 2], secret_plain=[None, None])
    assert inference(data, data, "secret_plain").levels["value"].targets.n == 0
    with pytest.raises(tm.PlanError, match="levels are of a taxonomy, but 'secret_plain' is nominal"):
        inference(data, data, "secret_plain", levels={"chapter": 2})
    with pytest.raises(tm.SchemaError, match="no coded column 'secret'"):
        inference(data, data, "secret")
