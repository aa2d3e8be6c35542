"""What the template of a report needs, from an evaluation and a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measures.risk import ATTACKERS, Rate
from ..report.figures import number
from .cover import cover
from .headline import HEADLINE, disclosure_risk, learns_most
from .page_columns import column, correlations, worst_first
from .page_sections import sections

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["page"]

NAMED = 6  # columns that are named in a sentence


def page(evaluation: Evaluation, done: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values of ``evaluation.html``; ``done`` says how the table was protected (`Release.facts`)."""
    tables, together = sections(evaluation), correlations(evaluation)
    return {
        "title": "Report of a protected table",
        "contents": [
            "What was done",
            "What was promised, and checked",
            "In short",
            "What it cost",
            *(["How columns go together"] if together else []),
            *(section["title"] for section in tables),
        ],
        "done": done,
        "cover": None if done is None else cover(evaluation, done),
        "cards": _cards(evaluation),
        "columns": worst_first([column(evaluation, name) for name in evaluation.released.columns]),
        "correlations": together,
        "sections": tables,
    }


def _cards(evaluation: Evaluation) -> list[dict[str, str]]:
    head, risk = evaluation.headline, evaluation.risk
    names = evaluation.protected
    over = f" Protected: {', '.join(names) or 'none'}." if len(names) <= NAMED else f" {len(names)} are protected."
    cards = [_card(head, "loss", over if risk.linkage is not None else " It needs linked records.")]
    if head["worst_column"] is not None:
        cards.append(_card(head, "worst_loss", name=f"loss of {head['worst_column']}, the worst column"))
    if head["attacker"] is not None:
        share = evaluation.attackers[head["attacker"]].share
        more = f" Here the attacker “{ATTACKERS[head['attacker']].title}”: {_interval(share)}."
        if head["unchanged"] is not None:
            kept = head["unchanged"]
            more += f" Released as they are: {kept}. Whoever is alone by them is found: look at disclosure."
        cards.append(_card(head, "risk", more))
    learnt = learns_most(evaluation.attackers)
    if learnt is not None:
        found = evaluation.attackers[learnt]
        low, high = found.share.excess_interval
        more = f" Here {ATTACKERS[learnt].title}: {number(low)} to {number(high)} with 95 % confidence. {found.how}"
        cards.append(_card(head, "disclosure", more))
    if risk.linkage is not None and risk.intervals is not None:
        nearest = evaluation.attackers.get("nearest")
        guess = risk.linkage.expected.baseline if nearest is None else nearest.share.baseline
        cards.append(_card(head, "nearest", f" A random guess reaches {number(guess, 2)}."))
        cards.append(_card(head, "interval_disclosure"))
        disclosure = disclosure_risk(head["risk"], head["interval_disclosure"])
        parts = f" Here {number(100 * head['loss'])} and {number(disclosure)}."
        cards.append(_card(head, "score", parts))
    if evaluation.analyses and not math.isnan(head["analyses"]):
        cards.append(_card(head, "analyses", f" The smallest is that of {head['worst_analysis']}."))
    cards.append(_card(head, "k", f" Before: {risk.classes.original_k:,}."))
    classes = risk.classes
    counted = f" Of {classes.units:,} {classes.unit}; before {classes.original_uniques:,}."
    cards.append(_card(head, "uniques", counted, None if classes.unit == "records" else f"unique {classes.unit}"))
    return cards


def _interval(share: Rate) -> str:
    interval = f"{number(share.low)} to {number(share.high)} with 95 % confidence"
    return f"{interval}, a random guess {number(share.baseline, 2)}"


def _card(head: Mapping[str, Any], key: str, more: str = "", name: str | None = None) -> dict[str, str]:
    meaning = HEADLINE[key]
    return {"value": number(float(head[key])), "name": name or meaning.title, "about": meaning.about + more}
