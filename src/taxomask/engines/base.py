"""Where jobs run: one verb, and what every engine owes its callers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from .store import Store

__all__ = ["Engine", "Job", "Report"]

Job: TypeAlias = Callable[[Store, Any], Any]
"""A function of a module: from the store and one item to a small result; large ones go to the store."""
Report: TypeAlias = Callable[[str, int, int], None]
"""Is told what is being done, how many jobs of it are done, and how many there are."""


class Engine(AbstractContextManager["Engine", None], ABC):
    """Runs jobs, one per item.

    Which items there are, what each draws at random and in which order results are put together is decided by the
    caller and never by the engine, so that every engine gives the same result with any number of workers. A job may run
    more than once, after a worker was lost: it must leave the same in the store each time.
    """

    @abstractmethod
    def map(self, job: Job, store: Store, items: Sequence[Any], what: str, report: Report | None = None) -> list[Any]:
        """The results of a job for each item, in the order of the items; the first error ends them all."""
