"""What a method may ask of the place where it works."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..microdata import CategoricalColumn, Column
from .pieces import Pieces

__all__ = ["Engine", "Told", "asks_for_progress", "like", "missing_like", "part_of", "together"]

Told: TypeAlias = Callable[[float, str], None]
"""Is told the fraction that is done, and of what."""
Rows: TypeAlias = Any  # a column, a table, an array whose first axis are the records, or a range of their positions
T = TypeVar("T")
R = TypeVar("R")


def _settled(told: list[Any]) -> None:
    """Chunks go together, whatever was told of them."""


class Engine(ABC):
    """Where columns live and functions run. A method is written once, in terms of what every engine offers.

    Functions are functions of a module. They are given columns, arrays, groups and whole tables, and give back such:
    where these lie between two calls is the engine's affair, and so is when they are forgotten: when nothing refers to
    them. Which items there are, what each draws at random and in which order results are put together is decided by the
    caller, so that every engine gives the same result, to the last bit.

    Long columns are looked at in chunks of rows, the same ones on every engine: `each` makes a new column of what a
    function makes of every chunk, and `fold` puts together what it finds in them, in their order. `order`, `rank` and
    `move` are for what needs all rows: their results do not depend on how they are found.
    """

    chunk: ClassVar[int] = 1 << 20
    """The rows of a chunk. Tables of at most one chunk are looked at as a whole."""

    block: int | None = None
    """How many records a function should look at together, where it can do without the others; None if all."""

    @abstractmethod
    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        what: str,
        *,
        main: bool = False,
        costs: Sequence[float] | None = None,
    ) -> list[Any]:
        """The results of a function for each item, which is a tuple of its arguments; in the order of the items.

        ``what`` says what is done, for people who wait. ``main`` marks what takes the time, so that progress is told,
        and ``costs`` what each item takes, if that differs. A function with a parameter ``progress`` is given one to
        tell the fraction that is done, or None.
        """

    def each(
        self,
        function: Callable[..., Any],
        columns: Sequence[Rows],
        *common: Any,
        what: str,
        rng: np.random.Generator | None = None,
        own: Sequence[Any] | None = None,
        edges: Sequence[int] | None = None,
        main: bool = False,
    ) -> Any:
        """What a function makes of each chunk of some columns, put together again.

        The function is given the chunk of each column, then what is common to all, then a generator of its own if there
        is one, then what is its ``own``, if chunks have something of the kind. It gives back a column or an array with
        a row for each record, or a tuple: columns and arrays in it are put together, and of anything else there is a
        list, with an entry for each chunk. Instead of chunks there are stretches of any length, if ``edges`` tell
        where each begins, and in the end how many rows there are.
        """
        starts = self._starts(columns) if edges is None else list(edges[:-1])
        items = self._chunks(columns, common, rng, edges)
        if own is not None:
            items = [(*item, one) for item, one in zip(items, own, strict=True)]
        return self._joined(function, items, starts, len(columns[0]), what, main=main)

    def fold(
        self, function: Callable[..., T], combine: Callable[[T, T], T], columns: Sequence[Rows], *common: Any, what: str
    ) -> T:
        """What a function finds in each chunk of some columns, combined from the first to the last."""
        return reduce(combine, self.map(function, self._chunks(columns, common, None), what))

    def count(self, column: CategoricalColumn) -> NDArray[np.int64]:
        """How many records have each category of a column."""
        found: NDArray[np.int64] = self.fold(_counts, np.add, [column], what="counting")
        return found

    @abstractmethod
    def order(self, keys: NDArray[Any], what: str) -> NDArray[np.int64]:
        """The positions of keys from the smallest to the largest, equal ones in their order.

        Missing keys, NaN or negative integers, are left out.
        """

    @abstractmethod
    def sort(self, keys: NDArray[Any], what: str) -> NDArray[Any]:
        """The keys from the smallest to the largest, missing ones left out; -0.0 becomes 0.0, which it equals."""

    @abstractmethod
    def rank(self, keys: NDArray[Any], what: str) -> NDArray[np.float64]:
        """2·rank − (m + 1) of each of m keys, which is an integer; equal ones share the average of their ranks.

        0 for missing keys, NaN or negative integers.
        """

    @abstractmethod
    def move(self, rows: R, places: NDArray[Any], *, n: int | None = None, fill: Any = None, what: str) -> R:
        """A column or an array with each of its rows at another place, of n places in all.

        ``fill`` stands where no row goes to; without it every place must get one.
        """

    @abstractmethod
    def rearrange(
        self,
        function: Callable[..., tuple[Any, Any]],
        items: Sequence[tuple[Any, ...]],
        places: NDArray[Any] | None,
        what: str,
        settle: Callable[[list[Any]], tuple[Any, ...] | None] = _settled,
    ) -> tuple[list[Any], Pieces]:
        """A column of any type that a function makes chunk by chunk, with its rows at other places.

        The function is given the arguments for each chunk in turn, and gives back something to be told, of which there
        is a list then, and the rows as an Arrow table. Without places they stay where they are. If chunks do not go
        together, ``settle`` gives further arguments with which all of them are made again.
        """

    def cut(
        self,
        columns: Sequence[Rows],
        *common: Any,
        rng: np.random.Generator | None = None,
        edges: Sequence[int] | None = None,
    ) -> list[tuple[Any, ...]]:
        """The chunks of some columns, with what is common to all: items for `map`; see `each`."""
        return self._chunks(columns, common, rng, edges)

    def parts(self, n: int) -> list[tuple[int, int]]:
        """Where each chunk of n records begins and ends."""
        return [(start, min(start + self.chunk, n)) for start in range(0, max(n, 1), self.chunk)]

    @abstractmethod
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
        """What a function makes of each item, put together to n rows; that of an item begins at its start."""

    def _cut(self, rows: Rows, start: int, stop: int) -> Any:
        """Some rows on their way to a function."""
        return rows.part(start, stop) if hasattr(rows, "part") else rows[start:stop]

    def _starts(self, columns: Sequence[Rows]) -> list[int]:
        """Where the chunks of columns begin; a table without rows is one chunk."""
        return list(range(0, max(len(columns[0]), 1), self.chunk))

    def _chunks(
        self,
        columns: Sequence[Rows],
        common: tuple[Any, ...],
        rng: np.random.Generator | None,
        edges: Sequence[int] | None = None,
    ) -> list[tuple[Any, ...]]:
        starts = self._starts(columns) if edges is None else list(edges[:-1])
        stops = [start + self.chunk for start in starts] if edges is None else list(edges[1:])
        chance: list[tuple[Any, ...]] = [()] * len(starts)
        if rng is not None:
            chance = [(one,) for one in (rng.spawn(len(starts)) if len(starts) > 1 else [rng])]
        return [
            (*(self._cut(one, start, stop) for one in columns), *common, *own)
            for start, stop, own in zip(starts, stops, chance, strict=True)
        ]

    @abstractmethod
    def telling(self, progress: Callable[[float], None] | None) -> Engine:
        """The same engine, telling somebody who wants to know the fraction only how far the main work is."""

    def run(self, function: Callable[..., Any], *arguments: Any, what: str, main: bool = False) -> Any:
        """The result of a function that looks at everything at once."""
        (found,) = self.map(function, [arguments], what, main=main)
        return found

    def in_parts(self, n: int) -> bool:
        """Whether no function should look at a whole column of n records where it can do without."""
        return False

    def in_one_job(self, n: int) -> bool:
        """Whether n records are better left to one job than to one for each step: sending them would take longer."""
        return False

    def part(self, start: float, end: float) -> Engine:
        """The same engine for a part of the work: that between two fractions of the whole."""
        return self


def _counts(column: CategoricalColumn) -> NDArray[np.int64]:
    return column.counts


def together(found: Sequence[Any]) -> Any:
    """What functions made of chunks, as one: see `Engine.each`."""
    first = found[0]
    if isinstance(first, tuple):
        return tuple(_one(parts) for parts in zip(*found, strict=True))
    return _one(found)


def _one(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, Column):
        return first if len(parts) == 1 else first.with_cells(np.concatenate([part.cells for part in parts]))
    if isinstance(first, np.ndarray):
        return first if len(parts) == 1 else np.concatenate(parts)
    return list(parts)


def like(rows: R, cells: NDArray[Any]) -> R:
    """Cells as what they were before they were moved: a column, or an array."""
    return cast(R, rows.with_cells(cells) if isinstance(rows, Column) else cells)


def missing_like(rows: Any, fill: Any) -> Any:
    """What stands where no row goes to; in a column that is missing."""
    if fill is None and isinstance(rows, Column):
        return np.nan if rows.cells.dtype.kind == "f" else -1
    return fill


def part_of(told: Told, start: float, end: float) -> Told:
    """Is told of a part of some work, and tells of the whole."""
    return lambda done, what: told(min(start + (end - start) * done, end), what)


def asks_for_progress(function: Callable[..., Any]) -> bool:
    """Whether a function has a parameter for it."""
    return "progress" in inspect.signature(function).parameters
