"""The first page of a report: what somebody who signs it has to know, in plain words and as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measures.risk import ATTACKERS
from ..report.figures import number
from .headline import learns_most

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["cover"]

PROMISES = 3  # that are told on the first page


def cover(evaluation: Evaluation, done: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of the first page; ``done`` is what a release says about itself (`Release.facts`)."""
    return {
        "facts": [
            {"key": key, "name": name, "value": done[key]}
            for key, name in (
                ("file", "original table"),
                ("sheet", "sheet"),
                ("around", "in it, but no record"),
                ("hidden", "hidden in it"),
                ("file_hash", "SHA-256 of its file"),
                ("table_hash", "SHA-256 of its values"),
                ("date", "date"),
                ("version", "made with"),
                ("purpose", "purpose"),
                ("recipient", "recipient"),
                ("records", "records"),
                ("words", "method"),
            )
            if done.get(key) and not (key == "table_hash" and done.get("file_hash"))
        ],
        "table_hash": done["table_hash"],
        "missing": [key for key in ("purpose", "recipient") if not done.get(key)],
        "files": [{"name": name, "sha256": sha} for name, sha in done["files"].items()],
        "verdict": [_promised(done), _found(evaluation, done), _lost(evaluation)],
        "as_it_is": list(done["as_it_is"]),
        "alone": done["alone"],
        "accepted": list(done["accepted"]),
        "practice": done["practice"],
    }


def _promised(done: Mapping[str, Any]) -> str:
    """What was promised and holds, as far as it was checked."""
    checks = done["checks"]
    if not all(check.holds for check in checks):
        return "Not all that was promised holds: do not release this table."
    where = "the table that was written, read back from disk" if done["files"] else "the protected table"
    held = list(dict.fromkeys(done["promised"]))
    if not held:
        return f"The method promises nothing of its own; the {len(checks)} checks of every release hold on {where}."
    more = len(held) - PROMISES
    also = f"; and {more} more that {'is' if more == 1 else 'are'} listed below" if more > 0 else ""
    drawn = " and, where they speak of probabilities, on how values are drawn" if done["by_chance"] else ""
    return f"The method's promises were checked on {where}{drawn}, and hold: {'; '.join(held[:PROMISES])}{also}."


def _found(evaluation: Evaluation, done: Mapping[str, Any]) -> str:
    """How likely somebody is found, by those who tried."""
    head = evaluation.headline
    if head["attacker"] is None:
        return "How likely somebody is found is not known: no attacker that looks for people could be tried."
    share, unit = evaluation.attackers[head["attacker"]].share, evaluation.risk.classes.unit
    if unit == "households" and evaluation.original.people is not None:
        unit = "people"  # k counts households, attackers look for people
    tried = sum(one is not None and ATTACKERS[name].after == "identity" for name, one in evaluation.attackers.items())
    who = f"the best of the {tried} attackers that were tried" if tried > 1 else "the only attacker that was tried"
    kept = head["unchanged"]
    known = f" Nothing changed in {kept}: who knows that may find somebody without any attack." if kept else ""
    if evaluation.attackers[head["attacker"]].share.value < 1 and done["alone"]:
        known += (
            " That is by the quasi-identifiers. Whoever knows what else is released as it is may find more; "
            f"{done['alone'].partition(';')[0]}."
        )
    learnt = learns_most(evaluation.attackers)
    if learnt is not None:
        found = evaluation.attackers[learnt]
        known += (
            f" Of confidential values the attacker “{ATTACKERS[learnt].title}” learns most: {found.how} That is right "
            f"for {_percent(found.share.value)} of 100, where guessing is right for {_percent(found.share.baseline)}."
        )
    return (
        f"Of 100 {unit} {who} (“{ATTACKERS[head['attacker']].title}”) finds {_percent(share.value)} (with 95 % "
        f"confidence {_percent(share.low)} to {_percent(share.high)}), where guessing finds "
        f"{_percent(share.baseline)}.{known}"
    )


def _lost(evaluation: Evaluation) -> str:
    """What is lost most."""
    head = evaluation.headline
    analyses = ""
    if evaluation.analyses and not math.isnan(head["analyses"]):
        analyses = (
            f"; of the analyses that were asked for, {head['worst_analysis']!r} agrees least: its confidence intervals "
            f"overlap with those of the original by {number(head['analyses'])} (1 is the same, 0 nothing in common)"
        )
    if head["worst_column"] is None:
        return f"What is lost cannot be told column by column, since records are not linked{analyses}."
    return (
        f"What is lost most is {head['worst_column']}, with a loss of {number(head['worst_loss'])}, where 0 is no "
        "change and 1 is every value replaced by the average; over all protected columns the loss is "
        f"{number(head['loss'])}{analyses}."
    )


def _percent(share: float) -> str:
    """A share as so many of a hundred, never 0 for some and never 100 for not all."""
    value = 100 * share
    if value in (0.0, 100.0) or 0.05 <= value < 99.95:
        return f"{value:.1f}".removesuffix(".0")
    return "fewer than 0.1" if value < 50 else "more than 99.9"
