"""Jobs that take long: they wait in a queue, run one at a time, tell how far they are and can be cancelled."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import DataError
from .worker import TaskError, Worker

__all__ = ["Job", "Jobs"]


@dataclass
class Job:
    """One job: what it does, how far it is, and what came of it."""

    id: str
    task: str
    table: str
    folder: Path
    arguments: dict[str, Any] = field(repr=False)
    state: str = "queued"  # then running; in the end done, failed or cancelled
    progress: float = 0.0
    stage: str = ""  # what is being done
    parts: list[Any] = field(default_factory=list)
    result: Any = None
    error: dict[str, Any] | None = None
    started: float | None = None
    ended: float | None = None

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def to_dict(self) -> dict[str, Any]:
        """What the page shows."""
        seconds = None if self.started is None else (self.ended or time.time()) - self.started
        shown = ("id", "task", "table", "state", "progress", "stage", "parts", "result", "error")
        return {name: getattr(self, name) for name in shown} | {"seconds": seconds}

    def summary(self) -> dict[str, Any]:
        """What a list of jobs shows."""
        done = self.result if self.state == "done" and self.task == "protect" else {}
        kept = {name: done.get(name) for name in ("headline", "plan")}
        return self.to_dict() | {"parts": None, "result": None, "ended": self.ended, **kept}


class Jobs:
    """The queue, and the process that works on it."""

    def __init__(self) -> None:
        self._all: dict[str, Job] = {}
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._worker = Worker()
        self._lock = threading.Lock()  # of the states
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __getitem__(self, identifier: str) -> Job:
        if identifier not in self._all:
            raise DataError("there is no such job.", hint="Start it again.")
        return self._all[identifier]

    def add(self, job: Job) -> Job:
        self._all[job.id] = job
        self._waiting.put(job)
        return job

    def of(self, table: str) -> list[Job]:
        """The jobs of a table, the latest first."""
        return [job for job in reversed(self._all.values()) if job.table == table]

    def ahead(self, job: Job) -> int:
        """How many jobs come before one."""
        before = list(self._all.values())
        return sum(not one.over for one in before[: before.index(job)])

    def cancel(self, job: Job) -> None:
        with self._lock:
            if job.over:
                return
            running, job.state, job.ended = job.state == "running", "cancelled", time.time()
            if running:
                self._worker.stop()

    def close(self) -> None:
        for job in self._all.values():
            self.cancel(job)
        self._waiting.put(None)
        self._thread.join(5)
        self._worker.stop()

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            with self._lock:
                if job.over:
                    continue
                job.state, job.started = "running", time.time()
            try:
                result = self._worker.run(job.task, job.arguments, partial(_note, job), partial(_wanted, job))
                self._end(job, "done", result=result)
            except TaskError as error:
                told = {"message": error.message, "hint": error.hint, "leaks": list(error.leaks), "kind": error.kind}
                self._end(job, "failed", error=told)

    def _end(self, job: Job, state: str, *, result: Any = None, error: dict[str, Any] | None = None) -> None:
        with self._lock:
            if not job.over:  # else it was cancelled meanwhile
                job.state, job.result, job.error, job.ended = state, result, error, time.time()


def _wanted(job: Job) -> bool:
    return not job.over


def _note(job: Job, kind: str, content: Any) -> None:
    if kind == "progress":
        job.progress, job.stage = content
    else:
        job.parts = [*job.parts, content]
