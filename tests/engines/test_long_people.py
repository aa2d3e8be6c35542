"""Measures of long tables in which people have several records: chunk by chunk, with the figures of the whole."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, N, all_sorts
from engines.test_long_measures import METHODS, NOT_OF_LONG_TABLES, differences
from taxomask.engines import Engine, Files, Memory, Scratch, Workers, read_coded
from taxomask.evaluation import Evaluation
from taxomask.measures import MEASURES, Tables
from taxomask.measures.measured import measure_some
from taxomask.measures.plain import plain
from taxomask.measures.side_by_side import side_by_side
from taxomask.microdata.files import read_table
from taxomask.release import protect_on

MORE = [
    tm.Attribute("home", role="identifier"),
    tm.Attribute("stands_for", role="identifier", kind="continuous"),
]
OWNERS: dict[str, dict[str, Any]] = {
    "people": {"person": "id"},
    "households": {"household": "home"},
    "both": {"person": "id", "household": "home"},
    "a sample": {"person": "id", "population_size": 2_000},
    "weights": {"sampling_weight": "stands_for"},
    "households of a sample": {"person": "id", "household": "home", "sampling_weight": "stands_for"},
}


def visits() -> pa.Table:
    """The table of all sorts, of people who have from one to many rows, and live together; some rows name nobody."""
    who = np.minimum(np.random.default_rng(5).geometric(0.02, N), 150)
    names = pa.array([None if one == 7 else f"person {one}" for one in who.tolist()])
    homes, weights = pa.array([f"{one // 3}" for one in who.tolist()]), pa.array(4.0 + who % 9)
    whole = all_sorts().set_column(0, "id", names)
    return whole.append_column("home", homes).append_column("stands_for", weights)


def schema(owners: str) -> tm.Schema:
    return tm.Schema([*SCHEMA.values(), *MORE], **OWNERS[owners])


@pytest.mark.parametrize("owners", OWNERS)
@pytest.mark.parametrize(
    "method", [METHODS[1], *(pytest.param(one, marks=pytest.mark.slow) for one in METHODS[::2])], ids=repr
)
def test_figures_are_those_of_the_whole(method: tm.Method, owners: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tm.protect(visits(), schema(owners), replace(method), seed=SEED)
    both = side_by_side(release.original, release.released, linked=True)
    tables = Tables(release.original, release.released, both, method=method)
    exact = [(kind, name) for kind, some in MEASURES.items() for name, one in some.items() if not one.sampled]
    keys = [key for key in exact if key not in NOT_OF_LONG_TABLES]
    whole = measure_some(Memory(), tables, keys)
    monkeypatch.setattr(Engine, "chunk", 16)
    found = measure_some(Memory(), tables, keys)
    if method.likelihood(tables.original, tables.released) is None:
        keys.remove(("attackers", "informed"))  # of few records it learns what becomes of each
    for key in keys:
        assert differences(plain(whole.values[key]), plain(found.values[key])) == [], key


def measured(engine: Engine, where: Path) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # parts of a sample of 64 may not vary
        if isinstance(engine, Files):
            data = read_coded(str(where), schema("both"), engine)
            return protect_on(engine, data, tm.Noise(), seed=SEED).evaluate()
        return tm.protect(read_table(where), schema("both"), tm.Noise(), seed=SEED).evaluate()


@pytest.mark.parametrize("where", ["local", pytest.param("two_workers", marks=pytest.mark.slow)])
def test_engines_find_the_same(
    where: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: Workers = request.getfixturevalue(where)
    monkeypatch.setattr(Engine, "chunk", 100)
    pq.write_table(visits(), tmp_path / "in.parquet", row_group_size=50)
    here = measured(Memory(), tmp_path / "in.parquet")
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        there = measured(Files(workers, scratch), tmp_path / "in.parquet")
        assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())
        assert there.page() == here.page()
    assert not here.failed


def test_of_a_person_all_records_are_looked_for_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.measures.risk.sampling import targets_on

    release = tm.protect(visits(), schema("people"), tm.Noise(), seed=SEED)
    both = side_by_side(release.original, release.released, linked=True)
    tables, people = Tables(release.original, release.released, both), release.original.people
    assert people is not None
    monkeypatch.setattr(Engine, "chunk", 16)
    for most in (1, 20, 100):
        rows = targets_on(Memory(), tables, tables.n, most)
        assert np.array_equal(rows, np.flatnonzero(np.isin(people, people[rows])))
        assert len(rows) <= most or len(set(people[rows].tolist())) == 1
        assert len(rows) > most - np.bincount(people).max()


def test_attackers_on_people_say_how_many_they_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from taxomask.measures.risk import sampling

    release = tm.protect(visits(), schema("both"), tm.Noise(), seed=SEED)
    both = side_by_side(release.original, release.released, linked=True)
    tables = Tables(release.original, release.released, both, method=tm.Noise())
    keys = [*(("risk", name) for name in ("linkage", "partial_linkage", "inference"))]
    keys += [("attackers", name) for name in ("nearest", "partial", "informed", "inference")]
    whole = measure_some(Memory(), tables, keys).values
    monkeypatch.setattr(Engine, "chunk", 50)
    for one in (sampling.targets, sampling.targets_on):
        monkeypatch.setattr(one, "__defaults__", (60,))
    found = measure_some(Memory(), tables, keys).values
    for name in ("nearest", "informed"):
        one = found["attackers", name]
        assert 50 < one.targets <= 60
        assert f"A random {one.targets} of 237 records were looked for." in one.how
        np.testing.assert_allclose(one.chances, whole["attackers", name].chances[one.rows])
        assert one.households is not None
    assert "people, drawn at random, were looked for." in found["attackers", "inference"].how
