"""Calls on threads of this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from .._support.one_thread import one_thread
from .base import Told
from .files import Call, Workers
from .scratch import Scratch

__all__ = ["Threads"]


class Threads(Workers):
    """Makes as many calls at a time as there are workers, by default one per core."""

    def __init__(self, workers: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)

    @one_thread()
    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        futures = [self._pool.submit(call.answer, scratch) for call in calls]
        pending, done = set(futures), 0
        while pending:
            finished, pending = wait(pending, timeout=0.5, return_when=FIRST_EXCEPTION)
            done += len(finished)
            if any(future.exception() for future in finished):
                for future in pending:
                    future.cancel()
                wait(pending)
                break
            if told is not None:
                told(done / len(futures), what)
        failed = [future for future in futures if future.done() and not future.cancelled() and future.exception()]
        return [future.result() for future in failed or futures]

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)
