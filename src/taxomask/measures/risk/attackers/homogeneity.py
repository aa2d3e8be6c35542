from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Progress
from ....microdata import Column, Role
from ....microdata.combinations import numbered
from ....microdata.meanings import by_meaning
from ....microdata.people import row_shares
from ...measure import Tables
from .._by_class import ByClass, keys_on
from ..diversity import alike_by_chance, alike_of_sizes, value_counts_on
from ..guesses import confidential_codes
from ..inputs import chosen, class_numbers
from ..rates import Rate
from .attacker import Attack, Attacker, most_telling

__all__ = ["HOMOGENEITY"]

Whole = NDArray[np.int64]


def _homogeneity(tables: Tables, _: Progress | None) -> Attack:
    names = chosen(*tables.both, None)
    classes = class_numbers(tables.released.columns[name] for name in names)
    each = [_disclosed(tables, classes, name) for name in tables.confidential]
    return most_telling(each)


def _disclosed(tables: Tables, classes: np.ndarray, name: str) -> Attack:
    """The records whose class of several has one value only, which is their own; the guess: classes dealt at random.

    A record that is alone in its class is no matter of homogeneity: who finds it knows its value. Nor is a class of one
    person; where the schema names people, each of somebody's n records counts 1/n.
    """
    (before, after), _ = confidential_codes([data.columns[name] for data in tables.both], None, 5.0)
    people, values = tables.original.people, after + 1
    counts = np.ones(len(classes)) if people is None else row_shares(people)
    kept = slice(None) if people is None else numbered([classes, values, people], len(classes))[1]
    sizes, known = np.bincount(classes[kept]), np.bincount(values[kept])  # everybody once with each value
    pairs = np.unique(classes * (values.max() + 1) + values)
    single = (np.bincount(pairs // (values.max() + 1), minlength=len(sizes)) == 1) & (sizes > 1)
    own = (before == after) & (before >= 0)
    alone = float((sizes == 1).sum()) / int(sizes.sum())  # which are alike for sure
    everybody = round(counts.sum())
    guess = max(alike_by_chance(known, sizes) - alone, 0.0) * float(counts @ own) / everybody
    how = f"{name}, known of everybody in a class whose records all have the same."
    chances = (single[classes] & own).astype(float)
    return Attack(Rate.of(float(counts @ chances), everybody, guess), how, len(chances), chances)


# --------------------------------------------------------------------------------------- of long tables


@dataclass(frozen=True)
class _Counted:
    """Of some classes: records of classes of several with one value, their own; records alone; records with their own
    value; and how many classes have each size."""

    disclosed: int
    alone: int
    own: int
    sizes: Whole
    counts: Whole

    def with_(self, other: _Counted) -> _Counted:
        sizes, place = np.unique(np.concatenate([self.sizes, other.sizes]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([self.counts, other.counts])).astype(np.int64)
        return _Counted(self.disclosed + other.disclosed, self.alone + other.alone, self.own + other.own, sizes, counts)


def _homogeneity_on(engine: Engine, tables: Tables) -> Attack:
    """The same class by class; where people count, in one job."""
    if tables.original.people is not None:
        found: Attack = engine.run(_homogeneity, tables, None, what="looking at classes")
        return found
    names = chosen(*tables.both, None)
    classes = ByClass.of(engine, keys_on(engine, (tables.released.columns[name] for name in names)))
    each = [_disclosed_on(engine, tables, classes, name) for name in tables.confidential]
    return most_telling(each)


def _disclosed_on(engine: Engine, tables: Tables, classes: ByClass, name: str) -> Attack:
    n, both = tables.n, tables.columns[name]
    parts = classes.map(_in_classes, [classes.brought(one) for one in both], what="looking at classes")
    found = reduce(_Counted.with_, parts)
    values, times = value_counts_on(engine, both[1])
    often = values >= int(found.sizes[0])
    alike = alike_of_sizes(n, np.repeat(values[often], times[often]), found.sizes, found.counts)
    guess = max(alike - found.alone / n, 0.0) * found.own / n
    how = f"{name}, known of everybody in a class whose records all have the same."
    return Attack(Rate.of(found.disclosed, n, guess), how, n)


def _in_classes(keys: Whole, before: Column, after: Column) -> _Counted:
    before, after = by_meaning(before), by_meaning(after)
    first = np.concatenate([[True], keys[1:] != keys[:-1]])
    classes = np.cumsum(first) - 1
    values = after.numbered()[0]
    at = values[np.flatnonzero(first)][classes]
    sizes = np.bincount(classes)
    other = np.bincount(classes, weights=values != at) > 0
    single = ~other & (sizes > 1)
    own = before.same(after) & ~before.missing
    counted = np.unique(sizes, return_counts=True)
    return _Counted(int((single[classes] & own).sum()), int((sizes == 1).sum()), int(own.sum()), *counted)


HOMOGENEITY = Attacker(
    "homogeneity",
    title="classes with one confidential value",
    about="The share of records in classes of several whose released confidential values are all the same, and theirs.",
    knows="To which class of records that look alike everybody belongs.",
    after="confidential",
    compute=_homogeneity,
    on_engine=_homogeneity_on,
    seconds=lambda tables: 3e-7 * tables.n * len(tables.confidential),
    columns=Role.CONFIDENTIAL,
    needs_links=True,
    applies=lambda tables: bool(tables.confidential),
)
