"""A draft of a schema from the data: kinds are proposed, roles are left to people."""

from __future__ import annotations

import re
from typing import Any

from ..errors import DataError
from .attribute import Attribute, Kind
from .casting import is_temporal
from .clues import are_numbers, missing_looking, name_hints, ranges, respelled, uniqueness
from .distinct import Frequent
from .frames import Frame
from .matching import Evidence, find_taxonomy
from .schema import Schema
from .spelling import spell

__all__ = ["infer"]

LOOKED_AT = 10_000  # distinct values of a column, the most frequent ones


def infer(frame: Any) -> Schema:
    """Draft a schema for a table, to be edited.

    Kinds come from the types and the values of the columns; codes are compared with the taxonomies that are
    shipped. Every note states the evidence. Roles are left open: what identifies a person is for people to
    decide.

    Examples
    --------
    >>> import pyarrow as pa
    >>> draft = infer(pa.table({"age": [30, 41, 58], "sex": ["f", "m", "?"]}))
    >>> draft["age"].kind, draft["sex"].kind, draft["sex"].missing
    (<Kind.CONTINUOUS: 'continuous'>, <Kind.NOMINAL: 'nominal'>, ('', '?'))
    """
    source = Frame(frame)
    return Schema(_draft(source, name) for name in source.names)


def _draft(frame: Frame, name: str) -> Attribute:
    scale = frame.scale(name)
    dtype = frame.arrow_type(name)
    if scale:
        missing = () if "" in map(spell, scale) else ("",)
        note = _note("ordered by its type", *name_hints(name))
        return Attribute(name, kind=Kind.ORDINAL, order=scale, missing=missing, note=note)
    if dtype is not None and is_temporal(dtype):
        return Attribute(name, kind=Kind.CONTINUOUS, note=_note(f"dates or times ({dtype})", *name_hints(name)))
    try:
        look = frame.frequent(name, LOOKED_AT)
    except DataError:
        note = _note(f"holds {dtype or 'objects'}: can only be passed through", *name_hints(name))
        return Attribute(name, note=note)
    return _draft_values(name, look)


def _draft_values(name: str, look: Frequent) -> Attribute:
    markers = sorted(missing_looking(look), key=lambda i: -look.counts[i])
    kept = [i for i in range(len(look.values)) if i not in markers]
    kind, options, notes = _kind(look, kept)
    if not look.complete:
        notes.append(f"looked at the {len(look.values):,} most frequent of {look.distinct:,} distinct values")
    notes += [f"{look.values[i]!r} ({look.counts[i]:,} cells) looks like missing" for i in markers]
    if kind in (Kind.NOMINAL, Kind.ORDINAL):
        notes += respelled(look, kept)
    notes += uniqueness(look) + name_hints(name, share=look.distinct / max(look.rows, 1))
    missing = ("", *(look.values[i] for i in markers if look.spellings[i]))
    return Attribute(name, kind=kind, missing=missing, note=_note(*notes), **options)


def _kind(look: Frequent, kept: list[int]) -> tuple[Kind, dict[str, Any], list[str]]:
    """The kind of a column, what else the attribute needs, and why."""
    values = [look.values[i] for i in kept]
    texts = [look.spellings[i] for i in kept]
    if not kept:
        return Kind.NOMINAL, {}, ["holds no values"]
    if all(isinstance(value, bool) for value in values):
        return Kind.NOMINAL, {}, ["true or false"]
    evidence = find_taxonomy(texts, look.counts[kept])
    if evidence is not None:
        how = {"taxonomy": evidence.taxonomy, "match": evidence.match, "normalize": evidence.normalize}
        return Kind.TAXONOMIC, how, _reasons(evidence, written=isinstance(values[0], str))
    if are_numbers(values, texts):
        if set(texts) in ({"0", "1"}, {"1", "2"}):
            return Kind.NOMINAL, {}, ["two values only"]
        if not isinstance(values[0], str):
            return Kind.CONTINUOUS, {}, []
        if any(re.match(r"[+-]?0[0-9]", text) for text in texts):
            return Kind.NOMINAL, {}, ["numbers with leading zeros"]
        return Kind.CONTINUOUS, {}, ["numbers written as text"]
    order = ranges(texts) if all(isinstance(value, str) for value in values) else ()
    if order:
        return Kind.ORDINAL, {"order": order}, ["ranges, in order of their first number"]
    return Kind.NOMINAL, {}, [f"{look.distinct:,} distinct value{'s' if look.distinct != 1 else ''}"]


def _reasons(evidence: Evidence, *, written: bool) -> list[str]:
    reasons = [str(evidence)]
    if evidence.leading_zeros and not written:
        reasons.append("held as numbers: codes that lost leading zeros may mean something else, keep them as text")
    return reasons


def _note(*parts: str) -> str:
    return "; ".join(parts)
