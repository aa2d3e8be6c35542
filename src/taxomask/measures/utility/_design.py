"""A compact design of numbers for models: what a table looks like to a regression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engines import Engine
from ...microdata import CategoricalColumn, Column, TaxonomicColumn
from ._moments import numbers, ordered, present, sum_of_products, unit_of
from ._power_sums import singles_on, unit_of_both

__all__ = ["BLOCK", "Design", "Part"]

Float = NDArray[np.float64]

GROUPS = 10
BLOCK = 32_768


@dataclass(frozen=True)
class Part:
    """The columns that one attribute adds to a design."""

    names: tuple[str, ...]
    middle: float = 0.0
    unit: float = 1.0
    groups: NDArray[np.int64] | None = None

    def fill(self, column: Column, out: Float) -> None:
        if self.groups is None:
            out[:, 0] = self.standard(column)
            if len(self.names) > 1:
                out[:, 1] = column.missing
            return
        out[:] = self._group(column)[:, None] == np.arange(len(self.names))

    def times(self, column: Column, standard: Float | None, coefficients: Float) -> Float:
        """The columns times their coefficients, without the columns."""
        if standard is None:
            return np.append(coefficients, 0.0)[self._group(column)]
        score = standard * coefficients[0]
        return score + column.missing * coefficients[1] if len(self.names) > 1 else score

    def sums(self, column: Column, standard: Float | None, weights: Float) -> Float:
        """The sum of each column over the records, with weights."""
        if standard is None:
            return np.bincount(self._group(column) + 1, weights, len(self.names) + 1)[1:].astype(float, copy=False)
        others = [column.missing.astype(float)] if len(self.names) > 1 else []
        return np.array([sum_of_products(one, weights) for one in (standard, *others)])

    def standard(self, column: Column) -> Float:
        """Numbers in standard deviations from the mean; missing ones are 0."""
        values = numbers(column)
        return np.where(np.isnan(values), 0.0, (values - self.middle) / self.unit)

    def _group(self, column: Column) -> NDArray[np.int64]:
        """The number of the indicator of each record; -1 for the group that has none."""
        assert self.groups is not None
        return self.groups[column.categorical.codes]


class Design:
    """Numbers in standard deviations of the original, and indicators of frequent categories.

    Numbers, and ordinal attributes by position, are one column; a missing value counts as the mean, with an indicator
    of its own. Of a nominal attribute, the most frequent categories (at most ten groups) have an indicator each, of a
    taxonomic one the chapters: the children of the root of τ(X), the first for a value below several. The rest is a
    group, missing values are one, and the largest group has no indicator: the others are compared with it.
    """

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self.parts = dict(parts)
        starts = np.cumsum([1, *(len(part.names) for part in self.parts.values())]).tolist()
        self.places = {name: range(a, b) for name, a, b in zip(self.parts, starts, starts[1:], strict=False)}
        self.width = int(starts[-1])
        self.names = ("intercept", *(name for part in self.parts.values() for name in part.names))

    @classmethod
    def of(cls, columns: Mapping[str, tuple[Column, Column]]) -> Design:
        """That of columns before and after."""
        return cls({name: _part(name, x, y) for name, (x, y) in columns.items()})

    @classmethod
    def on(cls, engine: Engine, columns: Mapping[str, tuple[Column, Column]]) -> Design:
        """The same of long columns, wherever they lie."""
        return cls({name: _part_on(engine, name, x, y) for name, (x, y) in columns.items()})

    def blocks(self, columns: Mapping[str, Column], rows: NDArray[np.int64]) -> Iterator[Float]:
        """The design of these rows, a block at a time; the first column is 1."""
        for start in range(0, len(rows), BLOCK):
            chosen = rows[start : start + BLOCK]
            out = np.ones((len(chosen), self.width))
            for name, part in self.parts.items():
                place = self.places[name]
                part.fill(columns[name].take(chosen), out[:, place.start : place.stop])
            yield out

    def standard(self, columns: Mapping[str, Column]) -> dict[str, Float]:
        """The numbers of the design, in standard deviations."""
        return {name: part.standard(columns[name]) for name, part in self.parts.items() if part.groups is None}

    def times(self, columns: Mapping[str, Column], standard: Mapping[str, Float], coefficients: Float) -> Float | float:
        """The design times coefficients, without the design, but for its numbers."""
        score: Float | float = float(coefficients[0])
        for name, part in self.parts.items():
            place = self.places[name]
            score = score + part.times(columns[name], standard.get(name), coefficients[place.start : place.stop])
        return score

    def sums(self, columns: Mapping[str, Column], standard: Mapping[str, Float], weights: Float) -> Float:
        """The sum of each column of the design over the records, with weights."""
        parts = (part.sums(columns[name], standard.get(name), weights) for name, part in self.parts.items())
        return np.concatenate([[weights.sum()], *parts])


def _part(name: str, original: Column, released: Column) -> Part:
    if ordered(original) or not isinstance(original, CategoricalColumn):
        before, after = numbers(original), numbers(released)
        gaps = bool(original.missing.any() or released.missing.any())
        values = present(before) if len(present(before)) else present(after)
        middle = float((values - values.min()).mean() + values.min()) if len(values) else 0.0
        return _of_numbers(name, gaps, middle, unit_of(before, after))
    return _of_categories(name, original, int(original.missing.sum()))


def _part_on(engine: Engine, name: str, original: Column, released: Column) -> Part:
    if ordered(original) or not isinstance(original, CategoricalColumn):
        before, after = singles_on(engine, original, released)
        gaps = before.extent.count < len(original) or after.extent.count < len(released)
        known = before if before.extent.count else after
        return _of_numbers(name, gaps, known.mean if known.extent.count else 0.0, unit_of_both(before, after))
    counts = engine.count(original)
    return _of_categories(name, original.outline(counts), len(original) - int(counts.sum()))


def _of_numbers(name: str, gaps: bool, middle: float, unit: float) -> Part:
    return Part((name, f"{name}: missing") if gaps else (name,), middle, unit)


def _of_categories(name: str, original: CategoricalColumn, gone: int) -> Part:
    """Of a column of which it is known how many values of each category it has, and how many are missing."""
    groups, labels = _chapters(original) if isinstance(original, TaxonomicColumn) else _categories(original)
    missing = len(labels)
    groups = np.append(groups, missing)
    sizes = np.bincount(groups, weights=np.append(original.counts, gone), minlength=missing + 1)
    order = np.argsort(-sizes, kind="stable").tolist()
    shown = [group for group in order[1:GROUPS] if sizes[group] > 0]
    recode = np.full(missing + 1, len(shown), dtype=np.int64)  # the rest comes after those that are shown
    recode[shown] = np.arange(len(shown))
    recode[order[0]] = -1  # what the others are compared with
    texts = [*labels, "missing"]
    return Part((*(f"{name}: {texts[group]}" for group in shown), f"{name}: other"), groups=recode[groups])


def _categories(column: CategoricalColumn) -> tuple[NDArray[np.int64], list[str]]:
    return np.arange(len(column.categories)), [str(one) for one in column.categories]


def _chapters(column: TaxonomicColumn) -> tuple[NDArray[np.int64], list[str]]:
    """The chapter of each category, and their identifiers; the last one is for values that are in none."""
    scope = column.scopes[0]
    chapters = np.sort(scope.taxonomy.children_of(scope.root))
    number = np.full(len(scope.taxonomy.ids), len(chapters), dtype=np.int64)
    number[chapters] = np.arange(len(chapters))
    groups = np.full(len(column.categories), len(chapters), dtype=np.int64)
    for category, position in enumerate(column.positions.tolist()):
        if position >= 0:
            groups[category] = number[scope.taxonomy.closure.ancestors(position)].min()
    return groups, [*(scope.taxonomy.ids[one] for one in chapters.tolist()), "no chapter"]
