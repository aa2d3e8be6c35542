"""The informed attacker in long tables: records are looked for in groups of all original ones.

A group has every G-th record, so that what a method goes by, such as a standard deviation or how many records have a
category, is in each group about what it is in the table. The likeliest records of all groups are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....engines import Engine
from ....methods import Method
from ....methods._parts import picked_on
from ....methods.likelihood import CodeEvidence, Evidence, NumberEvidence, unchanged
from ....microdata import Column, Microdata
from ....microdata.people import NOBODY
from ...measure import Tables
from ...side_by_side import same_values_on
from ..sampling import generator, targets_on
from .attacker import Attack, Whose, found_with
from .linking import Likeliest, likeliest_of
from .repetitions import Repeated, of_columns, repeated_on, repetitions

__all__ = ["informed_on"]

Whole = NDArray[np.int64]
_WHAT = "linking, knowing the method"


@dataclass(frozen=True, eq=False)
class _Known:
    """What the intruder goes by: the tables without their records, columns that are as they were, and those that the
    method protects; its formula, if it has one, or what its repetitions taught."""

    original: Microdata
    released: Microdata
    names: tuple[str, ...]
    kept: tuple[str, ...]
    protected: tuple[str, ...]
    formula: Method | None
    repeated: Repeated | None

    def evidence(self, here: Mapping[str, Column], there: Mapping[str, Column]) -> list[Evidence]:
        found: list[Evidence] = [unchanged(here[name], there[name]) for name in self.kept]
        if self.repeated is not None:
            return [*found, *(self.repeated.learnt(here[name], there[name]) for name in self.protected)]
        assert self.formula is not None
        parts = self.formula.likelihood(_table(self.original, here), _table(self.released, there))
        assert parts is not None
        return [*found, *parts]


def informed_on(engine: Engine, tables: Tables, names: tuple[str, ...]) -> Attack:
    """Each of a random sample of the released records among all original ones."""
    rng, rows, n = generator(tables), targets_on(engine, tables, tables.n), tables.n
    known, how = _known(engine, tables, names, rows, rng)
    both = [[tables.columns[name][when] for name in names] for when in (0, 1)]
    groups = -(-n // engine.chunk)
    sizes = [len(range(group, n, groups)) for group in range(groups)]
    edges = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    places = engine.each(_places, [range(n)], groups, edges, what=_WHAT)
    data, whose = tables.original, Whose.on(engine, tables, rows)
    units = data.units if data.people is None else data.people
    every = engine.each(_rows, [range(n)], what=_WHAT) if units is None else units
    moved = [engine.move(one, places, what=_WHAT) for one in (*both[0], *both[1], every)]
    looked_for = [column for some in both for column in picked_on(engine, some, rows, _WHAT)]
    own = rng.spawn(groups)
    items = engine.cut(moved, looked_for, known, rows if whose is None else whose.units, edges=edges)
    found = engine.map(_in_group, [(*item, one) for item, one in zip(items, own, strict=True)], _WHAT, main=True)
    return found_with(tables, rows, _chances(found), f"{how} Each record with the likeliest.", whose)


def _known(
    engine: Engine, tables: Tables, names: tuple[str, ...], rows: Whole, rng: np.random.Generator
) -> tuple[_Known, str]:
    method, original = tables.method, tables.original
    assert method is not None
    protected = tuple(name for name in names if name in method.protects(original))
    others = [name for name in names if name not in protected]
    kept = tuple(name for name in others if same_values_on(engine, *tables.columns[name]))
    some = repeated_on(tables)
    formula = of_columns(method, original, names)
    if formula is not None:
        few = [picked_on(engine, [tables.columns[name][when] for name in names], rows, _WHAT) for when in (0, 1)]
        here, there = (dict(zip(names, columns, strict=True)) for columns in few)
        if formula.likelihood(_table(original, here), _table(tables.released, there)) is None:
            formula = None
    repeated = None
    if formula is None:
        numbers, *columns = picked_on(engine, [original.rows, *original.columns.values()], some, _WHAT)
        seen = original.with_rows(some, dict(zip(original.columns, columns, strict=True)), numbers)
        both = [picked_on(engine, [tables.columns[name][when] for name in protected], some, _WHAT) for when in (0, 1)]
        pairs = dict(zip(protected, zip(*both, strict=True), strict=True))
        repeated = engine.run(repetitions, method, seen, pairs, rng.spawn(1)[0], what=_WHAT)
    how = "By the formula of the method." if repeated is None else repeated.how
    before, after = (_table(data, {}) for data in tables.both)
    return _Known(before, after, names, kept, protected, formula, repeated), how


def _table(data: Microdata, columns: Mapping[str, Column]) -> Microdata:
    """Some columns as a table of their own."""
    n = len(next(iter(columns.values()))) if columns else 0
    return replace(data, columns=columns, rows=np.arange(n), _owners=NOBODY)


def _rows(rows: range) -> Whole:
    return np.arange(rows.start, rows.stop)


def _places(rows: range, groups: int, edges: list[int]) -> Whole:
    """Where each record goes that is to be in the group of every so manieth."""
    every = np.arange(rows.start, rows.stop)
    return np.array(edges)[every % groups] + every // groups


def _in_group(*columns_and_known: Any) -> Likeliest:
    """The likeliest records of a group, the records that are looked for being added to it to be told about."""
    *columns, units, looked_for, known, whose, rng = columns_and_known
    size = len(units)
    pairs = zip(columns, looked_for, strict=True)
    both = [one.with_cells(np.concatenate([one.cells, more.cells])) for one, more in pairs]
    count = len(known.names)
    here, there = (dict(zip(known.names, some, strict=True)) for some in (both[:count], both[count:]))
    evidence = [_cut(one, size) for one in known.evidence(here, there)]
    return likeliest_of(evidence, whose, np.asarray(units), rng)


def _cut(one: Evidence, size: int) -> Evidence:
    """The released records that are looked for, which stand last, and the original ones of the group."""
    if isinstance(one, CodeEvidence):
        return replace(one, released=one.released[size:], original=one.original[:size])
    return NumberEvidence(
        one.released[size:],
        one.original[:size],
        one.released_precision[size:],
        one.original_precision[:size],
        None if one.offset is None else one.offset[:size],
    )


def _chances(found: list[Likeliest]) -> NDArray[np.float64]:
    """The share of the likeliest of all groups that are its own, for each record."""
    best = np.maximum.reduce([one.best for one in found])
    near = [one.best >= best - 1e-9 for one in found]
    ties, mine = (
        np.sum([np.where(here, getattr(one, what), 0) for one, here in zip(found, near, strict=True)], axis=0)
        for what in ("ties", "mine")
    )
    return np.asarray(mine / np.maximum(ties, 1))
