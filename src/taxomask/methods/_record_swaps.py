"""Semantic rank swapping of records: values are swapped between similar records (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..microdata import CategoricalColumn, ContinuousColumn, Kind, Microdata, TaxonomicColumn
from ..microdata.combinations import numbered
from ..records import EqualityTerm, NumberTerm, RecordDistance, TableTerm, Term
from ._swapping import Places, Swaps, free_set, largest, seeded

__all__ = ["category_terms", "record_terms", "swap_records"]

Arrays = tuple[NDArray[Any], ...]
_LEAF, _FAR_LEAF = 32, 256  # combinations in a leaf of the trees for near and far ones
_MOST = 64  # attributes; each has a bit in the kind of a record
_POOL = 1 << 23  # entries of lists of combinations that are kept


def swap_records(terms: Sequence[Term], k: int, whole: bool, rng: np.random.Generator) -> list[Swaps]:
    """Algorithm 3: each value of a record is swapped with one of a similar record; one log for each attribute."""
    from ._record_far_kernels import settle
    from ._record_swap_kernels import swap_records as swap
    from ._record_tree_kernels import fit

    n, m = len(terms[0].coordinates), len(terms)
    if m > _MOST:
        raise PlanError(
            f"algorithm 3 swaps at most {_MOST} attributes together; got {m}.",
            hint="Name those that belong together in attributes=[…]; a pipeline swaps one group after the other.",
        )
    numbers, example = _combinations(terms, n)
    places = Places.of(numbers, len(example), np.arange(n))
    present = np.stack([~term.missing for term in terms])[:, places.records]
    free = [free_set(row) for row in (*present, present.any(axis=0))]
    sizes = np.diff(places.start)
    counts = np.stack([np.bincount(places.codes[row], minlength=len(sizes)) for row in (*present, present.any(axis=0))])
    if not counts[-1].any():
        return [Swaps(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)) for _ in terms]
    first = _first(terms, example, sizes, counts[-1], places, rng)
    different = [term.take(example) for term in terms]
    near = _tree(different, _LEAF)
    fit(*near[1:3], sizes)
    far = _tree([_by_marginality(term, sizes) for term in different], _FAR_LEAF)
    leaves = np.empty(len(example), dtype=np.int32), np.empty(len(far[2][5]) // 2, dtype=np.int64)
    settle(*far[1:3], leaves, counts[-1])
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
        np.empty(2 * _LEAF),
    )
    known = np.full(u, np.inf), np.full(u, -1, dtype=np.int32)
    pairs, candidates = np.empty((m, n, 2), dtype=np.int64), np.empty((m, n), dtype=np.int64)
    steps = np.zeros(m, dtype=np.int64)
    bits, sums = (np.stack(part) for part in zip(*free, strict=True))
    swap(
        first, k, whole, near, (*far, leaves, np.empty(2 * _FAR_LEAF), known, _lists(u, 2)), sizes, places.start,
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


def _tree(terms: Sequence[Term], leaf: int) -> tuple[Arrays, Arrays, Arrays, Arrays]:
    """The combinations in the form of `RecordDistance.arrays`, a tree of them, its boxes, and room for a query."""
    from ._record_tree_kernels import build

    distance = object.__new__(RecordDistance)
    distance.names, distance.n, distance.terms = (), len(terms[0].coordinates), tuple(terms)
    space = distance.arrays
    u, p, q, sizes = distance.n, space[0].shape[1], space[2].shape[1], space[5]
    leaves = 1 << max((u // leaf).bit_length() - 1, 0)  # each has leaf to 2·leaf - 1 combinations
    tree = np.arange(u, dtype=np.int32), np.empty(u, dtype=np.int32), np.empty((p, u)), np.empty((q, u), dtype=np.int32)
    boxes = (
        np.empty((2 * leaves, p)),
        np.empty((2 * leaves, p)),
        np.empty((2 * leaves, q), dtype=np.int32),
        np.empty((2 * leaves, q), dtype=np.int32),
        np.empty(2 * leaves, dtype=np.int64),
        np.empty(2 * leaves, dtype=np.int32),
    )
    range_start = np.cumsum([0, *(int(size) * int(size).bit_length() for size in sizes)], dtype=np.int64)
    query = (
        np.empty(p),
        np.empty(q, dtype=np.int32),
        np.empty(range_start[-1]),
        range_start,
        np.array([0, *(i.bit_length() - 1 for i in range(1, int(sizes.max(initial=0)) + 1))], dtype=np.int64),
        np.empty(128),
        np.empty(128, dtype=np.int64),
    )
    build(space, tree, leaves)
    return space, tree, boxes, query
