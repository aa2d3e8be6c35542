"""Whether values of identifiers stand in a table that is about to be released, in one guise or another.

A record is *hit* if the value of its identifier stands in a cell of the same row: as the value, as part of a text, or
inside a list or structure; case, spaces and punctuation do not count, nor do leading zeros and what stands before or
after the longest run of digits ("P-52752", "0052752" and "Patient 52752 came" hold 52752). How many hits there would be
by chance is counted on rows that do not belong together: identifiers moved by a seventh of the table, and so on. More
than 4 hits beyond chance, and beyond four times its root, are a finding. Besides:

- numbers that are the identifier + c or × c in most records (`same_number`);
- three digits of the identifier or more, forwards, backwards or in the order of a date, in a tenth of the records if
  they are there by chance in no more than one of a hundred (in a sample of 4,096 records);
- of identifiers with letters: a tenth of their values, and at least 5, anywhere in a column; or a single one that the
  column did not have before;
- where an identifier hardly repeats, so that nothing can be learned about its values, a column that goes one to one
  with it: in nine records of ten, if it holds text; if it holds whole numbers, fewer repeat than would by chance among
  so many numbers in such a range. Measurements and dates are not taken for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata import Microdata
from ..microdata.frames import Frame
from .seen import Seen, seen, texts_of
from .telling import same_number
from .twins import Finding, percent

__all__ = ["Identifier", "held_in", "identifier_of"]

FEW = 10  # different values up to which columns may go one to one by chance
LEAST = 4  # hits beyond chance that are not yet a finding
MOVES = 7  # parts of a table by which rows are moved, to count what chance does
NEARLY = 0.9  # of the records
ANYWHERE = 0.1  # of the values of an identifier
MANY = 5  # records with the same value on average, from which on an identifier names groups
SAMPLE = 4096  # records in which parts of digits are looked for
RARE = 0.01  # of the records: a part that others have as often tells little
NOTHING = "\0"  # stands in no text

Array = Any  # pyarrow.Array


@dataclass(frozen=True, eq=False)
class Identifier:
    """An identifier in every record: a table of its letters and digits and of its longest run of digits, and the number
    that it or this run is; whether most values have letters."""

    column: Seen
    spelled: Any  # pyarrow.Table
    numbers: NDArray[np.float64]
    letters: bool

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def repeats(self) -> bool:
        """Whether a value stands in many records, so that it names a group of people rather than a person."""
        return MANY * self.column.size <= int((self.column.codes >= 0).sum())

    @property
    def hardly_repeats(self) -> bool:
        return self.column.size > FEW and self.column.size >= NEARLY * int((self.column.codes >= 0).sum())


def identifier_of(data: Microdata, name: str) -> Identifier:
    """An identifier of a table as it was."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, texts = texts_of(data.frame, name)
    whole = _letters_and_digits(texts)
    letters = 2 * (pc.sum(pc.match_substring_regex(whole, "[^0-9]")).as_py() or 0) > len(whole)
    longest = pc.utf8_trim_whitespace(_runs(texts))
    if pc.any(pc.match_substring(longest, " ")).as_py():
        longest = pa.array([_longest(runs) for runs in longest.to_pylist()], pa.large_string())
    places = pa.array(codes[data.rows], mask=codes[data.rows] < 0)
    table = pa.table({"whole": whole.take(places), "digits": longest.take(places)})
    column = seen(data.frame, name).take(data.rows)
    numbers = column.numbers
    if numbers is None:
        numbers = table["digits"].cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return Identifier(column, table, numbers, letters)


def held_in(
    data: Microdata, released: Frame, column: Seen, identifiers: Sequence[Identifier], linked: bool, as_it_is: bool
) -> list[Finding]:
    """What a released column holds of identifiers; where records are not linked, only what it holds anywhere.

    Only a column that is released as it is may go one to one with an identifier: codes that a method drew may not. And
    what stands in many records, such as a second spelling of a code that was left out, is not looked for in what the
    method made of that code.
    """
    codes, texts = texts_of(released, column.name)
    cells = _Cells(codes, _letters_and_digits(texts), _runs(texts))
    found = []
    for one in identifiers:
        words = None
        if one.repeats and not as_it_is:
            continue
        if linked:
            words = _in_row(one, cells, column.name) or _as_number(one, column) or _in_parts(one, cells, column.name)
        words = words or _anywhere(data, one, cells.whole, column.name)
        if linked and as_it_is:
            words = words or _one_to_one(one, column)
        if words is not None:
            found.append(Finding((column.name,), one.name, words))
    return found


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of a column: letters and digits, and runs of digits, of each value; the value of each row."""

    codes: NDArray[np.int32]
    whole: Array
    runs: Array

    def with_number(self, numbers: Array) -> NDArray[np.intp]:
        """The rows in whose cells one of these runs of digits stands."""
        import pyarrow.compute as pc

        runs = pc.split_pattern(pc.utf8_trim_whitespace(self.runs), "  ")
        single = pc.list_flatten(runs)
        known = pc.unique(numbers.filter(pc.is_in(numbers, pc.unique(single)))).drop_null()
        there = pc.list_parent_indices(runs).filter(pc.is_in(single, known))
        held = np.zeros(len(self.runs) + 1, dtype=bool)
        held[there.to_numpy()] = True
        return np.flatnonzero(held[self.codes])

    def rows(self, texts: Array, rows: NDArray[np.intp]) -> list[str]:
        """The text in some rows."""
        listed = [*(NOTHING if text is None else text for text in texts.to_pylist()), NOTHING]
        return [listed[code] for code in self.codes[rows].tolist()]


# --------------------------------------------------------------------------------------- in the same row


def _in_row(one: Identifier, cells: _Cells, name: str) -> str | None:
    """Whether the identifier stands in the cell, beyond chance."""
    if len(cells.whole) <= LEAST:
        return None
    n = len(cells.codes)
    tests = []
    if one.letters:
        wanted = [text if text is not None and len(text) > 2 else "\0\0" for text in one.spelled["whole"].to_pylist()]
        tests.append(_Test(np.arange(n), wanted, cells.rows(cells.whole, np.arange(n))))
    rows = cells.with_number(one.spelled["digits"])
    if len(rows):
        digits = [f" {text} " if text is not None else "\0\0" for text in one.spelled["digits"].to_pylist()]
        tests.append(_Test(rows, digits, cells.rows(cells.runs, rows)))
    hits = _hits(tests, n, 0)
    if hits <= LEAST:
        return None
    chance = float(np.mean([_hits(tests, n, max(n * part // MOVES, 1)) for part in range(1, MOVES)]))
    if hits - chance <= LEAST + 4 * np.sqrt(chance):
        return None
    return f"{one.name} stands in {name} in {percent(hits / n)} of the records, and in {percent(chance / n)} by chance"


@dataclass(frozen=True, eq=False)
class _Test:
    """What is wanted in each record, and the texts of the rows in which it may stand."""

    rows: NDArray[np.intp]
    wanted: list[str]
    texts: list[str]

    def hits(self, moved: int) -> NDArray[np.intp]:
        """The rows in which it stands, identifiers moved by some rows."""
        places = ((self.rows + moved) % len(self.wanted)).tolist()
        there = (self.wanted[place] in text for place, text in zip(places, self.texts, strict=True))
        return self.rows[np.fromiter(there, bool, len(places))]


def _hits(tests: Sequence[_Test], n: int, moved: int) -> int:
    """In how many rows one of the tests finds what is wanted."""
    found = np.zeros(n, dtype=bool)
    for test in tests:
        found[test.hits(moved)] = True
    return int(found.sum())


def _in_parts(one: Identifier, cells: _Cells, name: str) -> str | None:
    """Whether the digits of a cell are a part of those of the identifier, forwards, backwards or as a date."""
    n = len(cells.codes)
    rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))
    spelled = [_orders(text) for text in _digits(cells.whole).to_pylist()]
    if sum(map(bool, spelled)) <= LEAST:
        return None
    wanted = _digits(one.spelled["whole"].combine_chunks().take(rows)).to_pylist()
    parts = [*spelled, ()]
    texts = [parts[code] for code in cells.codes[rows].tolist()]

    def hits(moved: int) -> int:
        beside = zip(texts, wanted[moved:] + wanted[:moved], strict=True)
        return sum(digits is not None and any(part in digits for part in some) for some, digits in beside)

    found = hits(0)
    if found <= max(LEAST, ANYWHERE * len(rows)):
        return None
    chance = float(np.mean([hits(max(len(rows) * part // MOVES, 1)) for part in range(1, MOVES)]))
    if chance > RARE * len(rows) or found - chance <= LEAST + 4 * np.sqrt(chance):
        return None
    shares = f"in {percent(found / len(rows))} of the records, and in {percent(chance / len(rows))} by chance"
    return f"digits of {one.name} stand in {name} {shares}"


def _digits(texts: Array) -> Array:
    """All digits of texts, one after the other."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, "[^0-9]+", "")


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


def _as_number(one: Identifier, column: Seen) -> str | None:
    hits = None if column.numbers is None else same_number(one.numbers, column.numbers)
    if hits is None:
        return None
    return f"{column.name} is {one.name} + c or × c in {percent(float(hits.mean()))} of the records"


def _one_to_one(one: Identifier, column: Seen) -> str | None:
    """Whether a column differs in almost every record, as the identifier does, and is no measurement."""
    present = (column.codes >= 0) & (one.column.codes >= 0)
    records = int(present.sum())
    if not one.hardly_repeats or column.size <= FEW or column.measured or records <= FEW:
        return None
    counts = np.bincount(column.codes[present], minlength=column.size)
    alone = float((counts[column.codes[present]] == 1).mean())
    if alone < NEARLY or (column.numbers is not None and not _numbered(column.numbers[present], counts)):
        return None
    return f"{column.name} goes one to one with {one.name} in {percent(alone)} of the records that have both"


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # numbers may be as large as they come
def _numbered(numbers: NDArray[np.float64], counts: NDArray[np.intp]) -> bool:
    """Whether fewer whole numbers repeat than if they were drawn from their range: they were given out one by one."""
    from scipy.stats import poisson

    n, spread = len(numbers), float(np.nanmax(numbers) - np.nanmin(numbers)) + 1
    repeated = int((counts * (counts - 1) // 2).sum())
    return bool(poisson.cdf(repeated, n * (n - 1) / 2 / spread) < 1e-4)


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
        return f"{percent(len(there) / len(known))} of the values of {one.name} stand in {name}"
    before = pc.unique(_letters_and_digits(texts_of(data.frame, name)[1])).drop_null()
    new = pc.sum(pc.invert(pc.is_in(there, before)).cast(pa.int64())).as_py() or 0
    return f"{new:,} of the values of {one.name} stand in {name}, and did not before" if new else None


# --------------------------------------------------------------------------------------- spelling


def _letters_and_digits(texts: Array) -> Array:
    """Texts in lower case, without all that is neither letter nor digit; none instead of an empty one."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\pL\pN]+", "")
    return pc.if_else(pc.equal(found, ""), None, found)


def _runs(texts: Array) -> Array:
    """The runs of digits of texts without their leading zeros, a space around each; none if there is none."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(texts, r"[^0-9]+", "  ")
    found = pc.replace_substring_regex(found, r"^ *(.*?) *$", r" \1 ", max_replacements=1)
    found = pc.replace_substring_regex(found, r" 0+([0-9])", r" \1")
    return pc.if_else(pc.match_substring_regex(found, "[0-9]"), found, None)


def _longest(runs: str | None) -> str | None:
    """The longest run of digits; of equally long ones the last."""
    return None if runs is None else max(reversed(runs.split()), key=len)
