"""Jobs on threads of this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from ..one_thread import one_thread
from .base import Engine, Job, Report
from .store import Store

__all__ = ["LocalEngine"]


class LocalEngine(Engine):
    """Runs as many jobs at a time as there are workers, by default one per core."""

    def __init__(self, workers: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)

    @one_thread()
    def map(self, job: Job, store: Store, items: Sequence[Any], what: str, report: Report | None = None) -> list[Any]:
        futures = [self._pool.submit(job, store, item) for item in items]
        pending, done = set(futures), 0
        while pending:
            finished, pending = wait(pending, timeout=0.5, return_when=FIRST_EXCEPTION)
            done += len(finished)
            if any(future.exception() for future in finished):
                for future in pending:
                    future.cancel()
                wait(pending)
                break
            if report is not None:
                report(what, done, len(futures))
        failed = [future for future in futures if future.done() and not future.cancelled() and future.exception()]
        return [future.result() for future in failed or futures]

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)
