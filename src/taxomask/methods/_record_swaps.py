"""Semantic rank swapping of records: values are swapped between similar records (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..microdata import CategoricalColumn, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..microdata.combinations import numbered
from ..partition.index import room_for_query, tree_of
from ..partition.points import Points
from ..records import EqualityTerm, NumberTerm, RecordDistance, TableTerm, Term
from ._swapping import Places, Swaps, free_set, largest, seeded

__all__ = ["category_terms", "record_terms", "swap_records"]

Arrays = tuple[NDArray[Any], ...]
_MOST = 64  # attributes; each has a bit in the kind of a record
_POOL = 1 << 23  # entries of lists of combinations that are kept


def swap_records(terms: Sequence[Term], k: int, whole: bool, rng: np.random.Generator) -> list[Swaps]:
    """Algorithm 3: each value of a record is swapped with one of a similar record; one log for each attribute."""
    from ._record_swap_kernels import swap_records as swap

    n, m = len(terms[0].coordinates), len(terms)
    if m > _MOST:
        raise PlanError(
            f"algorithm 3 swaps at most {_MOST} attributes together; got {m}.",
            hint="Name those that belong together in attributes=[…]; a pipeline swaps one group after the other.",
        )
    numbers, example = _near_each_other(terms, *_combinations(terms, n))
    places = Places.of(numbers, len(example), np.arange(n))
    present = np.stack([_present(term) for term in terms])[:, places.records]
    free = [free_set(row) for row in (*present, present.any(axis=0))]
    sizes = np.diff(places.start)
    counts = np.stack([np.bincount(places.codes[row], minlength=len(sizes)) for row in (*present, present.any(axis=0))])
    if not counts[-1].any():
        return [Swaps(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)) for _ in terms]
    first = _first(terms, example, sizes, counts[-1], places, rng)
    different = [term.take(example) for term in terms]
    near = _index(different, np.ones(len(sizes), dtype=bool))
    far = _index([_by_marginality(term, sizes) for term in different], counts[-1] > 0)
    u, k = len(sizes), min(k, n - 1)
    kind = np.zeros(n, dtype=np.uint64)
    for a, row in enumerate(present):
        kind |= row.astype(np.uint64) << np.uint64(a)
    kinds = kind, np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int32), (counts[-1] > 0).astype(np.int32)
    kinds[1][places.start[:-1]], kinds[2][places.start[:-1]] = kind[places.start[:-1]], sizes
    most = min(n, 1 << min(m, 40))  # kinds that there can be
    drawn = (
        np.full(1 << (2 * most).bit_length(), -1, dtype=np.int32),
        np.empty(most, dtype=np.uint64),
        *(np.empty(most, dtype=np.int64) for _ in range(4)),
    )
    room = (
        np.empty(k + 2),
        np.empty(k + 2, dtype=np.int64),
        np.empty(u, dtype=np.int32),
        np.empty(u),
    )
    known = np.full(u, np.inf), np.full(u, -1, dtype=np.int32)
    pairs, candidates = np.empty((m, n, 2), dtype=np.int64), np.empty((m, n), dtype=np.int64)
    steps = np.zeros(m, dtype=np.int64)
    bits, sums = (np.stack(part) for part in zip(*free, strict=True))
    swap(
        first, k, whole, near, (far, known, _lists(u, 2)), sizes, places.start,
        places.codes, bits, sums, counts, counts.sum(axis=1), _lists(u, 5), kinds, drawn, room,
        np.empty((m + 1, 2), dtype=np.int64), seeded(rng), pairs, candidates, steps,
    )  # fmt: skip
    return [Swaps(places.records[pairs[a, : steps[a]]], candidates[a, : steps[a]]) for a in range(m)]


def _lists(u: int, figures: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Room for lists of combinations: their members, where each begins and more of it, and how much room is used."""
    return np.empty(max(_POOL, u), dtype=np.int32), np.full((u, figures), -1, dtype=np.int64), np.zeros(1, np.int64)


def record_terms(data: Microdata, names: tuple[str, ...]) -> list[Term]:
    """What each attribute adds to the distance: the mean of semantic distances, or, with numbers, S-distance."""
    columns = [data.columns[name] for name in names]
    if any(isinstance(one, ContinuousColumn) or one.attribute.kind == Kind.ORDINAL for one in columns):
        numbers = {one.attribute.name: _squarable(one) for one in columns if isinstance(one, ContinuousColumn)}
        return list(RecordDistance(data.replace(numbers), names).terms)
    return category_terms([data.categorical(name) for name in names])


def category_terms(columns: Sequence[CategoricalColumn]) -> list[Term]:
    """The mean of semantic distances."""
    terms: list[Term] = []
    for column in columns:
        name, categories, share = column.attribute.name, len(column.categories), column.attribute.weight / len(columns)
        codes = np.where(column.missing, categories, column.codes).astype(np.int32)
        if isinstance(column, TaxonomicColumn):
            table = np.full((categories + 1, categories + 1), share * column.table.max(initial=0.0))
            table[:-1, :-1] = share * column.table
            table[-1, -1] = 0.0
            terms.append(TableTerm(name, codes, table))
        else:
            terms.append(EqualityTerm(name, codes, share, categories))
    return terms


def _squarable(column: ContinuousColumn) -> ContinuousColumn:
    """The column, in another unit if its squares would be too large or too small for a number.

    S-distance does not depend on the unit.
    """
    largest = float(np.abs(column.values[~column.missing]).max(initial=0.0))
    exponent = int(np.frexp(largest)[1])
    return column if abs(exponent) < 400 else column.with_values(np.ldexp(column.values, -exponent))


def _present(term: Term) -> NDArray[np.bool_]:
    """Which records have a value."""
    if isinstance(term, NumberTerm):
        return ~np.isnan(term.coordinates)
    assert isinstance(term, TableTerm | EqualityTerm)
    return term.coordinates < (len(term.table) - 1 if isinstance(term, TableTerm) else term.categories)


def _combinations(terms: Sequence[Term], n: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The number of each record's combination of values, and a record of each combination."""
    codes = (
        np.unique(term.coordinates, return_inverse=True)[1] if isinstance(term, NumberTerm) else term.coordinates
        for term in terms
    )
    number, example = numbered(codes, n)
    return number.astype(np.int32), example


def _first(
    terms: Sequence[Term],
    example: NDArray[np.int64],
    sizes: NDArray[np.int64],
    weights: NDArray[np.int64],
    places: Places,
    rng: np.random.Generator,
) -> int:
    """A place of the record with the largest sum of distances (of their squares for S-distance) to all records."""
    total = np.zeros(len(example))
    for term in terms:
        values = term.coordinates[example]
        if isinstance(term, NumberTerm):
            there = ~np.isnan(values)
            n = sizes[there].sum()
            middle = (sizes[there] @ values[there]) / max(n, 1)
            spread = sizes[there] @ np.square(values[there] - middle)
            present = n * np.square(values - middle) + spread + sizes[~there].sum() * term.farthest
            total += np.where(there, present, n * term.farthest)
        elif isinstance(term, TableTerm):
            total += (term.table @ np.bincount(values, weights=sizes, minlength=len(term.table)))[values]
        elif isinstance(term, EqualityTerm):
            total += term.farthest * (sizes.sum() - np.bincount(values, weights=sizes)[values])
    total[weights == 0] = -1.0
    return places.any_of(largest(total), rng)


def _by_marginality(term: Term, sizes: NDArray[np.int64]) -> Term:
    """The same term with the categories of a table numbered by their sum of distances."""
    if not isinstance(term, TableTerm):
        return term
    sums = term.table @ np.bincount(term.coordinates, weights=sizes, minlength=len(term.table))
    order = np.argsort(sums, kind="stable")
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    return TableTerm(term.name, number[term.coordinates], term.table[np.ix_(order, order)])


def _points(terms: Sequence[Term], there: NDArray[np.bool_]) -> Points:
    """Combinations as points, those that are there."""
    space = RecordDistance.from_terms(terms)
    each = np.arange(space.n, dtype=np.int32)
    return Points(space.arrays, (), (), each, each + there.astype(np.int32), each, each)


def _near_each_other(
    terms: Sequence[Term], number: NDArray[np.int32], example: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The combinations numbered leaf by leaf of a tree: what is looked at together lies together."""
    points = _points([term.take(example) for term in terms], np.ones(len(example), dtype=bool))
    tree_of(points, arrange=True)
    order = points.records[points.head]
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[number], example[order]


def _index(terms: Sequence[Term], there: NDArray[np.bool_]) -> tuple[Arrays, NDArray[np.bool_], Arrays, Arrays]:
    """The combinations in the form of `RecordDistance.arrays`, a tree of those that are there, and room for a query."""
    points = _points(terms, there)
    return points.space, points.gaps, tree_of(points), room_for_query(points)
