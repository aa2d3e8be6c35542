"""Measures one after the other, telling how far they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..engines import Memory
from ..methods import Progress

__all__ = ["in_turn"]


def in_turn(
    measures: Mapping[str, Callable[[Progress | None], Any]],
    seconds: Mapping[str, float],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What each measures, by its name; progress is told with the fraction that is done.

    The seconds are roughly what each takes: they only divide the progress. What takes long tells its own progress, from
    0 to 1, to the function that it is given.

    >>> in_turn({"a": lambda told: told(0.5), "b": lambda told: "found"}, {"a": 1.0, "b": 3.0}, print)
    0.125
    0.25
    1.0
    {'a': None, 'b': 'found'}
    """
    engine, costs = Memory().telling(progress), [seconds[name] for name in measures]
    found = engine.map(_measured, [(one,) for one in measures.values()], "measuring", main=True, costs=costs)
    return dict(zip(measures, found, strict=True))


def _measured(measure: Callable[[Progress | None], Any], progress: Progress | None) -> Any:
    return measure(progress)
