"""What a method may ask of the place where it works."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

__all__ = ["Engine", "Told", "asks_for_progress", "part_of"]

Told: TypeAlias = Callable[[float, str], None]
"""Is told the fraction that is done, and of what."""


class Engine(ABC):
    """Where columns live and functions run. A method is written once, in terms of what every engine offers.

    Functions are functions of a module. They are given columns, arrays, groups and whole tables, and give back such:
    where these lie between two calls is the engine's affair, and so is when they are forgotten: when nothing refers to
    them. Which items there are, what each draws at random and in which order results are put together is decided by the
    caller, so that every engine gives the same result, to the last bit.
    """

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

    @abstractmethod
    def telling(self, progress: Callable[[float], None] | None) -> Engine:
        """The same engine, telling somebody who wants to know the fraction only how far the main work is."""

    def run(self, function: Callable[..., Any], *arguments: Any, what: str, main: bool = False) -> Any:
        """The result of a function that looks at everything at once."""
        (found,) = self.map(function, [arguments], what, main=main)
        return found

    def part(self, start: float, end: float) -> Engine:
        """The same engine for a part of the work: that between two fractions of the whole."""
        return self


def part_of(told: Told, start: float, end: float) -> Told:
    """Is told of a part of some work, and tells of the whole."""
    return lambda done, what: told(min(start + (end - start) * done, end), what)


def asks_for_progress(function: Callable[..., Any]) -> bool:
    """Whether a function has a parameter for it."""
    return "progress" in inspect.signature(function).parameters
