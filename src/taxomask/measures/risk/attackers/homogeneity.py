from __future__ import annotations

import numpy as np

from ....methods import Progress
from ....microdata import Role
from ....microdata.combinations import numbered
from ....microdata.people import row_shares
from ...measure import Tables
from ..diversity import alike_by_chance
from ..guesses import confidential_codes
from ..inputs import chosen, class_numbers
from ..rates import Rate
from .attacker import Attack, Attacker

__all__ = ["HOMOGENEITY"]


def _homogeneity(tables: Tables, _: Progress | None) -> Attack:
    names = chosen(*tables.both, None)
    classes = class_numbers(tables.released.columns[name] for name in names)
    each = [_disclosed(tables, classes, name) for name in tables.confidential]
    return max(each, key=lambda one: one.share.excess)


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


HOMOGENEITY = Attacker(
    "homogeneity",
    title="classes with one confidential value",
    about="The share of records in classes of several whose released confidential values are all the same, and theirs.",
    knows="To which class of records that look alike everybody belongs.",
    after="confidential",
    compute=_homogeneity,
    seconds=lambda tables: 3e-7 * tables.n * len(tables.confidential),
    columns=Role.CONFIDENTIAL,
    needs_links=True,
    applies=lambda tables: bool(tables.confidential),
)
