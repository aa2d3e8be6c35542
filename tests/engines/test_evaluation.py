"""All measures of utility and risk are the same numbers wherever the tables lie."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED
from taxomask.engines import DaskEngine, Engine, LocalEngine, Store
from taxomask.engines.coding import open_stored
from taxomask.evaluation import evaluate_release
from taxomask.measures.plain import plain
from taxomask.measures.risk import record_linkage
from taxomask.measures.risk.linkage_in_blocks import linkage_in_blocks
from taxomask.microdata.files import read_table
from taxomask.spreading import protect_stored


def test_the_measures_are_those_of_a_table_in_memory(
    parquet: Path, local: LocalEngine, two_workers: DaskEngine, tmp_path: Path
) -> None:
    method = tm.Microaggregation(4)
    expected = evaluate_release(tm.protect(read_table(parquet), SCHEMA, method, seed=SEED)).to_dict()
    for engine in (local, two_workers):
        assert _measured(engine, parquet, method, tmp_path) == json.dumps(expected)


@pytest.mark.parametrize("engine", ["local", "two_workers"])
def test_linkage_in_blocks(request: pytest.FixtureRequest, engine: str, parquet: Path, tmp_path: Path) -> None:
    here = tm.protect(read_table(parquet), SCHEMA, tm.Noise(), seed=SEED)
    expected = record_linkage(here.original, here.released)
    with Store.temporary(tmp_path / "store") as store:
        site = open_stored(str(parquet), SCHEMA, store, request.getfixturevalue(engine))
        release = protect_stored(site, tm.Noise(), seed=SEED)
        before = set(store.folder.rglob("*"))
        found = linkage_in_blocks(site, release.original, release.released, block_size=30)
        assert not [path for path in set(store.folder.rglob("*")) - before if path.is_file()]
    assert plain(found) == plain(expected)
    assert found.right.tolist() == expected.right.tolist()
    assert found.ties.tolist() == expected.ties.tolist()


def _measured(engine: Engine, parquet: Path, method: tm.methods.Method, folder: Path) -> str:
    with Store.temporary(folder / "store") as store:
        site = open_stored(str(parquet), SCHEMA, store, engine)
        release = protect_stored(site, method, seed=SEED)
        found = evaluate_release(release, site=site)
        assert isinstance(found.to_frame(), pa.Table)
        assert len(repr(found)) <= 300
        return json.dumps(found.to_dict())
