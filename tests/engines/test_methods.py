"""Every method makes the same release of a table in memory, from files on threads, and on a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, Outcome, on_engine
from taxomask.engines import DaskEngine, LocalEngine
from taxomask.methodology import methodology
from taxomask.methods import METHODS
from taxomask.methods.base import Method
from taxomask.microdata.files import read_table
from taxomask.publishing import publish

NUMBERS = ("age", "income", "weight")
BLOCKS = {"k": 4, "block_size": 60}
CASES: dict[str, Method] = {
    "microaggregation": tm.Microaggregation(4),
    "microaggregation in blocks": tm.Microaggregation(**BLOCKS),
    "microaggregation, t and l": tm.Microaggregation(4, t=0.6, l=2, attributes=("age", "dx", "sex")),
    "refined": tm.Microaggregation(4, algorithm="refined", steps=400, keep_variance=True),
    "refined in blocks": tm.Microaggregation(**BLOCKS, algorithm="refined", steps=400, objective="semantic"),
    "MicroHybrid": tm.MicroHybrid(4),
    "MicroHybrid in blocks": tm.MicroHybrid(**BLOCKS),
    "MicroHybrid in blocks, domain": tm.MicroHybrid(**BLOCKS, candidates="domain"),
    "MicroHybrid in blocks, moments": tm.MicroHybrid(**BLOCKS, synthesis="moments", attributes=(*NUMBERS, "dx", "sex")),
    "shuffling": tm.Shuffling(),
    "shuffling, given mixed": tm.Shuffling(attributes=("dx", "pay", "job"), given=("age", "grade", "region", "sex")),
    "shuffling, paper": tm.Shuffling(attributes=("pay",), given=(), ties="paper"),
    "noise": tm.Noise(0.2, attributes=(*NUMBERS, "grade")),
    "noise, moments": tm.Noise(0.2, keep_moments=True, attributes=NUMBERS),
    "noise, correlated": tm.Noise(0.2, correlated=True, keep_moments=True, attributes=NUMBERS),
    "multiplicative noise": tm.MultiplicativeNoise(attributes=("income", "age")),
    "marginality noise": tm.MarginalityNoise(),
    "PRAM": tm.Pram(0.7),
    "rank swapping 1": tm.RankSwapping(p=5, algorithm=1),
    "rank swapping 2": tm.RankSwapping(p=5, algorithm=2),
    "rank swapping 2, open": tm.RankSwapping(k=4, algorithm=2, interval="open"),
    "rank swapping 3": tm.RankSwapping(p=5, algorithm=3),
    "rank swapping 3 in blocks": tm.RankSwapping(k=4, algorithm=3, block_size=60),
    "numerical swapping": tm.NumericalSwapping(p=5, attributes=(*NUMBERS, "grade")),
    "distributional swapping": tm.DistributionalSwapping(p=5, attributes=("dx", "sex")),
    "topological swapping": tm.TopologicalSwapping(p=5, attributes=("dx",)),
    "random swapping": tm.RandomSwapping(),
    "reverse mapping of noise": tm.ReverseMapping(tm.Noise(0.3, attributes=NUMBERS)),
    "reverse mapping of microaggregation": tm.ReverseMapping(tm.Microaggregation(**BLOCKS)),
    "imputation": tm.Imputation(attributes=("age", "dx"), given=("sex", "grade", "income")),
    "recoding": tm.Recoding({"dx": 3}),
    "recoding by rules": tm.Recoding(
        rules={
            "age": {30: [None, 40], 60: [40, 80]},
            "weight": {70: [60, 80]},
            "born": {"1950-01-01": ["1900-01-01", "1970-01-01"]},
            "sex": {"any": ["f", "m"]},
            "grade": {"mid": ["low", "mid"]},
            "region": {12: [1, 2]},
            "dx": {"CH 390-459": ["390-392", "401-405"], "CH 800-999": ["CH 800-999"]},
        },
        others={"age": 85},
    ),
    "rounding": tm.Rounding({"age": 5, "income": 100, "weight": 2}, random=True),
    "top and bottom coding": tm.TopBottomCoding(bottom={"age": 5}, top={"age": 90, "weight": 80}),
    "generalisation": tm.Generalisation(3),
    "suppression": tm.Suppression(2),
    "pipeline": tm.Pipeline((tm.TopBottomCoding(top={"age": 95}), tm.Microaggregation(**BLOCKS))),
    "pipeline of three": tm.Pipeline(
        (tm.RankSwapping(p=5, attributes=("dx",)), tm.Pram(0.8), tm.Rounding({"income": 10}))
    ),
}


def test_every_method_that_makes_one_linked_table_is_here() -> None:
    assert {method.name for method in CASES.values()} == set(METHODS)


@pytest.fixture(scope="module")
def done(parquet: Path, local: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The releases of the local engine, made when they are asked for."""

    class Made(dict[str, Outcome]):
        def __missing__(self, case: str) -> Outcome:
            self[case] = on_engine(local, parquet, CASES[case], f"{tmp_path_factory.mktemp('local')}/out/")
            return self[case]

    return Made()


@pytest.mark.parametrize("case", CASES)
def test_files_on_threads_and_a_table_in_memory(
    done: dict[str, Outcome], parquet: Path, tmp_path: Path, case: str
) -> None:
    method = CASES[case]
    found = done[case]
    release = tm.protect(read_table(parquet), SCHEMA, method, seed=SEED)
    written = publish(release, str(tmp_path / "memory.parquet"), note=methodology(release, method))
    assert found.table.equals(read_table(tmp_path / "memory.parquet"))  # types and order, too
    assert found.table.num_rows == 237  # three records with an unknown code were dropped
    assert found.release.promise == written.checks == release.promise
    assert found.release.notes == release.notes
    assert found.release.protected == release.protected
    assert found.note == written.note.read_text()


@pytest.mark.parametrize("case", CASES)
def test_two_workers(
    done: dict[str, Outcome], parquet: Path, two_workers: DaskEngine, tmp_path: Path, case: str
) -> None:
    same(done[case], on_engine(two_workers, parquet, CASES[case], f"{tmp_path}/out/"))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_one_and_four_workers(
    done: dict[str, Outcome], parquet: Path, one_worker: DaskEngine, four_workers: DaskEngine, tmp_path: Path, case: str
) -> None:
    for number, engine in enumerate((one_worker, four_workers)):
        same(done[case], on_engine(engine, parquet, CASES[case], f"{tmp_path}/out-{number}/"))


def same(expected: Outcome, found: Outcome) -> None:
    assert found.files == expected.files
    assert found.release.promise == expected.release.promise
    assert found.release.notes == expected.release.notes
    assert found.note == expected.note
