"""What each chunk of a long table tells of leaks: identifiers in its rows, and values with all their records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Microdata
from ..microdata.frames import Frame
from .identifiers import InRow, Spelled
from .seen import distinct_in, value_numbers
from .values import Kept, joined, text_numbers

__all__ = ["Looked", "Wanted", "by_chance", "had_before", "known_in", "look"]

_VALUES = 1 << 20  # of a column that are compared with those of an identifier, all of them up to here
_SHORT = 3  # letters of a value that may stand anywhere

Key = Hashable


@dataclass(frozen=True)
class Wanted:
    """What chunks are searched for."""

    names: tuple[str, ...]
    same: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    letters: Mapping[str, bool]
    share: float
    alone: bool


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found in some chunks: rows in which an identifier stands, rows that have one, and values."""

    hits: Mapping[tuple[str, str], int]
    present: Mapping[str, int]
    kept: Mapping[Key, Kept]

    def with_(self, other: Looked) -> Looked:
        return Looked(
            {key: hits + other.hits[key] for key, hits in self.hits.items()},
            {key: count + other.present[key] for key, count in self.present.items()},
            {key: _thin(kept.with_(other.kept[key]), key) for key, kept in self.kept.items()},
        )


def look(part: Microdata, released: Frame, wanted: Wanted) -> Looked:
    """What one chunk tells of identifiers in other columns, of values that repeat, and of who is alone."""
    hits: dict[tuple[str, str], int] = {}
    kept: dict[Key, Kept] = {}
    identifiers, there = {}, {}
    for name, distinct, rows in _identifiers(part, wanted.letters):
        numbers = value_numbers(distinct)
        there[name] = (numbers if rows is None else numbers[rows]) > 0
        kept["id", name] = Kept.of((numbers if rows is None else numbers[rows])[there[name]], wanted.share)
        identifiers[name] = _table(distinct, rows)
    together = whole = np.zeros(released.n, dtype=np.uint64)
    paired = {name for pair in wanted.pairs for name in pair}
    by_name = {}
    for name in (*wanted.same, *(one for one in wanted.names if one not in wanted.same)):
        distinct = distinct_in(released, name)
        numbers = value_numbers(distinct)
        cells = Spelled.from_distinct(distinct) if identifiers else None
        kept["column", name] = Kept.of(numbers[numbers > 0], wanted.share)
        for of, spelled in identifiers.items():
            assert cells is not None
            hits[name, of] = InRow.of(spelled, wanted.letters[of], cells).hits(0)
            if name in wanted.same:
                kept["both", name, of] = Kept.of(numbers[there[of] & (numbers > 0)], wanted.share)
        if cells is not None and any(wanted.letters.values()):
            kept["whole", name] = Kept.of(_long_ones(cells), 1.0)
        if name in wanted.same:
            together = joined(together, numbers)
        whole = joined(whole, numbers)
        if name in paired:
            by_name[name] = numbers
    if wanted.alone:
        kept["same",] = Kept.of(together, wanted.share)
        kept["all",] = Kept.of(whole, wanted.share)
        kept |= {("pair", a, b): Kept.of(joined(by_name[a], by_name[b]), wanted.share) for a, b in wanted.pairs}
    return Looked(hits, {name: int(some.sum()) for name, some in there.items()}, kept)


def _identifiers(part: Microdata, names: Mapping[str, bool]) -> Any:
    """The distinct values of each identifier in some records, and the rows of these records."""
    frame, rows = _origin(part)
    return [(name, distinct_in(frame, name), rows) for name in names]


def _origin(part: Microdata) -> tuple[Frame, NDArray[np.int64] | None]:
    """The part of the original table that holds some records, and their rows in it, if there are others, too."""
    rows = part.rows
    if not len(rows) or not (np.diff(rows) > 0).all():
        return part.frame, rows
    first, last = int(rows[0]), int(rows[-1])
    return part.frame.part(first, last + 1), None if last - first + 1 == len(rows) else rows - first


def _table(distinct: Any, rows: NDArray[np.int64] | None) -> Any:
    import pyarrow as pa

    return pa.table(Spelled.from_distinct(distinct).at(rows))


def _long_ones(cells: Spelled) -> NDArray[np.uint64]:
    """The numbers of the letters and digits of values that are not short."""
    import pyarrow.compute as pc

    whole = cells.whole.take(np.unique(cells.codes[cells.codes >= 0]))
    return text_numbers(whole.filter(pc.greater(pc.utf8_length(whole), _SHORT).fill_null(False)))


def by_chance(
    part: Microdata, released: Frame, asked: Sequence[tuple[str, str]], letters: Mapping[str, bool]
) -> list[list[int]]:
    """In how many rows of a chunk identifiers stand if these are moved; for each column and identifier."""
    known = {name: _table(distinct, rows) for name, distinct, rows in _identifiers(part, letters)}
    cells = {name: Spelled.of(released, name) for name in dict(asked)}
    return [InRow.of(known[of], letters[of], cells[name]).by_chance() for name, of in asked]


def _thin(kept: Kept, key: Key) -> Kept:
    """Values that are compared with those of an identifier: if they become too many, a share of them."""
    while isinstance(key, tuple) and key[0] == "whole" and len(kept.values) > _VALUES:
        kept = kept.thinned(kept.share / 2)
    return kept


def known_in(
    part: Microdata,
    letters: Mapping[str, bool],
    values: Mapping[str, Kept],
    asked: Sequence[tuple[str, str]],
    share: float,
) -> tuple[dict[str, Kept], list[NDArray[np.uint64]]]:
    """The values of identifiers in a chunk, and those of them that are among the values of each column."""
    numbers = {}
    for name, distinct, rows in _identifiers(part, letters):
        cells = Spelled.from_distinct(distinct)
        used = cells if rows is None else replace(cells, codes=cells.codes[rows])
        numbers[name] = np.unique(_long_ones(used))
    every = {name: Kept.of(some, share) for name, some in numbers.items()}
    return every, [np.intersect1d(numbers[of], values[name].values) for name, of in asked]


def had_before(part: Microdata, asked: Sequence[tuple[str, NDArray[np.uint64]]]) -> list[NDArray[np.uint64]]:
    """Which of some values columns had in a chunk before."""
    frame, _ = _origin(part)
    return [
        np.intersect1d(_long_ones(Spelled.of(frame, name)), some) if name in frame.names else some[:0]
        for name, some in asked
    ]
