"""The search for leaks in a table of more than one chunk, so that nothing holds more of it than a few chunks.

Identifiers are looked for in every record, chunk by chunk; how many hits there are by chance is counted on rows of the
same chunk that do not belong together. Whether values repeat, and who is alone, is counted on values that are kept with
all their records (`Kept`): all of them in tables that are not much longer than a chunk, else a share of them. Twins,
and numbers that are an identifier + c or × c, are looked for in a sample of the records, and other guises in 4,096 of
these. What was looked at is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .long_chunks import Looked, Wanted, by_chance, had_before, known_in, look
from .seen import Seen, seen
from .singled_out import SingledOut, widest_pairs
from .split import Part, split_among
from .twins import Finding, Told, pairs_to_try, told_by
from .values import Kept

__all__ = ["LongLeaks", "look_for_leaks"]

_LEAST_SAMPLE = 4096  # records, at least
_WHAT = "looking for leaks"


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

    untouched: tuple[Seen, ...]
    letters: Mapping[str, bool]
    found: Mapping[tuple[str, str], str]
    parts: Sequence[Part]
    told: tuple[Told, ...]
    pairs: list[tuple[int, int]]
    left_out: int


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
    sample, size = _sampled(engine, data, released, masked, names, same, targets)
    two = [(same[a], same[b]) for a, b in widest_pairs(sample.untouched)]
    wanted = Wanted(tuple(names), tuple(same), tuple(two), sample.letters, min(1.0, size / data.n), data.units is None)
    parts = [(data.part(start, stop, []), released.part(start, stop)) for start, stop in engine.parts(data.n)]
    looked = reduce(Looked.with_, engine.map(look, [(*part, wanted) for part in parts], _WHAT))
    repeats = [name for name in sample.letters if MANY * looked.kept["id", name].size <= looked.present[name]]
    asked = [(name, of) for name in names for of in sample.letters if name in same or of not in repeats]
    words = _beyond_chance(engine, parts, asked, looked, sample.letters)
    for key in asked:
        words[key] = words.get(key) or sample.found.get(key)
    thinned = _anywhere(engine, parts, asked, words, looked, sample.letters)
    by_name = {one.name: one for one in sample.untouched}
    for name, of in asked:
        if name in by_name:
            words[name, of] = words.get((name, of)) or _one_to_one(name, of, looked, by_name[name])
    held = [Finding((name,), of, found) for (name, of), found in words.items() if found is not None]
    held += split_among(part for part in sample.parts if words.get((part.column, part.of)) is None)
    frames = [released for _, released in parts]
    if data.units is not None:
        single = alone_of_people(engine, data.units, data.unit, frames, (names, same, two), exact=exact)
    else:
        single = _singled_out(engine, frames, looked, wanted, data.n, exact=exact)
    return LongLeaks(
        tuple(held),
        sample.told,
        single,
        sample.untouched,
        sample.pairs,
        sample.left_out,
        tuple(repeats),
        size,
        tuple(thinned),
    )


def _beyond_chance(
    engine: Engine,
    parts: Sequence[tuple[Microdata, Frame]],
    asked: Sequence[tuple[str, str]],
    looked: Looked,
    letters: Mapping[str, bool],
) -> dict[tuple[str, str], str | None]:
    """What is said of columns in whose rows identifiers stand, if they do so more often than by chance."""
    hits = [key for key in asked if looked.hits[key] > LEAST and looked.kept["column", key[0]].size > LEAST]
    if not hits:
        return {}
    chance = engine.map(by_chance, [(*part, hits, letters) for part in parts], "looking for identifiers")
    moved = np.sum(chance, axis=0).tolist()
    n = sum(released.n for _, released in parts)
    return {
        key: beyond_chance(key[1], key[0], looked.hits[key], some, n) for key, some in zip(hits, moved, strict=True)
    }


# --------------------------------------------------------------------------------------- a sample of the records


def _sampled(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Microdata,
    names: Sequence[str],
    same: Sequence[str],
    targets: Sequence[str],
) -> tuple[_InSample, int]:
    """What a sample of the records tells, drawn at equal distances, and how many these are."""
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
    asked = (tuple(names), tuple(same), tuple(targets))
    return engine.run(_in_sample, original, some, method, *asked, n, what="looking for twins"), size


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
    columns = {name: seen(released, name) for name in names}
    identifiers = [identifier_of(data, name) for name in data.schema.identifiers]
    found: dict[tuple[str, str], str] = {}
    parts: list[Part] = []
    for column in columns.values():
        hidden, some = in_disguise(identifiers, released, column, column.name in same)
        found |= {(column.name, of): words for of, words in hidden.items()}
        parts += some
    untouched = tuple(columns[name] for name in same)
    pairs, left_out = pairs_to_try(untouched, n)
    told = tuple(told_by(data, masked, name, untouched, pairs) for name in targets)
    return _InSample(untouched, {one.name: one.letters for one in identifiers}, found, parts, told, pairs, left_out)


# --------------------------------------------------------------------------------------- every record


def _one_to_one(name: str, of: str, looked: Looked, column: Seen) -> str | None:
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
    looked: Looked,
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
    found = engine.map(known_in, items, "looking for identifiers")
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
        before = engine.map(had_before, items_, "looking for identifiers")
        for place, key in enumerate(left):
            new = len(there[key]) - len(_union([one[place] for one in before]))
            words[key] = new_in(key[1], key[0], new) if new else None
    return thinned


def _union(some: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.unique(np.concatenate(some))


# --------------------------------------------------------------------------------------- who is alone


def _singled_out(
    engine: Engine,
    parts: Sequence[Frame],
    looked: Looked,
    wanted: Wanted,
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
