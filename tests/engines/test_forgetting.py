"""What nothing refers to any more is gone from the scratch folder."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, outcome
from taxomask.engines import Files, Scratch, Workers, read_coded
from taxomask.microdata.files import read_table
from taxomask.release import protect_on

SLOW = [
    tm.Pipeline((tm.RankSwapping(p=5), tm.Shuffling())),
    tm.Imputation(attributes=("age",), given=("sex",), copies=2),
]
METHODS = [
    tm.Microaggregation(4, block_size=60, algorithm="refined", steps=100),
    *(pytest.param(method, marks=pytest.mark.slow) for method in SLOW),
    tm.ReverseMapping(tm.Noise(0.3, attributes=("age", "income"))),
]


def files(scratch: Scratch) -> set[str]:
    """The files, but for those that workers may ask for at any time."""
    every = {str(path.relative_to(scratch.folder)) for path in scratch.folder.rglob("*") if path.is_file()}
    return {name for name in every if name != "schema" and not name.startswith("categories/")}


@pytest.mark.parametrize("workers", ["local", pytest.param("two_workers", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_release_that_is_given_up_leaves_nothing(
    request: pytest.FixtureRequest, parquet: Path, tmp_path: Path, workers: str, method: tm.methods.Method
) -> None:
    some: Workers = request.getfixturevalue(workers)
    expected = tm.protect(read_table(parquet), SCHEMA, method, seed=SEED)
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(some, scratch)
        data = read_coded(str(parquet), SCHEMA, engine)
        gc.collect()
        coded = files(scratch)
        assert coded
        release = protect_on(engine, data, method, seed=SEED)
        assert release.data.equals(expected.data)
        assert release.copies == expected.copies
        gc.collect()
        masked = files(scratch)
        assert masked > coded
        written = outcome(release, tmp_path / "out.csv")
        headline = release.evaluate().headline
        gc.collect()
        assert files(scratch) == masked  # what writing and measuring needed is gone
        del release, written
        gc.collect()
        assert files(scratch) == coded
        del data
        gc.collect()
        assert files(scratch) == set()
    assert headline == expected.evaluate().headline
