"""Measures one after the other, telling how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..methods import Progress

__all__ = ["Turn", "in_turn", "part_of"]


@dataclass(frozen=True)
class Turn:
    """Something to be measured, and roughly the seconds that it takes: they only divide the progress.

    What takes long tells its own progress, from 0 to 1, to the function that it is given.
    """

    name: str
    seconds: float
    measure: Callable[[Progress | None], Any]


def in_turn(turns: Iterable[Turn], progress: Progress | None = None) -> dict[str, Any]:
    """What each measures, by its name; progress is told with the fraction that is done.

    >>> in_turn([Turn("a", 1.0, lambda told: told(0.5)), Turn("b", 3.0, lambda told: "found")], print)
    0.125
    0.25
    1.0
    {'a': None, 'b': 'found'}
    """
    every = list(turns)
    whole = sum(turn.seconds for turn in every) or 1.0
    found, done = {}, 0.0
    for turn in every:
        found[turn.name] = turn.measure(part_of(progress, done / whole, turn.seconds / whole))
        done += turn.seconds
        if progress is not None:
            progress(min(done / whole, 1.0))
    return found


def part_of(progress: Progress | None, start: float, size: float) -> Progress | None:
    """The progress of a part of some work, told as that of the whole."""
    if progress is None:
        return None
    told = progress
    return lambda done: told(min(start + size * done, 1.0))
