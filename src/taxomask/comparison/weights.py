"""Weights of columns that keep more of an analysis, searched for a method that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..evaluation import OVERLAP
from ..measures.analyses import Analysis
from ..microdata import Microdata, Schema
from .comparison import compare
from .map import Point

__all__ = ["TIMES", "Weighted", "search_weights"]

TIMES = (2, 4, 8)  # the weight that a column has


@dataclass(frozen=True)
class Weighted:
    """What was found about larger weights: the columns tried, and the weights and the point that keep most, if any."""

    analysis: str
    tried: tuple[str, ...]
    before: float
    weights: Mapping[str, float]
    point: Point | None

    def __str__(self) -> str:
        columns = ", ".join(self.tried)
        if not self.tried:
            return f"Weights: none to search, as {self.analysis!r} uses none or all of the columns that are protected."
        if self.point is None:
            many = ", ".join(f"{times}" for times in TIMES)
            return (
                f"Weights: {columns} with {many} times their weights keep no more of {self.analysis!r} at this risk "
                f"(an overlap of {self.before:.4g} as they are)."
            )
        given = ", ".join(f"{name}: {weight:g}" for name, weight in self.weights.items())
        overlap = self.point.numbers[OVERLAP + self.analysis]
        return (
            f"Weights: with {given} the overlap of {self.analysis!r} is {overlap:.4g} in place of {self.before:.4g}, "
            f"at a risk of {self.point.risk:.4g}."
        )


def search_weights(
    frame: Any,
    schema: Schema,
    point: Point,
    analysis: Analysis,
    *,
    max_risk: float | None = None,
    max_disclosure: float | None = None,
    **how: Any,
) -> Weighted:
    """Give the columns of an analysis 2, 4 and 8 times their weights, and keep what overlaps most.

    The method is that of a point of a map. What is found must keep to the limits, or where none is given be no worse
    than the point itself.

    Parameters
    ----------
    frame, schema
        The table and what its columns are, as `compare` had them.
    point
        The method that was chosen, with its numbers.
    analysis
        One of the analyses that were measured.
    max_risk, max_disclosure
        The limits, as of `compare`.
    **how
        More of what `compare` takes, such as ``seed``, ``attackers`` and ``workers``.
    """
    key = OVERLAP + analysis.name
    before = float(point.numbers[key])
    protected = point.method.protects(Microdata.of(frame, schema))
    tried = tuple(name for name in protected if name in analysis.columns())
    if len(tried) == len(protected):  # equal weights of all columns are as if there were none
        tried = ()
    risk = point.risk if max_risk is None else max_risk
    disclosure = point.disclosure if max_disclosure is None else max_disclosure
    best, weights = None, {}
    for times in TIMES if tried else ():
        given = {name: times * schema[name].weight for name in tried}
        weighted = schema
        for name, weight in given.items():
            weighted = weighted.replace(name, weight=weight)
        for one in compare(frame, weighted, [point.method], analyses=[analysis], **how).points:
            allowed = one.risk <= risk and not one.disclosure > disclosure  # not a number: nothing is confidential
            if allowed and one.numbers[key] > (before if best is None else best.numbers[key]):
                best, weights = one, given
    return Weighted(analysis.name, tried, before, weights, best)
