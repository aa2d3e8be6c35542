"""Tables of more than one chunk are measured chunk by chunk: the same figures as of the whole, wherever they lie."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, all_sorts
from taxomask.engines import Engine, Files, Memory, Scratch, Workers, read_coded
from taxomask.evaluation import Evaluation
from taxomask.measures import MEASURES, Tables
from taxomask.measures.measured import measure_some
from taxomask.measures.plain import plain
from taxomask.measures.risk import ATTACKERS
from taxomask.measures.side_by_side import side_by_side
from taxomask.microdata.files import read_table
from taxomask.release import protect_on

METHODS = [tm.Noise(), tm.Microaggregation(4), tm.Pram(keep=0.5)]
SWAPPED = [
    tm.RankSwapping(k=40, attributes=["age", "dx", "sex"]),
    tm.RankSwapping(p=30, algorithm=1, attributes=["income", "grade", "weight"]),
    tm.NumericalSwapping(p=8, attributes=["age"]),
]
NOT_OF_LONG_TABLES = {("risk", "special_uniques"), ("attackers", "one_to_one")}


def tables_of(method: tm.Method) -> Tables:
    release = tm.protect(all_sorts(), SCHEMA, method, seed=SEED)
    both = side_by_side(release.original, release.released, linked=True)
    return Tables(release.original, release.released, both, method=method)


def differences(one: Any, other: Any, place: str = "") -> list[tuple[str, Any, Any]]:
    """Where two results are not the same, but for rounding and for what is said."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{place}.{key}") if key != "how"]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for number, pair in pairs for found in differences(*pair, f"{place}.{number}")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else [(place, one, other)]
    return [] if one == other else [(place, one, other)]


@pytest.mark.parametrize("method", SWAPPED, ids=repr)
def test_intersected_intervals_are_those_of_the_whole(method: tm.Method, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, key = tables_of(method), ("attackers", "rank_intervals")
    whole = measure_some(Memory(), tables, [key]).values[key]
    monkeypatch.setattr(Engine, "chunk", 16)
    found = measure_some(Memory(), tables, [key]).values[key]
    assert 0 < whole.share.value < 1
    assert plain(found) == plain(whole)
    assert np.array_equal(found.chances, whole.chances)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_figures_are_those_of_the_whole(method: tm.Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every measure that is exact of long tables, and every attacker, who looks for all of these few records."""
    tables = tables_of(method)
    exact = [(kind, name) for kind, some in MEASURES.items() for name, one in some.items() if not one.sampled]
    keys = [key for key in exact if key not in NOT_OF_LONG_TABLES]
    whole = measure_some(Memory(), tables, keys)
    monkeypatch.setattr(Engine, "chunk", 16)
    found = measure_some(Memory(), tables, keys)
    assert not found.sampled
    if method.likelihood(tables.original, tables.released) is None:
        keys.remove(("attackers", "informed"))  # of few records it learns what becomes of each
    for key in keys:
        assert differences(plain(whole.values[key]), plain(found.values[key])) == [], key


def test_no_measure_holds_a_long_table() -> None:
    every = {(kind, name): one for kind, some in MEASURES.items() for name, one in some.items()}
    assert {key for key, one in every.items() if one.on_engine is None and not one.sampled} == set()
    assert not [key for key, one in every.items() if one.on_engine is not None and one.sampled]


def measured(engine: Engine, where: Path, method: tm.Method) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # parts of a sample of 64 may not vary
        if isinstance(engine, Files):
            return protect_on(engine, read_coded(str(where), SCHEMA, engine), method, seed=SEED).evaluate()
        return tm.protect(read_table(where), SCHEMA, method, seed=SEED).evaluate()


@pytest.mark.parametrize("where", ["local", pytest.param("two_workers", marks=pytest.mark.slow)])
def test_engines_find_the_same(
    where: str, parquet: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: Workers = request.getfixturevalue(where)
    monkeypatch.setattr(Engine, "chunk", 100)
    method = tm.Noise()
    here = measured(Memory(), parquet, method)
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        there = measured(Files(workers, scratch), parquet, method)
        assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())
        assert there.page() == here.page()
    assert not here.failed
    assert here.sampled["utility.propensity"].records == 100
    low, high = here.sampled["utility.propensity"].intervals["overall"]
    assert low < here.utility.propensity.overall < high
    assert "drawn at random" in here.page()
    risky = here.records_at_risk
    assert risky is not None
    assert risky.others + len(risky.before) == here.original.n


@pytest.mark.parametrize("chunk", [64, 1 << 20])
def test_methods_are_compared_where_the_table_lies(
    chunk: int, local: Workers, parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "chunk", chunk)
    methods = [tm.Noise(attributes=["income"]), tm.Microaggregation(4), tm.RankSwapping(p=500)]
    how: dict[str, Any] = {"attackers": ["nearest", "partial"], "cache": False, "seconds": 0}
    here = tm.compare(read_table(parquet), SCHEMA, methods, **how)
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        engine = Files(local, scratch)
        coded = read_coded(str(parquet), SCHEMA, engine)
        there = tm.compare(coded, coded.schema, methods, engine=engine, **how)
    assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())
    assert here.points


def test_intervals_hold_what_the_whole_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twelve samples of a third of a table, nearly all: to miss three with 95 % would be no accident."""
    original = tm.Microdata.from_frame(all_sorts(1500), SCHEMA)
    released = tm.Noise(0.5).mask(original, np.random.default_rng(1)).data
    both = side_by_side(original, released, linked=True)
    keys = [("utility", "propensity"), ("utility", "rank_correlations"), ("risk", "intervals")]
    figures = {keys[0]: "overall", keys[1]: "overall", keys[2]: "attributes.income.value"}
    whole = measure_some(Memory(), Tables(original, released, both), keys).values
    truth = {
        keys[0]: whole[keys[0]].overall,
        keys[1]: whole[keys[1]].overall,
        keys[2]: whole[keys[2]].attributes["income"].value,
    }
    monkeypatch.setattr(Engine, "chunk", 500)
    missed = dict.fromkeys(keys, 0)
    for seed in range(12):
        found = measure_some(Memory(), Tables(original, released, both, seed=seed), keys)
        for key in keys:
            low, high = found.sampled[key].intervals[figures[key]]
            missed[key] += not low <= truth[key] <= high
    assert max(missed.values()) < 3, missed


def test_attackers_of_long_tables_say_how_many_they_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.measures.risk import linkage, sampling

    tables = tables_of(tm.Noise())
    whole = measure_some(Memory(), tables, [("risk", "linkage")]).values["risk", "linkage"]
    monkeypatch.setattr(Engine, "chunk", 50)
    monkeypatch.setattr(linkage, "LONG", 40)
    for one in (sampling.targets, sampling.targets_on):
        monkeypatch.setattr(one, "__defaults__", (30,))
    keys = [("risk", "linkage"), ("risk", "partial_linkage"), *(("attackers", name) for name in ("nearest", "partial"))]
    found = measure_some(Memory(), tables, keys).values
    some = found["risk", "linkage"]
    assert len(some.rows) == 40
    np.testing.assert_array_equal(some.right, whole.right[some.rows])  # each among all records
    np.testing.assert_array_equal(some.ties, whole.ties[some.rows])
    nearest = found["attackers", "nearest"]
    assert nearest.targets == 40
    assert "A random 40 of 237 records were looked for." in nearest.how
    assert nearest.share.low < nearest.share.value <= nearest.share.high
    assert found["attackers", "partial"].targets == 30
    assert set(ATTACKERS) >= {"nearest", "partial"}
