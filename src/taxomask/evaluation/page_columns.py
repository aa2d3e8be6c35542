"""What a report shows of each column: what it lost, how it is distributed, and how columns go together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..measures.side_by_side import same_values
from ..microdata import CategoricalColumn, Column, TaxonomicColumn
from ..microdata.alike import alike
from ..microdata.casting import fit
from ..report.figures import Branch, number
from .long import BINS, Drawn

if TYPE_CHECKING:
    from ..microdata import Attribute, Microdata
    from .evaluation import Evaluation

__all__ = ["column", "correlations", "is_same", "worst_first"]

BARS, LEVELS = 12, 3
TOGETHER = 12  # columns whose correlations can be read side by side


def column(evaluation: Evaluation, name: str) -> dict[str, Any]:
    """What became of a column, in figures, a chart and words."""
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
        "same": is_same(evaluation, name),
    }
    return facts | _figure(evaluation.original, before, after, drawn) | {"words": _words(before, after)}


def worst_first(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns that lost most first; those whose loss is not known in the order of the table, at the end."""

    def order(column: Mapping[str, Any]) -> float:
        loss = column["loss"]
        return math.inf if loss is None or math.isnan(loss) else -loss

    return sorted(columns, key=order)


def is_same(evaluation: Evaluation, name: str) -> bool:
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


def correlations(evaluation: Evaluation) -> dict[str, Any] | None:
    """The distance correlations of the columns before and after; of those that changed most if there are many."""
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
