"""Released records linked with original ones by evidence: each with the likeliest, or all of them one to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....methods.likelihood import CodeEvidence, Evidence, NumberEvidence
from ....records import NumberTerm, RecordDistance, TableTerm
from .attacker import own_pairs

__all__ = ["TIED", "Likeliest", "Links", "by_distance", "likeliest_of", "linked", "one_to_one"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

IMPOSSIBLE = -1e6
NEAR = 64  # original records that are kept for each released one
FAR = 60.0  # more than so much less likely than the best makes no difference
TIED = 1e-9  # evidence that differs by no more is the same


@dataclass(frozen=True, eq=False)
class Links:
    """For each released record that is looked for its likeliest original ones, and its chance to be found.

    ``values`` and ``records`` hold at most `NEAR` originals each, from the likeliest on. ``chances``: the share of
    those as likely as the best that are its own. ``there`` and ``here`` number records that look alike to this
    intruder.
    """

    values: Float
    records: Whole
    chances: Float
    there: Whole
    here: Whole


def linked(
    evidence: Sequence[Evidence], rows: Whole, units: Whole, rng: np.random.Generator, near: int = NEAR
) -> Links:
    """Link the released records of some rows with the likeliest original ones.

    ``units`` says which originals are of the same person; a link with any of them is right. The originals are looked
    at in random order, so that which of equally likely ones are kept does not depend on where they stand.
    """
    n = len(units)
    order = rng.permutation(n)
    found = _searched(evidence, rows, units[rows], units, order, near)
    alike_here = np.empty(n, dtype=np.int64)
    alike_here[order] = _alike(found.here)
    return Links(
        found.values, order[found.records], found.mine / np.maximum(found.ties, 1), _alike(found.there), alike_here
    )


@dataclass(frozen=True, eq=False)
class Likeliest:
    """For each of some released records the largest evidence, how many original ones have it, and how many of these
    belong to its own unit."""

    best: Float
    ties: Whole
    mine: Whole


def likeliest_of(evidence: Sequence[Evidence], whose: Whole, units: Whole, rng: np.random.Generator) -> Likeliest:
    """The likeliest of a part of the original records, with evidence that can be compared with that of other parts.

    ``whose`` are the units of the released records that are looked for, all of them.
    """
    rows = np.arange(len(whose))
    found = _searched(evidence, rows, whose, units, rng.permutation(len(units)), 1)
    tops = [_top(one)[one.released] for one in evidence if isinstance(one, CodeEvidence)]
    return Likeliest(np.sum([found.best + found.largest, *tops], axis=0), found.ties, found.mine)


@dataclass(frozen=True, eq=False)
class _Searched:
    """What was found for each released record, and the largest offset, which had been taken from all evidence; and the
    coordinates of the original records, in the order in which they were looked at, and of the released ones."""

    values: Float
    records: Whole
    best: Float
    ties: Whole
    mine: Whole
    largest: float
    here: list[NDArray[np.generic]]
    there: list[NDArray[np.generic]]


def _searched(
    evidence: Sequence[Evidence], rows: Whole, whose: Whole, units: Whole, order: Whole, near: int
) -> _Searched:
    from ._evidence_kernels import likeliest

    numbers = [one for one in evidence if isinstance(one, NumberEvidence)]
    coded = [one for one in evidence if isinstance(one, CodeEvidence)]
    n = len(units)
    here, here_precision = (_table([getattr(one, what)[order] for one in numbers], n, np.float64)
                            for what in ("original", "original_precision"))  # fmt: skip
    there, there_precision = (_table([getattr(one, what)[rows] for one in numbers], len(rows), np.float64)
                              for what in ("released", "released_precision"))  # fmt: skip
    offset = np.sum([np.zeros(n), *(one.offset for one in numbers if one.offset is not None)], axis=0)[order]
    largest = float(offset.max()) if n else 0.0
    offset -= largest
    here_codes = _table([one.original[order] for one in coded], n, np.int32)
    there_codes = _table([one.released[rows] for one in coded], len(rows), np.int32)
    flat, start, size = _flat([one.log for one in coded])
    unequal = np.array([one.cost if isinstance(one, _Unequal) else IMPOSSIBLE for one in coded])
    most = min(near, n)
    values, records = np.full((len(rows), most), -np.inf), np.zeros((len(rows), most), dtype=np.int64)
    best, ties, mine = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    likeliest(
        there, here, there_precision, here_precision, offset, there_codes, here_codes, flat, start, size, unequal,
        whose, units[order], TIED, values, records, best, ties, mine,
    )  # fmt: skip
    return _Searched(
        values,
        records,
        best,
        ties,
        mine,
        largest,
        [here, here_precision, offset[:, None], here_codes],
        [there, there_precision, there_codes],
    )


def one_to_one(links: Links, units: Whole, rows: Whole, rng: np.random.Generator) -> Float:
    """The chance of each released record to be found if all are linked at once, no original twice.

    The assignment of greatest likelihood, or least total distance, among the originals that are near; exact where all
    of them are. An original that is not near counts as likely as the last that is. Records that look alike can be
    exchanged: of the links between two such sets each record has its share.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    count, near = links.values.shape
    n = len(links.here)
    worse = links.values[:, :1] - links.values
    shuffled = rng.permutation(count)  # a draw between equally good assignments
    if near == n:
        cost = np.empty((count, n))
        np.put_along_axis(cost, links.records, worse, axis=1)
        order = rng.permutation(n)
        row, column = linear_sum_assignment(cost[np.ix_(shuffled, order)])
        row, column = shuffled[row], order[column]
    else:
        place = rng.permutation(n)
        back = np.argsort(place)
        worse = np.minimum(worse, FAR)
        columns = np.column_stack([place[links.records[shuffled]], n + np.arange(count)])  # the last: none of them
        costs = np.column_stack([worse, worse[:, -1]])[shuffled] + 1.0
        ends = np.arange(0, columns.size + 1, near + 1)
        graph = csr_array((costs.ravel(), columns.ravel(), ends), shape=(count, n + count))
        made = np.stack(min_weight_full_bipartite_matching(graph)).astype(np.int64)
        made = made[:, made[1] < n]
        row, column = shuffled[made[0]], back[made[1]]
    return _expected(links, units, rows, row, column)


def _expected(links: Links, units: Whole, rows: Whole, row: Whole, column: Whole) -> Float:
    """The chance that a link of a record reaches one of its own, where those that look alike may be exchanged.

    Of M links between a set C of released and a set D of original records, each pair of them has M / (|C|·|D|).
    """
    sets = int(links.here.max(initial=0)) + 1
    made = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys, counts = np.unique(links.there[row] * sets + links.here[column], return_counts=True) if len(row) else made
    whose, own = own_pairs(units, rows)
    wanted = links.there[whose] * sets + links.here[own]
    at = np.searchsorted(keys, wanted)
    hit = np.append(keys, -1)[at] == wanted
    pairs = np.bincount(links.there)[links.there[whose]] * np.bincount(links.here)[links.here[own]]
    chances = np.bincount(whose, weights=np.where(hit, np.append(counts, 0)[at], 0) / pairs, minlength=len(rows))
    return np.minimum(chances, 1.0)


def by_distance(here: RecordDistance, there: RecordDistance) -> list[Evidence]:
    """The S-distance as evidence: -δ²."""
    found: list[Evidence] = []
    one, other = np.ones(here.n), np.full(there.n, 2.0)
    for x, y in zip(here.terms, there.terms, strict=True):
        if isinstance(x, NumberTerm):
            gone = [y.missing, x.missing]
            if gone[0].any() or gone[1].any():
                table = -x.farthest * (1 - np.eye(2))
                found.append(CodeEvidence(gone[0].astype(np.int32), gone[1].astype(np.int32), table))
            found.append(
                NumberEvidence(
                    np.nan_to_num(y.coordinates),
                    np.nan_to_num(x.coordinates),
                    np.where(gone[0], 0.0, other),
                    np.where(gone[1], 0.0, one),
                )
            )
        elif isinstance(x, TableTerm):
            found.append(CodeEvidence(y.coordinates, x.coordinates, -x.table))
        else:
            found.append(_Unequal(y.coordinates, x.coordinates, None, -x.farthest))
    return found


@dataclass(frozen=True, eq=False)
class _Unequal(CodeEvidence):
    """Different codes cost so much."""

    cost: float = IMPOSSIBLE


def _flat(tables: list[Float | None]) -> tuple[Float, Whole, Whole]:
    """All tables in one row, where each begins, and how many originals each has; 0 for none.

    With finite numbers of at most 0: for each released code counted from the likeliest original one.
    """
    shapes = [(0, 0) if table is None else table.shape for table in tables]
    ends = np.cumsum([0, *(rows * columns for rows, columns in shapes)], dtype=np.int64)
    flat = np.empty(ends[-1])
    for table, low, high in zip(tables, ends, ends[1:], strict=False):
        if table is not None:
            into = flat[low:high].reshape(table.shape)
            top = table.max(axis=1, keepdims=True, initial=-np.inf)
            np.subtract(table, np.where(np.isfinite(top), top, 0.0), out=into)
            into[np.isneginf(table)] = IMPOSSIBLE
    return flat, ends[:-1], np.array([columns for _, columns in shapes], dtype=np.int64)


def _top(one: CodeEvidence) -> Float:
    """The largest evidence of each released code, where it can be."""
    if one.log is None:
        return np.zeros(int(one.released.max(initial=0)) + 1)
    top = one.log.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(top), top, 0.0)


def _table(columns: list[NDArray[np.generic]], n: int, dtype: type) -> NDArray[np.generic]:
    out: NDArray[np.generic] = np.empty((n, len(columns)), dtype=dtype)
    for place, column in enumerate(columns):
        out[:, place] = column
    return out


def _alike(parts: list[NDArray[np.generic]]) -> Whole:
    """The same number for rows that are equal in every part."""
    rows = np.ascontiguousarray(np.column_stack([part.astype(np.float64) + 0.0 for part in parts]))
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.unique(whole, return_inverse=True)[1].astype(np.int64)
