"""Informed attackers: what is found by someone who knows how the table was masked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.parameters import check_integer
from ...engines import Engine
from ...errors import DataError
from ...methods._parts import picked_on
from ...microdata import CategoricalColumn, Column, Kind, Microdata, TaxonomicColumn
from ...microdata.alike import places_of_both
from ...partition.nearest import Neighbours
from ...records import CodeTerm, EqualityTerm, NumberTerm, RecordDistance, TableTerm
from ..measure import Tables
from ..plain import Result
from ..side_by_side import side_by_side
from .guesses import Runs, Tally
from .inputs import check_linked, chosen, in_one_numbering
from .rates import Rate

__all__ = [
    "RankSwappingAttack", "ReverseMappingAttack", "candidates_on", "rank_swapping_attack", "reverse_mapping_attack",
]  # fmt: skip

Whole = NDArray[np.int64]
Float = NDArray[np.float64]
_WHAT = "intersecting intervals"


@dataclass(frozen=True, eq=False)
class ReverseMappingAttack(Result):
    """The original values that an intruder recovers from a reverse-mapped column.

    ``recovered`` is the guess for every record. ``certain``: the share of records with one candidate value only, which
    is right; ``expected``: the share that is right if one of the candidates is drawn. The baseline is a value drawn
    from the whole column.
    """

    recovered: Column
    certain: Rate
    expected: Rate


def reverse_mapping_attack(
    original: Microdata,
    released: Microdata,
    masked: Column,
    attribute: str,
    mechanism: Callable[[Column], Column],
) -> ReverseMappingAttack:
    """Recover X from the released Z, the masked Y and a deterministic mechanism f with Y = f(X).

    Z has the values of X in another order, hence f(Z) has those of Y; what puts f(Z) into the order of Y puts Z into
    the order of X, up to values that f makes equal.

    Parameters
    ----------
    original, released
        The tables; the original serves for counting what is right.
    masked
        Y: what the mechanism made of the attribute before it was mapped back.
    attribute
        The attribute that was reverse-mapped.
    mechanism
        f: from a column to the masked column.

    References
    ----------
    Muralidhar, Sarathy, Domingo-Ferrer (2014), Reverse mapping to preserve the marginal distributions of attributes in
    masked microdata, section 2.
    """
    chosen(original, released, [attribute])
    check_linked(original, released, "the reverse mapping attack")
    if len(masked) != original.n:
        raise DataError(f"there are {len(masked):,} masked values for {original.n:,} records.", hint="Give all of Y.")
    x, z = _numbers(original.columns[attribute], released.columns[attribute])
    again, y = _numbers(mechanism(released.columns[attribute]), masked)
    order = np.lexsort((z, again))  # the places of Z by f(Z)
    place = np.empty(len(y), dtype=np.int64)
    place[np.argsort(y, kind="stable")] = np.arange(len(y))
    tied = np.unique(y, return_inverse=True)[1].astype(np.int64, copy=False)
    candidates = np.empty(len(y), dtype=np.int64)  # of the block of equal y at each place
    candidates[place] = tied
    tally, size = Tally(candidates, z[order]), np.bincount(tied)
    exact = Runs.single(np.arange(max(x.max(), z.max()) + 1), np.arange(max(x.max(), z.max()) + 1))
    right = tally.count(tied, x, exact)
    whole = Tally(np.zeros(len(z), dtype=np.int64), z).count(np.zeros(len(x), dtype=np.int64), x, exact)
    chance, n = float(whole.mean()) / len(z), len(x)
    return ReverseMappingAttack(
        released.columns[attribute].take(order[place]),
        Rate.of(int((right == size[tied]).sum()), n, chance),
        Rate.of(float((right / size[tied]).sum()), n, chance),
    )


def _numbers(first: Column, second: Column) -> tuple[Whole, Whole]:
    """Two versions of a column as places in their common order, missing ones last."""
    return places_of_both(*in_one_numbering(first, second))


@dataclass(frozen=True, eq=False)
class RankSwappingAttack(Result):
    """How far a known record is narrowed down by knowing that no value was swapped farther than k ranks.

    ``candidates`` has for each original record how many released records are possible, and ``own`` whether its own one
    is. ``unique``: the share of records with one candidate only, which is the right one: full disclosure; ``expected``:
    the share that is right if one of the candidates is drawn. ``possible``: the share whose own released record is a
    candidate, 1 if k is what was used.
    """

    candidates: Whole
    own: NDArray[np.bool_]
    possible: Rate
    unique: Rate
    expected: Rate


def rank_swapping_attack(
    original: Microdata,
    released: Microdata,
    k: int,
    attributes: Iterable[str] | None = None,
    *,
    rows: Whole | None = None,
) -> RankSwappingAttack:
    """Intersect, over the attributes, the released records whose value is within k ranks of a known one.

    Continuous and ordinal values: within k ranks of the known value in the original column; of equal values the
    outermost ranks count. Taxonomic and nominal values: categories that are among those nearest to the known one that
    hold k other records, those at equal distance included, or the other way round. A missing value matches a missing
    one only.

    Parameters
    ----------
    original, released
        The tables.
    k
        How many ranks a value can have moved.
    attributes
        The swapped attributes that the intruder knows; by default all quasi-identifiers.
    rows
        The original records that are looked for; by default all.

    References
    ----------
    Nin, Herranz, Torra (2008), Rethinking rank swapping to decrease disclosure risk, Data & Knowledge Engineering 64.
    """
    check_integer("k", k, at_least=1)
    names = chosen(original, released, attributes)
    check_linked(original, released, "the rank swapping attack")
    n = original.n
    some = np.arange(n) if rows is None else rows
    sights = [sight for pair in side_by_side(original, released, names).values() for sight in _sights(*pair, k)]
    candidates = _count_inside(sights, some)
    possible = np.logical_and.reduce([sight.possible for sight in sights])[some]
    single, count = candidates == 1, len(some)
    return RankSwappingAttack(
        candidates,
        possible,
        Rate.of(int(possible.sum()), count, float(candidates.mean()) / n),
        Rate.of(int((possible & single).sum()), count, float(single.mean()) / n),
        Rate.of(float((possible / np.maximum(candidates, 1)).sum()), count, 1 / n),
    )


# --------------------------------------------------------------------------------------- of long tables


@dataclass(frozen=True, eq=False)
class _Sight:
    """What a column tells of records that are looked for: how released values are placed, and what may be theirs."""

    place: Callable[[Column], NumberTerm | CodeTerm]
    low: Float
    high: Float
    known: NDArray[np.int32]


def candidates_on(
    engine: Engine, tables: Tables, k: int, names: tuple[str, ...], rows: Whole
) -> tuple[Whole, NDArray[np.bool_]]:
    """As `rank_swapping_attack` of long tables: how many released records are possible for each of some original ones,
    and whether its own is."""
    columns = [tables.columns[name] for name in names]
    own = picked_on(engine, [z for _, z in columns], rows, _WHAT)
    places, sights = list[int](), list[_Sight]()
    for number, pair in enumerate(columns):
        some = _sights_on(engine, *pair, k, rows)
        places, sights = places + [number] * len(some), sights + some
    items = engine.cut([z for _, z in columns], places, sights)
    candidates = sum(engine.map(_inside, items, _WHAT, main=True))
    return candidates, np.logical_and.reduce(
        [_seen(sight, own[place]).possible for place, sight in zip(places, sights, strict=True)]
    )


def _sights_on(engine: Engine, x: Column, z: Column, k: int, rows: Whole) -> list[_Sight]:
    """As `_sights`."""
    name, found, none = x.attribute.name, list[_Sight](), np.zeros(0)
    (here,) = picked_on(engine, [x], rows, _WHAT)
    if engine.fold(_any_missing, or_, [x, z], what=_WHAT):
        gone = here.missing.astype(float)
        found.append(_Sight(partial(_gone, name), gone, gone, none.astype(np.int32)))
    if isinstance(x, CategoricalColumn) and isinstance(z, CategoricalColumn) and x.attribute.kind != Kind.ORDINAL:
        column = x.outline(engine.count(x))
        term, known = _coded(column, k, here)
        return [*found, _Sight(term, none, none, known)]
    ranked = engine.sort(engine.each(_as_numbers, [x], what=_WHAT), _WHAT)
    low, high = engine.run(_reached, ranked, here.numbers(), k, what=_WHAT)
    width = float((high - low)[np.isfinite(high - low)].mean()) if np.isfinite(high - low).any() else 1.0
    scale = 2.0 ** -round(math.log2(width)) if width > 0 else 1.0  # a power of 2 keeps equal what is equal
    return [*found, _Sight(partial(_scaled, name, scale), low * scale, high * scale, none.astype(np.int32))]


def _coded(column: CategoricalColumn, k: int, here: Column) -> tuple[Callable[[Column], CodeTerm], NDArray[np.int32]]:
    """How released categories are placed, and the places of the known ones."""
    assert isinstance(here, CategoricalColumn)
    name = column.attribute.name
    if isinstance(column, TaxonomicColumn):
        apart = _apart(column, k)
        return partial(_in_table, name, apart), _in_table(name, apart, here).coordinates
    large = column.counts > k  # a smaller category can have been swapped with any other
    number = np.append(np.where(large, np.arange(1, len(large) + 1), 0), 0).astype(np.int32)
    return partial(_numbered, name, number), number[here.codes]


def _inside(*columns_and_sights: Any) -> Whole:
    """How many records of a chunk are possible for each that is looked for."""
    *columns, places, sights = columns_and_sights
    seen = [_seen(sight, columns[place]) for place, sight in zip(places, sights, strict=True)]
    return _count_inside(seen, np.arange(len(seen[0].low if isinstance(seen[0], _Window) else seen[0].known)))


def _seen(sight: _Sight, z: Column) -> _Window | _Code:
    term = sight.place(z)
    return _Window(term, sight.low, sight.high) if isinstance(term, NumberTerm) else _Code(term, sight.known)


def _any_missing(x: Column, z: Column) -> bool:
    return bool(x.missing.any() or z.missing.any())


def _as_numbers(column: Column) -> Float:
    return column.numbers()


def _reached(ranked: Float, known: Float, k: int) -> tuple[Float, Float]:
    """The numbers k ranks below and above known ones; whatever is missing may be anything."""
    if not len(ranked):
        return np.full(len(known), -np.inf), np.full(len(known), np.inf)
    last = len(ranked) - 1
    low = ranked[np.clip(np.searchsorted(ranked, known, "left") - k, 0, last)]
    high = ranked[np.clip(np.searchsorted(ranked, known, "right") - 1 + k, 0, last)]
    gone = np.isnan(known)
    return np.where(gone, -np.inf, low), np.where(gone, np.inf, high)


def _gone(name: str, z: Column) -> NumberTerm:
    return NumberTerm(name, z.missing.astype(float), 0.0, 1.0)


def _scaled(name: str, scale: float, z: Column) -> NumberTerm:
    return NumberTerm(name, np.nan_to_num(z.numbers() * scale), 0.0, 1.0)


def _in_table(name: str, apart: Float, z: CategoricalColumn) -> TableTerm:
    return TableTerm(name, np.where(z.missing, len(apart) - 1, z.codes).astype(np.int32), apart)


def _numbered(name: str, number: NDArray[np.int32], z: CategoricalColumn) -> EqualityTerm:
    return EqualityTerm(name, number[z.codes], 1.0, len(number))


# --------------------------------------------------------------------------------------- what a column tells


@dataclass(frozen=True, eq=False)
class _Window:
    """Released values as places in an order, and the places that are possible for each known value."""

    term: NumberTerm
    low: Float
    high: Float

    @property
    def possible(self) -> NDArray[np.bool_]:
        return (self.low <= self.term.coordinates) & (self.term.coordinates <= self.high)


def _count_inside(sights: Sequence[_Window | _Code], some: Whole) -> Whole:
    """How many released records are possible for each of some known ones."""
    ranged = [sight for sight in sights if isinstance(sight, _Window)]
    coded = [sight for sight in sights if isinstance(sight, _Code)]
    boxes = Neighbours(RecordDistance.from_terms(sight.term for sight in sights))
    return boxes.count_inside(
        np.stack([one.low[some] for one in ranged], axis=1) if ranged else np.zeros((len(some), 0)),
        np.stack([one.high[some] for one in ranged], axis=1) if ranged else np.zeros((len(some), 0)),
        np.stack([one.known[some] for one in coded], axis=1) if coded else np.zeros((len(some), 0), dtype=np.int32),
    )


@dataclass(frozen=True, eq=False)
class _Code:
    """Released categories and the known ones: possible where the term is 0, or without a table if equal or either 0."""

    term: CodeTerm
    known: NDArray[np.int32]

    @property
    def possible(self) -> NDArray[np.bool_]:
        there = self.term.coordinates
        if isinstance(self.term, TableTerm):
            return np.asarray(self.term.table[self.known, there] == 0)
        return (self.known == there) | (self.known == 0) | (there == 0)


def _sights(x: Column, z: Column, k: int) -> list[_Window | _Code]:
    """What an attribute tells; where some values are missing, that they are is told by itself."""
    name = x.attribute.name
    found: list[_Window | _Code] = []
    if x.missing.any() or z.missing.any():
        known, there = x.missing.astype(float), z.missing.astype(float)
        found.append(_Window(NumberTerm(name, there, 0.0, 1.0), known, known))
    if x.attribute.kind == Kind.ORDINAL or not (isinstance(x, CategoricalColumn) and isinstance(z, CategoricalColumn)):
        return [*found, _window(x, z, k)]
    term, places = _coded(x, k, x)
    return [*found, _Code(term(z), places)]


def _window(x: Column, z: Column, k: int) -> _Window:
    known, there = _numbers(x, z)
    ranked = np.sort(known[~x.missing])
    if not len(ranked):
        ranked = known
    last = len(ranked) - 1
    low = ranked[np.clip(np.searchsorted(ranked, known, "left") - k, 0, last)]
    high = ranked[np.clip(np.searchsorted(ranked, known, "right") - 1 + k, 0, last)]
    low, high = np.where(x.missing, 0, low), np.where(x.missing, known.max(initial=0) + there.max(initial=0), high)
    scale = 1 / float((high - low + 1).mean())  # windows of about 1 in all attributes make a good tree
    term = NumberTerm(x.attribute.name, np.asarray(there * scale), 0.0, 1.0)
    return _Window(term, np.asarray(low * scale), np.asarray(high * scale))


def _apart(column: TaxonomicColumn, k: int) -> Float:
    """0 where a category may have been swapped with another, else 1; the last row and column are for missing values."""
    size = len(column.categories)
    apart = np.ones((size + 1, size + 1))
    apart[-1] = apart[:, -1] = 0.0
    for category in range(size):
        inside = np.flatnonzero(column.table[category] <= _radius(column.table[category], column.counts, k + 1))
        apart[category, inside] = apart[inside, category] = 0.0
    return apart


def _radius(distances: Float, counts: Whole, least: int) -> float:
    """The smallest distance within which there are at least so many records; infinite if there are not that many."""
    used = np.flatnonzero(counts)
    order = used[np.argsort(distances[used], kind="stable")]
    enough = np.searchsorted(np.cumsum(counts[order]), least)
    return float(distances[order[enough]]) if enough < len(order) else np.inf
