"""All measures of utility and risk are the same numbers wherever the tables lie."""

from __future__ import annotations

import json
from pathlib import Path

import taxomask as tm
from engines.conftest import SCHEMA, SEED
from taxomask.engines import DaskEngine, Engine, LocalEngine, Store
from taxomask.engines.coding import open_stored
from taxomask.evaluation import evaluate_release
from taxomask.microdata.files import read_table
from taxomask.spreading import protect_stored


def test_the_measures_are_those_of_a_table_in_memory(
    parquet: Path, local: LocalEngine, two_workers: DaskEngine, tmp_path: Path
) -> None:
    method = tm.Microaggregation(4)
    expected = evaluate_release(tm.protect(read_table(parquet), SCHEMA, method, seed=SEED)).to_dict()
    for engine in (local, two_workers):
        assert _measured(engine, parquet, method, tmp_path) == json.dumps(expected)


def _measured(engine: Engine, parquet: Path, method: tm.methods.Method, folder: Path) -> str:
    with Store.temporary(folder / "store") as store:
        site = open_stored(str(parquet), SCHEMA, store, engine)
        release = protect_stored(site, method, seed=SEED)
        return json.dumps(evaluate_release(release, site=site).to_dict())
