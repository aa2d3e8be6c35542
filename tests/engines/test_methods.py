"""Every method makes the same release of a table in memory, from files on threads, and on a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

import taxomask as tm
from engines.conftest import SCHEMA, SEED, Outcome, on_engine, outcome
from taxomask.engines import DaskCluster, Threads
from taxomask.methods import METHODS
from taxomask.methods.base import Method
from taxomask.microdata.files import read_table
from taxomask.release.residue import NO_RESIDUE

NUMBERS = ("age", "income", "weight")
BLOCKS = {"k": 4, "block_size": 60}
CASES: dict[str, Method] = {
    "microaggregation": tm.Microaggregation(4),
    "microaggregation in blocks": tm.Microaggregation(**BLOCKS),
    "microaggregation, t and l": tm.Microaggregation(4, t=0.6, l=2, attributes=("age", "dx", "sex")),
    "microaggregation, swap": tm.Microaggregation(4, t=0.5, closeness="swap", attributes=("age", "dx", "sex")),
    "microaggregation, first": tm.Microaggregation(4, t=0.5, closeness="first", attributes=("age", "dx", "sex")),
    "refined": tm.Microaggregation(4, algorithm="refined", steps=400, keep_variance=True),
    "refined in blocks": tm.Microaggregation(**BLOCKS, algorithm="refined", steps=400, objective="semantic"),
    "MicroHybrid": tm.MicroHybrid(4),
    "MicroHybrid in blocks": tm.MicroHybrid(**BLOCKS),
    "MicroHybrid in blocks, domain": tm.MicroHybrid(**BLOCKS, candidates="domain"),
    "MicroHybrid in blocks, moments": tm.MicroHybrid(**BLOCKS, synthesis="moments", attributes=(*NUMBERS, "dx", "sex")),
    "group permutation": tm.GroupPermutation(4),
    "group permutation in blocks": tm.GroupPermutation(**BLOCKS, algorithm="refined", steps=400),
    "individual ranking": tm.IndividualRanking(4, attributes=(*NUMBERS, "born", "grade", "dx")),
    "microaggregation of one number": tm.Microaggregation(4, attributes=("income",), block_size=60),
    "shuffling": tm.Shuffling(),
    "shuffling, given mixed": tm.Shuffling(attributes=("dx", "pay", "job"), given=("age", "grade", "region", "sex")),
    "shuffling, paper": tm.Shuffling(attributes=("pay",), given=(), ties="paper"),
    "noise": tm.Noise(0.2, attributes=(*NUMBERS, "grade")),
    "noise, moments": tm.Noise(0.2, keep_moments=True, attributes=NUMBERS),
    "noise, correlated": tm.Noise(0.2, correlated=True, keep_moments=True, attributes=NUMBERS),
    "multiplicative noise": tm.MultiplicativeNoise(attributes=("income", "age")),
    "marginality noise": tm.MarginalityNoise(),
    "PRAM": tm.Pram(0.7),
    "semantic noise": tm.SemanticNoise(
        {"dx": 8, "sex": 2, "grade": 3, "age": 4}, domain={"sex": ["f", "m", "x"], "age": [0, 120, 1]}, missing="value"
    ),
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
    "imputation, three copies": tm.Imputation(attributes=("age", "dx"), given=("sex", "grade"), copies=3),
    "full synthesis": tm.Imputation(synthesis="full"),
    "full synthesis, two copies": tm.Imputation(synthesis="full", copies=2),
    "reverse mapping of two copies": tm.ReverseMapping(
        tm.Imputation(attributes=("age", "income"), given=("sex", "grade"), copies=2)
    ),
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
    "suppression of records at risk": tm.Suppression(2, records={"risk": 0.4}),
    "top coding of records at risk": tm.TopBottomCoding(top={"age": 60}, records={"risk": 0.4}),
    "pipeline": tm.Pipeline((tm.TopBottomCoding(top={"age": 95}), tm.Microaggregation(**BLOCKS))),
    "pipeline of three": tm.Pipeline(
        (tm.RankSwapping(p=5, attributes=("dx",)), tm.Pram(0.8), tm.Rounding({"income": 10}))
    ),
    "pipeline of swaps": tm.Pipeline((tm.RankSwapping(p=5), tm.RandomSwapping(attributes=("sex", "dx")))),
    "pipeline of copies": tm.Pipeline(
        (tm.Rounding(5), tm.Imputation(attributes=("age",), given=("sex", "grade"), copies=2))
    ),
}
# A table of new people must have only columns that were made for them.
UNLINKED = tm.Schema(
    [tm.Attribute("remark", role="identifier") if name == "remark" else one for name, one in SCHEMA.items()]
)
SWAPS = [
    case
    for case, method in CASES.items()
    if "swapping" in method.name or case in ("pipeline of three", "pipeline of swaps")
]
GROUPS = [
    case for case, method in CASES.items() if method.name in ("microaggregation", "micro_hybrid", "group_permutation")
]


def schema_of(case: str) -> tm.Schema:
    return UNLINKED if case.startswith("full") else SCHEMA


def test_every_method_is_here() -> None:
    assert {method.name for method in CASES.values()} == set(METHODS)


@pytest.fixture(scope="module")
def done(parquet: Path, local: Threads, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The releases of the local engine, made when they are asked for."""

    class Made(dict[str, Outcome]):
        def __missing__(self, case: str) -> Outcome:
            target = f"{tmp_path_factory.mktemp('local')}/out/"
            self[case] = on_engine(local, parquet, CASES[case], target, schema=schema_of(case))
            return self[case]

    return Made()


@pytest.mark.parametrize("case", CASES)
def test_files_on_threads_and_a_table_in_memory(
    done: dict[str, Outcome], parquet: Path, tmp_path: Path, case: str
) -> None:
    release = tm.protect(read_table(parquet), schema_of(case), CASES[case], seed=SEED)
    found = done[case]
    same(outcome(release, f"{tmp_path}/out/"), found)
    cells = [check for check in found.release.promise if check.promise != NO_RESIDUE]  # not of what else a file holds
    assert cells == list(release.promise)
    assert found.release.protected == release.protected
    assert found.release.linked == release.linked == (not case.startswith("full"))
    assert (found.swaps is None) == (case not in SWAPS)
    assert found.groups is not None or case not in GROUPS
    assert len(found.tables) == max(1, len(release.copies))
    for table, copy in zip(found.tables, release.copies or (release.data,), strict=True):
        assert read_table(table).schema.types == copy.schema.types
        assert read_table(table).num_rows == len(copy) == 237  # three records with an unknown code were dropped


# Of each way in which methods ask for work one, always; all of them where slow tests are run.
ALWAYS = {
    "microaggregation in blocks", "microaggregation, swap", "MicroHybrid in blocks, moments", "group permutation",
    "shuffling, given mixed", "noise, correlated", "semantic noise", "rank swapping 2, open",
    "rank swapping 3 in blocks", "random swapping", "reverse mapping of microaggregation", "full synthesis, two copies",
    "recoding by rules", "suppression of records at risk", "pipeline of three",
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [case if case in ALWAYS else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_two_workers(
    done: dict[str, Outcome], parquet: Path, two_workers: DaskCluster, tmp_path: Path, case: str
) -> None:
    same(done[case], on_engine(two_workers, parquet, CASES[case], f"{tmp_path}/out/", schema=schema_of(case)))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_one_and_four_workers(
    done: dict[str, Outcome],
    parquet: Path,
    one_worker: DaskCluster,
    four_workers: DaskCluster,
    tmp_path: Path,
    case: str,
) -> None:
    for number, workers in enumerate((one_worker, four_workers)):
        (tmp_path / str(number)).mkdir()
        same(done[case], on_engine(workers, parquet, CASES[case], f"{tmp_path}/{number}/out/", schema=schema_of(case)))


def same(expected: Outcome, found: Outcome) -> None:
    assert found.files == expected.files
    assert (found.groups, found.swaps) == (expected.groups, expected.swaps)
    assert found.release.promise == expected.release.promise
    assert found.release.notes == expected.release.notes
    assert found.note == expected.note
    assert known(found.release) == known(expected.release)


def known(release: tm.Release) -> dict[str, object]:
    """The audit, but for the time: the hashes of what was protected and of what came out, among others."""
    audit = {name: value for name, value in release.audit.items() if name not in ("started", "seconds")}
    assert len(audit["sha256"]["released"]) == max(1, len(release._masked.copies))
    assert audit["sha256"]["original"] not in audit["sha256"]["released"]
    return audit
