"""Everything in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .base import Engine, Told, asks_for_progress, part_of

__all__ = ["Memory"]


class Memory(Engine):
    """Columns are arrays in memory; functions run here, one after the other."""

    def __init__(self, told: Told | None = None) -> None:
        self._told = told

    def telling(self, progress: Callable[[float], None] | None) -> Memory:
        return self if progress is None else Memory(lambda done, what: progress(done))

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
        shares = costs or [1.0] * len(every)
        whole, done, found = sum(shares) or 1.0, 0.0, []
        for item, share in zip(every, shares, strict=True):
            progress = self._share(done / whole, share / whole, what) if main else None
            found.append(function(*item, progress=progress) if asks else function(*item))
            if progress is not None:
                progress(1.0)
            done += share
        return found

    def part(self, start: float, size: float) -> Memory:
        return self if self._told is None else Memory(part_of(self._told, start, size))

    def _share(self, start: float, size: float, what: str) -> Callable[[float], None] | None:
        if self._told is None:
            return None
        told = part_of(self._told, start, size)
        return lambda done: told(done, what)
