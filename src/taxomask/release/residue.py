"""Whether what was written holds original texts where no cell is: descriptions, labels, levels, statistics.

Every format lists what it holds besides cells (`Source.extras`). A level, a statistic or a labelled value must be one
of the values that its column has in the cells, or it is left over; a value that no cell shows always is. Other texts
are searched for original texts that are released nowhere: from four letters on as words in them, and as a whole where a
text stands by itself. Titles of columns, which people wrote and which go out as they are, are searched for values of
identifiers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from .._support.spelling import spell
from ..engines import Engine
from ..methods import Check
from ..microdata import Microdata
from ..microdata.files import Extra, Source
from ..microdata.frames import Frame
from ..microdata.numeric import is_text
from .seen import values_in, word_characters
from .twins import counted

__all__ = ["NO_RESIDUE", "OTHER_FORMAT", "residue_check"]

NO_RESIDUE = "no value was found beside the cells that is not in them"
OTHER_FORMAT = "A title or a name of a sheet that tells a value is changed in the original; CSV files hold only cells."
LEAST = 4  # letters, digits and signs of a text that is looked for inside others
DIGITS = 5  # of a number that is
_SHOWN = 5
_WORD = re.compile(r"\w+")


def residue_check(engine: Engine, data: Microdata, released: Frame, back: Source, like: Source | None) -> Check:
    """Look at all that a file holds besides its cells.

    Parameters
    ----------
    engine
        Where the columns are, and who looks at them.
    data
        The table as it was.
    released
        The cells, as they were read back.
    back
        The file.
    like
        The source that the data came from: labels of values that are gone are looked for as well.
    """
    extras = [one for one in dict.fromkeys(back.extras()) if one.text or one.kind == "hidden"]
    columns = [name for name in released.names if any(one.column == name for one in extras)]
    values = [(name, [one.text for one in extras if one.column == name], False) for name in columns]
    there = dict(zip(columns, _in_all(engine, _among_cells, released, values), strict=True))
    found = [
        f"{one.where}: {one.text!r}"
        for one in extras
        if one.kind == "hidden" or (one.kind == "value" and one.text not in there.get(one.column or "", ()))
    ]
    texts = [one for one in extras if one.kind not in ("hidden", "value")]
    named = {name.lower() for name in back.names} | set(_labels(back, there))
    named |= {title.lower() for title in back.titles.values()} & {one.text.lower() for one in texts}
    names = [name for name in data.schema if name in data.frame.names]
    schema = data.schema
    asked = [(name, texts, name in schema.identifiers, _is_number(data, name)) for name in names if texts]
    sought = _in_all(engine, _originals, data.frame, asked) or [set[str]() for _ in names]
    possible = {text for one in sought for text in one} | set(_labels(like, None))
    kept = [(name, sorted(possible), True) for name in released.names if possible]
    possible -= named.union(*_in_all(engine, _among_cells, released, kept))
    private = {text for name, one in zip(names, sought, strict=True) if name in schema.identifiers for text in one}
    for one in texts:
        wanted = possible & private if one.kind == "title" else possible
        found += [f"{one.where}: {text!r}" for text in _held(one, wanted)]
    looked = "the file holds nothing but names and cells"
    if extras:
        are = "is no cell" if len(extras) == 1 else "are no cells"
        looked = f"looked at {counted(len(extras), 'text')} that {are}, such as levels, labels and statistics"
    if back.beside:
        others = counted(len(back.beside), "other table")
        looked += f"; the file holds {others}, not looked at: give on the table, not the file"
    return Check(NO_RESIDUE, not found, "; ".join(found[:_SHOWN]) if found else looked)


def _in_all(engine: Engine, function: Any, frame: Frame, items: Sequence[tuple[Any, ...]]) -> list[set[str]]:
    """What a function finds for each item in all rows of a table: in chunks, where no function should hold a column."""
    parts = [frame]
    if engine.in_parts(frame.n):
        parts = [frame.part(start, stop) for start, stop in engine.parts(frame.n)]
    found = engine.map(function, [(part, *item) for item in items for part in parts], "looking for residue")
    return [set[str]().union(*found[place : place + len(parts)]) for place in range(0, len(found), len(parts))]


def _labels(source: Source | None, there: dict[str, set[str]] | None) -> Iterator[str]:
    """The labels of a file, in small letters; only those of values in its cells, if these are given."""
    for name, entries in ({} if source is None else source.labels).items():
        for value, text in entries.items():
            if there is None or spell(value) in there.get(name, ()) or f".{value}" in there.get(name, ()):
                yield text.lower()


def _among_cells(released: Frame, name: str, texts: Sequence[str], any_case: bool) -> set[str]:
    """Which of some texts are values of a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = _numbers_among(released, name, texts)
    cells = values_in(released, name) if cells is None else cells
    wanted = pa.array(texts, pa.large_string())
    return set(wanted.filter(pc.is_in(wanted, pc.utf8_lower(cells) if any_case else cells)).to_pylist())


def _numbers_among(frame: Frame, name: str, texts: Sequence[str]) -> Any | None:
    """The texts of those numbers in a column that some texts may be; None if it does not hold numbers.

    There may be a number for every row, and to spell them all takes long.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = frame.arrow_type(name)
    if kind is None or not (pa.types.is_integer(kind) or pa.types.is_float64(kind)):
        return None
    read = int if pa.types.is_integer(kind) else float
    numbers = []
    for text in texts:
        with suppress(ValueError):
            numbers.append(read(text))
    numbers = [one for one in numbers if one == one]  # NaN is no value
    try:
        sought = pa.array(numbers, kind)
    except (pa.ArrowInvalid, OverflowError):  # larger than any of them
        return None
    if not numbers:  # the column need not be read
        return pa.array([], pa.large_string())
    array = frame.arrow(name)
    assert array is not None
    return pc.unique(array.filter(pc.is_in(array, sought))).cast(pa.large_string()).drop_null()


def _originals(frame: Frame, name: str, texts: Sequence[Extra], identifier: bool, is_number: bool) -> set[str]:
    """The original texts of a column that may stand in others, in small letters; of identifiers long numbers too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = sorted({one.text.lower() for one in texts if one.kind == "said"})
    words = sorted({word for one in texts for word in _WORD.findall(one.text.lower())})
    numbers = None
    if not identifier:
        numbers = _numbers_among(frame, name, whole)  # not inside other texts
    elif pa.types.is_integer(frame.arrow_type(name) or pa.null()):
        numbers = _numbers_among(frame, name, [*whole, *words, *(f"-{word}" for word in words)])
    values = pc.utf8_lower(values_in(frame, name, unused=True) if numbers is None else numbers)
    values = pc.utf8_trim_whitespace(values)
    number = pc.match_substring_regex(values, r"^[-+0-9.,]*$")
    long = pc.greater_equal(pc.utf8_length(values), pc.if_else(number, DIGITS, LEAST))
    first = pc.struct_field(pc.extract_regex(values, f"(?P<word>[{word_characters(values)}_]+)"), "word")
    fit = (
        pc.and_(long, pc.is_in(first, pa.array(words, pa.large_string())))
        if identifier or not is_number
        else pc.less(long, long)
    )
    return set(values.filter(pc.or_(fit, pc.is_in(values, pa.array(whole, pa.large_string())))).to_pylist())


def _held(extra: Extra, wanted: Iterable[str]) -> list[str]:
    """The wanted texts that stand in a text as words; short ones only if they are all of a text by itself."""
    text = extra.text.lower()
    return [
        one
        for one in sorted(wanted)
        if (extra.kind == "said" and one == text)
        or (len(one) >= LEAST and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text))
    ]


def _is_number(data: Microdata, name: str) -> bool:
    """Whether a column holds numbers, dates and the like, which are no texts."""
    import pyarrow as pa

    kind = data.frame.arrow_type(name)
    if kind is not None and pa.types.is_dictionary(kind):
        kind = kind.value_type
    return kind is not None and not pa.types.is_nested(kind) and not is_text(kind)
