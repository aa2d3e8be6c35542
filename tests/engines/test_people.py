"""k different people in every class: the same release in memory, from files on threads, and on a Dask cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, N, all_sorts, on_engine, outcome
from taxomask.engines import DaskCluster, Threads
from taxomask.microdata.files import read_table
from taxomask.microdata.people import class_owners

PEOPLE = SCHEMA.of(SCHEMA.values(), person="id")
METHODS: dict[str, tm.Method] = {
    "microaggregation": tm.Microaggregation(4),
    "in blocks": tm.Microaggregation(4, block_size=60),
    "refined": tm.Microaggregation(4, algorithm="refined", steps=400),
    "t and l": tm.Microaggregation(4, t=0.6, l=2, attributes=("age", "dx", "sex")),
    "exchanged": tm.Microaggregation(4, t=0.6, closeness="swap", attributes=("age", "dx", "sex")),
    "strata": tm.Microaggregation(4, t=0.6, closeness="first", attributes=("age", "dx", "sex")),
    "permuted": tm.GroupPermutation(4),
    "ranked": tm.IndividualRanking(4, attributes=("age", "dx")),
    "MicroHybrid in blocks": tm.MicroHybrid(4, block_size=60),
    "generalisation": tm.Generalisation(3),
    "suppression": tm.Suppression(2),
}


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of all sorts, of people who have from one to many rows; some rows name nobody."""
    who = np.random.default_rng(5).geometric(0.02, N)
    named = pa.array([None if one == 7 else f"person {one}" for one in who.tolist()])
    path = tmp_path_factory.mktemp("visits") / "in.parquet"
    pq.write_table(all_sorts().set_column(0, "id", named), path, row_group_size=50)
    return path


@pytest.mark.parametrize(
    "case",
    [case if case in ("in blocks", "t and l") else pytest.param(case, marks=pytest.mark.slow) for case in METHODS],
)
def test_the_same_release_everywhere(
    visits: Path, local: Threads, two_workers: DaskCluster, tmp_path: Path, case: str
) -> None:
    method = METHODS[case]
    data = tm.Microdata.from_frame(read_table(visits), PEOPLE)
    assert data.people is not None
    assert len(set(data.people.tolist())) < 0.6 * data.n
    here = outcome(tm.protect(data, PEOPLE, method, seed=SEED), f"{tmp_path}/memory/")
    for number, workers in enumerate((local, two_workers)):
        there = on_engine(workers, visits, method, f"{tmp_path}/{number}/", schema=PEOPLE)
        assert there.files == here.files
        assert there.groups == here.groups
        assert there.release.promise == here.release.promise
    if here.groups is not None:
        assert class_owners(np.array(here.groups), data.people).min() >= method.k  # type: ignore[attr-defined]
    if case not in ("MicroHybrid in blocks", "permuted", "ranked"):  # which promise no k of combinations
        found = next(one for one in here.release.promise if "different people share" in one.promise)
        assert found.holds


def test_rows_of_too_few_people_stop_in_a_release_from_files(visits: Path, local: Threads, tmp_path: Path) -> None:
    few = Path(tmp_path / "few.parquet")
    table: Any = read_table(visits)
    pq.write_table(table.set_column(0, "id", pa.array([f"p{row % 3}" for row in range(N)])), few)
    with pytest.raises(tm.DataError, match="records of 3 people"):
        on_engine(local, few, tm.Microaggregation(4), f"{tmp_path}/out/", schema=PEOPLE)
