"""Whether values of identifiers stand in a table that is about to be released, in one guise or another.

A record is *hit* if the value of its identifier stands in a cell of the same row: as the value, as part of a text, or
inside a list or structure; case, spaces and punctuation do not count, nor do leading zeros and what stands before or
after the longest run of digits ("P-52752", "0052752" and "Patient 52752 came" hold 52752). How many hits there would be
by chance is counted on rows that do not belong together: identifiers moved by a seventh of the table, and so on. More
than 4 hits beyond chance, and beyond four times its root, are a finding. Besides:

- numbers that are the identifier + c or × c in most records (`same_number`);
- parts of it, and what is computed from it (`disguises`);
- of identifiers with letters: a tenth of their values, and at least 5, anywhere in a column; or a single one that the
  column did not have before;
- a value of five letters or digits and more, in the name of a column;
- where an identifier hardly repeats, so that nothing can be learned about its values, a column that goes one to one
  with it: in nine records of ten, if it holds text; if it holds whole numbers, fewer repeat than would by chance among
  so many numbers in such a range. Measurements and dates are not taken for it;
- there too, numbers of whatever kind that differ in almost every record and put nine records of ten in the order of the
  identifier, or in the reverse: its square, its logarithm.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Microdata
from ..microdata.distinct import Distinct
from ..microdata.frames import Frame
from .disguises import LEAST, MOVES, Cells, Clues, hidden_in, sampled
from .seen import Seen, digit_runs, distinct_in, plain_letters, seen, split_runs, texts_in, texts_of, word_characters
from .split import Part, part_of
from .telling import few, same_number
from .twins import Finding, percent

__all__ = [
    "ANYWHERE",
    "FEW",
    "LEAST",
    "MANY",
    "NEARLY",
    "Identifier",
    "InRow",
    "Spelled",
    "beyond_chance",
    "given_out",
    "goes_with",
    "held_in",
    "identifier_of",
    "in_disguise",
    "new_in",
    "spread_of",
    "stand_in",
]

FEW = 10  # different values up to which columns may go one to one by chance
NEARLY = 0.9  # of the records
ANYWHERE = 0.1  # of the values of an identifier
MANY = 5  # records with the same value on average, from which on an identifier names groups
IN_NAMES = 5  # letters or digits of a value that is looked for in names of columns
ORDERED = 30  # records, from which on an order is no chance
NOTHING = "\0"  # stands in no text

Array = Any  # pyarrow.Array


@dataclass(frozen=True, eq=False)
class Identifier:
    """An identifier in every record: a table of its letters and digits and of its longest run of digits, and the number
    that it or this run is; whether most values have letters; and what may be found of it in disguise."""

    column: Seen
    spelled: Any  # pyarrow.Table
    numbers: NDArray[np.float64]
    letters: bool
    clues: Clues

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def repeats(self) -> bool:
        """Whether a value stands in many records, so that it names a group of people rather than a person."""
        return _names_groups(self.column)

    @property
    def hardly_repeats(self) -> bool:
        return self.column.size > FEW and self.column.size >= NEARLY * int((self.column.codes >= 0).sum())


def identifier_of(data: Microdata, name: str) -> Identifier:
    """An identifier of a table as it was."""
    import pyarrow as pa

    found = Spelled.of(data.frame, name)
    table = pa.table(found.at(data.rows))
    column = seen(data.frame, name).take(data.rows)
    numbers = column.numbers
    if numbers is None:
        numbers = table["digits"].cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    rows = sampled(len(data.rows))
    codes, texts, _ = texts_of(data.frame, name)
    codes = codes[data.rows[rows]]
    whole = table["whole"].combine_chunks().take(rows)
    spelled = texts.take(pa.array(codes, mask=codes < 0))
    clues = Clues.of(
        spelled.to_pylist(),
        plain_letters(spelled).to_pylist(),
        whole.to_pylist(),
        _digits(whole).to_pylist(),
        people=not _names_groups(column),
    )
    return Identifier(column, table, numbers, found.letters, clues)


def _names_groups(column: Seen) -> bool:
    return MANY * column.size <= int((column.codes >= 0).sum())


@dataclass(frozen=True, eq=False)
class Spelled:
    """The values of a column: letters and digits, and runs of digits, of each; the value of each row."""

    codes: NDArray[np.int32]
    whole: Array
    runs: Array

    @classmethod
    def of(cls, frame: Frame, name: str) -> Spelled:
        """A column of a table."""
        return cls.from_distinct(distinct_in(frame, name))

    @classmethod
    def from_distinct(cls, distinct: Distinct) -> Spelled:
        """The same, given its distinct values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        codes, texts, whole_numbers = texts_in(distinct)
        if not whole_numbers:
            texts = plain_letters(texts)
            return cls(codes, _letters_and_digits(texts), digit_runs(texts))
        digits = pc.utf8_ltrim(texts, "-")  # the same in a tenth of the time
        space = pa.scalar(" ", pa.large_string())
        return cls(codes, digits, pc.binary_join_element_wise(space, digits, space, pa.scalar("", pa.large_string())))

    @property
    def letters(self) -> bool:
        """Whether most values have letters."""
        import pyarrow.compute as pc

        return bool(2 * (pc.sum(pc.match_substring_regex(self.whole, "[^0-9]")).as_py() or 0) > len(self.whole))

    def sampled(self) -> Cells:
        """What stands in the records in which parts of identifiers are looked for."""
        import pyarrow as pa

        codes = self.codes[sampled(len(self.codes))]
        places = pa.array(codes, mask=codes < 0)
        return Cells.of(*(texts.take(places).to_pylist() for texts in (self.whole, _digits(self.whole), self.runs)))

    def at(self, rows: NDArray[np.int64] | None) -> dict[str, Array]:
        """The letters and digits, and the longest run of digits, in some rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        longest = pc.utf8_trim_whitespace(self.runs)
        if pc.any(pc.match_substring(longest, " ")).as_py():
            longest = pa.array([_longest(runs) for runs in longest.to_pylist()], pa.large_string())
        codes = self.codes if rows is None else self.codes[rows]
        places = pa.array(codes, mask=codes < 0)
        return {"whole": self.whole.take(places), "digits": longest.take(places)}


def held_in(
    data: Microdata, released: Frame, column: Seen, identifiers: Sequence[Identifier], linked: bool, as_it_is: bool
) -> tuple[list[Finding], list[Part]]:
    """What a released column holds of identifiers, and digits of them that tell little by themselves; where records are
    not linked, only what it holds anywhere.

    Only a column that is released as it is may go one to one with an identifier: codes that a method drew may not. And
    what stands in many records, such as a second spelling of a code that was left out, is not looked for in what the
    method made of that code.
    """
    cells = Spelled.of(released, column.name)
    some = cells.sampled() if linked else None
    found, parts = [], []
    for one in identifiers:
        words = None
        if one.repeats and not as_it_is:
            continue
        if some is not None:
            words = (
                _in_name(one, column.name)
                or _in_row(one, cells, column.name)
                or _as_number(one, column)
                or hidden_in(one.name, column.name, one.clues, some)
            )
        words = words or _anywhere(data, one, cells.whole, column.name)
        if linked and as_it_is:
            words = words or _one_to_one(one, column) or _in_order(one, column)
        if words is not None:
            found.append(Finding((column.name,), one.name, words))
        elif some is not None and as_it_is and (part := _part(one, column, some)):
            parts.append(part)
    return found, parts


def _part(one: Identifier, column: Seen, cells: Cells) -> Part | None:
    return part_of(column.name, one.name, cells.digits, one.clues.digits)


# --------------------------------------------------------------------------------------- in the same row


def _in_row(one: Identifier, cells: Spelled, name: str) -> str | None:
    """Whether the identifier stands in the cell, beyond chance."""
    if len(cells.whole) <= LEAST:
        return None
    n = len(cells.codes)
    rows = InRow.of(one.spelled, one.letters, cells)
    hits = rows.hits(0)
    if hits <= LEAST:
        return None
    return beyond_chance(one.name, name, hits, rows.by_chance(), n)


def _in_name(one: Identifier, name: str) -> str | None:
    """Whether the name of a column is a value of the identifier, or has one among its words and numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pa.array([name, *re.findall(r"[^\W_]+", name)], pa.large_string())
    tried = [
        ("whole", _letters_and_digits(plain_letters(names))),
        ("digits", pa.array(re.findall("[1-9][0-9]*", name))),
    ]
    for what, words in tried:
        words = words.cast(pa.large_string())
        long = words.filter(pc.greater_equal(pc.utf8_length(words), IN_NAMES))
        if len(long) and pc.any(pc.is_in(long, pc.unique(one.spelled[what]).drop_null())).as_py():
            return f"the name of {name} is a value of {one.name}, or holds one"
    return None


def beyond_chance(of: str, name: str, hits: int, moved: Sequence[int], n: int) -> str | None:
    """What to say of an identifier that stands in so many of n records, and in so many of rows moved against each
    other; None if that may be chance."""
    chance = float(np.mean(moved))
    if hits - chance <= LEAST + 4 * np.sqrt(chance):
        return None
    return f"{of} stands in {name} in {percent(hits / n)} of the records, and in {percent(chance / n)} by chance"


def in_disguise(
    identifiers: Sequence[Identifier], released: Frame, column: Seen, as_it_is: bool
) -> tuple[dict[str, str], list[Part]]:
    """Of which identifiers a column is the identifier + c or × c, or goes in its order, or has parts of it; and digits
    that tell little by themselves."""
    cells = Spelled.of(released, column.name).sampled()
    found, parts = {}, []
    for one in identifiers:
        words = _in_name(one, column.name) or _as_number(one, column)
        words = words or hidden_in(one.name, column.name, one.clues, cells)
        words = words or (_in_order(one, column) if as_it_is else None)
        if words is not None:
            found[one.name] = words
        elif as_it_is and (part := _part(one, column, cells)):
            parts.append(part)
    return found, parts


@dataclass(frozen=True, eq=False)
class InRow:
    """Looks for an identifier in the cells of a column, row by row.

    Letters and digits as they stand in each row, of identifiers with letters; and numbers: that of the digits of the
    identifier in each row, those of the runs of digits of each value, one after the other, and the value of each row.
    """

    wanted: list[str] | None
    texts: list[str]
    digits: NDArray[np.int32]
    runs: tuple[tuple[NDArray[np.intp], NDArray[np.int32]], ...]

    @classmethod
    def of(cls, spelled: Any, letters: bool, cells: Spelled) -> InRow:
        """``spelled`` is a table of the identifier, as in `Identifier`."""
        import pyarrow.compute as pc

        wanted, texts = None, []
        if letters:
            wanted = [text if text is not None and len(text) > 2 else "\0\0" for text in spelled["whole"].to_pylist()]
            listed = [*(NOTHING if text is None else text for text in cells.whole.to_pylist()), NOTHING]
            texts = [listed[code] for code in cells.codes.tolist()]
        runs = split_runs(cells.runs)
        sought = spelled["digits"].combine_chunks()
        known = pc.unique(sought.filter(pc.is_in(sought, runs.single))).drop_null()
        digits, numbers = (
            pc.index_in(some, known).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
            for some in (sought, runs.single)
        )
        first, many = (np.append(one, 0)[cells.codes] for one in (runs.first, runs.lengths))
        found = []
        for place in range(int(many.max(initial=0))):
            rows = np.flatnonzero(many > place)
            number = numbers[first[rows] + place]
            there = number >= 0
            found.append((rows[there], number[there]))
        return cls(wanted, texts, digits, tuple(found))

    def hits(self, moved: int) -> int:
        """In how many rows the identifier stands, identifiers moved by some rows."""
        digits = np.roll(self.digits, -moved)
        found = np.zeros(len(digits), dtype=bool)
        for rows, number in self.runs:
            found[rows[digits[rows] == number]] = True
        if self.wanted is not None:
            beside = zip(self.wanted[moved:] + self.wanted[:moved], self.texts, strict=True)
            found |= np.fromiter((wanted in text for wanted, text in beside), bool, len(digits))
        return int(found.sum())

    def by_chance(self) -> list[int]:
        """The same with rows that do not belong together."""
        n = len(self.digits)
        return [self.hits(max(n * part // MOVES, 1) % max(n, 1)) for part in range(1, MOVES)]


def _digits(texts: Array) -> Array:
    """All digits of texts, one after the other."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, "[^0-9]+", "")


def _as_number(one: Identifier, column: Seen) -> str | None:
    hits = None if column.numbers is None else same_number(one.numbers, column.numbers)
    if hits is None:
        return None
    share = percent(float(hits.mean()))
    return f"{column.name} is {one.name} with the same number added to or multiplied by it in {share} of the records"


def _one_to_one(one: Identifier, column: Seen) -> str | None:
    """Whether a column differs in almost every record, as the identifier does, and is no measurement."""
    present = (column.codes >= 0) & (one.column.codes >= 0)
    records = int(present.sum())
    if not one.hardly_repeats or column.size <= FEW or column.measured or records <= FEW:
        return None
    counts = np.bincount(column.codes[present], minlength=column.size)
    alone = float((counts[column.codes[present]] == 1).mean())
    spread = None if column.numbers is None else spread_of(column.numbers[present])
    if alone < NEARLY or not (spread is None or given_out(records, spread, counts)):
        return None
    return goes_with(column.name, one.name, alone)


def _in_order(one: Identifier, column: Seen) -> str | None:
    """Whether a column puts records in the order of the identifier, or in the reverse."""
    if column.numbers is None or not one.hardly_repeats:
        return None
    rows = np.flatnonzero(np.isfinite(one.numbers) & np.isfinite(column.numbers))
    rows = rows[few(len(rows))]
    rows = rows[np.argsort(one.numbers[rows], kind="stable")]
    values = column.numbers[rows]
    if len(rows) < ORDERED or len(np.unique(values)) < NEARLY * len(rows):
        return None
    share = max(_rising(values), _rising(-values)) / len(rows)
    return (
        f"{column.name} goes in the order of {one.name} in {percent(share)} of the records" if share >= NEARLY else None
    )


def _rising(values: NDArray[np.float64]) -> int:
    """The length of the longest part of a sequence that rises.

    >>> _rising(np.array([1.0, 5.0, 2.0, 3.0, 3.0, 4.0]))
    4
    """
    ends: list[float] = []  # the lowest end of a rising part of each length
    for value in values.tolist():
        place = bisect_left(ends, value)
        ends[place : place + 1] = [value]
    return len(ends)


def goes_with(name: str, of: str, alone: float) -> str:
    """What to say of a column that goes one to one with an identifier."""
    return f"{name} goes one to one with {of} in {percent(alone)} of the records that have both"


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # numbers may be as large as they come
def spread_of(numbers: NDArray[np.float64]) -> float:
    """How many whole numbers there are in the range of some."""
    return float(np.nanmax(numbers) - np.nanmin(numbers)) + 1


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def given_out(n: int, spread: float, counts: NDArray[np.intp], share: float = 1.0) -> bool:
    """Whether fewer of n whole numbers repeat than if they were drawn from their range: they were given out one by one.

    ``counts`` tell how often each stands, or each of a share of them.
    """
    from scipy.stats import poisson

    repeated = int((counts * (counts - 1) // 2).sum())
    return bool(poisson.cdf(repeated, share * n * (n - 1) / 2 / spread) < 1e-4)


# --------------------------------------------------------------------------------------- anywhere


def _anywhere(data: Microdata, one: Identifier, whole: Array, name: str) -> str | None:
    """Whether values of an identifier with letters are values of a column, whatever the row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not one.letters or one.column.size <= FEW:
        return None
    known = pc.unique(one.spelled["whole"]).drop_null()
    known = known.filter(pc.greater(pc.utf8_length(known), 3))
    values = pc.unique(whole).drop_null()
    there = values.filter(pc.is_in(values, known))
    if not len(there):
        return None
    if len(there) > LEAST and len(there) >= ANYWHERE * len(known):
        return stand_in(one.name, name, len(there) / len(known))
    before = pc.unique(Spelled.of(data.frame, name).whole).drop_null()
    new = pc.sum(pc.invert(pc.is_in(there, before)).cast(pa.int64())).as_py() or 0
    return new_in(one.name, name, new) if new else None


def stand_in(of: str, name: str, share: float) -> str:
    """What to say of a column in which this share of the values of an identifier stands."""
    return f"{percent(share)} of the values of {of} stand in {name}"


def new_in(of: str, name: str, new: int) -> str:
    """The same of values that did not stand there."""
    return f"{new:,} of the values of {of} stand in {name}, and did not before"


# --------------------------------------------------------------------------------------- spelling


def _letters_and_digits(texts: Array) -> Array:
    """Texts in lower case, without all that is neither letter nor digit; none instead of an empty one."""
    import pyarrow.compute as pc

    found = pc.utf8_lower(texts)
    found = pc.replace_substring_regex(found, f"[^{word_characters(found)}]+", "")
    return pc.if_else(pc.equal(found, ""), None, found)


def _longest(runs: str | None) -> str | None:
    """The longest run of digits; of equally long ones the last."""
    return None if runs is None else max(reversed(runs.split()), key=len)
