"""The one verb of every engine, and what is particular to Dask."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from engines import jobs
from engines.processes import PATIENCE, family, wait_for
from taxomask.engines import DaskEngine, Engine, Store
from taxomask.errors import DataError, EngineError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.temporary(tmp_path / "taxomask") as store:
        yield store


@pytest.fixture(params=["local", "two_workers"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(request.param)
    return found


def test_results_come_in_the_order_of_the_items(engine: Engine, store: Store) -> None:
    told: list[tuple[str, int, int]] = []
    found = engine.map(jobs.double, store, range(30), "doubling", lambda *one: told.append(one))
    assert found == [2 * number for number in range(30)]
    assert told[-1] == ("doubling", 30, 30)
    assert [done for _, done, _ in told] == sorted({done for _, done, _ in told})
    assert engine.map(jobs.double, store, [], "nothing") == []


def test_the_error_of_a_job_ends_all_and_arrives_as_it_is(engine: Engine, store: Store) -> None:
    with pytest.raises(DataError) as error:
        engine.map(jobs.fail_at_three, store, range(6), "failing")
    assert (error.value.message, error.value.hint) == ("column 'dx', row 3: unknown.", "Look at row 3.")
    with pytest.raises(FileNotFoundError, match="nothing-here"):  # not taken for a lost connection
        engine.map(jobs.look_for_a_file, store, ["/nothing-here"], "looking")
    assert engine.map(jobs.double, store, [1], "going on") == [2]


def test_jobs_may_drop_what_they_do_not_need_any_more(engine: Engine, store: Store) -> None:
    for number in range(4):
        store.put(f"in/{number}", number)
    engine.map(jobs.move, store, range(4), "moving")
    assert sorted(path.name for path in store.folder.iterdir()) == ["in", "out"]
    assert list(store.path("in").iterdir()) == []
    assert [store.get(f"out/{number}") for number in range(4)] == [0, 2, 4, 6]


def test_what_a_lost_worker_had_done_or_dropped_is_done_again(two_workers: DaskEngine, store: Store) -> None:
    items = range(14)
    for number in items:
        store.put(f"in/{number}", number)
    killed: list[int] = []

    def kill(what: str, done: int, total: int) -> None:
        if done >= 4 and not killed:  # those that run now are in the middle of their work
            killed.extend(two_workers._client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)
            (store.folder.parent / "go on").touch()

    processes = two_workers.map(jobs.move_in_two_steps, store, items, "moving", kill)
    assert [store.get(f"out/{number}") for number in items] == [2 * number for number in items]
    assert set(processes) - {killed[0]}  # others went on
    assert list(store.path("in").iterdir()) == []


@pytest.mark.slow
def test_a_job_that_ends_every_worker(two_workers: DaskEngine, store: Store) -> None:
    with pytest.raises(EngineError, match=r"ending: the same job ended 4 workers, probably for want of memory.\n"):
        two_workers.map(_end, store, [1], "ending")
    assert two_workers.map(jobs.double, store, [1], "going on") == [2]


def _end(store: Store, item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_refused_memory(two_workers: DaskEngine, store: Store) -> None:
    with pytest.raises(EngineError, match=r"(?s)asking: a worker has not enough memory \(Unable to allocate.*Give"):
        two_workers.map(jobs.ask_for_too_much, store, [1], "asking")


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taxomask.engines.dask._WAIT", 1.0)
    for address in ("tcp://127.0.0.1:1", "tcp://no.such.host.invalid:8786", "carrier-pigeon://here:1", "here"):
        with pytest.raises(EngineError, match=rf"no worker answers at {address}: .+\nStart one with `dask scheduler`"):
            DaskEngine(address)
    # Dask's own end of a client that is thrown away can wait for ever: none may be left to it
    left = [one.status for one in gc.get_objects() if isinstance(one, Client)]
    assert set(left) <= {"closed", "newly-created", "running"}


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match=r"The Dask engine needs the package distributed.*\n.*'taxomask\[dask\]'"):
        DaskEngine()


def test_workers_that_dask_gave_up_are_replaced_and_all_end_with_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taxomask.engines.dask._BACK", 0.2)
    monkeypatch.setattr("taxomask.engines.dask._LOOK", 0.1)
    monkeypatch.setattr("taxomask.engines.dask._IDLE", PATIENCE)
    before = threading.active_count()
    with DaskEngine(workers=1) as engine, Store.temporary(tmp_path / "taxomask") as store:
        assert engine._own is not None
        engine._own.sync(engine._own.workers[0].close)  # with its nanny
        assert engine.map(jobs.double, store, [4], "doubling") == [8]
        (process,) = engine._client.run(os.getpid).values()
    wait_for(lambda: not family(process), "end of the worker")
    wait_for(lambda: threading.active_count() <= before + 2, "end of all threads but those that Dask keeps")
