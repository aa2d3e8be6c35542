"""Columns in chunks: the same on every engine, whatever the length of a chunk, and what chunks cannot change."""

from __future__ import annotations

import gc
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import rankdata

import taxomask as tm
from engines import jobs
from engines.conftest import SEED, on_engine, outcome
from engines.test_methods import CASES, schema_of
from taxomask.engines import DaskCluster, Engine, Files, Memory, Scratch, Threads, read_coded
from taxomask.engines.exchange import sampled, splitters
from taxomask.engines.sealed import Seal, Summed, stretches_of, tail
from taxomask.errors import EngineError
from taxomask.microdata import CategoricalColumn, ContinuousColumn, Microdata
from taxomask.microdata.files import read_table
from taxomask.release import protect_on

Array = np.ndarray[Any, Any]
LENGTHS = (0, 1, 15, 16, 17, 100, 259)


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", 16)


@pytest.fixture(params=[1, 1 << 16], ids=["in files", "in messages"])
def scratch(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with Scratch.temporary(tmp_path / "taxomask", large=request.param) as scratch:
        yield scratch


@pytest.fixture(params=["memory", "local"])
def engine(request: pytest.FixtureRequest, scratch: Scratch) -> Engine:
    return Memory() if request.param == "memory" else Files(request.getfixturevalue(request.param), scratch)


def keys_of_all_sorts(n: int) -> list[Array]:
    """Different ones, ties, ties beyond a chunk, missing ones, all the same, codes."""
    rng = np.random.default_rng(n)
    some = rng.random(n)
    return [
        some,
        np.round(3 * some),
        np.where(rng.random(n) < 0.3, np.nan, np.round(40 * some)),
        np.where(rng.random(n) < 0.9, 1.0, some),
        np.full(n, np.nan),
        np.full(n, -2.5),
        rng.integers(-1, 4, n).astype(np.int32),
        np.arange(n, 0, -1) * 1e-300,
    ]


def known(keys: Array) -> Array:
    return keys >= 0 if keys.dtype.kind == "i" else ~np.isnan(keys)


@pytest.mark.parametrize("n", LENGTHS)
def test_the_order_and_the_ranks_are_those_of_all_keys(engine: Engine, n: int) -> None:
    for keys in keys_of_all_sorts(n):
        rows = np.flatnonzero(known(keys))
        found = engine.order(keys, "sorting")
        assert found.tolist() == rows[np.argsort(keys[rows], kind="stable")].tolist()
        expected = np.zeros(n)
        expected[rows] = 2 * rankdata(keys[rows]) - (len(rows) + 1) if len(rows) else []
        assert engine.rank(keys, "ranking").tolist() == expected.tolist()


@pytest.mark.parametrize("n", LENGTHS)
def test_rows_go_to_their_places(engine: Engine, n: int) -> None:
    rng = np.random.default_rng(n)
    places, numbers = rng.permutation(n), rng.random(n)
    moved = engine.move(numbers, places, what="moving")
    assert moved[places].tolist() == numbers.tolist()
    wide = engine.move(numbers, places + 5, n=n + 40, fill=-1.0, what="moving")
    assert len(wide) == n + 40
    assert wide[places + 5].tolist() == numbers.tolist()
    assert (np.delete(wide, places + 5) == -1).all()
    pairs = np.stack([numbers, -numbers], axis=1)
    assert engine.move(pairs, places, what="moving")[places].tolist() == pairs.tolist()


@pytest.mark.parametrize("n", LENGTHS)
def test_each_chunk_and_all_of_them(engine: Engine, n: int) -> None:
    numbers = np.random.default_rng(n).random(n)
    twice, starts = engine.each(jobs.doubled_from, [numbers, range(n)], what="doubling")
    assert twice.tolist() == (2 * numbers).tolist()
    assert starts == list(range(0, max(n, 1), 16))
    noisy = engine.each(jobs.with_noise, [numbers], 0.5, what="drawing", rng=np.random.default_rng(7))
    expected = Memory().each(jobs.with_noise, [numbers], 0.5, what="drawing", rng=np.random.default_rng(7))
    assert noisy.tolist() == expected.tolist()
    if 0 < n <= 16:  # a table of one chunk is looked at as a whole
        assert noisy.tolist() == (numbers + 0.5 * np.random.default_rng(7).standard_normal(n)).tolist()
    in_turn = [float(numbers[start : start + 16].sum()) for start in starts]
    total = in_turn[0]
    for one in in_turn[1:]:
        total += one
    assert engine.fold(jobs.total, add, [numbers], what="adding") == total


def test_a_cluster_does_the_same(two_workers: DaskCluster, tmp_path: Path) -> None:
    keys = keys_of_all_sorts(100)[2]
    places = np.random.default_rng(5).permutation(100)
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        cluster = Files(two_workers, scratch)
        assert cluster.order(keys, "sorting").tolist() == Memory().order(keys, "sorting").tolist()
        assert cluster.rank(keys, "ranking").tolist() == Memory().rank(keys, "ranking").tolist()
        assert cluster.move(keys, places, what="moving")[places].tobytes() == keys.tobytes()
        noisy = cluster.each(jobs.with_noise, [keys], 0.5, what="drawing", rng=np.random.default_rng(7))
        expected = Memory().each(jobs.with_noise, [keys], 0.5, what="drawing", rng=np.random.default_rng(7))
        assert noisy.tobytes() == expected.tobytes()


def test_columns_in_chunks_and_moved(engine: Engine) -> None:
    schema = tm.Schema(
        [
            tm.Attribute("age", role="quasi_identifier", kind="continuous"),
            tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm"),
        ]
    )
    codes = ["25001", "4019", None, "25002"] * 10
    data = Microdata.from_frame(pa.table({"age": [float(place) for place in range(40)], "dx": codes}), schema)
    if isinstance(engine, Files):
        engine.scratch.introduce(schema)
    age, dx = data.continuous("age"), data.taxonomic("dx")
    assert isinstance(other := engine.each(jobs.opposite, [age], what="turning"), ContinuousColumn)
    assert other.values.tolist() == (-age.values).tolist()
    back = np.arange(40)[::-1].copy()
    turned = engine.move(dx, back, what="turning")
    assert turned.codes.tolist() == dx.codes[::-1].tolist()
    assert turned.table is dx.table  # distances are shared
    assert turned.counts.tolist() == dx.counts.tolist()
    spread = engine.move(dx, back + 2, n=44, what="turning")
    assert spread.missing[[0, 1, 42, 43]].all()
    assert spread.codes[2:42].tolist() == turned.codes.tolist()
    part = dx.part(2, 5)
    assert isinstance(part, CategoricalColumn)
    assert (len(part), part.counts.sum(), dx.counts.sum()) == (3, 2, 30)


def test_nothing_is_left_when_it_is_given_up(scratch: Scratch, local: Threads) -> None:
    engine, keys = Files(local, scratch), np.random.default_rng(0).random(200)
    found = [engine.order(keys, "a"), engine.rank(keys, "b"), engine.move(keys, np.arange(200), what="c")]
    files = [path for path in scratch.folder.rglob("*") if path.is_file()]
    assert len(files) == (len(found) if scratch.large == 1 else 0)
    found.clear()
    gc.collect()
    assert not [path for path in scratch.folder.rglob("*") if path.is_file()]


def test_ranges_of_keys_are_about_as_long_as_chunks_whatever_the_ties() -> None:
    n, chunk = 64_000, 4_000
    rng = np.random.default_rng(3)
    for keys in (rng.random(n), np.round(2 * rng.random(n)), np.full(n, 1.0), rng.lognormal(0, 3, n)):
        starts = range(0, n, chunk)
        samples = [sampled(keys[start : start + chunk], range(start, start + chunk)) for start in starts]
        first, where = splitters(samples, chunk)
        order = np.lexsort((np.arange(n), keys))
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        sizes = np.diff(np.concatenate([[0], place[where], [n]]))
        assert len(first) == 15
        assert sizes.max() < 1.3 * chunk


# --------------------------------------------------------------------------------------- files


def test_only_the_stretches_that_are_looked_at_are_read(tmp_path: Path) -> None:
    path, content = tmp_path / "a", np.random.default_rng(0).bytes(3_500_000)
    with Summed(path) as file:
        for start in range(0, len(content), 999_983):
            file.write(content[start : start + 999_983])
    assert path.read_bytes() == content + tail(len(content), stretches_of(content))
    damaged = bytearray(path.read_bytes())
    damaged[2_500_000] ^= 1
    path.write_bytes(damaged)
    seal = Seal(path)
    for start, stop in ((0, 2_000_000), (3_200_000, 3_500_000), (2_097_151, 2_097_152)):
        seal.check(start, stop)
    for start, stop in ((2_097_152, 2_097_153), (0, 3_500_000), (3_145_727, 3_145_728)):
        with pytest.raises(ValueError, match="damaged"):
            seal.check(start, stop)


def test_a_damaged_chunk_is_never_used(tmp_path: Path, local: Threads) -> None:
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        numbers = engine.each(jobs.with_noise, [np.zeros(100)], 1.0, what="drawing", rng=np.random.default_rng(1))
        (path,) = [path for path in scratch.folder.rglob("*") if path.is_file()]
        content = bytearray(path.read_bytes())
        content[8 * 50] ^= 1  # in the fourth chunk
        (message,) = scratch.pack([(numbers[:16], numbers[48:64])], "b")
        path.write_bytes(content)
        with pytest.raises(EngineError, match="is damaged or gone"):
            Scratch(scratch.folder, large=1).unpack(message)


def test_a_part_is_mapped_by_itself_and_passed_on_by_its_place(tmp_path: Path) -> None:
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        (message,) = scratch.pack([np.arange(10_000)], "a")
        whole = scratch.unpack(message)
        (message,) = scratch.pack([whole[5_000:6_000]], "b")
        part = scratch.unpack(message, apart=True)
        assert part.tolist() == list(range(5_000, 6_000))
        assert not np.shares_memory(part, whole)
        del whole
        gc.collect()
        (message,) = scratch.pack([part[10:20]], "c")  # its file is still there
        assert scratch.unpack(message).tolist() == list(range(5_010, 5_020))
        assert [path.name for path in scratch.folder.rglob("*") if path.is_file()] == ["a"]


# --------------------------------------------------------------------------------------- methods

IN_CHUNKS = [
    case
    for case in CASES
    if case.startswith(("shuffling", "noise", "PRAM", "multiplicative", "reverse mapping of noise"))
]


def released(engine: Engine, data: Microdata, case: str) -> tuple[Any, ...]:
    release = protect_on(engine, data, CASES[case], seed=SEED)
    return release.data, release.notes, release.audit["sha256"]


@pytest.fixture
def three_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "chunk", 100)  # of 237 records


@pytest.mark.usefixtures("three_chunks")
@pytest.mark.parametrize("case", IN_CHUNKS)
def test_methods_are_the_same_in_files_and_in_memory(local: Threads, parquet: Path, tmp_path: Path, case: str) -> None:
    expected = released(Memory(), Microdata.from_frame(read_table(parquet), schema_of(case)), case)
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(local, scratch)
        found = released(engine, read_coded(str(parquet), schema_of(case), engine), case)
    assert found[0].equals(expected[0])
    assert found[1:] == expected[1:]


@pytest.mark.usefixtures("three_chunks")
def test_a_method_on_a_cluster(two_workers: DaskCluster, parquet: Path, tmp_path: Path) -> None:
    case = "shuffling, paper"
    expected = released(Memory(), Microdata.from_frame(read_table(parquet), schema_of(case)), case)
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        engine = Files(two_workers, scratch)
        found = released(engine, read_coded(str(parquet), schema_of(case), engine), case)
    assert found[0].equals(expected[0])
    assert found[1:] == expected[1:]


@pytest.mark.usefixtures("three_chunks")
def test_what_is_written_and_checked(local: Threads, parquet: Path, tmp_path: Path) -> None:
    case = "microaggregation in blocks"
    release = tm.protect(read_table(parquet), schema_of(case), CASES[case], seed=SEED)
    expected = outcome(release, f"{tmp_path}/memory/")
    found = on_engine(local, parquet, CASES[case], f"{tmp_path}/local/", schema=schema_of(case), large=1)
    assert found.files == expected.files
    assert found.release.promise == expected.release.promise
