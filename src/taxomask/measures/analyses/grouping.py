"""Records by the values of some columns, codes taken together at a level of their taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._support.spelling import spell
from ...errors import PlanError
from ...methods._ancestors import cut
from ...microdata import CategoricalColumn, TaxonomicColumn
from .side import Side

__all__ = ["MOST_GROUPS", "Groups", "grouped", "labels_of"]

MOST_GROUPS = 500

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The number of each record's group, -1 where a value is missing, and what each group is called."""

    numbers: Whole
    labels: tuple[str, ...]

    @property
    def known(self) -> NDArray[np.bool_]:
        return self.numbers >= 0


def grouped(side: Side, names: Iterable[str], levels: Mapping[str, int] | None, most: int = MOST_GROUPS) -> Groups:
    """The records by all combinations of values that occur; an error if these are too many to look at."""
    numbers = np.zeros(side.n, dtype=np.int64)
    labels: tuple[str, ...] = ("all",)
    for name in names:
        column = side[name].categorical
        own, texts = labels_of(column, (levels or {}).get(name))
        codes = np.append(own, -1)[column.codes]
        both = np.where((numbers < 0) | (codes < 0), -1, numbers * len(texts) + codes)
        occur, places = np.unique(both, return_inverse=True)
        shift = int(len(occur) > 0 and occur[0] < 0)
        numbers = places.reshape(-1) - shift
        occur = occur[shift:]
        if len(occur) > most:
            raise PlanError(
                f"there are {len(occur):,} groups by {name!r}, more than {most:,}.",
                hint="Take codes together with levels: {column: depth}, or name fewer columns.",
            )
        before = [labels[i] for i in (occur // len(texts)).tolist()]
        now = [f"{name} = {texts[i]}" for i in (occur % len(texts)).tolist()]
        labels = tuple(new if old == "all" else f"{old}, {new}" for old, new in zip(before, now, strict=True))
    return Groups(numbers, labels)


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
