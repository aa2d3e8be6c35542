"""What every measure returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ...methods import Progress
from ...microdata import Column
from ..measure import telling
from ..plain import Result
from ..side_by_side import same_values

__all__ = ["Loss", "Result", "mean_of", "pairs", "twice"]


@dataclass(frozen=True)
class Loss(Result):
    """What was lost, as one number and in parts.

    Parameters
    ----------
    overall
        One number for the table: the mean of the parts, unless the measure says otherwise. 0 if there are none.
    each
        The loss of each attribute or pair of attributes; NaN where it is not defined, which ``overall`` leaves out.
    before, after
        For measures that compare a statistic: its value in the original and in the released table.
    left_out
        How many records (or cells of a table) of each part could not be compared; only where there are any.
    """

    overall: float
    each: Mapping[Any, float]
    before: Mapping[Any, Any] = field(default_factory=dict)
    after: Mapping[Any, Any] = field(default_factory=dict)
    left_out: Mapping[Any, int] = field(default_factory=dict)


def pairs(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """All pairs of attributes, in the order of the table."""
    return combinations(names, 2)


def twice(
    columns: Mapping[str, tuple[Column, Column]],
    statistic: Callable[[int], Callable[[str, str], float]],
    progress: Progress | None = None,
) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """A statistic of every pair of attributes, before (0) and after (1); where neither changed it is computed once."""
    same = {name for name, pair in columns.items() if same_values(*pair)}
    of_original, of_released = statistic(0), statistic(1)
    before, after = {}, {}
    for a, b in telling(pairs(columns), progress):
        before[a, b] = of_original(a, b)
        after[a, b] = before[a, b] if a in same and b in same else of_released(a, b)
    return before, after


def mean_of(values: Iterable[float]) -> float:
    """The mean of those that are defined; 0 if there is nothing to compare, NaN if nothing is defined."""
    every = list(values)
    defined = [value for value in every if not math.isnan(value)]
    if not defined:
        return math.nan if every else 0.0
    return math.fsum(defined) / len(defined)
