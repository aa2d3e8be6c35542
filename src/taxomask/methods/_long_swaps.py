"""Swaps of one attribute in tables of several chunks, when no job can hold a whole column.

Records are put in order by a distributed sort, ties at random. Along a ranking partners are then found chunk by chunk:
each chunk is told which of its places were taken by the chunks before it. At opposite ends (Algorithm 2) it does not
matter which of the records with a value is swapped: it is found in one go how many records of each value get each
other value, and the records of a value get these in random order. Both are what happens to shorter tables, drawn in
another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..microdata import CategoricalColumn, Column, ContinuousColumn, Microdata
from ..records import Extent
from ._column_swaps import distances_from, most_distant, steps_at_ends, swap_at_ends
from ._moments import extent_of
from ._ranks import nth_code, random_order_on
from ._runs import combined_on
from ._swapping import Places, Tally, about_swaps, exchanged, free_set, notes_of, raw, seeded
from .base import Masked, own_generators

__all__ = [
    "cells_on",
    "each_swapped_on",
    "numbered_on",
    "outline_on",
    "ranked_on",
    "swapped_along_on",
    "swapped_at_ends_on",
    "swapped_by_ranking_on",
    "swapped_within_on",
    "told_on",
]

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Keys: TypeAlias = NDArray[np.int32] | Int | Float
Found: TypeAlias = tuple[Column, list[str]]

_RANKING, _SWAPPING, _EXCHANGING = "ranking", "swapping", "exchanging"
_HUGE = 2.0**1021  # from here on the difference of two numbers may not be finite


def each_swapped_on(
    engine: Engine,
    data: Microdata,
    names: Sequence[str],
    swap: Callable[[Engine, Column, np.random.Generator], Found],
    rng: np.random.Generator,
) -> Masked:
    """A table with some attributes swapped one after the other; which pairs there were is not kept."""
    columns, notes = {}, []
    for name, child in zip(names, own_generators(rng, len(names)), strict=True):
        columns[name], some = swap(engine, data.columns[name], child)
        notes += some
    return Masked(data.replace(columns), notes=tuple(notes))


def outline_on(engine: Engine, column: Column) -> Column:
    """What a column is without its rows, but how many records have each category."""
    return column.outline(engine.count(column)) if isinstance(column, CategoricalColumn) else column.part(0, 0)


def ranked_on(engine: Engine, column: Column, ranks: NDArray[Any] | None) -> Keys:
    """What the records of a column are ranked by: the rank of their category, or the number itself."""
    if isinstance(column, ContinuousColumn):
        return column.values
    dense = np.unique(np.arange(len(column.categories)) if ranks is None else ranks, return_inverse=True)[1]
    keys: Keys = engine.each(_by_code, [column], np.append(dense, -1).astype(np.int32), what=_RANKING)
    return keys


def _by_code(column: CategoricalColumn, table: NDArray[np.int32]) -> NDArray[np.int32]:
    return table[column.codes]


# --------------------------------------------------------------------------------------- along one ranking


def swapped_along_on(
    engine: Engine, column: Column, keys: Keys, k: int, rng: np.random.Generator, *, whole: bool = False
) -> Found:
    """Values ranked by their keys, each swapped with one of the next k; see `swap_along`."""
    ties, steps = rng.spawn(2)
    order = random_order_on(engine, keys, ties, _RANKING)
    until = _runs_on(engine, engine.sort(keys, _RANKING))[1] if whole and len(order) else None
    partners, moved, choices = _partners_on(engine, len(order), k, until, seeded(steps))
    return _exchanged_on(engine, column, order, partners, moved, choices, k)


def swapped_by_ranking_on(engine: Engine, column: Column, k: int, whole: bool, rng: np.random.Generator) -> Found:
    """Algorithm 1: values ranked by their distance from the most distant one."""
    if isinstance(column, ContinuousColumn):
        keys = engine.each(_away, [column], *_outer_end(engine, column, rng), what=_RANKING)
        return swapped_along_on(engine, column, keys, k, rng, whole=whole)
    outline = column.outline(engine.count(column))
    if not outline.counts.any():
        return column, notes_of(column.attribute.name, 0, 0, 0, None, k, None)
    values = np.arange(len(outline.categories), dtype=float)
    outermost = int(rng.choice(most_distant(outline, values, outline.counts)))
    keys = ranked_on(engine, column, distances_from(outline, values, outermost))
    return swapped_along_on(engine, column, keys, k, rng, whole=whole)


def _outer_end(engine: Engine, column: ContinuousColumn, rng: np.random.Generator) -> tuple[float, float]:
    """The end of a line of numbers that is farther from them on average, and the unit to measure in."""
    extent = engine.fold(extent_of, Extent.with_, [column], what=_RANKING)
    if not extent.count:
        return 0.0, 1.0
    ends = np.array([extent.smallest, extent.largest])
    unit = 0.25 if np.abs(ends).max() > _HUGE else 1.0
    away = [engine.fold(_mean_away, add, [column], end, unit, extent.count, what=_RANKING) for end in ends]
    tied = np.flatnonzero(np.array(away) >= max(away) * (1 - 1e-12))
    return float(ends[rng.choice(tied)]), unit


def _away(column: ContinuousColumn, end: float, unit: float) -> Float:
    return np.abs(column.values * unit - end * unit)


def _mean_away(column: ContinuousColumn, end: float, unit: float, count: int) -> float:
    return float(np.nansum(_away(column, end, unit) / count))


def _partners_on(
    engine: Engine, m: int, k: int, until: Int | None, state: NDArray[np.uint64]
) -> tuple[Int, int, Tally]:
    """The partner of each of m places, itself if it stays, how many swaps moved something, and their choices."""
    found, moved, choices = [], 0, Tally.of(np.empty(0, dtype=np.int64))
    taken = np.empty((0, 2), dtype=np.int64)
    for start, stop in engine.parts(m):
        end = min(stop + k, m)
        if until is not None and m:  # far enough for k that are free, and to the end of their ties
            reach = stop + k + len(taken) + (stop - start)
            end = int(until[min(reach, m) - 1])
        ties = None if until is None else until[start:end]
        some, taken, state, steps, tally = engine.run(
            _partners, range(start, stop), end, m, k, ties, taken, state, what=_SWAPPING
        )
        found.append(some)
        moved, choices = moved + steps, choices.with_(tally)
    partners: Int = engine.each(_as_it_is, [range(m)], what=_SWAPPING, own=found)
    return partners, moved, choices


def _partners(
    rows: range, end: int, m: int, k: int, until: Int | None, taken: Int, state: NDArray[np.uint64]
) -> tuple[Int, Int, NDArray[np.uint64], int, Tally]:
    """The partners of some places: of those not ``taken`` before, a place and its partner in each row.

    Also which places beyond them are taken then, the state of the random numbers, how many swaps moved something, and
    how many places there were to choose from.
    """
    from ._swap_kernels import swap_along

    start, count, state = rows.start, len(rows), state.copy()
    free = np.ones(end - start, dtype=np.bool_)
    free[taken[:, 0] - start] = False
    ties = np.zeros(1, dtype=np.int64) if until is None else until - start
    pairs, candidates = np.empty((count, 2), dtype=np.int64), np.empty(count, dtype=np.int64)
    left = m - start - len(taken)
    steps = swap_along(end - start, count, left, k, ties, until is not None, free_set(free), state, pairs, candidates)
    pairs, candidates = pairs[:steps] + start, candidates[:steps]
    known = np.concatenate([taken, pairs, pairs[:, ::-1]])
    here = known[:, 0] < rows.stop
    partners = np.empty(count, dtype=np.int64)
    partners[known[here, 0] - start] = known[here, 1]
    moved = int((pairs[:, 0] != pairs[:, 1]).sum())
    return partners, known[~here], state, moved, Tally.of(candidates[candidates > 0])


def _as_it_is(rows: range, own: Int) -> Int:
    return own


def _exchanged_on(
    engine: Engine, column: Column, order: Int, partners: Int, moved: int, choices: Tally | None, k: int | None
) -> Found:
    """A column whose values at places of an order were exchanged, and what to say about it."""
    n = len(column)
    partner = engine.move(engine.move(order, partners, what=_EXCHANGING), order, n=n, fill=-1, what=_EXCHANGING)
    places = engine.each(_or_stay, [partner, range(n)], what=_EXCHANGING)
    after = engine.move(column, places, what=_EXCHANGING)
    return after, told_on(engine, column, after, len(order), moved, choices, k)


def _or_stay(partner: Int, rows: range) -> Int:
    return np.where(partner < 0, np.arange(rows.start, rows.stop), partner)


def told_on(
    engine: Engine, before: Column, after: Column, known: int, moved: int, choices: Tally | None, k: int | None
) -> list[str]:
    """What to say about a swapped column; of numbers it is not counted how often each occurs."""
    changed = engine.fold(_how_many_changed, add, [before, after], what=_EXCHANGING)
    sizes = engine.count(before) if k is not None and isinstance(before, CategoricalColumn) else None
    return notes_of(before.attribute.name, known, moved, changed, choices, k, sizes)


def _how_many_changed(before: Column, after: Column) -> int:
    return int((raw(before) != raw(after))[~before.missing].sum())


# --------------------------------------------------------------------------------------- at opposite ends


def swapped_at_ends_on(engine: Engine, column: Column, k: int, whole: bool, rng: np.random.Generator) -> Found:
    """Algorithm 2. Numbers of which more than a chunk are different are swapped in one job."""
    known = _different_on(engine, column)
    if known is None:
        found: Found = engine.run(_swapped_at_ends, column, k, whole, rng, what=_SWAPPING, main=True)
        return found
    outline, values, sizes = known
    name, m = column.attribute.name, int(sizes.sum())
    if not m:
        return column, notes_of(name, 0, 0, 0, None, k, None)
    steps, ties = rng.spawn(2)
    what, ends, moved, choices = engine.run(
        _received, outline, values, sizes, k, whole, engine.chunk, steps, what=_SWAPPING, main=True
    )
    codes = column.cells
    if isinstance(column, ContinuousColumn):
        codes = engine.each(_number_of, [column], values, what=_EXCHANGING)
    order = random_order_on(engine, codes, ties, _EXCHANGING)
    new = engine.each(nth_code, [range(m)], what, ends, what=_EXCHANGING)
    new = engine.move(new, order, n=len(column), fill=-1, what=_EXCHANGING)
    if isinstance(column, ContinuousColumn):
        new = engine.each(_value_of, [new], np.append(outline.values, np.nan), what=_EXCHANGING)
    after = column.with_cells(new)
    return after, told_on(engine, column, after, m, moved, choices, k)


def _swapped_at_ends(column: Column, k: int, whole: bool, rng: np.random.Generator) -> Found:
    swaps = swap_at_ends(column, k, whole, rng)
    after = exchanged(column, swaps.pairs)
    return after, about_swaps(column, after, swaps, k)


def _different_on(engine: Engine, column: Column) -> tuple[Any, Float, Int] | None:
    """What a column is, with one record of each different number; the different values as numbers on a line, and how
    often each occurs. None if there are more than a chunk of them."""
    if isinstance(column, CategoricalColumn):
        outline = column.outline(engine.count(column))
        return outline, np.arange(len(outline.categories), dtype=float), outline.counts
    tally = engine.fold(_tally, _few_with, [column], engine.chunk, what=_RANKING)
    if tally is None:
        return None
    values: Any = tally.numbers
    unit = 0.25 if np.abs(values).max(initial=0.0) > _HUGE else 1.0
    return column.with_cells(values), values * unit, tally.times


def _tally(column: ContinuousColumn, most: int) -> Tally | None:
    found = Tally.of(column.values[~column.missing] + 0.0)
    return found if len(found.numbers) <= most else None


def _few_with(one: Tally | None, other: Tally | None) -> Tally | None:
    found = None if one is None or other is None else one.with_(other)
    return found if found is None or len(found.numbers) <= Engine.chunk else None


def _received(
    column: Column, values: Float, sizes: Int, k: int, whole: bool, room: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], Int, int, Tally]:
    """The codes that the records of each code get, one code after the other, and where each of them ends.

    Also how many swaps moved something, and how many values there were to choose from.
    """
    places = Places.without_records(sizes)
    count, moved = len(sizes), 0
    got = choices = Tally.of(np.empty(0, dtype=np.int64))
    for some in steps_at_ends(column, values, places, k, whole, rng, room):
        codes = np.searchsorted(places.start, some.pairs, side="right") - 1
        move = some.pairs[:, 0] != some.pairs[:, 1]
        moved += int(move.sum())
        both = np.concatenate([codes, codes[move, ::-1]])
        got = got.with_(Tally.of(both[:, 0] * count + both[:, 1]))
        choices = choices.with_(Tally.of(some.candidates[some.candidates > 0]))
    return (got.numbers % count).astype(np.int32), np.cumsum(got.times), moved, choices


def _number_of(column: ContinuousColumn, values: Float) -> NDArray[np.int32]:
    return np.where(column.missing, -1, np.searchsorted(values, column.values)).astype(np.int32)


def _value_of(codes: NDArray[np.int32], values: Float) -> Float:
    return values[codes]


# --------------------------------------------------------------------------------------- at random


def swapped_within_on(engine: Engine, column: Column, cells: Int, rng: np.random.Generator) -> Found:
    """Every value swapped with one drawn at random among the records of the same cell, one of an odd number stays."""
    keys = engine.each(_known, [column, cells], what=_RANKING)
    order = random_order_on(engine, keys, rng, _RANKING)
    first, until = _runs_on(engine, engine.sort(keys, _RANKING)) if len(order) else (order, order)
    partners, moved = engine.each(_neighbours, [range(len(order)), first, until], what=_SWAPPING)
    return _exchanged_on(engine, column, order, partners, sum(moved) // 2, None, None)


def cells_on(engine: Engine, columns: Sequence[Column], n: int) -> Int:
    """A number for each record, equal where the values of all columns are; all the same without columns."""
    codes = (numbered_on(engine, one) for one in columns)
    return combined_on(engine, codes, n)


def numbered_on(engine: Engine, column: Column) -> NDArray[np.int32] | Int:
    """The number of each record's value, equal for equal ones; -1: no value."""
    if not isinstance(column, ContinuousColumn):
        return column.cells
    ranks = engine.each(_from_zero, [engine.rank(column.values, _RANKING)], len(column), what=_RANKING)
    numbers: Int = engine.each(_known, [column, ranks], what=_RANKING)
    return numbers


def _from_zero(ranks: Float, n: int) -> Int:
    return ranks.astype(np.int64) + (n - 1)


def _one_cell(rows: range) -> NDArray[np.int32]:
    return np.zeros(len(rows), dtype=np.int32)


def _known(column: Column, cells: Int) -> Int:
    return np.where(column.missing, -1, cells)


def _neighbours(rows: range, first: Int, until: Int) -> tuple[Int, int]:
    """Of each run the first and the second place, the third and the fourth, and so on; how many places have one."""
    places = np.arange(rows.start, rows.stop)
    partners = first + ((places - first) ^ 1)
    partners = np.where(partners < until, partners, places)
    return partners, int((partners != places).sum())


# --------------------------------------------------------------------------------------- runs of equal keys


def _runs_on(engine: Engine, keys: Keys) -> tuple[Int, Int]:
    """For each of some sorted keys, where those equal to it begin, and where they end."""
    found, parts = engine.map(_ends, engine.cut([keys]), _RANKING), engine.parts(len(keys))
    begins, stops = [start for start, _ in parts], [stop for _, stop in parts]
    for place in range(1, len(parts)):
        if found[place][0] == found[place - 1][1]:
            one_run = found[place - 1][0] == found[place - 1][1]
            begins[place] = begins[place - 1] if one_run else parts[place - 1][1] - found[place - 1][3]
    for place in range(len(parts) - 2, -1, -1):
        if found[place][1] == found[place + 1][0]:
            one_run = found[place + 1][0] == found[place + 1][1]
            stops[place] = stops[place + 1] if one_run else parts[place + 1][0] + found[place + 1][2]
    ends = list(zip(begins, stops, strict=True))
    begin, stop = engine.each(_runs, [keys, range(len(keys))], what=_RANKING, own=ends)
    return begin, stop


def _ends(keys: Keys) -> tuple[Any, Any, int, int]:
    """The first and the last of some sorted keys, and how many are equal to each."""
    return keys[0], keys[-1], int((keys == keys[0]).sum()), int((keys == keys[-1]).sum())


def _runs(keys: Keys, rows: range, ends: tuple[int, int]) -> tuple[Int, Int]:
    edges = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]])
    begins, stops = rows.start + edges[:-1], rows.start + edges[1:]
    begins[0], stops[-1] = ends
    return np.repeat(begins, np.diff(edges)), np.repeat(stops, np.diff(edges))
