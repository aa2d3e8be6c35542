"""Columns in files, functions on workers: for tables that are larger than memory, and for clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..microdata import Column
from . import exchange
from .base import Engine, Rows, Told, _settled, asks_for_progress, like, missing_like, part_of, together
from .packing import Cut
from .pieces import Pieces, gathered, send
from .scratch import Piece, Scratch

__all__ = ["Call", "Files", "Workers"]

R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """A function to be called with what a message holds; what is large in the result goes to a file of this name.

    With ``rows``, a name and a place, columns and arrays in the result are rows of larger ones: they go from that place
    on to files that other calls write the rest of.
    """

    function: Callable[..., Any]
    message: bytes
    name: str
    rows: tuple[str, int] | None = None

    def answer(self, scratch: Scratch) -> bytes:
        """Call the function; the result as a message."""
        arguments = scratch.unpack(self.message, apart=True)
        asks = asks_for_progress(self.function)
        found = self.function(*arguments, progress=None) if asks else self.function(*arguments)
        if self.rows is not None:
            found = _Written.of(found, scratch, *self.rows)
        (message,) = scratch.pack([found], self.name)
        return message


@dataclass(frozen=True, eq=False)
class _Written:
    """What a function made of a chunk: rows that were written to their place, and what is not rows as it is."""

    parts: tuple[Any, ...]
    heads: tuple[Column | None, ...]  # columns without their rows
    several: bool

    @classmethod
    def of(cls, found: Any, scratch: Scratch, name: str, start: int) -> _Written:
        parts = found if isinstance(found, tuple) else (found,)
        heads = tuple(one.part(0, 0) if isinstance(one, Column) else None for one in parts)
        cells = [one.cells if isinstance(one, Column) else one for one in parts]
        written = [
            scratch.put(one, f"{name}-{number}", start) if isinstance(one, np.ndarray) else one
            for number, one in enumerate(cells)
        ]
        return cls(tuple(written), heads, isinstance(found, tuple))

    @staticmethod
    def joined(chunks: Sequence[_Written], scratch: Scratch) -> Any:
        """The rows of all chunks, these in their order."""
        found = []
        for head, parts in zip(chunks[0].heads, zip(*(one.parts for one in chunks), strict=True), strict=True):
            rows: Any = scratch.joined(parts) if isinstance(parts[0], Piece) else list(parts)
            found.append(rows if head is None else head.with_cells(rows))
        return tuple(found) if chunks[0].several else found[0]


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

    def in_parts(self, n: int) -> bool:
        return n > self.chunk

    def in_one_job(self, n: int) -> bool:
        return n <= self.chunk

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
        return self._found(function, list(items), what, main=main, costs=costs)

    def _found(
        self,
        function: Callable[..., Any],
        every: list[tuple[Any, ...]],
        what: str,
        *,
        main: bool = False,
        costs: Sequence[float] | None = None,
        starts: Sequence[int] | None = None,
    ) -> list[Any]:
        """The results for all items; with ``starts``, rows in them are written from there on."""
        name = self.scratch.new_name(what)
        messages = self.scratch.pack(every, f"{name}/given")
        given = self.scratch.holding(f"{name}/given")
        rows = [None if starts is None else (f"{name}/rows", starts[place]) for place in range(len(every))]
        calls = [Call(function, message, f"{name}/{place}", rows[place]) for place, message in enumerate(messages)]
        order = sorted(range(len(calls)), key=lambda place: -costs[place]) if costs else range(len(calls))
        told = self._told if main or not self._main_only else None
        answers = self._workers.answers([calls[place] for place in order], self.scratch, what, told)
        found = {place: self.scratch.unpack(one) for place, one in zip(order, answers, strict=True)}
        del every, given  # until now something may have been needed once more, after a worker was lost
        return [found[place] for place in range(len(calls))]

    # ----------------------------------------------------------------------------------- chunks

    def _cut(self, rows: Rows, start: int, stop: int) -> Any:
        return Cut(rows, start, stop) if isinstance(rows, Column) else super()._cut(rows, start, stop)

    def _joined(
        self,
        function: Callable[..., Any],
        items: list[tuple[Any, ...]],
        starts: Sequence[int],
        n: int,
        what: str,
        *,
        main: bool = False,
    ) -> Any:
        if n < max(self.scratch.large, 1):  # a few rows: not worth a file
            return together(self._found(function, items, what, main=main))
        return _Written.joined(self._found(function, items, what, main=main, starts=starts), self.scratch)

    def order(self, keys: NDArray[Any], what: str) -> NDArray[np.int64]:
        if len(keys) <= self.chunk:
            found: NDArray[np.int64] = self.run(exchange.order_of, keys, what=what)
            return found
        ranges = self._ranges(keys, what)
        positions: NDArray[np.int64] = self._joined(
            exchange.merged, [(one.pieces,) for one in ranges], [one.start for one in ranges], len(keys), what
        )
        return positions

    def sort(self, keys: NDArray[Any], what: str) -> NDArray[Any]:
        if len(keys) <= self.chunk:
            found: NDArray[Any] = self.run(exchange.sorted_keys, [(keys, None)], what=what)
            return found
        ranges = self._ranges(keys, what, told=False)
        items, starts = [(one.pieces,) for one in ranges], [one.start for one in ranges]
        found = self._joined(exchange.sorted_keys, items, starts, len(keys), what)
        return found

    def rank(self, keys: NDArray[Any], what: str) -> NDArray[np.float64]:
        if len(keys) <= self.chunk:
            found: NDArray[np.float64] = self.run(exchange.ranks_of, keys, what=what)
            return found
        ranges = self._ranges(keys, what)
        items = [(one.pieces, one.start, one.all, one.known) for one in ranges]
        positions, ranks = self._joined(exchange.ranked, items, [one.start for one in ranges], len(keys), what)
        return self.move(ranks, positions, n=len(keys), fill=0.0, what=what)

    def move(self, rows: R, places: NDArray[Any], *, n: int | None = None, fill: Any = None, what: str) -> R:
        cells: Any = getattr(rows, "cells", rows)
        n, fill = len(cells) if n is None else n, missing_like(rows, fill)
        if max(len(cells), n) <= self.chunk:
            return like(rows, self.run(exchange.moved, [(cells, places)], 0, n, fill, what=what))
        sent = self.map(exchange.spread, self._chunks([cells, places], (self.chunk, n), None), what)
        starts = range(0, n, self.chunk)
        items = [
            ([one.to(number) for one in sent], start, min(start + self.chunk, n), fill)
            for number, start in enumerate(starts)
        ]
        return like(rows, self._joined(exchange.moved, items, starts, n, what))

    def rearrange(
        self,
        function: Callable[..., tuple[Any, Any]],
        items: Sequence[tuple[Any, ...]],
        places: NDArray[Any] | None,
        what: str,
        settle: Callable[[list[Any]], tuple[Any, ...] | None] = _settled,
    ) -> tuple[list[Any], Pieces]:
        if places is None:
            made = self.map(function, items, what)
            if (more := settle([told for told, _ in made])) is not None:
                made = self.map(function, [(*item, *more) for item in items], what)
            return [told for told, _ in made], Pieces.of(table for _, table in made)
        n = len(places)
        cut = [(places[start:stop], self.chunk, n) for start, stop in self.parts(n)]
        sent = self.map(send, [(function, item, *own) for item, own in zip(items, cut, strict=True)], what)
        if (more := settle([one.told for one in sent])) is not None:
            again = [(function, (*item, *more), *own) for item, own in zip(items, cut, strict=True)]
            sent = self.map(send, again, what)
        taken = [([one.to(number) for one in sent], *part) for number, part in enumerate(self.parts(n))]
        return [one.told for one in sent], Pieces.of(self.map(gathered, taken, what))

    def _ranges(self, keys: NDArray[Any], what: str, *, told: bool = True) -> list[_Range]:
        """The keys of all chunks by the range that they fall into; each with its position, if that is ``told``."""
        positions = range(len(keys))
        samples = self.map(exchange.sampled, self._chunks([keys, positions], (), None), what)
        first, where = exchange.splitters(samples, self.chunk)
        cut = self.map(exchange.cut_keys, self._chunks([keys, positions], (first, where, len(keys), told), None), what)
        edges = sum(one.edges for one, _, _ in cut)
        below, upto = sum(one for _, one, _ in cut), sum(one for _, _, one in cut)
        shared = [(key, int(least), int(most)) for key, least, most in zip(first, below, upto, strict=True)]
        return [
            _Range(
                [one.to(number) for one, _, _ in cut],
                int(edges[number]),
                int(edges[-1]),
                shared[max(number - 1, 0) : number + 1],
            )
            for number in range(len(first) + 1)
        ]


@dataclass(frozen=True, eq=False)
class _Range:
    """Keys that follow each other: those of every chunk with their positions, how many come before, how many there
    are in all, and which keys may stand in the ranges beside it, too."""

    pieces: exchange.Pieces
    start: int
    all: int
    known: list[tuple[Any, int, int]]
