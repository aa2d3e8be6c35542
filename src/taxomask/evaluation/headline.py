"""The figures that sum up a release, and their words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..measures import Figure
from ..measures.risk import RISK, ClassSizes, IntervalDisclosure, Linkage
from ..measures.utility.result import Loss, mean_of

__all__ = ["HEADLINE", "Summary", "disclosure_risk", "headline_figure", "summed_up"]

_K, _UNIQUES = RISK["classes"].figures

HEADLINE: dict[str, Figure] = {
    one.where: one
    for one in (
        Figure(
            "risk",
            "risk",
            "The share of records linked rightly by an intruder who holds the original quasi-identifiers.",
        ),
        Figure(
            "loss",
            "loss",
            "How far values moved, the mean over the protected columns: 0 is not at all, 1 is every value replaced by "
            "the average of its column.",
            "SSE/SST",
        ),
        Figure("worst_column", "worst column", "The protected column that lost most."),
        Figure("worst_loss", "worst loss", "The loss of the worst column, on the same scale.", "SSE/SST"),
        Figure(
            "score",
            "score",
            "The mean of 100 × loss and of the disclosure risk DR, which is 100 × the mean of risk and interval "
            "disclosure; smaller is better.",
            "Score",
        ),
        Figure("interval_disclosure", "interval disclosure", RISK["intervals"].figures[0].about),
        _K,
        _UNIQUES,
    )
}
"""The figures that sum up a release, by their keys."""


def headline_figure(name: str) -> Figure:
    """The words for a figure of a headline, or of a point of a map that somebody made."""
    return HEADLINE.get(name, Figure(name, name.replace("_", " "), ""))


@dataclass(frozen=True)
class Summary:
    """What the headline of a release is made of: the loss of every column (None if unlinked), and the risk."""

    losses: Mapping[str, float] | None
    protected: tuple[str, ...]
    risk: float
    interval_disclosure: float
    k: int
    uniques: int

    def headline(self, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """The figures that sum it up; the loss is over these columns, by default over the protected ones.

        Score = (IL + DR) / 2 with IL = 100·loss and DR = 100·mean(right links, interval disclosure).
        """
        loss, worst_column, worst_loss = _loss_over(self.losses, self.protected if columns is None else columns)
        return {
            "risk": self.risk,
            "loss": loss,
            "worst_column": worst_column,
            "worst_loss": worst_loss,
            "score": (100 * loss + disclosure_risk(self.risk, self.interval_disclosure)) / 2,
            "interval_disclosure": self.interval_disclosure,
            "k": self.k,
            "uniques": self.uniques,
        }


def summed_up(
    protected: tuple[str, ...],
    overall: Loss | None,
    linkage: Linkage | None,
    intervals: IntervalDisclosure | None,
    classes: ClassSizes,
) -> Summary:
    """What the headline is made of, from what the measures found; risk and interval disclosure are NaN if unlinked."""
    risk = linkage.expected.value if linkage is not None else math.nan
    interval = intervals.mean if intervals is not None else math.nan
    return Summary(None if overall is None else overall.each, protected, risk, interval, classes.k, classes.uniques)


def _loss_over(losses: Mapping[str, float] | None, columns: Iterable[str]) -> tuple[float, str | None, float]:
    """The mean loss of some columns, which of them lost most, and how much; undefined ones are left out."""
    if losses is None:
        return math.nan, None, math.nan
    chosen = {name: losses[name] for name in columns}
    loss = mean_of(chosen.values())
    defined = {name: value for name, value in chosen.items() if not math.isnan(value)}
    worst = max(defined, key=lambda name: defined[name], default=None)
    return loss, worst, loss if worst is None else defined[worst]


def disclosure_risk(risk: float, interval_disclosure: float) -> float:
    """DR, in percent."""
    return 50 * (risk + interval_disclosure)
