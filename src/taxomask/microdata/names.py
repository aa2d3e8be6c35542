"""The words in the name of a column, and what they mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .words import MEANINGS, Meaning, Part

__all__ = ["Read", "read_name", "split_name"]

_JOINTS = ("", "s", "n", "e", "en", "er", "es")
_SHORT = frozenset(
    ["id", "nr", "no", "dt", "dat", "geb", "pat", "num", "hh", "age", "sex", "adm", "art"]
)  # that may be part of a compound
_LONGEST = 5  # words of a phrase


@dataclass(frozen=True)
class Read:
    """What the words of a name say: meanings in order of weight, parts, and how many words say nothing."""

    meanings: tuple[Meaning, ...]
    parts: frozenset[Part]
    unknown: int


@lru_cache(maxsize=4096)
def read_name(name: str) -> Read:
    """What the words in the name of a column mean.

    >>> [one.about for one in read_name("Geburtsdatum").meanings]
    ['a date or place of birth']
    >>> read_name("PatientNr").parts == {Part.PERSON, Part.UNIT, Part.NUMBER}
    True
    """
    words = split_name(name)
    found: list[Meaning | Part] = []
    unknown, at = 0, 0
    while at < len(words):
        for end in range(min(len(words), at + _LONGEST), at, -1):
            said = _said(words[at]) if end == at + 1 else _phrase("".join(words[at:end]))
            if said:
                found += said
                at = end
                break
        else:
            unknown += not words[at].isdigit()
            at += 1
    meanings = tuple(one for one in MEANINGS if one in found)
    parts = {one for one in found if isinstance(one, Part)} - {Part.SMALL}
    if parts & {Part.PERSON, Part.HOUSEHOLD}:
        parts.add(Part.UNIT)
    return Read(meanings, frozenset(parts), unknown)


def split_name(name: str) -> list[str]:
    """The words of a name, without accents and in lower case; numbers are words too, and "n°" is "numero".

    >>> split_name("Straße_2"), split_name("dateEntrée"), split_name("HIVStatus"), split_name("E-Mail")
    (['strasse', '2'], ['date', 'entree'], ['hiv', 'status'], ['e', 'mail'])
    """
    name = re.sub(r"(?i)\bn[°º]", "numero ", name)
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    pieces = re.findall(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain)
    return [piece.casefold() for piece in pieces]


@lru_cache(maxsize=1)
def _lexicon() -> Mapping[str, Meaning | Part]:
    words: dict[str, Meaning | Part] = {}
    for group in (*reversed(MEANINGS), *Part):  # of a word in several meanings the first one counts
        for word in (group.value if isinstance(group, Part) else group.words).split():
            for spelled in _spellings(word):
                if isinstance(group, Meaning) or spelled not in words:
                    words[spelled] = group
    return words


def _spellings(word: str) -> Iterator[str]:
    """A word without accents, and with umlauts written as two letters."""
    yield "".join(split_name(word))
    wide = word.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    if wide != word:
        yield "".join(split_name(wide))


def _phrase(joined: str) -> list[Meaning | Part]:
    """What several words say together, if they are known so."""
    known = _lexicon()
    return [known[joined]] if joined in known else []


def _said(word: str) -> list[Meaning | Part]:
    """What a word says: it is known, or put together of words that are."""
    return _phrase(word) or (_compound(word) if len(word) > 3 else [])


def _compound(word: str) -> list[Meaning | Part]:
    """What the parts of a compound say; empty if it is none. Of several cuts that with the longest first part."""
    known = _lexicon()
    for end in range(len(word), 1, -1):
        head, rest = word[:end], word[end:]
        if head not in known or (len(head) < 4 and head not in _SHORT):
            continue
        for joint in _JOINTS:
            tail = rest.removeprefix(joint) if rest.startswith(joint) else None
            if tail is None:
                continue
            if not tail:
                return [known[head]]
            if tail in known and (len(tail) > 3 or tail in _SHORT):
                return [known[head], known[tail]]
            further = _compound(tail) if len(tail) > 5 else []
            if further:
                return [known[head], *further]
    return []
