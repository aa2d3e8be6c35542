"""The description of an SPSS file, record by record; see the chapter on system files in the manual of PSPP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from .base import Extra, texts_in

__all__ = ["sav_extras"]

_VARIABLE, _LABELS, _OF, _DOCUMENTS, _MORE, _END = 2, 3, 4, 6, 7, 999
_NUMBERS = (3, 4, 16)  # records of type 7 that tell machine, precision and how many rows there are


def sav_extras(path: Path) -> Iterator[Extra]:
    """All texts before the first cell; not who wrote the file and when."""
    with path.open("rb") as file:
        head = file.read(176)
        order = "little" if int.from_bytes(head[64:68], "little") in (2, 3) else "big"

        def number() -> int:
            return int.from_bytes(file.read(4), order, signed=True)  # type: ignore[arg-type]

        yield from texts_in(head[109:173], "the label of the file")
        yield from texts_in(head[173:], "the end of the first record")
        while (kind := number()) != _END:
            if kind == _VARIABLE:
                yield from _variable(file, number)
            elif kind == _LABELS:
                for _ in range(number()):
                    file.seek(8, 1)  # the value; a text may be one of those released
                    length = file.read(1)[0]
                    whole = file.read(-(-(length + 1) // 8) * 8 - 1)
                    yield from texts_in(whole, "the labels of values")
            elif kind == _OF:
                file.seek(4 * number(), 1)
            elif kind == _DOCUMENTS:
                yield from texts_in(file.read(80 * number()), "the notes of the file")
            elif kind == _MORE:
                subtype, size, count = number(), number(), number()
                content = file.read(size * count)
                if subtype not in _NUMBERS:
                    yield from texts_in(content, "what the file says about itself")
            else:
                raise ValueError(f"there is no record of type {kind}")


def _variable(file: IO[bytes], number: Callable[[], int]) -> Iterator[Extra]:
    """The record of a column: its name, its title and its missing values."""
    _, titled, missing, _, _ = (number() for _ in range(5))
    file.seek(8, 1)  # its name
    if titled:
        length = number()
        title = file.read(-(-length // 4) * 4)
        yield from (Extra(one.where, one.text, "title") for one in texts_in(title, "the title of a column"))
    file.seek(8 * abs(missing), 1)
