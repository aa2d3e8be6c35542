from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

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
from .._by_person import different_on, row_shares_on
from ..diversity import alike_by_chance, alike_of_sizes, emptied, value_counts_on
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
    """Of some classes: what the records in classes of several with one value count, their own; how many are alone; what
    the records with their own value count; and how many classes have each size. Sizes count everybody once."""

    disclosed: float
    alone: int
    own: float
    sizes: Whole
    counts: Whole

    def with_(self, other: _Counted) -> _Counted:
        sizes, place = np.unique(np.concatenate([self.sizes, other.sizes]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([self.counts, other.counts])).astype(np.int64)
        return _Counted(self.disclosed + other.disclosed, self.alone + other.alone, self.own + other.own, sizes, counts)


def _homogeneity_on(engine: Engine, tables: Tables) -> Attack:
    """The same class by class."""
    names, people = chosen(*tables.both, None), tables.original.people
    classes = ByClass.of(engine, keys_on(engine, (tables.released.columns[name] for name in names)))
    owners, everybody = [], tables.n
    if people is not None:
        owners = [classes.brought(one) for one in (people, row_shares_on(engine, people))]
        everybody = different_on(engine, people)
    each = [_disclosed_on(engine, tables.columns[name], classes, owners, everybody) for name in tables.confidential]
    return most_telling(each)


def _disclosed_on(
    engine: Engine, both: tuple[Column, Column], classes: ByClass, owners: list[Any], everybody: int
) -> Attack:
    before, after = (classes.brought(one) for one in both)
    once, parts = classes.each(_in_classes, [before, after, *owners], what="looking at classes")
    found = reduce(_Counted.with_, parts)
    kept = int(found.sizes @ found.counts)
    counted = engine.each(emptied, [after, once], what="looking at classes") if owners else both[1]
    values, times = value_counts_on(engine, counted, kept)
    often = values >= int(found.sizes[0])
    alike = alike_of_sizes(kept, np.repeat(values[often], times[often]), found.sizes, found.counts)
    guess = max(alike - found.alone / kept, 0.0) * found.own / everybody
    how = f"{both[0].attribute.name}, known of everybody in a class whose records all have the same."
    return Attack(Rate.of(found.disclosed, everybody, guess), how, len(before))


def _in_classes(
    keys: Whole, before: Column, after: Column, people: Whole | None = None, shares: Any = None
) -> tuple[NDArray[np.bool_], _Counted]:
    """Which records count, everybody once with each value of a class, and what the classes tell."""
    before, after = by_meaning(before), by_meaning(after)
    first = np.concatenate([[True], keys[1:] != keys[:-1]])
    classes = np.cumsum(first) - 1
    values, once = after.numbered()[0], np.ones(len(keys), dtype=bool)
    at = values[np.flatnonzero(first)][classes]
    if people is not None:
        once = np.zeros(len(keys), dtype=bool)
        once[numbered([classes, values + 1, people], len(keys))[1]] = True
    sizes = np.bincount(classes[once])
    other = np.bincount(classes, weights=values != at) > 0
    single = ~other & (sizes > 1)
    own = before.same(after) & ~before.missing
    counts = np.ones(len(keys)) if shares is None else shares
    counted = np.unique(sizes, return_counts=True)
    disclosed = float(counts @ (single[classes] & own))
    return once, _Counted(disclosed, int((sizes == 1).sum()), float(counts @ own), *counted)


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
