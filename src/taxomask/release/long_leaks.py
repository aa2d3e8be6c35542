"""The search for leaks in a table of more than one chunk, so that nothing holds more of it than a few chunks.

Identifiers are looked for in every record, chunk by chunk; how many hits there are by chance is counted on rows of the
same chunk that do not belong together. Whether values repeat, and who is alone, is counted on values that are kept with
all their records (`Kept`): all of them in tables that are not much longer than a chunk, else a share of them. Twins,
and numbers that are an identifier + c or × c, are looked for in a sample of the records, and other guises in 4,096 of
these. What was looked at is said.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import Engine
from ..methods._parts import picked_on
from ..methods._runs import Runs, runs_of
from ..microdata import Microdata
from ..microdata.casting import take
from ..microdata.frames import Frame
from ..microdata.people import NOBODY
from .identifiers import (
    ANYWHERE,
    FEW,
    LEAST,
    MANY,
    NEARLY,
    InRow,
    Spelled,
    beyond_chance,
    given_out,
    goes_with,
    identifier_of,
    in_disguise,
    new_in,
    spread_of,
    stand_in,
)
from .long_alone import alone_of_people, keys_of
from .seen import Seen, distinct_in, seen, value_numbers
from .singled_out import SingledOut, widest_pairs
from .split import Part, split_among
from .twins import Finding, Told, pairs_to_try, told_by
from .values import Kept, joined, text_numbers

__all__ = ["LongLeaks", "look_for_leaks"]

_LEAST_SAMPLE = 4096  # records, at least
_VALUES = 1 << 20  # of a column that are compared with those of an identifier, all of them up to here
_SHORT = 3  # letters of a value that may stand anywhere
_WHAT = "looking for leaks"

Key = Hashable


@dataclass(frozen=True, eq=False)
class LongLeaks:
    """What was found, in what was looked at."""

    held: tuple[Finding, ...]
    told: tuple[Told, ...]
    single: SingledOut
    same: tuple[Seen, ...]
    pairs: list[tuple[int, int]]
    left_out: int
    groups: tuple[str, ...]
    sample: int
    thinned: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _InSample:
    """What a sample of the records tells."""

    columns: tuple[Seen, ...]
    letters: Mapping[str, bool]
    found: Mapping[tuple[str, str], str]
    parts: Sequence[Part]
    told: tuple[Told, ...]
    pairs: list[tuple[int, int]]
    left_out: int


@dataclass(frozen=True)
class _Wanted:
    """What chunks are searched for."""

    names: tuple[str, ...]
    same: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    letters: Mapping[str, bool]
    share: float
    alone: bool


@dataclass(frozen=True, eq=False)
class _Looked:
    """What was found in some chunks: rows in which an identifier stands, rows that have one, and values."""

    hits: Mapping[tuple[str, str], int]
    present: Mapping[str, int]
    kept: Mapping[Key, Kept]

    def with_(self, other: _Looked) -> _Looked:
        return _Looked(
            {key: hits + other.hits[key] for key, hits in self.hits.items()},
            {key: count + other.present[key] for key, count in self.present.items()},
            {key: _thin(kept.with_(other.kept[key]), key) for key, kept in self.kept.items()},
        )


def look_for_leaks(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Microdata,
    names: Sequence[str],
    same: Sequence[str],
    targets: Sequence[str],
    *,
    exact: bool,
) -> LongLeaks:
    """Look for leaks in a long table whose rows are those of the original.

    Parameters
    ----------
    engine, data, released, masked
        As in `leak_checks`.
    names, same
        The released columns, and those of them that are released as they are.
    targets
        The columns of which something may be told.
    exact
        Whether it must be known for sure how many records are alone by what is released as it is.
    """
    n, identifiers = data.n, data.schema.identifiers
    size = min(n, max(engine.chunk // 4, _LEAST_SAMPLE))
    rows = np.arange(size, dtype=np.int64) * n // size
    ids = _rows_of(engine, data.frame, identifiers, *picked_on(engine, [data.rows], rows, _WHAT))
    protected = [name for name in targets if name in data.columns and name not in identifiers]
    before, after = (
        picked_on(engine, [one.columns[name] for name in protected], rows, _WHAT) for one in (data, masked)
    )
    common = {"rows": np.arange(size), "_owners": NOBODY, "_frame": ids}
    original, method = (
        replace(one, columns=dict(zip(protected, some, strict=True)), **common)  # type: ignore[arg-type]
        for one, some in ((data, before), (masked, after))
    )
    some = _rows_of(engine, released, names, rows)
    sample: _InSample = engine.run(
        _in_sample, original, some, method, tuple(names), tuple(same), tuple(targets), n, what="looking for twins"
    )
    by_name = {one.name: one for one in sample.columns}
    untouched = tuple(by_name[name] for name in same)
    two = [(same[a], same[b]) for a, b in widest_pairs(untouched)]
    share = min(1.0, size / n)
    wanted = _Wanted(tuple(names), tuple(same), tuple(two), sample.letters, share, data.units is None)
    parts = [(data.part(start, stop, []), released.part(start, stop)) for start, stop in engine.parts(n)]
    looked = reduce(_Looked.with_, engine.map(_look, [(*part, wanted) for part in parts], _WHAT))

    repeats = [name for name in identifiers if MANY * looked.kept["id", name].size <= looked.present[name]]
    asked = [(name, of) for name in names for of in identifiers if name in same or of not in repeats]
    hits = [key for key in asked if looked.hits[key] > LEAST and looked.kept["column", key[0]].size > LEAST]
    words: dict[tuple[str, str], str | None] = {}
    if hits:
        chance = engine.map(_by_chance, [(*part, hits, sample.letters) for part in parts], "looking for identifiers")
        for place, key in enumerate(hits):
            moved = np.sum([one[place] for one in chance], axis=0).tolist()
            words[key] = beyond_chance(key[1], key[0], looked.hits[key], moved, n)
    for key in asked:
        words[key] = words.get(key) or sample.found.get(key)
    thinned = _anywhere(engine, parts, asked, words, looked, sample.letters)
    for key in asked:
        if key[0] in same:
            words[key] = words.get(key) or _one_to_one(*key, looked, by_name[key[0]], size)
    held = [Finding((key[0],), key[1], found) for key, found in words.items() if found is not None]
    held += split_among(part for part in sample.parts if words.get((part.column, part.of)) is None)
    frames, columns = [released for _, released in parts], (names, same, two)
    if data.units is not None:
        single = alone_of_people(engine, data.units, data.unit, frames, columns, exact=exact)
    else:
        single = _singled_out(engine, frames, looked, wanted, n, exact=exact)
    return LongLeaks(
        tuple(held),
        sample.told,
        single,
        untouched,
        sample.pairs,
        sample.left_out,
        tuple(repeats),
        size,
        tuple(thinned),
    )


# --------------------------------------------------------------------------------------- a sample of the records


def _rows_of(engine: Engine, frame: Frame, names: Sequence[str], rows: NDArray[np.int64]) -> Frame:
    """Some rows, in their order, of some columns of a table."""
    import pyarrow as pa

    if frame.native is not None:
        return Frame(frame.rebuild(rows=rows, drop=[name for name in frame.names if name not in names]))
    parts = engine.parts(frame.n)
    wanted = [(start, stop, rows[(rows >= start) & (rows < stop)] - start) for start, stop in parts]
    items = [(frame.part(start, stop), tuple(names), some) for start, stop, some in wanted]
    tables = engine.map(_taken, items, _WHAT)
    return Frame(pa.concat_tables(tables))


def _taken(frame: Frame, names: Sequence[str], rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    columns = {}
    for name in names:
        array = take(frame.arrow(name), pa.array(rows))
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        columns[name] = array
    return pa.table(columns)


def _in_sample(
    data: Microdata,
    released: Frame,
    masked: Microdata,
    names: Sequence[str],
    same: Sequence[str],
    targets: Sequence[str],
    n: int,
) -> _InSample:
    columns = tuple(seen(released, name) for name in names)
    identifiers = [identifier_of(data, name) for name in data.schema.identifiers]
    found: dict[tuple[str, str], str] = {}
    parts: list[Part] = []
    for column in columns:
        hidden, some = in_disguise(identifiers, released, column, column.name in same)
        found |= {(column.name, of): words for of, words in hidden.items()}
        parts += some
    untouched = [column for column in columns if column.name in same]
    pairs, left_out = pairs_to_try(untouched, n)
    told = tuple(told_by(data, masked, name, untouched, pairs) for name in targets)
    return _InSample(columns, {one.name: one.letters for one in identifiers}, found, parts, told, pairs, left_out)


# --------------------------------------------------------------------------------------- every chunk


def _look(part: Microdata, released: Frame, wanted: _Wanted) -> _Looked:
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
    return _Looked(hits, {name: int(some.sum()) for name, some in there.items()}, kept)


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


def _by_chance(
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


def _one_to_one(name: str, of: str, looked: _Looked, column: Seen, sample: int) -> str | None:
    """Whether a column differs in almost every record, as the identifier does, and is no measurement."""
    ids, both = looked.kept["id", of], looked.kept["both", name, of]
    if not (ids.size > FEW and ids.size >= NEARLY * looked.present[of]) or column.measured:
        return None
    if both.size <= FEW or both.records <= FEW:
        return None
    alone = int((both.counts == 1).sum()) / both.records
    if alone < NEARLY:
        return None
    if column.numbers is not None:
        records = round(both.records / both.share)
        if not given_out(records, spread_of(column.numbers), both.counts, both.share):
            return None
    return goes_with(name, of, alone)


# --------------------------------------------------------------------------------------- values in any row


def _anywhere(
    engine: Engine,
    parts: Sequence[tuple[Microdata, Frame]],
    asked: Sequence[tuple[str, str]],
    words: dict[tuple[str, str], str | None],
    looked: _Looked,
    letters: Mapping[str, bool],
) -> list[str]:
    """Look for values of identifiers with letters in any row; the columns of which only some values were compared."""
    keys = [key for key in asked if letters[key[1]] and looked.kept["id", key[1]].size > FEW]
    if not keys:
        return []
    values = {name: looked.kept["whole", name] for name, _ in keys}
    thinned = sorted(name for name, kept in values.items() if kept.share < 1)
    open_ = [key for key in keys if words.get(key) is None]
    some_letters, share = {of: letters[of] for _, of in open_}, looked.kept["id", keys[0][1]].share
    items = [(part, some_letters, values, open_, share) for part, _ in parts]
    found = engine.map(_known, items, "looking for identifiers")
    every = {of: reduce(Kept.with_, [one[0][of] for one in found]).size for _, of in open_}
    there = {key: _union([one[1][place] for one in found]) for place, key in enumerate(open_)}
    left = []
    for key, some in there.items():
        many = len(some) / values[key[0]].share
        if len(some) > LEAST and many >= ANYWHERE * every[key[1]]:
            words[key] = stand_in(key[1], key[0], min(many / every[key[1]], 1.0))
        elif len(some):
            left.append(key)
    if left:
        items_ = [(part, [(key[0], there[key]) for key in left]) for part, _ in parts]
        before = engine.map(_before, items_, "looking for identifiers")
        for place, key in enumerate(left):
            new = len(there[key]) - len(_union([one[place] for one in before]))
            words[key] = new_in(key[1], key[0], new) if new else None
    return thinned


def _known(
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


def _before(part: Microdata, asked: Sequence[tuple[str, NDArray[np.uint64]]]) -> list[NDArray[np.uint64]]:
    """Which of some values columns had in a chunk before."""
    frame, _ = _origin(part)
    return [
        np.intersect1d(_long_ones(Spelled.of(frame, name)), some) if name in frame.names else some[:0]
        for name, some in asked
    ]


def _union(some: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.unique(np.concatenate(some))


# --------------------------------------------------------------------------------------- who is alone


def _singled_out(
    engine: Engine,
    parts: Sequence[Frame],
    looked: _Looked,
    wanted: _Wanted,
    n: int,
    *,
    exact: bool,
) -> SingledOut:
    pairs = {pair: looked.kept["pair", *pair].alone / n for pair in wanted.pairs}
    worst = max(pairs, key=pairs.__getitem__) if pairs else None
    alone = min(looked.kept["same",].alone / n, 1.0) if wanted.same else 0.0
    if exact and wanted.same and wanted.share < 1:
        keys = engine.each(_keys, [range(n)], wanted.same, what=_WHAT, own=list(parts))
        sorted_ = engine.sort(keys, _WHAT)
        alone = engine.fold(runs_of, Runs.then, [sorted_], what=_WHAT).alone / n
    return SingledOut(
        alone,
        min(pairs[worst], 1.0) if worst else 0.0,
        worst or (),
        min(looked.kept["all",].alone / n, 1.0),
        len(wanted.same),
        len(pairs),
        share=wanted.share,
    )


def _keys(rows: range, names: Sequence[str], released: Frame) -> NDArray[np.int64]:
    return keys_of(released, names)
