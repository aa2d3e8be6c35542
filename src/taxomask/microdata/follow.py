"""Columns that follow another one: the released text is the one that belongs to the released code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TaxonomyError
from ..taxonomy import Taxonomy
from .alike import alike
from .casting import grain
from .coding import code
from .columns import CategoricalColumn, Column, TaxonomicColumn
from .distinct import Distinct
from .frames import Frame
from .numeric import is_text, value_type
from .schema import Schema

__all__ = ["Followed", "followed"]

Codes = NDArray[np.int32]
_MOST = 0.9  # of the values of a column: concepts of a taxonomy, it is one of its levels


@dataclass(frozen=True, eq=False)
class Followed:
    """A column that follows another, as it is released: its values, and how many cells found none of their own.

    ``labelled`` cells took their text from the taxonomy, ``emptied`` ones have no value, as none belongs to the
    released value of the column that they follow. ``single`` values are released that stood in one record only,
    though what they follow stood in several: they may speak of whom that record was about.
    """

    values: Distinct
    labelled: int = 0
    emptied: int = 0
    single: int = 0


def followed(frame: Frame, schema: Schema, columns: Mapping[str, Column], name: str) -> Followed:
    """What a column becomes when the one that it follows is released as in ``columns``.

    Each released value takes the value that most often stands beside it in the original table; of equally common ones
    the first in the order of their spelling. One that does not occur there takes what its taxonomy says: the concept
    above it on the level of the following column, if that holds concepts of the taxonomy, or else its label; and else
    nothing. Beside a missing value there is none.

    Parameters
    ----------
    frame
        The table as it came.
    schema
        What its columns are.
    columns
        The coded columns as they are released.
    name
        The column that follows.
    """
    own = frame.distinct(name)
    leader = str(schema[name].follows)
    released: Column | None = None
    if leader in columns:
        before, released = alike(code(frame, schema[leader]).column, columns[leader])
        keys, wanted, size = _numbered(before, released, grain(value_type(frame, schema[leader])))
    elif schema[leader].follows is not None:
        theirs = followed(frame, schema, columns, leader).values
        keys, wanted, size = frame.distinct(leader).codes, theirs.codes, theirs.size
    else:
        return Followed(own)  # what it follows is passed through, and so is this
    usual = _usual(keys, own, size)
    single = _single(keys, own, usual, wanted)
    values, labelled = list(own.values), 0
    if isinstance(released, TaxonomicColumn) and isinstance(before, TaxonomicColumn):
        text = is_text(frame.arrow_type(name)) if frame.arrow_type(name) is not None else True
        new = _from_taxonomy(before, released, keys, own, usual, text)
        for place, value in new.items():
            usual[place] = len(values)
            values.append(value)
        labelled = int(np.isin(wanted, list(new)).sum())
    codes = np.append(usual, np.int32(-1))[np.where(wanted < 0, size, wanted)]
    emptied = int(((codes < 0) & (wanted != -1)).sum())
    return Followed(Distinct(codes.astype(np.int32), values), labelled, emptied, single)


def _numbered(before: Column, released: Column, unit: float) -> tuple[Codes, Codes, int]:
    """The values of a column before and after in one numbering: -1 is missing, -2 one that did not occur before."""
    if isinstance(before, CategoricalColumn) and isinstance(released, CategoricalColumn):
        return before.codes, released.codes, len(before.categories)
    old, new = (np.rint(one.numbers() / unit) if unit else one.numbers() for one in (before, released))
    known, inverse = np.unique(old[~np.isnan(old)], return_inverse=True)
    keys = np.full(len(old), -1, dtype=np.int32)
    keys[~np.isnan(old)] = inverse
    place = np.searchsorted(known, new).clip(max=max(len(known) - 1, 0))
    same = known[place] == new if len(known) else np.zeros(len(new), bool)
    wanted = np.where(np.isnan(new), -1, np.where(same, place, -2)).astype(np.int32)
    return keys, wanted, len(known)


def _usual(keys: Codes, own: Distinct, size: int) -> Codes:
    """For each key the value that stands beside it most often; of equally common ones the first in spelling."""
    both = (keys >= 0) & (own.codes >= 0)
    pairs, counts = np.unique(keys[both].astype(np.int64) * max(own.size, 1) + own.codes[both], return_counts=True)
    key, value = pairs // max(own.size, 1), pairs % max(own.size, 1)
    spelled = np.empty(own.size, dtype=np.int64)
    spelled[sorted(range(own.size), key=lambda place: own.spellings[place])] = np.arange(own.size)
    order = np.lexsort((spelled[value], -counts, key))
    first = order[np.flatnonzero(np.diff(key[order], prepend=-1))]
    usual = np.full(size, -1, dtype=np.int32)
    usual[key[first]] = value[first]
    return usual


def _single(keys: Codes, own: Distinct, usual: Codes, wanted: Codes) -> int:
    """How many of the values that are released stood in one record only, and what they follow in several."""
    used = np.unique(wanted[wanted >= 0])
    used = used[usual[used] >= 0]
    records = np.bincount(own.codes[own.codes >= 0], minlength=own.size)
    led = np.bincount(keys[keys >= 0], minlength=len(usual))
    return int(((records[usual[used]] == 1) & (led[used] > 1)).sum())


# --------------------------------------------------------------------------------------- from a taxonomy


def _from_taxonomy(
    before: TaxonomicColumn, released: TaxonomicColumn, keys: Codes, own: Distinct, usual: Codes, text: bool
) -> dict[int, str]:
    """What the taxonomy says for released concepts beside which no value stood, by their number."""
    absent = np.flatnonzero((usual < 0) & (released.counts > 0) & (released.positions >= 0))
    if not len(absent) or not text:
        return {}
    taxonomy = released.attribute.taxonomies[0][0]
    concepts = released.positions[absent].tolist()
    level = _level(taxonomy, before, keys, own)
    if level is None:
        found = [taxonomy.labels[position] or None for position in concepts]
    else:
        places, match = level
        above = [_above(taxonomy, position, places) for position in concepts]
        found = [None if place is None else taxonomy.names([place], match=match)[0] for place in above]
    return {number: name for number, name in zip(absent.tolist(), found, strict=True) if name is not None}


def _level(
    taxonomy: Taxonomy, before: TaxonomicColumn, keys: Codes, own: Distinct
) -> tuple[NDArray[np.int32], Any] | None:
    """The concepts that a following column holds and how they are spelled, if it is a level above the codes."""
    both = (keys >= 0) & (own.codes >= 0)
    pairs = np.unique(np.stack([keys[both], own.codes[both]]), axis=1)
    matches: tuple[Any, ...] = ("id", "code", "label")
    for match in matches:
        try:
            places = taxonomy.lookup(own.spellings, match=match)
        except TaxonomyError:  # one of them means several concepts
            continue
        if not pairs.size or (places[pairs[1]] >= 0).mean() < _MOST:
            continue
        concepts = zip(before.positions[pairs[0]].tolist(), places[pairs[1]].tolist(), strict=True)
        kinds = [0 if a == b else 1 if b >= 0 and a >= 0 and b in taxonomy.closure.ancestors(a) else 2
                 for a, b in concepts]  # fmt: skip
        if kinds.count(1) >= _MOST * (len(kinds) - kinds.count(0)) and kinds.count(1):
            return np.unique(places[places >= 0]), match
    return None


def _above(taxonomy: Taxonomy, position: int, places: NDArray[np.int32]) -> int | None:
    """The concept at or above this one on a level: one that occurs there, or else one as deep; None if it is higher."""
    ancestors = taxonomy.closure.ancestors(position)
    found = ancestors[np.isin(ancestors, places)]
    if not len(found):
        found = ancestors[np.isin(taxonomy.depth[ancestors], np.unique(taxonomy.depth[places]))]
    return int(found[np.lexsort((found, -taxonomy.depth[found]))[0]]) if len(found) else None
