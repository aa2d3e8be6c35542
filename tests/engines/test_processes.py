"""A scheduler and workers of their own, used from the command line; and what becomes of a run when they fail."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from distributed import Status

from engines import jobs
from engines.conftest import ENDLESS, files_of, left_in, write_case
from engines.processes import PATIENCE, Processes, end, family, wait_for
from microdata.formats.conftest import leave_out
from taxomask.engines import DaskCluster, Files, Scratch
from taxomask.errors import EngineError


def arguments(target: str = "out/") -> tuple[str, ...]:
    """The arguments of a run, which is in the folder of the plan; workers are elsewhere."""
    return ("--plan", "plan.yaml", "data/", "-o", target)


def grouping(folder: Path) -> bool:
    """Whether the first blocks are grouped."""
    return any(folder.glob(".taxomask.*.scratch/*-grouping/[0-9]*"))


def cut(folder: Path) -> bool:
    """Whether the table is being cut into blocks, or is already."""
    return any(folder.glob(".taxomask.*.scratch/*-cutting/[0-9]*"))


def expected(processes: Processes) -> dict[str, bytes]:
    """What the local engine writes."""
    run = processes.protect(*arguments("expected/"), "--engine", "local")
    _, error = run.communicate()
    assert run.returncode == 0, error
    return files_of(processes.folder / "expected")


def test_a_run_on_a_cluster_and_a_worker_killed_in_the_middle_of_it(processes: Processes) -> None:
    folder = processes.folder
    write_case(folder, steps=10_000)
    right = expected(processes)
    address = processes.start_scheduler()
    workers = [processes.start_worker() for _ in range(2)]
    processes.wait_for_workers(2)
    run = processes.protect(*arguments(), "--engine", "dask", "--scheduler", address, "--json")
    wait_for(lambda: grouping(folder), "block")
    worker = max(family(workers[0].pid)[1:], key=lambda one: one.create_time())
    worker.kill()
    out, error = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, error
    assert '"holds": false' not in out
    assert files_of(folder / "out") == right
    assert left_in(folder) == {
        f"{name}{suffix}" for name in ("out", "expected") for suffix in ("", ".audit.json", ".note.md")
    }


@pytest.mark.slow
def test_the_scheduler_is_killed(processes: Processes) -> None:
    folder = processes.folder
    write_case(folder, steps=ENDLESS)
    address = processes.start_scheduler()
    processes.start_worker()
    run = processes.protect(*arguments(), "--scheduler", address)
    wait_for(lambda: cut(folder), "blocks")
    assert processes.scheduler is not None
    processes.scheduler.kill()
    out, error = run.communicate(timeout=PATIENCE)
    assert (run.returncode, out) == (2, "")
    assert re.match(rf"taxomask: (cutting into blocks|grouping): the connection to {address} was lost", error)
    assert "Nothing was released. Check the scheduler, then run again" in error
    assert len(error.splitlines()) == 2
    assert left_in(folder) == set()


@pytest.mark.slow
def test_workers_without_enough_memory(processes: Processes) -> None:
    folder = processes.folder
    write_case(folder)
    address = processes.start_scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    processes.start_worker("--memory-limit", "140MB", DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE="False")
    run = processes.protect(*arguments(), "--scheduler", address)
    out, error = run.communicate(timeout=PATIENCE)
    assert (run.returncode, out) == (2, "")
    assert "the same job ended 2 workers, probably for want of memory.\nNothing was released. Give workers" in error
    assert left_in(folder) == set()


def test_workers_that_have_paused_and_workers_that_are_gone(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask would wait for ever."""
    monkeypatch.setattr("taxomask.engines.dask._IDLE", 0.5)
    monkeypatch.setattr("taxomask.engines.dask._LOOK", 0.1)
    address = processes.start_scheduler()
    worker = processes.start_worker()
    processes.wait_for_workers(1)
    items = [(number,) for number in range(4)]
    with DaskCluster(address) as cluster, Scratch.temporary(tmp_path / "taxomask") as scratch:
        engine = Files(cluster, scratch)
        cluster._client.run(_pause)
        wait_for(lambda: "paused" in states(cluster), "pause")
        with pytest.raises(EngineError, match=r"doubling: no worker has done anything for 0.5 s; .* 1 have paused for"):
            engine.map(jobs.double, items, "doubling")
        for one in reversed(family(worker.pid)):  # the worker, and the nanny that would start another
            end(one.pid)
        wait_for(lambda: not cluster._client.nthreads(), "empty cluster")
        with pytest.raises(EngineError, match=r"(?s)of 0 workers at tcp.* 0 have paused.*Start workers with `dask"):
            engine.map(jobs.double, items, "doubling")
        monkeypatch.undo()
        processes.start_worker()
        wait_for(lambda: "running" in states(cluster), "worker")
        assert engine.map(jobs.double, items, "doubling") == [0, 2, 4, 6]


def _pause(dask_worker: Any) -> None:
    """As Dask does if there is too little memory."""
    dask_worker.status = Status.paused


def states(cluster: DaskCluster) -> list[str]:
    """How the workers are that the scheduler knows."""
    about = cluster._client.sync(cluster._client.scheduler.identity, n_workers=-1)
    return [one["status"] for one in about["workers"].values()]


UNLIKE = {
    "import taxomask.engines.dask as one; one.__version__ = '0.0.1'": "runs taxomask 0.0.1, here it is ",
    "import pyarrow; pyarrow.__version__ = '1.99'": "runs pyarrow 1.99, here it is ",
    "import sys; sys.modules['taxomask'] = None": "cannot be used: .*'taxomask' is not a package",
}


@pytest.mark.slow
def test_workers_with_other_software_or_without_the_scratch_folder(processes: Processes, tmp_path: Path) -> None:
    address = processes.start_scheduler()
    script, shared = tmp_path / "unlike.py", tmp_path / "shared"
    shared.mkdir()

    def refusal() -> str:
        with DaskCluster(address) as cluster, Scratch.temporary(shared / "taxomask") as scratch:
            with pytest.raises(EngineError, match=r"the worker at tcp://\S+") as error:
                Files(cluster, scratch).map(jobs.double, [(1,)], "doubling")
            for one in reversed(family(worker.pid)):
                end(one.pid)
            wait_for(lambda: not cluster._client.nthreads(), "empty cluster")
        return str(error.value)

    for content, message in UNLIKE.items():
        script.write_text(content)
        worker = processes.start_worker("--preload", str(script))
        assert re.search(rf"{message}.*\nInstall the same versions everywhere", refusal())
    if os.geteuid():
        leave_out("only root can give a process a file system of its own")
    hidden = f'mount -t tmpfs tmpfs {shared} && exec "$0" "$@"'
    worker = processes.start_worker(before=("unshare", "--mount", "sh", "-c", hidden))
    assert re.search(r"does not see the scratch folder .*\nChoose a folder that all machines share", refusal())
