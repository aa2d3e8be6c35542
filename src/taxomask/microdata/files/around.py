"""What stands around a table and is no part of it: titles and headings above the names, totals and notes below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, TypeAlias

from ..._support.spelling import spell

__all__ = ["NUMBER", "Top", "rows_below", "top_of"]

Rows: TypeAlias = Sequence[Sequence[Any]]
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_TITLES = 20  # rows in which titles may stand, or totals and notes
_TOTAL = re.compile(
    r"(?:(?:grand|sub|column|row)[ -]?)?totals?(?: (?:general|général|generale|geral|of\b.*))?"
    r"|totaux|totale|totali|totales|totais|totaal"
    r"|sums?|(?:gesamt|zwischen)?summen?|gesamt|insgesamt|somme|suma|sumas|soma|somma|n ?=.*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Top:
    """The row that names the columns, and what stands above it.

    Parameters
    ----------
    place
        The place of that row.
    names
        The names; one that stands twice has the heading of its group before it.
    above
        What stands above, and is not looked at.
    """

    place: int
    names: tuple[str, ...]
    above: tuple[str, ...]


def top_of(rows: Rows) -> Top | None:
    """Where the columns are named, among the first rows of a table; None if most columns have no name.

    The names stand in the first row, or below titles, which fill the first cell of a row at most, and headings of
    groups of columns, which fill several. Then they are texts only, and numbers stand below them, so that no record is
    taken for names.
    """
    width = median_low([len(row) for row in rows])
    place = next((place for place, row in enumerate(rows[: _TITLES + 1]) if 2 * _filled(row) >= width), None)
    if place is None:
        return None
    if _names_groups(rows, place):
        place += 1
    names = [_text(cell) for cell in rows[place]]
    if place == 0:
        return Top(0, tuple(names), ())
    grouped = _names_groups(rows, place - 1)
    titles, below = rows[: place - grouped], rows[place + 1 : place + 1 + _TITLES]
    sound = len(names) > 2 and all(_filled(row[1:]) == 0 for row in titles) and not any(map(_is_number, names))
    if not sound or not any(_is_number(cell) for row in below for cell in row):
        return None
    if grouped:
        names = _told_apart(names, [_text(cell) for cell in rows[place - 1]])
    return Top(place, tuple(names), tuple(_text(cell) for row in rows[:place] for cell in row if _text(cell).strip()))


def rows_below(rows: Rows, width: int) -> int:
    """How many of the last rows of a table are totals and notes, and the empty rows above them.

    A total begins with a word for it, has numbers in its other cells, and fills at most half of the columns. A note
    fills the first cell of its row only, or has fewer cells than the table, and begins with several words where no
    record does. A row with which the table may as well end is a record.
    """
    ends = [place for place in range(len(rows)) if _is_total(rows[place], width) or _is_note(rows, place, width)]
    first = len(rows)
    while first and (first - 1 in ends or (_filled(rows[first - 1]) == 0 and first < len(rows))):
        first -= 1
    return len(rows) - first if first and len(rows) - first <= _TITLES else 0


# --------------------------------------------------------------------------------------- inside


def _names_groups(rows: Rows, place: int) -> bool:
    """Whether a row has headings of groups of columns: several texts, below which stand more, and then numbers."""
    if place + 2 >= len(rows) or not 1 < _filled(rows[place]) < _filled(rows[place + 1]):
        return False
    if any(_is_number(cell) for row in rows[place : place + 2] for cell in row if _text(cell).strip()):
        return False
    below = rows[place + 2 : place + 2 + _TITLES]
    columns = (
        [_text(row[at]) for row in below if at < len(row)] for at, name in enumerate(rows[place + 1]) if _text(name)
    )
    return any(len(cells) > 1 and all(map(_is_number, cells)) for cells in columns)


def _told_apart(names: Sequence[str], headings: Sequence[str]) -> list[str]:
    """The names, where one that stands several times has the heading of its group before it."""
    counts, found, heading = Counter(names), [], ""
    for at, name in enumerate(names):
        heading = (headings[at] if at < len(headings) else "").strip() or heading
        found.append(f"{heading}: {name}" if counts[name] > 1 and heading and name.strip() else name)
    return found


def _is_total(row: Sequence[Any], width: int) -> bool:
    cells = [_text(cell).strip() for cell in row if _text(cell).strip()]
    if width < 3 or not cells or 2 * len(cells) > width:
        return False
    return _TOTAL.fullmatch(cells[0].rstrip(" :")) is not None and all(re.search(r"\d", one) for one in cells[1:])


def _is_note(rows: Rows, place: int, width: int) -> bool:
    row = rows[place]
    if width < 3 or not row or not _has_words(row[0]) or (len(row) == width and _filled(row[1:])):
        return False
    return not any(
        len(one) == width and _filled(one[1:]) and _has_words(one[0]) and not _is_total(one, width) for one in rows
    )


def _has_words(cell: Any) -> bool:
    text = _text(cell).strip()
    return " " in text and any(map(str.isalpha, text))


def _filled(row: Sequence[Any]) -> int:
    return sum(bool(_text(cell).strip()) for cell in row)


def _text(cell: Any) -> str:
    return "" if cell is None else spell(cell)


def _is_number(cell: Any) -> bool:
    return cell is not None and (NUMBER.fullmatch(cell.strip()) is not None if isinstance(cell, str) else True)
