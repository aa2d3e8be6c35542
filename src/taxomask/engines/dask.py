"""Calls on a Dask cluster: one that runs already, or one started on this machine."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from .._support.one_thread import one_thread
from .._version import __version__
from ..errors import EngineError
from ..microdata.files.base import import_extra
from .base import Told
from .files import Call, Workers
from .scratch import Scratch

__all__ = ["DaskCluster"]

_FAILURES = 3  # workers that a call may outlive before it is given up; Dask's own default
_STARTS = 3  # of a cluster on this machine whose workers end as they start
_WAIT = 30.0  # seconds for the scheduler to answer, and for a worker to be there
_IDLE = 60.0  # seconds in which jobs wait and no worker does anything
_PARCELS = 256  # into which calls are put at most
_EACH = 16  # parcels for each thread of a worker: more cost time, fewer make workers wait for the last one
_BACK = 20.0  # seconds for a worker on this machine to come back
_LOOK = 2.0  # seconds between two looks at the workers while jobs run
_ALIKE = ("numpy", "numba", "pyarrow")  # whose versions must be the same everywhere, for the same bytes
_LOGS = ("distributed", "distributed.client")  # silent: what went wrong is told in one error
_MEMORY = "Nothing was released. Give workers more memory, or declare smaller blocks."
_START = "Start one with `dask scheduler` and `dask worker`, and check the address."
_START_HERE = (
    "Nothing was released. Is there enough memory? If so, run again, or use the engine 'local': the same seed gives "
    'the same release. In a script, work under `if __name__ == "__main__":`, since workers import it.'
)
_AGAIN = "Nothing was released. Check the scheduler, then run again: the same seed gives the same release."


class DaskCluster(Workers):
    """Makes calls on the workers of a Dask cluster.

    One whose worker was lost is made again on another, up to three times.

    Parameters
    ----------
    scheduler
        The address of a running scheduler, such as ``tcp://10.0.0.1:8786``. By default processes on this machine are
        started.
    workers
        The number of processes of a cluster on this machine; by default one per core.
    """

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        if scheduler and "@" in scheduler:
            raise EngineError(
                f"the address of a scheduler names no user and no password: …@{scheduler.rpartition('@')[2]}.",
                hint="Write it as tcp://host:port or tls://host:port.",
            )
        distributed = import_extra("distributed", "dask", "The Dask engine")
        self._where = scheduler or "the cluster on this machine"
        self._lost = (OSError, TimeoutError, distributed.CancelledError)
        self._known: set[str] = set()
        with ExitStack() as stack:
            for name in _LOGS:
                stack.callback(logging.getLogger(name).setLevel, logging.getLogger(name).level)
                logging.getLogger(name).setLevel(logging.CRITICAL)
            try:
                self._own = None if scheduler else stack.enter_context(_started(distributed, workers))
                self._client = object.__new__(distributed.Client)  # to close it even if it cannot connect
                stack.callback(self._close)
                self._client.__init__(
                    self._own or scheduler, timeout=_WAIT, set_as_default=False, heartbeat_interval="2s"
                )
                self._client.wait_for_workers(1, timeout=_WAIT)
            except (*self._lost, ValueError, TypeError, RuntimeError) as error:
                # TypeError and ValueError: no such address, no TLS set up; RuntimeError: workers ended as they started
                raise EngineError(
                    f"no worker answers at {self._where}: {str(error).rstrip('.') or 'no answer'}.",
                    hint=_START if scheduler else _START_HERE,
                ) from None
            self._stack = stack.pop_all()

    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        from distributed import KilledWorker

        futures: list[Any] = []
        try:
            if self._client.status != "running":
                raise ConnectionError
            at_once = self._check_workers(scratch)
            where = str(scratch.folder), scratch.large
            parcels = _parcels(calls, min(_PARCELS, _EACH * max(at_once, 1)))
            futures += (self._client.submit(_run, some, *where, pure=False) for some in parcels)
            found, failure = self._collect(futures, what, told)
        except KilledWorker as error:  # after it was done: its result was lost with its worker
            failure = error
        except self._lost as error:
            raise EngineError(
                f"{what}: the connection to {self._where} was lost ({type(error).__name__}).", hint=_AGAIN
            ) from None
        finally:
            for future in futures:
                future.release()
        if isinstance(failure, KilledWorker):
            count = failure.allowed_failures + 1
            raise EngineError(f"{what}: the same job ended {count} workers, probably for want of memory.", hint=_MEMORY)
        if isinstance(failure, MemoryError):
            raise EngineError(f"{what}: a worker has not enough memory ({failure}).", hint=_MEMORY)
        if failure is not None:
            raise failure
        return [answer for some in found for answer in some]

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _collect(
        self, futures: list[Any], what: str, told: Told | None
    ) -> tuple[list[list[bytes]], BaseException | None]:
        """The answers, or the error of the first call that failed."""
        finished: SimpleQueue[Any] = SimpleQueue()
        places = {}
        for place, future in enumerate(futures):
            places[future.key] = place
            future.add_done_callback(finished.put)
        found: list[Any] = [None] * len(futures)
        done = 0
        while done < len(futures):
            some = self._some(finished, what)
            failed = [future for future in some if future.status == "error"]
            if failed:
                return [], failed[0].exception()
            for future, result in zip(some, self._gathered(some, what), strict=True):
                found[places[future.key]] = result
            done += len(some)
            if told is not None:
                told(done / len(futures), what)
        return found, None

    def _some(self, finished: SimpleQueue[Any], what: str) -> list[Any]:
        """Parcels that are done, at least one; an error if there is nobody to do any."""
        watch = _Watch(self, what)
        while True:
            try:
                some = [finished.get(timeout=_LOOK)]
                break
            except Empty:
                watch.look()
        with suppress(Empty):
            while True:
                some.append(finished.get_nowait())
        return some

    def _gathered(self, futures: list[Any], what: str) -> list[Any]:
        """What came of parcels that are done; those whose worker has gone since are done again, if there is anybody."""
        watch, patience = _Watch(self, what), _LOOK
        while True:
            try:
                answers: list[Any] = self._client.sync(self._client._gather, futures, callback_timeout=patience)
                return answers
            except TimeoutError:
                watch.look()
                patience *= 2

    def _replace(self, alive: set[Any]) -> None:
        """Start others for workers on this machine that do not come back: Dask gives up one that ends as it starts."""
        assert self._own is not None
        count = len(self._own.worker_spec)
        self._own.sync(self._own.scale_down, [name for name in self._own.worker_spec if name not in alive])
        self._own.scale(count)

    def _check_workers(self, scratch: Scratch) -> int:
        """Every worker must see the scratch folder and run the same versions; asked once for each that joins.

        How many jobs they do at a time.
        """
        threads: dict[str, int] = self._client.nthreads()
        new = [worker for worker in threads if worker not in self._known]
        answers = self._client.run(_about, str(scratch.folder), workers=new, on_error="return") if new else {}
        here = _versions()
        for worker, answer in answers.items():
            if isinstance(answer, OSError):  # it has gone already; its jobs go to others
                continue
            if isinstance(answer, Exception):
                raise EngineError(f"the worker at {worker} cannot be used: {answer}.", hint=_INSTALL)
            versions, sees = answer
            for name, version in versions.items():
                if version != here[name]:
                    raise EngineError(
                        f"the worker at {worker} runs {name} {version}, here it is {here[name]}.", hint=_INSTALL
                    )
            if not sees:
                raise EngineError(
                    f"the worker at {worker} does not see the scratch folder {scratch.folder}.",
                    hint="Choose a folder that all machines share, with 'engine: {scratch: …}'.",
                )
            self._known.add(worker)
        return sum(threads.values())

    def _close(self) -> None:
        with suppress(Exception):  # a cluster that is gone cannot be closed
            self._client.close(timeout=5)
        self._client.status = "closed"  # Dask would try again when it is thrown away, and could wait for ever


class _Watch:
    """Looks after the workers while something is waited for."""

    def __init__(self, cluster: DaskCluster, what: str) -> None:
        self._cluster, self._what = cluster, what
        self._idle_since = self._whole_since = time.monotonic()
        self._back = _BACK

    def look(self) -> None:
        """Start workers that do not come back; an error if nobody does anything any more."""
        client, own = self._cluster._client, self._cluster._own
        about = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_WAIT)
        workers = about["workers"].values()
        if own is None or len(workers) == len(own.worker_spec):
            self._whole_since = time.monotonic()
        elif time.monotonic() - self._whole_since > self._back:
            self._cluster._replace({worker["name"] for worker in workers})
            self._back = inf  # once: a busy machine may take long to start one
        if any(worker["metrics"]["task_counts"].get("executing") for worker in workers):
            self._idle_since = time.monotonic()
        if time.monotonic() - self._idle_since > _IDLE:
            paused = sum(worker["status"] == "paused" for worker in workers)
            raise EngineError(
                f"{self._what}: no worker has done anything for {_IDLE:g} s; of {len(workers)} workers at "
                f"{self._cluster._where}, {paused} have paused for want of memory.",
                hint=_MEMORY if paused else "Nothing was released. Start workers with `dask worker`.",
            )


_INSTALL = "Install the same versions everywhere."


def _started(distributed: Any, workers: int | None) -> Any:
    """A cluster on this machine; Dask gives up all of it if one worker ends as it starts, so it is tried again."""
    for _ in range(_STARTS - 1):
        with suppress(RuntimeError):
            return _local_cluster(distributed, workers)
    return _local_cluster(distributed, workers)


def _local_cluster(distributed: Any, workers: int | None) -> Any:
    """Processes with one thread each on this machine; nothing listens on other addresses.

    A worker is never paused for want of memory, in which state it could stay for ever: it works, or it is ended.
    """
    import dask

    count = workers or os.cpu_count() or 1
    options = {
        "distributed.scheduler.allowed-failures": _FAILURES,
        "distributed.worker.memory.pause": False,
        "distributed.worker.profile.enabled": False,  # this and the next two: less work beside the work
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.admin.tick.interval": "1s",
    }
    with dask.config.set(options):
        return distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=distributed.system.MEMORY_LIMIT // count,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs="CRITICAL",
            preload=["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],  # Ctrl-C is for us: we end them
        )


# --------------------------------------------------------------------------------------- what runs on workers


def _parcels(calls: Sequence[Call], most: int) -> list[Sequence[Call]]:
    """Calls in at most so many parcels: sending thousands of small ones one by one would take longer than they."""
    size = -(-len(calls) // most)
    return [calls[start : start + size] for start in range(0, len(calls), size)] if calls else []


@one_thread()
def _run(calls: Sequence[Call], folder: str, large: int) -> list[bytes]:
    scratch = Scratch.at(folder, large)
    return [call.answer(scratch) for call in calls]


def _about(folder: str) -> tuple[dict[str, str], bool]:
    return _versions(), Path(folder).is_dir()


def _versions() -> dict[str, str]:
    return {"taxomask": __version__, **{name: import_module(name).__version__ for name in _ALIKE}}
