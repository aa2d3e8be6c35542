"""What is answered at once: a process for each table, so that no table keeps the requests of others waiting."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .worker import TaskError, Worker

__all__ = ["Looking"]

PROCESSES = 6  # at the same time; of more tables, those that were looked at last
_PATIENCE = 0.25  # seconds between two looks at whether somebody still waits


@dataclass
class _Asked:
    """Whether somebody waits for an answer, and when the work on it began."""

    wanted: bool = True
    begun: float | None = None

    def begins(self) -> bool:
        """Called when the work begins, if it is still wanted."""
        self.begun = time.monotonic() if self.wanted else None
        return self.wanted


class Looking:
    """Processes that look at tables, each within a time limit, and until nobody waits for the answer any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._workers: OrderedDict[str, Worker] = OrderedDict()  # by table, the last one asked at the end
        self._waiting: dict[Worker, int] = {}
        self._threads = ThreadPoolExecutor(4 * PROCESSES)  # wait for answers

    async def ask(
        self, about: str, task: str, arguments: dict[str, Any], is_gone: Callable[[], Awaitable[bool]] | None = None
    ) -> Any:
        """Do a task about a table; about nothing, what concerns the page itself.

        Raises
        ------
        TaskError
            With the message of what went wrong, if it took too long, or if nobody waits for it any more.
        """
        worker, loop, asked = self._worker(about), asyncio.get_running_loop(), _Asked()
        self._waiting[worker] = self._waiting.get(worker, 0) + 1
        try:
            answer = loop.run_in_executor(self._threads, worker.run, task, arguments, None, asked.begins)
            while not answer.done():
                await asyncio.wait([answer], timeout=_PATIENCE)
                late = asked.begun is not None and time.monotonic() > asked.begun + self._seconds
                if not answer.done() and (late or (is_gone is not None and await is_gone())):
                    answer.add_done_callback(lambda ended: ended.exception())  # nobody looks at it
                    asked.wanted = False
                    if asked.begun is not None:  # else it waits for another answer about the table
                        await loop.run_in_executor(None, worker.stop)
                    raise TaskError(
                        f"looking at the table took longer than {self._seconds:g} seconds and was stopped.",
                        hint="Check that it is the right file; a large one is best protected on the command line.",
                    )
            return answer.result()
        finally:
            self._waiting[worker] -= 1

    def _worker(self, about: str) -> Worker:
        """The process of a table; where there are too many, the idle one that was asked longest ago goes."""
        if about not in self._workers:
            idle = [one for one, worker in self._workers.items() if not self._waiting.get(worker)]
            if len(self._workers) >= PROCESSES and idle:
                gone = self._workers.pop(idle[0])
                self._waiting.pop(gone, None)
                gone.stop()
            self._workers[about] = Worker()
        self._workers.move_to_end(about)
        return self._workers[about]

    def close(self) -> None:
        for worker in self._workers.values():
            worker.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
