"""How released cells are distributed given the original one, learnt from repetitions of a method.

For one attribute at a time. What is learnt of each pair of cells is drawn towards what is learnt of pairs of the same
kind: as many ranks apart, for numbers and ordered categories, and as far apart, for codes. What is learnt of a record,
whose group or neighbours make it move otherwise than others with the same value, is drawn towards that in turn. How
much, and which kinds, is chosen by how well the last repetition is foreseen from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....methods.likelihood import CodeEvidence, Evidence, unchanged
from ....microdata import CategoricalColumn, Column, Kind, TaxonomicColumn

__all__ = ["Learned", "OfRecords", "learned"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Cell = NDArray[np.signedinteger[Any]]

CELLS, FINE = 512, 2_048  # intervals of ranks that released and original numbers are told apart by
CODES = 2_500  # categories of which all pairs are counted
MOVES = 64  # kinds of moves, in ranks
PLACES = 8  # parts of the scale that may move differently
EACH = 10_000  # records up to which a table says what is learnt of each by itself; of more, when it is asked for
OFTEN = 4  # repetitions, at least, that teach something of single records of a longer table
WIDTHS = (0, 2, 8, 24)  # cells on both sides that a count is shared out among
DRAWN = (3.0, 30.0, 300.0, 3_000.0, 1e9)  # how many pairs what is known of its kind counts for
DRAWN_OF_RECORDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_CHANCE = 1e-3  # that something else happened


@dataclass(frozen=True, eq=False)
class Learned:
    """The evidence of an attribute in each release, and how well it foresees.

    ``foreseen`` is the mean logarithm of the chance that the other repetitions gave to each cell of the last one.
    """

    evidence: tuple[Evidence, ...]
    foreseen: float


@dataclass(frozen=True, eq=False)
class OfRecords(CodeEvidence):
    """Evidence by the values of records, with what became of each original record in repetitions.

    That is drawn towards what is learnt of its value: shared out among ``width`` cells on both sides, and with as much
    weight as ``drawn`` pairs have.
    """

    made: tuple[Cell, ...] = ()
    width: int = 0
    drawn: float = 1.0

    def closer(self, rows: Whole, originals: Whole) -> Float:
        """What that adds to the evidence of some original records, of as many for each of some released ones."""
        assert self.log is not None
        there = self.released[rows][:, None]
        known = np.exp(self.log[there, self.original[originals]])
        near = _share_near([one[originals] for one in self.made], there, self.width, len(self.log) - 1)
        return np.asarray(np.log((near + self.drawn * known) / (len(self.made) + self.drawn) / known))


def learned(x: Column, releases: Sequence[Column], repeated: Sequence[Column], seen: Column | None = None) -> Learned:
    """What repetitions teach about an attribute. All columns have one numbering of the categories.

    ``seen`` are the original values that were repeated, if those are not all of them.
    """
    if isinstance(x, CategoricalColumn) and x.attribute.kind != Kind.ORDINAL and len(x.categories) > CODES:
        return Learned(tuple(unchanged(x, z) for z in releases), 0.0)
    cells = _Cells.of(x)
    here, (there, *others) = cells.original(x), [cells.released(z) for z in releases]
    known = here if seen is None else cells.original(seen)
    made = [cells.released(column) for column in repeated]
    table, foreseen = _best(cells, x, known, there, made)
    counts = None
    if seen is None and len(made) >= (2 if len(x) <= EACH else OFTEN):
        widths = WIDTHS if _is_ordered(x) else WIDTHS[:1]
        counts, foreseen = _how_records_count(foreseen, made, widths, cells.size)
    if counts is not None and len(x) <= EACH:
        table, here = _of_records(table, here, made, *counts)
    with np.errstate(divide="ignore"):
        log = np.log(table)
    evidence = [CodeEvidence(one.astype(np.int32), here.astype(np.int32), log) for one in (there, *others)]
    if counts is not None and len(x) > EACH:
        kept = tuple(one.astype(np.int32) for one in made)
        evidence = [OfRecords(one.released, one.original, log, kept, *counts) for one in evidence]
    return Learned(tuple(evidence), float(np.log(foreseen).mean()) if len(foreseen) else 0.0)


@dataclass(frozen=True, eq=False)
class _Cells:
    """What is told apart: intervals of numbers, positions, or categories; after them what is missing.

    Original numbers are told apart more finely than released ones: ``place`` is where they stand among these.
    """

    size: int
    place: Whole
    cuts: Float | None = None
    fine: Float | None = None

    @classmethod
    def of(cls, x: Column) -> _Cells:
        if isinstance(x, CategoricalColumn):
            return cls(len(x.categories), np.arange(len(x.categories)))
        values = x.numbers()
        values = values[~np.isnan(values)]
        cuts, fine = _cuts(values, CELLS), _cuts(values, FINE)
        ends = np.concatenate([fine, values[-1:] * 0 + np.inf]) if len(values) else np.zeros(1)
        return cls(len(cuts) + 1, np.searchsorted(cuts, ends), cuts, fine)

    def original(self, column: Column) -> Whole:
        return self._numbered(column, self.fine, len(self.place))

    def released(self, column: Column) -> Whole:
        return self._numbered(column, self.cuts, self.size)

    def _numbered(self, column: Column, cuts: Float | None, missing: int) -> Whole:
        if isinstance(column, CategoricalColumn):
            return np.where(column.missing, missing, column.codes).astype(np.int64)
        assert cuts is not None
        values = column.numbers()
        return np.where(np.isnan(values), missing, np.searchsorted(cuts, values)).astype(np.int64)


def _cuts(values: Float, most: int) -> Float:
    """Between the different values; of too many, as many intervals as are wanted, with as many values each."""
    known = np.unique(values)
    if len(known) > most:
        known = np.unique(np.quantile(values, np.linspace(0, 1, most)))
    return np.asarray((known[1:] + known[:-1]) / 2)


def _best(cells: _Cells, x: Column, here: Whole, there: Whole, made: Sequence[Whole]) -> tuple[Float, Float]:
    """The chance of each released cell given each original one, as foresees the last repetition best.

    And the chances that the others give to each cell of the last.
    """
    shape = cells.size + 1, len(cells.place) + 1
    share = np.bincount(np.concatenate([*made, there]), minlength=shape[0]) / (len(here) * len(made) + len(there))
    kinds, widths = _kinds(cells, x, here, made), WIDTHS if _is_ordered(x) else WIDTHS[:1]
    choices = [(kind, width, drawn) for kind in range(len(kinds)) for width in widths for drawn in DRAWN]
    chosen, last = (0, 0, DRAWN[0]), np.ones(len(here))
    if len(made) > 1:
        some = _counts(here, made[:-1], shape)
        alike = [_alike(some, kind, share)[made[-1], here] for kind in kinds]
        near = {width: _smoothed(some, width)[made[-1], here] for width in widths}
        given, guess = some.sum(axis=0)[here], share[made[-1]]

        def foreseen(choice: tuple[int, int, float]) -> Float:
            kind, width, drawn = choice
            return _mixed(near[width], alike[kind], given, guess, drawn)

        chosen = max(choices, key=lambda choice: float(np.log(foreseen(choice)).sum()))
        last = foreseen(chosen)
    every = _counts(here, made, shape)
    kind, width, drawn = chosen
    alike_all = _alike(every, kinds[kind], share)
    return _mixed(_smoothed(every, width), alike_all, every.sum(axis=0), share[:, None], drawn), last


def _how_records_count(
    foreseen: Float, made: Sequence[Whole], widths: Sequence[int], missing: int
) -> tuple[tuple[int, float] | None, Float]:
    """The width and the weight with which what became of the record itself foresees the last repetition best.

    And the chances that are foreseen with them. None, and what was given, if that is no better than by chance.
    """
    *others, last = made
    near = {width: _share_near(others, last, width, missing) for width in widths}

    def better(width: int, drawn: float) -> Float:
        return (near[width] + drawn * foreseen) / (len(others) + drawn)

    def gain(choice: tuple[int, float]) -> float:
        more = np.log(better(*choice)) - np.log(foreseen)
        return float(more.sum() - 2 * more.std() * len(more) ** 0.5)

    choice = max(((width, drawn) for width in widths for drawn in DRAWN_OF_RECORDS), key=gain)
    return (choice, better(*choice)) if gain(choice) > 0 else (None, foreseen)


def _of_records(table: Float, here: Whole, made: Sequence[Whole], width: int, drawn: float) -> tuple[Float, Whole]:
    """The chance of each released cell given each original record, and the number of each.

    Records of which the same is known have one number.
    """
    histories, first, number = np.unique(np.array([here, *made]), axis=1, return_index=True, return_inverse=True)
    each = _smoothed(_counts(np.arange(len(first)), list(histories[1:]), (len(table), len(first))), width)
    return (each + drawn * table[:, here[first]]) / (len(made) + drawn), number.ravel()


def _share_near(others: Sequence[Cell], cells: Cell, width: int, missing: int) -> Float:
    """What `_smoothed` counts of other repetitions make of some cells, for each record."""
    gone = cells == missing
    near = np.zeros(np.broadcast_shapes(others[0].shape, cells.shape))
    for one in others:
        near += np.where(gone, one == missing, (abs(one - cells) <= width) & (one != missing))
    return near / np.where(gone, 1, 2 * width + 1)


def _counts(here: Whole, made: Sequence[Whole], shape: tuple[int, int]) -> Float:
    pairs = np.concatenate([there * shape[1] + here for there in made])
    return np.bincount(pairs, minlength=shape[0] * shape[1]).astype(float).reshape(shape)


def _smoothed(counts: Float, width: int) -> Float:
    """Counts shared out among so many cells on both sides; what is missing stays by itself."""
    if not width:
        return counts
    inside = counts[:-1]
    sums = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(inside, axis=0)])
    cell = np.arange(len(inside))
    low, high = np.maximum(cell - width, 0), np.minimum(cell + width + 1, len(inside))
    return np.concatenate([(sums[high] - sums[low]) / (2 * width + 1), counts[-1:]])


def _alike(counts: Float, kinds: Whole, share: Float) -> Float:
    """P(released | original) by the kind of the pair: the rate at which it occurs, compared with cells at random."""
    chance = share[:, None] * counts.sum(axis=0)
    flat, size = kinds.ravel(), int(kinds.max()) + 1
    seen = np.bincount(flat, weights=counts.ravel(), minlength=size)
    rate = seen / np.maximum(np.bincount(flat, weights=chance.ravel(), minlength=size), 1e-300)
    alike = np.maximum(rate[kinds], 1e-9) * share[:, None]
    return np.asarray(alike / np.maximum(alike.sum(axis=0), 1e-300))


def _mixed(near: Float, alike: Float, given: Float, share: Float, drawn: float) -> Float:
    """Counts of a pair with so many more that are shared out as its kind is, and a little of everything."""
    return (1 - _CHANCE) * (near + drawn * alike) / (given + drawn) + _CHANCE * np.maximum(share, 1e-9)


def _is_ordered(x: Column) -> bool:
    return not isinstance(x, CategoricalColumn) or x.attribute.kind == Kind.ORDINAL


def _kinds(cells: _Cells, x: Column, here: Whole, made: Sequence[Whole]) -> list[Whole]:
    """Ways to sort pairs (released, original) into kinds; what is missing is always of kinds of its own."""
    if _is_ordered(x):
        found = [_moves(cells, here, made, parts) for parts in (1, PLACES)]
    elif isinstance(x, TaxonomicColumn):
        found = [_steps(x.table, one) for one in (_nearer(x.table, x.counts), x.table)]
    else:
        found = [1 - np.eye(cells.size, dtype=np.int64)]
    return [_with_missing(kind) for kind in found]


def _moves(cells: _Cells, here: Whole, made: Sequence[Whole], parts: int) -> Whole:
    """By how many cells a value moves, in steps that are as common as each other, in so many parts of the scale."""
    known = here < len(cells.place)
    start = cells.place[np.where(known, here, 0)]
    moved = np.concatenate([(there - start)[known & (there < cells.size)] for there in made])
    ends = np.quantile(moved, np.linspace(0, 1, MOVES + 1)) if len(moved) else np.zeros(1)
    cuts = np.unique(np.concatenate([np.floor(ends) - 0.5, [np.ceil(ends[-1]) + 0.5, -0.5, 0.5]]))
    kind = np.searchsorted(cuts, np.arange(cells.size)[:, None] - cells.place)
    return np.asarray(kind + (len(cuts) + 1) * (cells.place * parts // cells.size))


def _nearer(table: Float, counts: Whole) -> Float:
    """The share of records that are nearer to a category than another is."""
    n = max(int(counts.sum()), 1)
    out = np.zeros_like(table)
    for place, distances in enumerate(table):
        order = np.argsort(distances, kind="stable")
        ranked, held = distances[order], np.concatenate([[0], np.cumsum(counts[order])])
        out[place] = held[np.searchsorted(ranked, distances)] / n
    return out


def _steps(table: Float, measure: Float) -> Whole:
    """How far a code is from the original one, in steps; the code itself is a kind of its own."""
    apart = measure.T[~np.eye(len(table), dtype=bool)]
    cuts = np.unique(np.quantile(apart, np.linspace(0, 1, MOVES // 2 + 1)[1:-1] ** 2)) if len(apart) else np.zeros(0)
    kind = 1 + np.searchsorted(cuts, measure.T, side="left")
    np.fill_diagonal(kind, 0)
    return np.asarray(kind)


def _with_missing(kind: Whole) -> Whole:
    """Kinds for a cell that becomes missing, ceases to be, or stays so."""
    most = int(kind.max(initial=0)) + 1
    wide = np.full((kind.shape[0] + 1, kind.shape[1] + 1), most, dtype=np.int64)
    wide[:-1, :-1] = kind
    wide[-1, :-1], wide[-1, -1] = most + 1, most + 2
    return wide
