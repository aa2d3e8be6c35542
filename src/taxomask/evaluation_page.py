"""What the template of a report needs, from an evaluation and a release."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .methods import Method
from .microdata import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn
from .microdata.sharing import alike
from .release import Release
from .report.figures import Branch

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["page"]

BINS, BARS, LEVELS = 30, 12, 3


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
        "notes": release.notes,
    }


def _cards(evaluation: Evaluation) -> list[dict[str, str]]:
    head, risk = evaluation.headline, evaluation.risk
    cards = [_card(head["loss"], "loss", "0 is none, 1 is every record replaced by the mean")]
    if risk.linkage is not None:
        rate = risk.linkage.expected
        about = f"share of records linked rightly; a random guess reaches {rate.baseline:.2g}"
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
    from .report.figures import number

    return {"value": number(float(value)), "name": name, "about": about}


def _column(evaluation: Evaluation, name: str) -> dict[str, Any]:
    before, after = alike(evaluation.original.columns[name], evaluation.released.columns[name])
    overall = evaluation.utility.overall
    facts = {
        "name": name,
        "kind": str(before.attribute.kind),
        "loss": overall.each.get(name) if overall is not None else None,
        "changed": _changed_share(before, after) if overall is not None else "–",
    }
    return facts | _figure(before, after)


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
    return f"{100 * (1 - float(np.mean(same))):.1f} %" if len(same) else "–"


def _correlations(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.utility.distance_correlations
    names = list(dict.fromkeys(name for pair in found.before for name in pair))
    if len(names) < 2:
        return None

    def table(values: Any) -> list[list[float | None]]:
        def cell(a: str, b: str) -> float | None:
            value = 1.0 if a == b else values.get((a, b), values.get((b, a)))
            return None if value is None or math.isnan(value) else float(value)

        return [[cell(a, b) for b in names] for a in names]

    return {"names": names, "before": table(found.before), "after": table(found.after)}


def _sections(evaluation: Evaluation) -> list[dict[str, Any]]:
    risk, utility = evaluation.risk, evaluation.utility
    sections: list[dict[str, Any]] = []
    rates = []
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
    if rates:
        rows = [(name, one.value, one.low, one.high, one.baseline) for name, one in rates]
        sections.append(
            {
                "title": "What an intruder could learn",
                "about": "Shares of records, each with its 95 % interval and what a random guess reaches.",
                "header": ["attack", "share", "from", "to", "random guess"],
                "rows": rows,
            }
        )
    marketer, prosecutor = risk.reidentification.marketer, risk.reidentification.prosecutor
    classes: list[tuple[Any, ...]] = [
        ("records alone in their class", risk.classes.original_uniques, risk.classes.uniques),
        ("smallest class (k)", risk.classes.original_k, risk.classes.k),
        ("highest prosecutor risk", None, prosecutor.highest),
        ("marketer risk", None, marketer.value),
    ]
    classes += [(f"l-diversity of {name}", None, one.l) for name, one in risk.diversity.items()]
    classes += [(f"t-closeness of {name}", None, one.t) for name, one in risk.closeness.items()]
    sections.append(
        {
            "title": "Classes of records that look alike",
            "about": "Records with the same values of all quasi-identifiers form a class.",
            "header": ["", "before", "after"],
            "rows": classes,
        }
    )
    changes = utility.differences
    changed = [
        (name, changes.means.each.get(name), changes.variances.each.get(name)) for name in evaluation.released.columns
    ]
    sections.append(
        {
            "title": "Means and variances",
            "about": "Relative changes; of categories and codes, those of their marginality.",
            "header": ["column", "mean", "variance"],
            "rows": changed,
        }
    )
    whole = [
        ("IL, information loss of the numbers (percent)", utility.information.overall),
        ("distance correlations, mean change", utility.distance_correlations.overall),
        ("rank correlations, mean change", utility.rank_correlations.overall),
        ("regression, 1 - overlap of confidence intervals", utility.regression.overall),
        ("records that change branch of the taxonomy, mean share", utility.chapters.loss.overall),
    ]
    sections.append({"title": "Further losses", "about": "0 is none.", "header": ["measure", "loss"], "rows": whole})
    return sections
