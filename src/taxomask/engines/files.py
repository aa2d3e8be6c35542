"""Columns in files, functions on workers: for tables that are larger than memory, and for clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from typing import Any

from .base import Engine, Told, asks_for_progress, part_of
from .scratch import Scratch

__all__ = ["Call", "Files", "Workers"]


@dataclass(frozen=True)
class Call:
    """A function to be called with what a message holds; what is large in the result goes to a file of this name."""

    function: Callable[..., Any]
    message: bytes
    name: str

    def answer(self, scratch: Scratch) -> bytes:
        """Call the function; the result as a message."""
        arguments = scratch.unpack(self.message)
        asks = asks_for_progress(self.function)
        found = self.function(*arguments, progress=None) if asks else self.function(*arguments)
        (message,) = scratch.pack([found], self.name)
        return message


class Workers(AbstractContextManager["Workers", None], ABC):
    """Who makes calls. One may be made more than once, after a worker was lost: it must give the same each time."""

    @abstractmethod
    def answers(self, calls: Sequence[Call], scratch: Scratch, what: str, told: Told | None = None) -> list[bytes]:
        """The answers in the order of the calls; the first error ends them all."""


class Files(Engine):
    """What is large lies in files of a scratch folder, mapped into memory by whoever looks at it."""

    block = 1 << 20

    def __init__(self, workers: Workers, scratch: Scratch, told: Told | None = None) -> None:
        self.scratch = scratch
        self._workers, self._told, self._main_only = workers, told, False

    def telling(self, progress: Callable[[float], None] | None) -> Files:
        return self if progress is None else self._telling(lambda done, what: progress(done))

    def part(self, start: float, end: float) -> Files:
        if self._told is None or not self._main_only:  # what is told is how far each step is
            return self
        return self._telling(part_of(self._told, start, end))

    def _telling(self, told: Told) -> Files:
        other = copy(self)
        other._told, other._main_only = told, True
        return other

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        what: str,
        *,
        main: bool = False,
        costs: Sequence[float] | None = None,
    ) -> list[Any]:
        every = list(items)
        name = self.scratch.new_name(what)
        messages = self.scratch.pack(every, f"{name}/given")
        given = self.scratch.holding(f"{name}/given")
        calls = [Call(function, message, f"{name}/{place}") for place, message in enumerate(messages)]
        order = sorted(range(len(calls)), key=lambda place: -costs[place]) if costs else range(len(calls))
        told = self._told if main or not self._main_only else None
        answers = self._workers.answers([calls[place] for place in order], self.scratch, what, told)
        found = {place: self.scratch.unpack(one) for place, one in zip(order, answers, strict=True)}
        del every, given  # until now something may have been needed once more, after a worker was lost
        return [found[place] for place in range(len(calls))]
