"""How values are written: what a column may tell that is not in what its values mean.

A space at the end, 12.50 beside 12.5, a text of eleven letters, its first letter, the seconds of a time: where most
values of a column differ, these repeat, and may hold what is protected. Where values repeat, "yes " and "yes" are two
values already, and nothing need be looked at here. And where there is no value, what stands there may tell: nothing,
something that is no number, an empty text, or an empty list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..microdata.distinct import Distinct, encode
from ..microdata.frames import Frame

__all__ = ["forms_of_numbers", "forms_of_texts", "forms_of_times", "gaps_of", "spelled_out"]

LONGEST = 200  # characters of a text that are looked at
UNUSUAL = 3  # of the characters that are not ASCII
DECIMALS = 16  # of a number
_PARTS = ("month", "day", "day_of_week", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond")

Array = Any  # pyarrow.Array
Codes = NDArray[np.int32]


def forms_of_texts(texts: Array) -> list[Codes]:
    """Of each of some texts: its signs, each run of letters or digits as one; its length; the character with which it
    begins, that with which it ends; and the first of its characters that are not ASCII.

    >>> import pyarrow as pa
    >>> signs, length, first, last = forms_of_texts(pa.array(["ann 1", "Bo  22", "eve 345", None], pa.large_string()))
    >>> signs.tolist(), length.tolist(), first.tolist(), last.tolist()
    ([0, 1, 0, -1], [0, 1, 2, -1], [0, 1, 2, -1], [0, 1, 2, -1])
    """
    import pyarrow.compute as pc

    short = pc.utf8_slice_codeunits(texts, 0, LONGEST)
    plain = pc.all(pc.string_is_ascii(short), min_count=0).as_py()
    signs = short
    for pattern, sign in ((r"\p{Ll}+", "a"), (r"\p{Lu}+", "A"), ("[0-9]+", "0")):
        pattern = pattern.replace(r"\p{Ll}", "[a-z]").replace(r"\p{Lu}", "[A-Z]") if plain else pattern
        signs = pc.replace_substring_regex(signs, pattern, sign)
    found = [
        signs,
        pc.utf8_length(texts),
        pc.utf8_slice_codeunits(texts, 0, 1),
        pc.utf8_slice_codeunits(texts, -1),
    ]
    if not plain:
        found.append(pc.utf8_slice_codeunits(pc.replace_substring_regex(short, r"[\x00-\x7f]+", ""), 0, UNUSUAL))
    return [encode(one)[0] for one in found]


def forms_of_numbers(texts: Array) -> list[Codes]:
    """Of each of some numbers with a fraction, as they are written: how many decimals it has, and any two of them that
    follow each other.

    >>> import pyarrow as pa
    >>> count, first, second = forms_of_numbers(pa.array(["1.25", "7.5", "3.751"], pa.large_string()))
    >>> count.tolist(), first.tolist(), second.tolist()
    ([0, 1, 2], [0, 1, 2], [0, 1, 2])
    """
    import pyarrow.compute as pc

    decimals = pc.replace_substring_regex(texts, r"^[^.,]*[.,]?([0-9]*).*$", r"\1")
    length = pc.utf8_length(decimals)
    most = min(pc.max(length).as_py() or 0, DECIMALS)
    padded = pc.utf8_rpad(decimals, most, "0")
    pairs = [pc.utf8_slice_codeunits(padded, place, place + 2) for place in range(max(most - 1, 1))] if most else []
    return [encode(one)[0] for one in (length, *pairs)]


def forms_of_times(values: Array) -> list[Codes]:
    """Of each of some dates or times: month, day, day of the week, hour, and so on."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for part in _PARTS:
        try:
            found.append(encode(getattr(pc, part)(values))[0])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a date has no hour, and a time no month
            continue
    return found


def spelled_out(frame: Frame, name: str) -> Distinct:
    """Lists and structures as they would be written, with brackets and names, so that their form can be seen."""
    import pyarrow as pa

    return Distinct.from_arrow(pa.array([None if one is None else repr(one) for one in frame.objects(name)]))


def gaps_of(frame: Frame, name: str, codes: Codes, empty: NDArray[np.bool_]) -> Codes:
    """What stands in each record: a value (0), nothing (1), an empty text (2), what is no number (3), or a list or a
    structure that holds nothing (4).

    ``codes`` are those of the values, -1 for none, and ``empty`` says which of the records have an empty text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = (codes < 0).astype(np.int32)
    found[empty] = 2
    array = frame.arrow(name) if (codes < 0).any() else None
    if array is None:
        return found
    if pa.types.is_floating(array.type):
        found[np.asarray(pc.is_nan(array).fill_null(False))] = 3
    elif pa.types.is_nested(array.type):
        found[(codes < 0) & np.asarray(array.is_valid())] = 4
    return found
