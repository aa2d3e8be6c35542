"""What the template of a report needs, from an evaluation and a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .measures.risk import Rate
from .measures.utility._moments import same_values
from .methods import Method
from .microdata import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn
from .microdata.coding import Note
from .microdata.sharing import alike
from .release import Release
from .report.figures import Branch, number

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["page", "to_know"]

BINS, BARS, LEVELS = 30, 12, 3
TOGETHER = 12  # columns whose correlations can be read side by side
ALIKE = 3  # notes of the same kind that are told one by one


def page(evaluation: Evaluation, release: Release | None, method: Method | None) -> dict[str, Any]:
    """The values of ``evaluation.html``."""
    return {
        "title": "Report of a protected table",
        "done": None if release is None else _done(release, method),
        "cards": _cards(evaluation),
        "columns": [_column(evaluation, name) for name in evaluation.released.columns],
        "correlations": _correlations(evaluation),
        "sections": _sections(evaluation),
    }


def _done(release: Release, method: Method | None) -> dict[str, Any]:
    schema = release.original.schema
    changed = release.protected
    same = [name for name in schema if name not in changed and name not in schema.identifiers]
    return {
        "words": f"{method.about} ({method})" if method is not None else "",
        "records": f"{release.original.n:,}",
        "protected": ", ".join(changed) or "none",
        "untouched": ", ".join(same) or "none",
        "removed": ", ".join(schema.identifiers) or "none",
        "checks": release.promise,
        "notes": to_know(release),
    }


def to_know(release: Release) -> list[str]:
    """The notes of a release; what was found in many columns is told once."""
    kinds: dict[str, list[Note]] = {}
    for note in release.original.notes:
        kinds.setdefault(note.event, []).append(note)
    told = []
    for notes in kinds.values():
        if len(notes) <= ALIKE:
            told += [str(note) for note in notes]
        else:
            what = str(notes[0]).partition(" cell")[2].partition(" ")[2]
            columns = ", ".join(f"{note.attribute} ({note.cells:,})" for note in notes)
            told.append(f"Cells of {len(notes)} columns {what.removesuffix('.')}: {columns}.")
    first = {str(note) for note in release.original.notes}
    return told + [note for note in release.notes if note not in first]


def _cards(evaluation: Evaluation) -> list[dict[str, str]]:
    head, risk = evaluation.headline, evaluation.risk
    cards = [_card(head["loss"], "loss", "0 is none, 1 is every record replaced by the mean")]
    if risk.linkage is not None:
        rate = risk.linkage.expected
        about = f"share of records linked rightly; a random guess reaches {number(rate.baseline, 2)}"
        cards.append(_card(head["risk"], "risk", about))
        cards.append(_card(head["score"], "score", "half of loss and risk in percent; smaller is better"))
    cards.append(_card(head["k"], "smallest class", "records that share all quasi-identifiers"))
    cards.append(
        _card(
            head["uniques"], "unique records", f"of {risk.classes.records:,}; before {risk.classes.original_uniques:,}"
        )
    )
    return cards


def _card(value: float, name: str, about: str) -> dict[str, str]:
    return {"value": number(float(value)), "name": name, "about": about}


def _column(evaluation: Evaluation, name: str) -> dict[str, Any]:
    before, after = alike(evaluation.original.columns[name], evaluation.released.columns[name])
    overall = evaluation.utility.overall
    facts = {
        "name": name,
        "kind": str(before.attribute.kind),
        "loss": overall.each.get(name) if overall is not None else None,
        "changed": _changed_share(before, after) if overall is not None else "–",
        "same": _same(evaluation, name),
    }
    return facts | _figure(before, after)


def _same(evaluation: Evaluation, name: str) -> bool:
    """Whether every record kept its value, as far as records are linked at all."""
    linked = evaluation.utility.overall is not None
    return linked and same_values(*alike(evaluation.original.columns[name], evaluation.released.columns[name]))


def _figure(before: Column, after: Column) -> dict[str, Any]:
    if isinstance(before, ContinuousColumn) and isinstance(after, ContinuousColumn):
        x, y = (one.values[~np.isnan(one.values)] for one in (before, after))
        if not len(x) or not len(y):
            return {"figure": None}
        edges = np.histogram_bin_edges(np.concatenate([x, y]), BINS)
        counts = [np.histogram(one, edges)[0] / len(one) for one in (x, y)]
        return {
            "figure": "histogram",
            "edges": edges.tolist(),
            "before": counts[0].tolist(),
            "after": counts[1].tolist(),
        }
    assert isinstance(before, CategoricalColumn)
    assert isinstance(after, CategoricalColumn)
    if isinstance(before, TaxonomicColumn) and isinstance(after, TaxonomicColumn):
        return {"figure": "icicle", "tree": _tree(before, after)}
    top = np.sort(np.argsort(-(before.counts + after.counts), kind="stable")[:BARS])
    return {
        "figure": "bars",
        "labels": [str(before.categories[i]) for i in top.tolist()],
        "before": before.counts[top].tolist(),
        "after": after.counts[top].tolist(),
    }


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


def _changed_share(before: Column, after: Column) -> str:
    if isinstance(before, ContinuousColumn) and isinstance(after, ContinuousColumn):
        same = (before.values == after.values) | (before.missing & after.missing)
    else:
        assert isinstance(before, CategoricalColumn)
        assert isinstance(after, CategoricalColumn)
        same = before.codes == after.codes
    return f"{number(100 * float(np.mean(~same)))} %" if len(same) else "–"


def _correlations(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.utility.distance_correlations
    every = list(dict.fromkeys(name for pair in found.before for name in pair))
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
    makers = (_attacks, _ranks, _changes_in_rank, _classes, _moments, _further)
    return [section for section in (make(evaluation) for make in makers) if section["rows"]]


def _attacks(evaluation: Evaluation) -> dict[str, Any]:
    risk = evaluation.risk
    rates: list[tuple[str, Rate]] = []
    if risk.linkage is not None:
        rates.append(("linked by all quasi-identifiers (expected)", risk.linkage.expected))
        rates.append(("linked, and no other record is as near", risk.linkage.unique))
        rates += [(f"linked by {', '.join(one.attributes)} only", one.expected) for one in risk.partial_linkage[:6]]
    if risk.intervals is not None:
        percent = risk.intervals.percent
        rates += [(f"{name} within {percent:g} % of the ranks", one) for name, one in risk.intervals.attributes.items()]
    rates += [
        (f"{name} guessed from the nearest record: {level}", guess.targets)
        for name, one in risk.inference.items()
        for level, guess in one.levels.items()
    ]
    return {
        "title": "What an intruder could learn",
        "about": "Shares of records, each with its 95 % interval and what a random guess reaches.",
        "header": ["attack", "share", "from", "to", "random guess"],
        "rows": [(name, one.value, one.low, one.high, one.baseline) for name, one in rates],
    }


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
            (
                name,
                risk.rank_correlation[name].value,
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
    changes = max(counts.values(), key=len, default={})
    return {
        "title": "Records by change in rank",
        "about": "How many records moved by how many ranks.",
        "header": ["change in rank", *counts],
        "rows": [(change, *(one.get(change, 0) for one in counts.values())) for change in changes],
    }


def _classes(evaluation: Evaluation) -> dict[str, Any]:
    risk = evaluation.risk
    rows: list[tuple[Any, ...]] = [
        ("records alone in their class", risk.classes.original_uniques, risk.classes.uniques),
        ("smallest class (k)", risk.classes.original_k, risk.classes.k),
        ("highest prosecutor risk", None, risk.reidentification.prosecutor.highest),
        ("marketer risk", None, risk.reidentification.marketer.value),
    ]
    rows += [(f"l-diversity of {name}", None, one.l) for name, one in risk.diversity.items()]
    rows += [(f"t-closeness of {name}", None, one.t) for name, one in risk.closeness.items()]
    return {
        "title": "Classes of records that look alike",
        "about": "Records with the same values of all quasi-identifiers form a class.",
        "header": ["", "before", "after"],
        "rows": rows,
    }


def _moments(evaluation: Evaluation) -> dict[str, Any]:
    changes = evaluation.utility.differences
    names = [name for name in evaluation.released.columns if not _same(evaluation, name)]
    return {
        "title": "Means and variances",
        "about": "Relative changes in the columns that changed; of categories and codes, those of their marginality.",
        "header": ["column", "mean", "variance"],
        "rows": [(name, changes.means.each.get(name), changes.variances.each.get(name)) for name in names],
    }


def _further(evaluation: Evaluation) -> dict[str, Any]:
    utility = evaluation.utility
    return {
        "title": "Further losses",
        "about": "0 is none.",
        "header": ["measure", "loss"],
        "rows": [
            ("IL, information loss of the numbers (percent)", utility.information.overall),
            ("distance correlations, mean change", utility.distance_correlations.overall),
            ("rank correlations, mean change", utility.rank_correlations.overall),
            ("regression, 1 - overlap of confidence intervals", utility.regression.overall),
            ("records that change branch of the taxonomy, mean share", utility.chapters.loss.overall),
        ],
    }
