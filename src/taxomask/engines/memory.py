"""Everything in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .base import Engine, Told, _settled, asks_for_progress, like, missing_like, part_of, together
from .exchange import moved, order_of, ranks_of, sorted_keys
from .pieces import Pieces, gathered

__all__ = ["Memory"]

R = TypeVar("R")


class Memory(Engine):
    """Columns are arrays in memory; functions run here, one after the other."""

    def __init__(self, told: Told | None = None) -> None:
        self._told = told

    def telling(self, progress: Callable[[float], None] | None) -> Memory:
        return self if progress is None else self._telling(lambda done, what: progress(done))

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        what: str,
        *,
        main: bool = False,
        costs: Sequence[float] | None = None,
    ) -> list[Any]:
        every, asks = list(items), asks_for_progress(function)
        ends = list(accumulate(costs or [1.0] * len(every)))
        told, whole, done, found = self._told if main else None, (ends or [0.0])[-1] or 1.0, 0.0, []
        for item, end in zip(every, ends, strict=True):
            progress = None if told is None else _fraction(told, done / whole, end / whole, what)
            found.append(function(*item, progress=progress) if asks else function(*item))
            if told is not None:
                told(end / whole, what)
            done = end
        return found

    def order(self, keys: NDArray[Any], what: str) -> NDArray[np.int64]:
        return order_of(keys)

    def sort(self, keys: NDArray[Any], what: str) -> NDArray[Any]:
        return sorted_keys([(keys, None)])

    def rank(self, keys: NDArray[Any], what: str) -> NDArray[np.float64]:
        return ranks_of(keys)

    def move(self, rows: R, places: NDArray[Any], *, n: int | None = None, fill: Any = None, what: str) -> R:
        cells: Any = getattr(rows, "cells", rows)
        return like(rows, moved([(cells, places)], 0, len(cells) if n is None else n, missing_like(rows, fill)))

    def rearrange(
        self,
        function: Callable[..., tuple[Any, Any]],
        items: Sequence[tuple[Any, ...]],
        places: NDArray[Any] | None,
        what: str,
        settle: Callable[[list[Any]], tuple[Any, ...] | None] = _settled,
    ) -> tuple[list[Any], Pieces]:
        made = self.map(function, items, what)
        if (more := settle([told for told, _ in made])) is not None:
            made = self.map(function, [(*item, *more) for item in items], what)
        pieces = Pieces.of(table for _, table in made)
        if places is not None:
            pieces = Pieces.of([gathered([(pieces, places)], 0, len(pieces))])
        return [told for told, _ in made], pieces

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
        return together(self.map(function, items, what, main=main))

    def part(self, start: float, end: float) -> Memory:
        return self if self._told is None else self._telling(part_of(self._told, start, end))

    def _telling(self, told: Told) -> Memory:
        other = copy(self)
        other._told = told
        return other


def _fraction(told: Told, start: float, end: float, what: str) -> Callable[[float], None]:
    """Is told of one item, and tells of all."""
    whole = part_of(told, start, end)
    return lambda done: whole(done, what)
