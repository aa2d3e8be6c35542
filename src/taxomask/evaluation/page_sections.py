"""The tables of a report: analyses, records at risk, attackers, and all other figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..measures import MEASURES
from ..measures.analyses import Analysed, Estimate
from ..measures.risk import ATTACKERS
from ..measures.risk.linkage import WORST
from ..report.figures import number
from .headline import HEADLINE
from .page_columns import is_same
from .records_at_risk import NAMES

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["sections"]

ESTIMATES = 40  # numbers of an analysis that are shown
WORST_RECORDS, EASY = 10, 0.2  # records that are listed, and from which chance on
_OF_CLASSES = ("risk.classes.", "risk.reidentification.", "risk.diversity.", "risk.closeness.")
# Figures of single columns that have a table of their own, with more about them; those of all others are listed.
_IN_TABLES = ("risk.intervals.attributes.*.value", "risk.rank_correlation.*.value", "risk.change_in_rank.*.mean",
              "risk.diversity.*.l", "risk.closeness.*.t")  # fmt: skip


def sections(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Every table that has rows, in the order of the page."""
    makers = (
        _analyses,
        _records_at_risk,
        _worst_records,
        _attackers,
        _attacks,
        _ranks,
        _changes_in_rank,
        _classes,
        _moments,
        _measures,
        _sampled,
        _failed,
    )
    made = (make(evaluation) for make in makers)
    sections = [one for found in made for one in (found if isinstance(found, list) else [found])]
    return [{"texts": [], **section} for section in sections if section["rows"]]


def _analyses(evaluation: Evaluation) -> list[dict[str, Any]]:
    """A section for each analysis that was asked for, what agrees least first."""
    return [_analysis(name, one) for name, one in evaluation.analyses.items()]


def _analysis(name: str, one: Analysed) -> dict[str, Any]:
    labels = sorted(one.before, key=lambda label: one.each.get(label, 2.0))
    records = (
        f"Used are {one.records[0]:,} records of the original and {one.records[1]:,} of the release; left out, since a "
        f"value is missing, {one.left_out[0]:,} and {one.left_out[1]:,}."
    )
    overlap = (
        f"The intervals overlap by {number(one.overlap)} on average, by {number(one.worst)} at least (1 is the same, 0 "
        "nothing in common)."
        if one.each
        else "The original tells none of the numbers, so that nothing can be compared."
    )
    about = [f"{one.words}.", records, overlap, *one.notes]
    if len(labels) > ESTIMATES:
        about.append(f"Shown are the {ESTIMATES} of {len(labels):,} numbers that agree least; JSON has all.")
    return {
        "title": f"Your analysis: {name}",
        "about": " ".join(about),
        "header": ["", "before", "from", "to", "after", "from", "to", "overlap"],
        "rows": [
            _row(label, *_estimate(one.before.get(label)), *_estimate(one.after.get(label)), one.each.get(label))
            for label in labels[:ESTIMATES]
        ],
    }


def _estimate(one: Estimate | None) -> tuple[float | None, ...]:
    return (None, None, None) if one is None else (one.value, one.low, one.high)


def _row(name: str, *cells: Any, about: str = "") -> dict[str, Any]:
    return {"name": name, "about": about, "cells": cells}


def _attackers(evaluation: Evaluation) -> dict[str, Any]:
    tried = {name: one for name, one in evaluation.attackers.items() if one is not None}
    idle = [ATTACKERS[name].title for name in evaluation.attackers if name not in tried]
    about = "What each knows, the expected share of records or values that it finds with its 95 % interval, and how."
    if idle:
        about += f" Not tried, or without anything to work on: {'; '.join(idle)}."
    return {
        "title": "What attackers find",
        "about": about,
        "header": ["attacker", "share", "from", "to", "random guess", "looks for", "how"],
        "texts": ["looks for", "how"],
        "rows": [
            _row(
                ATTACKERS[name].title,
                *(one.share.value, one.share.low, one.share.high, one.share.baseline),
                {"identity": "people", "confidential": "values"}[ATTACKERS[name].after],
                one.how,
                about=f"Knows: {ATTACKERS[name].knows}",
            )
            for name, one in tried.items()
        ],
    }


def _records_at_risk(evaluation: Evaluation) -> dict[str, Any]:
    risky = evaluation.records_at_risk
    unit = "records" if risky is None else risky.unit
    rows = {} if risky is None else risky.histogram
    return {
        "title": f"{unit.capitalize()} at risk",
        "about": f"How many {unit} are found with which chance. Before: by somebody who knows all quasi-identifiers of "
        f"the original table: one of so many who share all of them. After: by the best attacker on each of the {unit}, "
        "who is right about some of those that are released alike and wrong about the others, and cannot tell which.",
        "header": ["chance", "before", "after"],
        "rows": [_row(_range(name), one["before"], one["after"]) for name, one in rows.items()],
    }


def _range(name: str) -> str:
    """A range of chances with both of its ends."""
    after = NAMES[NAMES.index(name) + 1 :] if name in NAMES[1:] else ()
    return f"{name}, {after[0].replace('above', 'up to')}" if after else name


def _worst_records(evaluation: Evaluation) -> dict[str, Any]:
    risky = evaluation.records_at_risk
    worst = [] if risky is None else [one for one in risky.worst(WORST_RECORDS) if (one["after"] or 0) > EASY]
    return {
        "title": "Who is found most easily",
        "about": f"The {WORST_RECORDS} worst of the records that are found with a chance above {EASY:g}: their rows in "
        "the original table, and the smallest set of columns that singles them out, if few do.",
        "header": ["row", "chance before", "chance after", "singled out by", "before, by"],
        "texts": ["singled out by", "before, by"],
        "rows": [
            _row(
                f"{one['row']:,}",
                one["before"],
                one["after"],
                ", ".join(one["columns"]) or "–",
                ", ".join(one["columns_before"]) or "–",
            )
            for one in worst
        ],
    }


def _attacks(evaluation: Evaluation) -> dict[str, Any]:
    rows = [
        (name, (rate.value, rate.low, rate.high, rate.baseline), figure.about)
        for measure in MEASURES["risk"].values()
        for figure in measure.figures
        if figure.rates is not None and evaluation.risk[measure.name] is not None
        for name, rate in figure.rates(evaluation.risk[measure.name]).items()
    ]
    about = "Shares of records, each with its 95 % interval and what a random guess reaches."
    choices = len(evaluation.risk.partial_linkage)
    if choices > WORST:
        about += f" Of {choices} choices of one to three columns the {WORST} worst are shown."
    return {
        "title": "What an intruder could learn",
        "about": about,
        "header": ["attack", "share", "from", "to", "random guess"],
        "rows": _told_once(rows),
    }


def _told_once(rows: Iterable[tuple[str, tuple[Any, ...], str]]) -> list[dict[str, Any]]:
    """Rows, with what a figure means beside the first of its kind."""
    told: set[str] = set()
    found = []
    for name, cells, about in rows:
        found.append(_row(name, *cells, about="" if about in told else about))
        told.add(about)
    return found


def _ranks(evaluation: Evaluation) -> dict[str, Any]:
    risk = evaluation.risk
    quantiles = {
        "lower_quartile": "lower quartile",
        "median": "median",
        "upper_quartile": "upper quartile",
        "largest": "largest",
    }
    return {
        "title": "Ranks that give values away",
        "about": "The rank correlation (r_xz) is that of original and released values: 1 gives them away, 0 is random "
        "order. The change in rank is how far records moved in the order of the column; of equal values the mean rank "
        "counts, and codes are ordered by their marginality, how far they are from all others.",
        "header": ["column", "rank correlation", "same rank", "mean change", "in random order", *quantiles.values()],
        "rows": [
            _row(
                name,
                risk.rank_correlation[name].value if name in risk.rank_correlation else None,
                one.unchanged.value,
                one.mean,
                one.baseline,
                *(getattr(one, quantile) for quantile in quantiles),
            )
            for name, one in risk.change_in_rank.items()
        ],
    }


def _changes_in_rank(evaluation: Evaluation) -> dict[str, Any]:
    counts = {name: one.counts for name, one in evaluation.risk.change_in_rank.items()}
    changes: Mapping[str, int] = max(counts.values(), key=len, default={})
    return {
        "title": "Records by change in rank",
        "about": "How many records of each column moved by how many ranks.",
        "header": ["column", *changes],
        "rows": [_row(name, *(one.get(change, 0) for change in changes)) for name, one in counts.items()],
    }


def _classes(evaluation: Evaluation) -> dict[str, Any]:
    sizes = evaluation.risk.classes
    before = {"risk.classes.k": sizes.original_k, "risk.classes.uniques": sizes.original_uniques}
    rows = (
        (title, (before.get(where), value), one.about)
        for where, title, one, value in evaluation.figures()
        if where.startswith(_OF_CLASSES)
    )
    return {
        "title": "Classes of records that look alike",
        "about": "Records with the same values of all quasi-identifiers form a class.",
        "header": ["", "before", "after"],
        "rows": _told_once(rows),
    }


def _moments(evaluation: Evaluation) -> dict[str, Any]:
    changes = evaluation.utility.differences
    names = [name for name in evaluation.released.columns if changes is not None and not is_same(evaluation, name)]
    return {
        "title": "Means and variances",
        "about": "Relative changes in the columns that changed; of categories and codes, those of their marginality.",
        "header": ["column", "mean", "variance"],
        "rows": [_row(name, changes.means.each.get(name), changes.variances.each.get(name)) for name in names],
    }


def _measures(evaluation: Evaluation) -> dict[str, Any]:
    """Every measure, under our name and that of the papers, but for those that have a table of their own."""
    values = evaluation.to_dict()
    disclosure = values["papers"]["DR"]
    rows = [
        (HEADLINE["score"].title, ("Score", values["headline"]["score"]), HEADLINE["score"].about),
        ("disclosure risk", ("DR", disclosure["value"]), disclosure["meaning"]),
    ]
    rows += [
        (title, (one.paper or "–", value), one.about)
        for where, title, one, value in evaluation.figures()
        if where not in _IN_TABLES
    ]
    return {
        "title": "Every measure, with its name in the papers",
        "about": "Of losses 0 is none. But for the loss itself they are over all columns, untouched ones included.",
        "header": ["measure", "in the papers", "value"],
        "texts": ["in the papers"],
        "rows": _told_once(rows),
    }


def _sampled(evaluation: Evaluation) -> dict[str, Any]:
    figures = list(evaluation.sampled_figures())
    about = ""
    if figures:
        taken = figures[0][-1]
        about = (
            f"The table has {taken.of:,} records. These figures were taken on {taken.records:,} of them, drawn at "
            "random; those of the whole table lie between the ends with 95 % confidence, by how far apart ten parts of "
            "the sample are. All others but those of attackers, who say how many records they looked for, are exact."
        )
    return {
        "title": "Figures that were taken on a sample",
        "about": about,
        "header": ["measure", "value", "from", "to"],
        "rows": [_row(title, value, low, high) for title, value, low, high, _ in figures],
    }


def _failed(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "title": "What could not be measured",
        "about": "Something went wrong in these measures, which is a mistake in them and not in the table.",
        "header": ["measure", "error"],
        "texts": ["error"],
        "rows": [_row(name, error) for name, error in evaluation.failed.items()],
    }
