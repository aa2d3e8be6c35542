"""The figures that sum up a release, and their words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..measures import Figure
from ..measures.analyses import Analysed
from ..measures.risk import ATTACKERS, RISK, Attack, ClassSizes, IntervalDisclosure, Linkage
from ..measures.utility.result import Loss, mean_of

__all__ = ["HEADLINE", "OVERLAP", "Summary", "disclosure_risk", "headline_figure", "learns_most", "summed_up"]

_K, _UNIQUES = RISK["classes"].figures

HEADLINE: dict[str, Figure] = {
    one.where: one
    for one in (
        Figure("risk", "risk", "The share of records that the best attacker links rightly with the original ones."),
        Figure("attacker", "attacker", "The best attacker: who reaches the risk."),
        Figure(
            "disclosure",
            "disclosure",
            "How much of what a random guess leaves open the best attacker learns of confidential values, from 0 to 1.",
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
        Figure(
            "nearest",
            "nearest",
            "The share of records linked rightly with the nearest original one, by an intruder who holds the original "
            "quasi-identifiers and knows nothing about the method.",
        ),
        Figure("interval_disclosure", "interval disclosure", RISK["intervals"].figures[0].about),
        _K,
        _UNIQUES,
        Figure(
            "unchanged",
            "released as they are",
            "The quasi-identifiers in which no record changed: whoever is alone by them is found, so look at the "
            "disclosure.",
        ),
        Figure(
            "analyses",
            "analyses",
            "How far the confidence intervals of the analyses that were asked for overlap with those of the original: "
            "the mean of each analysis, the smallest of all; 1 is the same, 0 nothing in common.",
        ),
        Figure("worst_analysis", "worst analysis", "The analysis whose intervals overlap least."),
    )
}
"""The figures that sum up a release, by their keys."""

OVERLAP = "overlap of "  # and the name of an analysis: a figure of a point of the map


def headline_figure(name: str) -> Figure:
    """The words for a figure of a headline, or of a point of a map that somebody made."""
    if name.startswith(OVERLAP):
        about = "How far the confidence intervals of this analysis overlap with those of the original, the mean of all."
        return Figure(name, name, about)
    return HEADLINE.get(name, Figure(name, name.replace("_", " "), ""))


@dataclass(frozen=True)
class Summary:
    """What the headline of a release is made of: the loss of every column (None if unlinked), and what attackers find.

    ``shares`` are those of the attackers who are after who a record is, ``excesses`` over the guess those of the ones
    who are after confidential values. ``unchanged`` are the quasi-identifiers that are released as they are, and
    ``promises`` what the method promised and was found to hold, where that is known. ``overlaps`` are those of the
    analyses that were asked for.
    """

    losses: Mapping[str, float] | None
    protected: tuple[str, ...]
    shares: Mapping[str, float]
    excesses: Mapping[str, float]
    nearest: float
    interval_disclosure: float
    k: int
    uniques: int
    unchanged: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    overlaps: Mapping[str, float] = field(default_factory=dict)

    @property
    def attacker(self) -> str | None:
        """Who finds most of who a record is; of several who find as much, the first of the list."""
        return max(self.shares, key=lambda name: self.shares[name], default=None)

    @property
    def risk(self) -> float:
        """What that attacker finds; NaN if there is none, as for tables that are not linked."""
        return math.nan if self.attacker is None else self.shares[self.attacker]

    @property
    def disclosure(self) -> float:
        """The largest excess over the guess among those after confidential values; NaN if there is none."""
        return max((*self.excesses.values(), 0.0)) if self.excesses else math.nan

    def headline(self, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """The figures that sum it up; the loss is over these columns, by default over the protected ones.

        Score = (IL + DR) / 2 with IL = 100·loss and DR = 100·mean(right links, interval disclosure).
        """
        loss, worst_column, worst_loss = _loss_over(self.losses, self.protected if columns is None else columns)
        return {
            "risk": self.risk,
            "attacker": self.attacker,
            "disclosure": self.disclosure,
            "loss": loss,
            "worst_column": worst_column,
            "worst_loss": worst_loss,
            "score": (100 * loss + disclosure_risk(self.risk, self.interval_disclosure)) / 2,
            "nearest": self.nearest,
            "interval_disclosure": self.interval_disclosure,
            "k": self.k,
            "uniques": self.uniques,
            "unchanged": ", ".join(self.unchanged) or None,
            **self._analyses(),
        }

    def _analyses(self) -> dict[str, Any]:
        """The analysis that fared worst, if any was asked for; one that cannot be told is the worst of all."""
        if not self.overlaps:
            return {}
        order = {name: -1.0 if math.isnan(value) else value for name, value in self.overlaps.items()}
        worst = min(order, key=lambda name: order[name])
        return {"analyses": self.overlaps[worst], "worst_analysis": worst}


def learns_most(attacks: Mapping[str, Attack | None]) -> str | None:
    """Who learns most of confidential values, the attacker that reaches the disclosure; None if nobody tried."""
    tried = {name: one for name, one in attacks.items() if one is not None and ATTACKERS[name].after == "confidential"}
    return max(tried, key=lambda name: tried[name].share.excess, default=None)


def summed_up(
    protected: tuple[str, ...],
    unchanged: tuple[str, ...],
    found: Mapping[tuple[str, str], Any],
    analyses: Mapping[str, Analysed],
) -> Summary:
    """What the headline is made of, from what measures and attackers found, by kind and name.

    What is not defined for unlinked tables is NaN.
    """
    overall: Loss | None = found["utility", "overall"]
    linkage: Linkage | None = found["risk", "linkage"]
    intervals: IntervalDisclosure | None = found["risk", "intervals"]
    classes: ClassSizes = found["risk", "classes"]
    attacks = {name: one for (kind, name), one in found.items() if kind == "attackers" and one is not None}
    return Summary(
        None if overall is None else overall.each,
        protected,
        {name: one.share.value for name, one in attacks.items() if ATTACKERS[name].after == "identity"},
        {name: one.share.excess for name, one in attacks.items() if ATTACKERS[name].after == "confidential"},
        _nearest(attacks, linkage),
        intervals.mean if intervals is not None else math.nan,
        classes.k,
        classes.uniques,
        unchanged,
        overlaps={name: one.overlap for name, one in analyses.items()},
    )


def _nearest(attacks: Mapping[str, Any], linkage: Linkage | None) -> float:
    """As the attacker of that name found it, by people; if nobody asked for it, by records."""
    if "nearest" in attacks:
        return float(attacks["nearest"].share.value)
    return linkage.expected.value if linkage is not None else math.nan


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
