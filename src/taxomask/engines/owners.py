"""Whose the rows of a long table are, found chunk by chunk: the same numbers as `Owners.of` gives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Attribute, Schema
from ..microdata.frames import Frame
from ..microdata.meanings import meaning
from ..microdata.numeric import read_numbers
from ..microdata.people import Owners, check_population, check_weights, joined_households, meanings, wrong_weights
from .base import Engine

__all__ = ["owners_on"]

_WHAT = "telling people apart"
_NOBODY = np.int64(1 << 62)  # hashes are smaller; from here on numbers stand for rows that name nobody

Whole = NDArray[np.int64]


def owners_on(engine: Engine, frame: Frame, schema: Schema, rows: NDArray[np.int64]) -> Owners:
    """The owners of some rows of a table; of one of more than a chunk no job looks at all names.

    Names are compared by 124 bits of a hash of what they say: half of them sort the rows, the other half must agree.
    """
    named = [None if name is None else schema[name] for name in (schema.person, schema.household)]
    if len(rows) <= engine.chunk or (named == [None, None] and schema.sampling_weight is None):
        return _in_one_job(engine, frame, schema, rows)
    each = schema.missing_person == "each"
    hashes = [None if one is None else _hashed(engine, frame, one, rows) for one in named]
    numbers = [None if one is None else _numbered(engine, one, each=each) for one in hashes]
    if any(one is not None and number is None for one, number in zip(named, numbers, strict=True)):
        return _in_one_job(engine, frame, schema, rows)
    people, households = numbers
    if people is not None and households is not None:
        known = [engine.each(_known, [one, of[0]], what=_WHAT) for one, of in zip(numbers, hashes, strict=True) if of]
        households = engine.run(joined_households, *known, each, what=_WHAT)
    weights = None if schema.sampling_weight is None else _weights(engine, frame, schema[schema.sampling_weight], rows)
    owners = len(rows) if people is None else engine.fold(_largest, max, [people], what=_WHAT) + 1
    check_population(schema, owners)
    return Owners(people, households, weights)


def _in_one_job(engine: Engine, frame: Frame, schema: Schema, rows: Whole) -> Owners:
    owners: Owners = engine.run(Owners.of, frame, schema, rows, what=_WHAT)
    return owners


def _hashed(engine: Engine, frame: Frame, attribute: Attribute, rows: Whole) -> tuple[Whole, Whole]:
    """Two numbers for the name in each row; -1 where there is none."""
    first, second = engine.each(_hashes, [frame], attribute, what=_WHAT)
    if len(rows) < frame.n:
        return engine.run(_some, first, rows, what=_WHAT), engine.run(_some, second, rows, what=_WHAT)
    return first, second


def _hashes(frame: Frame, attribute: Attribute) -> tuple[Whole, Whole]:
    distinct = frame.distinct(attribute.name)
    absent = {meaning(marker) for marker in attribute.missing}
    found = np.full((distinct.size + 1, 2), -1, dtype=np.int64)
    for place, text in enumerate(meanings(distinct).to_pylist()):
        if text not in absent:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            found[place] = np.frombuffer(digest, dtype="<i8") & (_NOBODY - 1)
    each = found[distinct.codes]
    return np.ascontiguousarray(each[:, 0]), np.ascontiguousarray(each[:, 1])


def _some(values: Whole, rows: Whole) -> Whole:
    return values[rows]


def _numbered(engine: Engine, hashes: tuple[Whole, Whole], *, each: bool) -> Whole | None:
    """The number of the owner of each row, in the order of their first rows; rows that name nobody are
    one, or one each.

    Rows are sorted by owner; the first row of each owner is where a new number begins. None if half a hash does not
    tell all names apart.
    """
    first, second = hashes
    n = len(first)
    keys = engine.each(_keys, [first, range(n)], each, what=_WHAT)
    order = engine.order(keys, _WHAT)
    places = engine.move(engine.each(_range, [range(n)], what=_WHAT), order, what=_WHAT)
    keys = engine.move(keys, places, what=_WHAT)
    second = engine.move(second, places, what=_WHAT)
    if engine.fold(_unlike, add, [second, _from_first(engine, keys, second)], what=_WHAT):
        return None
    starts = engine.move(_from_first(engine, keys, order), order, what=_WHAT)  # the first row of each row's owner
    new = engine.map(_new, engine.cut([starts, range(n)]), _WHAT)
    before = np.concatenate([[0], np.cumsum(new)[:-1]]).tolist()
    counted = engine.each(_counted, [starts, range(n)], what=_WHAT, own=before)
    numbers = _from_first(engine, keys, engine.move(counted, places, what=_WHAT))
    found: Whole = engine.move(numbers, order, what=_WHAT)
    return found


def _keys(first: Whole, rows: range, each: bool) -> Whole:
    """What rows are sorted by."""
    nobody = _NOBODY + (np.arange(rows.start, rows.stop) if each else 0)
    return np.where(first < 0, nobody, first)


def _range(rows: range) -> Whole:
    return np.arange(rows.start, rows.stop)


def _unlike(one: Whole, other: Whole) -> int:
    return int((one != other).sum())


def _from_first(engine: Engine, keys: Whole, values: Whole) -> Whole:
    """For each of some sorted keys the value that the first of the equal ones has."""
    carried: tuple[int, int] | None = None
    own: list[int | None] = []
    for key_first, key_last, value in engine.map(_ends, engine.cut([keys, values]), _WHAT):
        before = None if carried is None or carried[0] != key_first else carried[1]
        own.append(before)
        carried = (key_last, value if before is None or key_first != key_last else before)
    found: Whole = engine.each(_spread, [keys, values], what=_WHAT, own=own)
    return found


def _ends(keys: Whole, values: Whole) -> tuple[int, int, int]:
    """The first key of a chunk, the last one, and the value at the first of those that equal the last."""
    return int(keys[0]), int(keys[-1]), int(values[np.searchsorted(keys, keys[-1])])


def _spread(keys: Whole, values: Whole, carried: int | None) -> Whole:
    starts = np.concatenate([[True], keys[1:] != keys[:-1]])
    firsts = values[starts]
    if carried is not None:
        firsts[0] = carried
    return np.asarray(firsts[np.cumsum(starts) - 1])


def _new(starts: Whole, rows: range) -> int:
    """How many owners have their first row in a chunk."""
    return int((starts == np.arange(rows.start, rows.stop)).sum())


def _counted(starts: Whole, rows: range, before: int) -> Whole:
    """How many owners began before each row."""
    new = starts == np.arange(rows.start, rows.stop)
    return before + np.cumsum(new) - new


def _known(numbers: Whole, hashes: Whole) -> Whole:
    """The numbers of rows that name somebody; -1 of others."""
    return np.where(hashes < 0, -1, numbers)


def _largest(numbers: Whole) -> int:
    return int(numbers.max(initial=-1))


def _weights(engine: Engine, frame: Frame, attribute: Attribute, rows: Whole) -> NDArray[np.float64]:
    weights = engine.each(_read_weights, [frame, range(frame.n)], attribute, what=_WHAT)
    if len(rows) < frame.n:
        weights = engine.run(_some, weights, rows, what=_WHAT)
    found: Sequence[Any] = engine.map(wrong_weights, engine.cut([weights, rows]), _WHAT)
    check_weights(attribute.name, found)
    return weights


def _read_weights(frame: Frame, rows: range, attribute: Attribute) -> NDArray[np.float64]:
    return read_numbers(frame, attribute, rows.start).values
