"""The verbs of every engine, and what is particular to Dask."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from distributed import Client

from engines import jobs
from engines.processes import PATIENCE, family, wait_for
from taxomask.engines import DaskCluster, Engine, Files, Memory, Scratch, Threads, Workers
from taxomask.errors import DataError, EngineError


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    with Scratch.temporary(tmp_path / "taxomask", large=1) as scratch:
        yield scratch


@pytest.fixture(params=["memory", "local", "two_workers"])
def engine(request: pytest.FixtureRequest, scratch: Scratch) -> Engine:
    return Memory() if request.param == "memory" else Files(request.getfixturevalue(request.param), scratch)


@pytest.fixture(params=["local", "two_workers"])
def workers(request: pytest.FixtureRequest) -> Workers:
    found: Workers = request.getfixturevalue(request.param)
    return found


def each(items: Iterable[Any]) -> list[tuple[Any]]:
    return [(item,) for item in items]


def files(scratch: Scratch) -> list[Path]:
    return [path for path in scratch.folder.rglob("*") if path.is_file()]


def test_results_come_in_the_order_of_the_items(engine: Engine) -> None:
    assert engine.map(jobs.double, each(range(30)), "doubling") == [2 * number for number in range(30)]
    costs = [float(number % 7) for number in range(30)]
    assert engine.map(jobs.double, each(range(30)), "doubling", costs=costs) == [2 * number for number in range(30)]
    assert engine.map(jobs.double, [], "nothing") == []
    assert engine.run(jobs.double, 4, what="doubling") == 8


def test_what_takes_longest_is_begun_first(scratch: Scratch, one_worker: DaskCluster, tmp_path: Path) -> None:
    costs = [3.0, 1.0, 2.0, 9.0]
    items = [(str(tmp_path), number) for number in range(4)]
    with Threads(1) as threads:
        for workers in (threads, one_worker):
            assert Files(workers, scratch).map(jobs.note, items, "noting", costs=costs) == [0, 1, 2, 3]
            notes = sorted(path for path in tmp_path.iterdir() if path.name.isdigit())
            assert [path.read_text() for path in notes] == ["3", "0", "2", "1"]
            for path in notes:
                path.unlink()


def test_progress_of_workers_is_told_by_stage(workers: Workers, scratch: Scratch) -> None:
    told: list[tuple[float, str]] = []
    Files(workers, scratch, lambda *one: told.append(one)).map(jobs.double, each(range(30)), "doubling")
    assert told[-1] == (1.0, "doubling")
    assert told == sorted(set(told))


def test_who_wants_to_know_the_fraction_only_is_told_of_what_takes_the_time(engine: Engine) -> None:
    told: list[float] = []
    one = engine.telling(told.append)
    one.map(jobs.double, each(range(5)), "beforehand")
    assert told == []
    one.map(jobs.double, each(range(5)), "doubling", main=True)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert engine.telling(None) is engine


def test_the_error_of_a_call_ends_all_and_arrives_as_it_is(engine: Engine) -> None:
    with pytest.raises(DataError) as error:
        engine.map(jobs.fail_at_three, each(range(6)), "failing")
    assert (error.value.message, error.value.hint) == ("column 'dx', row 3: unknown.", "Look at row 3.")
    with pytest.raises(FileNotFoundError, match="nothing-here"):  # not taken for a lost connection
        engine.map(jobs.look_for_a_file, [("/nothing-here",)], "looking")
    assert engine.map(jobs.double, [(1,)], "going on") == [2]


def test_what_nothing_refers_to_is_forgotten(workers: Workers, scratch: Scratch) -> None:
    engine = Files(workers, scratch)
    arrays = engine.map(jobs.doubled, each(np.arange(number, number + 100) for number in range(4)), "doubling")
    assert len(files(scratch)) == 4  # not what was given: that was needed once
    again = engine.map(jobs.as_it_is, each(arrays), "passing on")
    assert len(files(scratch)) == 4  # nothing is written twice
    assert all(np.shares_memory(one, other) for one, other in zip(arrays, again, strict=True))
    del arrays, again[1:]
    assert len(files(scratch)) == 1
    assert again[0].tolist() == list(range(0, 200, 2))
    del again
    assert files(scratch) == []


def test_what_is_given_to_several_calls_is_there_until_the_last(workers: Workers, scratch: Scratch) -> None:
    table, array = pa.table({"a": [1, 2, 3]}), np.arange(3)
    engine = Files(workers, scratch)
    assert engine.map(jobs.sums, [(table, array)] * 9, "summing") == [9] * 9
    assert files(scratch) == []


def test_what_a_lost_worker_had_done_is_done_again(two_workers: DaskCluster, scratch: Scratch, tmp_path: Path) -> None:
    killed: list[int] = []
    go_on = tmp_path / "go on"

    def kill(done: float, what: str) -> None:
        if what == "moving" and done >= 4 / 14 and not killed:  # those that run now are in the middle of their work
            killed.extend(two_workers._client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)
            go_on.touch()

    engine = Files(two_workers, scratch, kill)
    given = engine.map(jobs.doubled, each(np.full(50, number) for number in range(14)), "doubling")
    found = engine.map(jobs.move, [(one, str(go_on)) for one in given], "moving")
    assert [array.tolist() for array, _ in found] == [[4 * number] * 50 for number in range(14)]
    assert {process for _, process in found} - {killed[0]}  # others went on
    del given
    assert len(files(scratch)) == 14


@pytest.mark.slow
def test_a_call_that_ends_every_worker(two_workers: DaskCluster, scratch: Scratch) -> None:
    engine = Files(two_workers, scratch)
    with pytest.raises(EngineError, match=r"ending: the same job ended 4 workers, probably for want of memory.\n"):
        engine.map(_end, [(1,)], "ending")
    assert engine.map(jobs.double, [(1,)], "going on") == [2]


def _end(item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_refused_memory(two_workers: DaskCluster, scratch: Scratch) -> None:
    with pytest.raises(EngineError, match=r"(?s)asking: a worker has not enough memory \(Unable to allocate.*Give"):
        Files(two_workers, scratch).map(jobs.ask_for_too_much, [(1,)], "asking")


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taxomask.engines.dask._WAIT", 1.0)
    for address in ("tcp://127.0.0.1:1", "tcp://no.such.host.invalid:8786", "carrier-pigeon://here:1", "here"):
        with pytest.raises(EngineError, match=rf"no worker answers at {address}: .+\nStart one with `dask scheduler`"):
            DaskCluster(address)
    # Dask's own end of a client that is thrown away can wait for ever: none may be left to it
    left = [one.status for one in gc.get_objects() if issubclass(type(one), Client)]  # a weak reference may be dead
    assert set(left) <= {"closed", "newly-created", "running"}


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match=r"The Dask engine needs the package distributed.*\n.*'taxomask\[dask\]'"):
        DaskCluster()


def test_workers_are_given_up_when_all_is_done_and_before_it_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their results are gone with them, and nobody is there to do them again: the run waited for ever."""
    monkeypatch.setattr("taxomask.engines.dask._BACK", 0.2)
    monkeypatch.setattr("taxomask.engines.dask._LOOK", 0.1)
    monkeypatch.setattr("taxomask.engines.dask._IDLE", PATIENCE)
    finished, lost = DaskCluster._some, []

    def and_then_lost(cluster: DaskCluster, *given: Any) -> list[Any]:
        some = finished(cluster, *given)
        if not lost:
            assert cluster._own is not None
            lost.append(cluster._own.sync(cluster._own.workers[0].close))  # with its nanny
        return some

    monkeypatch.setattr(DaskCluster, "_some", and_then_lost)
    with DaskCluster(workers=1) as cluster, Scratch.temporary(tmp_path / "taxomask") as scratch:
        assert Files(cluster, scratch).map(jobs.double, [(4,), (5,)], "doubling") == [8, 10]
    assert lost


def test_workers_that_dask_gave_up_are_replaced_and_all_end_with_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taxomask.engines.dask._BACK", 0.2)
    monkeypatch.setattr("taxomask.engines.dask._LOOK", 0.1)
    monkeypatch.setattr("taxomask.engines.dask._IDLE", PATIENCE)
    before = threading.active_count()
    with DaskCluster(workers=1) as cluster, Scratch.temporary(tmp_path / "taxomask") as scratch:
        assert cluster._own is not None
        cluster._own.sync(cluster._own.workers[0].close)  # with its nanny
        assert Files(cluster, scratch).map(jobs.double, [(4,)], "doubling") == [8]
        (process,) = cluster._client.run(os.getpid).values()
    wait_for(lambda: not family(process), "end of the worker")
    wait_for(lambda: threading.active_count() <= before + 2, "end of all threads but those that Dask keeps")
