"""Records by the values of some columns, codes taken together at a level of their taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..._support.spelling import spell
from ...errors import PlanError
from ...methods._ancestors import cut
from ...microdata import CategoricalColumn, TaxonomicColumn
from .records import Records
from .side import Side

__all__ = ["MOST_GROUPS", "Groups", "grouped", "labels_of"]

MOST_GROUPS = 500

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Step:
    """A column by which groups are made: the number of the group of each category, how many there are, and which keys
    occur, each of a group by the columns before and one of this column."""

    name: str
    numbers: Whole
    size: int
    occur: Whole

    def keys(self, side: Side, before: Whole) -> Whole:
        """The key of each record, -1 where a value is missing."""
        codes = self.numbers[side[self.name].categorical.codes]
        return np.where((before < 0) | (codes < 0), -1, before * self.size + codes)


@dataclass(frozen=True, eq=False)
class Groups:
    """The combinations of values of some columns that occur, and what each is called."""

    labels: tuple[str, ...] = ("all",)
    steps: tuple[_Step, ...] = ()

    def numbers(self, side: Side) -> Whole:
        """The number of each record's group, -1 where a value is missing."""
        found = np.zeros(side.n, dtype=np.int64)
        for step in self.steps:
            keys = step.keys(side, found)
            found = np.where(keys < 0, -1, np.searchsorted(step.occur, keys))
        return found

    def then(self, step: _Step, texts: list[str]) -> Groups:
        """The groups by one more column."""
        before = [self.labels[i] for i in (step.occur // step.size).tolist()]
        now = [f"{step.name} = {texts[i]}" for i in (step.occur % step.size).tolist()]
        labels = tuple(new if old == "all" else f"{old}, {new}" for old, new in zip(before, now, strict=True))
        return Groups(labels, (*self.steps, step))


def grouped(
    records: Records, names: Iterable[str], levels: Mapping[str, int] | None, most: int = MOST_GROUPS
) -> Groups:
    """All combinations of values that occur; an error if these are too many to look at."""
    groups = Groups()
    for name in names:
        own, texts = labels_of(records[name].categorical, (levels or {}).get(name))
        step = _Step(name, np.append(own, -1), len(texts), np.zeros(0, dtype=np.int64))
        step = replace(step, occur=records.fold(_occurring, np.union1d, groups, step))
        if len(step.occur) > most:
            raise PlanError(
                f"there are {len(step.occur):,} groups by {name!r}, more than {most:,}.",
                hint="Take codes together with levels: {column: depth}, or name fewer columns.",
            )
        groups = groups.then(step, texts)
    return groups


def _occurring(side: Side, groups: Groups, step: _Step) -> Whole:
    keys = np.unique(step.keys(side, groups.numbers(side)))
    return keys[keys >= 0]


def labels_of(column: CategoricalColumn, level: int | None) -> tuple[Whole, list[str]]:
    """The number of the group of each category, and the names of the groups."""
    if not isinstance(column, TaxonomicColumn) or level is None:
        return np.arange(len(column.categories)), [spell(one) for one in column.categories]
    taxonomy = column.attribute.taxonomies[0][0]
    above = cut(taxonomy, column.positions, level)
    concepts = np.unique(above[above >= 0])
    numbers = np.searchsorted(concepts, above).astype(np.int64)
    ids = [taxonomy.ids[one] for one in concepts.tolist()]
    texts = [f"{one} {taxonomy[one].label}".strip() if taxonomy[one].label != one else one for one in ids]
    unknown = np.flatnonzero(above < 0)  # known to another taxonomy only: they stay as they are
    numbers[unknown] = len(texts) + np.arange(len(unknown))
    return numbers, [*texts, *(spell(column.categories[i]) for i in unknown.tolist())]
