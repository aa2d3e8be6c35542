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

from .._support.spelling import spell
from ..engines import Engine
from ..methods import Check
from ..microdata import Microdata
from ..microdata.files import Extra, Source
from ..microdata.frames import Frame
from ..microdata.numeric import is_text
from .seen import values_in

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
    values = [(released, name, [one.text for one in extras if one.column == name], False) for name in columns]
    there = dict(zip(columns, engine.map(_among_cells, values, "looking for residue"), strict=True))
    found = [
        f"{one.where}: {one.text!r}"
        for one in extras
        if one.kind == "hidden" or (one.kind == "value" and one.text not in there.get(one.column or "", ()))
    ]
    texts = [one for one in extras if one.kind not in ("hidden", "value")]
    named = {name.lower() for name in back.names} | set(_labels(back, there))
    named |= {title.lower() for title in back.titles.values()} & {one.text.lower() for one in texts}
    names = [name for name in data.schema if name in data.frame.names]
    sought = engine.map(_originals, [(data, name, texts) for name in names], "looking for residue")
    possible = {text for one in sought for text in one} | set(_labels(like, None))
    kept = [(released, name, sorted(possible), True) for name in released.names if possible]
    possible -= named.union(*engine.map(_among_cells, kept, "looking for residue"))
    private = {text for name, one in zip(names, sought, strict=True) if name in data.schema.identifiers for text in one}
    for one in texts:
        wanted = possible & private if one.kind == "title" else possible
        found += [f"{one.where}: {text!r}" for text in _held(one, wanted)]
    looked = "the file holds nothing but names and cells"
    if extras:
        looked = f"looked at {len(extras):,} levels, labels, statistics and other texts that are no cells"
    return Check(NO_RESIDUE, not found, "; ".join(found[:_SHOWN]) if found else looked)


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

    cells = values_in(released, name)
    wanted = pa.array(texts, pa.large_string())
    return set(wanted.filter(pc.is_in(wanted, pc.utf8_lower(cells) if any_case else cells)).to_pylist())


def _originals(data: Microdata, name: str, texts: Sequence[Extra]) -> set[str]:
    """The original texts of a column that may stand in others, in small letters; of identifiers long numbers too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.utf8_trim_whitespace(pc.utf8_lower(values_in(data.frame, name, unused=True)))
    identifier = name in data.schema.identifiers
    number = pc.match_substring_regex(values, r"^[-+0-9.,]*$")
    long = pc.greater_equal(pc.utf8_length(values), pc.if_else(number, DIGITS, LEAST))
    whole = pa.array(sorted({one.text.lower() for one in texts if one.kind == "said"}), pa.large_string())
    words = pa.array(sorted({word for one in texts for word in _WORD.findall(one.text.lower())}), pa.large_string())
    first = pc.struct_field(pc.extract_regex(values, r"(?P<word>[\pL\pN_]+)"), "word")
    fit = pc.and_(long, pc.is_in(first, words)) if identifier or not _is_number(data, name) else pc.less(long, long)
    return set(values.filter(pc.or_(fit, pc.is_in(values, whole))).to_pylist())


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
