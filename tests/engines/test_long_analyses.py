"""Analyses of long tables: chunk by chunk, with the figures of the whole."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, all_sorts
from engines.test_long_measures import differences
from engines.test_long_people import visits
from taxomask.engines import Engine, Files, Memory, Scratch, Workers, read_coded
from taxomask.evaluation import Known, evaluate_on
from taxomask.measures.analyses import Analysis, grouping
from taxomask.measures.plain import plain
from taxomask.release import protect_on

WEIGHT = tm.Attribute("stands_for", role="other", kind="continuous")
HOME = tm.Attribute("home", role="identifier")
ANALYSES: list[Analysis] = [
    tm.Mean("mean", of="pay"),
    tm.Mean("by two", of="income", by=["sex", "grade"], where="age > 30"),
    tm.Quantile("median", of="pay"),
    tm.Quantile("quantile", of="income", by=["grade", "dx"], q=0.9, levels={"dx": 2}),
    tm.Quantile("of days", of="born", by=["job"], q=0.25, where="region != '1'"),
    tm.CrossTable("cells", of=["sex", "job"]),
    tm.CrossTable("chapters", of=["dx", "grade"], levels={"dx": 2}, where="weight > 60"),
    tm.Count("count", condition="age > 50 and dx under 390-459"),
    tm.LinearRegression("line", response="pay", terms=["age", "job", "dx under 390-459"], reference={"job": "clerk"}),
    tm.LogisticRegression("odds", response="income > 40000", terms=["age", "grade", "job"]),
]


def compared(engine: Engine, before: tm.Microdata, after: tm.Microdata) -> dict[str, Any]:
    known = Known(analyses=tuple(ANALYSES), attackers=("nearest",))
    return plain(evaluate_on(engine, before, after, known).analyses)


def tables(weighted: bool) -> tuple[tm.Schema, pa.Table]:
    if not weighted:
        return SCHEMA, all_sorts()
    return tm.Schema([*SCHEMA.values(), HOME, WEIGHT], sampling_weight="stands_for"), visits()


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
def test_figures_are_those_of_the_whole(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    schema, table = tables(weighted)
    release = tm.protect(table, schema, tm.Noise(0.3), seed=SEED)
    whole = compared(Memory(), release.original, release.released)
    for chunk in (16, 100):
        monkeypatch.setattr(Engine, "chunk", chunk)
        found = compared(Memory(), release.original, release.released)
        assert differences(whole, found) == []
    assert all(not math.isnan(one["overlap"]) for one in whole.values())


@pytest.mark.parametrize(
    ("where", "weighted"),
    [
        ("local", False),
        pytest.param("local", True, marks=pytest.mark.slow),
        pytest.param("two_workers", True, marks=pytest.mark.slow),
    ],
)
def test_engines_find_the_same(
    where: str, weighted: bool, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: Workers = request.getfixturevalue(where)
    schema, table = tables(weighted)
    monkeypatch.setattr(Engine, "chunk", 100)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=50)
    release = tm.protect(table, schema, tm.Noise(0.3), seed=SEED)
    here = compared(Memory(), release.original, release.released)
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        engine = Files(workers, scratch)
        data = read_coded(str(tmp_path / "in.parquet"), schema, engine)
        there = protect_on(engine, data, tm.Noise(0.3), seed=SEED)
        assert json.dumps(compared(engine, there.original, there.released)) == json.dumps(here)


def test_too_many_groups_are_an_error_however_long_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, table = tables(weighted=False)
    data = tm.Microdata.from_frame(table, schema)
    known = Known(analyses=(tm.Mean("mean", of="pay", by=["dx", "grade", "region"]),), attackers=("nearest",))
    monkeypatch.setattr(grouping.grouped, "__defaults__", (20,))
    found = []
    for chunk in (1 << 20, 16):
        monkeypatch.setattr(Engine, "chunk", chunk)
        with pytest.raises(tm.PlanError, match=r"there are \d+ groups by 'dx', more than 20") as error:
            evaluate_on(Memory(), data, data, known)
        found.append(str(error.value))
    assert found[0] == found[1]
