"""Columns of a draft that belong to another one, if the table says so: the text of a code, the district of a city."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ..microdata import Kind, Role, Schema, words
from ..microdata.infer import LOOKED_AT
from ..microdata.names import read_name, split_name
from ..microdata.recognition import DATES, pairs
from ..microdata.words import Part
from .first_look import FirstLook

__all__ = ["with_leaders"]

ENOUGH = 0.99  # of the records in which a column is what most often stands beside the other one
_LEADING = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL, Role.UNDECIDED)
_YEARS = frozenset(["year", "yr", "jahr", "annee", "ano", "anno", "any", "jaar"])


def with_leaders(schema: Schema, look: FirstLook, but: Collection[str] = ()) -> Schema:
    """The schema with ``follows`` for columns that belong to a protected one.

    Whole numbers that another column describes are codes, and become categories. Candidates come from names: a
    description and its code, places, a year and a date. The table decides: the column
    must be what most often stands beside the value of the other one in 99 % of the records, and these values must
    repeat. Of several the one with the fewest values leads. Numbers and dates do not lead:
    what a method makes of them need not occur in the table, and nothing would belong to it.

    Parameters
    ----------
    schema
        A draft.
    look
        What its columns hold.
    but
        Columns whose roles were decided by a person.
    """
    schema = _with_codes(schema, look)
    for name, leaders in _candidates(schema).items():
        if name in but:
            continue
        found = []
        for leader in leaders:
            one = schema[leader]
            may_lead = one.follows is not None or (one.role in _LEADING and one.kind != Kind.CONTINUOUS)
            if may_lead and name not in _led_by(schema, leader):
                share, values = look.goes_with(leader, name, ENOUGH)
                found += [(values, leader, share)] if share >= ENOUGH else []
        if found:
            _, leader, share = min(found)
            why = f"goes with {leader!r} in {100 * share:.4g} % of the records: follows what is released of it"
            note = "; ".join(part for part in (schema[name].note, why) if part)
            bare = {"kind": None, "order": (), "taxonomy": None, "normalize": (), "match": "id", "decimals": None}
            bare |= {"notation": None, "open_ends": (), "coarsen": None}
            schema = schema.replace(name, **{**bare, "role": Role.OTHER, "follows": leader, "note": note})
    return schema


def _with_codes(schema: Schema, look: FirstLook) -> Schema:
    """The schema with whole numbers as categories where the table has a text for each of them."""
    for text, code in pairs(schema).items():
        one = schema[code]
        amounts = one.kind != Kind.CONTINUOUS or one.notation or one.open_ends or one.coarsen or DATES in one.note
        if amounts or schema[text].kind != Kind.NOMINAL:
            continue
        values = look.frequent(code, LOOKED_AT).spellings
        whole = all(re.fullmatch(r"-?\d+(\.0+)?", value) for value in values if value)
        if whole and look.goes_with(code, text, ENOUGH)[0] >= ENOUGH:
            note = "; ".join(
                part for part in (one.note, f"numbers that {text!r} describes: codes, not amounts") if part
            )
            schema = schema.replace(code, kind=Kind.NOMINAL, decimals=None, note=note)
    return schema


def _led_by(schema: Schema, name: str) -> list[str]:
    """A column, what it follows, and so on."""
    found = [name]
    while (leader := schema[found[-1]].follows) is not None:
        found.append(leader)
    return found


def _candidates(schema: Schema) -> dict[str, list[str]]:
    """For each column those that it may belong to, by their names."""
    found: dict[str, list[str]] = {}
    for name, leader in (*pairs(schema).items(), *_texts(schema), *_places(schema), *_years(schema)):
        if schema[name].role != Role.IDENTIFIER:
            found.setdefault(name, []).append(leader)
    return found


def _texts(schema: Schema) -> Iterator[tuple[str, str]]:
    """Descriptions, and the codes of a taxonomy that are about the same; or stand before one that says nothing else."""
    before = None
    for name in schema:
        read = read_name(name)
        about = set(read.meanings) if Part.LABEL in read.parts else set()
        codes = (one.name for one in schema.values() if one.kind == Kind.TAXONOMIC and one.name != name)
        yield from ((name, code) for code in codes if about & set(read_name(code).meanings))
        if Part.LABEL in read.parts and not about and before is not None and schema[before].kind == Kind.TAXONOMIC:
            yield name, before
        before = name


def _places(schema: Schema) -> Iterator[tuple[str, str]]:
    named = [name for name in schema if set(read_name(name).meanings) & {words.PLACE, words.POSTCODE}]
    yield from ((name, leader) for name in named for leader in named if name != leader)


def _years(schema: Schema) -> Iterator[tuple[str, str]]:
    years = [name for name in schema if _YEARS & set(split_name(name))]
    dates = [name for name in schema if DATES in schema[name].note]
    yield from ((name, leader) for name in years for leader in dates if name != leader)
