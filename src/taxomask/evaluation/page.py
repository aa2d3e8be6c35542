"""What the template of a report needs, from an evaluation and a release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..measures import MEASURES
from ..measures.analyses import Analysed, Estimate
from ..measures.risk import ATTACKERS, Rate
from ..measures.risk.linkage import WORST
from ..measures.side_by_side import same_values
from ..microdata import CategoricalColumn, Column, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.casting import fit
from ..report.figures import Branch, number
from .cover import cover
from .headline import HEADLINE, disclosure_risk, learns_most
from .long import BINS, Drawn

if TYPE_CHECKING:
    from ..microdata import Attribute, Microdata
    from .evaluation import Evaluation

__all__ = ["page"]

BARS, LEVELS = 12, 3
TOGETHER = 12  # columns whose correlations can be read side by side
NAMED = 6  # columns that are named in a sentence
ESTIMATES = 40  # numbers of an analysis that are shown
WORST_RECORDS, EASY = 10, 0.2  # records that are listed, and from which chance on
_OF_CLASSES = ("risk.classes.", "risk.reidentification.", "risk.diversity.", "risk.closeness.")
# Figures of single columns that have a table of their own, with more about them; those of all others are listed.
_IN_TABLES = ("risk.intervals.attributes.*.value", "risk.rank_correlation.*.value", "risk.change_in_rank.*.mean",
              "risk.diversity.*.l", "risk.closeness.*.t")  # fmt: skip


def page(evaluation: Evaluation, done: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values of ``evaluation.html``; ``done`` says how the table was protected (`Release.facts`)."""
    sections = _sections(evaluation)
    correlations = _correlations(evaluation)
    return {
        "title": "Report of a protected table",
        "contents": [
            "What was done",
            "What was promised, and checked",
            "In short",
            "What it cost",
            *(["How columns go together"] if correlations else []),
            *(section["title"] for section in sections),
        ],
        "done": done,
        "cover": None if done is None else cover(evaluation, done),
        "cards": _cards(evaluation),
        "columns": _worst_first([_column(evaluation, name) for name in evaluation.released.columns]),
        "correlations": correlations,
        "sections": sections,
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


def _column(evaluation: Evaluation, name: str) -> dict[str, Any]:
    drawn = evaluation.drawn.get(name)
    if drawn is None:
        before, after = alike(evaluation.original.columns[name], evaluation.released.columns[name])
    else:
        before, after = drawn.before, drawn.after
    overall = evaluation.utility.overall
    facts = {
        "name": name,
        "kind": str(before.attribute.kind),
        "loss": overall.each.get(name) if overall is not None else None,
        "changed": _changed_share(before, after, drawn) if overall is not None else "–",
        "same": _same(evaluation, name),
    }
    return facts | _figure(evaluation.original, before, after, drawn) | {"words": _words(before, after)}


def _worst_first(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns that lost most first; those whose loss is not known in the order of the table, at the end."""

    def order(column: Mapping[str, Any]) -> float:
        loss = column["loss"]
        return math.inf if loss is None or math.isnan(loss) else -loss

    return sorted(columns, key=order)


def _same(evaluation: Evaluation, name: str) -> bool:
    """Whether every record kept its value, as far as records are linked at all."""
    linked = evaluation.utility.overall is not None
    if linked and name in evaluation.drawn:
        return evaluation.drawn[name].changed == 0
    return linked and same_values(*alike(evaluation.original.columns[name], evaluation.released.columns[name]))


def _figure(table: Microdata, before: Column, after: Column, drawn: Drawn | None) -> dict[str, Any]:
    if isinstance(before, TaxonomicColumn) and isinstance(after, TaxonomicColumn):
        return {"figure": "icicle", "tree": _tree(before, after)}
    if isinstance(before, CategoricalColumn) and isinstance(after, CategoricalColumn):
        top = np.sort(np.argsort(-(before.counts + after.counts), kind="stable")[:BARS])
        return {
            "figure": "bars",
            "labels": [str(before.categories[i]) for i in top.tolist()],
            "before": before.counts[top].tolist(),
            "after": after.counts[top].tolist(),
        }
    if drawn is not None:
        edges, shares = drawn.edges, drawn.shares
    else:
        x, y = (one.numbers()[~one.missing] for one in (before, after))
        edges = np.histogram_bin_edges(np.concatenate([x, y]), BINS) if len(x) and len(y) else None
        shares = () if edges is None else tuple(np.histogram(one, edges)[0] / len(one) for one in (x, y))
    if edges is None:
        return {"figure": None}
    ends = _written(table, before.attribute, edges[[0, -1]])
    return {"figure": "histogram", "ends": ends, "before": shares[0].tolist(), "after": shares[1].tolist()}


def _written(table: Microdata, attribute: Attribute, values: NDArray[np.float64]) -> list[str]:
    """Numbers of a column as people read them; dates as dates."""
    coarser = attribute.coarser
    if coarser is not None and coarser.unit != "age":
        return [str(text).removesuffix(".0") for text in coarser.write(np.rint(values)).to_pylist()]
    if table.holds_dates(attribute.name):
        return [str(one) for one in fit(np.rint(values), table.value_type(attribute.name)).to_pylist()]
    return [number(one, 4) for one in values.tolist()]


def _words(before: Column, after: Column) -> str:
    """What a chart shows and what it does not: how many categories there were and are, and what vanished."""
    if not isinstance(before, CategoricalColumn) or not isinstance(after, CategoricalColumn):
        return f"The chart shows the share of the values in each of {BINS} intervals."
    old, new = before.counts > 0, after.counts > 0
    gone = old & ~new
    words = f"{old.sum():,} categor{'y' if old.sum() == 1 else 'ies'} before, {new.sum():,} after"
    if gone.any():
        records = int(before.counts[gone].sum())
        words += f"; {gone.sum():,} vanished, which {records:,} record{'s' * (records != 1)} had"
    if (new & ~old).any():
        words += f"; {(new & ~old).sum():,} are new"
    if isinstance(before, TaxonomicColumn):
        return f"{words}. The chart shows the branches that hold them, at most {LEVELS} levels below the top."
    every = len(before.categories)
    return f"{words}. The chart shows the {BARS} commonest of {every:,}." if every > BARS else f"{words}."


def _tree(before: TaxonomicColumn, after: TaxonomicColumn) -> Branch:
    """The top levels of τ(X), with the records at or below each concept; a concept hangs below its first parent."""
    scope = before.scopes[0]
    taxonomy = scope.taxonomy
    old, new = _totals(before), _totals(after)

    def branch(position: int, level: int) -> Branch:
        below = []
        if level < LEVELS:
            children = [
                c for c in taxonomy.children_of(position).tolist() if int(taxonomy.parents_of(c)[0]) == position
            ]
            below = [branch(c, level + 1) for c in children if old[c] or new[c]]
        name = taxonomy.ids[position]
        return Branch(name, taxonomy[name].label, float(old[position]), float(new[position]), tuple(below))

    return branch(int(scope.root), 0)


def _totals(column: TaxonomicColumn) -> NDArray[np.int64]:
    """The records at or below each concept, along first parents."""
    taxonomy = column.scopes[0].taxonomy
    known = column.positions >= 0
    totals = np.zeros(len(taxonomy.ids), dtype=np.int64)
    totals[column.positions[known]] = column.counts[known]
    for position in np.argsort(-taxonomy.depth, kind="stable").tolist():
        parents = taxonomy.parents_of(position)
        if len(parents) and totals[position]:
            totals[parents[0]] += totals[position]
    return totals


def _changed_share(before: Column, after: Column, drawn: Drawn | None) -> str:
    if drawn is not None:
        return f"{number(100 * drawn.changed)} %"
    return f"{number(100 * float(np.mean(~before.same(after))))} %" if len(before) else "–"


def _correlations(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.utility.distance_correlations
    every = [] if found is None else list(dict.fromkeys(name for pair in found.before for name in pair))
    if len(every) < 2:
        return None
    names = _most_changed(every, found.each) if len(every) > TOGETHER else every

    def table(values: Any) -> list[list[float | None]]:
        def cell(a: str, b: str) -> float | None:
            value = 1.0 if a == b else values.get((a, b), values.get((b, a)))
            return None if value is None or math.isnan(value) else float(value)

        return [[cell(a, b) for b in names] for a in names]

    left_out = len(every) - len(names)
    return {"names": names, "before": table(found.before), "after": table(found.after), "left_out": left_out}


def _most_changed(names: list[str], each: Mapping[tuple[str, str], float]) -> list[str]:
    """The columns whose correlations changed most, in the order of the table."""
    largest = dict.fromkeys(names, 0.0)
    for pair, change in each.items():
        for name in pair:
            largest[name] = max(largest[name], change)
    chosen = set(sorted(names, key=lambda name: -largest[name])[:TOGETHER])
    return [name for name in names if name in chosen]


def _sections(evaluation: Evaluation) -> list[dict[str, Any]]:
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
        f"the original table, one over the people of the class. After: by the best attacker on each of the {unit}.",
        "header": ["chance", "before", "after"],
        "rows": [_row(name, one["before"], one["after"]) for name, one in rows.items()],
    }


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
        "about": "r_xz is the rank correlation of original and released values: 1 gives them away, 0 is random order. "
        "The change in rank is how far records moved in the order of the column; of equal values the mean rank counts, "
        "and codes are ordered by their marginality.",
        "header": ["column", "r_xz", "same rank", "mean change", "in random order", *quantiles.values()],
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
    names = [name for name in evaluation.released.columns if changes is not None and not _same(evaluation, name)]
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
