"""All measures of utility and risk are the same numbers wherever the tables lie."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED
from taxomask.engines import Files, Scratch, Workers, read_coded
from taxomask.measures.risk.attackers import repetitions
from taxomask.microdata.files import read_table
from taxomask.release import protect_on


@pytest.fixture(params=["local", pytest.param("two_workers", marks=pytest.mark.slow)])
def workers(request: pytest.FixtureRequest) -> Workers:
    found: Workers = request.getfixturevalue(request.param)
    return found


def test_the_measures_are_those_of_a_table_in_memory(parquet: Path, workers: Workers, tmp_path: Path) -> None:
    method = tm.Microaggregation(4)
    expected = tm.protect(read_table(parquet), SCHEMA, method, seed=SEED).evaluate().to_dict()
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        engine = Files(workers, scratch)
        release = protect_on(engine, read_coded(str(parquet), SCHEMA, engine), method, seed=SEED)
        told: list[float] = []
        found = release.evaluate(progress=told.append)
        assert json.dumps(found.to_dict()) == json.dumps(expected)
        assert isinstance(found.to_frame(), pa.Table)
        assert len(repr(found)) <= 300
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_a_very_long_table_is_repeated_in_part_where_it_lies(
    parquet: Path, local: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repetitions, "LARGEST", 50)
    monkeypatch.setattr(repetitions, "SAMPLE", 40)
    method = tm.RankSwapping(p=10)
    here = tm.protect(read_table(parquet), SCHEMA, method, seed=SEED).evaluate(attackers=["informed"])
    with Scratch.temporary(tmp_path / "scratch", large=1) as scratch:
        engine = Files(local, scratch)
        release = protect_on(engine, read_coded(str(parquet), SCHEMA, engine), method, seed=SEED)
        found = release.evaluate(attackers=["informed"]).attackers.informed
        assert "a random 40 of these records" in found.how
        assert (found.how, found.share) == (here.attackers.informed.how, here.attackers.informed.share)
