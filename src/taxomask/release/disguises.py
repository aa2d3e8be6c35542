"""Parts of an identifier, and what is computed from it, in cells of the same row of a sample of 4,096 records.

- Three digits or more, forwards, backwards or in the order of a date, all that a cell has or one number in it; a date
  without its zeros (3.5.45); and four digits or more, all of the identifier, among those of a longer number (a year
  before it, a check digit behind it).
- Of names and the like, the word that is rarest among all of them: the surname, in whatever text; and a cell of four
  letters or more that is a part of the identifier.
- Of names without digits a cell that is one of their words, even if one record of five has it by chance (a first name),
  or their initials, in half of the records.
- What anybody can compute: the letters backwards, hexadecimal, base32 and base64, CRC-32, and MD5, SHA-1, SHA-2, SHA-3
  and BLAKE2 of the identifier as it stands, in small and in capital letters, and of its digits: as a cell, its first
  four letters or six digits, or any eight; in a text, the first eight; as a number, the first of the digits.

What stands there by chance is counted on rows that do not belong together; a part that one record of a hundred has by
chance tells little and is no finding.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .twins import percent

__all__ = ["LEAST", "MOVES", "SAMPLE", "Cells", "Clues", "hidden_in", "sampled"]

LEAST = 4  # hits beyond chance that are not yet a finding
MOVES = 7  # parts of a table by which rows are moved, to count what chance does
SAMPLE = 4096  # records that are looked at
RARE = 0.01  # of the records: a part that others have as often tells little
SHARE = 0.1  # of the records in which digits must stand
PART = 4  # letters or digits, at least
WORDS = range(2, 6)  # of an identifier that names somebody
NAMED = 0.5  # of the records, in which a word or initials that others have as well must stand
INITIALS = 0.05  # of the records: initials that others have as often tell little
FIRST_NAMES = 0.2  # the same of words
_WORD = re.compile(r"[^\W\d_]{3,}")
_DIGITS = 6  # of a number that a code begins with; among so many codes shorter ones are chance
_INSIDE = 8  # letters of a code that may stand alone
_NUMBERS = (hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.sha512)  # hashes of which numbers are made
_HASHES = (*_NUMBERS, hashlib.sha224, hashlib.sha384, hashlib.sha3_256, hashlib.sha3_512, hashlib.blake2b)
_HEXADECIMAL = re.compile("[0-9a-f]{8,64}")
_SIGNS = str.maketrans("", "", "+/=")
_CUTS = (7, 8, 15, 16)  # digits of a hash that are taken for a number

Array = Any  # pyarrow.Array
Texts = list[str | None]
_Try: TypeAlias = tuple[str, float, float, Callable[[Any, Any], bool], Sequence[Any], Sequence[Any]]


def sampled(n: int) -> NDArray[np.int64]:
    """The rows that are looked at, of n."""
    return np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Codes:
    """What can be computed from an identifier.

    >>> codes = Codes.of(["ce10", "7d57e2acb84d4de2"])
    >>> codes.stand_in("7d57"), codes.stand_in("e2acb84d"), codes.stand_in("hash: 7d57e2ac"), codes.stand_in("e10")
    (True, True, True, False)
    """

    joined: str  # each after a line break
    begin: frozenset[str]  # with these eight letters
    short: tuple[str, ...]

    @classmethod
    def of(cls, codes: Iterable[str]) -> Codes:
        every = list(codes)
        short = tuple(one for one in every if len(one) < _INSIDE)
        return cls("\n".join(("", *every)), frozenset(one[:_INSIDE] for one in every if len(one) >= _INSIDE), short)

    def stand_in(self, text: str) -> bool:
        """Whether one of them stands in a cell, at least its first eight letters, or is all of it or a part."""
        if len(text) >= (_DIGITS if text.isdigit() else PART) and (
            f"\n{text}" in self.joined or (len(text) >= _INSIDE and text in self.joined)
        ):
            return True
        if len(text) > _INSIDE and not self.begin.isdisjoint(_pieces(text)):
            return True
        return any(code in text for code in self.short)


@lru_cache(maxsize=SAMPLE)
def _pieces(text: str) -> frozenset[str]:
    """All pieces of eight letters of a text."""
    return frozenset(text[place : place + _INSIDE] for place in range(len(text) - _INSIDE + 1))


@dataclass(frozen=True, eq=False)
class Clues:
    """What may be found of an identifier, in each sampled record.

    Its letters and digits, its digits, its rarest word if it has several, of names all words and the initials, and the
    codes that can be computed from it.
    """

    texts: Texts
    digits: Texts
    words: Texts
    names: Sequence[frozenset[str] | None]
    initials: Sequence[tuple[str, ...] | None]
    codes: Sequence[Codes | None]

    @classmethod
    def of(cls, spelled: Texts, plain: Texts, whole: Texts, digits: Texts, *, people: bool) -> Clues:
        """Values as they stand, without accents, their letters and digits, and their digits; ``people`` says that they
        do not name groups."""
        words: Texts = _rarest(plain) if people else [None] * len(spelled)
        codes = [
            None if text is None else Codes.of(_codes(text, letters or "", some or ""))
            for text, letters, some in zip(spelled, whole, digits, strict=True)
        ]
        names = [_name(text) if people else None for text in plain]
        every = [None if name is None else frozenset(name) for name in names]
        initials = [None if name is None else _initials(name) for name in names]
        return cls(whole if people else [None] * len(spelled), digits, words, every, initials, codes)


@dataclass(frozen=True, eq=False)
class Cells:
    """A column in the sampled records: its letters and digits, all its digits, and these and its numbers in other
    orders."""

    texts: Texts
    digits: Texts
    orders: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, whole: Texts, digits: Texts, runs: Texts) -> Cells:
        """Letters and digits, digits, and the runs of digits without their leading zeros."""
        orders = [
            tuple(dict.fromkeys((*_orders(text), *_numbers(some)))) for text, some in zip(digits, runs, strict=True)
        ]
        return cls(whole, digits, orders)


def hidden_in(of: str, name: str, clues: Clues, cells: Cells) -> str | None:
    """What a column holds of an identifier in the same row, in words; None if that may be chance."""
    n = len(cells.texts)
    tries: list[_Try] = [
        ("digits of", SHARE, RARE, _digits_in_order, clues.digits, cells.orders),
        (
            "digits of",
            SHARE,
            RARE,
            lambda some, digits: len(some) >= PART and some in digits,
            clues.digits,
            cells.digits,
        ),
        ("a word of", 0.0, RARE, lambda word, text: word in text, clues.words, cells.texts),
        ("a part of", 0.0, RARE, _is_part, clues.texts, cells.texts),
        ("a word of", NAMED, FIRST_NAMES, lambda words, text: text in words, clues.names, cells.texts),
        ("initials of", NAMED, INITIALS, lambda some, text: text in some, clues.initials, cells.texts),
        ("what is computed from", 0.0, RARE, Codes.stand_in, clues.codes, cells.texts),
    ]
    for what, least, most, hit, wanted, texts in tries:

        def hits(moved: int, hit: Any = hit, wanted: Sequence[Any] = wanted, texts: Sequence[Any] = texts) -> int:
            beside = zip([*wanted[moved:], *wanted[:moved]], texts, strict=True)
            return sum(1 for one, text in beside if one and text and hit(one, text))

        found = hits(0)
        if found <= max(LEAST, least * n):
            continue
        chance = float(np.mean([hits(max(n * part // MOVES, 1) % n) for part in range(1, MOVES)]))
        if chance <= most * n and found - chance > LEAST + 4 * np.sqrt(chance):
            shares = f"in {percent(found / n)} of the records, and in {percent(chance / n)} by chance"
            return f"{what} {of} stand{'s' * (not what.endswith('s of'))} in {name} {shares}"
    return None


def _digits_in_order(digits: str, orders: Iterable[str]) -> bool:
    return any(part in digits for part in orders)


def _is_part(whole: str, text: str) -> bool:
    """Whether a cell is a part of an identifier, and not only digits of it."""
    return len(text) >= PART and text in whole and not text.isdigit()


def _orders(digits: str | None) -> tuple[str, ...]:
    """Some digits as they stand and backwards; as many as a date has also as year, month, day. None if there are few.

    >>> _orders("1203"), _orders("3121945")
    (('1203', '3021', '0312'), ('3121945', '5491213', '19451203', '19450312'))
    """
    if digits is None or len(digits) < 3:
        return ()
    found = [digits, digits[::-1]]
    whole = digits.zfill(len(digits) + len(digits) % 2)  # a number has lost its zero
    if len(whole) == 4:
        found.append(whole[2:] + whole[:2])
    elif len(whole) in (6, 8):
        found += [whole[4:] + whole[2:4] + whole[:2], whole[4:] + whole[:2] + whole[2:4]]
    return tuple(found)


def _numbers(runs: str | None) -> Iterator[str]:
    """The numbers of a text that has several, forwards and backwards, and its dates with their zeros.

    >>> list(_numbers(" 7  2752 ")), list(_numbers(" 3  5  1945 "))
    (['2752', '2572'], ['1945', '5491', '19450503', '19450305'])
    """
    single = (runs or "").split()
    if len(single) < 2:
        return
    for one in single:
        if len(one) >= 3:
            yield from (one, one[::-1])
    for first, second, year in zip(single, single[1:], single[2:], strict=False):
        if len(first) <= 2 and len(second) <= 2 and len(year) in (1, 2, 4):
            yield from (f"{year:0>2}{second:0>2}{first:0>2}", f"{year:0>2}{first:0>2}{second:0>2}")


def _name(text: str | None) -> list[str] | None:
    """The words of what may be a name, in small letters: a few, and no digits.

    >>> _name("Ann B. Smith"), _name("VIE-12"), _initials(["ann", "b", "smith"])
    (['ann', 'b', 'smith'], None, ('as', 'sa', 'abs'))
    """
    words = re.findall(r"\w+", (text or "").lower())
    return words if len(words) in WORDS and not any(letter.isdigit() for letter in text or "") else None


def _initials(name: Sequence[str]) -> tuple[str, ...]:
    """Those of the first and the last word, in both orders, and those of all."""
    first, last = name[0][0], name[-1][0]
    every = "".join(word[0] for word in name)
    return tuple(dict.fromkeys((first + last, last + first, every)))


def _rarest(texts: Texts) -> Texts:
    """Of each text of a few words the rarest of all, in small letters; of equally rare ones the longest.

    >>> _rarest(["Ann Smith", "Ann Jones-Bo", "P-12", None])
    ['smith', 'jones', None, None]
    """
    words = [set(_WORD.findall((text or "").lower())) for text in texts]
    common = Counter(word for some in words for word in some)
    return [
        min(some, key=lambda word: (common[word], -len(word), word)) if len(some) in WORDS else None for some in words
    ]


def _codes(text: str, letters: str, digits: str) -> Iterator[str]:
    """What can be computed from a text, its letters and digits, and its digits alone: in small letters and digits, each
    at least so long that it stands nowhere by chance.

    >>> list(_codes("P-52752", "p52752", "52752"))[:5]  # hexadecimal, backwards, base64, base32, as bytes
    ['ce10', '25725p', 'uc01mjc1mg', 'kawtkmrxguza', '502d3532373532']
    """
    found = [f"{int(digits):x}"] if digits else []
    found += [letters[::-1]] if not letters.isdigit() else []
    found += [str(int(letters, 16))] if _HEXADECIMAL.fullmatch(letters) else []
    for one in dict.fromkeys((text, digits, text.lower(), text.upper())):
        if not one:
            continue
        content = one.encode()
        found += [_in_letters(base64.b64encode(content)), _in_letters(base64.b32encode(content)), content.hex()]
        found.append(str(zlib.crc32(content)))
        for hash_ in _HASHES:
            code = hash_(content, usedforsecurity=False).digest()
            found += [code.hex(), _in_letters(base64.b64encode(code))]
            if hash_ in _NUMBERS:
                found += [str(int(code.hex()[:cut], 16)) for cut in _CUTS]
    return (code for code in found if len(code) >= PART)


def _in_letters(code: bytes) -> str:
    """A code as what is compared: small letters and digits."""
    return code.decode().lower().translate(_SIGNS)
