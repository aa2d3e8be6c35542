"""A draft of a schema from the data: kinds and roles are proposed; what is not recognised stays undecided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._support.spelling import spell
from ..errors import DataError
from .attribute import Attribute, Kind, Role
from .casting import is_temporal
from .clues import are_numbers, missing_looking, ranges, respelled, uniqueness
from .distinct import Frequent
from .frames import Frame
from .matching import Evidence, find_taxonomy
from .names import read_name
from .notation import Notation, find_notation, tidy
from .open_ends import OpenEnd, counted_as, find_open_ends, open_end
from .recognition import pairs, recognise
from .resolution import decimals_of
from .schema import Schema
from .words import Part

__all__ = ["LOOKED_AT", "Looked", "drafted", "infer", "with_pairs"]

_ENOUGH = 3  # different numbers beside an open end
_FEW = 5  # different texts among numbers
LOOKED_AT = 10_000  # distinct values of a column, the most frequent ones


def infer(frame: Any) -> Schema:
    """Draft a schema for a table, to be edited.

    Kinds come from the types and the values of the columns; codes are compared with the taxonomies that are
    shipped. Roles come from names, in eight languages, and from values. Every note states the evidence. What is not
    recognised is ``undecided``, and nothing is ever drafted as ``other``: what may leave as it is, is for people to
    decide, with `Schema.decide`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> draft = infer(pa.table({"age": [30, 41, 58], "sex": ["f", "m", "?"]}))
    >>> draft["age"].kind, draft["sex"].kind, draft["sex"].missing
    (<Kind.CONTINUOUS: 'continuous'>, <Kind.NOMINAL: 'nominal'>, ('', '?'))
    >>> draft["age"].role
    <Role.QUASI_IDENTIFIER: 'quasi_identifier'>
    """
    source = Frame(frame)
    return with_pairs(drafted(source, name) for name in source.names)


class Looked(Protocol):
    """What a draft looks at: a `Frame`, or a table of which no more is known than what its columns hold."""

    def scale(self, name: str) -> tuple[object, ...] | None: ...

    def arrow_type(self, name: str) -> Any: ...

    def frequent(self, name: str, limit: int) -> Frequent: ...


def with_pairs(attributes: Iterable[Attribute]) -> Schema:
    """A schema in which columns that describe the codes of another one are undecided, with a note that names it."""
    schema = Schema(attributes)
    for name, code in pairs(schema).items():
        why = f"seems to describe {code!r}: released beside it, it would tell what that was"
        if schema[name].role != Role.IDENTIFIER and why not in schema[name].note:
            schema = schema.replace(name, role=Role.UNDECIDED, note=_note(schema[name].note, why))
    return schema


def drafted(frame: Looked, name: str) -> Attribute:
    """The draft of one column, as far as the column itself tells."""
    scale = frame.scale(name)
    dtype = frame.arrow_type(name)
    if scale:
        missing = () if "" in map(spell, scale) else ("",)
        clue = recognise(name)
        note = _note("ordered by its type", clue.why)
        return Attribute(name, role=clue.role, kind=Kind.ORDINAL, order=scale, missing=missing, note=note)
    if dtype is not None and is_temporal(dtype):
        clue = recognise(name, dates=True)
        return Attribute(name, role=clue.role, kind=Kind.CONTINUOUS, note=_note("dates or times", clue.why))
    try:
        look = frame.frequent(name, LOOKED_AT)
    except DataError:
        clue = recognise(name)
        role = clue.role if clue.role == Role.IDENTIFIER else Role.UNDECIDED  # it has no kind, and cannot be protected
        return Attribute(
            name, role=role, note=_note(f"holds {dtype or 'objects'}: can only be passed through", clue.why)
        )
    return _draft_values(name, look)


def _draft_values(name: str, look: Frequent) -> Attribute:
    markers = sorted(missing_looking(look), key=lambda i: -look.counts[i])
    kept = [i for i in range(len(look.values)) if i not in markers]
    kind, options, notes = _kind(look, kept)
    if not look.complete:
        notes.append(f"looked at the {len(look.values):,} most frequent of {look.distinct:,} distinct values")
    notes += [f"{look.values[i]!r} ({_cells(look.counts[i])}) looks like missing" for i in markers]
    if kind in (Kind.NOMINAL, Kind.ORDINAL):
        notes += respelled(look, kept)
    present = Frequent([look.values[i] for i in kept], look.counts[kept], look.rows, look.distinct - len(markers))
    clue = recognise(name, present, taxonomy=options.get("taxonomy"))
    named = clue.codes and kind == Kind.CONTINUOUS and not {"notation", "open_ends"} & set(options)
    if named and all(float(look.spellings[i]).is_integer() for i in kept):
        kind, notes = Kind.NOMINAL, [*notes, "numbers that name something"]
    unique, role = uniqueness(look), clue.role
    if unique and role == Role.CONFIDENTIAL and Part.NUMBER in read_name(name).parts:  # tumour_no names the tumour
        role = Role.UNDECIDED
    notes += unique if role in (Role.IDENTIFIER, Role.UNDECIDED) else []
    missing = ("", *(look.values[i] for i in markers if look.spellings[i]))
    return Attribute(name, role=role, kind=kind, missing=missing, note=_note(*notes, clue.why), **options)


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
        notation, ambiguous = find_notation(texts)
        said = ["numbers written as text" if notation is None or not notation.dates else "dates written as Ymd"]
        if ambiguous:
            said.append("a point is read as that of decimals: if it stands between thousands, say so in the notation")
        return Kind.CONTINUOUS, {} if notation is None else {"notation": notation.text}, said
    if all(isinstance(value, str) for value in values) and (found := _written(texts)) is not None:
        return Kind.CONTINUOUS, *found
    order = ranges(texts) if all(isinstance(value, str) for value in values) else ()
    if order:
        return Kind.ORDINAL, {"order": order}, ["ranges, in order of their first number"]
    many = f"{look.distinct:,} distinct value{'s' if look.distinct != 1 else ''}"
    return Kind.NOMINAL, {}, [many, *_nearly_numbers(texts, look.counts[kept])]


def _written(texts: list[str]) -> tuple[dict[str, Any], list[str]] | None:
    """Numbers and dates that are written in another way than a computer would, and numbers with open ends."""
    ends = find_open_ends(texts)
    numbers = [text for text in texts if text not in ends]
    if not numbers or (ends and len(numbers) < _ENOUGH):
        return None
    how, ambiguous = find_notation(numbers)
    if how is None and not are_numbers(numbers, numbers):
        return None
    options: dict[str, Any] = {} if how is None else {"notation": how.text}
    notes = [] if how is None else [f"{'dates' if how.dates else 'numbers'} written as {how.text}"]
    if ambiguous and how is not None:
        notes.append(f"{numbers[0]!r} is read with {how.text}: check whether its sign stands before decimals")
    if ends:
        if how is not None and how.dates:
            return None
        counted = _counted(list(ends.values()), numbers, how)
        if counted is None:
            return None
        options["open_ends"] = counted
        notes += [f"{text!r} counts as {number:g}" for text, number in counted.items()]
    return options, notes


def _nearly_numbers(texts: Sequence[str], counts: NDArray[np.int64]) -> list[str]:
    """A remark on a column of numbers in which a few texts stand as well."""
    places = [i for i, text in enumerate(texts) if not re.search(r"\d", text) or open_end(text) is not None]
    numbers = [text for i, text in enumerate(texts) if i not in places]
    few = 0 < len(places) <= _FEW and 10 * counts[places].sum() <= counts.sum() and len(numbers) >= 10
    if not few or not (are_numbers(numbers, numbers) or find_notation(numbers)[0] is not None):
        return []
    said = ", ".join(f"{texts[i]!r} ({_cells(counts[i])})" for i in places)
    if any(open_end(texts[i]) for i in places):
        return [f"numbers but for {said}, beyond which other numbers lie: taken for categories"]
    return [f"numbers but for {said}: say that this means missing, and choose numbers"]


def _cells(count: int) -> str:
    return f"{count:,} cell{'s' if count != 1 else ''}"


def _counted(ends: list[OpenEnd], numbers: list[str], how: Notation | None) -> dict[str, float] | None:
    """What each open end counts as: its limit, or the next number beyond it; None if some numbers are beyond."""
    import pyarrow as pa

    plain = tidy(pa.array(numbers, pa.large_string()))
    values = (plain if how is None else how.plain(plain)).cast(pa.float64()).to_numpy(zero_copy_only=False)
    step = 10.0 ** -(decimals_of(values) or 0)
    read = [(end.text, open_end(end.text, how)) for end in ends]
    found = {text: counted_as(end, values, step) for text, end in read if end is not None}
    if len(found) < len(ends):
        return None
    kept = {text: number for text, number in found.items() if number is not None}
    return kept if len(kept) == len(found) else None


def _reasons(evidence: Evidence, *, written: bool) -> list[str]:
    reasons = [str(evidence)]
    if evidence.leading_zeros and not written:
        reasons.append("held as numbers: codes that lost leading zeros may mean something else, keep them as text")
    return reasons


def _note(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
