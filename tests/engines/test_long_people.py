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

HOME = tm.Attribute("home", role="identifier")
OWNERS: dict[str, dict[str, Any]] = {
    "people": {"person": "id"},
    "households": {"household": "home"},
    "both": {"person": "id", "household": "home"},
    "a sample": {"person": "id", "population_size": 2_000},
}


def visits() -> pa.Table:
    """The table of all sorts, of people who have from one to many rows, and live together; some rows name nobody."""
    who = np.minimum(np.random.default_rng(5).geometric(0.02, N), 150)
    names = pa.array([None if one == 7 else f"person {one}" for one in who.tolist()])
    return (
        all_sorts().set_column(0, "id", names).append_column("home", pa.array([f"{one // 3}" for one in who.tolist()]))
    )


def schema(owners: str) -> tm.Schema:
    return tm.Schema([*SCHEMA.values(), HOME], **OWNERS[owners])


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
